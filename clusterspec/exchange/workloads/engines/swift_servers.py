"""Engines that ms-swift starts: ``swift infer``, ``swift deploy`` and ``swift rollout`` with vLLM or SGLang.

Options: modelscope/ms-swift, its page Command-line-parameters (``--infer_backend`` is ``pt`` where absent, that of
``rollout`` is vLLM; options of an engine have its name before them, as ``vllm_tensor_parallel_size``); read 2026-11-26.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.keys import read_arguments
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.exchange.workloads.unused_keys import list_unused

SWIFT_SERVE = "swift-serve"
_LAUNCH = re.compile(r"(?<![\w./-])swift[ \t]+(?P<verb>infer|deploy|rollout)\b")
_TRAINS = re.compile(r"(?<![\w./-])(?:swift|megatron)[ \t]+(?:sft|pt|rlhf)\b")
_PROCESSES = re.compile(r"\bNPROC_PER_NODE=(\d{1,5})\b")
"""Processes of a launch, each of which has a separate engine."""
_MODEL = ("model", "model_id_or_path", "ckpt_dir")


def matches_swift_serve(file: InputFile) -> bool:
    """Whether a text starts an engine with ms-swift and trains nothing."""
    return bool(_LAUNCH.search(file.text)) and not _TRAINS.search(file.text)


def read_swift_serve(file: InputFile) -> ImportResult:
    """The engine of a launch. Raises `FormatError` without one of the catalog, `SeveralParts` for several launches."""
    keys, builder = read_arguments(file, _LAUNCH), ImportBuilder(SWIFT_SERVE, file.name)
    if not keys.values:
        raise NothingStarted("has no command of ms-swift that starts an engine")
    line, verb = keys.command.line, _LAUNCH.search(keys.command.text)
    backend = str(keys.get("infer_backend") or ("vllm" if verb and verb["verb"] == "rollout" else "pt"))
    if backend not in {"vllm", "sglang"}:
        raise FormatError(f"generates with the backend {excerpt(backend)} of ms-swift: no engine of the catalog", line)
    builder.set("workload.kind", "serve", line)
    builder.set("layout.framework", backend, keys.line("infer_backend") or line)
    model = None
    if isinstance(named := keys.get(*_MODEL), str):
        model = set_served_model(named, builder, keys.line(*_MODEL))
    keys.values = {name.removeprefix(f"{backend}_"): held for name, held in keys.values.items()}
    if (processes := _PROCESSES.search(file.uncommented)) and "data_parallel_size" not in keys.values:
        builder.set("layout.dp", int(processes[1]), file.line_of(_PROCESSES.pattern))
    set_engine_options(backend, keys, model, builder)
    list_unused(keys, builder)
    return builder.reading()
