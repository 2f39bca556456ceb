"""Values of Helm charts that state a model and options of a serving engine, whatever the chart.

A mapping names the model (``modelName``, ``model: {id: …}``) and holds options: lists of arguments (``extraArgs``), or
keys such as ``gpuMemoryUtilization``. Its image, keys or options tell the engine. A chart that states no option at all
may name the model and an image of an engine. Templates, in other files, may add options. Two charts by name:
neuralmagic/helm-charts e0c03d0 (``apiServer.extraArgs``), and Wenhan-Tan/EKS_Multinode_Triton_TRTLLM
(``tensorrtLLM.parallelism``, ``gpuPerNode``, ``gpu``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import list_at, requested_accelerators
from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import PASSED_ON, Word
from clusterspec.exchange.workloads.keys import Keys, command_keys, positive_integer_of
from clusterspec.exchange.workloads.listed_commands import container_variables, with_variables
from clusterspec.exchange.workloads.value_references import MARK, with_references
from clusterspec.logs.statements.required_words import first_match
from clusterspec.records import replace
from clusterspec.source import mapping_of, value_at

Path = tuple[str | int, ...]
Place = tuple[dict[str, Any], Path]
"""A mapping and its path."""
DEEPEST = 8
MOST_MAPPINGS = 5_000
ACCELERATORS = "pod_accelerators"
"""The key of the accelerators that one pod requests."""
_MODELS = (
    *(
        "modelName",
        "modelId",
        "modelID",
        "modelRef",
        "model_name",
        "model_id",
        "modelReference",
        "modelRepo",
        "modelUri",
    ),
    *("modelURI", "modelURL", "modelUrl", "modelPath", "model_path", "hfModel", "hfModelId", "hfModelName"),
    *("huggingfaceModel", "huggingFaceModel", "repoId", "model", "storage"),
)
_INNER_MODELS = ("name", "id", "repository", "repo", "repoId", "hfId", "path", "model", "uri")
_MODEL = re.compile(r"(?:hf://)?[\w.-]{1,100}/[\w.-]{1,120}|/[\w./-]{2,200}")
_LISTS = (
    "extraArgs",
    "args",
    "vllmArgs",
    "engineArgs",
    "serverArgs",
    "extraVllmArgs",
    "extraArguments",
    "vllmExtraArgs",
    "serve_args",
)
_INSIDE = (
    "apiServer",
    "vllm",
    "sglang",
    "server",
    "engine",
    "config",
    "configuration",
    "vllmConfig",
    "engineConfig",
    "inference",
    "model",
    "runtime",
    *_LISTS,
)
"""Mappings next to the model that may contain its options."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OPTIONS = frozenset(
    {
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "data_parallel_size",
        "max_model_len",
        "gpu_memory_utilization",
        "max_num_seqs",
        "max_num_batched_tokens",
        "quantization",
        "kv_cache_dtype",
        "enable_expert_parallel",
        "enforce_eager",
        "enable_prefix_caching",
        "enable_chunked_prefill",
        "dtype",
        *("tp_size", "pp_size", "dp_size", "ep_size", "mem_fraction_static", "context_length", "max_running_requests"),
        *("chunked_prefill_size", "enable_dp_attention"),
    }
)
_DEGREES = {"tensor": "tensor_parallel_size", "pipeline": "pipeline_parallel_size", "data": "data_parallel_size"}
_OWN = frozenset({"gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens", "enable_expert_parallel"})
_OWN_OF_SGLANG = frozenset(
    {"mem_fraction_static", "chunked_prefill_size", "max_running_requests", "enable_dp_attention"}
)
"""Options that no other engine takes."""
_MARK = re.compile(
    r"--(?:gpu-memory-utilization|max-num-seqs|max-model-len|tensor-parallel-size|mem-fraction-static)\b"
    r"|(?:^[ \t]*|[{,][ \t]{0,8})(?:gpuMemoryUtilization|maxModelLen|tensorParallelSize|maxNumSeqs|maxNumBatchedTokens"
    r"|memFractionStatic|tpSize)[ \t]*:|^apiServer[ \t]*:|^tensorrtLLM[ \t]*:",
    re.MULTILINE,
)
_DASHED = re.compile(
    r"^[ \t]+(?:(?:tensor|pipeline)-parallel-size|gpu-memory-utilization|max-num-seqs|mem-fraction-static)[ \t]*:",
    re.MULTILINE,
)
"""Options of an engine as keys inside a mapping; those of its own configuration file are not inside one."""
_OF_CHART = re.compile(
    r"(?:^[ \t]*|[{,][ \t]{0,8})(?:pullPolicy|replicaCount|nodeSelector|tolerations|imagePullSecrets)[ \t]*:",
    re.MULTILINE,
)
"""Keys that values of charts usually have."""
_IMAGE = re.compile(
    r"(?:\S{0,200}/)?(?:[\w.-]{1,60}-)?(?P<engine>vllm|sglang)(?:-(?!router|exporter)[\w.-]{1,60})?(?:[:@]\S{0,200})?"
)
_IMAGE_LINE = re.compile(
    r"(?:^[ \t-]*|[{,][ \t]{0,8})(?:repository|image)[ \t]*:[ \t]*[\"']?\S{0,200}(?<![\w.])(?:vllm|sglang)(?![\w.])"
    r"|^[ \t]*engine[ \t]*:[ \t]*[\"']?(?:vllm|sglang)\b",
    re.MULTILINE,
)
_NAMES = re.compile(
    rf"(?:^[ \t-]*|[{{,][ \t]{{0,8}})(?:{'|'.join(_MODELS)})[ \t]*:|^gpuPerNode[ \t]*:"
    r"|(?:^[ \t]*-|[\[,])[ \t]{0,8}[\"']?--model\b|^[ \t-]*(?:key|name)[ \t]*:[ \t]*[\"']?(?:--)?model[\"']?[ \t]*$",
    re.MULTILINE,
)
_OTHER = re.compile(r"^(?:apiVersion|services|resources[ \t]*:[ \t]*\n[ \t]+(?:accelerators|gpu)[ \t]*:)", re.MULTILINE)
"""Objects of Kubernetes, services of Compose and tasks of SkyPilot and dstack, which have readers of their own."""


def states_chart_values(text: str) -> bool:
    """Whether a text has keys of a model and of an engine's options or image, as values of charts do."""
    engine = first_match(_MARK, text) or (
        first_match(_IMAGE_LINE, text) and (_OF_CHART.search(text) or _DASHED.search(text))
    )
    return bool(engine and _NAMES.search(text)) and not _OTHER.search(text)


def chart_engines(yaml: Yaml) -> Iterator[tuple[str, Keys]]:
    """The engines of the values of a chart, each with its options."""
    if isinstance(yaml.value, dict) and MARK in yaml.document.source.text:
        yaml = replace(yaml, value=with_references(yaml.value))
    if isinstance(value_at(yaml.value, "tensorrtLLM", "parallelism"), dict):
        yield "trt-llm", _triton_keys(yaml)
        return
    found = list(_engines_in(yaml, by_image=False)) or list(_engines_of_pairs(yaml))
    yield from found or _engines_in(yaml, by_image=True)


_PAIR = ("key", "name")


def _engines_of_pairs(yaml: Yaml) -> Iterator[tuple[str, Keys]]:
    """The engines of lists that name each option and its value (``- {key: max-num-seqs, value: 4}``)."""
    for listed, path in _lists_in(yaml.mapping, ()):
        keys = Keys(command=Command((Word(str(path[-1]), yaml.line(*path)), Word(PASSED_ON[0], 0))))
        for n, pair in enumerate(listed[:200]):
            name = next((str(pair[key]) for key in _PAIR if isinstance(mapping_of(pair).get(key), str)), "")
            if name and isinstance(mapping_of(pair).get("value"), str | int | float):
                keys.put(name.lstrip("-"), pair["value"], yaml.line(*path, n, "value"))
        if "model" in keys.values and (engine := _engine_name(keys, "", path, {}, by_image=False)):
            yield engine, keys


def _lists_in(value: dict[str, Any], path: Path) -> Iterator[tuple[list[Any], Path]]:
    """The lists in a mapping and in the mappings inside it, each with its path."""
    for key, held in value.items():
        if isinstance(held, list):
            yield held, (*path, key)
        elif isinstance(held, dict) and len(path) < DEEPEST:
            yield from _lists_in(held, (*path, key))


def _engines_in(yaml: Yaml, *, by_image: bool) -> Iterator[tuple[str, Keys]]:
    """The engines of mappings with a model and options; ``by_image``, those with a model whose image tells the
    engine.
    """
    waiting: list[tuple[tuple[Place, ...], str]] = [(((yaml.mapping, ()),), "")]
    for _ in range(MOST_MAPPINGS):
        if not waiting:
            return
        around, image = waiting.pop()
        value, path = around[-1]
        if value.get("enabled") is False:
            continue
        image = _image_name(value) or image
        keys = _engine_keys(yaml, around, bare=by_image)
        engine = _engine_name(keys, image, path, value, by_image=by_image) if keys else None
        if keys and engine:
            yield engine, keys
        elif len(path) < DEEPEST:
            waiting += [((*around, place), image) for place in _inner_mappings(value, path)][::-1]


def _inner_mappings(value: dict[str, Any], path: Path) -> Iterator[Place]:
    """The mappings inside a mapping, or in its lists."""
    for key, held in value.items():
        listed = [((*path, key, n), each) for n, each in enumerate(held)] if isinstance(held, list) else []
        for where, each in listed or [((*path, key), held)]:
            if isinstance(each, dict):
                yield each, where


def _image_name(value: dict[str, Any]) -> str:
    """The image of a mapping, a text or a repository with a tag."""
    image = value.get("image")
    return str(image.get("repository") or "") if isinstance(image, dict) else image if isinstance(image, str) else ""


def _engine_name(keys: Keys, image: str, path: Path, value: dict[str, Any], *, by_image: bool) -> str | None:
    """The engine that an image, a key or an option names; with ``by_image``, only an image or ``engine``; None if none
    does.
    """
    if by_image:
        match = _IMAGE.fullmatch(image)
        return match["engine"] if match else named if (named := value.get("engine")) in {"vllm", "sglang"} else None
    names = {*map(str, path), *value, str(value.get("engine"))}
    for engine, own in (("vllm", _OWN), ("sglang", _OWN_OF_SGLANG)):
        if engine in image or engine in names or own & keys.values.keys():
            return engine
    return "vllm" if "apiServer" in value else None  # the chart of nm-vllm


def _engine_keys(yaml: Yaml, around: tuple[Place, ...], *, bare: bool) -> Keys | None:
    """The options next to a model and in the mappings next to it; None if there is no model, or no option unless
    ``bare``.
    """
    value, path = around[-1]
    named = _model_and_place(value, path)
    line = yaml.line(*(named[1] if named else path))
    keys = Keys(command=Command((Word(str(path[-1] if path else "values"), line), Word(PASSED_ON[0], 0))))
    if named is None and not any("--model" in str(word) for name in _LISTS for word in list_at(value, name)[:200]):
        return None
    sets = {name: text for place in around for name, text in container_variables(yaml, *place).items()}
    for where, held in [(path, value), *(((*path, name), value.get(name)) for name in _INSIDE)]:
        if not isinstance(held, dict):
            continue
        for name in _LISTS:
            words = held.get(name)
            if isinstance(words, list) and any(str(word).startswith("--") for word in words[:200]):
                listed = tuple(
                    with_variables(Word(str(word), yaml.line(*where, name, n)), sets) for n, word in enumerate(words)
                )
                keys.values |= command_keys(Command(listed)).values
        for name, option in held.items():
            snake = _CAMEL.sub("_", str(name)).lower().replace("-", "_")
            if snake in _OPTIONS and isinstance(option, str | int | float) and option is not False and option != "":
                keys.put(snake, option, yaml.line(*where, name))
        for name, degree in mapping_of(held.get("parallelism")).items():
            if name in _DEGREES and isinstance(degree, int):
                keys.put(_DEGREES[name], degree, yaml.line(*where, "parallelism", name))
    if not keys.values and not (bare and named):
        return None
    if named is not None:
        keys.values.setdefault("model", (named[0], line))
    _put_resources(keys, around, yaml)
    return keys


def _model_and_place(value: dict[str, Any], path: Path) -> tuple[str, Path] | None:
    """The model that a mapping names, with its place."""
    for name in _MODELS:
        held = value.get(name)
        if isinstance(held, str) and _MODEL.fullmatch(held):
            return held.removeprefix("hf://"), (*path, name)
        for inner in _INNER_MODELS:
            stated = mapping_of(held).get(inner)
            if isinstance(stated, str) and _MODEL.fullmatch(stated):
                return stated.removeprefix("hf://"), (*path, name, inner)
    return None


_COUNTS = ("gpuCount", "numGPUs", "numGpus", "gpuNumber", "gpu_count", "num_gpus", "gpus", "gpu")
_OF_POD = ("count", "number", "num", "quantity")
_OF_DEVICES = {
    **dict.fromkeys(("gpu", "gpus", "accelerator", "accelerators"), _OF_POD),
    "resources": ("gpu", "gpus"),
}
"""Mappings that may count the accelerators of a pod, with the names of the count."""


def _counted_accelerators(value: dict[str, Any]) -> tuple[int, tuple[str, ...]] | None:
    """The accelerators of a pod that keys of a chart count, with the path of the count; None if none does.

    >>> _counted_accelerators({"gpu": {"enabled": True, "count": 2}}), _counted_accelerators({"gpuCount": "4"})
    ((2, ('gpu', 'count')), (4, ('gpuCount',)))
    >>> _counted_accelerators({"gpu": {"enabled": False, "count": 2}})
    """
    places: list[tuple[tuple[str, ...], Any]] = [((name,), value.get(name)) for name in _COUNTS]
    for name, own in _OF_DEVICES.items():
        inner = mapping_of(value.get(name))
        places += [((name, key), inner.get(key)) for key in own if inner.get("enabled") is not False]
    counts = ((count, path) for path, held in places if (count := positive_integer_of(held)) is not None)
    return next(counts, None)


def _put_resources(keys: Keys, around: tuple[Place, ...], yaml: Yaml) -> None:
    """Set the replicas, and the accelerators that a pod requests, from the mapping or else from the nearest mapping
    around it.
    """
    for value, path in reversed(around):
        if ACCELERATORS not in keys.values and (asked := requested_accelerators(value)):
            keys.put(ACCELERATORS, asked, yaml.line(*path, "resources"))
        if ACCELERATORS not in keys.values and (counted := _counted_accelerators(value)):
            keys.put(ACCELERATORS, counted[0], yaml.line(*path, *counted[1]))
        for name in ("replicaCount", "replicas"):
            copies = value.get(name)
            if "replicas" not in keys.values and isinstance(copies, int) and not isinstance(copies, bool):
                keys.put("replicas", copies, yaml.line(*path, name))


def _triton_keys(yaml: Yaml) -> Keys:
    """The degrees of the chart of Triton with TensorRT-LLM over several nodes."""
    keys = Keys(command=Command((Word("tensorrtLLM", yaml.line("tensorrtLLM")), Word(PASSED_ON[0], 0))))
    degrees = mapping_of(value_at(yaml.value, "tensorrtLLM", "parallelism"))
    for name, option in (("tensor", "tp_size"), ("pipeline", "pp_size")):
        if isinstance(mapping_of(degrees).get(name), int):
            keys.put(option, degrees[name], yaml.line("tensorrtLLM", "parallelism", name))
    for name, option in (("gpuPerNode", ACCELERATORS), ("gpu", "product")):
        if (held := yaml.mapping.get(name)) is not None and not isinstance(held, dict | list):
            keys.put(option, held, yaml.line(name))
    return keys
