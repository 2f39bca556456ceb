"""Flags and keys that exporters write, against the sources of their targets: ``python -m tools.export_targets DIR``.

``DIR`` holds clones of Megatron-LM and MaxText (``OWNER+NAME`` or ``OWNER/NAME``, or either with a folder ``repo``).
The sources are parsed, not run. Exit status 1 where an exporter writes what its target does not have.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path

from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.exchange.exporters.maxtext import MODELS as MAXTEXT_MODELS
from clusterspec.exchange.exporters.registry import ExportInput, NotExportable, exporter_of
from clusterspec.studies.study import Settings, study_text

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
MEGATRON = (
    "megatron/core/transformer/transformer_config.py",
    "megatron/core/model_parallel_config.py",
    "megatron/training/config/common_config.py",
    "megatron/training/config/training_config.py",
)
"""Files with data classes whose fields are flags."""


def source_text(clones: Path, repository: str, path: str) -> str:
    """A file of the newest commit of a clone. Raises `FileNotFoundError` if there is no clone."""
    names = (repository.replace("/", "+"), repository)
    for folder in (clones / name / inner for name in names for inner in ("repo", "")):
        if folder.is_dir():
            words = ["git", "-C", str(folder), "show", f"HEAD:{path}"]
            return subprocess.run(words, capture_output=True, check=True, text=True).stdout
    raise FileNotFoundError(f"no clone of {repository} in {clones}")


def megatron_flags(clones: Path) -> set[str]:
    """The flags of Megatron-LM: those it adds, and those of the fields of its data classes."""
    flags = set()
    tree = ast.parse(source_text(clones, "NVIDIA/Megatron-LM", "megatron/training/arguments.py"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            flags |= {arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
    for path in MEGATRON:
        for node in ast.walk(ast.parse(source_text(clones, "NVIDIA/Megatron-LM", path))):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                flags.add(f"--{node.target.id.replace('_', '-')}")
                flags |= set(re.findall(r"'(--[a-z0-9-]+)'", ast.unparse(node)))
    return flags


def maxtext_keys(clones: Path) -> tuple[set[str], set[str]]:
    """The keys of MaxText and the names of its models."""
    base = source_text(clones, "AI-Hypercomputer/maxtext", "src/maxtext/configs/base.yml")
    types = source_text(clones, "AI-Hypercomputer/maxtext", "src/maxtext/configs/types.py")
    listed = types.split("ModelName = Literal[")[1].split("]")[0]
    return set(re.findall(r"^(\w+):", base, re.MULTILINE)), set(re.findall(r'"([^"]+)"', listed))


def written(kind: str) -> Iterator[str]:
    """What an exporter writes of all models, layouts and precisions that it takes."""
    settings = Settings(Catalog.open(), Config(), date(2026, 11, 20))
    for model, layout, precision in product(MODELS, LAYOUTS, ("bf16", "fp8")):
        work = f"model: {model}, sequence_length: 4096, global_batch: 512, precision: {precision}"
        text = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 64}}\nworkload: {{{work}}}\nlayout: {layout}\n"
        try:
            yield str(exporter_of(kind).write(ExportInput(study_text(text, settings).design)).content)
        except NotExportable:
            continue


def main() -> int:
    clones = Path(sys.argv[1])
    flags = {flag for text in written("megatron") for flag in re.findall(r"(?<!\S)(--[a-z][a-z0-9_-]+)", text)}
    flags -= {"--nnodes", "--nproc_per_node", "--rdzv-backend", "--rdzv-endpoint"}  # those of torchrun
    keys = {key for text in written("maxtext") for key in re.findall(r"^(\w+):", text, re.MULTILINE)}
    known_keys, known_models = maxtext_keys(clones)
    missing = {
        f"{len(flags)} flags of Megatron-LM": flags - megatron_flags(clones),
        f"{len(keys)} keys of MaxText": keys - known_keys,
        f"{len(MAXTEXT_MODELS)} models of MaxText": set(MAXTEXT_MODELS.values()) - known_models,
    }
    for name, unknown in missing.items():
        print(f"{name}: {', '.join(sorted(unknown)) + ' do not exist' if unknown else 'all exist'}")
    return 1 if any(missing.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
