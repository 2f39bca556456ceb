"""Runtimes of engines, and objects that name a machine: KServe and OME, KAITO, and the operator of SageMaker HyperPod.

Fields: kserve/kserve, v1alpha1 ServingRuntime; sgl-project/ome, v1beta1; ``Workspace`` and ``InferenceSet`` of
kaito-project/kaito (api/v1beta1/workspace_types.go: ``resource.instanceType``, ``resource.count``,
``inference.preset.name``; the latter holds them in ``spec.template``);
``InferenceEndpointConfig`` of aws/sagemaker-hyperpod-cli (helm_chart/HyperPodHelmChart/charts/inference-operator,
config/crd: ``instanceType``, ``replicas``, ``worker``), read 2026-11-26.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml, yaml_of_text
from clusterspec.exchange.fabrics.pods import Path, Pods, list_at, record_pods, template_pods
from clusterspec.exchange.import_result import LIST, FormatError, ImportBuilder, excerpt
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.keys import Keys, positive_integer_of
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.source import mapping_of, value_at

RUNTIMES_OF_ENGINES = frozenset({"ServingRuntime", "ClusterServingRuntime"})


def record_serving_runtime(yaml: Yaml, builder: ImportBuilder) -> None:
    """The pods of one engine in a runtime of KServe (``containers``) or OME (``engineConfig``)."""
    record_pods(pods_of_runtime(yaml), builder, yaml.line("spec"))


def pods_of_runtime(yaml: Yaml) -> list[Pods]:
    """The pods of one engine: a single pod, or a leader and workers, whose number KServe derives from degrees."""
    spec = mapping_of(yaml.mapping.get("spec"))
    engine, base = mapping_of(spec.get("engineConfig")), ("spec", "engineConfig")
    if not engine:
        pod, workers = template_pods(yaml, ("spec",), {"spec": spec}, 1, "pod"), {"spec": spec.get("workerSpec")}
        if workers["spec"] is None:
            return [pod]
        return [pod, template_pods(yaml, ("spec", "workerSpec"), workers, "no count", "worker")]
    roles: list[tuple[str, dict[str, Any], Path]] = [("pod", engine, base)]
    if "leader" in engine:
        roles = [(role, mapping_of(engine.get(role)), (*base, role)) for role in ("leader", "worker")]
    return [
        template_pods(yaml, path, {"spec": {"containers": [value_at(stated, "runner")]}}, stated.get("size"), role)
        for role, stated, path in roles
    ]


def _set_platform(instance: Any, cloud: str, builder: ImportBuilder, line: int) -> None:
    """Set the machine by the instance type, or list the type as unknown. Raises `FormatError` if the object
    names none.
    """
    if not isinstance(instance, str) or not instance:
        raise FormatError("an object without the type of its machines", line)
    found = match_instance(instance.removeprefix("ml."), cloud, Catalog.open().ids("platform"))
    builder.set("cluster.platform", found, line)
    if found is None:
        builder.unknown(f"instance {excerpt(instance)}", "no catalog entry of this name", line)


_PREDICTOR: Path = ("spec", "predictor")


def pod_of_predictor(yaml: Yaml) -> Pods:
    """One pod of an InferenceService: the containers of its predictor, or the one of its server or model format, whose
    fields are those of a container (kserve/kserve, v1beta1, ``PredictorSpec`` and ``ModelSpec``).
    """
    stated = mapping_of(value_at(yaml.value, *_PREDICTOR))
    own = [each for each in stated.values() if isinstance(each, dict) and "resources" in each]
    containers = [*list_at(stated, "containers"), *own]
    return template_pods(yaml, _PREDICTOR, {"spec": {**stated, "containers": containers}}, 1, "pod")


def record_inference_service(yaml: Yaml, builder: ImportBuilder) -> None:
    """The pod of a predictor that starts no known engine; ``minReplicas`` are separate pods."""
    record_pods([pod_of_predictor(yaml)], builder, yaml.line(*_PREDICTOR))
    path = (*_PREDICTOR, "minReplicas")
    builder.count("replicas", positive_integer_of(value_at(yaml.value, *path)), yaml.line(*path))
    if "workerSpec" in mapping_of(value_at(yaml.value, *_PREDICTOR)):
        builder.unknown("workerSpec", "more nodes of the predictor: not read", yaml.line(*_PREDICTOR, "workerSpec"))
    builder.unknown("the server of the predictor", "no engine that a reader knows", yaml.line(*_PREDICTOR))


def record_workspace(yaml: Yaml, builder: ImportBuilder, documents: Sequence[Yaml] = ()) -> None:
    """The machine and the model of a KAITO Workspace, which serves or tunes a preset, or of an InferenceSet, which
    consists of equal Workspaces. ``documents`` may contain settings of the engine.
    """
    base: Path = ("spec", "template") if yaml.mapping.get("kind") == "InferenceSet" else ()
    stated, path = value_at(yaml.value, *base), (*base, "resource")
    _set_platform(value_at(stated, "resource", "instanceType"), "azure", builder, yaml.line(*path, "instanceType"))
    if (count := positive_integer_of(value_at(stated, "resource", "count"))) is not None:
        builder.set("cluster.nodes", count, yaml.line(*path, "count"))
    else:
        builder.unknown("cluster.nodes", "the object does not state how many nodes it needs", yaml.line(*path))
    builder.count(
        "replicas", positive_integer_of(value_at(yaml.value, "spec", "replicas")), yaml.line("spec", "replicas")
    )
    served, tuned = (value_at(stated, part, "preset", "name") for part in ("inference", "tuning"))
    path = (*base, "inference")
    if isinstance(served, str):
        builder.set("workload.kind", "serve", yaml.line(*path))
        model = set_model(served, builder, yaml.line(*path, "preset", "name"))
        if isinstance(config := value_at(stated, "inference", "config"), str):
            _set_settings(config, model, documents, builder, yaml.line(*path, "config"))
    elif isinstance(tuned, str):
        builder.unknown(f"tuning of {excerpt(tuned)}", "a ConfigMap of KAITO states how it trains", yaml.line("tuning"))


def _set_settings(config: str, model: str | None, documents: Sequence[Yaml], builder: ImportBuilder, line: int) -> None:
    """Set the engine settings from the ConfigMap of a Workspace (website/docs/inference.md, kaito 056b8280)."""
    path = ("data", "inference_config.yaml")
    named = (each for each in documents if value_at(each.value, "metadata", "name") == config)
    held = next((each for each in named if isinstance(value_at(each.value, *path), str)), None)
    if held is None:
        builder.unknown(f"settings {excerpt(config)}", "a ConfigMap that is not in this text: import it as well", line)
        return
    inner = yaml_of_text("inference_config.yaml", value_at(held.value, *path), held.line(*path))
    keys = Keys(command=Command((Word("vllm", inner.line("vllm")),)))
    for name, value in mapping_of(inner.mapping.get("vllm")).items():
        if value is not False and value is not None and not isinstance(value, dict | list):
            keys.put(str(name).replace("-", "_"), value, inner.line("vllm", name))
    if keys.values:
        builder.set("layout.framework", "vllm", inner.line("vllm"))
        set_engine_options("vllm", keys, model, builder)
        list_unused(keys, builder)


def record_endpoint(yaml: Yaml, builder: ImportBuilder) -> None:
    """The machine of an endpoint of HyperPod's inference operator; ``replicas`` are separate pods."""
    path = ("spec", "instanceType")
    _set_platform(value_at(yaml.value, *path), "aws", builder, yaml.line(*path))
    builder.count(
        "replicas", positive_integer_of(value_at(yaml.value, "spec", "replicas")), yaml.line("spec", "replicas")
    )
    named = value_at(yaml.value, "spec", "modelName")
    if isinstance(named, str) and builder.reading().value(("workload", "model")) is None:
        builder.unknown(
            f"model name {excerpt(named, LIST)}",
            "a name of the endpoint, not of a checkpoint",
            yaml.line("spec", "modelName"),
        )
