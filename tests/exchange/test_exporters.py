"""What is exported can be imported: the same layout, topology and bill; and what a format cannot hold is named."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import re
import zipfile
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
import yaml

from clusterspec.cost.parameters import model_weights
from clusterspec.exchange.exporters.fabric import fabric_links
from clusterspec.exchange.exporters.registry import EXPORTERS, ExportInput, NotExportable, exporter_of
from clusterspec.exchange.import_result import ImportResult
from clusterspec.exchange.merge import new_spec
from clusterspec.studies import study_text
from tests.cli.conftest import Call, call  # noqa: F401
from tests.effort import ALL_CASES, sampled, thorough
from tests.exchange.imports import counts, given, read
from tests.settings import SETTINGS
from tools.export_targets import READ_IN_PARTS, TARGETS, names_written, recorded

FABRIC = "scale_out: {{topology: {0}, switch: quantum-2-qm9700, extra_endpoints: {1}}}"
WORK = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\n"


def source(cluster: str, rest: str = "") -> ExportInput:
    study = study_text(f"clusterspec: 1\nname: pod\ncluster: {{{cluster}}}\n{rest}", SETTINGS)
    return ExportInput(study.design)


def pod(
    nodes: int = 64, topology: str = "rail-optimized", extra: int = 0, more: str = "", rest: str = ""
) -> ExportInput:
    return source(f"platform: dgx-h100, nodes: {nodes}, {FABRIC.format(topology, extra)}{more}", rest)


def exported(name: str, design: ExportInput) -> str:
    content = exporter_of(name).write(design).content
    assert isinstance(content, str)
    return content


def imported(name: str, kind: str, design: ExportInput) -> ImportResult:
    return read(exported(name, design).encode(), kind)


LAYOUTS = [
    "{tp: 4, pp: 4, cp: 2, virtual_stages: 5, micro_batch: 1}",
    "{tp: 8, pp: 2, micro_batch: 2, recompute: full, sequence_parallel: true}",
    "{tp: 2, sharding: fsdp, recompute: selective}",
    "{tp: 1, sharding: none}",
]
KEYS = ("tp", "pp", "cp", "ep", "micro_batch", "sharding", "recompute", "virtual_stages", "sequence_parallel")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_megatron_arguments_come_back_as_the_same_layout(layout: str) -> None:
    before = pod(rest=f"{WORK}layout: {layout}\n")
    reading = imported("megatron", "auto", before)
    after = study_text(
        new_spec(reading).replace("cluster: {}", "cluster: {platform: dgx-h100, nodes: 64}"), SETTINGS
    ).design
    assert after.layout is not None
    assert {key: getattr(after.layout, key) for key in KEYS} == {key: getattr(before.layout, key) for key in KEYS}
    assert after.layout.dp == before.layout.dp
    assert after.workload is not None
    assert (after.workload.global_batch, after.workload.sequence_length) == (512, 8192)
    assert counts(reading)["parameters"] == 70_553_706_496


def test_the_experts_of_a_model_come_back_from_megatron() -> None:
    work = "workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 2048}\n"
    reading = imported("megatron", "auto", pod(128, rest=f"{work}layout: {{tp: 1, pp: 16, ep: 64}}\n"))
    keys = given(reading)
    assert (keys["layout.ep"], keys["workload.model.experts"], keys["workload.model.moe_layers"]) == (64, 256, 58)
    assert counts(reading)["parameters"] == pytest.approx(671.026e9, rel=1e-4)


MODELS = ("llama-3.1-70b", "deepseek-v3", "qwen3-30b-a3b", "mixtral-8x7b", "gpt3-175b", "llama-4-maverick", "kimi-k2")
DENSE = (
    "{tp: 8, pp: 2, virtual_stages: 2, cp: 2, sharding: fsdp}",
    "{tp: 4, pp: 4, micro_batch: 2, recompute: selective}",
    "{tp: 8, sharding: none}",
    "{tp: 8, pp: 4, stage_layers: [22, 20, 20, 18], recompute: full}",
)
SPARSE = (
    "{tp: 1, pp: 8, ep: 8, dispatcher: deepep, sharding: fsdp}",
    "{tp: 2, ep: 8, sharding: hsdp, shard_group: 32, recompute: full}",
    "{tp: 2, pp: 4, ep: 4, dispatcher: hybrid, order: [tp, cp, ep, pp, dp], recompute: [norm, expert]}",
)
SAID = ("tp", "pp", "cp", "ep", "dp", "micro_batch", "sharding", "recompute", "virtual_stages", "stage_layers")
UNSAID: dict[str, dict[str, tuple[object, ...]]] = {  # what a format cannot say, and lists as omitted
    "megatron": {},
    "megatron-bridge": {},
    "torchtitan": {"sharding": ("zero1",), "recompute": (("norm", "expert"),)},
    "maxtext": {"recompute": (("norm", "expert"),)},
}


def test_a_round_trip_loses_nothing_that_both_formats_can_say() -> None:
    compared = 0
    rows = sampled(product(MODELS, (*DENSE, *SPARSE)), 28)
    for (kind, unsaid), (model, layout) in product(UNSAID.items(), rows):
        work = f"workload: {{model: {model}, sequence_length: 4096, global_batch: 512}}\n"
        before = pod(rest=f"{work}layout: {layout}\n")
        try:
            written = exporter_of(kind).write(before)
        except NotExportable:
            continue
        spec = new_spec(read(str(written.content).encode(), "auto"))
        after = study_text(spec.replace("cluster: {}", "cluster: {platform: dgx-h100, nodes: 64}"), SETTINGS).design
        assert after.layout is not None, (kind, model, layout)
        for key in SAID:
            value = getattr(before.layout, key)
            if value in unsaid.get(key, ()):
                assert written.omitted
            else:
                assert getattr(after.layout, key) == value, (kind, model, layout, key)
        assert after.workload is not None
        assert (after.workload.global_batch, after.workload.sequence_length) == (512, 4096)
        models = [design.workload.model for design in (before.design, after) if design.workload]
        extra = models[1].vocab - models[0].vocab  # of a vocabulary that is padded for equal parts
        assert not extra or any("padded" in each for each in written.omitted)
        held, tables = [model_weights(each) for each in models], 1 if models[0].tied_embeddings else 2
        added = extra * tables * models[0].hidden
        assert held[0].total - held[0].positions + added == held[1].total - held[1].positions, (kind, model)
        compared += 1
    assert compared > (20 if ALL_CASES else 10)


def test_the_model_of_megatron_is_the_one_of_the_catalog() -> None:
    flags = {
        "llama-3.1-70b": "--normalization RMSNorm --norm-epsilon 1e-05|--rotary-base 500000|--disable-bias-linear",
        "qwen2.5-72b": "--rotary-base 1000000|--disable-bias-linear --add-qkv-bias",
        "qwen3-32b": "--qk-layernorm",
        "gpt3-175b": "--normalization LayerNorm|--position-embedding-type learned_absolute",
        "deepseek-v3": "--qk-head-dim 128 --qk-pos-emb-head-dim 64|--v-head-dim 128|--rope-type yarn|"
        "--moe-router-score-function sigmoid|--moe-layer-freq '([0]*3+[1]*58)'",
    }
    for model, wanted in flags.items():
        work = f"workload: {{model: {model}, sequence_length: 2048, global_batch: 512}}\n"
        text = exported("megatron", pod(rest=f"{work}layout: {{tp: 8, sharding: fsdp}}\n"))
        for flag in wanted.split("|"):
            assert flag in text, (model, flag)
        assert "--use-megatron-fsdp --use-distributed-optimizer --ckpt-format fsdp_dtensor" in text
        assert "CUDA_DEVICE_MAX_CONNECTIONS" not in text  # arguments.py, line 1166: not with FSDP
    plain = exported("megatron", pod(rest=f"{WORK}layout: {{tp: 8, cp: 2, cp_method: all-gather}}\n"))
    assert "CUDA_DEVICE_MAX_CONNECTIONS=1" in plain  # line 1477: asserted with tp or cp
    assert "--cp-comm-type all_gather" in plain


def test_what_a_target_computes_otherwise_than_the_blocks_of_a_model_is_said() -> None:
    heads, part = "one norm of queries and keys over all heads", "rotation of 0.5 of each head"
    after, sinks, limit = "norms after attention", "learned sinks of attention", "the limit of the activation"
    said = {
        ("megatron", "minimax-m2.5"): {heads},
        ("maxtext", "minimax-m2.5"): {heads, part},
        ("megatron", "glm-4.5-air"): set(),
        ("maxtext", "glm-4.5-air"): {part},
        ("megatron", "olmo-2-32b"): {heads, after},
        ("maxtext", "olmo-2-32b"): {heads, after},
        ("megatron", "gpt-oss-120b"): {sinks, limit},
        ("megatron", "qwen3-32b"): set(),
    }
    for (kind, model), wanted in said.items():
        layout = "{tp: 8, sharding: fsdp}" if model.endswith("-32b") else "{ep: 8}"
        work = f"workload: {{model: {model}, sequence_length: 4096, global_batch: 512}}\n"
        design = pod(rest=f"{work}layout: {layout}\n")
        omitted = exporter_of(kind).write(design).omitted
        assert {
            each for each in (heads, part, after, sinks, limit) if any(each in line for line in omitted)
        } == wanted, (kind, model)
    glm = "workload: {model: glm-4.5-air, sequence_length: 4096, global_batch: 512}\nlayout: {ep: 8}\n"
    assert "--rotary-base 1000000 --rotary-percent 0.5" in exported("megatron", pod(rest=glm))


def test_megatron_overlaps_tensor_parallelism_with_sequence_parallelism_alone() -> None:
    layout = "layout: {{tp: 8, sequence_parallel: {}, overlap: {{tp: full}}}}\n"
    with_it, without = (pod(rest=WORK + layout.format(state)) for state in ("true", "false"))
    assert "--tp-comm-overlap" in exported("megatron", with_it)
    assert "--tp-comm-overlap" not in exported("megatron", without)  # line 1442: asserted
    assert any("overlap of tensor parallelism" in each for each in exporter_of("megatron").write(without).omitted)


def test_every_name_written_is_one_that_its_target_defines() -> None:
    """`python -m tools.export_targets DIR --write` records from the sources of the targets where they define a name.
    One of fourteen specs of training has every layout and precision but for a few.
    """
    places = recorded()
    assert set(places) == set(TARGETS)
    for kind in TARGETS:
        names = names_written(kind, 1 if ALL_CASES else 3 if TARGETS[kind].software else 14)
        assert names and not names - set(places[kind]), (kind, names - set(places[kind]))
        assert all(place.commit and (place.line > 0 or kind in READ_IN_PARTS) for place in places[kind].values())


def test_the_mesh_of_maxtext_has_as_many_devices_as_the_layout() -> None:
    layouts = ("{tp: 1, ep: 32, sharding: fsdp}", "{tp: 4, ep: 16, sharding: hsdp, shard_group: 64}", "{ep: 8, tp: 2}")
    for layout in layouts:
        work = "workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 1024}\n"
        before = pod(32, rest=f"{work.replace('mixtral-8x7b', 'deepseek-v3')}layout: {layout}\n")
        keys = dict(line.split(": ", 1) for line in exported("maxtext", before).splitlines() if ": " in line)
        degrees = {name: int(value) for name, value in keys.items() if name.endswith("_parallelism")}
        ici = math.prod(value for name, value in degrees.items() if name.startswith("ici_"))
        dcn = math.prod(value for name, value in degrees.items() if name.startswith("dcn_"))
        assert (ici, dcn) == (8, 32), layout  # devices of an NVLink domain, and domains
        batch = float(keys["per_device_batch_size"]) * 256 * int(keys.get("gradient_accumulation_steps", 1))
        assert batch == 1024


def test_a_target_refuses_accelerators_on_which_it_does_not_run() -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512}\n"
    trainium = source(
        "platform: aws-trn2-48xlarge, nodes: 4", f"{work}layout: {{tp: 4, framework: neuronx-distributed}}\n"
    )
    muon = WORK.replace("512}", "512, optimizer: muon}")
    for more, why in (
        ("sharding: fsdp", "Megatron-FSDP, which is fsdp"),
        ("offload: {optimizer: 1}", "states of Adam"),
    ):
        with pytest.raises(NotExportable, match=why):
            exporter_of("megatron").write(pod(rest=f"{muon}layout: {{tp: 8, {more}}}\n"))
    for kind in ("megatron", "torchtitan", "nccl-env"):
        with pytest.raises(NotExportable, match=r"does not run on|runs neither"):
            exporter_of(kind).write(trainium)
    with pytest.raises(NotExportable, match="runs neither NCCL nor RCCL"):
        exporter_of("nccl-env").write(source("platform: tpu-v5p, nodes: 16"))
    gaudi = source(
        "accelerator: gaudi2, accelerators_per_node: 8, nodes: 4", f"{work}layout: {{framework: megatron-deepspeed}}\n"
    )
    with pytest.raises(NotExportable, match="for accelerators of Intel there are forks"):
        exporter_of("megatron").write(gaudi)


def test_a_changed_model_does_not_go_by_the_name_of_the_one_it_changes() -> None:
    work = "workload: {model: {base: llama-3.1-8b, layers: 40}, sequence_length: 4096, global_batch: 512}\n"
    changed = pod(rest=f"{work}layout: {{tp: 4, sharding: fsdp}}\n")
    text = exported("maxtext", changed)
    assert "model_name" not in text
    assert "base_num_decoder_layers: 40" in text
    assert "decoder_block: llama2" in text
    with pytest.raises(NotExportable, match="no configuration of the model of the spec"):
        exporter_of("torchtitan").write(changed)
    experts = "workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 512, precision: fp8}\n"
    with pytest.raises(NotExportable, match="not with deepep"):
        exporter_of("torchtitan").write(pod(rest=f"{experts}layout: {{tp: 1, ep: 8, dispatcher: deepep}}\n"))


def test_torchtitan_is_a_python_function() -> None:
    text = exported("torchtitan", pod(rest=f"{WORK}layout: {{tp: 4, pp: 4, sharding: hsdp, shard_group: 8}}\n"))
    body = ast.parse(text).body
    assert [node.name for node in body if isinstance(node, ast.FunctionDef)] == ["design"]
    assert "data_parallel_replicate_degree=4" in text
    assert "num_tokens_per_train_step = 512 * 8192" in text


@pytest.mark.parametrize(
    ("share", "written", "told"),
    [
        ("1", True, "only optimizer states in host memory"),  # torchtitan moves parameters and gradients as well
        ("0.5", False, "offloading of a share"),
        ("0", False, ""),
    ],
)
def test_offloading_of_torchtitan_is_told_where_it_is_not_that_of_the_spec(
    share: str, written: bool, told: str
) -> None:
    layout = f"layout: {{tp: 8, sharding: fsdp, offload: {{optimizer: {share}}}}}\n"
    found = exporter_of("torchtitan").write(pod(rest=WORK + layout))
    assert ("enable_cpu_offload = True" in str(found.content)) is written
    named = [line for line in found.omitted if "offload" in line]
    assert len(named) == (1 if told else 0) and all(line.startswith(told) for line in named)


def test_a_run_that_ends_within_a_step_is_written_with_whole_steps() -> None:
    """1e12 tokens are 238,418.58 steps of 512 × 8,192."""
    layout = "layout: {tp: 8, pp: 4}\n"
    short, whole = (WORK.replace("}", f", tokens: {tokens}}}") for tokens in ("1e12", str(512 * 8192 * 1000)))
    assert "the tokens of the run, 1,000,000,000,000: written as 238,419 whole steps of 4,194,304" in (
        exporter_of("megatron").write(pod(rest=short + layout)).omitted
    )
    assert not any("tokens" in line for line in exporter_of("megatron").write(pod(rest=whole + layout)).omitted)


def test_engines_of_reinforcement_learning_are_refused_by_their_kind() -> None:
    steps = "prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1024, rollout: {tp: 8}"
    rl = f"workload: {{kind: rl, model: llama-3.1-70b, sequence_length: 8192, rl: {{{steps}}}}}\n"
    with pytest.raises(NotExportable, match="the workload is reinforcement learning"):
        exporter_of("vllm").write(pod(rest=f"{rl}layout: {{tp: 8}}\n"))
    with pytest.raises(NotExportable, match="the workload is training"):
        exporter_of("vllm").write(pod(rest=f"{WORK}layout: {{tp: 8}}\n"))


def test_a_schedule_of_torchtitan_runs_with_its_number_of_stages() -> None:
    """One stage on each rank for 1F1B, two or more for interleaved schedules, exactly two for DualPipeV."""
    runs = {("1f1b", 1): "1F1B", ("interleaved", 2): "Interleaved1F1B", ("interleaved", 5): "Interleaved1F1B"}
    runs |= {("zero-bubble", 2): "InterleavedZeroBubble", ("dualpipe", 2): "DualPipeV"}
    for schedule, stages in (*runs, ("interleaved", 1), ("zero-bubble", 1), ("dualpipe", 1)):
        layout = f"layout: {{tp: 8, pp: 4, schedule: {schedule}, virtual_stages: {stages}}}\n"
        try:
            text = exported("torchtitan", pod(rest=WORK + layout))
        except NotExportable as refused:
            assert (schedule, stages) not in runs, refused
            assert f"with {stages} stages on each rank" in str(refused)
        else:
            assert f'schedule="{runs[schedule, stages]}"' in text


def test_deepspeed_names_each_degree_that_its_file_cannot_state() -> None:
    """Degrees of one are no degrees; a pipeline of two stages, each in two parts, is named twice."""
    plain = exporter_of("deepspeed").write(pod(rest=f"{WORK}layout: {{tp: 1}}\n")).omitted
    assert not any("set where the model is built" in line for line in plain)
    found = exporter_of("deepspeed").write(pod(rest=f"{WORK}layout: {{tp: 2, pp: 2, cp: 2, virtual_stages: 2}}\n"))
    built = [line.split(":")[0] for line in found.omitted if line.endswith("set where the model is built")]
    assert built == ["tp 2", "pp 2", "cp 2"]
    assert any(line.startswith("2 stages on each rank") for line in found.omitted)


def test_deepspeed_and_maxtext_come_back() -> None:
    before = pod(rest=f"{WORK}layout: {{tp: 4, sharding: fsdp, offload: {{optimizer: 0.5}}}}\n")
    config = json.loads(exported("deepspeed", before))
    assert config["train_batch_size"] == 512
    steps = config["gradient_accumulation_steps"]
    assert steps * config["train_micro_batch_size_per_gpu"] * before.layout.dp == 512
    keys = given(imported("deepspeed", "auto", before))
    assert (keys["layout.sharding"], keys["layout.offload.optimizer"], keys["workload.global_batch"]) == (
        "fsdp",
        0.5,
        512,
    )
    assert "tp 4: set where the model is built" in exporter_of("deepspeed").write(before).omitted
    reading = imported("maxtext", "auto", pod(rest=f"{WORK}layout: {{tp: 4, pp: 2, sharding: fsdp}}\n"))
    assert (given(reading)["layout.tp"], given(reading)["layout.pp"]) == (4, 2)
    assert given(reading)["workload.model"] == "llama-3.1-70b"


SERVING = (
    "serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 64, speculative: {tokens: 1, acceptance: 0.8}}"
)


def test_vllm_comes_back() -> None:
    serving = f"workload: {{kind: serve, model: deepseek-v3, kv_precision: fp8, {SERVING}}}\n"
    before = pod(2, rest=f"{serving}layout: {{framework: vllm, tp: 1, attention_dp: 16, ep: 16}}\n")
    keys = given(imported("vllm", "auto", before))
    assert (keys["layout.tp"], keys["layout.attention_dp"], keys["layout.ep"]) == (1, 16, 16)
    assert keys["workload.serving.speculative.tokens"] == 1 and "layout.dispatcher" not in keys
    deepep = "vllm serve org/model --all2all-backend {} --enable-expert-parallel -tp 2 -dp 4"
    for backend, dispatcher in (("deepep_low_latency", "deepep"), ("pplx", None)):
        assert given(read(deepep.format(backend))).get("layout.dispatcher") == dispatcher
    assert (keys["workload.model"], keys["workload.kv_precision"]) == ("deepseek-v3", "fp8")


def test_an_engine_takes_the_longest_request() -> None:
    """The mean of lengths would refuse half of the requests: without a maximum of both the context of the model holds,
    as much of it as the cache of vLLM holds."""
    answered = "{mean: 500, p99: 900, max: 1000}"
    for prompts, answers, longest in (
        ("2000", "500", None),
        ("{mean: 2000, p99: 16000, max: 32768}", answered, 33768),
        ("{mean: 2000, p99: 16000, max: 32768}", "500", None),
        ("2000", answered, None),
        ("{mean: 2000, p99: 16000}", answered, None),
    ):
        serving = f"{{input_tokens: {prompts}, output_tokens: {answers}, concurrency: 16}}"
        for kind, flag in (("vllm", "--max-model-len"), ("sglang", "--context-length")):
            work = f"workload: {{kind: serve, model: llama-3.1-70b, serving: {serving}}}\n"
            design = pod(1, rest=f"{work}layout: {{framework: {kind}, tp: 8}}\n")
            written = re.findall(rf"{flag} (\S+)", exported(kind, design))
            unknown = ["auto"] if kind == "vllm" else []
            assert written == ([str(longest)] if longest else unknown), (kind, prompts)


def test_an_engine_of_one_accelerator_names_that_one() -> None:
    for tp, named in ((1, ["accelerator 0", "accelerator 1"]), (2, ["accelerators 0 to 1", "accelerators 2 to 3"])):
        work = f"workload: {{kind: serve, model: llama-3.1-8b, {SERVING}}}\n"
        written = exported("vllm", pod(1, rest=f"{work}layout: {{framework: vllm, tp: {tp}}}\n"))
        assert re.findall(r"node 1, (accelerators? .*)", written)[:2] == named


def test_vllm_has_one_command_for_every_node_of_every_replica() -> None:
    serving = f"workload: {{kind: serve, model: deepseek-v3, {SERVING}}}\n"
    wide = exported("vllm", pod(4, rest=f"{serving}layout: {{framework: vllm, tp: 1, attention_dp: 16, ep: 16}}\n"))
    commands = wide.split("# replica ")[1:]
    assert [command.count("vllm serve deepseek-ai/DeepSeek-V3") for command in commands] == [1, 1, 1, 1]
    assert ["--headless" in command for command in commands] == [False, True, False, True]
    assert "--data-parallel-start-rank 8" in commands[1]
    assert '"method": "mtp", "num_speculative_tokens": 1' in commands[0]
    dense = f"workload: {{kind: serve, model: llama-3.1-70b, parameter_precision: int8, {SERVING}}}\n"
    small = exporter_of("vllm").write(pod(2, rest=f"{dense}layout: {{framework: vllm, tp: 4}}\n"))
    assert str(small.content).count("vllm serve meta-llama/Meta-Llama-3.1-70B") == 4
    assert "--quantization" not in str(small.content)
    assert any("int8" in each for each in small.omitted)
    assert any("needs a method" in each for each in small.omitted)


@pytest.mark.parametrize(("kind", "option"), [("vllm", '"method": "mtp"'), ("sglang", "--speculative-algorithm EAGLE")])
def test_engines_draft_with_layers_that_the_released_weights_hold(kind: str, option: str) -> None:
    """MiniMax was trained with such layers, and its weights do not hold them; GLM-4.5V, unlike GLM-4.5, has none."""
    for model, drafts in (("step-3.5-flash", True), ("minimax-m2.5", False), ("glm-4.5v", False)):
        serving = f"workload: {{kind: serve, model: {model}, {SERVING}}}\n"
        written = exporter_of(kind).write(pod(1, rest=f"{serving}layout: {{framework: {kind}, tp: 4}}\n"))
        assert (option in str(written.content)) is drafts, model
        assert any("drafts of 1 tokens" in each for each in written.omitted) is not drafts, model


def test_megatron_multiplies_layers_in_16_bits_that_the_design_states() -> None:
    base = "workload: {{model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, precision: fp8{0}}}\n"
    for stated, flags in (
        ("", []),
        (", bf16_layers: {last: 5}", ["--num-layers-at-start-in-bf16 0", "--num-layers-at-end-in-bf16 5"]),
    ):
        rest = base.format(stated) + "layout: {framework: megatron-core, tp: 8}\n"
        lines = exported("megatron", pod(1, rest=rest))
        assert re.findall(r"--num-layers-at-[a-z]+-in-bf16 \d+", lines) == flags
        assert ("--first-last-layers-bf16" in lines) is bool(flags)


def test_megatron_trains_the_layers_of_prediction_that_the_design_states() -> None:
    for stated, flag in (("", None), ("predicted_layers: 1, ", "--mtp-num-layers 1")):
        work = f"workload: {{model: mimo-7b, {stated}sequence_length: 4096, global_batch: 64}}\n"
        lines = exported("megatron", pod(1, rest=f"{work}layout: {{framework: megatron-core, tp: 8}}\n"))
        assert re.findall(r"--mtp-num-layers \d+", lines) == ([flag] if flag else [])


TREES = [
    (64, "rail-optimized", 0, ""),
    (63, "rail-optimized", 4, ""),
    (32, "fat-tree", 0, ""),
    (60, "fat-tree", 3, ", spare_nodes: 4"),
    (512, "rail-optimized", 0, ""),
    (300, "fat-tree", 0, ""),
    (2, "rail-optimized", 0, ""),  # all rails on one leaf
    (8, "rail-optimized", 0, ""),
    (400, "rail-optimized", 0, ""),  # 13 pods of 8 spines, 52 cores: two groups of cores share 13
]


@pytest.mark.parametrize(("nodes", "topology", "extra", "more"), TREES)
def test_the_wiring_has_as_many_links_as_the_bill_and_no_port_twice(
    nodes: int, topology: str, extra: int, more: str
) -> None:
    design = pod(nodes, topology, extra, more)
    found = list(fabric_links(design))
    assert Counter(link.level for link in found) == Counter({k: v for k, v in design.fabric.links.items() if v})
    ends = [end for link in found for end in (link.low, link.high)]
    ports = Counter((end.device, end.port) for end in ends)
    assert set(ports.values()) == {1}
    assert {end.number for end in ends if end.kind == "node"} == {*range(1, nodes + 1)}
    assert {end.number for end in ends if end.kind == "spare"} == {*range(1, 5 if "spare" in more else 1)}
    switches = {end.device: 0 for end in ends if end.kind in {"leaf", "spine", "core"}}
    for end in ends:
        if end.device in switches:
            switches[end.device] += 1
    assert max(switches.values()) <= 64
    kinds = Counter(name.rstrip("0123456789") for name in switches)
    fabric = design.fabric
    assert (kinds["leaf"], kinds["spine"], kinds["core"]) == (
        fabric.leaf_switches,
        fabric.spine_switches,
        fabric.core_switches,
    )


@pytest.mark.parametrize("nodes", [64, 512])
def test_nics_of_a_rail_share_leaves_with_no_other_rail(nodes: int) -> None:
    rails: dict[str, set[int]] = {}
    for link in fabric_links(pod(nodes)):
        if link.level == "node_leaf":
            rails.setdefault(link.high.device, set()).add(link.low.port)
    assert all(len(found) == 1 for found in rails.values())


@pytest.mark.parametrize(("nodes", "topology", "extra", "more"), sampled(TREES, 2))
def test_an_infragraph_comes_back_as_the_same_topology_and_bill(
    nodes: int, topology: str, extra: int, more: str
) -> None:
    before = pod(nodes, topology, extra, more)
    text = new_spec(imported("infragraph", "infragraph", before))
    spec = text.replace("cluster:\n", "cluster:\n  platform: dgx-h100\n", 1)
    after = ExportInput(study_text(spec, SETTINGS).design)
    wanted, found = before.fabric, after.fabric
    for name in ("tiers", "leaf_switches", "spine_switches", "core_switches", "links", "cables", "switch_ports"):
        assert getattr(found, name) == getattr(wanted, name), name
    assert after.cluster.nodes == nodes
    assert after.cluster.spare_nodes == before.cluster.spare_nodes
    assert dict(found.stated)["leaf_switches"] == wanted.leaf_switches


def test_the_links_of_a_mesh_share_the_bandwidth_of_an_accelerator() -> None:
    """Seven links of 64 GB/s to the seven others of an MI300X make its 448 GB/s."""
    text = "clusterspec: 1\ncluster: {platform: mi300x-ubb8, nodes: 4}\n"
    written = exported("infragraph", ExportInput(study_text(text, SETTINGS).design))
    links = re.findall(r"gigabytes_per_second: ([0-9.]+)", written)
    assert float(links[0]) == pytest.approx(448 / 7)


@pytest.mark.parametrize(("nic", "name"), [("", "InfiniBand NDR"), (", nic: connectx-7", "ConnectX-7")])
def test_nics_of_an_infragraph_have_the_name_of_the_nic_if_it_is_stated(nic: str, name: str) -> None:
    fabric = f"{{technology: infiniband-ndr, topology: single-switch{nic}}}"
    text = f"clusterspec: 1\ncluster: {{platform: hgx-h100, nodes: 4, scale_out: {fabric}}}\n"
    graph = yaml.safe_load(exported("infragraph", ExportInput(study_text(text, SETTINGS).design)))
    parts = {part["name"]: part["description"] for part in graph["devices"][0]["components"]}
    assert name in parts["nic"]


@pytest.mark.parametrize("nodes", [4, 64, 300])
def test_an_edge_of_an_infragraph_ends_at_instances_and_ports_that_it_has(nodes: int) -> None:
    """Slices of edges reach the last of each instance and component, and none beyond it."""
    graph = yaml.load(exported("infragraph", pod(nodes, extra=2)), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    has = {each["name"]: each["count"] for each in graph["instances"]}
    kind = {each["name"]: each["device"] for each in graph["instances"]}
    parts = {each["name"]: {part["name"]: part["count"] for part in each["components"]} for each in graph["devices"]}
    reached: dict[str, set[int]] = {}
    for edge in graph["edges"]:
        ends = []
        for end in (edge["ep1"], edge["ep2"]):
            (name, devices), (part, ports) = (
                (match[1], range(int(match[2]), int(match[3] or int(match[2]) + 1)))
                for match in (re.fullmatch(r"(\w+)\[(\d+)(?::(\d+))?\]", end[key]) for key in ("instance", "component"))
                if match is not None
            )
            assert 0 <= devices.start < devices.stop <= has[name], edge
            assert 0 <= ports.start < ports.stop <= parts[kind[name]][part], edge
            reached.setdefault(name, set()).update(devices)
            ends.append(len(devices) * len(ports))
        assert ends[0] == ends[1], edge
    assert {name: len(found) for name, found in reached.items()} == has


@thorough
def test_infragraph_loads_what_is_exported() -> None:
    pytest.importorskip("infragraph")
    from infragraph.infragraph_service import InfraGraphService

    designs = [pod(4), pod(63, "rail-optimized", 4), source("platform: gb200-nvl72, nodes: 18")]
    for design in designs:
        service = InfraGraphService()
        service.set_graph(exported("infragraph", design))
        graph = service.get_networkx_graph()
        between = [edge for edge in graph.edges if edge[0].rsplit(".", 2)[0] != edge[1].rsplit(".", 2)[0]]
        assert len(between) == sum(design.fabric.links.values()) // design.fabric.planes


def test_a_bill_comes_back_from_csv_and_xlsx() -> None:
    pytest.importorskip("openpyxl")
    money = "procurement: {currency: USD, prices: {node: 310000, leaf_switch: 36000.5, cable: 900}}\n"
    design = pod(rest=money)
    content = exporter_of("bom-xlsx").write(design).content
    assert isinstance(content, bytes)
    readings = [imported("bom-csv", "auto", design), read(content, "auto", "bill.xlsx")]
    for reading in readings:
        lines = [each.value for each in reading.given if each.appended]
        assert [(line["quantity"], line.get("price")) for line in lines] == [  # type: ignore[index, union-attr, call-overload]
            (item.quantity, item.price.price if item.price else None) for item in design.bill.items
        ]
        assert lines[0] == {"part": "node", "quantity": 64, "unit_price": 310000, "price": 19840000}
        assert given(reading)["procurement.currency"] == "USD"


def test_a_blank_price_sheet_has_the_quantities_and_no_price() -> None:
    pytest.importorskip("openpyxl")
    design = pod(rest="procurement: {currency: USD, prices: {node: 310000}}\n")
    content = exporter_of("price-sheet").write(design).content
    assert isinstance(content, bytes)
    lines = [each.value for each in read(content, "auto", "sheet.xlsx").given if isinstance(each.value, dict)]
    assert [line["quantity"] for line in lines] == [item.quantity for item in design.bill.items]
    assert not any("unit_price" in line or "price" in line for line in lines)
    assert b"310000" not in content


def test_sums_of_spreadsheets_are_formulas_and_texts_are_not() -> None:
    """Lines 2 to the last are summed; a bill with ranges has no sum, which a spreadsheet could not add."""
    openpyxl = pytest.importorskip("openpyxl")

    def cells(kind: str, prices: str) -> list[tuple[object, ...]]:
        design = pod(rest=f"procurement: {{currency: USD, prices: {{{prices}}}}}\n")
        content = exporter_of(kind).write(design).content
        assert isinstance(content, bytes)
        return list(openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True))

    blank = cells("price-sheet", "node: 310000")
    last = len(blank) - 1
    assert [row[4] for row in blank[1:-1]] == [f'=IF(D{at}="","",C{at}*D{at})' for at in range(2, last + 1)]
    assert (blank[-1][0], blank[-1][4]) == ("total", f"=SUM(E2:E{last})")
    for prices, name in (
        ("node: 1", "partial_sum"),
        ("node: 1, leaf_switch: 1, spine_switch: 1, cable: 1, transceiver: 1", "total"),
    ):
        assert (cells("bom-xlsx", prices)[-1][0], cells("bom-xlsx", prices)[-1][4]) == (name, f"=SUM(E2:E{last})")
    assert cells("bom-xlsx", "node: [1, 2]")[-1][0] != "total"
    texts = [cell for row in blank for cell in row if isinstance(cell, str) and cell.startswith(("=", "+", "@"))]
    assert all(text.startswith(("=IF(D", "=SUM(E2:")) for text in texts)


@pytest.mark.parametrize("kind", ["bom-xlsx", "price-sheet"])
def test_a_spreadsheet_has_bold_heads_formats_of_amounts_and_wide_texts(kind: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    content = exporter_of(kind).write(pod(rest="procurement: {currency: USD, prices: {node: 310000}}\n")).content
    assert isinstance(content, bytes)
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    heads = {cell.value: cell.column_letter for cell in sheet[1]}
    assert sheet.freeze_panes == "A2" and sheet.max_row > 2
    for number, row in enumerate(sheet.iter_rows(), 1):
        assert {cell.font.bold for cell in row} == {number == 1}, number
    formats = {
        name: {sheet[f"{at}{number}"].number_format for number in (2, sheet.max_row)} for name, at in heads.items()
    }
    amounts = {"quantity": {"#,##0"}, "unit_price": {"#,##0.00"}, "price": {"#,##0.00"}}
    assert formats == {name: {"General"} for name in heads} | amounts
    widths = {name: sheet.column_dimensions[at].width for name, at in heads.items()}
    wide = {"part": 34, "derivation": 60, "remark": 34, "delivery_weeks": 16, "warranty_years": 16}
    assert widths == dict.fromkeys(heads, 14) | {name: width for name, width in wide.items() if name in heads}


def test_a_spreadsheet_does_not_hold_the_time_of_its_making() -> None:
    pytest.importorskip("openpyxl")
    content = exporter_of("bom-xlsx").write(pod()).content
    assert isinstance(content, bytes)
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert re.search(rb"\d{4}-\d\d-\d\d", parts.read("docProps/core.xml")) is None
    assert exporter_of("bom-xlsx").write(pod()).content == content


def test_a_scheduler_gets_every_working_node_once() -> None:
    reading = imported("slurm-topology", "auto", pod(64, more=", spare_nodes: 4"))
    assert given(reading) == {"cluster.nodes": 64}
    assert counts(reading)["nodes_per_leaf"] == 32
    rack = source("platform: gb200-nvl72, nodes: 36")
    blocks = imported("slurm-topology", "auto", rack)
    assert (counts(blocks)["blocks"], counts(blocks)["nodes_per_block"]) == (2, 18)
    assert counts(imported("kueue-topology", "auto", pod()))["levels"] == 2


def test_cabling_states_rails_racks_and_length_classes() -> None:
    text = exported("cabling", pod(more=", power: {nodes_per_rack: 4}"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 64 * 8 + 512
    first = rows[0]
    assert (first["from_device"], first["from_rack"], first["rail"], first["length_class"]) == (
        "node0001",
        "rack001",
        "1",
        "one-row",
    )
    assert first["rate"] == "400 Gb/s"
    assert exporter_of("cabling").write(pod()).omitted
    sold_as_racks = exporter_of("cabling").write(source("platform: gb200-nvl72, nodes: 36"))
    assert "rack002" in str(sold_as_racks.content) and not sold_as_racks.omitted


def test_the_environment_gives_a_reason_for_every_variable() -> None:
    lines = exported("nccl-env", pod()).splitlines()
    for at, line in enumerate(lines):
        if line.startswith("export "):
            assert lines[at - 1].startswith("# ")
    assert "export NCCL_NET=IB" in lines
    efa = exported("nccl-env", source("platform: aws-p5-48xlarge, nodes: 4"))
    assert 'export NCCL_NET="AWS Libfabric"' in efa
    assert "NCCL_IB_HCA" not in efa


@pytest.mark.parametrize("kind", ["sbatch", "mpirun", "mpijob", "jobset"])
def test_acceptance_scripts_run_the_tests_of_the_plan(kind: str) -> None:
    test = "collective: all-to-all, nodes: 4, size: 2 GiB, busbw: 40 GB/s, pass: 3 of 3, algorithm: ring"
    plan = f"acceptance:\n  - {{{test}}}\n"
    text = exported(kind, pod(rest=plan))
    assert "alltoall_perf -b 8388608 -e 2147483648 -f 2" in text
    assert "at least 40 GB/s" in text
    assert "NCCL_ALGO=Ring" in text
    if kind == "jobset":
        (job,) = yaml.safe_load_all(text)
        name, (worker, launcher) = job["metadata"]["name"], job["spec"]["replicatedJobs"]
        assert worker["template"]["spec"]["completions"] == 4 and len(f"{name}-worker-0-3") <= 63
        (script,) = launcher["template"]["spec"]["template"]["spec"]["containers"][0]["args"]
        assert f"host={name}-worker-0-$n.{name}" in script and "seq 0 3" in script and "for run in 1 2 3" in script
        assert given(read(text.encode(), "auto"))["layout.nodes"] == 4
    elif kind == "mpijob":
        reading = read(text.encode(), "auto")
        assert given(reading)["layout.nodes"] == 4
        assert counts(reading)["ranks"] == 32
    else:
        assert "seq 1 3" in text


def test_a_tender_holds_no_price() -> None:
    text = exported("rfp", pod(rest="procurement: {currency: USD, prices: {node: 310000}, budget: 25000000}\n"))
    assert "64 nodes" in text
    assert "310" not in text.replace("331", "")
    assert "25000000" not in text
    assert "USD" not in text


def test_a_tender_counts_the_accelerators_of_each_node() -> None:
    assert "4 nodes, each with 8 accelerators" in exported("rfp", source("platform: dgx-h200, nodes: 4"))
    assert "2 nodes, each with 8 accelerators" in exported("rfp", source("platform: dgx-h200, nodes: 2"))
    assert "1 node, with 8 accelerators" in exported("rfp", source("platform: dgx-h200, nodes: 1"))


def test_a_tender_asks_for_no_more_than_the_design_counts_on() -> None:
    assert "at least 150 GB of memory" in exported("rfp", source("platform: dgx-h200, nodes: 4"))  # 150.75 GB
    mesh = "accelerator: mi355x, accelerators_per_node: 8, nodes: 4"
    assert "a full mesh with at least 537 GB/s" in exported("rfp", source(mesh))  # seven links of 76.8 GB/s


def test_a_bill_says_what_is_assumed_and_leaves_parts_of_a_cloud_to_its_provider() -> None:
    rows = csv.DictReader(io.StringIO(exported("bom-csv", source("platform: dgx-h200, nodes: 24"))))
    (leaf,) = (row for row in rows if row["kind"] == "leaf_switch")
    assert leaf["derivation"].endswith("; assumed: the spec names none; usual for infiniband-ndr")
    pods = source("accelerator: tpu-v5p, accelerators_per_node: 4, nodes: 64")
    assert [row["kind"] for row in csv.DictReader(io.StringIO(exported("bom-csv", pods)))] == ["node"]


def test_no_cell_is_a_formula() -> None:
    design = source(
        "accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 2, "
        "scale_out: {technology: infiniband-ndr, switch_ports: 64}"
    )
    rows = list(csv.reader(io.StringIO(exported("bom-csv", design))))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    from clusterspec.exchange.exporters.registry import csv_table

    assert csv_table(("part",), [("=HYPERLINK(1)",), ("@x",), (-5,)]) == "part\n'=HYPERLINK(1)\n'@x\n-5\n"


@pytest.mark.parametrize("kind", [each.name for each in EXPORTERS])
def test_a_design_that_lacks_what_a_format_needs_is_one_line(kind: str, call: Call) -> None:  # noqa: F811
    Path("bare.yaml").write_text("clusterspec: 1\ncluster: {nodes: 4}\n")
    done = call("export", kind, "bare.yaml")
    assert done.status in (1, 2)
    if done.status == 2:
        assert len(done.error.splitlines()) == 1
        assert done.out == ""


def test_the_command_writes_files_and_names_what_is_lost(call: Call) -> None:  # noqa: F811
    Path("spec.yaml").write_text(
        f"clusterspec: 1\nname: pod\ncluster: {{platform: dgx-h100, nodes: 4, {FABRIC.format('rail-optimized', 0)}}}\n"
    )
    pytest.importorskip("openpyxl")
    done = call("export", "bom-xlsx", "spec.yaml", "-o", "bill.xlsx")
    assert (done.status, done.out) == (0, "")
    assert Path("bill.xlsx").read_bytes().startswith(b"PK")
    kueue = call("export", "kueue", "spec.yaml")
    said = kueue.error.splitlines()
    assert said[0] == "clusterspec: missing in the file for kueue-topology, or different from the spec:"
    assert "  counts of nodes: a Topology names labels only" in said
    complete = call("export", "rfp", "spec.yaml")
    assert complete.error == ""
    for words in (("export",), ("export", "nonsense", "spec.yaml"), ("export", "rfp", "none.yaml")):
        wrong = call(*words)
        assert (wrong.status, wrong.out, len(wrong.error.splitlines())) == (2, "", 1)
    listed = call("export", "--list").out
    assert all(each.name in listed for each in EXPORTERS)


def test_an_unknown_kind_offers_the_nearest() -> None:
    with pytest.raises(NotExportable, match="did you mean infragraph"):
        exporter_of("infragrph")


PLAN = """\
workload:
  kind: serve
  model: deepseek-v3
  precision: fp8
  parameter_precision: fp8
  serving:
    input_tokens: 3000
    output_tokens: 1000
    concurrency: 64
    chunk_tokens: 4096
    max_sequences: 32
    redundant_experts: 16
    disaggregated: {{prefill: {prefill}, decode: {decode}}}
layout: {{software: {software}}}
"""


def plan(software: str, prefill: str, decode: str, nodes: int = 3) -> ExportInput:
    return pod(nodes, rest=PLAN.format(software=software, prefill=prefill, decode=decode))


WIDE = "{replicas: 1, attention_dp: 16, ep: 16}"


def test_separate_engines_are_launched_with_their_roles_and_degrees() -> None:
    text = exported("sglang", plan("sglang 0.5.9", "{replicas: 2, tp: 4, ep: 4}", WIDE))
    commands = text.split("# ")[2:]
    assert [each.partition(":")[0] for each in commands] == [
        *("prefill replica 1", "prefill replica 2", "decode replica 1", "decode replica 1")
    ]
    assert ["--disaggregation-mode prefill" in each for each in commands] == [True, True, False, False]
    assert "CUDA_VISIBLE_DEVICES=4,5,6,7" in commands[1] and "node 1, accelerators 4 to 7" in commands[1]
    assert "node 2\n" in commands[2] and "--node-rank 1" in commands[3]
    # sixteen attention replicas divide the tokens of a step and the requests of the engine among them
    assert "--tp-size 16" in commands[2] and "--dp-size 16 --enable-dp-attention" in commands[2]
    assert "--chunked-prefill-size 65536" in commands[2] and "--max-running-requests 512" in commands[2]
    text = exported("vllm", plan("vllm 0.31.0", "{replicas: 1, tp: 8, ep: 8}", WIDE))
    assert text.count('"kv_connector": "NixlConnector"') == text.count("vllm serve") == 3
    assert "--enable-eplb --eplb-config '{\"num_redundant_experts\": 16}'" in text


def test_tensorrt_llm_has_attention_replicas_on_all_ranks_or_none() -> None:
    file = exporter_of("trt-llm").write(plan("trt-llm 1.3.0rc11", "{replicas: 2, tp: 4, ep: 4}", WIDE))
    text = str(file.content)
    prefill, decode = (yaml.safe_load(each.split("EOF\n")[0]) for each in text.split("<<'EOF'\n")[1:])
    assert (prefill["enable_attention_dp"], decode["enable_attention_dp"]) == (False, True)
    assert prefill["cache_transceiver_config"] == {"backend": "NIXL"}
    assert text.count("--tp_size 4 ") == 2 and "--tp_size 16 " in text and "--ep_size 16" in text
    launcher = "srun --mpi=pmix -N 2 --relative=1 --ntasks-per-node=8 trtllm-llmapi-launch trtllm-serve deepseek-ai/"
    assert text.count(launcher) == 1  # one command starts the ranks of both nodes
    assert any("max_batch_size" in each for each in file.omitted) and any("router" in each for each in file.omitted)
    with pytest.raises(NotExportable, match="framework-lacks-feature"):
        exported(
            "trt-llm", plan("trt-llm 1.3.0rc11", "{replicas: 1, tp: 8, ep: 8}", "{tp: 4, attention_dp: 4, ep: 16}")
        )
    served = "workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1000, output_tokens: 500, "
    served += "concurrency: 64, max_sequences: 64, chunk_tokens: 4096}}\nlayout: {tp: 4, dp: 4}\n"
    back = given(read(exported("trt-llm", pod(2, rest=served))))
    assert (back["layout.framework"], back["layout.tp"]) == ("trt-llm", 4)
    assert (back["workload.serving.max_sequences"], back["workload.serving.chunk_tokens"]) == (64, 4096)
    wide = "enable_attention_dp: true\nEOF\ntrtllm-serve org/model --tp_size 8 --config engine.yaml\n"
    apart = given(read("cat > engine.yaml <<'EOF'\n" + wide))
    assert (apart["layout.tp"], apart["layout.attention_dp"]) == (1, 8)
    assert "layout.tp" not in given(read("trtllm-serve org/model --config engine.yaml\n"))


def test_batches_overlap_where_the_engine_starts_with_it() -> None:
    """vLLM and SGLang refuse overlapped batches without kernels of DeepEP, or without attention replicas."""
    overlapped = "{}, dispatcher: {}, overlap: {{ep: true}}"
    text = exported("vllm", plan(overlapped.format("vllm 0.31.0", "deepep"), "{replicas: 1, tp: 8, ep: 8}", WIDE))
    assert (
        re.findall(r"--all2all-backend (\S+)", text) == ["deepep_low_latency"] * 2 and text.count("--enable-dbo") == 2
    )
    for kind, software, option in (
        ("vllm", "vllm 0.31.0", "--enable-dbo"),
        ("sglang", "sglang 0.5.9", "--enable-two-batch-overlap"),
    ):
        design = plan(overlapped.format(software, "all-to-all"), "{replicas: 1, tp: 8, ep: 8}", WIDE)
        file = exporter_of(kind).write(design)
        assert str(file.content).count(option) == (0 if kind == "vllm" else 2), kind
        assert any(option in each for each in file.omitted), kind


def test_the_nodes_of_a_wide_engine_start_its_attention_replicas_one_after_another() -> None:
    """Eight replicas of two ranks on two nodes of eight: four on each, the second node from the fourth on."""
    wide = "{replicas: 2, tp: 2, attention_dp: 8, ep: 16}"
    text = exported("vllm", plan("vllm 0.31.0", "{replicas: 1, tp: 8, ep: 8}", wide, nodes=5))
    _, *decode = text.split("vllm serve ")[1:]
    assert [re.findall(r"--data-parallel\S* (\d+)", each) for each in decode] == [
        *(["8", "4", "13345"], ["8", "4", "13345", "4"]) * 2
    ]
    assert ["--headless" in each for each in decode] == [False, True, False, True]
    assert re.findall(r"node (\d)\n", text) == ["1", "2", "3", "4", "5"]


def test_engines_of_both_kinds_share_a_node_without_sharing_accelerators_or_ports() -> None:
    text = exported("vllm", plan("vllm 0.31.0", "{replicas: 2, tp: 2, ep: 2}", "{replicas: 1, tp: 4, ep: 4}", nodes=1))
    assert [line for line in text.splitlines() if line.startswith("# ")][1:] == [
        "# prefill replica 1: node 1, accelerators 0 to 1",
        "# prefill replica 2: node 1, accelerators 2 to 3",
        "# decode replica 1: node 1, accelerators 4 to 7",
    ]
    assert [each.split()[0] for each in text.split("--port ")[1:]] == ["8000", "8002", "8004"]
    assert re.findall(r"SIDE_CHANNEL_PORT=(\d+)", text) == ["5600", "5602", "5604"]  # 5600: the default of vLLM


def test_a_release_whose_options_were_not_checked_is_refused() -> None:
    others = {"vllm": "vllm 0.7", "sglang": "sglang 0.4", "dynamo": "vllm 0.33", "llm-d": "vllm 9"}
    for kind, software in others.items():
        with pytest.raises(NotExportable, match="not checked"):
            exported(kind, plan(software, "{replicas: 1, tp: 8, ep: 8}", "{replicas: 1, tp: 8, ep: 8}"))


def test_manifests_have_a_component_for_each_kind_of_engine() -> None:
    text = exported("dynamo", plan("vllm 0.31", "{replicas: 2, tp: 4, ep: 4}", "{replicas: 1, tp: 16, ep: 16}"))
    graph = yaml.safe_load(text)
    assert (graph["apiVersion"], graph["kind"]) == ("nvidia.com/v1beta1", "DynamoGraphDeployment")
    frontend, prefill, decode = graph["spec"]["components"]
    assert (prefill["replicas"], decode["replicas"], decode["multinode"]) == (2, 1, {"nodeCount": 2})
    first, second = (each["podTemplate"]["spec"]["containers"][0] for each in (prefill, decode))
    assert (first["resources"]["limits"], second["resources"]["limits"]) == (
        {"nvidia.com/gpu": "4"},
        {"nvidia.com/gpu": "8"},
    )
    assert first["args"][-2:] == ["--disaggregation-mode", "prefill"]
    assert frontend["type"] == "frontend" and "resources" not in frontend["podTemplate"]["spec"]["containers"][0]
    with pytest.raises(NotExportable, match="several nodes"):
        exported("dynamo", plan("vllm 0.31", "{replicas: 1, tp: 8, ep: 8}", WIDE))


def test_values_of_the_chart_of_llm_d_leave_to_it_what_it_writes() -> None:
    values = yaml.safe_load(exported("llm-d", plan("vllm 0.33", "{replicas: 2, tp: 4, ep: 4}", "{tp: 8, ep: 8}")))
    first, second = values["prefill"], values["decode"]
    assert (first["replicas"], second["replicas"]) == (2, 1)
    assert [each["parallelism"]["tensor"] for each in (first, second)] == [4, 8]
    containers = [each["containers"][0] for each in (first, second)]
    assert [each["resources"]["limits"] for each in containers] == [{"nvidia.com/gpu": "4"}, {"nvidia.com/gpu": "8"}]
    for each in containers:
        assert each["modelCommand"] == "vllmServe"
        assert not {"--tensor-parallel-size", "--port", "--model"} & set(each["args"])
        assert "--kv-transfer-config" in each["args"]
    assert values["modelArtifacts"]["uri"] == f"hf://{values['modelArtifacts']['name']}"
    with pytest.raises(NotExportable, match="several nodes"):
        exported("llm-d", plan("vllm 0.33", "{replicas: 1, tp: 8, ep: 8}", WIDE))
    one = "workload: {kind: serve, model: llama-3.1-8b, serving: {requests: 8, input_tokens: 100, output_tokens: 10}}\n"
    whole = yaml.safe_load(exported("llm-d", pod(rest=f"{one}layout: {{framework: vllm, tp: 1, dp: 8}}\n")))
    # 8.03 billion weights of 2 bytes and a tenth are 16.5 GiB; without roles no proxy stands before the engines
    assert (whole["modelArtifacts"]["size"], whole["routing"]["proxy"]["enabled"]) == ("20Gi", False)
    assert (whole["prefill"], whole["decode"]["replicas"]) == ({"create": False}, 8)


def test_deepspeed_is_given_no_sharding_that_its_own_parser_refuses() -> None:
    """Refused by DeepSpeedConfig of 0.19.8: groups of shards (MiCS), and a part of the optimizer below ZeRO 3.

    Its pipeline engine refuses ZeRO 2 and 3.
    """
    piped = [f"tp: 4, pp: 2, sharding: {sharding}" for sharding in ("zero2", "fsdp")]
    grouped = "tp: 2, sharding: hsdp, shard_group: 32"
    offloaded = ("tp: 2, sharding: zero1, offload: {optimizer: 0.5}", "tp: 2, sharding: none, offload: {optimizer: 1}")
    for layout in (*piped, grouped, *offloaded):
        with pytest.raises(NotExportable, match="DeepSpeed"):
            exporter_of("deepspeed").write(pod(rest=f"{WORK}layout: {{{layout}}}\n"))
    whole = json.loads(
        exported("deepspeed", pod(rest=f"{WORK}layout: {{tp: 2, sharding: zero1, offload: {{optimizer: 1}}}}\n"))
    )
    assert whole["zero_optimization"]["offload_optimizer"]["device"] == "cpu"


GRPO = (
    "workload: {kind: rl, model: qwen3-30b-a3b, sequence_length: 4096, rl: {algorithm: grpo, prompts_per_step: 64, "
    "samples_per_prompt: 8, input_tokens: 100, output_tokens: 1000, placement: colocated, rollout: {tp: 2}}}\n"
)
SHORT = "sequence_length: 4096, global_batch: 512"
CHANGED = [  # format, cluster, workload and layout, what the file says, what it leaves out
    *((kind, "", f"{GRPO}layout: {{tp: 1, ep: 8}}", "", "grpo: rollout") for kind in UNSAID),
    *(
        (
            kind,
            "",
            f"workload: {{model: llama-3.1-8b, {SHORT}, trainable: {{method: lora, rank: 8}}}}\nlayout: {{tp: 2}}",
            "",
            "rank 8",
        )
        for kind in ("megatron", "deepspeed")
    ),
    ("megatron", "", f"{WORK}layout: {{tp: 8}}", "--attention-dropout 0 --hidden-dropout 0", ""),
    (
        "torchtitan",
        "",
        f"workload: {{model: llama-3.1-405b, {SHORT}}}\nlayout: {{tp: 8, pp: 8, dp: 8}}",
        'config.model_spec = model_registry("405B")\n',  # that of the base has linear layers in FP8
        "compilation",
    ),
    ("megatron", "", f"{WORK}layout: {{tp: 8}}", "CUDA_DEVICE_MAX_CONNECTIONS=1", ""),
    ("megatron", "platform: dgx-b200, nodes: 8", f"{WORK}layout: {{tp: 8}}", "8 nodes\ntorchrun", ""),
    ("torchtitan", "", f"{WORK}layout: {{tp: 8, pp: 4}}", "training.disable_cuda_graphs = True", ""),
    (
        "torchtitan",
        "",
        f"workload: {{model: deepseek-v3, precision: fp8, {SHORT}}}\nlayout: {{tp: 1, pp: 8, ep: 64}}",
        'filter_fqns=["lm_head", "router.gate"]), Float8GroupedExpertsConverter.Config()]',
        "",
    ),
    (
        "maxtext",
        "platform: mi300x-ubb8, nodes: 1",
        "workload: {model: llama-3.1-8b, precision: fp8, sequence_length: 4096, global_batch: 8}\nlayout: {tp: 1}",
        "quantization: nanoo_fp8",
        "",
    ),
    ("mpijob", "platform: gb200-nvl72, nodes: 36", "", "-np 72", "ComputeDomain"),
    ("jobset", "platform: gb200-nvl72, nodes: 36", "", "-np 72", "ComputeDomain"),
]


@pytest.mark.parametrize(("kind", "cluster", "rest", "says", "omits"), CHANGED)
def test_an_export_says_or_lists_what_changes_the_run(
    kind: str, cluster: str, rest: str, says: str, omits: str
) -> None:
    written = exporter_of(kind).write(source(cluster, f"{rest}\n") if cluster else pod(rest=f"{rest}\n"))
    assert says in str(written.content)
    assert omits in "\n".join(written.omitted)


def test_maxtext_is_given_no_quantization_that_it_refuses() -> None:
    """FP8 with accumulated micro-batches (types.py, line 3879); a pipeline takes them in one pass."""
    work = f"workload: {{model: llama-3.1-8b, precision: fp8, {SHORT}}}\n"
    with pytest.raises(NotExportable, match="refuses fp8 with 8 micro-batches"):
        exported("maxtext", source("platform: dgx-h100, nodes: 8", f"{work}layout: {{tp: 1}}\n"))
    assert "quantization: fp8" in exported(
        "maxtext", source("platform: dgx-h100, nodes: 8", f"{work}layout: {{tp: 1, pp: 2}}\n")
    )
