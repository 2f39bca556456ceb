"""Services of NVIDIA NIM: ``NIMService`` of the NIM operator, with the ``NIMCache`` that it names, and containers.

Names: NVIDIA/k8s-nim-operator f63f74d7, api/apps/v1alpha1 (``nimservice_types.go``, ``nimcache_types.go``): a service
of several nodes has one pipeline stage on each (``NIM_NUM_COMPUTE_NODES``). Where neither states an engine, NIM chooses
a profile by the accelerators that it finds.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, chosen_part
from clusterspec.exchange.workloads.engines.nim_images import VARIABLES, image_model, nim_containers, runs_nim
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.source import value_at
from clusterspec.units import plural

NIM = "nim"
_MARK = re.compile(r"^kind[ \t]*:[ \t]*[\"']?NIM(?:Service|Cache)\b", re.MULTILINE)
_ENGINES = {"tensorrt_llm": "trt-llm", "trtllm": "trt-llm", "vllm": "vllm", "sglang": "sglang"}
_PRECISIONS = {name: name for name in ("bf16", "fp16", "fp8", "nvfp4", "mxfp4", "int8")}


def matches_nim(file: InputFile) -> bool:
    return bool(_MARK.search(file.text)) or runs_nim(file)


def read_nim(file: InputFile) -> ImportResult:
    """The model, engine and degrees of a service. Raises `FormatError` if there is none, `SeveralParts` for several."""
    if not _MARK.search(file.text):
        return _read_containers(file)
    documents = [each for each in read_documents(file) if isinstance(each.value, dict)]
    caches = {str(value_at(each.value, "metadata", "name")): each for each in documents if _kind_of(each) == "NIMCache"}
    services = [each for each in documents if _kind_of(each) == "NIMService"]
    if not services:
        raise FormatError("holds no NIMService")
    lines = ", ".join(str(each.line("spec")) for each in services)
    counted = plural(len(services), "service")
    service = chosen_part(services, file.part, counted, f"holds {counted}, on lines {lines}")
    keys, builder = Keys(), ImportBuilder(NIM, file.name)
    cache = caches.get(str(value_at(service.value, "spec", "storage", "nimCache", "name")))
    if cache is not None:
        _put_cache(cache, keys)
    _put_service(service, keys)
    return _reading_of(keys, builder, service.line("spec"))


def _read_containers(file: InputFile) -> ImportResult:
    """The container of a language model. Raises `FormatError` if there is none, `SeveralParts` for several."""
    found = nim_containers(file)
    if not found:
        raise FormatError("holds no NIMService, and no container of NIM for a known model or with degrees")
    counted = plural(len(found), "container")
    lines = ", ".join(str(keys.line("image")) for keys in found[:12])
    keys = chosen_part(found, file.part, counted, f"holds {counted} of NIM, on lines {lines}")
    return _reading_of(keys, ImportBuilder(NIM, file.name), keys.line("image"))


def _reading_of(keys: Keys, builder: ImportBuilder, line: int) -> ImportResult:
    """What the keys of a service state."""
    builder.set("workload.kind", "serve", line)
    if isinstance(named := keys.get("model"), str):
        set_model(named.removeprefix("hf://"), builder, keys.line("model"))
    if keys.find("engine"):
        set_choice(keys, "layout.framework", ("engine",), _ENGINES, builder)
    else:
        why = "not stated: NIM chooses a profile by the accelerators that it finds"
        builder.unknown("layout.framework", why, line)
    set_counts(keys, {"layout.tp": ("tensor",), "layout.pp": ("pipeline",)}, builder)
    if keys.find("precision"):
        set_choice(keys, "workload.parameter_precision", ("precision",), _PRECISIONS, builder)
    for name in ("replicas", "accelerators", "max_model_len"):
        builder.count(name, keys.integer(name), keys.line(name))
    return builder.reading()


def _kind_of(yaml: Yaml) -> str:
    return str(yaml.value.get("kind"))


def _set_from_path(keys: Keys, name: str, yaml: Yaml, *path: str) -> None:
    """Set the key ``name`` to the value at a path, if there is one."""
    value = value_at(yaml.value, *path)
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        keys.put(name, value, yaml.line(*path))


def _put_cache(yaml: Yaml, keys: Keys) -> None:
    source = ("spec", "source")
    if model := image_model(value_at(yaml.value, *source, "ngc", "modelPuller")):
        keys.put("model", model, yaml.line(*source, "ngc", "modelPuller"))
    _set_from_path(keys, "model", yaml, *source, "hf", "modelName")
    chosen = (*source, "ngc", "model")
    for name, key in (("engine", "engine"), ("precision", "precision"), ("tensorParallelism", "tensor")):
        _set_from_path(keys, key, yaml, *chosen, name)


def _put_service(yaml: Yaml, keys: Keys) -> None:
    if model := image_model(value_at(yaml.value, "spec", "image", "repository")):
        keys.put("model", model, yaml.line("spec", "image", "repository"))
    profile = value_at(yaml.value, "spec", "storage", "nimCache", "profile")
    if str(profile) in _ENGINES:
        keys.put("engine", profile, yaml.line("spec", "storage", "nimCache", "profile"))
    variables = value_at(yaml.value, "spec", "env")
    for n, variable in enumerate(variables if isinstance(variables, list) else []):
        name, value = str(value_at(variable, "name")), value_at(variable, "value")
        if name in VARIABLES and value is not None:
            keys.put(VARIABLES[name], value, yaml.line("spec", "env", n))
        elif name == "NIM_USE_SGLANG" and str(value) == "1":
            keys.put("engine", "sglang", yaml.line("spec", "env", n))
    for name in ("tensor", "pipeline"):
        _set_from_path(keys, name, yaml, "spec", "multiNode", "parallelism", name)
    _set_from_path(keys, "replicas", yaml, "spec", "replicas")
    _set_from_path(keys, "accelerators", yaml, "spec", "resources", "limits", "nvidia.com/gpu")
