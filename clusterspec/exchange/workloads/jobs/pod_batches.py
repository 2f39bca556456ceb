"""The global batch of a training that a PyTorchJob starts, whose ranks the training operator gives to ``torchrun``.

Source: kubeflow/training-operator, ``pkg/controller.v1/pytorch/envvar.go`` and ``elastic.go``: a job with
``nprocPerNode`` sets ``PET_NPROC_PER_NODE``, and ``PET_NNODES`` to the sum of its replicas; options of ``torchrun`` on
its command line are stronger.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile, combined_result
from clusterspec.records import replace

_JOB = re.compile(r"^kind[ \t]*:[ \t]*[\"']?PyTorchJob\b", re.MULTILINE)
_TORCHRUN = re.compile(r"(?<![\w.-])torchrun(?![\w.-])")
_OWN_RANKS = re.compile(r"--(?:nnodes|nproc[-_]per[-_]node)\b")
_SHARDED = re.compile(
    r"--(?:\w{1,40}_)?(?:tp|tensor_parallel|autotp|pp|pipeline_parallel|cp|context_parallel|sp|sequence_parallel|ulysses"
    r"|parallelism_config)(?:_\w{1,40})?\b"
)
"""Options that let several ranks share one sequence."""


def with_batch_of_pods(file: InputFile, found: ImportResult) -> ImportResult:
    """A training in a PyTorchJob with its global batch, if only the job states its ranks.

    ``found`` has the nodes and the ranks of each from the object, micro batch and accumulation from the launch.
    """
    part = next((each for each in found.unknown if each.what == "workload.global_batch"), None)
    text = file.uncommented
    if part is None or not (_JOB.search(text) and _TORCHRUN.search(text)) or _OWN_RANKS.search(text):
        return found
    factors = (
        *(found.value(("layout", name)) for name in ("nodes", "micro_batch")),
        *(found.number(name) for name in ("ranks_per_node", "gradient_accumulation_steps")),
    )
    counts = [each for each in factors if isinstance(each, int)]
    if len(counts) < len(factors) or _SHARDED.search(text) or "elasticPolicy" in text:
        return found
    builder, batch = ImportBuilder(found.kind, file.name), 1
    for each in counts:
        batch *= each
    builder.set("workload.global_batch", batch, part.at.line)
    kept = tuple(each for each in found.unknown if each is not part)
    return combined_result([replace(found, unknown=kept), builder.reading()])
