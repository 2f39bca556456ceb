"""Graphs of NVIDIA Dynamo (DynamoGraphDeployment): engines of one kind, or for prefill and decode.

Fields: ai-dynamo/dynamo 00686d64, deploy/operator/api/v1alpha1/dynamocomponentdeployment_types.go (``services``:
``replicas``, ``resources`` of a pod, ``multinode.nodeCount``, whose accelerators are nodes × those of a pod), and
04521f47, examples/backends/vllm/deploy/v1beta1 (``components``). Options are those of the engine; ``dynamo.trtllm`` has
its own options (0a6a115c, components/src/dynamo/trtllm/backend_args.py); the file of ``--extra-engine-args`` replaces
them.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from clusterspec.exchange.documents import Yaml, read_documents, yaml_of_text
from clusterspec.exchange.import_result import (
    LIST,
    SENTENCE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.node_labels import set_labelled_accelerator
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.engines.engine_limits import set_block
from clusterspec.exchange.workloads.engines.engine_roles import set_roles
from clusterspec.exchange.workloads.engines.trtllm import set_options
from clusterspec.exchange.workloads.keys import Keys, command_keys, flat_leaves, positive_integer_of
from clusterspec.exchange.workloads.launch_commands import is_launch
from clusterspec.exchange.workloads.listed_commands import container_commands
from clusterspec.exchange.workloads.model_files.changed_models import change_overridden_model
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.source import Path, value_at
from clusterspec.units import plural

DYNAMO = "dynamo"
_GRAPH = re.compile(r"^kind[ \t]*:[ \t]*[\"']?DynamoGraphDeployment[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)
_WORKER = re.compile(r"\bdynamo\.(vllm|sglang|trtllm)\b(?!\.utils)")
_ENGINES = {"vllm": "vllm", "sglang": "sglang", "trtllm": "trt-llm"}
_ROLES = {"prefill": "prefill", "decode": "decode", "agg": "", "pd": "", "prefill_and_decode": "", "null": ""}
"""Modes of a worker: engines that do both have no role."""
_OWN = (
    "model",
    "model_path",
    "served_model_name",
    "m",
    "disaggregation_mode",
    "is_prefill_worker",
    "is_decode_worker",
    "request_plane",
    "extra_engine_args",
)
_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "gpu")


class _Worker(NamedTuple):
    """A component that starts an engine: ``replicas`` is None if it is not a count; ``accelerators`` are the
    accelerators of a pod.
    """

    name: str
    engine: str
    role: str
    keys: Keys
    replicas: int | None
    nodes: int
    accelerators: int | None
    line: int


def matches_dynamo(file: InputFile) -> bool:
    return bool(_GRAPH.search(file.text))


def read_dynamo(file: InputFile) -> ImportResult:
    """The engines of a graph. Raises `FormatError` if it has no engines, or roles that form no plan."""
    documents = read_documents(file)
    graphs = [yaml for yaml in documents if yaml.mapping.get("kind") == "DynamoGraphDeployment"]
    if not graphs:
        raise FormatError("holds no DynamoGraphDeployment")
    shown = ", ".join(excerpt(value_at(yaml.value, "metadata", "name")) for yaml in graphs)
    yaml = chosen_part(graphs, file.part, plural(len(graphs), "graph"), f"holds {len(graphs)} graphs: {shown}")
    started = (_worker(yaml, path, component, documents) for path, component in _components_with_paths(yaml))
    workers = [worker for worker in started if worker is not None]
    builder = ImportBuilder(DYNAMO, file.name)
    kept = _engines_of_plan(workers, builder)
    builder.set("workload.kind", "serve", kept[0].line)
    builder.set("layout.framework", _ENGINES[kept[0].engine], kept[0].line)
    model = _set_model(kept, builder)
    readings = [_stated_options(worker, model, file.name) for worker in kept]
    if len(kept) == 1:
        builder.given += [each for each in readings[0].given if each.path != ("layout", "dp")]
        builder.unknowns += readings[0].unknown
        copies = readings[0].value(("layout", "dp"))
        engines = kept[0].replicas and kept[0].replicas * (copies if isinstance(copies, int) else 1)
        builder.set("layout.dp", engines, kept[0].line)
    else:
        counts = {worker.role: (worker.replicas, worker.line) for worker in kept}
        set_roles(dict(zip((worker.role for worker in kept), readings, strict=True)), counts, builder)
    stated = {(each.name, each.value): each for reading in readings[::-1] for each in reading.counts}
    builder.counts += stated.values()
    _set_pods(kept, builder)
    set_labelled_accelerator(file, builder)
    return builder.reading()


def _components_with_paths(yaml: Yaml) -> list[tuple[Path, dict[str, Any]]]:
    """The components of a graph of either version, each with its path."""
    services, listed = value_at(yaml.value, "spec", "services"), value_at(yaml.value, "spec", "components")
    found: list[tuple[Path, Any]] = []
    if isinstance(services, dict):
        found = [(("spec", "services", name), each) for name, each in services.items()]
    elif isinstance(listed, list):
        found = [(("spec", "components", n), each) for n, each in enumerate(listed)]
    return [(path, each) for path, each in found if isinstance(each, dict)]


def _main_container(component: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The main container of a component, with its path in it."""
    main = value_at(component, "extraPodSpec", "mainContainer")
    if isinstance(main, dict):
        return ("extraPodSpec", "mainContainer"), main
    listed = value_at(component, "podTemplate", "spec", "containers")
    for n, each in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(each, dict) and each.get("name", "main") == "main":
            return ("podTemplate", "spec", "containers", n), each
    return (), {}


def _worker(yaml: Yaml, path: Path, component: dict[str, Any], documents: list[Yaml]) -> _Worker | None:
    """The engine that a component starts; None for the router and the planner, which start none."""
    inside, container = _main_container(component)
    commands = container_commands(yaml, container, (*path, *inside)) if container else ()
    started = ((each, found) for each in commands if (found := _WORKER.search(each.text)) and is_launch(each, _WORKER))
    command, match = next(started, (None, None))
    if command is None or match is None:
        return None
    engine, keys = match[1], command_keys(command)
    if engine == "trtllm":
        _put_options_of_file(keys, documents)
    stated, line = component.get("replicas", 1), yaml.line(*path)
    replicas = stated if isinstance(stated, int) and not isinstance(stated, bool) else None
    several = component.get("multinode")  # two nodes where it states no number
    nodes = (positive_integer_of(value_at(several, "nodeCount")) or 2) if isinstance(several, dict) else 1
    name = str(component.get("name") or path[-1])
    role = _engine_role(keys, component)
    return _Worker(name, engine, role, keys, replicas, nodes, _accelerators_of_pod(component, container), line)


def _engine_role(keys: Keys, component: dict[str, Any]) -> str:
    """The role of an engine by its options, or else by the kind of its component; empty if it does both."""
    mode = keys.get("disaggregation_mode")
    if mode is not None:
        return _ROLES.get(str(mode), str(mode))
    for role in ("prefill", "decode"):
        if keys.is_on(f"is_{role}_worker"):
            return role
    named = component.get("subComponentType") or component.get("type") or ""
    return str(named) if named in {"prefill", "decode"} else ""


def _accelerators_of_pod(component: dict[str, Any], container: dict[str, Any]) -> int | None:
    """The accelerators of a pod; a component states them itself, or its container does."""
    places = [("limits", name) for name in _RESOURCES] + [("requests", name) for name in _RESOURCES]
    stated = (
        positive_integer_of(value_at(each, "resources", *place)) for each in (component, container) for place in places
    )
    return next(filter(None, stated), None)


def _put_options_of_file(keys: Keys, documents: list[Yaml]) -> None:
    """Put the options of the file of ``--extra-engine-args``, if a ConfigMap of the same text holds it."""
    stated = str(keys.get("extra_engine_args") or "")
    name, line = stated.rpartition("/")[2], keys.line("extra_engine_args")
    for yaml in documents:
        text = value_at(yaml.value, "data", name) if stated and yaml.mapping.get("kind") == "ConfigMap" else None
        if isinstance(text, str):
            inner = yaml_of_text(name, text, yaml.line("data", name))
            for key, value, at in flat_leaves(inner.value, inner.line):
                keys.put(key, value, at)
            return
    if stated:
        keys.put("file_of_options", stated, line)


def _engines_of_plan(workers: list[_Worker], builder: ImportBuilder) -> list[_Worker]:
    """The engines of one plan: one kind that does both, or prefill and decode. Raises `FormatError` for others."""
    kept = []
    for worker in workers:
        if worker.replicas != 0 and worker.role in {"", "prefill", "decode"}:
            kept.append(worker)
            continue
        why = "no replicas" if worker.replicas == 0 else f"its role {worker.role} is not part of a serving plan"
        builder.unknown(excerpt(worker.name), why, worker.line)
    roles = [worker.role for worker in kept]
    if sorted(roles) == ["", "prefill"]:  # the other one alone can decode
        kept = [worker._replace(role=worker.role or "decode") for worker in kept]
    elif roles != [""] and sorted(roles) != ["decode", "prefill"]:
        shown = ", ".join(f"{worker.name} ({worker.role or 'both roles'})" for worker in kept[:8])
        why = "neither engines of one kind nor one kind each for prefill and decode"
        raise FormatError(f"starts {shown or 'no engine of vLLM, SGLang or TensorRT-LLM'}: {why}")
    if len({worker.engine for worker in kept}) > 1:
        raise FormatError("its engines are of several frameworks", kept[0].line)
    return sorted(kept, key=lambda worker: worker.role, reverse=True)


def _set_model(workers: list[_Worker], builder: ImportBuilder) -> str | None:
    """Set the model that all engines load, and return its id."""
    named = {str(worker.keys.get("model", "model_path")): worker for worker in workers}
    named.pop("None", None)
    if len(named) != 1:
        why = f"its engines load {', '.join(named)}" if named else "its engines name none"
        builder.unknown("workload.model", excerpt(why, SENTENCE), workers[0].line)
        return None
    (name, worker), quantized = next(iter(named.items())), any(each.keys.find("quantization") for each in workers)
    found = set_served_model(name, builder, worker.keys.line("model", "model_path"), quantized=quantized)
    change_overridden_model(name, worker.keys, builder)
    return found


def _stated_options(worker: _Worker, model: str | None, name: str) -> ImportResult:
    """The keys that the options of an engine state."""
    builder, keys = ImportBuilder(DYNAMO, name), worker.keys
    keys.used |= {each for each in _OWN if each in keys.values}
    if worker.engine != "trtllm":
        set_engine_options(_ENGINES[worker.engine], keys, model, builder)
        if worker.role:
            set_block(keys, builder)
    elif missing := keys.get("file_of_options"):
        why = "a file that this text does not hold: its degrees and limits override those of the command"
        builder.unknown(excerpt(f"extra-engine-args {missing}", LIST), why, keys.line("file_of_options"))
    elif keys.find("override_engine_args"):
        why = "its options override those of the command and the file"
        builder.unknown("override-engine-args", why, keys.line("override_engine_args"))
    else:
        if "moe_expert_parallel_size" not in keys.values and (own := keys.get("expert_parallel_size")) is not None:
            keys.put("moe_expert_parallel_size", own, keys.line("expert_parallel_size"))
        if "tensor_parallel_size" not in keys.values and not keys.has_elided_options:
            keys.put("tensor_parallel_size", 1, worker.line)  # the default of dynamo.trtllm
        set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_pods(workers: list[_Worker], builder: ImportBuilder) -> None:
    """Set the accelerators of a node and the nodes of all engines, taking a pod as a node."""
    asked = {worker.accelerators for worker in workers}
    if len(asked) == 1 and (count := next(iter(asked))):
        builder.set("cluster.accelerators_per_node", count, workers[0].line)
    elif asked == {None}:
        why = "no pod states its number: a claim (ResourceClaimTemplate) or the class of a node may"
        builder.unknown("cluster.accelerators_per_node", why, workers[0].line)
    elif asked:
        shown = ", ".join(f"{worker.name} {worker.accelerators or '?'}" for worker in workers)
        builder.unknown("cluster.accelerators_per_node", f"pods ask for different numbers: {shown}", workers[0].line)
    if all(worker.replicas for worker in workers):
        nodes = sum((worker.replicas or 0) * worker.nodes for worker in workers)
        builder.set("layout.nodes", nodes, workers[0].line)
    else:
        builder.unknown("layout.nodes", "the replicas of an engine are not a number", workers[0].line)
