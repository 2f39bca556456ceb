"""TrainJob of Kubeflow Trainer, and the TrainingRuntime or ClusterTrainingRuntime that it names.

Fields: kubeflow/trainer 8c0f5059, ``pkg/apis/trainer/v1alpha1/trainingruntime_types.go`` (``mlPolicy``, ``template``)
and ``trainjob_types.go`` (``runtimeRef``, ``trainer``). The job of a runtime with the label of the step ``trainer`` has
``mlPolicy.numNodes`` nodes, 1 if absent (``pkg/runtime/core/trainingruntime.go`` lines 195 to 207); a TrainJob's own
``numNodes`` and ``resourcesPerNode`` precede them. With MPI and ``runLauncherAsNode``, the launcher is one of the
nodes, and the job ``node`` has the other nodes (``pkg/runtime/framework/plugins/mpi/mpi.go`` line 117).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import containers_of, list_at, requested_accelerators
from clusterspec.exchange.import_result import FormatError, ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import mapping_of, value_at

RUNTIMES = frozenset({"TrainingRuntime", "ClusterTrainingRuntime"})
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label for the step of a job in a runtime; its value for training is ``trainer``."""
_JOBS = ("spec", "template", "spec", "replicatedJobs")
Objects = list[tuple[str, Yaml]]
"""Objects of a file, each with its kind."""


def referred_runtime(job: Yaml, objects: Sequence[tuple[str, Yaml]]) -> Yaml | None:
    """The runtime that a TrainJob names, if it is among the objects of the same file."""
    kind = value_at(job.value, "spec", "runtimeRef", "kind") or "ClusterTrainingRuntime"  # trainjob_types.go line 168
    name = value_at(job.value, "spec", "runtimeRef", "name")
    named = (each for its, each in objects if its == kind and value_at(each.value, "metadata", "name") == name)
    return next(named, None) if name else None


def without_referred_runtimes(objects: Objects) -> Objects:
    """The objects of a file without the runtimes that its TrainJobs refer to, which are read with these jobs."""
    referred = [referred_runtime(yaml, objects) for kind, yaml in objects if kind == "TrainJob"]
    return [(kind, yaml) for kind, yaml in objects if not any(yaml is each for each in referred)]


def record_train_job(yaml: Yaml, builder: ImportBuilder, runtime: Yaml | None = None) -> None:
    """Record the nodes of ``spec.trainer``; values that it leaves out come from ``runtime``. Without the runtime, they
    are listed as unknown.
    """
    base = ("spec", "trainer")
    trainer = mapping_of(value_at(yaml.value, *base))
    nodes, asked = (
        positive_integer_of(trainer.get("numNodes")),
        requested_accelerators({"resources": trainer.get("resourcesPerNode")}),
    )
    builder.count(
        "ranks_per_node", positive_integer_of(trainer.get("numProcPerNode")), yaml.line(*base, "numProcPerNode")
    )
    if nodes:
        builder.set("layout.nodes", nodes, yaml.line(*base, "numNodes"))
    if asked:
        builder.set("cluster.accelerators_per_node", asked, yaml.line(*base, "resourcesPerNode"))
    if runtime is not None:
        _record_rest(runtime, builder, nodes=not nodes, accelerators=not asked)
    elif not nodes or not asked:
        line = yaml.line(*base)
        builder.unknown("nodes or accelerators of the TrainJob", "its runtime states them: another object", line)


def record_training_runtime(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record the nodes of a runtime alone. Raises `FormatError` if it has no training job, or if that requests no
    accelerators.
    """
    if not _accelerators_and_line(yaml)[0]:
        why = "asks for no accelerators: a TrainJob that names it states them (resourcesPerNode)"
        raise FormatError(f"the training step of a {excerpt(yaml.mapping.get('kind'))} {why}", yaml.line(*_JOBS))
    _record_rest(yaml, builder, nodes=True, accelerators=True)
    builder.unknown("the TrainJobs of the runtime", "each may state other nodes and resources", yaml.line("spec"))


def _record_rest(yaml: Yaml, builder: ImportBuilder, *, nodes: bool, accelerators: bool) -> None:
    """Record the nodes or accelerators of a runtime, or both."""
    policy = ("spec", "mlPolicy")
    stated = value_at(yaml.value, *policy, "numNodes")
    if nodes and stated is None:
        builder.set("layout.nodes", 1, yaml.line(*policy))
    elif nodes:
        builder.set("layout.nodes", positive_integer_of(stated), yaml.line(*policy, "numNodes"))
    asked, line = _accelerators_and_line(yaml)
    if accelerators and asked:
        builder.set("cluster.accelerators_per_node", asked, line)
    elif accelerators:
        builder.unknown(
            "cluster.accelerators_per_node", "neither the TrainJob nor its runtime requests accelerators", line
        )
    ranks = positive_integer_of(value_at(yaml.value, *policy, "mpi", "numProcPerNode"))
    if ranks and ranks > 1:  # 1 stands for the accelerators of a node (mpi.go line 131)
        builder.count("ranks_per_node", ranks, yaml.line(*policy, "mpi", "numProcPerNode"))


def _accelerators_and_line(yaml: Yaml) -> tuple[int, int]:
    """The accelerators that a node of the training job requests, and the line of this job.

    Raises `FormatError` if no job has that step.
    """
    jobs = list(enumerate(list_at(yaml.value, *_JOBS)))
    mpi = value_at(yaml.value, "spec", "mlPolicy", "mpi", "runLauncherAsNode") is True
    trained = [
        (place, job) for place, job in jobs if _step_of(job) == "trainer" or (mpi and value_at(job, "name") == "node")
    ]
    if not trained:
        raise FormatError(f"a runtime whose jobs have no label {STEP}: trainer", yaml.line("spec"))
    asked = {
        place: sum(requested_accelerators(each) or 0 for each in containers_of(_template_of(job)))
        for place, job in trained
    }
    place = max(asked, key=lambda each: (asked[each], -each))
    return asked[place], yaml.line(*_JOBS, place)


def _step_of(job: Any) -> Any:
    return value_at(job, "template", "metadata", "labels", STEP)


def _template_of(job: Any) -> Any:
    return value_at(job, "template", "spec", "template")
