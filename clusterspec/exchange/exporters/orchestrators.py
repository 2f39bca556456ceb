"""Serving designs as manifests of Kubernetes: a graph of NVIDIA Dynamo, and values of the chart of llm-d's engines.

Dynamo: the keys of ai-dynamo/dynamo, examples/backends/vllm/deploy/v1beta1/disagg-multinode.yaml and its like for
sglang, commit 04521f47, and of deploy/operator/api/v1beta1, dynamographdeployment_types.go (``backendFramework``) and
dynamocomponentdeployment_types.go (``type``, of which prefill and decode are values), read 2026-11-26; the options of
dynamo/vllm/backend_args.py, dynamo/common/constants.py and dynamo/frontend/frontend_args.py of ai-dynamo 1.6.1 on PyPI,
which requires vLLM 0.31.0 and SGLang 0.5.21. llm-d: llm-d-incubation/llm-d-modelservice 3051935e, charts/
llm-d-modelservice, values.yaml, values.schema.json and templates/_helpers.tpl (version 0.4.12), read 2026-11-27: the
chart writes the model, ``--port``, ``--tensor-parallel-size`` and ``--data-parallel-size`` before the arguments of a
container; its images are those of examples/values-pd.yaml. The guides of llm-d changed their base from Deployments to
a DisaggregatedSet in August 2026 (llm-d/llm-d, pull request 2379), which the chart does not depend on.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Iterator
from itertools import chain

from clusterspec.cost.parameters import model_weights
from clusterspec.exchange.exporters import sglang, vllm
from clusterspec.exchange.exporters.acceptance import EFA, efa_devices
from clusterspec.exchange.exporters.engines import (
    EngineKind,
    checked_release,
    engine_kinds,
    launches,
    repository_of,
    served_workload,
)
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, dns_label

DYNAMO = "1.6.1"
"""The release of Dynamo whose options are written."""
BACKENDS = {"vllm": ("0.31.0",), "sglang": ("0.5.21",)}
"""The engine releases that this release of Dynamo requires."""
IMAGE = f"nvcr.io/nvidia/ai-dynamo/{{}}-runtime:{DYNAMO}"
"""The image of an engine, for NVIDIA's accelerators alone (support matrix of docs.nvidia.com/dynamo, v1.3.0; one for
ROCm is in ai-dynamo/dynamo, pull request 12537, open on 2026-08-01)."""
RESOURCES = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu"}
"""The resource of an accelerator by vendor."""
SECRET = "hf-token-secret"
LLM_D_CHART = "0.4.12"
"""The version of the chart llm-d-modelservice whose values are written."""
LLM_D_IMAGE = "ghcr.io/llm-d/llm-d-cuda:latest"


def _stated_engine(source: ExportInput) -> str:
    """The engine that a serving design names. Raises `NotExportable` for training, and a design that names none."""
    if source.workload.kind != "serve" or source.workload.rl is not None:
        served_workload(source, next(iter(BACKENDS)))
    stated = source.design.spec.layout
    if source.layout.framework == "custom" and (stated is None or stated.framework is None):
        raise NotExportable(f"the spec names no engine: state layout.framework, one of {', '.join(BACKENDS)}")
    return source.layout.framework


def write_dynamo(source: ExportInput) -> ExportedFile:
    """A DynamoGraphDeployment. Raises `NotExportable` for engines and releases that Dynamo `DYNAMO` does not
    support.
    """
    framework = _stated_engine(source)
    if framework not in BACKENDS:
        raise NotExportable(f"engines of {framework}: options of {', '.join(BACKENDS)} under Dynamo were checked")
    served_workload(source, framework)
    release = checked_release(source, framework, BACKENDS[framework])
    omitted: list[str] = ["the secret `hf-token-secret`, volumes and probes of the cluster"]
    model = repository_of(source, omitted)
    lines = [
        f"# {source.name}: options of Dynamo {DYNAMO} with {framework} {release}",
        "apiVersion: nvidia.com/v1beta1",
        "kind: DynamoGraphDeployment",
        f"metadata: {{name: {dns_label(source.name, 1, 48)}}}",
        "spec:",
        f"  backendFramework: {framework}",
        "  components:",
    ]
    omitted += (vllm if framework == "vllm" else sglang).omitted_degrees(engine_kinds(source))
    omitted += omitted_nics(source, engine_kinds(source))
    frontend = ["--http-port", "8000"]
    lines += _component_lines(
        "Frontend", "frontend", 1, 1, _container_lines(IMAGE.format(framework), "dynamo.frontend", frontend, 0, "")
    )
    resource = _device_resource(source)
    image = IMAGE.format(framework) if resource == RESOURCES["nvidia"] else f"IMAGE-WITH-DYNAMO-AND-{framework.upper()}"
    if image.startswith("IMAGE"):
        omitted.append(f"the image of the workers: Dynamo's images run on NVIDIA's accelerators, not on {resource}")
    for kind in engine_kinds(source):
        first = next(launches(kind, source.cluster.ranks_per_node))
        if first.nodes > 1 and kind.layout.attention_dp > 1:
            raise NotExportable("attention replicas on several nodes: how Dynamo starts them was not checked")
        words, count = (
            _engine_words(source, kind, model, release, omitted),
            _accelerators_per_pod(source, kind, first.nodes),
        )
        container = _container_lines(image, f"dynamo.{framework}", words, count, resource)
        lines += _component_lines(kind.role or "worker", kind.role or "worker", kind.layout.dp, first.nodes, container)
    return ExportedFile("\n".join([*lines, ""]), tuple(dict.fromkeys(omitted)))


def omitted_nics(source: ExportInput, kinds: Iterable[EngineKind]) -> Iterator[str]:
    """A note on the NICs of engines that exchange caches or collectives with other pods, which the pods do not
    request.
    """
    per_node = source.cluster.ranks_per_node
    if any(kind.role or next(launches(kind, per_node)).nodes > 1 for kind in kinds):
        count = efa_devices(source.cluster)
        resource = f"{EFA}: {count} for a node" if count else "such as rdma/ib"
        yield f"the resources of NICs of the pods ({resource}), without which they exchange data by TCP"


def _engine_words(source: ExportInput, kind: EngineKind, model: str, release: str, omitted: list[str]) -> list[str]:
    """The arguments of a worker."""
    work = source.workload
    if source.layout.framework == "vllm":
        words = ["--model", model, *_option_words(vllm.engine_options(kind, work), vllm.limit_options(work, omitted))]
        return [*words, "--disaggregation-mode", kind.role] if kind.role else words
    batches = sglang.batch_options(kind.layout, work, release, omitted)
    precisions = sglang.precision_options(work, kind.layout.attention_dp, omitted)
    words = ["--model-path", model, *_option_words(sglang.engine_options(kind, work), batches, precisions)]
    return [*words, *_TRANSFER] if kind.role else words


_TRANSFER = ("--disaggregation-transfer-backend", "nixl", "--host", "0.0.0.0")
"""Options of an SGLang engine that sends or receives caches: the backend used in Dynamo's examples, which is not the
default of SGLang, and an address that other pods can reach (disagg-multinode.yaml; SGLang 0.5.21: the server of a
prefill engine to which decode engines connect listens on ``--host``).
"""


def _option_words(*options: Iterable[str]) -> list[str]:
    """The options as separate arguments, split as by a shell."""
    return [word for option in chain(*options) for word in shlex.split(option)]


def _accelerators_per_pod(source: ExportInput, kind: EngineKind, nodes: int) -> int:
    """Accelerators of one pod of an engine."""
    ranks = kind.layout.ranks // max(1, kind.layout.dp) // nodes
    return -(-ranks // source.cluster.ranks_per_accelerator)


def _device_resource(source: ExportInput) -> str:
    """The resource name used by the device plugin of the accelerators. Raises `NotExportable` for vendors
    without one.
    """
    vendor = (source.cluster.accelerator.vendor or "nvidia").lower()
    if vendor not in RESOURCES:
        raise NotExportable(f"accelerators of {source.cluster.accelerator.vendor}: their resource was not checked")
    return RESOURCES[vendor]


def _component_lines(name: str, kind: str, replicas: int, nodes: int, container: list[str]) -> list[str]:
    multinode = [f"    multinode: {{nodeCount: {nodes}}}"] if nodes > 1 else []
    head = [f"  - name: {name}", f"    type: {kind}", f"    replicas: {replicas}", *multinode]
    return [*head, "    podTemplate:", "      spec:", "        containers:", *container]


def _container_lines(image: str, module: str, words: list[str], accelerators: int, resource: str) -> list[str]:
    """The container of a component; a component without accelerators has no limits."""
    found = [
        "        - name: main",
        f"          image: {image}",
        f"          command: [python3, -m, {module}]",
        "          args:",
        *(f"          - {json.dumps(word)}" for word in words),
    ]
    if accelerators:
        found += ["          envFrom:", f"          - secretRef: {{name: {SECRET}}}"]
        found += ["          resources:", f'            limits: {{{resource}: "{accelerators}"}}']
    return found


# llm-d: values of the chart of its model servers


def write_llm_d(source: ExportInput) -> ExportedFile:
    """Values of the chart llm-d-modelservice: replicas, degrees, arguments and accelerators of each kind of engine.

    Raises `NotExportable` for engines on several nodes, whose launch by the chart was not checked.
    """
    if (framework := _stated_engine(source)) != "vllm":
        raise NotExportable(f"engines of {framework}: the chart's engines that were checked run vLLM")
    work, _ = served_workload(source, "vllm")
    release = checked_release(source, "vllm", vllm.RELEASES)
    omitted: list[str] = [
        "the router and the gateway of llm-d, which have charts of their own, and the secret",
        f"the vLLM of the image, which may be another release than {release}",
    ]
    omitted += [*vllm.omitted_degrees(engine_kinds(source)), *omitted_nics(source, engine_kinds(source))]
    model, resource = repository_of(source, omitted), _device_resource(source)
    vendor = next(name for name, each in RESOURCES.items() if each == resource)
    image = LLM_D_IMAGE if vendor == "nvidia" else "IMAGE-WITH-VLLM"
    if vendor != "nvidia":
        omitted.append(f"the image of the engines: the chart's example images run on NVIDIA's, not on {resource}")
    limits = _option_words(vllm.limit_options(work, omitted))
    kinds = engine_kinds(source)
    lines = [
        f"# {source.name}: values of the chart llm-d-modelservice {LLM_D_CHART}, options of vLLM {release}",
        "modelArtifacts:",
        f"  name: {json.dumps(model)}",
        f"  uri: {json.dumps(f'hf://{model}')}",
        f"  size: {_checkpoint_limit(source)}",
        f"  authSecretName: {SECRET}",
        f"accelerator: {{type: {vendor}}}",
    ]
    if not kinds[0].role:
        lines += ["routing: {proxy: {enabled: false}}", "prefill: {create: false}"]
    for kind in kinds:
        if next(launches(kind, source.cluster.ranks_per_node)).nodes > 1:
            raise NotExportable("engines on several nodes: how the chart starts them was not checked")
        words = _without_degrees([*_option_words(vllm.engine_options(kind, work)), *limits])
        lines += _chart_lines(kind, image, words, {resource: _accelerators_per_pod(source, kind, 1)})
    return ExportedFile("\n".join([*lines, ""]), tuple(dict.fromkeys(omitted)))


def _checkpoint_limit(source: ExportInput) -> str:
    """The size limit of the volume for a checkpoint: 16 bits per weight and a tenth more, in steps of 10 GiB."""
    needed = model_weights(source.workload.model).total * 2 * 1.1 / 2**30
    return f"{-(-math.ceil(needed) // 10) * 10}Gi"


_OF_CHART = ("--tensor-parallel-size", "--data-parallel-size")
"""Options that the chart writes from its values."""


def _without_degrees(words: list[str]) -> list[str]:
    """The arguments without the options that the chart writes and their values."""
    return [word for word, before in zip(words, ["", *words], strict=False) if not {word, before} & set(_OF_CHART)]


def _chart_lines(kind: EngineKind, image: str, words: list[str], asked: dict[str, int]) -> Iterator[str]:
    replicas, copies = kind.layout.dp, kind.layout.attention_dp
    yield f"{kind.role or 'decode'}:"
    yield "  create: true"
    yield f"  replicas: {replicas}"
    yield f"  parallelism: {{tensor: {kind.layout.tp}, data: {copies}, dataLocal: {copies}, workers: 1}}"
    yield "  containers:"
    yield "    - name: vllm"
    yield f"      image: {image}"
    yield "      modelCommand: vllmServe"
    yield "      mountModelVolume: true"
    yield "      args:"
    for word in words:
        yield f"        - {json.dumps(word)}"
    if kind.role:
        yield "      env:"
        yield "        - name: VLLM_NIXL_SIDE_CHANNEL_HOST"
        yield "          valueFrom: {fieldRef: {fieldPath: status.podIP}}"
    for part in ("limits", "requests"):
        if part == "limits":
            yield "      resources:"
        yield f"        {part}: {{{', '.join(f'{name}: {json.dumps(str(count))}' for name, count in asked.items())}}}"
