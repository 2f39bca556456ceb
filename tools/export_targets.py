"""Names that exporters write, against the sources of their targets: ``python -m tools.export_targets DIR [--write]``.

``DIR`` holds clones (``OWNER+NAME`` or ``OWNER/NAME``, or either with a folder ``repo``); for vLLM, SGLang and Dynamo,
whose repositories are large, the wheels of the releases whose options are written. The sources are parsed, not run.
``--write`` records where each name is defined in ``tests/exchange/targets.csv``, with which a test compares the
exporters; the rows of a target without a source stay. Exit status 1 where an exporter writes what its target does not
have, and where a target could not be checked.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import re
import sys
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.exchange.exporters.registry import ExportInput, NotExportable, exporter_of
from clusterspec.studies import Settings, study_text
from tools.target_sources import (
    Place,
    Source,
    deepspeed,
    dynamo,
    kubernetes,
    maxtext,
    megatron,
    megatron_bridge,
    sglang,
    slurm,
    tensorrt_llm,
    torchtitan,
    vllm,
)

RECORD = Path(__file__).parents[1] / "tests" / "exchange" / "targets.csv"

MODELS = (
    "llama-3.1-70b",
    "deepseek-v3",
    "qwen3-30b-a3b",
    "llama-4-scout",
    "gpt3-175b",
    "gpt-oss-120b",
    "{base: qwen2.5-32b, layers: 40}",
    "{base: deepseek-v3, layers: 45, experts: 128}",
)
LAYOUTS = (
    "{tp: 8, pp: 2, virtual_stages: 2, cp: 2, sharding: fsdp}",
    "{tp: 4, pp: 4, recompute: [norm, attention]}",
    "{tp: 1, ep: 8, dispatcher: deepep, sharding: fsdp}",
    "{tp: 2, ep: 8, sharding: hsdp, shard_group: 32, recompute: full}",
    "{tp: 2, offload: {optimizer: 0.5}}",
    "{tp: 8, pp: 8, order: [tp, cp, ep, pp, dp]}",
    "{sharding: zero2, offload: {optimizer: 1}}",
    "{sharding: fsdp, offload: {optimizer: 0.5}}",
    "{tp: 8, overlap: {tp: full, ep: true}, ep: 8, capacity_factor: 1.25, captured_graphs: false, loss: fused}",
)
PRECISIONS = ("bf16", "fp8, recipe: mxfp8", "fp8, recipe: tensorwise")
_STATED = (
    "bf16, attention: flash, gradient_precision: bf16, tokens: 524288000",
    "bf16, attention: plain, gradient_precision: fp32, optimizer: sgd",
)
"""Further settings of a workload, after its precision."""
_LOAD = "input_tokens: 1000, output_tokens: 1000, concurrency: 64"
_FAST = "speculative: {tokens: 1, acceptance: 0.8}"
_MATCHED = "speculative: {tokens: 2, acceptance: 0.6, method: ngram}"
_MANY = "max_sequences: 64, chunk_tokens: 8192, captured_graphs: false"
_HELD = (
    "input_tokens: {mean: 1000, p99: 3000, max: 4000}, output_tokens: {mean: 300, p99: 900, max: 1000}, "
    "concurrency: 64, receive_interval: 4, hold_steps: 30"
)
"""Lengths with a maximum, and requests that wait for one another."""
_APART = (
    "disaggregated: {prefill: {replicas: 2, tp: 8, ep: 8}, decode: {replicas: 1, tp: 1, attention_dp: 8, ep: 8}, "
    "transfer: {block_tokens: 64}}"
)
SERVING = (
    f"{{kind: serve, model: deepseek-v3, serving: {{{_LOAD}, {_APART}, redundant_experts: 16, {_FAST}}}}}",
    f"{{kind: serve, model: deepseek-v3, kv_precision: fp8, serving: {{{_LOAD}, {_FAST}}}}}",
    f"{{kind: serve, model: llama-3.1-70b, parameter_precision: fp8, serving: {{{_LOAD}, {_MANY}}}}}",
    f"{{kind: serve, model: qwen3-32b, parameter_precision: fp8, serving: {{{_LOAD}}}}}",
    f"{{kind: serve, model: qwen3-32b, serving: {{{_LOAD}, {_MATCHED}}}}}",
    f"{{kind: serve, model: gpt-oss-20b, parameter_precision: fp16, serving: {{{_LOAD}}}}}",
    f"{{kind: serve, model: deepseek-v3, kv_precision: fp8, serving: {{{_HELD}}}}}",
)
SERVING_LAYOUTS = (
    "tp: 8",
    "tp: 8, pp: 2",
    "tp: 1, ep: 32, attention_dp: 32, overlap: {ep: true}, dispatcher: deepep",
    "tp: 2",
)


# What the exporters write


def specs(software: tuple[str, ...]) -> list[str]:
    """Specs of all models, layouts and precisions; with ``software``, names and releases, of serving."""
    if software:
        layouts = [f"{{software: {name}, {layout}}}" for name in software for layout in SERVING_LAYOUTS]
        works = list(product(SERVING, layouts))
    else:
        facts = "sequence_length: 4096, global_batch: 512"
        works = [
            (f"{{model: {model}, {facts}, precision: {precision}}}", layout)
            for model, layout, precision in product(MODELS, LAYOUTS, (*PRECISIONS, *_STATED))
        ]
    head = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 64}\n"
    return [f"{head}workload: {work}\nlayout: {layout}\n" for work, layout in works]


@cache
def design_of(spec: str) -> ExportInput:
    """The design of a spec."""
    return ExportInput(study_text(spec, _settings()).design)


@cache
def _settings() -> Settings:
    return Settings(Catalog.open(), Config(), date(2026, 11, 20))


def exported_outputs(kind: str, every: int = 1) -> Iterator[str]:
    """The output of an exporter for the designs that it accepts, of one spec of ``every`` so many."""
    exporter = exporter_of(kind.partition(" ")[0])
    for spec in specs(TARGETS[kind].software)[::every]:
        try:
            yield str(exporter.write(design_of(spec)).content)
        except NotExportable:
            continue


def names_written(kind: str, every: int = 1) -> set[str]:
    """The names of its target that an exporter writes for all specs, or for one of ``every`` so many."""
    names_of = TARGETS[kind].names
    return {name for text in dict.fromkeys(exported_outputs(kind, every)) for name in names_of(text)}


def flags_in(text: str) -> set[str]:
    """Options of a launch, without those of torchrun."""
    launcher = {"--nnodes", "--nproc_per_node", "--rdzv-backend", "--rdzv-endpoint"} if "torchrun" in text else set()
    return set(re.findall(r"(?<!\S)(--[a-z][a-z0-9_-]+)", text)) - launcher


_VALUES = ("cache_transceiver_config.backend", "speculative_config.decoding_type")
"""Keys of TensorRT-LLM whose values are names."""


def engine_options_in(text: str) -> set[str]:
    """Options of ``trtllm-serve``, and the keys of the files of options in the script, with values that are names."""
    starts = re.findall(r"trtllm-serve ((?:[^\n]*\\\n)*[^\n]*)", text)
    found = {flag for words in starts for flag in re.findall(r"(?<!\S)(--[a-z_]+)", words)}
    for body in re.findall(r"<<'EOF'\n(.*?)\nEOF", text, re.DOTALL):
        options = yaml.safe_load(body)
        found |= set(_paths(options))
        for path in _VALUES:
            head, _, key = path.partition(".")
            if key in (options.get(head) or {}):
                found.add(f"{path}={options[head][key]}")
    return found


def overrides_in(text: str) -> set[str]:
    """The recipe of a launch and the fields that it overrides, mixed precision with its value."""
    words = re.findall(r"(?<!\S)'?([a-z_]+(?:\.\w+)*)=(\S+)", text)
    fields = {f"{name}={value}" if name == "mixed_precision" and value != "null" else name for name, value in words}
    return fields | set(re.findall(r"--recipe (\w+)", text))


def arguments_in(text: str) -> set[str]:
    """Options among the arguments of containers."""
    return set(re.findall(r"- \"(--[a-z][a-z0-9-]+)\"", text))


def keys_in(text: str) -> set[str]:
    """Keys of a flat YAML file, and the name of the model."""
    models = re.findall(r"^model_name: \"?([\w.-]+)", text, re.MULTILINE)
    return set(re.findall(r"^(\w+):", text, re.MULTILINE)) | {f"model {name}" for name in models}


def python_names_in(text: str) -> set[str]:
    """Imports as ``module:name``, attributes set as ``training.name``, and keywords as ``function.name``."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}:{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign) and re.fullmatch(r"config(\.\w+)+", named := ast.unparse(node.targets[0])):
            found.add(named.removeprefix("config."))
        elif isinstance(node, ast.Call):
            found |= {f"{ast.unparse(node.func)}.{word.arg}" for word in node.keywords}
    return found


def paths_in(text: str) -> set[str]:
    """Key paths of YAML or JSON, without the items of lists; objects of Kubernetes begin with kind and version."""
    found = set()
    for document in yaml.safe_load_all(text):
        head = (
            f"{document['kind']} {document['apiVersion']}: "
            if isinstance(document, dict) and "kind" in document
            else ""
        )
        found |= {head + path for path in _paths(document)}
    return found


def _paths(value: Any, base: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _paths(item, base)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if "/" in str(key):
                continue  # the name of a resource
            path = f"{base}.{key}" if base else str(key)
            yield path
            yield from _paths(inner, path)


class Target(NamedTuple):
    """The repository of a target, the names in the text written for it, and the files in which it defines names.

    ``software`` gives the engines of serving designs with their release; ``release`` is the release of the wheel.
    """

    repository: str
    names: Callable[[str], set[str]]
    places: Callable[[Source, set[str]], dict[str, Place]]
    software: tuple[str, ...] = ()
    release: str = ""


TARGETS = {
    "megatron": Target("NVIDIA/Megatron-LM", flags_in, megatron),
    "megatron-bridge": Target("NVIDIA-NeMo/Megatron-Bridge", overrides_in, megatron_bridge),
    "maxtext": Target("AI-Hypercomputer/maxtext", keys_in, maxtext),
    "torchtitan": Target("pytorch/torchtitan", python_names_in, torchtitan),
    "deepspeed": Target("deepspeedai/DeepSpeed", lambda text: set(_paths(json.loads(text))), deepspeed),
    "vllm": Target("vllm-project/vllm", flags_in, vllm, ("vllm 0.33.0",), "0.33.0"),
    **{
        f"vllm {release}": Target("vllm-project/vllm", flags_in, vllm, (f"vllm {release}",), release)
        for release in ("0.31.0", "0.28.0", "0.25.1", "0.22.1", "0.18.0")
    },
    "sglang": Target("sgl-project/sglang", flags_in, sglang, ("sglang 0.5.23",), "0.5.23"),
    **{
        f"sglang {release}": Target("sgl-project/sglang", flags_in, sglang, (f"sglang {release}",), release)
        for release in (
            *("0.5.22", "0.5.21", "0.5.20", "0.5.18", "0.5.15.post1", "0.5.12.post1", "0.5.10.post1", "0.5.9"),
        )
    },
    "trt-llm": Target("NVIDIA/TensorRT-LLM", engine_options_in, tensorrt_llm, ("trt-llm 1.3.0rc11",)),
    "dynamo": Target("ai-dynamo/dynamo", arguments_in, dynamo, ("vllm 0.31.0", "sglang 0.5.21"), "1.6.1"),
    "llm-d": Target("vllm-project/vllm", arguments_in, vllm, ("vllm 0.33.0",), "0.33.0"),
    "slurm-topology": Target("SchedMD/slurm", paths_in, slurm),
    "kueue-topology": Target(
        "kubernetes-sigs/kueue", paths_in, kubernetes("config/components/crd/bases/kueue.x-k8s.io_topologies.yaml")
    ),
    "jobset": Target(
        "kubernetes-sigs/jobset",
        paths_in,
        kubernetes("config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
    ),
    "mpijob": Target("kubeflow/mpi-operator", paths_in, kubernetes("manifests/base/kubeflow.org_mpijobs.yaml")),
}


READ_IN_PARTS = frozenset({"trt-llm"})
"""Targets whose repository is too large for a clone: their files were read in parts, and their lines are 0."""


def recorded(path: Path = RECORD) -> dict[str, dict[str, Place]]:
    """The places of names by exporter, as recorded."""
    found: dict[str, dict[str, Place]] = {}
    with path.open(newline="") as lines:
        for kind, name, repository, commit, file, line in list(csv.reader(lines))[1:]:
            found.setdefault(kind, {})[name] = Place(repository, commit, file, int(line))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", type=Path, help="a folder of clones")
    parser.add_argument("--write", action="store_true", help="record where the names are defined")
    given = parser.parse_args()
    rows: list[tuple[str, str, str, str, str, int]] = []
    unknown = unchecked = 0
    before = recorded()
    for kind, target in TARGETS.items():
        try:
            source, names = Source(given.clones, target.repository, target.release), names_written(kind)
            places = target.places(source, names)
        except FileNotFoundError as fault:
            print(f"{kind}: not checked: {fault}")
            unchecked += 1
            rows += [(kind, name, *place) for name, place in sorted(before.get(kind, {}).items())]
            continue
        missing = sorted(names - set(places))
        unknown += len(missing)
        print(f"{kind}: {len(names)} names of {target.repository}: {', '.join(missing) or 'all exist'}")
        if dropped := sorted(before.get(kind, {}).keys() - names):
            print(f"{kind}: recorded, and in no design of this program: {', '.join(dropped)}")
        rows += [(kind, name, *places[name]) for name in sorted(names & set(places))]
    if given.write:
        with RECORD.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([("exporter", "name", *Place._fields), *rows])
    return 1 if unknown or unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
