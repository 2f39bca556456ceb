"""The influence of each assumption on step time and memory, computed by repeated estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from operator import attrgetter

from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Assumption, Design, Layout
from clusterspec.cluster.variation import NoSuchKeyError, design_with_keys, with_values
from clusterspec.cost.collectives import falls_back_to_sockets
from clusterspec.cost.estimate import PART_SPREAD, SPREADS, estimate, plan_with_memory_of
from clusterspec.cost.parameters import MOMENTS, ORTHOGONAL, TABLE_MOMENTS
from clusterspec.cost.plan import Plan
from clusterspec.cost.plan_assumptions import unused_figures
from clusterspec.cost.term import Term
from clusterspec.quantity import PRECISIONS, Figure, Quantity, precision_width
from clusterspec.records import fields, replace
from clusterspec.results.verdict import LEAST, Influence
from clusterspec.source import Assumed
from clusterspec.spec import schema
from clusterspec.standard import recent, sum_of
from clusterspec.units import display
from clusterspec.units.symbols import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STEP = 0.1
"""The relative change of a number without a range."""
COSTS = frozenset({"B", "s"})
"""Units of figures that cost more if they are larger. Their upper end is tried first, since the lower end saves."""
DEGREES = frozenset(
    f"layout.{key}" for key in ("tp", "cp", "ep", "pp", "expert_tp", "micro_batch", "virtual_stages", "shard_group")
)
EARLIEST_SOFTWARE = 2021
PLUGIN = "cluster.scale_out.collective_plugin"
OF_RANGES = frozenset({*SPREADS.values(), PART_SPREAD})
"""Figures of a software release or an accelerator that only widen a range and do not change a time."""
OF_QUESTION = frozenset({"workload.kind"})
"""Keys whose alternatives describe different work, so that figures are not comparable."""
PARAMETERS = "workload.parameter_precision"
OVERSUBSCRIPTION = "cluster.scale_out.oversubscription"
SIZES: Mapping[str, Callable[[str], tuple[object, Any]]] = {
    PARAMETERS: lambda name: ((name == "bf16", int(precision_width(name))), precision_width(name)),
    "workload.gradient_precision": lambda name: (
        precision_width(name) < precision_width("fp32"),
        precision_width(name),
    ),
    "workload.optimizer": lambda name: (name in ORTHOGONAL, (MOMENTS[name], TABLE_MOMENTS[name])),
    "layout.optimizer_states.master": lambda name: (precision_width(name) > 0, precision_width(name)),
    "layout.optimizer_states.moments": lambda name: ("moments", precision_width(name)),
}
"""For choices that affect the time and memory of training only through a size: functions from a choice to its kind and
size, by key.

Among choices of one kind, a larger size needs more of both.
"""
WIDE = frozenset({"fp32", "tf32"})
"""Formats that are not used for the products or the stored weights of language models unless a spec states them."""
GRADIENTS = "workload.gradient_precision"
NARROW = frozenset(name for name, each in PRECISIONS.items() if each.bits <= 8)
"""Formats in which nobody sums gradients: small ones vanish (the rule `narrow-gradients`)."""
KEPT = frozenset({PARAMETERS, "workload.expert_parameter_precision", "workload.kv_precision"})
DP_LAST = ("tp", "cp", "ep", "pp", "dp")


def ranked_influences(influences: Iterable[Influence | None]) -> tuple[Influence, ...]:
    """The influences that change the step time or memory of a plan by more than `LEAST`, largest first."""
    return tuple(sorted((one for one in influences if one and one.size > LEAST), key=lambda one: -one.size))


Accepts = Callable[[str, str], bool]
"""Whether a design may have this choice of a key."""


def largest_influence(
    plan: Plan, assumption: Assumption, accepts: Accepts = lambda key, choice: True
) -> Influence | None:
    """The largest change that another value of an assumption causes; None if no other value is known.

    A number varies over its range, or by `STEP` if it has none; a keyword varies over all choices that a design may
    have. Each alternative needs an estimate of about a millisecond; assumptions that affect no figure of the plan are
    skipped.
    """
    spread = _range_influence(plan, assumption)
    if spread is not None:
        return spread
    known: list[Influence] = []
    for choices in _alternative_lists(plan, assumption):
        found = _first_influence(plan, assumption, choices, accepts)
        known += [found] if found else []
        if found and len(choices) > 1 and _larger_increase(found) == 0:  # then the smallest saves the most
            least = _first_influence(plan, assumption, sorted(choices, key=SIZES[assumption[0]]), accepts)
            known += [least] if least else []
        if found and isinstance(found.against, Figure) and (found.size < LEAST / 2 or _larger_increase(found) > 0):
            break  # the other end of a range as wide does not reach the limit either, or it costs less than the design
    return max(known, key=lambda one: (_larger_increase(one), one.size), default=None)


def _first_influence(plan: Plan, assumption: Assumption, choices: list[Any], accepts: Accepts) -> Influence | None:
    """The influence of the first of the given values with which the design can run; None if there is none."""
    influences = (_influence_of_value(plan, assumption, each) for each in choices)
    return next((each for each in influences if each and _is_possible_design(each, accepts)), None)


def _is_possible_design(influence: Influence, accepts: Accepts) -> bool:
    """Whether a design may have the other value of an influence; an influence that is not listed is not asked for."""
    choice = influence.against
    return not isinstance(choice, str) or influence.size <= LEAST or accepts(influence.assumption[0], choice)


def _larger_increase(influence: Influence) -> float:
    """The larger of the relative changes of time and memory."""
    return max(influence.step_time, influence.memory)


def _influence_of_value(plan: Plan, assumption: Assumption, against: Any) -> Influence | None:
    """The influence of one other value; None if the design cannot run with it."""
    key, value, _ = assumption
    if isinstance(against, Figure):
        design: Design | None = _design_with_figure(plan, key, against.value)
    elif _has_sizes(plan.design, key) and SIZES[key](against) == SIZES[key](value):
        design = plan.design
    else:
        design = _design_with_key(plan, key, against)
    if design is None:
        return None
    return _relative_change(plan, assumption, against, _plan_of_changed_design(plan, design))


def _plan_of_changed_design(plan: Plan, design: Design) -> Plan:
    """The plan of a changed design. It is the same plan if engines of serving are equal in both designs; memory is
    counted again only where it may differ.
    """
    if design is plan.design or (plan.serving is not None and _have_equal_engines(plan.design, design)):
        return plan
    return plan_with_memory_of(design, plan) if _has_same_memory(plan.design, design) else estimate(design, plan.tables)


def _have_equal_engines(design: Design, other: Design) -> bool:
    """Whether two serving designs have equal times and memory, since no engine reads what differs between them."""
    from clusterspec.cost.serving.equal_engines import have_equal_engines  # a training plan needs none of its modules

    return have_equal_engines(design, other)


def _has_same_memory(design: Design, other: Design) -> bool:
    """Whether two designs do the same work on accelerators with the same memory.

    Achieved rates, rank order and overlap of communication are ignored.
    """
    if design.workload != other.workload or not (design.layout and other.layout and design.cluster and other.cluster):
        return False
    memories = [
        (each.ranks_per_accelerator, each.accelerator.vendor, each.accelerator.memory)
        for each in (design.cluster, other.cluster)
    ]
    return memories[0] == memories[1] and _holds_as_much(design.layout, other.layout)


_memory_inputs = attrgetter(*(each.name for each in fields(Layout) if each.name not in {"order", "overlap", "stack"}))
"""The fields of a layout that may affect memory, except for its stack."""


def _holds_as_much(layout: Layout, other: Layout) -> bool:
    """Whether the ranks of two layouts of one workload hold the same memory."""
    if layout.stack is not other.stack:
        stacks = [replace(each.stack, achievable={}) if each.stack else None for each in (layout, other)]
        if stacks[0] != stacks[1]:
            return False
    return bool(_memory_inputs(layout) == _memory_inputs(other))


def _relative_change(plan: Plan, assumption: Assumption, against: Any, other: Plan) -> Influence | None:
    """The relative changes from one plan to another; None if the other lacks a figure that the first has."""
    if (plan.step and not other.step) or (plan.stored and not other.stored):
        return None
    step = _time_change(plan, other)
    memory = other.memory_bytes / plan.memory_bytes - 1 if other.memory_bytes and plan.memory_bytes else 0.0
    return Influence(assumption, against, step, memory)


def _time_change(plan: Plan, other: Plan) -> float:
    """The relative change of the step time, or for serving of the time per output token.

    An engine that does not fit has no time per output token: that time depends on the memory for its cache.
    """
    if plan.serving is not None and plan.fits and not other.fits:
        return 0.0
    if plan.serving is not None and other.serving is not None:
        return other.serving.tpot / plan.serving.tpot - 1
    return other.step.seconds / plan.step.seconds - 1 if other.step and plan.step else 0.0


def _alternative_lists(plan: Plan, assumption: Assumption) -> list[list[Any]]:
    """Lists of alternative values of an assumption that may have the largest influence.

    The first value of each list with which the design can run has the largest influence.
    """
    key, value, _ = assumption
    design = plan.design
    if key in OF_QUESTION:
        return []
    if any(name == key for name, _, _ in design.assumptions):
        others = _alternative_values(design, key, value)
        return _choices_by_kind(key, others) if _has_sizes(design, key) else [[each] for each in others]
    if isinstance(value, Figure) and _figure_owner(design, key) and not _is_unused_figure(design, key):
        ends = (1 + STEP, 1 - STEP) if value.unit in COSTS else (1 - STEP, 1 + STEP)
        return [[replace(value, value=value.value * factor)] for factor in ends]
    return []


def _has_sizes(design: Design, key: str) -> bool:
    """Whether the choices of a key affect cost only by kind and size. This applies only to training, since engines have
    separate rates for each choice.
    """
    return key in SIZES and design.workload is not None and design.workload.kind == "train"


def _choices_by_kind(key: str, choices: list[Any]) -> list[list[Any]]:
    """The choices of a key by kind, largest first within a kind."""
    size = SIZES[key]
    kinds = dict.fromkeys(size(each)[0] for each in choices)
    return [
        sorted((each for each in choices if size(each)[0] == kind), key=lambda one: size(one)[1], reverse=True)
        for kind in kinds
    ]


def _is_unused_figure(design: Design, key: str) -> bool:
    """Whether a figure affects no time of a design: it sets a range, or applies to layers that the model lacks."""
    model = design.workload.model if design.workload is not None else None
    return (name := key.partition(" ")[2]) in OF_RANGES or (
        model is not None and name.startswith(unused_figures(model))
    )


def _alternative_values(design: Design, key: str, value: Any) -> list[Any]:
    """The alternative values of a key, by the type of its value."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return other_choices(design, key, value)
    if key == OVERSUBSCRIPTION:
        return [(Quantity(1 + STEP, "1", f"{1 + STEP:g}:1"),)]
    if key == "layout.order":
        return [DP_LAST] if tuple(value) != DP_LAST else []
    if key == "layout.software_year":
        return list(range(_earliest_software(design), int(value)))
    numbers = _alternative_numbers(key, value) if isinstance(value, int | float) else []
    kind = _schema_node(key).get("x-quantity")
    unit = KINDS[kind].unit if kind in KINDS else ""
    return [Quantity(each, unit, display(each, unit)) for each in numbers] if unit not in {"", "1"} else numbers


def other_choices(design: Design, key: str, value: str) -> list[str]:
    """Plausible other choices of a key; for plugins, one choice that changes the behavior of the library."""
    work = design.workload
    if key == PARAMETERS and work is not None and work.expert_parameter_precision != work.parameter_precision:
        return []  # NOTE: a spec that states it says the same of the experts, whose own precision is an alternative too
    serves = work is not None and work.kind == "serve"
    unusual = WIDE if key == "workload.precision" or (serves and key in KEPT) else frozenset()
    unusual |= NARROW if key == GRADIENTS else frozenset()
    others = [choice for choice in choices_of(key) if choice != value and choice not in unusual]
    fabric = design.cluster.scale_out if design.cluster else None
    if key != PLUGIN or fabric is None:
        return others
    present = falls_back_to_sockets(fabric)
    return [
        each for each in others if falls_back_to_sockets(with_values(fabric, {("collective_plugin",): each})) != present
    ][:1]


def _alternative_numbers(key: str, value: float) -> list[Any]:
    """Alternative numbers: twice a parallel degree; for other numbers `STEP` below and above, up to the maximum of the
    key.
    """
    if key in DEGREES:
        return [2 * value]
    most = _schema_node(key).get("maximum", inf)
    return [value * (1 - STEP), min(value * (1 + STEP), most)] if isinstance(value, float) else []


def _earliest_software(design: Design) -> int:
    """The first possible year of the software of a design: the later of the year of its accelerator and the year of the
    first generation or release of its framework in the catalog.
    """
    cluster, layout, catalog = design.cluster, design.layout, design.catalog
    years = [EARLIEST_SOFTWARE, (cluster.accelerator.year if cluster else None) or EARLIEST_SOFTWARE]
    if layout is not None and layout.framework and catalog is not None:
        names = (name.rpartition("-") for name in catalog.ids("stack"))
        known = [int(year) for family, _, year in names if family == layout.framework and year.isdigit()]
        known += [year for year in layout.capabilities.framework.releases.values() if year is not None]
        years += [min(known)] if known else []
    return max(years)


def choices_of(key: str) -> tuple[Any, ...]:
    """The choices of a key in the schema."""
    return tuple(_schema_node(key).get("enum", ()))


def _schema_node(key: str) -> Mapping[str, Any]:
    """The schema of a key; empty for a name that is no key."""
    node: Mapping[str, Any] = schema()
    for part in key.split("."):
        node = node.get("properties", {}).get(part, {})
        if "$ref" in node:
            node = schema()["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _design_with_key(plan: Plan, key: str, value: Any) -> Design | None:
    """The design with another value for a key of the spec. None if the assumption is not about a key, if the other
    design cannot run, or if its peak rate is unknown.
    """
    try:
        other = design_with_keys(plan.design, {tuple(key.split(".")): value})
    except NoSuchKeyError:
        return None
    if other.cluster is None or (plan.step and other.workload and other.workload.peak is None):
        return None
    return None if layout_error_rules(other) and not plan.refused else other


def _figure_owner(design: Design, key: str) -> str:
    """The owner of an ``achievable`` figure: the accelerator, the stack, or neither (empty)."""
    cluster, layout = design.cluster, design.layout
    owner, _, name = key.partition(" ")
    if cluster and owner == cluster.accelerator.id and name in cluster.accelerator.achievable:
        return "accelerator"
    stack = layout.stack if layout else None
    return "stack" if stack and owner == stack.id and name in stack.achievable else ""


def _design_with_figure(plan: Plan, key: str, value: float) -> Design:
    """The design with another value for an ``achievable`` figure of its accelerator or its stack. Legality rules do not
    read such figures.
    """
    design = plan.design
    name = key.partition(" ")[2]
    owner = ("cluster", "accelerator") if _figure_owner(design, key) == "accelerator" else ("layout", "stack")
    return with_values(design, {(*owner, "achievable", name, "value"): value})


def _range_influence(plan: Plan, assumption: Assumption) -> Influence | None:
    """The effect on memory of an assumed figure whose terms have a range of their own."""
    key, value, _ = assumption
    if plan.memory is None or not isinstance(value, Figure):
        return None
    terms, total = _terms_by_assumption(plan.memory.total).get(key, ()), plan.memory.total.value
    known = sum_of(term.value for term in terms)
    if not total or not known:
        return None
    more = sum_of((term.high or term.value) - term.value for term in terms)
    return Influence(assumption, replace(value, value=value.value * (1 + more / known)), 0.0, more / total)


@recent(1)
def _terms_by_assumption(total: Term) -> Mapping[str, list[Term]]:
    """The leaf terms below a term, grouped by the assumptions among their inputs."""
    found: dict[str, list[Term]] = {}
    for term in total.walk():
        if not term.parts:
            for key in {each.origin.key for _, each in term.inputs if isinstance(each.origin, Assumed)}:
                found.setdefault(key, []).append(term)
    return found
