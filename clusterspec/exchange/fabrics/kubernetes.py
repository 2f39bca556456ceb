"""Objects of Kubernetes: Kueue ``Topology``, and jobs whose pods request accelerators (``other_objects`` has the rest).

Fields: MPIJob and PyTorchJob of Kubeflow (kubeflow/mpi-operator, kubeflow/trainer), JobSet (kubernetes-sigs/jobset,
api/jobset/v1alpha2), RayCluster, RayJob and RayService (ray-project/kuberay), LeaderWorkerSet (kubernetes-sigs/lws),
TrainJob and its runtimes (kubeflow/trainer, v1alpha1), Job of ``batch/v1`` and of Volcano, Deployment and StatefulSet
of ``apps/v1``, single pods, and runtimes of engines and objects that name a machine (`serving_runtimes`). A pod that
requests accelerators counts as a node. Nodes themselves are read by `cluster_nodes`.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.fabrics.cluster_nodes import nodes_in, record_nodes
from clusterspec.exchange.fabrics.disaggregated_sets import record_disaggregated_set
from clusterspec.exchange.fabrics.grove import (
    asks_for_accelerators,
    covers_accelerators,
    record_cluster_queue,
    record_pod_clique_set,
)
from clusterspec.exchange.fabrics.mpi_launcher import record_command, record_ranks
from clusterspec.exchange.fabrics.node_pools import has_known_machine, record_pool
from clusterspec.exchange.fabrics.other_objects import list_scaling, record_other_object, requests_accelerators
from clusterspec.exchange.fabrics.pods import (
    NO_COUNT,
    Path,
    containers_of,
    count_product,
    pod_count,
    record_copies,
    record_pods,
    requested_accelerators,
    requested_resources,
    requests_only_processors,
    template_pods,
    volcano_pods,
)
from clusterspec.exchange.fabrics.ray_clusters import (
    record_ray_cluster,
    record_ray_fleet,
    record_ray_job,
    record_ray_service,
)
from clusterspec.exchange.fabrics.serving_runtimes import (
    RUNTIMES_OF_ENGINES,
    pod_of_predictor,
    pods_of_runtime,
    record_endpoint,
    record_inference_service,
    record_serving_runtime,
    record_workspace,
)
from clusterspec.exchange.fabrics.training_runtimes import (
    RUNTIMES,
    record_train_job,
    record_training_runtime,
    referred_runtime,
    without_referred_runtimes,
)
from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    SeveralParts,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.node_labels import count_node_type, set_labelled_accelerator
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.exchange.workloads.engines.command_lines import matches_serving
from clusterspec.exchange.workloads.engines.dynamo import matches_dynamo
from clusterspec.exchange.workloads.engines.hosted_servers import matches_hosted_server
from clusterspec.exchange.workloads.engines.nim import matches_nim
from clusterspec.exchange.workloads.engines.tgi import matches_tgi
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import mapping_of, value_at
from clusterspec.units import plural

KUBERNETES = "kubernetes"
_NETWORKS = ("rdma/ib", "vpc.amazonaws.com/efa", "rdma/hca", "nvidia.com/hostdev", "networking.gke.io.networks")
_KIND_LINE = re.compile(r"^kind\s*:\s*[\"']?(\w{1,60})", re.MULTILINE)
_MACHINE_KINDS = {"Topology", "ClusterQueue"}
"""Kinds that may occur several times in a file, also together with jobs."""
_NO_ENGINES = {"Topology", "MPIJob", "PyTorchJob", "TrainJob", "JobSet", "RayCluster", *RUNTIMES}
"""Kinds that are read as jobs even if their text names a serving engine."""


def matches_kubernetes(file: InputFile) -> bool:
    """Whether a file consists of Kubernetes objects: neither a page that contains objects, nor objects with a launch of
    another format.
    """
    if file.text.lstrip()[:1] == "{":
        return bool(re.search(r'"kind"\s*:\s*"Node"', file.text))
    if not re.search(r"^apiVersion\s*:", file.text, re.MULTILINE) or is_page_or_script(file.text):
        return False
    if any(matches(file) for matches in (matches_nim, matches_dynamo, matches_tgi, matches_hosted_server)):
        return False
    return not matches_serving(file) or bool(kinds_of(file) & _NO_ENGINES)


def kinds_of(file: InputFile) -> set[str]:
    """The kinds of the top-level objects of a file."""
    return set(_KIND_LINE.findall(file.text))


_OPEN_REQUEST = re.compile(
    r"^[ \t]*[\"']?(?P<name>[\w.-]{1,60}/(?:gpu|a100|h100|h200|b200|gaudi|xpu|neuron|tpu)\w{0,20})[\"']?[ \t]*:"
    r"[ \t]*[\"']?(?P<value>[^\s\d\"'][^\n\"']{0,60})",
    re.MULTILINE,
)
"""A request of accelerators whose number is a placeholder."""


def read_kubernetes(file: InputFile) -> ImportResult:
    """The content of the objects of a file.

    Raises `FormatError` if none is of a supported kind and not exactly one of another kind requests accelerators,
    `SeveralParts` for several jobs.
    """
    try:
        return _read_objects(file)
    except SeveralParts:
        raise
    except FormatError as fault:
        request = _OPEN_REQUEST.search(file.text) if "no accelerators" in str(fault) else None
        if request is None:
            raise
        why = f"asks for {request['name']}: {request['value'].strip()}, which is no count: fill it in"
        raise FormatError(why, file.line_at(request.start("name"))) from None


def _read_objects(file: InputFile) -> ImportResult:
    """The content of the objects of a file. Raises as `read_kubernetes`."""
    builder = ImportBuilder(KUBERNETES, file.name)
    documents = [(str(yaml.mapping.get("kind")), yaml) for yaml in read_documents(file)]
    read = [(kind, yaml) for kind, yaml in documents if kind in READERS and _is_job(kind, yaml)]
    if not read and len(others := [(kind, yaml) for kind, yaml in documents if requests_accelerators(yaml)]) == 1:
        record_other_object(*others[0], builder)
        set_labelled_accelerator(file, builder)
        return builder.reading()
    if not read and (nodes := [yaml for _, yaml in documents if next(nodes_in(yaml), None)]):
        record_nodes(nodes, file.part, builder)
        return builder.reading()
    if not read and (pools := [(kind, yaml) for kind, yaml in documents if has_known_machine(kind, yaml)]):
        record_pool(pools, file.part, builder)
        return builder.reading()
    if not read:
        found = excerpt(", ".join(excerpt(kind) for kind, _ in documents), LIST)
        if {kind for kind, _ in documents} & {"Pod", "Deployment", "StatefulSet", "InferenceService"}:
            if "resourceClaims:" in file.text:
                why = "whose pods claim devices (resourceClaims): their templates state the class and the number"
                raise FormatError(f"holds {found}, {why}")
            raise FormatError(f"holds {found}, whose pods ask for no accelerators")
        known = "Kueue, pods, jobs, JobSet, LeaderWorkerSet, Grove, Kubeflow, KServe, KAITO, Karpenter and Ray"
        raise FormatError(f"holds {found}: supported Kubernetes kinds are {known}")
    jobs = [each for each in without_referred_runtimes(read) if each[0] not in _MACHINE_KINDS]
    if jobs:
        choices = ", ".join(
            excerpt(f"{kind} {value_at(yaml.value, 'metadata', 'name')}", LIST) for kind, yaml in jobs[:8]
        )
        jobs = [chosen_part(jobs, file.part, plural(len(jobs), "job"), choices)]
    for kind, yaml in [each for each in read if each[0] in _MACHINE_KINDS] + jobs:
        if kind == "TrainJob":
            record_train_job(yaml, builder, referred_runtime(yaml, read))
        elif kind in {"Workspace", "InferenceSet"}:
            record_workspace(yaml, builder, [each for _, each in documents])
        else:
            READERS[kind](yaml, builder)
    list_scaling(jobs, documents, builder)
    set_labelled_accelerator(file, builder)
    return builder.reading()


def _record_topology(yaml: Yaml, builder: ImportBuilder) -> None:
    """The levels of a Kueue topology, outermost first; the objects hold no counts."""
    levels = value_at(yaml.value, "spec", "levels")
    if not isinstance(levels, list) or not all(isinstance(each, dict) and "nodeLabel" in each for each in levels):
        raise FormatError("a Topology without levels of a nodeLabel", yaml.line("spec"))
    line = yaml.line("spec", "levels")
    labels = [str(each["nodeLabel"]) for each in levels]
    builder.count("levels", len(levels), line)
    switches = [label for label in labels if label != "kubernetes.io/hostname"]
    builder.count("levels_above_nodes", len(switches), line)
    for number, label in enumerate(labels):
        builder.count(f"level_{number + 1}", label, yaml.line("spec", "levels", number))
    builder.unknown("cluster.nodes", "a Topology names labels of nodes, not the nodes", line)


# Jobs of Kubeflow


def _mpi_job(yaml: Yaml, builder: ImportBuilder) -> None:
    path = ("spec", "mpiReplicaSpecs", "Worker")
    workers = value_at(yaml.value, *path)
    if not isinstance(workers, dict):
        raise FormatError("an MPIJob without workers", yaml.line("spec"))
    if requests_only_processors(workers.get("template")):
        raise FormatError("an MPIJob whose workers ask for no accelerators", yaml.line(*path))
    slots = value_at(yaml.value, "spec", "slotsPerWorker")
    filled = record_ranks(yaml, slots, pod_count(workers.get("replicas")), builder) if isinstance(slots, int) else None
    _record_workers(yaml, path, workers, builder, filled)
    record_command(yaml, builder)


def _pytorch_job(yaml: Yaml, builder: ImportBuilder) -> None:
    """The workers, and the master if it requests accelerators, since torchrun counts it as a node."""
    base = ("spec", "pytorchReplicaSpecs")
    specs = mapping_of(value_at(yaml.value, *base))
    roles = [role for role in ("Worker", "Master") if isinstance(specs.get(role), dict)]
    if not roles:
        raise FormatError("a PyTorchJob without workers or master", yaml.line("spec"))
    _record_elasticity(yaml, builder)
    groups = [
        template_pods(yaml, (*base, role), specs[role].get("template"), specs[role].get("replicas"), role.lower())
        for role in roles
    ]
    if not any(group.accelerators for group in groups):
        _record_workers(yaml, (*base, roles[0]), specs[roles[0]], builder)
        builder.unknown("the master of the PyTorchJob", "it counts as a separate node if it requests accelerators")
        return
    record_pods(groups, builder, yaml.line(*base))
    _record_networks(value_at(specs[roles[0]], "template"), builder, yaml.line(*base))


def _record_elasticity(yaml: Yaml, builder: ImportBuilder) -> None:
    """Count the ranks of a node, and list the limits of the number of workers."""
    path = ("spec", "elasticPolicy")
    policy = mapping_of(value_at(yaml.value, *path))
    for name in (("spec", "nprocPerNode"), (*path, "nProcPerNode")):
        builder.count("ranks_per_node", positive_integer_of(value_at(yaml.value, *name)), yaml.line(*name))
    least, most = (positive_integer_of(policy.get(name)) for name in ("minReplicas", "maxReplicas"))
    if policy and (least is None or least != most):
        why = "the number of workers changes during the job: layout.nodes is the number at the start"
        builder.unknown(f"elasticPolicy: {least or '?'} to {most or '?'} workers", why, yaml.line(*path))


# Jobs of Kubernetes, and of Ray


def _job_set(yaml: Yaml, builder: ImportBuilder) -> None:
    """The nodes of the jobs that request accelerators: replicas × parallelism, each 1 if absent."""
    jobs = value_at(yaml.value, "spec", "replicatedJobs")
    if not isinstance(jobs, list):
        raise FormatError("a JobSet without replicatedJobs", yaml.line("spec"))
    groups = []
    for number, job in enumerate(jobs):
        path = ("spec", "replicatedJobs", number)
        copies = count_product(value_at(job, "replicas"), value_at(job, "template", "spec", "parallelism"))
        groups.append(
            template_pods(yaml, path, value_at(job, "template", "spec", "template"), copies, f"job {number + 1}")
        )
    record_pods(groups, builder, yaml.line("spec", "replicatedJobs"))


def _record_pods_of_job(yaml: Yaml, builder: ImportBuilder) -> None:
    """The number of pods that a Job runs at the same time. Raises `FormatError` if they request no accelerators."""
    spec = mapping_of(yaml.mapping.get("spec"))
    if isinstance(tasks := spec.get("tasks"), list):  # of Volcano, batch.volcano.sh/v1alpha1
        record_pods(volcano_pods(yaml, tasks), builder, yaml.line("spec", "tasks"))
        return
    pods = template_pods(yaml, ("spec",), spec.get("template"), spec.get("parallelism"), "pod")
    if not pods.accelerators:
        raise FormatError("a Job whose containers ask for no accelerators", yaml.line("spec"))
    record_pods([pods], builder, yaml.line("spec"))


def _record_pod(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record a single pod as one node."""
    record_pods([template_pods(yaml, ("spec",), yaml.mapping, 1, "pod")], builder, yaml.line("spec"))


_PODS_OF = {"Pod": (), "Deployment": ("spec", "template"), "StatefulSet": ("spec", "template")}
"""The path to the pod, for kinds that are jobs only if they request accelerators."""


def _is_job(kind: str, yaml: Yaml) -> bool:
    """Whether an object is a job. Pods and deployments are jobs only if they request accelerators."""
    if kind in RUNTIMES_OF_ENGINES:
        return any(group.accelerators for group in pods_of_runtime(yaml))
    if kind == "InferenceService":
        return pod_of_predictor(yaml).accelerators > 0
    if kind in _JOB_CONDITIONS:
        return _JOB_CONDITIONS[kind](yaml)
    if kind not in _PODS_OF:
        return True
    return any(requested_accelerators(each) for each in containers_of(value_at(yaml.mapping, *_PODS_OF[kind])))


_JOB_CONDITIONS = {"PodCliqueSet": asks_for_accelerators, "ClusterQueue": covers_accelerators}


def _leader_worker_set(yaml: Yaml, builder: ImportBuilder) -> None:
    """The nodes of one of the ``replicas`` groups: a leader and ``size`` - 1 workers, each with its own template."""
    base = ("spec", "leaderWorkerTemplate")
    template = mapping_of(value_at(yaml.value, *base))
    size = pod_count(template.get("size"))
    leader = "leaderTemplate" if isinstance(template.get("leaderTemplate"), dict) else "workerTemplate"
    groups = [
        template_pods(yaml, base, template.get(leader), 1, "leader"),
        template_pods(
            yaml, base, template.get("workerTemplate"), "no count" if size is None else max(size - 1, 0), "worker"
        ),
    ]
    record_pods(groups, builder, yaml.line(*base))
    builder.count("replicas", pod_count(value_at(yaml.value, "spec", "replicas")), yaml.line("spec", "replicas"))


def _hyperpod_job(yaml: Yaml, builder: ImportBuilder) -> None:
    """The pods of a HyperPodPyTorchJob; each item of ``replicaSpecs`` has a template
    (awslabs/ai-on-sagemaker-hyperpod).
    """
    base = ("spec", "replicaSpecs")
    specs = value_at(yaml.value, *base)
    if not isinstance(specs, list):
        raise FormatError("a HyperPodPyTorchJob without replicaSpecs", yaml.line("spec"))
    builder.count(
        "ranks_per_node", positive_integer_of(value_at(yaml.value, "spec", "nprocPerNode")), yaml.line("spec")
    )
    groups = [
        template_pods(yaml, (*base, n), value_at(each, "template"), value_at(each, "replicas"), f"replica spec {n + 1}")
        for n, each in enumerate(specs)
    ]
    record_pods(groups, builder, yaml.line(*base))


# Workers of Kubeflow, as one template


def _record_workers(
    yaml: Yaml, path: Path, workers: dict[str, Any], builder: ImportBuilder, filled: int | None = None
) -> None:
    """Set the number of nodes to the number of workers (or to ``filled`` if given), and the accelerators per node to
    those that a worker requests.
    """
    replicas = workers.get("replicas")
    if requests_only_processors(workers.get("template")):
        why = "its containers ask for processors or memory, and for no accelerators"
        builder.unknown("layout.nodes", why, yaml.line(*path))
    elif isinstance(replicas, int) and not isinstance(replicas, bool):
        builder.set("layout.nodes", replicas if filled is None else filled, yaml.line(*path, "replicas"))
        builder.count("nodes", replicas, yaml.line(*path, "replicas"))
    else:
        builder.unknown("layout.nodes", NO_COUNT, yaml.line(*path))
    line = yaml.line(*path, "template", "spec", "containers", 0, "resources")
    pods = template_pods(yaml, path, workers.get("template"), replicas, "worker")
    if pods.is_open:
        builder.unknown("cluster.accelerators_per_node", "a container asks for a number that is a variable", line)
    if asked := pods.accelerators:
        builder.set("cluster.accelerators_per_node", asked, line)
        builder.count("accelerators", asked * (replicas if isinstance(replicas, int) else 1), line)
    elif not pods.is_open and not requests_only_processors(workers.get("template")):
        builder.unknown("cluster.accelerators_per_node", "no container asks for accelerators", yaml.line(*path))
    _record_networks(workers.get("template"), builder, line)
    text = yaml.document.source.text
    count_node_type(text, yaml.offset, builder)


def _record_networks(template: Any, builder: ImportBuilder, line: int) -> None:
    """Count the network devices that the first container requests."""
    asked = requested_resources(next(iter(containers_of(template)), None))
    for name in _NETWORKS:
        if name in asked:
            builder.count(name, str(asked[name]), line)


READERS = {
    "Topology": _record_topology,
    "MPIJob": _mpi_job,
    "PyTorchJob": _pytorch_job,
    "TrainJob": record_train_job,
    "TrainingRuntime": record_training_runtime,
    "ClusterTrainingRuntime": record_training_runtime,
    "JobSet": _job_set,
    "Job": _record_pods_of_job,
    "Pod": _record_pod,
    "Deployment": record_copies,
    "StatefulSet": record_copies,
    "LeaderWorkerSet": _leader_worker_set,
    "RayCluster": record_ray_cluster,
    "RayJob": record_ray_job,
    "RayService": record_ray_service,
    "RayClusterFleet": record_ray_fleet,
    "HyperPodPyTorchJob": _hyperpod_job,
    "PodCliqueSet": record_pod_clique_set,
    "DisaggregatedSet": record_disaggregated_set,
    "ClusterQueue": record_cluster_queue,
    "InferenceService": record_inference_service,
    "ServingRuntime": record_serving_runtime,
    "ClusterServingRuntime": record_serving_runtime,
    "Workspace": record_workspace,
    "InferenceSet": record_workspace,
    "InferenceEndpointConfig": record_endpoint,
}
"""The reader of each kind."""
