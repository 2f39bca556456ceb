"""Serving designs as manifests of Kubernetes: a graph of NVIDIA Dynamo, and patches of the guides of llm-d.

Dynamo: the keys of ai-dynamo/dynamo, examples/backends/vllm/deploy/v1beta1/disagg-multinode.yaml and its like for
sglang, commit 04521f47, and of deploy/operator/api/v1beta1, dynamographdeployment_types.go (``backendFramework``) and
dynamocomponentdeployment_types.go (``type``, of which prefill and decode are values), read 2026-11-26; the options of
dynamo/vllm/backend_args.py, dynamo/common/constants.py and dynamo/frontend/frontend_args.py of ai-dynamo 1.6.1 on PyPI,
which requires vLLM 0.31.0 and SGLang 0.5.21. llm-d: llm-d/llm-d, guides/pd-disaggregation/modelserver/gpu/vllm/base,
patch-prefill.yaml (commit 04291b76) and patch-decode.yaml (commit 34272a64); the guides choose the image, with vLLM
0.23.0 on 2026-06-27 (zetxqx/llm-d 7edda66d, guides/pd-disaggregation). Since August 2026 guides are based on a
DisaggregatedSet instead (llm-d/llm-d, pull request 2379; 5e758d87, guides/pd-disaggregation), of which a patch by names
changes nothing.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from itertools import chain

from clusterspec.exchange.exporters import sglang, vllm
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
"""The release of each engine that it requires."""
IMAGE = f"nvcr.io/nvidia/ai-dynamo/{{}}-runtime:{DYNAMO}"
"""The image of an engine, for NVIDIA's accelerators alone (support matrix of docs.nvidia.com/dynamo, v1.3.0; one for
ROCm is in ai-dynamo/dynamo, pull request 12537, open on 2026-08-01)."""
RESOURCES = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu"}
"""The resource of an accelerator by vendor."""
SECRET = "hf-token-secret"
DECODE_PORT, SERVER_PORT = 8200, 8000
"""llm-d: the routing sidecar of a decode engine has the port of the service, the engine another."""


def write_dynamo(source: ExportInput) -> ExportedFile:
    """A DynamoGraphDeployment. Raises `NotExportable` for engines and releases that Dynamo `DYNAMO` does not take."""
    framework = source.layout.framework
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
    frontend = ["--http-port", "8000"]
    lines += _component_lines(
        "Frontend", "frontend", 1, 1, _container_lines(IMAGE.format(framework), "dynamo.frontend", frontend, 0, "")
    )
    resource = _device_resource(source)
    image = IMAGE.format(framework) if resource == RESOURCES["nvidia"] else f"IMAGE-WITH-DYNAMO-AND-{framework.upper()}"
    if image.startswith("IMAGE"):
        omitted.append(f"the image of the workers: those of Dynamo run on NVIDIA's, not on {resource}")
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


def _engine_words(source: ExportInput, kind: EngineKind, model: str, release: str, omitted: list[str]) -> list[str]:
    """The arguments of a worker."""
    work = source.workload
    if source.layout.framework == "vllm":
        words = ["--model", model, *_option_words(vllm.engine_options(kind, work), vllm.limit_options(work, omitted))]
        return [*words, "--disaggregation-mode", kind.role] if kind.role else words
    batches = sglang.batch_options(kind.layout, work, release)
    precisions = sglang.precision_options(work, kind.layout.attention_dp, omitted)
    words = ["--model-path", model, *_option_words(sglang.engine_options(kind, work), batches, precisions)]
    return [*words, *_TRANSFER] if kind.role else words


_TRANSFER = ("--disaggregation-transfer-backend", "nixl", "--host", "0.0.0.0")
"""Options of an engine of SGLang that sends or receives caches: the backend of Dynamo's examples, which is not the
default of SGLang, and an address that other pods reach (disagg-multinode.yaml; SGLang 0.5.21: the server of a prefill
engine that decode engines ask listens on ``--host``).
"""


def _option_words(*options: Iterable[str]) -> list[str]:
    """The arguments of options, as a shell splits them."""
    return [word for option in chain(*options) for word in shlex.split(option)]


def _accelerators_per_pod(source: ExportInput, kind: EngineKind, nodes: int) -> int:
    """Accelerators of one pod of an engine."""
    ranks = kind.layout.ranks // max(1, kind.layout.dp) // nodes
    return -(-ranks // source.cluster.ranks_per_accelerator)


def _device_resource(source: ExportInput) -> str:
    """The resource that the device plugin of the accelerators has. Raises `NotExportable` for vendors without one."""
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


# llm-d: patches over the model servers of its guides


def write_llm_d(source: ExportInput) -> ExportedFile:
    """Patches of the Deployments of a guide of llm-d: replicas, arguments and accelerators.

    Raises `NotExportable` for engines on several nodes, which are no Deployments.
    """
    if source.layout.framework != "vllm":
        raise NotExportable(f"engines of {source.layout.framework}: the guides that were checked run vLLM")
    work, _ = served_workload(source, "vllm")
    release = checked_release(source, "vllm", vllm.RELEASES)
    omitted: list[str] = [
        "the base of the guide that the patches change, its router, secret and volumes",
        "a DisaggregatedSet, on which guides are based since August 2026: the patches are for Deployments",
        f"the image of the guide, whose vLLM may be another release than {release}",
    ]
    omitted += vllm.omitted_degrees(engine_kinds(source))
    model, resource = repository_of(source, omitted), _device_resource(source)
    limits = _option_words(vllm.limit_options(work, omitted))
    parts = []
    for kind in engine_kinds(source):
        first = next(launches(kind, source.cluster.ranks_per_node))
        if first.nodes > 1:
            raise NotExportable("engines on several nodes: the Deployments of the guides have one pod for each engine")
        port = DECODE_PORT if kind.role == "decode" else SERVER_PORT
        args = [model, *_option_words(vllm.engine_options(kind, work)), *limits, "--port", str(port)]
        accelerators = _accelerators_per_pod(source, kind, 1)
        parts.append("\n".join(_patch_lines(kind, args, accelerators, resource)))
    head = f"# {source.name}: patches of llm-d, options of vLLM {release}\n"
    return ExportedFile(head + "\n---\n".join(parts) + "\n", tuple(dict.fromkeys(omitted)))


def _patch_lines(kind: EngineKind, args: list[str], accelerators: int, resource: str) -> Iterator[str]:
    yield "apiVersion: apps/v1"
    yield "kind: Deployment"
    yield f"metadata: {{name: {kind.role or 'decode'}}}"
    yield "spec:"
    yield f"  replicas: {kind.layout.dp}"
    yield "  template:"
    yield "    spec:"
    yield "      containers:"
    yield "        - name: modelserver"
    yield "          command: [vllm, serve]"
    yield "          args:"
    for word in args:
        yield f"            - {json.dumps(word)}"
    if kind.role:
        yield "          env:"
        yield "            - name: VLLM_NIXL_SIDE_CHANNEL_HOST"
        yield "              valueFrom: {fieldRef: {fieldPath: status.podIP}}"
    yield "          resources:"
    yield f'            limits: {{{resource}: "{accelerators}"}}'
    yield f'            requests: {{{resource}: "{accelerators}"}}'
