"""Job scripts of PBS, LSF, Grid Engine, Flux and OAR with commands of an unknown program: the nodes and accelerators
that they request.
"""

from __future__ import annotations

import re

from clusterspec.exchange.batch_requests import BATCH_DIRECTIVE, request_of, scheduler_of, title_of
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.pbs_requests import JobRequest
from clusterspec.exchange.started_programs import shown_programs

BATCH_JOB = "batch-job"


def matches_batch_job(file: InputFile) -> bool:
    """Whether a file is a script that requests accelerators from a scheduler."""
    if not BATCH_DIRECTIVE.search(file.text) or "#SBATCH" in file.text:
        return False
    return _is_of_accelerators(request_of(file.text), file)


_USES = re.compile(
    r"\b(?:nvidia-smi|rocm-smi|amd-smi|xpu-smi|set_affinity_gpu\w{0,40}"
    r"|(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES|ZE_AFFINITY_MASK|(?:all_reduce|all_gather|reduce_scatter|alltoall)_perf)\b"
)
"""Words of a script that looks for accelerators, or divides those of a node among ranks."""


def _is_of_accelerators(found: JobRequest, file: InputFile) -> bool:
    """Whether a job requests accelerators, or nodes whose accelerators its commands use."""
    return bool(found.accelerators or found.total or (found.nodes and _USES.search(file.uncommented)))


def read_batch_job(file: InputFile) -> ImportResult:
    """The nodes and accelerators of a job. Raises `FormatError` if it requests no accelerators and uses none."""
    found, builder = request_of(file.text), ImportBuilder(BATCH_JOB, file.name)
    if not _is_of_accelerators(found, file):
        scheduler = scheduler_of(file.text)
        raise FormatError(
            f"is a job of {title_of(scheduler)} without a count of accelerators" if scheduler else "is no job"
        )
    if found.nodes:
        builder.set("layout.nodes", *found.nodes)
    if not (found.accelerators or found.total or found.open) and found.nodes:
        why = "the job asks for none, as where a site gives whole nodes"
        builder.unknown("cluster.accelerators_per_node", why, found.nodes.line)
    if found.accelerators:
        builder.set("cluster.accelerators_per_node", *found.accelerators)
    list_open_request(found, builder)
    programs, why = shown_programs(file.text), "no launch of a framework that a reader knows"
    builder.unknown("the commands of the script", f"{why}: {programs}" if programs else why)
    return builder.reading()


def list_open_request(found: JobRequest, builder: ImportBuilder) -> None:
    """Count the accelerators of a job whose nodes are open, and list what its request leaves open."""
    if found.total and not (found.nodes and found.accelerators):
        builder.count("accelerators", *found.total)
    for words, why, line in found.open:
        builder.unknown(excerpt(words), why, line)
