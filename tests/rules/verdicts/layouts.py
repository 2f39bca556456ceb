"""Layouts: flaws and their near misses."""

from __future__ import annotations

from . import DENSE, FP8, LLAMA, MOE, MXFP8, Verdict, ffn, layout, own

LAYOUTS = [
    Verdict(
        "sharding-forbids-expert-parallel",
        layout("framework: megatron-core, software_year: 2024, ep: 8, sharding: fsdp", MOE),
        "layout.sharding",
        "error",
        "`sharding: zero1`",
        layout("framework: megatron-core, software_year: 2025, ep: 8, sharding: fsdp", MOE),
    ),
    Verdict(
        "sharding-forbids-expert-parallel",
        layout("framework: nemo, software_year: 2024, ep: 2, sharding: hsdp", MOE),
        "layout.sharding",
        "error",
        "Megatron-FSDP",
        layout("framework: nemo, software_year: 2024, ep: 1, sharding: hsdp", MOE),
        "ep 2",
    ),
    Verdict(
        "sharding-forbids-pipeline",
        layout("framework: megatron-deepspeed, pp: 4, sharding: zero2"),
        "layout.sharding",
        "error",
        "`sharding: zero1`",
        layout("framework: megatron-deepspeed, pp: 4, sharding: zero1"),
        "zero2",
    ),
    Verdict(
        "sharding-forbids-pipeline",
        layout("framework: deepspeed, pp: 2, sharding: fsdp"),
        "layout.sharding",
        "error",
        "pp to 1",
        layout("framework: deepspeed, pp: 1, sharding: fsdp"),
    ),
    Verdict(
        "sharding-forbids-pipeline",
        layout("framework: megatron-core, software_year: 2024, pp: 4, sharding: fsdp"),
        "layout.sharding",
        "error",
        "zero1",
        layout("framework: megatron-core, software_year: 2025, pp: 4, sharding: fsdp"),
    ),
    Verdict(
        "ep-tp-without-sequence-parallel",
        layout("framework: megatron-core, tp: 2, ep: 4, expert_tp: 1, sequence_parallel: false", MOE),
        "layout.sequence_parallel",
        "error",
        "`sequence_parallel: true`",
        layout("framework: megatron-core, tp: 1, ep: 4, expert_tp: 1, sequence_parallel: false", MOE),
    ),
    Verdict(
        "ep-tp-without-sequence-parallel",
        layout("tp: 2, ep: 4, expert_tp: 1, sequence_parallel: false", MOE),
        "layout.sequence_parallel",
        "warning",
        "`sequence_parallel: true`",
        layout("framework: torchtitan, tp: 2, ep: 4, expert_tp: 1, sequence_parallel: false", MOE),
    ),
    Verdict(
        "ep-tp-without-sequence-parallel",
        layout("framework: megatron-core, tp: 2, sequence_parallel: false", MOE),
        "layout.sequence_parallel",
        "error",
        "true",
        layout("framework: megatron-core, tp: 2, sequence_parallel: false", DENSE),
    ),
    Verdict(
        "order-not-ending-in-pp",
        layout("framework: megatron-core, tp: 2, pp: 4, ep: 8, expert_tp: 1, order: [tp, cp, ep, pp, dp]", MOE),
        "layout.order",
        "error",
        "`order: [tp, cp, ep, dp, pp]`",
        # 64 ranks: dp = 64 / (8 × 2) = 4, expert_dp = 64 / (1 × 8 × 2) = 4, and both have stages 8 ranks apart
        layout("framework: megatron-core, tp: 8, pp: 2, ep: 8, expert_tp: 1, order: [tp, cp, ep, pp, dp]", MOE),
    ),
    Verdict(
        # dp = expert_dp = 4, but stages of dense layers are 8 ranks apart, those of experts 1
        "order-not-ending-in-pp",
        layout("framework: megatron-core, tp: 8, pp: 2, ep: 8, expert_tp: 1, order: [tp, pp, cp, ep, dp]", MOE),
        "layout.order",
        "error",
        "`order: [tp, cp, ep, dp, pp]`",
        layout("framework: custom, tp: 8, pp: 2, ep: 8, expert_tp: 1, order: [tp, pp, cp, ep, dp]", MOE),
    ),
    Verdict(
        # 14,360 / 4 = 3,590 = 224 × 16 + 6
        "unaligned-precision-blocks",
        layout("framework: megatron-core, tp: 4", own(ffn(14_360), FP8)),
        "layout.tp",
        "error",
        "multiple of 16",
        layout("framework: megatron-core, tp: 4", own(ffn(14_400), FP8)),
        "3,590",
    ),
    Verdict(
        "unaligned-precision-blocks",
        layout("framework: torchtitan, tp: 4", own(ffn(14_360), FP8)),
        "layout.tp",
        "note",
        "multiple of 16",
        layout("framework: torchtitan, tp: 4", own(ffn(14_360))),
        "bf16",
    ),
    Verdict(
        # 14,400 / 4 = 3,600 = 225 × 16, and 112.5 × 32
        "unaligned-precision-blocks",
        layout("framework: megatron-core, tp: 4", own(ffn(14_400), MXFP8)),
        "layout.tp",
        "error",
        "multiple of 32",
        layout("framework: megatron-core, tp: 4", own(ffn(14_464), MXFP8)),
        "3,600",
    ),
    Verdict(
        # 32 / 8 = 4 heads and 8 / 8 = 1 key-value head a rank
        "ulysses-exceeds-heads",
        layout("tp: 8, cp: 4, cp_method: all-to-all"),
        "layout.cp",
        "error",
        "`cp_method: ring`",
        layout("tp: 2, cp: 4, cp_method: all-to-all"),
        "1 key-value head per rank",
    ),
    Verdict(
        "ulysses-exceeds-heads",
        layout("tp: 4, cp: 16, cp_method: all-to-all"),
        "layout.cp",
        "error",
        "ring",
        layout("framework: deepspeed, tp: 4, cp: 4, cp_method: all-to-all"),
        "8 heads per rank",
    ),
    Verdict(
        # 50,257 = 6,282 × 8 + 1; Megatron pads to 50 × 128 × 8 = 51,200
        "vocab-indivisible-by-tp",
        layout("tp: 8", own(LLAMA.replace("128256", "50257"))),
        "workload.model.vocab",
        "note",
        "51,200",
        layout("framework: megatron-core, tp: 8", own(LLAMA.replace("128256", "50257"))),
    ),
    Verdict(
        "vocab-indivisible-by-tp",
        layout("tp: 2", own(LLAMA.replace("128256", "50257"))),
        "workload.model.vocab",
        "note",
        "50,432",
        layout("tp: 1", own(LLAMA.replace("128256", "50257"))),
    ),
    Verdict(
        "layers-indivisible-by-pp",
        layout(
            "pp: 4",
            "workload:\n  model: {base: llama-3.1-8b, layers: 29}\n  sequence_length: 8192\n  global_batch: 256\n",
        ),
        "layout.pp",
        "warning",
        "stage_layers: [7, 8, 7, 7]",
        layout("pp: 4"),
    ),
    Verdict(
        "layers-indivisible-by-pp",
        layout(
            "framework: custom, pp: 4",
            "workload:\n  model: {base: llama-3.1-8b, layers: 30}\n  sequence_length: 8192\n  global_batch: 256\n",
        ),
        "layout.pp",
        "note",
        "stage_layers",
        layout(
            "pp: 2",
            "workload:\n  model: {base: llama-3.1-8b, layers: 30}\n  sequence_length: 8192\n  global_batch: 256\n",
        ),
    ),
    Verdict(
        "layers-indivisible-by-pp",
        layout(
            "pp: 8",
            "workload:\n  model: {base: llama-3.1-8b, layers: 7}\n  sequence_length: 8192\n  global_batch: 256\n",
        ),
        "layout.pp",
        "error",
        "stage_layers",
        layout(
            "pp: 8",
            "workload:\n  model: {base: llama-3.1-8b, layers: 8}\n  sequence_length: 8192\n  global_batch: 256\n",
        ),
    ),
]

ADVICE = [
    Verdict(
        # 80 layers and the head: 30 layers on 4 stages with the loss counted are not whole, with both ends 32 / 4 = 8
        "layers-indivisible-by-pp",
        layout(
            "pp: 4",
            "workload:\n  model: {base: llama-3.1-8b, layers: 30}\n  sequence_length: 8192\n  global_batch: 256\n",
        ),
        "layout.pp",
        "note",
        "28 or 32 layers; or count embedding and loss as layers: 8 per stage",
        layout("pp: 4"),
    ),
    Verdict(
        "tp-crosses-scale-up-domain",
        # a quarter of the step or more is tensor-parallel communication that nothing hides
        layout("tp: 16", DENSE.replace("8b", "70b")),
        "layout.tp",
        "error",
        "`tp: 8, pp: 2`",
        layout("tp: 8, pp: 2", DENSE.replace("8b", "70b")),
        "all 4 tp groups span 2 scale-up domains",
    ),
    Verdict(
        # loads in layers: 10, 8, 8 and 6 + 2.42 of the head: 10 / 8.61 is 16 % above the mean
        "uneven-pipeline-stages",
        layout("pp: 4, stage_layers: [10, 8, 8, 6]"),
        "layout.stage_layers",
        "warning",
        "`stage_layers: [9, 9, 8, 6]`",
        layout("pp: 4, stage_layers: [9, 9, 8, 6]"),
        "stage 1 of 4 has 16 % more work than the mean",
    ),
]
