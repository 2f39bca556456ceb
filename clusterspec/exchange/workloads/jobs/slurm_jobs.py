"""The nodes of a launch that a Slurm job starts with ``srun``, where the launch itself states none."""

from __future__ import annotations

import re
from itertools import pairwise

from clusterspec.exchange.import_result import ImportBuilder, InputFile, excerpt
from clusterspec.exchange.shell import Command, script_of
from clusterspec.exchange.slurm_directives import directives
from clusterspec.exchange.workloads.keys import Keys

_STEP = re.compile(r"^[ \t]*srun\b", re.MULTILINE)
_SHORT = {"-N", "--nodes"}
_STEP_NODES = re.compile(r"(?:-N[ ]?|--nodes[= ])(?P<count>\S{1,80})")
"""The option of a step that states its nodes."""
_LAUNCHERS = {"torchrun", "deepspeed", "accelerate", "mpirun", "torch.distributed.run", "torch.distributed.launch"}
"""Programs that start the ranks of a node, or of all nodes, by options of their own."""


def set_job_nodes(file: InputFile, keys: Keys, builder: ImportBuilder) -> None:
    """Set nodes, and count ranks of a node, from the directives of a job whose steps are the ranks of a launch.

    Nothing is set where the launch states its nodes, or a launcher starts the ranks.
    """
    programs = {word.text.rpartition("/")[2] for word in keys.command.words}
    if keys.find("nnodes", "num_nodes", "num_machines") or programs & _LAUNCHERS:
        return
    if not (_STEP.search(file.text) or _steps_of_launch(file, keys)):
        return
    found = directives(file.text)
    if stated := _step_nodes(file, keys):
        count, line = stated
        keys.used |= {"nodes", "N"}  # of the step, which is the launch
        builder.set("layout.nodes", int(count) if count.isdecimal() else None, line)
        if not count.isdecimal():
            why = "the nodes of the step that starts the launch: a variable, or computed elsewhere"
            builder.unknown(f"layout.nodes: {excerpt(count)}", why, line)
    elif "nodes" in found:
        count, line = found["nodes"]
        builder.set("layout.nodes", int(count) or None, line)
    if step := keys.find("ntasks_per_node", "tasks_per_node"):
        builder.count("ranks_per_node", keys.integer(step), keys.line(step))
    elif "ntasks-per-node" in found:
        count, line = found["ntasks-per-node"]
        builder.count("ranks_per_node", int(count), line)


def _steps_of_launch(file: InputFile, keys: Keys) -> list[Command]:
    """The steps that start a launch; a variable may hold ``srun`` with its options."""
    if not keys.command.words:
        return []
    program = next((word.text for word in keys.command.words if word.text.endswith(".py")), keys.command.words[0].text)
    steps = (each for each in script_of(file.text).commands if each.words[0].text == "srun")
    return [each for each in steps if any(program in word.text for word in each.words[1:])]


def _step_nodes(file: InputFile, keys: Keys) -> tuple[str, int] | None:
    """The nodes that the step of a launch states itself, with the line; None if it runs on all nodes of the job."""
    for command in _steps_of_launch(file, keys):
        for word, after in pairwise(command.words):
            match = _STEP_NODES.fullmatch(f"{word.text} {after.text}" if word.text in _SHORT else word.text)
            if match:
                return match["count"], word.line
    return None
