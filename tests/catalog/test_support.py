"""The support matrix: how a line is read, what releases refuse by the sources' own lines, and what search proposes."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from clusterspec.analysis.searches.serving_plans.space import engines, serving_job
from clusterspec.analysis.searches.space.families import families, section_of
from clusterspec.analysis.searches.studied import job_of, section_with_fixed_settings
from clusterspec.catalog.frameworks import (
    NOTHING_KNOWN,
    Framework,
    Library,
    UnreadableCombination,
    capabilities,
    framework_of,
)
from clusterspec.catalog.releases import (
    AXES,
    DEGREES,
    MODEL,
    QUANTITIES,
    USES,
    VALUED,
    Combination,
    combination,
    multiple,
    undecided_combinations,
)
from clusterspec.cluster.demands import Demands, demands_of, fixed_uses, layout_numbers, model_uses
from clusterspec.cluster.legality import broken_multiples, layout_error_rules, refused_statements
from clusterspec.finding import Severity
from clusterspec.records import replace
from clusterspec.studies import variation
from tests.analysis.jobs import choices, design_of, job, study_of
from tests.catalog.shipped import CATALOG
from tests.effort import diagonal, each, sampled
from tests.spec_keys import unknown_keys

ENTRIES = [(kind, name) for kind in ("framework", "library") for name in CATALOG.ids(kind)]
MODELS_NAMED = {use for name in CATALOG.ids("model") for use in model_uses(CATALOG.model(name))}
ARCHITECTURES = {CATALOG.accelerator(name).architecture for name in CATALOG.ids("accelerator")} - {""}


def uses(*names: str) -> frozenset[str]:
    return frozenset(names)


@pytest.mark.parametrize(
    ("text", "used", "applies"),
    [
        ("pp + fsdp/hsdp", uses("pp", "hsdp", "train"), True),
        ("pp + fsdp/hsdp", uses("pp", "zero1"), False),
        ("pp + fsdp/hsdp", uses("fsdp"), False),
        ("on sm_90/sm_100", uses("sm_100"), True),
        ("on sm_90/sm_100", uses("sm_80", "pp"), False),
        ("cache-fp8 on sm_80", uses("cache-fp8", "sm_80"), True),
        ("cache-fp8 on sm_80", uses("cache-fp8", "sm_90"), False),
        ("experts + tp without sequence-parallel", uses("experts", "tp"), True),
        ("experts + tp without sequence-parallel", uses("experts", "tp", "sequence-parallel"), False),
    ],
)
def test_a_line_applies_to_designs_that_use_one_of_each_alternative(
    text: str, used: frozenset[str], applies: bool
) -> None:
    assert combination(text).applies(used) is applies


@pytest.mark.parametrize("text", ["pipline", "pp + ", "pp + fdsp", "", "tp without cache", "without tp"])
def test_a_line_that_names_an_unknown_use_or_none_is_refused(text: str) -> None:
    with pytest.raises(UnreadableCombination):
        combination(text)


@each("seed", range(20))
def test_what_is_left_to_decide_applies_exactly_where_the_whole_line_does(seed: int) -> None:
    """The settings of a design decide a part of each line, its layout the rest: together they decide as all at once."""
    drawn, names = Random(seed), sorted(USES)
    layouts, others = sorted(DEGREES), sorted(USES.keys() - DEGREES.keys())
    for _ in range(200):
        clauses = tuple(frozenset(drawn.sample(names, drawn.randint(1, 3))) for _ in range(drawn.randint(1, 3)))
        line = Combination(clauses, frozenset(), frozenset(drawn.sample(names, drawn.randint(0, 1))))
        settled = frozenset(drawn.sample(others, drawn.randint(0, len(others) // 2)))
        layout = frozenset(drawn.sample(layouts, drawn.randint(0, len(layouts) // 2)))
        rest = undecided_combinations([line], settled)
        assert any(each.applies(layout) for each in rest) is line.applies(settled | layout)


@each(("kind", "name"), ENTRIES)
def test_lines_of_shipped_entries_name_architectures_and_models_of_the_catalog(kind: str, name: str) -> None:
    entry = CATALOG.get(kind, name)
    assert isinstance(entry, Framework)
    for text, statement in entry.statements.items():
        assert statement.combination.architectures <= ARCHITECTURES, text
        named = {each for clause in statement.combination.uses for each in clause if each.startswith(MODEL)}
        assert named <= MODELS_NAMED, text


RELEASES: list[tuple[str, str, str, frozenset[str], bool, str]] = [  # kind, name, release, uses, supported, the source
    ("framework", "megatron-core", "0.11", uses("fsdp", "tied-embeddings", "train"), False, "arguments.py 1044"),
    ("framework", "megatron-core", "0.12", uses("fsdp", "tied-embeddings", "train"), True, "--use-custom-fsdp"),
    ("framework", "megatron-core", "0.19", uses("fsdp", "optimizer-muon"), False, "arguments.py 1740"),
    ("framework", "megatron-core", "0.19", uses("zero1", "optimizer-muon"), True, "arguments.py 2914"),
    ("framework", "megatron-core", "0.15", uses("optimizer-muon"), False, "no choice of --optimizer"),
    ("framework", "megatron-core", "0.10", uses("moments-bf16", "optimizer-adam"), False, "no --exp-avg-dtype"),
    ("framework", "megatron-core", "0.11", uses("moments-bf16", "optimizer-adam"), True, "--exp-avg-dtype"),
    ("framework", "megatron-core", "0.19", uses("moments-bf16", "optimizer-sgd"), False, "optimizer_config.py 434"),
    ("framework", "megatron-core", "0.15", uses("pp", "activation-offload"), False, "transformer_config.py 1891"),
    ("framework", "megatron-core", "0.13", uses("cp", "token-prediction"), False, "0.12 arguments.py 963"),
    ("framework", "megatron-core", "0.14", uses("cp", "token-prediction"), True, "the assertion is gone"),
    ("framework", "megatron-core", "0.9", uses("latent-attention"), False, "no multi_latent_attention"),
    ("framework", "megatron-core", "0.19", uses("cp", "ring", "sliding-window"), False, "context_parallel.py 5057"),
    (
        "framework",
        "megatron-core",
        "0.19",
        uses("cp", "all-to-all", "sliding-window"),
        True,
        "context_parallel.py 5057",
    ),
    ("framework", "megatron-core", "0.19", uses("cp", "ring", "sparse-attention"), False, "transformer_config.py 3170"),
    ("framework", "megatron-core", "0.12", uses("recipe-blockwise"), False, "no choice of --fp8-recipe"),
    ("framework", "megatron-core", "0.13", uses("recipe-blockwise", "sm_90"), True, "a choice of --fp8-recipe"),
    ("framework", "megatron-core", "0.19", uses("recipe-blockwise", "sm_89"), False, "quantization.py 180"),
    ("framework", "megatron-core", "0.19", uses("recipe-mxfp8", "sm_90"), False, "quantization.py 166"),
    ("framework", "megatron-core", "0.19", uses("recipe-mxfp8", "sm_100"), True, "quantization.py 166"),
    ("framework", "megatron-core", "0.19", uses("recipe-mxfp8", "sm_120"), False, "quantization.py 164"),
    ("framework", "megatron-core", "0.11", uses("deepep"), False, "no moe_enable_deepep"),
    ("framework", "megatron-core", "0.19", uses("ep", "deepep", "sm_89"), False, "DeepEP README 45 to 52"),
    ("framework", "torchtitan", "0.2", uses("recipe-mxfp8", "gfx950"), False, "mx.py 70"),
    ("framework", "torchtitan", "0.2", uses("recipe-delayed"), False, "float8.py 58"),
    ("framework", "torchtitan", "0.2", uses("optimizer-lion"), False, "optimizer.py 148"),
    ("framework", "deepspeed", "0.19.2", uses("ep", "fsdp"), False, "engine.py 1890"),
    ("framework", "deepspeed", "0.19.3", uses("ep", "fsdp"), True, "engine.py 1893"),
    ("framework", "deepspeed", "0.19.4", uses("ep", "fsdp", "tp"), False, "engine.py 1896"),
    ("framework", "internevo", "0.3", uses("fsdp", "pp"), False, "launch.py 107"),
    ("framework", "internevo", "0.3", uses("fsdp", "experts"), False, "launch.py 438"),
    ("framework", "vllm", "0.15.1", uses("pp", "speculation"), False, "speculative_decoding/README.md"),
    ("framework", "vllm", "0.16.0", uses("pp", "speculation"), True, "speculative_decoding/README.md"),
    ("framework", "vllm", "0.13.0", uses("speculation", "speculation-draft-model"), False, "31883"),
    ("framework", "vllm", "0.14.0", uses("speculation", "speculation-draft-model"), True, "31883"),
    ("framework", "vllm", "0.8.5", uses("sm_100"), False, "0.9.0, CUDA 12.8 binaries"),
    ("framework", "vllm", "0.9.1", uses("sm_120"), True, "0.9.0, CUDA 12.8 binaries"),
    ("framework", "vllm", "0.9.2", uses("gfx950"), False, "0.9.0, installation"),
    ("framework", "vllm", "0.11.0", uses("gfx950"), True, "0.11.0, installation"),
    ("framework", "vllm", "0.31.0", uses("sm_70"), False, "0.31.0, installation"),
    ("framework", "vllm", "0.14.0", uses("sm_70"), True, "0.14.0, installation"),
    ("framework", "vllm", "0.20.0", uses("cache-mxfp8"), False, "cache.py, CacheDType"),
    ("framework", "vllm", "0.20.0", uses("quantization-awq", "sm_70"), False, "supported hardware"),
    ("framework", "vllm", "0.19.1", uses("quantization-gptq", "sm_70"), True, "supported hardware"),
    ("framework", "vllm", "0.19.1", uses("sm_70"), True, "gpu.cuda.inc.md: compute capability 7.0 or higher"),
    ("framework", "vllm", "0.20.0", uses("sm_70"), False, "gpu.cuda.inc.md: compute capability 7.5 or higher"),
    ("framework", "vllm", "0.20.0", uses("weights-fp8", "sm_80"), True, "FP8 W8A8, weight-only"),
    ("framework", "sglang", "0.5.20", uses("pp", "speculation"), False, "validation_hook.py 83"),
    ("framework", "sglang", "0.5.22", uses("pp", "speculation"), True, "the assertion is gone"),
    ("framework", "sglang", "0.5.23", uses("pp", "cp"), False, "parallel_hook.py 178"),
    ("framework", "vllm", "0.19.1", uses("cache-int8"), False, "cache.py, CacheDType"),
    ("framework", "vllm", "0.19.1", uses("cache-nvfp4", "sm_100"), False, "cache.py, CacheDType"),
    ("framework", "vllm", "0.20.0", uses("cache-int8"), True, "cache.py, CacheDType"),
    ("framework", "vllm", "0.20.0", uses("cache-nvfp4", "sm_100"), False, "flashinfer.py, NotImplementedError"),
    ("framework", "vllm", "0.21.0", uses("cache-nvfp4", "sm_103"), True, "flashinfer.py, trtllm-gen"),
    ("framework", "vllm", "0.31.0", uses("cache-nvfp4", "sm_120"), False, "flashinfer.py, is_device_capability_family"),
    ("framework", "vllm", "0.32.0", uses("cache-nvfp4", "sm_90"), True, "flashinfer.py, _nvfp4_kv_on_fa2"),
    ("framework", "vllm", "0.33.0", uses("cache-nvfp4", "sm_75"), False, "flashinfer.py, _nvfp4_kv_on_fa2"),
    ("framework", "vllm", "0.24.0", uses("cache-int4"), False, "cache.py, CacheDType"),
    ("framework", "vllm", "0.25.0", uses("cache-int4"), True, "cache.py, CacheDType"),
    ("framework", "sglang", "0.5.16", uses("cache-nvfp4", "sm_90"), False, "server_args.py 5086"),
    ("framework", "sglang", "0.5.16", uses("cache-nvfp4", "sm_120"), True, "server_args.py 5087"),
    ("framework", "sglang", "0.4.5", uses("sm_100"), False, "no extra for Blackwell"),
    ("framework", "sglang", "0.5.12", uses("weights-nvfp4", "sm_90"), False, "modelopt_quant.py 1135"),
    ("framework", "sglang", "0.5.16", uses("weights-nvfp4", "sm_90"), True, "modelopt_quant.py 1209"),
    (
        "framework",
        "sglang",
        "0.5.16",
        uses("ep", "ep-across-domains", "deepep", "tcp-fabric", "sm_90"),
        False,
        "DeepEP README 52",
    ),
    (
        "framework",
        "megatron-core",
        "0.15",
        uses("ep", "deepep", "efa-fabric", "sm_90"),
        True,
        "inside a node it uses NVLink",
    ),
    ("framework", "sglang", "0.4.3", uses("model-qwen3", "experts"), False, "srt/models at v0.4.3"),
    ("framework", "sglang", "0.4.6", uses("model-qwen3", "experts"), True, "srt/models at v0.4.6"),
    ("framework", "sglang", "0.5.9", uses("model-deepseek-v4"), False, "srt/models at v0.5.9"),
    ("framework", "vllm", "0.8.3", uses("model-qwen3"), False, "the model card"),
    ("framework", "vllm", "0.10.1", uses("model-qwen3", "model-qwen3-next"), False, "the model card"),
    ("library", "nccl", "2.14", uses("switch-reduction", "sm_90"), False, "notes of the tag v2.17.1-1"),
    ("library", "nccl", "2.17.1", uses("switch-reduction", "sm_90"), True, "notes of the tag v2.17.1-1"),
    ("framework", "trt-llm", "0.19", uses("sm_120"), False, "release notes, 0.20.0"),
    ("framework", "trt-llm", "0.21", uses("pp", "disaggregation"), False, "release notes, 1.0"),
    ("framework", "trt-llm", "1.0", uses("weights-nvfp4", "sm_90"), False, "0.18.2, support matrix"),
    ("framework", "trt-llm", "0.16", uses("sm_100"), False, "release notes, 0.17.0"),
    ("framework", "trt-llm", "1.0", uses("sm_100"), True, "release notes, 0.17.0"),
    ("library", "cuda", "12.6", uses("sm_100"), False, "CUDA features archive, 12.8"),
    ("library", "cuda", "12.8", uses("sm_103"), False, "CUDA features archive, 12.9"),
    ("library", "cuda", "13.0", uses("sm_70"), False, "CUDA 13.0 release notes"),
    ("library", "nvidia-driver", "565.57", uses("sm_120"), False, "CUDA 12.8 release notes, table 3"),
    ("library", "nvidia-driver", "570.86.15", uses("sm_100"), True, "CUDA 12.8 release notes, table 3"),
    ("library", "pytorch", "2.6.0", uses("sm_100"), False, "PyTorch 2.7 release"),
    ("library", "nccl", "2.24.3", uses("sm_100"), False, "notes of the tag v2.25.1-1"),
    ("library", "nccl", "2.25.1", uses("sm_120"), True, "makefiles/common.mk 43"),
    ("library", "rocm", "6.4", uses("gfx950"), False, "vLLM 0.11.0, installation"),
    ("library", "neuron", "2.20", uses("trn2"), False, "rn.rst 689"),
    ("library", "neuron", "2.26", uses("trn3"), False, "2.27.0/index.rst 62"),
    ("library", "transformer-engine", "1.13", uses("recipe-mxfp8"), False, "the tag v2.0"),
]


@each(("kind", "name", "release", "used", "supported", "source"), RELEASES)
def test_a_release_supports_what_its_sources_say(
    kind: str, name: str, release: str, used: frozenset[str], supported: bool, source: str
) -> None:
    entry = framework_of(name, CATALOG) if kind == "framework" else CATALOG.get(kind, name)
    assert isinstance(entry, Framework) and source
    refused = [each for each in capabilities(entry, release, 2026).refused if each.combination.applies(used)]
    assert (not refused) is supported
    assert supported or any(each.feature.is_sourced for each in refused)


NEWER = """\
vllm deepseek-v3 0.6.5 0.6.6
vllm llama-4-scout 0.8.2 0.8.3
vllm glm-4.6 0.9.2 0.10.0
vllm kimi-k2 0.6.5 0.10.0
vllm qwen3-vl-235b-a22b 0.10.2 0.11.0
vllm deepseek-v3.2 0.10.2 0.11.0
vllm minimax-m2.5 0.11.0 0.11.1
vllm mistral-large-3 0.11.2 0.12.0
vllm nemotron-3-super 0.12.0 0.14.0
vllm glm-4.7 0.9.2 0.10.0
vllm glm-4.7-flash 0.14.1 0.16.0
vllm kimi-k2.7-code 0.14.1 0.16.0
vllm qwen3.6-27b 0.16.0 0.17.0
vllm gemma-4-31b 0.18.1 0.19.0
vllm hy3 0.19.1 0.20.0
vllm step-3.7-flash 0.22.1 0.23.0
vllm minimax-m3 0.23.0 0.24.0
vllm kimi-k3 0.26.0 0.27.0
vllm ling-1t 0.10.2 0.11.0
vllm trinity-large 0.11.0 0.11.1
vllm kimi-linear-48b-a3b 0.11.0 0.11.1
vllm k-exaone-236b-a23b 0.13.0 0.14.0
vllm step-3.5-flash 0.15.0 0.15.1
vllm glm-5 0.15.1 0.16.0
vllm laguna-m.1 0.20.2 0.21.0
vllm mimo-v2.5-pro 0.20.2 0.21.0
vllm mimo-v2.6-flash 0.20.2 0.21.0
vllm north-mini-code-1.0 0.20.2 0.21.0
vllm intern-s2-preview 0.21.0 0.22.0
vllm mellum2-12b-a2.5b 0.22.0 0.22.1
vllm gemma-4-12b 0.22.1 0.23.0
vllm inkling-small 0.25.1 0.26.0
vllm muse-glimmer-30b 0.27.1 0.28.0
vllm hy4-preview 0.28.0 0.29.0
vllm qwen3.8-flash-next 0.28.0 0.29.0
vllm glm-5.3-flash 0.29.0 0.30.0
vllm deepseek-v4.1-flash 0.29.0 0.30.0
sglang qwen3-vl-8b 0.5.2 0.5.3
sglang glm-4.5-air 0.4.6 0.4.9.post6
sglang mistral-large-3 0.5.5 0.5.6.post2
sglang kimi-k2.5 0.5.8.post1 0.5.9
sglang gemma-4-26b-a4b 0.5.10.post1 0.5.11
sglang deepseek-v4-pro 0.5.11 0.5.12
sglang minimax-m3 0.5.15.post1 0.5.16
sglang ring-1t 0.5.2 0.5.3
sglang kimi-linear-48b-a3b 0.5.3 0.5.4.post3
sglang trinity-mini 0.5.7 0.5.8
sglang step-3.5-flash 0.5.8.post1 0.5.9
sglang k-exaone-2-750b-a37b 0.5.8.post1 0.5.9
sglang mimo-v2.6-pro 0.5.10.post1 0.5.11
sglang laguna-s-2.1 0.5.11 0.5.12
sglang intern-s2-preview 0.5.11 0.5.12
sglang gemma-4-12b 0.5.12.post1 0.5.13
sglang north-mini-code-1.0 0.5.12.post1 0.5.13
sglang inkling 0.5.15.post1 0.5.16
sglang mellum2-12b-a2.5b 0.5.15.post1 0.5.16
sglang muse-glimmer-30b 0.5.17 0.5.18
sglang glm-5.3-flash 0.5.19 0.5.20
sglang hy4-preview 0.5.19 0.5.20
sglang qwen3.8-flash-next 0.5.19 0.5.20
sglang deepseek-v4.1-flash 0.5.20 0.5.21
trt-llm qwen3-32b 0.19.0 0.20.0
trt-llm gpt-oss-120b 1.0.0 1.1.0
trt-llm qwen3-vl-32b 1.1.0 1.2.0
trt-llm glm-5 1.2.1 1.3.0rc13
maxtext qwen3.5-35b-a3b 0.2.2 0.2.3
megatron-bridge deepseek-v4-flash 0.4.1 0.5.0
"""


def test_a_model_needs_the_first_release_that_has_its_architecture() -> None:
    """Framework, model, the last release known to lack it, and the first known to have it."""
    wrong = []
    for name, model, lacking, having in (row.split() for row in NEWER.splitlines()):
        entry, named = framework_of(name, CATALOG), {use for use in model_uses(CATALOG.model(model)) if MODEL in use}
        known = [
            not any(
                each.combination.applies(frozenset(named)) and each.feature.is_sourced
                for each in capabilities(entry, release, 2026).refused
            )
            for release in (lacking, having)
        ]
        wrong += [(name, model, known)] if known != [False, True] else []
    assert wrong == []


# What search proposes

MACHINES = ("dgx-a100", "dgx-h100", "dgx-b200", "mi355x")
SPEC = """
cluster: {{{machine}, nodes: 2}}
workload: {{{work}}}
layout: {{{layout}}}
"""
MODELS = {
    "dense": "model: llama-3.2-3b, sequence_length: 4096, global_batch: 32",
    "experts": "model: mixtral-8x7b, sequence_length: 4096, global_batch: 32, optimizer: muon",
    "window": "model: gpt-oss-20b, sequence_length: 8192, global_batch: 32, precision: fp8, recipe: mxfp8",
}
TRAINS = (
    "megatron-core 0.11",
    "megatron-core 0.19",
    "deepspeed 0.18",
    "internevo 0.3",
    "torchtitan 0.2",
    "primus 26.5",
)


def machine_text(name: str) -> str:
    return f"platform: {name}" if name in CATALOG.ids("platform") else f"accelerator: {name}, accelerators_per_node: 8"


@pytest.mark.parametrize(("software", "work"), sampled(diagonal(9, TRAINS, [*MODELS]), 3))
def test_search_proposes_no_layout_that_the_release_refuses(software: str, work: str) -> None:
    """On each accelerator: a sample of the layouts, resolved from the sections that search would print."""
    seen = 0
    for machine in MACHINES:
        text = SPEC.format(machine=machine_text(machine), work=MODELS[work], layout=f"software: {software}")
        one = study_of(text)
        searched = job_of(one.design)
        if searched is None:  # no peak at the precision of the work
            continue
        every = list(families(searched))
        for family in Random(5).sample(every, min(4, len(every))):
            choice = Random(6).choice(list(islice(choices(family), 200)))
            section = section_with_fixed_settings(one, section_of(searched, choice))
            design = variation.rewritten_study(one, {("layout",): section}).design
            assert [each.combination for each, _ in refused_statements(design) if each.combination.uses] == [], section
            assert "framework-lacks-feature" not in layout_error_rules(design)
            seen += 1
    assert seen or work == "window" or "muon" in MODELS[work]


def test_a_setting_that_the_release_refuses_leaves_search_nothing() -> None:
    """MXFP8 on Hopper is refused whatever the layout is; on Blackwell it is not."""
    layout = "software: megatron-core 0.19"
    hopper, blackwell = (
        SPEC.format(machine=f"platform: {name}", work=MODELS["window"], layout=layout)
        for name in ("dgx-h100", "dgx-b200")
    )
    assert not list(families(job(hopper))) and list(families(job(blackwell)))


def test_a_release_that_refuses_the_accelerator_or_a_setting_hides_no_figure() -> None:
    """What cannot run in any layout is an error of `check`; a layout that cannot run has no time either."""
    work = "model: llama-3.1-8b, sequence_length: 8192, global_batch: 256"
    rows = {
        "software: megatron-core 0.19, pp: 4, schedule: dualpipe": {"framework-lacks-feature"},
        "software: megatron-core 0.19, pp: 4, virtual_stages: 2, schedule: dualpipe": {"framework-lacks-feature"},
        "software: megatron-core 0.19, pp: 4, virtual_stages: 2, schedule: interleaved": set(),
        "software: megatron-core 0.15, sharding: fsdp": set(),
        "framework: neuronx-distributed, sharding: fsdp": set(),  # assumed: a warning
    }
    for layout, wanted in rows.items():
        assert (
            layout_error_rules(design_of(SPEC.format(machine="platform: dgx-h100", work=work, layout=layout))) == wanted
        )
    setting = SPEC.format(machine="platform: dgx-h100", work=MODELS["window"], layout="software: megatron-core 0.19")
    assert "framework-lacks-feature" not in layout_error_rules(design_of(setting))


def test_search_drops_only_what_the_line_names() -> None:
    """Llama 3.2 3B ties its embeddings, which FSDP2 of 0.11 refuses: every other sharding is proposed as before."""
    old, new = (
        {
            (family.tp, family.cp, family.pp, pipe, sharding)
            for family in families(
                job(SPEC.format(machine="platform: dgx-h100", work=MODELS["dense"], layout=software))
            )
            for pipe in family.pipelines
            for sharding in family.shardings
            if family.pp == 1
        }
        for software in ("software: megatron-core 0.11", "software: megatron-core 0.12")
    )
    assert {sharding.kind for *_, sharding in new - old} == {"fsdp", "hsdp"}
    assert old == {each for each in new if each[-1].kind not in {"fsdp", "hsdp"}}


@pytest.mark.parametrize(("software", "stages"), [("sglang 0.5.20", {1}), ("sglang 0.5.22", {1, 2, 4, 8})])
def test_search_proposes_no_pipeline_for_speculation_that_the_release_refuses(software: str, stages: set[int]) -> None:
    work = "kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32, "
    work += "speculative: {tokens: 3, acceptance: 0.7}}"
    served = serving_job(
        design_of(SPEC.format(machine="platform: dgx-h100", work=work, layout=f"software: {software}"))
    )
    assert served is not None and {each.pp for each in engines(served)} == stages


# Numbers that have to be multiples


@pytest.mark.parametrize("text", ["ffn_hidden", "hands of 2 * tp", "ffn_hidden of 0 * tp", "tp of cp with speculashun"])
def test_a_requirement_that_names_something_unknown_is_refused(text: str) -> None:
    with pytest.raises(UnreadableCombination):
        multiple(text)


ENGINE = "kind: serve, model: {model}, {weights}, serving: {{input_tokens: 2000, output_tokens: 500, concurrency: 32}}"
AWQ = "parameter_precision: int4, quantization: awq"


@pytest.mark.parametrize(
    ("work", "layout", "broken"),
    [  # 29,568 / 8 = 3,696 = 28.9 × 128; 28,672 / 8 = 28 × 128; 29,568 / 8 = 231 × 16
        (ENGINE.format(model="qwen2.5-vl-72b", weights=AWQ), "software: vllm 0.11, tp: 8", [(29568, 1024)]),
        (ENGINE.format(model="qwen2.5-vl-72b", weights=AWQ), "software: sglang 0.5.9, tp: 2", [(29568, 256)]),
        (ENGINE.format(model="qwen2.5-vl-72b", weights=AWQ), "software: vllm 0.11, tp: 1", []),
        (ENGINE.format(model="llama-3.1-70b", weights=AWQ), "software: vllm 0.11, tp: 8", []),
        (ENGINE.format(model="qwen2.5-vl-72b", weights="parameter_precision: nvfp4"), "software: vllm 0.11, tp: 8", []),
        (ENGINE.format(model="qwen2.5-vl-72b", weights=AWQ), "framework: custom, tp: 8", []),
    ],
)
def test_widths_are_whole_groups_of_each_rank(work: str, layout: str, broken: list[tuple[int, int]]) -> None:
    design = design_of(SPEC.format(machine="platform: dgx-h100", work=work, layout=layout))
    found = [(value, step) for _, value, step in broken_multiples(layout_numbers(design), demands_of(design))]
    assert found == broken
    assert ("indivisible-for-framework" in layout_error_rules(design)) is bool(broken)


def test_heads_of_linear_attention_divide_over_tp_and_cp_from_the_release_that_has_it() -> None:
    # 16 key heads over 4 × 8 ranks
    numbers = layout_numbers(design_of(SPEC.format(machine="platform: dgx-h100", work=MODELS["dense"], layout="tp: 4")))
    demands = Demands(32, NOTHING_KNOWN, CATALOG.model("qwen3-next-80b-a3b"), None, None)
    linear = demands.model.linear if demands.model else None
    assert linear is not None and linear.key_heads == 16
    asked = replace(demands, required=(multiple("linear_key_heads of tp * cp"),))
    broken = [list(broken_multiples(replace(numbers, tp=4, cp=cp), asked)) for cp in (4, 8)]
    assert broken[0] == [] and [(value, step) for _, value, step in broken[1]] == [(16, 32)]


def test_search_proposes_no_engine_that_cuts_a_group() -> None:
    work = ENGINE.format(model="qwen2.5-vl-72b", weights=AWQ)
    for software, widths in (("vllm 0.11", {1}), ("trt-llm 1.0", {1, 2, 4, 8})):
        text = SPEC.format(machine="platform: dgx-h100", work=work, layout=f"software: {software}")
        served = serving_job(design_of(text))
        assert served is not None and {each.tp for each in engines(served)} == widths


# What a design uses, and entries of a company


def test_a_design_uses_what_its_keys_say() -> None:
    work = "model: deepseek-v3, sequence_length: 4096, global_batch: 256, precision: fp8, recipe: blockwise"
    layout = "tp: 2, pp: 4, ep: 8, dispatcher: deepep, recompute: full, optimizer_states: {moments: bf16}"
    design = design_of(SPEC.format(machine="platform: dgx-h100", work=work, layout=layout))
    assert design.cluster is not None and design.layout is not None
    found = fixed_uses(design.cluster, design.workload, design.layout)
    assert {"train", "sm_90", "precision-fp8", "recipe-blockwise", "deepep", "moments-bf16", "master-fp32"} <= found
    assert {"experts", "latent-attention", "model-deepseek", "model-deepseek-v3"} <= found
    assert not {"ring", "grouped-query-attention", "serve", "tied-embeddings", "speculation"} & found


FORK = """\
kind: framework
id: acme-serve
name: acme-serve
status: {is: shipping, as_of: 2026-01-01}
facts:
  base: {is: vllm, assumed: our fork}
  support:
    LINE: {is: true, assumed: our patch}
"""


def test_a_fork_overrides_a_line_of_its_base(tmp_path: Path) -> None:
    from clusterspec.catalog import Catalog

    (tmp_path / "frameworks").mkdir()
    (tmp_path / "frameworks" / "acme-serve.yaml").write_text(FORK.replace("LINE", "pp + speculation"))
    fork = framework_of("acme-serve", Catalog.open([tmp_path]))
    used = uses("pp", "speculation", "sm_100", "serve")
    refused = [each for each in capabilities(fork, "0.8", 2025).refused if each.combination.applies(used)]
    assert [each.combination for each in refused] == [combination("on sm_100/sm_103/sm_120")]


def test_a_line_of_a_company_that_names_an_unknown_use_is_reported(tmp_path: Path) -> None:
    from clusterspec.catalog.company import checked_files

    (tmp_path / "frameworks").mkdir()
    (tmp_path / "frameworks" / "acme-serve.yaml").write_text(FORK.replace("LINE", "pp + speculashun"))
    found = [finding for one in checked_files([tmp_path]) for finding in one.findings]
    assert [each.rule for each in found] == ["unknown-choice"] and "speculashun" in found[0].message
    assert found[0].severity is Severity.ERROR


def test_the_uses_are_listed_for_writers_of_entries() -> None:
    page = (Path(__file__).parents[2] / "docs" / "company-catalogs.md").read_text()
    listed = tuple(f"{start}-" for start in VALUED if f"`{start}-…`" in page)
    assert [name for name in USES if f"`{name}`" not in page and not name.startswith(listed)] == []
    assert [name for name in (*QUANTITIES, *AXES) if f"`{name}`" not in page] == []


def test_a_library_has_lines_and_releases() -> None:
    for name in CATALOG.ids("library"):
        entry = CATALOG.get("library", name)
        assert isinstance(entry, Library) and entry.statements and entry.releases


def test_every_key_that_the_catalog_names_is_a_key_of_the_spec() -> None:
    assert unknown_keys("catalog") == []
