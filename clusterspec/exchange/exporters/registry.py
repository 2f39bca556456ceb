"""The registry of formats that can be exported."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from clusterspec.document import nearest
from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput, NotExportable
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Exporter:
    """An export format: the module and function that write it; ``other`` are alternative names."""

    name: str
    title: str
    module: str
    function: str = "write"
    other: tuple[str, ...] = ()

    def write(self, source: ExportInput) -> ExportedFile:
        """The file. Raises `NotExportable` if the design lacks what the format needs."""
        module = importlib.import_module(f"clusterspec.exchange.exporters.{self.module}")
        return cast("Callable[[ExportInput], ExportedFile]", getattr(module, self.function))(source)


EXPORTERS = (
    Exporter(
        "sbatch",
        "acceptance tests as a Slurm batch script",
        "acceptance_scripts",
        "sbatch",
        ("acceptance", "acceptance-sbatch"),
    ),
    Exporter(
        "mpijob", "acceptance tests as MPIJobs of Kubeflow", "acceptance_scripts", "mpijob", ("acceptance-mpijob",)
    ),
    Exporter("mpirun", "acceptance tests as mpirun commands", "acceptance_scripts", "mpirun", ("acceptance-mpirun",)),
    Exporter(
        "nccl-env",
        "environment of NCCL, RCCL and plugins, with reasons",
        "environment",
        "write",
        ("env", "environment", "rccl-env", "nccl", "rccl"),
    ),
    Exporter("slurm-topology", "Slurm topology.yaml", "schedulers", "slurm", ("slurm", "topology.yaml")),
    Exporter("kueue-topology", "Kueue Topology", "schedulers", "kueue", ("kueue",)),
    Exporter("megatron", "arguments of Megatron-LM", "frameworks", "megatron", ("megatron-core", "megatron-lm")),
    Exporter("torchtitan", "job configuration of torchtitan", "frameworks", "torchtitan"),
    Exporter("deepspeed", "configuration of DeepSpeed", "frameworks", "deepspeed"),
    Exporter("maxtext", "configuration of MaxText", "frameworks", "maxtext"),
    Exporter("vllm", "launch line of vLLM", "serving", "vllm"),
    Exporter("bom-csv", "bill of materials as CSV", "materials", "as_csv", ("bom", "csv")),
    Exporter("bom-xlsx", "bill of materials as XLSX", "materials", "as_xlsx", ("xlsx",)),
    Exporter("infragraph", "InfraGraph infrastructure", "infragraph"),
    Exporter("cabling", "cabling list as CSV", "cabling", "write", ("cabling-csv", "cables")),
    Exporter("rfp", "clauses of a request for proposals, in Markdown", "clauses", "write", ("clauses", "rfp-clauses")),
)


def exporter_of(name: str) -> Exporter:
    """The format of a name. Raises `NotExportable` for a name that is none."""
    plain = name.lower().replace("_", "-")
    for each in EXPORTERS:
        if plain == each.name or plain in each.other:
            return each
    like = nearest(plain, [each.name for each in EXPORTERS])
    offer = f"; did you mean {', '.join(like)}?" if like else ""
    raise NotExportable(f"no export format is called {name!r}{offer} (`clusterspec export --list` lists all)")
