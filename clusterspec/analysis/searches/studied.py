"""A study with variations of its spec, and the families of layouts that a search enumerates and varies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

from clusterspec.cluster.demands import Demands, undecided_conditions
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term
from clusterspec.finding import Severity
from clusterspec.procurement.bill import Bill, bill
from clusterspec.procurement.cost import Cost, cost
from clusterspec.records import NamedTuple, dataclass, field
from clusterspec.results.search import Section
from clusterspec.source import Path as KeyPath
from clusterspec.studies import Study, variation
from clusterspec.units import distinct_texts, plural

# The space of a search: families of layouts with the same degrees, and the choices inside each family.
#
# A family fixes tp, cp, pp, dp, ep and expert_tp. Its layouts are the product of its choices: micro-batch with the
# pipeline's schedule, sharding with its group, recomputation, and order of the axes


T = TypeVar("T")


class Pipeline(NamedTuple):
    """The pipeline settings: sequences per micro-batch, virtual stages per rank, and the schedule."""

    micro_batch: int
    virtual_stages: int
    schedule: str


class Sharding(NamedTuple):
    """A sharding, and the ranks over which it splits the states (`Layout.shard_group`)."""

    kind: str
    group: int


@dataclass(frozen=True)
class Pins:
    """Choices that the caller fixes, by the keys of the layout; an axis that is absent is searched."""

    values: Mapping[str, object]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def choices(self, key: str, otherwise: Sequence[object]) -> tuple[object, ...]:
        """Only the pinned value, else all values of ``otherwise``."""
        return (self.values[key],) if key in self.values else tuple(otherwise)


@dataclass(frozen=True)
class Family:
    """Layouts with the same degrees. The choices multiply: ``size`` layouts in all."""

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int
    expert_tp: int
    sequence_parallel: bool
    pipelines: tuple[Pipeline, ...]
    shardings: tuple[Sharding, ...]
    recompute: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]

    @property
    def axes(self) -> tuple[Sequence[Any], ...]:
        """The choices, in the order in which layouts are numbered: the last vary fastest."""
        return self.pipelines, self.shardings, self.recompute, self.orders

    @cached_property
    def pipelines_by_schedule(self) -> Mapping[str, Sequence[tuple[int, Pipeline]]]:
        """The pipelines of each schedule, with their positions."""
        return _choices_by_kind(self.pipelines, [each.schedule for each in self.pipelines])

    @cached_property
    def shardings_by_kind(self) -> Mapping[str, Sequence[tuple[int, Sharding]]]:
        """The shardings of each kind, with their positions."""
        return _choices_by_kind(self.shardings, [each.kind for each in self.shardings])

    @property
    def size(self) -> int:
        return len(self.pipelines) * len(self.shardings) * len(self.recompute) * len(self.orders)


def _choices_by_kind(choices: Sequence[T], kinds: Sequence[str]) -> Mapping[str, Sequence[tuple[int, T]]]:
    """The choices of each kind, with their positions."""
    found: dict[str, list[tuple[int, T]]] = {}
    for at, (kind, choice) in enumerate(zip(kinds, choices, strict=True)):
        found.setdefault(kind, []).append((at, choice))
    return found


class Choice(NamedTuple):
    """One layout of a family."""

    family: Family
    pipeline: Pipeline
    sharding: Sharding
    recompute: str
    order: tuple[str, ...]


class Space:
    """All layouts of a search, numbered family by family."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)
        self.first = (0, *accumulate(family.size for family in self.families))
        """The number of the first layout of each family, and of all layouts together at the end."""

    @property
    def size(self) -> int:
        return self.first[-1]

    def choice(self, number: int) -> Choice:
        """The layout of a number from 0."""
        at, place = self.place(number)
        family = self.families[at]
        return Choice(family, *(values[index] for values, index in zip(family.axes, place, strict=True)))

    def place(self, number: int) -> tuple[int, tuple[int, ...]]:
        """The index of a layout's family, and the indices of its choices in that family."""
        at = bisect_right(self.first, number) - 1
        rest, indices = number - self.first[at], []
        for values in reversed(self.families[at].axes):
            rest, index = divmod(rest, len(values))
            indices.append(index)
        return at, tuple(reversed(indices))

    def number_of_layout(self, at: int, place: Sequence[int]) -> int:
        """The number of a layout, by the place of its family and the indices of its choices there."""
        number = 0
        for values, index in zip(self.families[at].axes, place, strict=True):
            number = number * len(values) + index
        return self.first[at] + number


@dataclass(frozen=True)
class SearchJob:
    """The input of a search: a machine, the workload, and the layout that supplies the fixed settings."""

    cluster: Cluster
    workload: Workload
    layout: Layout

    @property
    def demands(self) -> Demands:
        """The conditions that every layout of the job must satisfy."""
        work = self.workload
        ranks = self.layout.nodes * self.cluster.ranks_per_node
        refused, required = undecided_conditions(self.cluster, work, self.layout)
        held, batch, length = self.layout.capabilities, work.global_batch, work.sequence_length
        domain = self.cluster.ranks_per_domain
        return Demands(ranks, held, work.model, batch, length, False, refused, required, domain=domain)

    @property
    def searches_pipelines(self) -> bool:
        """Whether the search tries pipelines. It does not if the framework has no built-in pipelines and the spec's
        layout has none.
        """
        return self.layout.pp > 1 or not self.layout.capabilities.refuses("pipeline.built_in")


NO_PINS = Pins({})


def divisors(number: int) -> tuple[int, ...]:
    """Every divisor, ascending.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    small = [side for side in range(1, int(number**0.5) + 1) if number % side == 0]
    return tuple(sorted({*small, *(number // side for side in small)}))


# A study with variations of its spec: other layouts, machines and workloads

KEPT_KEYS = (
    "framework",
    "software",
    "software_year",
    "nodes",
    "nodes_per_domain",
    "cp_method",
    "offload",
    "optimizer_states",
    "gradient_compression",
    "gradient_sync",
    "fused_kernels",
    "fused_optimizer",
    "fused_experts",
    "captured_graphs",
    "loss",
    "overlap",
    "dispatcher",
)
"""Layout keys of the spec that every searched layout keeps."""
QUOTED = (("procurement", "quote"), ("procurement", "quoted_total"))
"""The keys of a quote."""
POOLS: KeyPath = ("workload", "serving", "disaggregated")
"""The separate engines of a serving plan."""


class StudyVariations:
    """A study with its variations, their errors, and their costs."""

    def __init__(self, study: Study) -> None:
        self.one = study
        self._bills: dict[str, Bill] = {}

    def with_layout(self, section: Section | None) -> Study:
        """The study with another layout section; without one if it is None."""
        layout = None if section is None else section_with_fixed_settings(self.one, section)
        return variation.rewritten_study(self.one, {("layout",): layout})

    @cached_property
    def machine_errors(self) -> frozenset[str]:
        """Rules that find an error in the spec without any layout, or at a key that every layout of a search keeps."""
        return _known_errors(self.with_layout(None)) | self._rules_with_unreadable_layout_keys

    @property
    def _rules_with_unreadable_layout_keys(self) -> frozenset[str]:
        """Rules that report a layout key as unreadable although every searched layout keeps it."""
        kept = {("layout", key) for key in KEPT_KEYS}
        unread = (each for each in self.one.problems if each.severity is Severity.ERROR)
        return frozenset(each.rule for each in unread if each.path[:2] in kept)

    @cached_property
    def errors(self) -> frozenset[str]:
        """Rules that find an error in the spec itself."""
        return _known_errors(self.one)

    def refusing_rules(self, study: Study) -> tuple[str, ...]:
        """The rules that reject a variation as an alternative: those with an error that the spec does not have, or
        those with any error if the layout cannot run or does not fit.

        A quote applies only to its own machine, so an error in it rejects no other machine.
        """
        found = frozenset(rule for rule, path in study.error_places if path[:2] not in QUOTED)
        worse = found if study.plan.fits is False or not study.has_figures else found - self.errors
        return tuple(sorted(worse))

    def cost(self, design: Design, plan: Plan) -> float | None:
        """The cost of one run, else of the term, or of a million output tokens; None if prices are missing."""
        if design.spec.procurement is None or not design.spec.procurement.prices or design.cluster is None:
            return None
        found = cost(design, plan, self._bill(design))
        term = _cost_term(plan, found) if found else None
        nodes = design.cluster.all_nodes if design.cluster is not None else None
        mine, other = self._bill(self.one.design), self._bill(design)
        return term.value if term and _is_comparable_bill(mine, other, nodes) else None

    def _bill(self, design: Design) -> Bill:
        key = repr((design.spec.cluster, design.spec.procurement, design.cluster.nodes if design.cluster else None))
        if key not in self._bills:
            self._bills[key] = bill(design)
        return self._bills[key]


def _is_comparable_bill(mine: Bill, other: Bill, nodes: int | None) -> bool:
    """Whether the bill of a variation of ``nodes`` has all parts in the bill of the spec; one node needs no fabric."""
    left_out = {item.kind for item in other.unpriced} - {item.kind for item in mine.unpriced}
    return not left_out and (nodes == 1 or other.fabric is not None or mine.fabric is None)


def _cost_term(plan: Plan, cost: Cost) -> Term | None:
    """The cost in search results: per million output tokens for serving; of the run, else of the term, for training."""
    return cost.per_million_tokens if plan.serving is not None else cost.per_run or cost.total


def errors_of(study: Study) -> frozenset[str]:
    """Rules that find an error in a study. Raises the exception of a failed rule."""
    return frozenset(rule for rule, _ in study.error_places)


def _known_errors(study: Study) -> frozenset[str]:
    """Rules with an error in a study. Rules whose check failed are ignored."""
    return frozenset(found.rule for found in study.checked.findings if found.severity is Severity.ERROR)


def with_a_layout(study: Study) -> Study:
    """The study, with an empty layout if its spec has none. For a job of a fleet, the layout has the nodes of
    the job.
    """
    if study.document is None or study.design.layout is not None:
        return study
    nodes = study.fleet_part[1].nodes if study.fleet_part else None
    return variation.rewritten_study(study, {("layout",): {} if nodes is None else {"nodes": nodes}})


def missing_for_search(study: Study) -> str:
    """What the spec must state before a search can run: the first message of the study's errors and their number, if
    any.
    """
    design, workload = study.design, study.spec.workload
    if workload is not None and workload.implied_kind == "serve" and workload.serving is None:
        keys = "`concurrency`, `input_tokens` and `output_tokens`"
        return f"`workload.serving` is missing: it states the load of the plan, such as {keys}"
    if design.cluster is not None and design.workload is not None and design.workload.peak is None:
        return f"{design.cluster.accelerator.id} has no peak at {design.workload.precision}, and no layout has a time"
    errors = study.errors
    wanted = [found for found in errors if found.rule in {"missing-key", "unknown-catalog-id"}] or errors
    if wanted:
        first, more = wanted[0].message, len(errors) - 1
        return f"{first}; {plural(more, 'other error')}: `clusterspec check` reports all" if more else first
    if design.cluster is None:
        return "`cluster` is missing: the machine is not known"
    if workload is None:
        return "`workload` is missing: there is nothing to run"
    return "the workload or the layout does not resolve"


def missing_for_estimate(study: Study) -> str:
    """What the spec has to state before a time or a memory use can be predicted."""
    if study.design.workload is not None and study.spec.layout is None and not study.errors:
        return "the spec has no `layout`; `clusterspec search` and `clusterspec solve --layout best` find one"
    return missing_for_search(study)


def serving_targets_missed(study: Study) -> Iterator[str]:
    """The latency targets that a serving plan misses, with both figures."""
    from clusterspec.cost.serving.targets import target_results

    work, times = study.design.workload, study.plan.serving
    if times is None or work is None or work.serving is None:
        return
    for result in target_results(times, work.serving):
        if result.missed:
            name = result.target.quantity.replace("_", " ").upper()
            yield f"{name} {' > '.join(distinct_texts(result.seconds, result.target.seconds, 's'))}"


def currency_of(study: Study) -> str:
    """The currency of the prices of a study; empty if it states none."""
    return (study.spec.procurement.currency if study.spec.procurement else None) or ""


def present_section(study: Study) -> Section:
    """The layout section of the spec; empty if there is none."""
    written = study.document.value.get("layout") if study.document and isinstance(study.document.value, dict) else None
    return dict(written) if isinstance(written, dict) else {}


def section_with_fixed_settings(study: Study, section: Section) -> dict[str, object]:
    """A layout section with the settings of the spec that search does not vary."""
    kept = {key: value for key, value in present_section(study).items() if key in KEPT_KEYS}
    return kept | dict(section)


def job_of(design: Design) -> SearchJob | None:
    """The input of a search from the design; None without a cluster, a layout, or a training workload with a peak."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or workload.kind != "train" or workload.peak is None:
        return None
    return SearchJob(cluster, workload, layout)


@dataclass(frozen=True)
class SearchOptions:
    """``pins`` fix keys of the layout, ``grid`` names two axes to tabulate. ``explain`` compares the best
    layout with others.

    ``min_headroom`` is the share of the memory that the predicted use leaves free. Without it the upper end of the
    range of the use has to fit.

    ``best_only`` omits everything except the best layouts: the layout of the spec, the front, the placements of
    reinforcement learning, and separate compared with shared engines.

    An empty ``objective`` selects the default: the step time of training, the accelerators of a serving plan with
    targets.
    """

    pins: Mapping[str, object] = field(default_factory=dict)
    objective: str = ""
    top: int = 10
    min_headroom: float | None = None
    grid: tuple[str, str] | None = None
    explain: bool = False
    best_only: bool = False


EVERYTHING = SearchOptions()
"""No key is fixed; the default objective decides."""
