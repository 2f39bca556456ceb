"""Logs of the first rank of Megatron-Bridge: a printed configuration, whose defaults it leaves out, and steps without
a number.
"""

from __future__ import annotations

import pytest

from tests.exchange.imports import counts, given, read, unknown

CONFIGURED = """\
{at}
{at}======================================================================
{at}Configuration Summary (Non-Default Values vs Megatron Core)
{at}======================================================================
{at}
{at}[optimizer] Non-default values (vs Mcore OptimizerConfig):
{at}  lr: 0.0003  (Mcore default: None)
{at}
{at}[ddp] Non-default values (vs Mcore DistributedDataParallelConfig):
{at}  {ddp}
{at}
{at}[model] Non-default values (vs Mcore {kind}):
{at}  bf16: True  (Mcore default: False)
{at}  ffn_hidden_size: 1536  (Mcore default: None)
{at}  hidden_size: 512  (Mcore default: 0)
{at}  num_attention_heads: 8  (Mcore default: 0)
{at}  num_layers: 12  (Mcore default: 0)
{at}  num_query_groups: 4  (Mcore default: None)
{at}  {model}
{at}
{at}----------------------------------------------------------------------
{at}Other Configuration Values:
{at}----------------------------------------------------------------------
{at}
{at}[train]:
{at}  global_batch_size: {batch}
{at}  micro_batch_size: 2
{at}
{at}[dataset]:
{at}  data_parallel_size: 7
{at}  sequence_length: 2048
{at}
{at}[tokenizer]:
{at}  tensor_model_parallel_size: 6
{at}  vocab_size: 32000
{at}
{at}======================================================================
"""
BEGUN = "Starting training loop at iteration {}"
STEP = "Step Time : {:.2f}s GPU utilization: {:.1f}MODEL_TFLOP/s/GPU"
TIMES = (90.0, 30.0, 2.0, 2.5, 2.0, 2.25)
NUMBERED = " [2026-01-02 03:04:05] iteration {:8d}/ 9 | consumed samples: 9 | elapsed time per iteration (ms): {:.1f} |"


def configured(
    at: str = "", model: str = "kv_channels: 64", kind: str = "TransformerConfig", ddp: str = "", batch: int = 256
) -> str:
    return CONFIGURED.format(at=at, model=model, kind=kind, ddp=ddp or "overlap_grad_reduce: True", batch=batch)


def steps(times: tuple[float, ...] = TIMES, form: str = STEP, begun: int = 0) -> str:
    return "\n".join([BEGUN.format(begun), *(form.format(time, 100 * n) for n, time in enumerate(times))]) + "\n"


@pytest.mark.parametrize("at", ["", "0: ", "[+   30.745] ", "(worker pid=7) "])
@pytest.mark.parametrize("form", [STEP, STEP.replace("MODEL_", ""), "12: " + STEP])
def test_a_configuration_and_the_steps_of_a_first_rank_are_those_of_the_run(at: str, form: str) -> None:
    reading = read(configured(at) + steps(form=form))
    assert given(reading) == {
        "layout.framework": "megatron-core",
        "layout.tp": 1,
        "layout.pp": 1,
        "layout.cp": 1,
        "layout.micro_batch": 2,
        "layout.sequence_parallel": False,
        "layout.overlap.dp": True,
        "layout.sharding": "none",
        "workload.global_batch": 256,
        "workload.sequence_length": 2048,
        "workload.precision": "bf16",
        "workload.model.layers": 12,
        "workload.model.hidden": 512,
        "workload.model.heads": 8,
        "workload.model.kv_heads": 4,
        "workload.model.head_dim": 64,
        "workload.model.ffn_hidden": 1536,
        "workload.model.gated_ffn": False,
    }
    assert counts(reading) == {"step_seconds": 2.125, "tflops_per_accelerator": 350, "steps": 6}
    assert [each.value for each in reading.given if each.appended] == [{"step_time": "2.125 s"}]
    assert "workload.model.vocab and tied_embeddings" in unknown(reading) and "degrees" not in unknown(reading)


@pytest.mark.parametrize(
    ("model", "kind", "stated"),
    [
        ("tensor_model_parallel_size: 4", "TransformerConfig", {"layout.tp": 4}),
        ("gated_linear_unit: True", "TransformerConfig", {"workload.model.gated_ffn": True}),
        ("fp8_recipe: 'mxfp8'  (Mcore default: 'delayed')", "TransformerConfig", {"workload.precision": "bf16"}),
        ("fp8: 'e4m3'  (Mcore default: None)", "TransformerConfig", {"workload.precision": "fp8"}),
        (
            "num_moe_experts: 16",
            "TransformerConfig",
            {"workload.model.experts": 16, "workload.model.experts_per_token": 2, "layout.ep": 1},
        ),
        (
            "kv_lora_rank: 256  (Mcore default: 512)",
            "MLATransformerConfig",
            {
                "workload.model.latent_attention.kv": 256,
                "workload.model.latent_attention.q": 512,
                "workload.model.latent_attention.rope": 64,
                "workload.model.head_dim": 128,
                "workload.model.value_head_dim": 128,
            },
        ),
        ("recompute_granularity: 'selective'", "TransformerConfig", {"layout.recompute": "selective"}),
        (
            "recompute_granularity: 'selective'\n  recompute_modules: ['moe_act', 'layernorm']",
            "TransformerConfig",
            {"layout.recompute": ["activation", "norm"]},
        ),
        (
            "recompute_granularity: 'selective'\n  recompute_modules: []",
            "TransformerConfig",
            {"layout.recompute": "none"},
        ),
        (
            "attention_backend: <AttnBackend.flash: 1>  (Mcore default: <AttnBackend.auto: 5>)",
            "TransformerConfig",
            {"workload.attention": "flash"},
        ),
    ],
)
def test_what_a_configuration_leaves_out_is_a_default_of_megatron_core(
    model: str, kind: str, stated: dict[str, object]
) -> None:
    found = given(read(configured(model=model, kind=kind) + steps()))
    assert {key: found.get(key) for key in stated} == stated


@pytest.mark.parametrize(
    ("ddp", "sharding"),
    [
        ("use_distributed_optimizer: True", "zero1"),
        ("data_parallel_sharding_strategy: 'optim_grads_params'", "none"),
        ("use_megatron_fsdp: True\n  data_parallel_sharding_strategy: 'optim_grads'", "zero2"),
    ],
)
def test_a_strategy_of_sharding_holds_where_its_implementation_is_on(ddp: str, sharding: str) -> None:
    assert given(read(configured(ddp=ddp) + steps()))["layout.sharding"] == sharding


def test_numbered_steps_of_the_last_rank_go_before_those_without_a_number() -> None:
    numbered = "\n".join(NUMBERED.format(n, 4000.0) for n in range(1, 7))
    reading = read(configured() + steps() + numbered)
    assert (counts(reading)["step_seconds"], counts(reading)["steps"]) == (4, 6)


def test_a_loop_that_begins_again_is_another_run() -> None:
    with pytest.raises(Exception, match="holds 2 runs"):
        read(steps((3.0,)) + steps((4.0,)))
    assert counts(read(steps((3.0,)) + steps((4.0,), begun=1)))["steps"] == 2
    assert counts(read(steps((3.0,)) + steps((4.0,)), part=2))["step_seconds"] == 4


def test_configurations_that_differ_state_nothing() -> None:
    same = given(read(configured() + configured() + steps()))
    assert same["workload.global_batch"] == 256
    differ = given(read(configured() + configured(batch=512) + steps()))
    assert differ == {"layout.framework": "megatron-core"}
    cut_off = configured().rpartition("=" * 70)[0]
    assert given(read(cut_off + steps())) == {"layout.framework": "megatron-core"}


@pytest.mark.parametrize("begun", [True, False])
def test_a_step_that_a_page_quotes_with_its_launch_is_no_log(begun: bool) -> None:
    launch = "python scripts/performance/setup_experiment.py -m qwen3 -mr 235b_a22b -tp 1 -pp 2 -c bf16 -ng 64\n"
    quoted = steps() if begun else STEP.format(2.0, 9.0) + "\n"
    reading = read(f"# A run\n\n```bash\n{launch}```\n\n```\n{quoted}```\n", name="README.md")
    assert ("layout.pp" in given(reading), "steps" in counts(reading)) == (not begun, begun)
