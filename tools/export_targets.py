"""Names that exporters write, against the sources of their targets: ``python -m tools.export_targets DIR [--write]``.

``DIR`` holds clones (``OWNER+NAME`` or ``OWNER/NAME``, or either with a folder ``repo``); for vLLM, SGLang and Dynamo,
whose repositories are large, the wheels of the releases whose options are written. The sources are parsed, not run.
``--write`` records where each name is defined in ``tests/exchange/targets.csv``, with which a test compares the
exporters, if there is a source of every target. Exit status 1 where an exporter writes what its target does not have,
and where a target could not be checked.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import re
import subprocess
import sys
import zipfile
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
from clusterspec.studies.study import Settings, study_text

RECORD = Path(__file__).parents[1] / "tests" / "exchange" / "targets.csv"

MODELS = (
    "llama-3.1-70b",
    "deepseek-v3",
    "qwen3-30b-a3b",
    "mixtral-8x7b",
    "gpt3-175b",
    "gpt-oss-120b",
    "{base: llama-3.1-8b, layers: 40}",
    "{base: deepseek-v3, layers: 45, experts: 128}",
)
LAYOUTS = (
    "{tp: 8, pp: 2, virtual_stages: 2, cp: 2, sharding: fsdp}",
    "{tp: 4, pp: 4, recompute: [norm, attention]}",
    "{tp: 1, ep: 8, dispatcher: deepep, sharding: fsdp}",
    "{tp: 2, ep: 8, sharding: hsdp, shard_group: 32, recompute: full}",
    "{tp: 2, offload: {optimizer: 0.5}}",
    "{tp: 8, pp: 8, order: [tp, cp, ep, pp, dp]}",
)
_LOAD = "input_tokens: 1000, output_tokens: 1000, concurrency: 64"
_FAST = "speculative: {tokens: 1, acceptance: 0.8}"
_MANY = "max_sequences: 64, chunk_tokens: 8192, captured_graphs: false"
_APART = (
    "disaggregated: {prefill: {replicas: 2, tp: 8, ep: 8}, decode: {replicas: 1, tp: 1, attention_dp: 8, ep: 8}, "
    "transfer: {block_tokens: 64}}"
)
SERVING = (
    f"{{kind: serve, model: deepseek-v3, serving: {{{_LOAD}, {_APART}, redundant_experts: 16, {_FAST}}}}}",
    f"{{kind: serve, model: deepseek-v3, kv_precision: fp8, serving: {{{_LOAD}, {_FAST}}}}}",
    f"{{kind: serve, model: llama-3.1-70b, parameter_precision: fp8, serving: {{{_LOAD}, {_MANY}}}}}",
    f"{{kind: serve, model: qwen3-32b, parameter_precision: fp8, serving: {{{_LOAD}}}}}",
    f"{{kind: serve, model: gpt-oss-20b, parameter_precision: fp16, serving: {{{_LOAD}}}}}",
)
SERVING_LAYOUTS = (
    "tp: 8",
    "tp: 8, pp: 2",
    "tp: 1, ep: 32, attention_dp: 32, overlap: {ep: true}, dispatcher: deepep",
    "tp: 2",
)


class Place(NamedTuple):
    """The place where a target defines a name."""

    repository: str
    commit: str
    path: str
    line: int


# What the exporters write


def designs(software: tuple[str, ...]) -> Iterator[ExportInput]:
    """Designs of all models, layouts and precisions; with ``software``, names and releases, of serving."""
    settings = Settings(Catalog.open(), Config(), date(2026, 11, 20))
    if software:
        layouts = [f"{{software: {name}, {layout}}}" for name in software for layout in SERVING_LAYOUTS]
        works = list(product(SERVING, layouts))
    else:
        facts = "sequence_length: 4096, global_batch: 512"
        works = [
            (f"{{model: {model}, {facts}, precision: {precision}}}", layout)
            for model, layout, precision in product(MODELS, LAYOUTS, ("bf16", "fp8, recipe: mxfp8"))
        ]
    for work, layout in works:
        text = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 64}}\nworkload: {work}\nlayout: {layout}\n"
        yield ExportInput(study_text(text, settings).design)


def written(kind: str) -> Iterator[str]:
    """The output of an exporter for all designs that it accepts."""
    exporter = exporter_of(kind.partition(" ")[0])
    for design in designs(TARGETS[kind].software):
        try:
            yield str(exporter.write(design).content)
        except NotExportable:
            continue


def names_written(kind: str) -> set[str]:
    """The names of its target that an exporter writes."""
    names_of = TARGETS[kind].names
    return {name for text in dict.fromkeys(written(kind)) for name in names_of(text)}


def flags_in(text: str) -> set[str]:
    """Options of a launch, without those of torchrun."""
    launcher = {"--nnodes", "--nproc_per_node", "--rdzv-backend", "--rdzv-endpoint"} if "torchrun" in text else set()
    return set(re.findall(r"(?<!\S)(--[a-z][a-z0-9_-]+)", text)) - launcher


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


# Where the targets define it


PACKAGES = {"ai-dynamo/dynamo": "ai_dynamo"}
"""Names of wheels that differ from the names of their repositories."""


class Source:
    """The files of a target: the newest commit of a clone, or a wheel; that of a ``release`` if stated."""

    def __init__(self, clones: Path, repository: str, release: str = "") -> None:
        names = (repository.replace("/", "+"), repository)
        folders = (clones / name / inner for name in names for inner in ("repo", ""))
        package = PACKAGES.get(repository, repository.split("/")[1])
        wheels = sorted(clones.glob(f"{package}-{release or '*'}-*.whl"))
        self.clones, self.repository = clones, repository
        self.folder = next((folder for folder in folders if folder.is_dir()), None)
        self.wheel = wheels[-1] if wheels else None
        if self.folder is None and self.wheel is None:
            raise FileNotFoundError(f"no clone and no wheel of {repository} in {clones}")
        self.commit = self._git("rev-parse", "HEAD").strip() if self.folder else str(self.wheel.name.split("-")[1])  # type: ignore[union-attr]
        self.text = cache(self._text)

    def _git(self, *words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self.folder), *words], capture_output=True, check=True, text=True
        ).stdout

    def _text(self, path: str) -> str:
        if self.folder:
            return self._git("show", f"HEAD:{path}")
        assert self.wheel is not None
        with zipfile.ZipFile(self.wheel) as files:
            return files.read(path).decode()

    def has(self, path: str) -> bool:
        try:
            self.text(path)
        except (subprocess.CalledProcessError, KeyError):
            return False
        return True

    def at(self, path: str, line: int) -> Place:
        return Place(self.repository, self.commit, path, line)

    def fields(self, path: str, owner: str) -> dict[str, Place]:
        """The annotated fields of a class."""
        owners = (
            node for node in ast.parse(self.text(path)).body if isinstance(node, ast.ClassDef) and node.name == owner
        )
        return {
            node.target.id: self.at(path, node.lineno)
            for each in owners
            for node in each.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }

    def lines(self, path: str, pattern: str) -> dict[str, Place]:
        """The first group of a pattern, by line."""
        found: dict[str, Place] = {}
        for number, line in enumerate(self.text(path).split("\n"), 1):
            for match in re.finditer(pattern, line):
                found.setdefault(match[1], self.at(path, number))
        return found


MEGATRON = (
    "megatron/core/transformer/transformer_config.py",
    "megatron/core/model_parallel_config.py",
    "megatron/training/config/common_config.py",
    "megatron/training/config/training_config.py",
)
"""Files with data classes whose fields are flags."""


def megatron(source: Source, names: set[str]) -> dict[str, Place]:
    """The flags of Megatron-LM: those added explicitly, and those from the fields of its data classes."""
    found = source.lines("megatron/training/arguments.py", r"[\"'](--[a-z][a-z0-9_-]+)[\"']")
    for path in MEGATRON:
        for node in ast.walk(ast.parse(source.text(path))):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                flags = [f"--{node.target.id.replace('_', '-')}", *re.findall(r"'(--[a-z0-9-]+)'", ast.unparse(node))]
                for flag in flags:
                    found.setdefault(flag, source.at(path, node.lineno))
    return found


def maxtext(source: Source, names: set[str]) -> dict[str, Place]:
    """The keys of MaxText's base configuration, and its known models."""
    models = source.lines("src/maxtext/configs/types.py", r"^\s+\"([\w.-]+)\",$")
    keys = source.lines("src/maxtext/configs/base.yml", r"^(\w+):")
    return {f"model {name}": place for name, place in models.items()} | keys


def vllm(source: Source, names: set[str]) -> dict[str, Place]:
    """The options of ``vllm serve``: those added explicitly, and those from the fields of its argument classes."""
    found: dict[str, Place] = {}
    frontends = [f"vllm/entrypoints/{part}/cli_args.py" for part in ("common", "launchers", "openai")]
    frontend = next(path for path in frontends if source.has(path))
    for path in ("vllm/entrypoints/cli/serve.py", frontend, "vllm/engine/arg_utils.py"):
        found = {**source.lines(path, r"[\"'](--[a-z][a-z0-9-]+)[\"']"), **found}
    for owner in ("FrontendArgs", "BaseFrontendArgs"):
        for name, place in source.fields(frontend, owner).items():
            found.setdefault(f"--{name.replace('_', '-')}", place)
    return found


def sglang(source: Source, names: set[str]) -> dict[str, Place]:
    """The options of SGLang's server: those added explicitly, and those from the fields of its argument classes."""
    found = source.lines("sglang/srt/server_args.py", r"[\"'](--[a-z][a-z0-9-]+)[\"']")
    for part in ("disagg", "exec_", "model", "parallel", "schedule", "serving", "spec"):
        path = f"sglang/srt/arg_groups/fields/{part}.py"
        if source.has(path):
            fields = source.lines(path, r"^    ([a-z][a-z0-9_]*): A\[(?!bool, Arg\(no_cli=True\))")
            found |= {f"--{name.replace('_', '-')}": place for name, place in fields.items()}
    return found


def dynamo(source: Source, names: set[str]) -> dict[str, Place]:
    """The options of Dynamo, and of the vLLM and SGLang releases that it requires."""
    found = vllm(Source(source.clones, "vllm-project/vllm", "0.31.0"), names)
    found |= sglang(Source(source.clones, "sgl-project/sglang", "0.5.21"), names)
    for path in ("dynamo/vllm/backend_args.py", "dynamo/frontend/frontend_args.py"):
        found |= source.lines(path, r"flag_name=[\"'](--[a-z][a-z0-9-]+)[\"']")
    return found


def torchtitan(source: Source, names: set[str]) -> dict[str, Place]:
    """Fields of its configuration, and the names and parameters of its modules."""
    path = "torchtitan/config/configs.py"
    found = {f"training.{name}": place for name, place in source.fields(path, "TrainingConfig").items()}
    found |= {f"ParallelismConfig.{name}": place for name, place in source.fields(path, "ParallelismConfig").items()}
    fields = _fields_of_inner(source, "torchtitan/trainer.py", "Config")
    found |= {name: fields[name] for name in ("model_spec", "activation_checkpoint", "parallelism") if name in fields}
    for name in names:
        module, _, wanted = name.partition(":")
        if not wanted:
            continue
        files = [f"{module.replace('.', '/')}{end}" for end in (".py", "/__init__.py")]
        for file in (file for file in files if source.has(file)):
            for node in ast.walk(ast.parse(source.text(file))):
                aliases = (
                    [alias.asname or alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
                )
                if wanted in [getattr(node, "name", None), *aliases]:
                    found.setdefault(name, source.at(file, getattr(node, "lineno", 0)))
                if isinstance(node, ast.FunctionDef) and node.name == wanted == "model_registry":
                    for argument in (*node.args.args, *node.args.kwonlyargs):
                        found.setdefault(f"model_registry.{argument.arg}", source.at(file, argument.lineno))
    return found


def _fields_of_inner(source: Source, path: str, owner: str) -> dict[str, Place]:
    """The annotated fields of the classes of a name, at any depth."""
    return {
        field.target.id: source.at(path, field.lineno)
        for node in ast.walk(ast.parse(source.text(path)))
        if isinstance(node, ast.ClassDef) and node.name == owner
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }


def deepspeed(source: Source, names: set[str]) -> dict[str, Place]:
    """Constants with the name of a key, and fields of the classes of ZeRO."""
    base = "deepspeed/runtime/"
    found = source.lines(f"{base}constants.py", r"^[A-Z_0-9]+ = [\"'](\w+)[\"']")
    found |= source.lines(f"{base}zero/config.py", r"^ZERO_OPTIMIZATION = [\"'](\w+)[\"']")
    found |= {f"{key}.enabled": found["enabled"] for key in ("bf16", "fp16")} | {"optimizer.type": found["type"]}
    for head, path, owner in (
        ("zero_optimization", f"{base}zero/config.py", "DeepSpeedZeroConfig"),
        ("zero_optimization.offload_optimizer", f"{base}zero/offload_config.py", "DeepSpeedZeroOffloadOptimizerConfig"),
    ):
        found |= {f"{head}.{name}": place for name, place in source.fields(path, owner).items()}
    return found


def slurm(source: Source, names: set[str]) -> dict[str, Place]:
    """The keys of topology.yaml, as its manual lists them."""
    keys = source.lines("doc/man/man5/topology.yaml.5", r"^\\fB(\w+)\\fR")
    return {name: keys[key] for name in names if (key := name.rsplit(".", 1)[-1]) in keys}


def kubernetes(path: str) -> Callable[[Source, set[str]], dict[str, Place]]:
    """The key paths of a definition of custom resources, in the version of each name."""

    def found(source: Source, names: set[str]) -> dict[str, Place]:
        spec = _values_of(yaml.compose(source.text(path), Loader=yaml.CSafeLoader))["spec"]
        group, kind = _values_of(spec)["group"].value, _values_of(_values_of(spec)["names"])["kind"].value
        schemas = {
            f"{kind} {group}/{version['name'].value}": _values_of(version["schema"])["openAPIV3Schema"]
            for version in map(_values_of, _values_of(spec)["versions"].value)
            if version["served"].value == "true"
        }
        out = {}
        for name in names:
            head, _, keys = name.partition(": ")
            if head in schemas and (line := _line_of(schemas[head], keys.split("."))):
                out[name] = source.at(path, line)
        return out

    return found


def _values_of(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """The values of a mapping of YAML by key, each a node with its line."""
    return {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}


def _line_of(schema: yaml.Node, keys: list[str]) -> int | None:
    """The line of a schema at a key path, None if it has none; items of lists do not count as a level."""
    while items := _values_of(schema).get("items"):
        schema = items
    here = schema.start_mark.line + 1
    if not keys or keys[0] == "metadata":
        return here
    inner = _values_of(schema)
    more = inner.get("additionalProperties")
    below = _values_of(inner.get("properties")).get(keys[0], more)
    return _line_of(below, keys[1:]) if below is not None else None


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
    "maxtext": Target("AI-Hypercomputer/maxtext", keys_in, maxtext),
    "torchtitan": Target("pytorch/torchtitan", python_names_in, torchtitan),
    "deepspeed": Target("deepspeedai/DeepSpeed", lambda text: set(_paths(json.loads(text))), deepspeed),
    "vllm": Target("vllm-project/vllm", flags_in, vllm, ("vllm 0.33.0",), "0.33.0"),
    "vllm 0.31.0": Target("vllm-project/vllm", flags_in, vllm, ("vllm 0.31.0",), "0.31.0"),
    "vllm 0.18.0": Target("vllm-project/vllm", flags_in, vllm, ("vllm 0.18.0",), "0.18.0"),
    "sglang": Target("sgl-project/sglang", flags_in, sglang, ("sglang 0.5.23",), "0.5.23"),
    "sglang 0.5.21": Target("sgl-project/sglang", flags_in, sglang, ("sglang 0.5.21",), "0.5.21"),
    "sglang 0.5.9": Target("sgl-project/sglang", flags_in, sglang, ("sglang 0.5.9",), "0.5.9"),
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
    for kind, target in TARGETS.items():
        try:
            source = Source(given.clones, target.repository, target.release)
        except FileNotFoundError as fault:
            print(f"{kind}: not checked: {fault}")
            unchecked += 1
            continue
        names = names_written(kind)
        places = target.places(source, names)
        missing = sorted(names - set(places))
        unknown += len(missing)
        print(f"{kind}: {len(names)} names of {target.repository}: {', '.join(missing) or 'all exist'}")
        rows += [(kind, name, *places[name]) for name in sorted(names & set(places))]
    if given.write and not unchecked:
        with RECORD.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([("exporter", "name", *Place._fields), *rows])
    return 1 if unknown or unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
