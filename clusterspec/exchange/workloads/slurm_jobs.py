"""The nodes of a launch that a Slurm job starts with ``srun``, where the launch itself states none."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, InputFile
from clusterspec.exchange.slurm_directives import directives
from clusterspec.exchange.workloads.keys import Keys

_STEP = re.compile(r"^[ \t]*srun\b", re.MULTILINE)
_LAUNCHERS = {"torchrun", "deepspeed", "accelerate", "mpirun", "torch.distributed.run", "torch.distributed.launch"}
"""Programs that start the ranks of a node, or of all nodes, by options of their own."""


def set_job_nodes(file: InputFile, keys: Keys, builder: ImportBuilder) -> None:
    """Set nodes, and count ranks of a node, from the directives of a job whose steps are the ranks of a launch.

    Nothing is set where the launch states its nodes, or a launcher starts the ranks.
    """
    programs = {word.text.rpartition("/")[2] for word in keys.command.words}
    if keys.find("nnodes", "num_nodes", "num_machines") or programs & _LAUNCHERS or not _STEP.search(file.text):
        return
    found = directives(file.text)
    if "nodes" in found:
        count, line = found["nodes"]
        builder.set("layout.nodes", int(count) or None, line)
    if "ntasks-per-node" in found:
        count, line = found["ntasks-per-node"]
        builder.count("ranks_per_node", int(count), line)
