"""The share of published steps inside their predicted range, by regime, on both sides of the split of sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from clusterspec.cluster.model import Design
from clusterspec.cost.memory.fullest import ERROR
from clusterspec.quantity import precision_width
from tools.accuracy import first_ranges
from tools.accuracy.cases import Case, new_memory, plan_of, published_runs, study_of
from tools.accuracy.figures import score
from tools.accuracy.split import BEFORE, is_held_out, training_source

ALL = "all"
SHOWN = 5
"""A regime with fewer runs held out is not shown."""
NODES = ((1, "one node"), (8, "2 to 8 nodes"), (64, "9 to 64 nodes"))
UNSHARDED = "one node, no optimizer state sharded"
RANGES = """The range of a step is meant to contain four in five steps of a source that nobody has looked at. Its
half-width adds five parts in quadrature: the software (`spread` of its entry), the published runs on the chip, exposed
communication, stragglers and the host. The part for the chip (`spread.part`) is 0.42 ÷ √(1 + n), where n is the number
of sources whose runs used the chip: 0.42 for a chip without published runs. A further 0.07 is added if no source ran
this precision and framework on the chip. All widths are taken from runs of the fitted side, each source with equal
weight, because a user's run resembles a source, not a row.

Runs of the sources that the fit knows lie inside more often than that, 98 % with trainers and 92 % with programs where
each source is left out of the fit: four in five of these errors are below 10 and 16 %, while four in five of the first
predictions with the same frameworks on the same chips are below 19 and 25 %. What the model counts, and how their runs
are described, was mended with these sources in sight, which no spec shows. One range cannot hold four in five of both,
and the range is that of a new source.
"""
FIRST = """The part for the software is drawn from first predictions: those made when the rows of a source were
entered, before anything was changed for them. It is the least width with which four in five of them lie inside, with
the other parts as they were known from the sources entered before. Trainers with layers of their own (Megatron, NeMo,
MaxText and others) have one width, and programs whose users bring or change the layers (PyTorch FSDP, DeepSpeed,
torchtitan, unknown programs) another; those with experts are wider. So are those of a trainer that no source ran
before in this precision on the chip (`spread.unseen`), where five sources and more of each kind tell them apart. Below,
each source of the fitted side is judged by ranges that were drawn without it, those held out by ranges in which none of
them counts; how far that is blind, and what was tried, [the notes](accuracy-notes.md#ranges-of-training-steps) say.

"""

_ERROR = f"{100 * ERROR.value:.0f} %"
PEAKS = f"""\
The range of a peak is that of its parts, in quadrature with {_ERROR} of the activations: weights and optimizer
states follow from counts, while programs differ in the activations that they save. It is the least whole percentage
with which four in five peaks of the fitted side lie inside, each source with one weight, whichever tenth of the
sources is left out. Whether a job fits in memory is decided without this part. The
[notes](accuracy-notes.md#ranges-of-peak-memory) say what was tried.
"""


@dataclass(frozen=True)
class _Side:
    """The cases of one side in one regime."""

    cases: tuple[Case, ...]

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Number of cases and of sources, share inside, and median half-width."""
        if not self.cases:
            return "0", "0", "–", "–"
        found = score("", self.cases)
        sources = {training_source(case.id) for case in self.cases}
        shares = (f"{100 * value:.0f} %" for value in (found.inside or 0.0, found.width or 0.0))
        return str(len(self.cases)), str(len(sources)), *shares  # type: ignore[return-value]


def regimes(design: Design) -> Iterator[str]:
    """The regimes of a design: its size, its kind of accelerator, its sharding, its precision and its model."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    assert cluster and workload and layout
    yield ALL
    yield next((name for limit, name in NODES if cluster.nodes <= limit), "65 nodes and more")
    yield part_class(cluster.accelerator.id, cluster.accelerator.vendor)
    yield layout.framework
    yield {"none": "nothing sharded", "zero1": "optimizer states sharded"}.get(layout.sharding, "more sharded")
    if cluster.nodes == 1 and layout.sharding == "none":
        yield UNSHARDED
    yield "8 or 4 bits" if precision_width(workload.precision) < 2 else "16 or more bits"
    yield "with experts" if workload.model.experts else "dense"


def part_class(name: str, vendor: str) -> str:
    """The class of an accelerator by its catalog id: cards for workstations and PCIe slots, else NVIDIA's product
    or the vendor.

    >>> part_class("rtx-4090", "NVIDIA"), part_class("gb200", "NVIDIA"), part_class("mi350x", "AMD")
    ('cards', 'GB200', 'AMD')
    """
    if name.startswith("rtx-") or "-pcie" in name:
        return "cards"
    return name.partition("-")[0].upper() if vendor == "NVIDIA" else vendor


def share_inside_by_source(cases: Iterable[Case]) -> float:
    """The share of cases inside their range, each source with one weight."""
    sources: dict[str, list[bool]] = {}
    for case in cases:
        sources.setdefault(training_source(case.id), []).append(bool(case.inside))
    return mean(mean(found) for found in sources.values())


def cases_of_regimes(cases: Iterable[Case], held_out: bool) -> Mapping[str, tuple[Case, ...]]:
    """The cases of one side by regime. Sources that were read before the split was declared are of the fitted side."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        source = training_source(case.id)
        if (source not in BEFORE and is_held_out(source)) is held_out:
            design = study_of(case.id).design
            assert design is not None
            for name in regimes(design):
                found.setdefault(name, []).append(case)
    return {name: tuple(some) for name, some in found.items()}


def _share_inside(cases: Sequence[Case]) -> float:
    """The share of cases inside their range; 1 without cases."""
    return (score("", cases).inside or 0.0) if cases else 1.0


def section(cases: Iterable[Case]) -> str:
    """What ranges are made of, and the table of the shares inside."""
    every = tuple(cases)
    held, fitted = (cases_of_regimes(every, side) for side in (True, False))
    rows = [
        "| regime | held out | sources | inside | ± range | fitted side | sources | inside | ± range |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted(held, key=lambda each: (each != ALL, _share_inside(held[each]))):
        if len(held[name]) >= SHOWN:
            cells = (*_Side(held[name]).cells, *_Side(fitted.get(name, ())).cells)
            rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([RANGES, FIRST + first_ranges.table(), *rows]) + "\n"


def memory_regimes(case: Case) -> Iterator[str]:
    """The regimes of a published peak: the activations' share of it, what it counts, its precision and its model."""
    plan = plan_of(case.id)
    assert plan is not None and plan.memory is not None
    share = plan.memory.activations.value / plan.memory.total.value
    yield ALL
    yield next((name for limit, name in ACTIVATIONS if share < limit), "activations half of it and more")
    yield f"memory counted: {_counted_memory()[case.id]}"
    workload = plan.design.workload
    assert workload is not None
    yield "8 or 4 bits" if precision_width(workload.precision) < 2 else "16 or more bits"
    yield "with experts" if workload.model.experts else "dense"


ACTIVATIONS = ((0.25, "activations below a quarter"), (0.5, "activations a quarter to a half"))
"""Bounds of the activations' share of a peak, with the regime below each."""


def _counted_memory() -> Mapping[str, str]:
    """What the published peak of each run counts (`memory_counts`)."""
    return {run["id"]: run.get("memory_counts", "device") for run in published_runs("new_runs")}


def memory_section(cases: Iterable[Case]) -> str:
    """What the ranges of peaks are made of, and the table of the shares inside."""
    found: dict[str, tuple[list[Case], list[Case]]] = {}
    for case in cases:
        for name in memory_regimes(case):
            found.setdefault(name, ([], []))[not is_held_out(training_source(case.id))].append(case)
    rows = [
        "| regime | held out | sources | inside | ± range | fitted side | sources | inside | ± range |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted(found, key=lambda each: (each != ALL, _share_inside(found[each][0]))):
        cells = (cell for side in found[name] for cell in _Side(tuple(side)).cells)
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([PEAKS, *rows]) + "\n"


def least_share_of_peaks(error: float) -> float:
    """The share of published peaks of the fitted side inside their range with an ``error`` of activations, as a share
    of them, without the tenth of the sources whose absence lowers it most; each source has one weight.
    """
    sides = {case: training_source(case.id) for case in new_memory(error)}
    sources: dict[str, list[Case]] = {}
    for case, source in sides.items():
        if not is_held_out(source):
            sources.setdefault(source, []).append(case)
    shares = sorted(share_inside_by_source(found) for found in sources.values())
    return mean(shares[: len(shares) - round(len(shares) / 10)])
