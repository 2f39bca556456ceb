"""Where the targets of exporters define names: their files, from clones and wheels. They are parsed, not run."""

from __future__ import annotations

import ast
import re
import subprocess
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml


class Place(NamedTuple):
    """The place where a target defines a name."""

    repository: str
    commit: str
    path: str
    line: int


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

    def place_at(self, path: str, line: int) -> Place:
        return Place(self.repository, self.commit, path, line)

    def fields(self, path: str, owner: str) -> dict[str, Place]:
        """The annotated fields of a class."""
        owners = (
            node for node in ast.parse(self.text(path)).body if isinstance(node, ast.ClassDef) and node.name == owner
        )
        return {
            node.target.id: self.place_at(path, node.lineno)
            for each in owners
            for node in each.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }

    def lines(self, path: str, pattern: str) -> dict[str, Place]:
        """The first group of a pattern, by line."""
        found: dict[str, Place] = {}
        for number, line in enumerate(self.text(path).split("\n"), 1):
            for match in re.finditer(pattern, line):
                found.setdefault(match[1], self.place_at(path, number))
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
                    found.setdefault(flag, source.place_at(path, node.lineno))
    return found


_BRIDGE = "src/megatron/bridge"
_PARTS_OF_BRIDGE = {
    "model": (f"{_BRIDGE}/models/gpt_provider.py", "GPTModelProvider"),
    "train": (f"{_BRIDGE}/training/config.py", "TrainingConfig"),
    "dataset": (f"{_BRIDGE}/training/config.py", "GPTDatasetConfig"),
    "tokenizer": (f"{_BRIDGE}/training/tokenizers/config.py", "TokenizerConfig"),
    "": (f"{_BRIDGE}/training/config.py", "ConfigContainer"),
}
"""Parts of the configuration of Megatron Bridge, with the class of each."""
_PARTS_OF_CORE = (
    ("model", "megatron/core/transformer/transformer_config.py", "TransformerConfig"),
    ("model", "megatron/core/model_parallel_config.py", "ModelParallelConfig"),
    ("train", "megatron/training/config/training_config.py", "TrainingConfig"),
    ("checkpoint", "megatron/training/config/training_config.py", "CheckpointConfig"),
    ("dist", "megatron/training/config/common_config.py", "DistributedInitConfig"),
    ("optimizer", "megatron/core/optimizer/optimizer_config.py", "OptimizerConfig"),
    ("ddp", "megatron/core/distributed/distributed_data_parallel_config.py", "DistributedDataParallelConfig"),
    ("tokenizer", "megatron/training/config/training_config.py", "TokenizerConfig"),
)
"""Classes of Megatron-LM from which parts of the configuration of Megatron Bridge inherit fields."""


def megatron_bridge(source: Source, names: set[str]) -> dict[str, Place]:
    """The fields of Megatron Bridge's configuration and of the classes that it extends, its recipe, and its recipes of
    mixed precision as ``mixed_precision=NAME``.
    """
    core = Source(source.clones, "NVIDIA/Megatron-LM")
    found: dict[str, Place] = {}
    for part, (path, owner) in _PARTS_OF_BRIDGE.items():
        if source.has(path):
            found |= {f"{part}.{name}".lstrip("."): place for name, place in source.fields(path, owner).items()}
    for part, path, owner in _PARTS_OF_CORE:
        fields = {f"{part}.{name}": place for name, place in core.fields(path, owner).items()}
        found = {**fields, **found}
    mixed = source.lines(f"{_BRIDGE}/training/mixed_precision.py", r"^def (\w+)\(\) -> MixedPrecisionConfig")
    recipes = source.lines(f"{_BRIDGE}/recipes/gpt/vanilla_gpt.py", r"^    \w+ as (\w+),")
    return found | {f"mixed_precision={name}": place for name, place in mixed.items()} | recipes


def maxtext(source: Source, names: set[str]) -> dict[str, Place]:
    """The keys of MaxText's base configuration and of the file that names it, and its known models."""
    models = source.lines("src/maxtext/configs/types.py", r"^\s+\"([\w.-]+)\",$")
    keys = source.lines("src/maxtext/configs/base.yml", r"^(\w+):")
    keys |= source.lines("src/maxtext/configs/pyconfig.py", r"^_BASE_CONFIG_ATTR = \"(\w+)\"")
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
    parts = ("disagg", "exec_", "model", "parallel", "schedule", "serving", "spec")
    for path in ("sglang/srt/server_args.py", *(f"sglang/srt/arg_groups/fields/{part}.py" for part in parts)):
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


_OPTIONS_OF_ENGINE = {
    "": ("BaseLlmArgs", "TorchLlmArgs"),
    "kv_cache_config": ("KvCacheConfig",),
    "cache_transceiver_config": ("CacheTransceiverConfig",),
    "speculative_config": ("DecodingBaseConfig", "MTPDecodingConfig"),
}
"""Keys of a file of options of TensorRT-LLM, and the classes whose fields are the keys below them."""


def tensorrt_llm(source: Source, names: set[str]) -> dict[str, Place]:
    """The options of ``trtllm-serve``, and the keys of its file of options: fields of classes that forbid others.

    A name ``KEY=VALUE`` is a value of a field that names all of its values (``Literal``).
    """
    path, program = "tensorrt_llm/llmapi/llm_args.py", "tensorrt_llm/commands/serve.py"
    tree = ast.parse(source.text(path))
    found: dict[str, Place] = {}
    for node in ast.walk(ast.parse(source.text(program))):
        if isinstance(node, ast.FunctionDef) and node.name == "serve":
            for word in (each for option in node.decorator_list for each in ast.walk(option)):
                text = word.value if isinstance(word, ast.Constant) else None
                if isinstance(word, ast.Constant) and isinstance(text, str) and re.fullmatch(r"--[a-z_]+", text):
                    found[text] = source.place_at(program, word.lineno)
    for head, owners in _OPTIONS_OF_ENGINE.items():
        for field in _annotated_fields(tree, owners):
            assert isinstance(field.target, ast.Name)
            name = f"{head}.{field.target.id}" if head else field.target.id
            found[name] = source.place_at(path, field.lineno)
            for value in _literal_values(field.annotation):
                found[f"{name}={value}"] = source.place_at(path, field.lineno)
    return found


def _annotated_fields(tree: ast.Module, owners: tuple[str, ...]) -> list[ast.AnnAssign]:
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in owners)
    fields = (field for each in classes for field in each.body)
    return [field for field in fields if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)]


def _literal_values(annotation: ast.expr) -> list[str]:
    """The values that an annotation names: ``Optional[Literal["UCX", "NIXL"]]``."""
    literals = (
        node.slice
        for node in ast.walk(annotation)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Literal"
    )
    return [str(each.value) for node in literals for each in ast.walk(node) if isinstance(each, ast.Constant)]


def torchtitan(source: Source, names: set[str]) -> dict[str, Place]:
    """Fields of its configuration, and the names and parameters of its modules."""
    path = "torchtitan/config/configs.py"
    found = {f"training.{name}": place for name, place in source.fields(path, "TrainingConfig").items()}
    found |= {f"ParallelismConfig.{name}": place for name, place in source.fields(path, "ParallelismConfig").items()}
    fields = _fields_of_inner(source, "torchtitan/trainer.py", "Config")
    found |= {name: fields[name] for name in ("model_spec", "activation_checkpoint", "parallelism") if name in fields}
    for name in sorted(names):
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
                    found.setdefault(name, source.place_at(file, getattr(node, "lineno", 0)))
                if isinstance(node, ast.FunctionDef) and node.name == wanted == "model_registry":
                    for argument in (*node.args.args, *node.args.kwonlyargs):
                        found.setdefault(f"model_registry.{argument.arg}", source.place_at(file, argument.lineno))
                if isinstance(node, ast.ImportFrom) and wanted in aliases and node.level == 1:
                    held = f"{module.replace('.', '/')}/{node.module}.py"
                    found |= _fields_of_config(source, held, wanted)
    return found


def _fields_of_config(source: Source, path: str, owner: str) -> dict[str, Place]:
    """The annotated fields of the class ``Config`` inside a class, as ``OWNER.Config.name``."""
    classes = (
        inner
        for node in ast.parse(source.text(path)).body
        if isinstance(node, ast.ClassDef) and node.name == owner
        for inner in node.body
        if isinstance(inner, ast.ClassDef) and inner.name == "Config"
    )
    return {
        f"{owner}.Config.{field.target.id}": source.place_at(path, field.lineno)
        for each in classes
        for field in each.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }


def _fields_of_inner(source: Source, path: str, owner: str) -> dict[str, Place]:
    """The annotated fields of the classes of a name, at any depth."""
    return {
        field.target.id: source.place_at(path, field.lineno)
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

    def named_paths(source: Source, names: set[str]) -> dict[str, Place]:
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
                out[name] = source.place_at(path, line)
        return out

    return named_paths


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
