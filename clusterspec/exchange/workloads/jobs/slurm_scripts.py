"""Slurm job scripts with commands of an unknown program: the nodes and accelerators that their directives request.

Options: sbatch(1), https://slurm.schedmd.com/sbatch.html. ``--gpus-per-node`` and ``--gres`` count accelerators per
node, ``--gpus-per-task`` per task, ``--gpus`` per job.
"""

from __future__ import annotations

import re
from itertools import takewhile

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    excerpt,
    without_comments,
)
from clusterspec.exchange.machines.unclear_names import unclear_name
from clusterspec.exchange.shell import script_of
from clusterspec.exchange.slurm_directives import (
    accelerator_features,
    accelerator_kinds,
    accelerators_of_node,
    differing_counts,
    directives,
    is_slice,
    open_counts,
    requested_accelerator_parts,
)
from clusterspec.exchange.started_programs import shown_programs
from clusterspec.logs.text_lines import line_at

SLURM_JOB = "slurm-job"
_DIRECTIVE = re.compile(r"^#SBATCH[ \t]+-", re.MULTILINE)
_OF_NODE = ("gpus-per-node", "gres")
_OF_TASK = "gpus-per-task"


def matches_slurm_job(file: InputFile) -> bool:
    return bool(_DIRECTIVE.search(file.text))


def read_slurm_job(file: InputFile) -> ImportResult:
    """The nodes and accelerators of a job. Raises `FormatError` if it requests no accelerators."""
    builder, found = ImportBuilder(SLURM_JOB, file.name), directives(file.text)
    name = next((name for name in (*_OF_NODE, _OF_TASK, "gpus") if name in found), None)
    if name is None and "nodes" in found and (run := _ON_ACCELERATORS.search(file.text)):
        return _whole_nodes(found, run, file)
    if name is None:
        raise FormatError(
            "is a Slurm job without a count of accelerators (--gpus-per-node, --gpus-per-task, --gres=gpu:N, --gpus)"
        )
    count, line = int(found[name][0]), found[name][1]
    if not count and not open_counts(file.text):
        raise FormatError(f"is a Slurm job that asks for no accelerators ({name} 0)", line)
    alone = name == _OF_TASK and found.get("ntasks", ("",))[0] == "1"
    nodes, at = found.get("nodes", found["ntasks"] if alone else ("", 0))
    _set_nodes(nodes, at, file, builder)
    if parts := requested_accelerator_parts(file.text):
        list_parts(parts, builder)
    elif differing := differing_counts(file.text):
        list_differing(differing, builder)
    elif name in _OF_NODE:
        builder.set("cluster.accelerators_per_node", count or None, line)
    elif name == _OF_TASK:
        _set_by_tasks(file.text, count, line, builder)
    else:
        builder.count("accelerators", count, line)
        if nodes and int(nodes) and count % int(nodes) == 0:
            builder.set("cluster.accelerators_per_node", count // int(nodes), line)
    tasks, at = found.get("ntasks-per-node", ("0", 0))
    all_tasks, place = found.get("ntasks", ("0", 0))
    started = None
    if int(tasks) < 2:  # one task of a node starts the others, or a step has tasks of its own
        started = _ranks_of_launcher(file.text) or _ranks_of_steps(file)
    builder.count("ranks_per_node", *(started or (int(tasks) if int(tasks) > 1 else None, at)))
    each_rank = int(all_tasks) > 1 and not (int(tasks) < 2 and _RANKS.search(file.uncommented))
    builder.count("ranks", int(all_tasks) if each_rank else None, place)
    list_kinds(file.text, builder)
    for option, text, at in open_counts(file.text):
        builder.unknown(f"{option}: {text}", "a placeholder or a variable: no count", at)
    programs, why = shown_programs(file.text), "no launch of a framework that a reader knows"
    builder.unknown("the commands of the script", f"{why}: {programs}" if programs else why)
    return builder.reading()


def _set_nodes(nodes: str, line: int, file: InputFile, builder: ImportBuilder) -> None:
    """Set the nodes of a job, or list them where its launchers state other numbers."""
    launched = _nodes_of_launchers(file) if int(nodes or 0) > 1 else set()
    if launched - {nodes}:
        why = f"of the job: a launcher in it states {excerpt(', '.join(sorted(launched)))}"
        builder.unknown(f"layout.nodes: {nodes}", why, line)
    else:
        builder.set("layout.nodes", int(nodes or 0) or None, line)


_ON_ACCELERATORS = re.compile(
    r"^(?![ \t]*#).{0,600}?\b(?P<program>(?:all_reduce|all_gather|reduce_scatter|alltoall|sendrecv|broadcast)_perf"
    r"|torchrun|torch\.distributed\.(?:run|launch))\b",
    re.MULTILINE,
)
"""A program of nccl-tests or rccl-tests, or a launcher of PyTorch, whose ranks each drive accelerators."""


def _ranks_of_launcher(text: str) -> tuple[int, int] | None:
    """The ranks that a launcher of PyTorch starts on a node, with their line: a number, or a variable as the script
    sets it in this job.

    >>> _ranks_of_launcher("GPUS=8\\ntorchrun --nproc-per-node=$GPUS a.py"), _ranks_of_launcher("torchrun a.py")
    ((8, 2), None)
    >>> _ranks_of_launcher('GPUS="${GPUS:-4}"\\ntorchrun --nproc-per-node=$GPUS a.py')
    (4, 2)
    >>> _ranks_of_launcher('#SBATCH --gres=gpu:4\\nG=${SLURM_GPUS_ON_NODE:-1}\\ntorchrun --nproc-per-node=$G a.py')
    (4, 3)
    """
    uncommented = without_comments(text)
    match = _RANKS.search(uncommented)
    if match is None:
        return None
    line = line_at(uncommented, match.start("count"))
    stated = {int(match["count"])} if match["count"].isdecimal() else _evaluated_ranks(text)
    return (stated.pop(), line) if len(stated) == 1 else None


_NODES = re.compile(
    r"--nnodes(?:=|[ ]{1,9})[\"']?(?P<count>[1-9][0-9]{0,4}(?![\w:])|\$\(\((?:[^)]|\)(?!\))){1,200}\)\))"
)
"""The nodes that a launcher of PyTorch states as a number, or as a calculation that the script leaves open."""


def _nodes_of_launchers(file: InputFile) -> set[str]:
    """The numbers of nodes that launchers of a job state, or calculations; not those that follow from the job."""
    try:
        commands = script_of(file.text).commands if "--nnodes" in file.uncommented else ()
    except FormatError:
        return set()
    found = [_NODES.search(" ".join(word.text for word in each.words)) for each in commands]
    return {match["count"] for match in found if match and "SLURM" not in match["count"]}


def _ranks_of_steps(file: InputFile) -> tuple[int, int] | None:
    """The tasks on a node of the steps of a job, with their line, where all of them state the same number. One task may
    start others.
    """
    try:
        commands = script_of(file.text).commands if "tasks-per-node" in file.text else ()
    except FormatError:
        return None
    steps = [each for each in commands if each.words[0].text == "srun"]
    found = [(each, _STEP.match(" ".join(word.text for word in each.words))) for each in steps]
    stated = {int(match["count"]) if match and not each.branch else 0 for each, match in found}
    count = stated.pop() if len(stated) == 1 else 0
    return (count, steps[0].line) if count > 1 else None


def _evaluated_ranks(text: str) -> set[int]:
    """The numbers of ranks of a node that the commands of a script state; empty if a test leaves one open."""
    try:
        commands = script_of(text).commands
    except FormatError:
        return set()
    of_a_shell = "-c"  # whose text has commands of its own among these
    words = [(tuple(takewhile(lambda word: word.text != of_a_shell, each.words)), each.branch) for each in commands]
    found = [
        (match, branch or any(word.branch for word in each))
        for each, branch in words
        for match in _RANKS.finditer(" ".join(word.text for word in each))
    ]
    decided = all(match["count"].isdecimal() and not branch for match, branch in found)
    return {int(match["count"]) for match, _ in found} if decided else set()


_RANKS = re.compile(
    r"(?:--nproc[_-]per[_-]node|(?<![\w-])deepspeed[ \t](?:(?!\.py|deepspeed\b)(?:[^#\n]|\\\n)){0,600}?--num_gpus)[ =]+"
    r"[\"']?\$?\{?(?P<count>[1-9][0-9]{0,2}\b|[A-Za-z_]\w{0,60})"
)
"""An option of a launcher; ``--num_gpus`` is one of DeepSpeed's before the program (deepspeed/launcher/runner.py)."""
_STEP = re.compile(r"^srun\s(?:.{0,600}?\s)?--n?tasks-per-node[ =](?P<count>[1-9][0-9]{0,2})(?=\s)")


def _whole_nodes(found: dict[str, tuple[str, int]], run: re.Match[str], file: InputFile) -> ImportResult:
    """The nodes and ranks of a job that runs on accelerators without asking for a number of them."""
    builder, (nodes, line) = ImportBuilder(SLURM_JOB, file.name), found["nodes"]
    builder.set("layout.nodes", int(nodes) or None, line)
    tasks, at = found.get("ntasks-per-node", ("0", 0))
    if run["program"].endswith("_perf"):
        builder.count("ranks_per_node", int(tasks) or None, at)
    elif started := _ranks_of_launcher(file.text):
        builder.count("ranks_per_node", *started)
    why = "the job asks for none, as where a site gives whole nodes"
    builder.unknown("cluster.accelerators_per_node", why, line)
    here = file.line_at(run.start("program"))
    why = "a benchmark: import what it prints" if run["program"].endswith("_perf") else "starts what no reader knows"
    builder.unknown(run["program"], why, here)
    return builder.reading()


def _set_by_tasks(text: str, count: int, line: int, builder: ImportBuilder) -> None:
    """Set the accelerators of a node from those of a task, or list them if the tasks of a node are unknown."""
    if of_node := accelerators_of_node(text):
        builder.set("cluster.accelerators_per_node", *of_node)
    else:
        why = "how many of the tasks are on one node is not stated"
        builder.unknown(f"{count} accelerators per task", why, line)


def list_kinds(text: str, builder: ImportBuilder) -> None:
    """List the kinds of whole accelerators that directives name."""
    for kind, place in (
        accelerator_kinds(text) or accelerator_features(text) if not requested_accelerator_parts(text) else ()
    ):
        builder.unknown(f"accelerator {kind}", unclear_name(kind), place)


def list_differing(counts: list[tuple[int, int]], builder: ImportBuilder) -> None:
    """List the accelerators of a node where the directives of a job request different ones."""
    for count, line in counts:
        builder.unknown(f"cluster.accelerators_per_node: {count}", "another directive of the job asks for others", line)


def list_parts(parts: list[tuple[str, int]], builder: ImportBuilder) -> None:
    """List the parts of accelerators that a job requests: slices, or dies, which Slurm counts as devices."""
    for kind, line in parts:
        whole = "state cluster.accelerators_per_node"
        slices = f"a slice of an accelerator (MIG), not a whole one: {whole}"
        why = slices if is_slice(kind) else f"a device is one of the two dies of an accelerator: {whole}"
        builder.unknown(f"accelerator {kind}", why, line)
