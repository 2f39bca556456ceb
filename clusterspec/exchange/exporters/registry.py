"""The registry of export formats, and the input and output of exporters."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import cast

from clusterspec.catalog import Catalog
from clusterspec.catalog.frameworks import capabilities, framework_of
from clusterspec.cells import escaped_cell
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cost.estimate import design_with_share_of_memory
from clusterspec.exchange.exporters.unwritten import unwritten_keys
from clusterspec.exchange.format_names import format_by_name, unknown_format
from clusterspec.procurement.bill import Bill, bill
from clusterspec.records import dataclass
from clusterspec.units import plural

# Input and output of exporters


class NotExportable(Exception):
    """Raised, with the reason, if a design cannot be written in a format."""


class MissingPart(NotExportable):
    """Raised, with the reason, if a spec lacks a part that a format needs, or the part cannot be resolved."""


@dataclass(frozen=True)
class ExportInput:
    """A resolved design."""

    design: Design

    @property
    def name(self) -> str:
        """The name of the design, in characters that file systems and schedulers accept."""
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in (self.design.spec.name or "cluster").lower())
        return plain.strip("-")[:48] or "cluster"

    @property
    def cluster(self) -> Cluster:
        if self.design.cluster is None:
            raise MissingPart("the cluster cannot be resolved; `clusterspec check` reports the reason")
        return self.design.cluster

    @property
    def layout(self) -> Layout:
        if self.design.layout is None:
            raise MissingPart("the spec has no layout that can be resolved")
        refused = layout_error_rules(self.design)
        if refused:
            raise MissingPart(f"the layout cannot run ({', '.join(sorted(refused))}); `clusterspec check` reports why")
        return self.design.layout

    @cached_property
    def workload(self) -> Workload:
        """The workload; the memory share of its engines is the one that the estimate assumes."""
        if self.design.workload is None:
            raise MissingPart("the spec has no workload that can be resolved")
        return design_with_share_of_memory(self.design).workload or self.design.workload

    @cached_property
    def bill(self) -> Bill:
        return bill(self.design)

    @property
    def fabric(self) -> Fabric:
        if self.bill.fabric is None:
            raise (NotExportable if self.design.cluster else MissingPart)(f"there is no fabric: {self.bill.why}")
        return self.bill.fabric


@dataclass(frozen=True)
class ExportedFile:
    """The content of an exported file, and the parts of the design that it omits or states differently: each a noun,
    followed by what replaces it or by the reason.
    """

    content: str | bytes
    omitted: tuple[str, ...] = ()


def training_design(source: ExportInput, framework: str) -> tuple[Layout, Workload]:
    """The layout and workload for a framework of the catalog.

    Raises `NotExportable` if the workload is no training, or the framework does not run on the accelerators.
    """
    if source.workload.kind != "train":
        raise NotExportable("the workload is serving; this format is for training")
    require_vendor(source, framework)
    return source.layout, source.workload


def training_omissions(work: Workload) -> Iterator[str]:
    """The parts of a spec that configurations of a pre-training program leave out: adapters, and everything of
    reinforcement learning except training.
    """
    if work.rl is not None:
        yield f"{work.rl.algorithm}: rollout, rewards and the transfer of weights; this is the training of its policy"
        samples = work.rl.samples / work.rl.minibatches
        if samples != work.global_batch:
            rows = plural(work.global_batch, "sequence")
            yield f"the packing of {samples:,.0f} samples of an update into {rows}: unpacked, the batch is the samples"
    if work.trainable is not None:
        yield f"adapters ({work.trainable.method}, rank {work.trainable.rank}): without them all weights are trained"


def document_omissions(work: Workload) -> Iterator[str]:
    """That attention works within documents, for targets whose mask of documents their data or their model decides."""
    if work.rl is None and work.document_length is not None:
        yield "attention within documents (`document_tokens`): without a mask of documents it spans the whole sequence"


def replicate_and_shard_degrees(layout: Layout) -> tuple[int, int]:
    """The degrees of replication and of sharding of the data-parallel ranks, for targets that divide states over the
    context ranks as well: a shard group then has all of them.

    torchtitan b5bcd76c, distributed/parallel_dims.py, line 281; MaxText e591f30c, configs/base.yml, line 605. Raises
    `NotExportable` if shard groups divide the context ranks.
    """
    if layout.sharding == "none":
        return layout.dp, 1
    if layout.sharding != "hsdp":
        return 1, layout.dp
    shard, left = divmod(layout.shard_group, layout.cp)
    if left:
        why = f"the {layout.cp} context ranks share states, and groups of {layout.shard_group} divide them"
        raise NotExportable(why)
    return layout.dp // shard, shard


def shards_by_context(layout: Layout) -> Iterator[str]:
    """That the context ranks share states although the layout divides them over no ranks, or only over others."""
    if layout.sharding == "none" and layout.cp > 1:
        yield f"sharding none: the {layout.cp} context ranks divide all states"


def steps_of_run(work: Workload, omitted: list[str]) -> int | None:
    """The optimizer steps for the tokens that a spec states; None if it states none. A remainder needs a separate step,
    which a note mentions. In reinforcement learning only whole steps of all roles count.
    """
    found, step = work.steps_of_run, work.tokens_of_step
    if found is None:
        return None
    steps = found * (work.rl.updates if work.rl else 1)
    if steps * step != work.tokens:
        whole = f"{plural(steps, 'whole step')} of {step:,.0f}"
        omitted.append(f"the tokens of the run, {work.tokens:,.0f}: written as {whole}")
    return steps


def unchanged_model(source: ExportInput) -> str:
    """The catalog id of the model; empty if the spec describes or changes it."""
    model = source.workload.model
    entry = (source.design.catalog or Catalog.open()).find("model", model.id) if model.id else None
    return model.id if entry == model else ""


def require_vendor(source: ExportInput, framework: str) -> None:
    """Raise `NotExportable` if a framework of the catalog does not run on the accelerators of the design."""
    entry = framework_of(framework, source.design.catalog or Catalog.open())
    accelerator = source.cluster.accelerator
    if entry.vendors and accelerator.vendor and accelerator.software_vendor not in entry.vendors:
        raise NotExportable(f"{entry.name} does not run on {accelerator.name} of {accelerator.vendor}")


def require_architecture(source: ExportInput, framework: str, release: str) -> None:
    """Raise `NotExportable` if a release of a framework does not run on the architecture of the accelerators."""
    entry, accelerator = framework_of(framework, source.design.catalog or Catalog.open()), source.cluster.accelerator
    refused = capabilities(entry, release, source.layout.software_year).refused
    alone = (each.combination for each in refused if not each.combination.uses)
    if any(each.applies(frozenset({accelerator.architecture})) for each in alone):
        where = f"{accelerator.name} ({accelerator.architecture})"
        raise NotExportable(f"{entry.name} {release} does not run on {where}")


def devices_of_node(cluster: Cluster) -> int:
    """The number of devices that drivers, Slurm and Kubernetes list on a node; for AMD, each die of a package
    counts.
    """
    return cluster.ranks_per_node if cluster.accelerator.vendor == "AMD" else cluster.accelerators_per_node


def dns_label(name: str, number: int, longest: int = 40) -> str:
    """A name for a Kubernetes object that is also used for hosts and Services: a label by RFC 1035, which begins with a
    letter. A name longer than ``longest`` is cut and ends with ``number``, since two names may begin alike. The other
    characters of the 63 of a label are left for suffixes that Kubernetes adds.
    """
    plain = name if name[:1].isalpha() else f"design-{name}"
    if len(plain) <= longest:
        return plain
    end = f"-{number}"
    return plain[: longest - len(end)].rstrip("-") + end


def csv_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values; cells are escaped so that spreadsheets do not read them as formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([escaped_cell(head) for head in heads])
    writer.writerows([escaped_cell("" if cell is None else cell) for cell in row] for row in rows)
    return out.getvalue()


# The registry of formats that can be exported


@dataclass(frozen=True)
class Exporter:
    """An export format: the module and function that write it; ``other`` are alternative names."""

    name: str
    title: str
    module: str
    function: str = "write"
    other: tuple[str, ...] = ()

    def write(self, source: ExportInput) -> ExportedFile:
        """The file. Raises `NotExportable` if the design lacks a value that the format needs."""
        module = importlib.import_module(f"clusterspec.exchange.exporters.{self.module}")
        file = cast("Callable[[ExportInput], ExportedFile]", getattr(module, self.function))(source)
        return ExportedFile(file.content, (*file.omitted, *unwritten_keys(self.name, source.design)))


EXPORTERS = (
    Exporter(
        "sbatch",
        "acceptance tests as a Slurm batch script",
        "acceptance",
        "sbatch",
        ("acceptance", "acceptance-sbatch"),
    ),
    Exporter("mpijob", "acceptance tests as MPIJobs of Kubeflow", "acceptance", "mpijob", ("acceptance-mpijob",)),
    Exporter("jobset", "acceptance tests of several nodes as JobSets of Kubernetes", "job_sets", "jobset"),
    Exporter(
        "kubernetes-job",
        "acceptance tests of a node as Jobs of Kubernetes, on every node",
        "node_jobs",
        "kubernetes_job",
        ("job", "k8s-job"),
    ),
    Exporter("mpirun", "acceptance tests as mpirun commands", "acceptance", "mpirun", ("acceptance-mpirun",)),
    Exporter(
        "superbench", "acceptance limits as rules of SuperBench", "site_checks", "superbench", ("superbenchmark",)
    ),
    Exporter("cvs", "acceptance limits for ROCm cvs", "site_checks", "cvs", ("rocm-cvs",)),
    Exporter(
        "azure-nhc", "acceptance limits of a node for Azure node health checks", "site_checks", "azure_nhc", ("aznhc",)
    ),
    Exporter("nvcre", "acceptance limits for NVIDIA Cluster Readiness Engine", "site_checks", "readiness", ("cre",)),
    Exporter("aicr", "acceptance limit as a recipe overlay of NVIDIA AICR", "aicr"),
    Exporter(
        "health-scanner",
        "acceptance limit of pairs of nodes for Google cluster-health-scanner",
        "site_checks",
        "health_scanner",
        ("cluster-health-scanner", "chs"),
    ),
    Exporter(
        "nhc",
        "what a node has by design, for Slurm's HealthCheckProgram (Node Health Check)",
        "node_checks",
        "nhc",
        ("lbnl-nhc",),
    ),
    Exporter(
        "node-problem-detector",
        "what a node has by design, for the Kubernetes node problem detector",
        "node_checks",
        "problem_detector",
        ("npd",),
    ),
    Exporter(
        "nccl-env",
        "environment of NCCL, RCCL and plugins, with reasons",
        "acceptance",
        "write_environment",
        ("env", "environment", "rccl-env", "nccl", "rccl"),
    ),
    Exporter("slurm-topology", "Slurm topology.yaml", "schedulers", "slurm", ("slurm", "topology.yaml")),
    Exporter("kueue-topology", "Kueue Topology", "schedulers", "kueue", ("kueue",)),
    Exporter("megatron", "launch of Megatron-LM", "megatron", "write", ("megatron-core", "megatron-lm")),
    Exporter("megatron-bridge", "launch of Megatron Bridge", "megatron_bridge", "write", ("bridge", "mbridge")),
    Exporter("torchtitan", "configuration of torchtitan (Python)", "torchtitan", "write"),
    Exporter("deepspeed", "configuration of DeepSpeed", "deepspeed", "write"),
    Exporter("maxtext", "configuration of MaxText", "maxtext", "write"),
    Exporter("vllm", "launch lines of vLLM", "vllm", "write"),
    Exporter("sglang", "launch lines of SGLang", "sglang", "write"),
    Exporter(
        "trt-llm",
        "launch lines of TensorRT-LLM, with their files of options",
        "tensorrt_llm",
        "write",
        ("tensorrt-llm", "trtllm", "trtllm-serve"),
    ),
    Exporter("dynamo", "graph deployment of NVIDIA Dynamo", "orchestrators", "write_dynamo"),
    Exporter("llm-d", "values of llm-d's chart llm-d-modelservice", "orchestrators", "write_llm_d"),
    Exporter("prometheus", "alerting rules for Prometheus", "monitoring", "prometheus", ("alerts", "prometheus-rules")),
    Exporter("bom-csv", "bill of materials as CSV", "documents", "bill_as_csv", ("bom", "csv")),
    Exporter("bom-xlsx", "bill of materials as XLSX", "documents", "bill_as_xlsx", ("xlsx",)),
    Exporter("price-sheet", "blank price sheet as XLSX, for suppliers", "documents", "price_sheet_as_xlsx"),
    Exporter("infragraph", "InfraGraph infrastructure", "infragraph", "write_infragraph"),
    Exporter("calculon", "system of Calculon", "calculon"),
    Exporter("astra-sim", "network of ASTRA-sim 2, for its analytical back end", "astra_sim", "write", ("astra",)),
    Exporter("aiconfigurator", "system of aiconfigurator", "aiconfigurator", "write", ("aic",)),
    Exporter("netbox", "device types of NetBox for nodes and switches", "netbox"),
    Exporter("cabling", "cabling list as CSV", "fabric", "write_cabling", ("cabling-csv", "cables")),
    Exporter(
        "rfp",
        "clauses of a request for proposals, in Markdown",
        "documents",
        "write_clauses",
        ("clauses", "rfp-clauses"),
    ),
)


def is_exporter(name: str) -> bool:
    """Whether a format has a name, which may be a former one."""
    return format_by_name(EXPORTERS, name) is not None


def exporter_of(name: str) -> Exporter:
    """The format of a name. Raises `NotExportable` with similar names if there is none."""
    if (found := format_by_name(EXPORTERS, name)) is not None:
        return found
    raise NotExportable(unknown_format("export", EXPORTERS, name))
