"""What an exporter writes, the importer of its format reads as the design states it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import count
from math import gcd

import pytest

from clusterspec.exchange import import_formats
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, exporter_of
from clusterspec.exchange.import_result import InputFile, SeveralParts
from tests.effort import ALL_CASES, sampled
from tests.exchange.test_exporters import pod
from tools.export_targets import TARGETS, design_of
from tools.export_targets import specs as target_specs

NAMES = {"torchtitan": "design.py", "maxtext": "design.yml", "dynamo": "design.yaml", "llm-d": "design.yaml"}


def mixed(rows: list[str]) -> list[str]:
    """The rows of a product in an order in which neighbors differ along every axis: a row is as far from the one before
    as the least number above a tenth of theirs that has no divisor in common with it.
    """
    stride = next(each for each in count(len(rows) // 10 + 1) if gcd(each, len(rows)) == 1)
    return [rows[at * stride % len(rows)] for at in range(len(rows))]


def exports(kind: str) -> Iterator[tuple[ExportInput, ExportedFile]]:
    """The designs that an exporter accepts, one for each text that it writes; in `make test` those of a few specs with
    all models, layouts and precisions.
    """
    seen = set()
    specs = mixed(target_specs(TARGETS[kind].software))
    for spec in specs if ALL_CASES else specs[:8]:
        with contextlib.suppress(NotExportable):
            design = design_of(spec)
            written = exporter_of(kind).write(design)
            if written.content not in seen:
                seen.add(written.content)
                yield design, written


def stated(design: ExportInput) -> dict[str, object]:
    """What a design states of its layout and batches."""
    layout, work = design.layout, design.workload
    return {
        "layout.tp": layout.tp,
        "layout.pp": layout.pp,
        "layout.cp": layout.cp,
        "layout.ep": layout.ep,
        "layout.attention_dp": layout.attention_dp,
        "layout.dp": layout.dp,
        "layout.sharding": str(layout.sharding),
    } | ({"workload.global_batch": work.global_batch} if work.kind == "train" else {})


@pytest.mark.parametrize(
    "kind", sampled(["megatron", "megatron-bridge", "maxtext", "torchtitan", "vllm", "sglang", "dynamo", "llm-d"], 16)
)
def test_what_an_exporter_writes_is_read_as_the_design_states_it(kind: str) -> None:
    compared = 0
    for design, written in exports(kind):
        file = InputFile(NAMES.get(kind, "design.sh"), str(written.content).encode())
        with contextlib.suppress(SeveralParts):  # engines of two roles as two launches
            reading = import_formats.guessed_format(file).read(file)
            found = {".".join(map(str, each.path)): each.value for each in reading.given}
            for path, value in stated(design).items():
                if path in found and not any(line.startswith(f"{value}:") for line in written.omitted):
                    compared += 1
                    assert (path, found[path]) == (path, value)
    assert compared > (9 if ALL_CASES else 2)


DESIGN = """workload:
  kind: serve
  model: {}
  serving: {{input_tokens: 2000, output_tokens: 500, concurrency: 64, {}}}
layout: {{framework: {}{}}}
"""
DRAFTS = ("deepseek-r1", "speculative: {tokens: 1, acceptance: 0.8}", ", tp: 8")
MATCHES = ("qwen3-32b", "speculative: {tokens: 3, acceptance: 0.5, method: ngram}", ", tp: 8")
SPARE = ("deepseek-v3", "redundant_experts: 16", ", attention_dp: 8, ep: 8")
ROLES = (
    "llama-3.1-70b",
    "disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}, transfer: {block_tokens: 64}}",
    "",
)
SPECULATIVE, SPLIT = "workload.serving.speculative.", "workload.serving.disaggregated."


@pytest.mark.parametrize(
    ("kinds", "parts", "values"),
    [
        ("vllm sglang trt-llm", DRAFTS, {f"{SPECULATIVE}tokens": 1, f"{SPECULATIVE}method": "mtp"}),
        ("vllm sglang llm-d", MATCHES, {f"{SPECULATIVE}tokens": 3, f"{SPECULATIVE}method": "ngram"}),
        ("vllm sglang", SPARE, {"workload.serving.redundant_experts": 16}),
        ("sglang dynamo llm-d", ROLES, {f"{SPLIT}prefill.tp": 8, f"{SPLIT}transfer.block_tokens": 64}),
    ],
)
def test_settings_of_an_engine_are_read_back(
    kinds: str, parts: tuple[str, str, str], values: dict[str, object]
) -> None:
    model, serving, layout = parts
    for kind in kinds.split():
        framework = kind if kind in {"vllm", "sglang", "trt-llm"} else "vllm"
        design = pod(2, rest=DESIGN.format(model, serving, framework, layout))
        file = InputFile(NAMES.get(kind, "design.sh"), str(exporter_of(kind).write(design).content).encode())
        reading = import_formats.guessed_format(file).read(file)
        found = {".".join(map(str, each.path)): each.value for each in reading.given}
        assert {path: found.get(path) for path in values} == values, kind


RUN = "workload: {{model: {}, sequence_length: 4096, global_batch: 512, {}}}\nlayout: {{framework: {}, tp: 8{}}}\n"
OPTIONS = "workload.tokens workload.attention workload.gradient_precision layout.captured_graphs layout.loss"


@pytest.mark.parametrize(
    ("kind", "model", "work", "layout", "values"),
    [
        (
            "megatron",
            "llama-3.1-70b",
            "precision: bf16, tokens: 2097152000, attention: plain, gradient_precision: bf16",
            ", captured_graphs: false, loss: fused, overlap: {tp: full}",
            dict(zip(OPTIONS.split(), (2_097_152_000, "plain", "bf16", False, "fused"), strict=True))
            | {"layout.overlap.tp": "full"},
        ),
        (
            "megatron",
            "qwen3-30b-a3b",
            "precision: bf16, attention: flash, gradient_precision: fp32, residual_precision: fp32",
            ", ep: 8, capacity_factor: 1.25, overlap: {ep: true}",
            {
                "workload.attention": "flash",
                "workload.residual_precision": "fp32",
                "workload.gradient_precision": "fp32",
                "layout.capacity_factor": 1.25,
                "layout.overlap.ep": True,
            },
        ),
        ("megatron", "llama-3.1-70b", "precision: bf16", "", {"layout.overlap.tp": None, "workload.tokens": None}),
        (
            "maxtext",
            "llama-3.1-70b",
            "precision: fp16, optimizer: sgd",
            ", offload: {optimizer: 1}",
            {"workload.precision": "fp16", "workload.optimizer": "sgd", "layout.offload.optimizer": 1},
        ),
        (
            "torchtitan",
            "llama-3.1-70b",
            "precision: fp32",
            ", offload: {optimizer: 1}",
            {"workload.precision": "fp32", "layout.offload.optimizer": 1},
        ),
    ],
)
def test_settings_of_a_training_are_read_back(
    kind: str, model: str, work: str, layout: str, values: dict[str, object]
) -> None:
    framework = {"megatron": "megatron-core"}.get(kind, kind)
    written = exporter_of(kind).write(pod(8, rest=RUN.format(model, work, framework, layout)))
    file = InputFile(NAMES.get(kind, "design.sh"), str(written.content).encode())
    reading = import_formats.guessed_format(file).read(file)
    found = {".".join(map(str, each.path)): each.value for each in reading.given}
    assert {path: found.get(path) for path in values} == values


STATED = {
    "layout": {
        "dispatcher": "deepep",
        "offload": "{activations: 1}",
        "optimizer_states": "{master: bf16, moments: fp8}",
        "capacity_factor": "1.5",
        "gradient_compression": "4",
        "gradient_sync": "step",
        "fused_kernels": "true",
        "fused_optimizer": "false",
        "fused_experts": "true",
        "captured_graphs": "true",
        "loss": "chunked",
        "overlap": "{ep: true, tp: full}",
        "recompute": "[attention]",
        "schedule": "gpipe",
    },
    "workload": {
        "parameter_precision": "fp32",
        "gradient_precision": "fp16",
        "quantization": "awq",
        "attention": "plain",
        "optimizer": "sgd",
        "trainable": "{method: lora, rank: 16, modules: [attention]}",
        "loss_scaling": "dynamic",
    },
}


@pytest.mark.parametrize("kind", ["megatron", "megatron-bridge", "torchtitan", "deepspeed", "maxtext"])
def test_a_stated_key_is_written_or_named(kind: str) -> None:
    """No key of a training run is left out in silence: it changes the text, or the parts named as omitted."""
    parts = {
        "layout": {"framework": {"megatron": "megatron-core"}.get(kind, kind), "tp": "2", "pp": "2", "ep": "2"},
        "workload": {"model": "qwen3-30b-a3b", "sequence_length": "4096", "global_batch": "512", "precision": "bf16"},
    }

    def written(section: str = "", key: str = "", value: str = "") -> ExportedFile | None:
        texts = {
            name: ", ".join(
                f"{one}: {each}" for one, each in (keys | ({key: value} if name == section else {})).items()
            )
            for name, keys in parts.items()
        }
        rest = "".join(f"{name}: {{{text}}}\n" for name, text in texts.items())
        with contextlib.suppress(NotExportable):
            return exporter_of(kind).write(pod(4, rest=rest))
        return None

    plain, tried = written(), 0
    assert plain is not None
    for section, keys in STATED.items():
        for key, value in keys.items():
            if (found := written(section, key, value)) is not None:
                tried += 1
                assert (found.content, found.omitted) != (plain.content, plain.omitted), key
    assert tried > 9


SCALED = (
    "input_tokens: 2000, output_tokens: 500, request_rate: 8, day: [{from: '21:00', to: '07:00', request_rate: 1}], "
    "scaling: {cold_start: 300 s, ahead: 600 s, min_replicas: 1}"
)


@pytest.mark.parametrize("kind", ["vllm", "sglang", "trt-llm", "dynamo", "llm-d"])
def test_engines_that_follow_the_load_of_a_day_are_named_as_written_for_its_peak(kind: str) -> None:
    framework = kind if kind in {"vllm", "sglang", "trt-llm"} else "vllm"
    layout = f"layout: {{framework: {framework}, tp: 8}}\n"
    design = pod(4, rest=f"workload: {{kind: serve, model: llama-3.1-70b, serving: {{{SCALED}}}}}\n{layout}")
    note = "scaling with the load of the day: all 4 replicas are written, as for its peak"
    assert note in exporter_of(kind).write(design).omitted
    steady = pod(
        4,
        rest=f"workload: {{kind: serve, model: llama-3.1-70b, serving: {{{SCALED.partition(', day')[0]}}}}}\n{layout}",
    )
    assert not any("scaling" in each for each in exporter_of(kind).write(steady).omitted)
