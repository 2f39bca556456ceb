"""Engines of the vLLM production stack: values of its chart, and objects (VLLMRuntime) of its operator.

Names: vllm-project/production-stack, helm/templates/deployment-vllm-multi.yaml, and operator/api/v1alpha1,
vllmruntime_types.go (zerofishnoodles/production-stack 8a0cb98b): ``model``, ``vllmConfig`` and ``deploymentConfig``,
whose keys earlier objects have in ``spec`` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.workloads.engines.chart_values import ACCELERATORS
from clusterspec.exchange.workloads.engines.declared_options import Path, put_all, put_words, started_keys
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.source import value_at

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OPTIONS = frozenset(
    {
        *("enableChunkedPrefill", "enablePrefixCaching", "tensorParallelSize", "gpuMemoryUtilization", "maxLoras"),
        *("maxModelLen", "dtype", "maxNumSeqs", "maxNumBatchedTokens", "pipelineParallelSize"),
    }
)
"""Keys of a runtime that are options of ``vllm serve``."""


def engines_of_values(yaml: Yaml) -> Iterator[Keys]:
    """The models of values of the chart."""
    for n, model in enumerate(yaml.value["servingEngineSpec"]["modelSpec"]):
        path: Path = ("servingEngineSpec", "modelSpec", n)
        if not isinstance(model, dict):
            continue
        keys = started_keys("modelSpec", yaml.line(*path))
        put_all(keys, model, {"modelURL": "model", "replicaCount": "replicas", "requestGPU": ACCELERATORS}, yaml, path)
        options = model.get("vllmConfig")
        for name, value in options.items() if isinstance(options, dict) else ():
            line = yaml.line(*path, "vllmConfig", name)
            if name == "extraArgs":
                put_words(keys, value, yaml, (*path, "vllmConfig", "extraArgs"))
            elif value is not False and not isinstance(value, dict | list):
                keys.put(_CAMEL.sub("_", str(name)).lower(), value, line)
        yield keys


def engines_of_runtime(yaml: Yaml) -> Iterator[Keys]:
    """The engine of a VLLMRuntime, where it names a model."""
    model: Any = value_at(yaml.value, "spec", "model")
    if not isinstance(model, dict) or not isinstance(model.get("modelURL"), str):
        return
    keys = started_keys("VLLMRuntime", yaml.line("spec"))
    put_all(keys, model, {"modelURL": "model"}, yaml, ("spec", "model"))
    places: tuple[Path, ...] = (("spec",), ("spec", "model"), ("spec", "vllmConfig"), ("spec", "deploymentConfig"))
    for path in places:
        value = value_at(yaml.value, *path)
        for name in value if isinstance(value, dict) else ():
            if name in _OPTIONS and value[name] is not False:
                put_all(keys, value, {name: _CAMEL.sub("_", name).lower()}, yaml, path)
        put_all(keys, value, {"replicas": "replicas"}, yaml, path)
        put_all(keys, value_at(value, "resources"), {"gpu": ACCELERATORS}, yaml, (*path, "resources"))
        put_words(keys, value_at(value, "extraArgs"), yaml, (*path, "extraArgs"))
    yield keys
