"""The cost of a design: parameters, memory and step time, with the uncertainty range of the step."""

from __future__ import annotations

from collections import defaultdict
from math import hypot

from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Design
from clusterspec.cost import assumed_figure, parameters
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.compute.rates import share_precision
from clusterspec.cost.formulas.compute import launch_overhead, recomputation_factor, utilization
from clusterspec.cost.layer_tables import PhaseTime
from clusterspec.cost.memory import fullest as memory
from clusterspec.cost.plan import Plan, StepRecord, transfer_rows
from clusterspec.cost.tables import Tables
from clusterspec.cost.timing import design_tables, timed_step
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.standard import Recent, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.measured_shares import MeasuredShare

UNKNOWN_SPREAD = assumed_figure(
    "uncertainty",
    "step",
    0.25,
    "relative half-width of the range of a step for a software generation without published runs",
)
BY_YEAR = assumed_figure(
    "uncertainty",
    "release",
    1.25,
    "range of a step if only the year of the software is known, over the range if its release is known: of five "
    "pairs of published runs with one description and one year, three agree within 3 % and two differ by 33 % and"
    " 90 %",
)
STRAGGLERS = assumed_figure(
    "uncertainty",
    "stragglers",
    1.5,
    "half-width of the time lost to stragglers, over its prediction: published scaling series lose between nothing "
    "(NVIDIA's DGX Cloud recipes) and three times the prediction (InternLM, MegaScale's"
    " baseline)",
)
HOST = assumed_figure(
    "uncertainty",
    "host",
    2.5,
    "factor between the slowest or fastest host time of a launch and the predicted one; processors, releases of "
    "PyTorch and Python code differ. It is the smallest factor, in steps of a half, with which the range contains "
    "three in four fitted runs that a threefold host time slows by 2 %, all sources with equal weight (six in ten "
    "without the factor)",
)
UNSEEN_KIND = assumed_figure(
    "uncertainty",
    "unseen.kind",
    0.07,
    "half-width added in quadrature to the range of a step if no run with this precision and framework on the "
    "accelerator is published: with it, the range contains nine in ten runs of each combination of accelerator, "
    "precision and framework when the fit excludes that combination",
)
UNSEEN_PART = assumed_figure(
    "uncertainty",
    "unseen.part",
    0.42,
    "half-width added to the range of a step if no measurement of the accelerator is published: with it, the range "
    "contains nine in ten runs of each accelerator family when the fit excludes the family and the prediction uses "
    "none of its figures",
)
RUN_TO_RUN = assumed_figure(
    "uncertainty",
    "run",
    0.03,
    "smallest half-width of the range of a step whose job was measured: of five pairs of published runs with one"
    " description and one year, three agree within 3 %",
)
OTHER_LAYOUT = assumed_figure(
    "uncertainty",
    "other.layout",
    0.14,
    "half-width added to the range of a step if the measured step of another layout or size sets the rate of GEMMs. "
    "In 1,354 pairs of published runs of one source and accelerator, one of them as the measured step, four in five "
    "steps of the other lie within 16 % (10 % without the measurement); in 584 pairs of sources that no constant "
    "was fitted to, within 26 % (18 %). In quadrature these add 12 % and 18 %, and 12 % and 15 % without experts",
)
_HIGHEST = "the highest model FLOPs utilization of the published training runs, of {} in {} bits (docs/accuracy.md, {})"
HIGHEST_MFU = {
    (systolic, precision): assumed_figure(
        "published", f"mfu.{kind}.{precision}", value, _HIGHEST.format(parts, bits, run)
    )
    for systolic, kind, parts, precision, bits, value, run in (
        (False, "cores", "accelerators with many cores", "bf16", "16", 0.687, "flagperf-011"),
        (False, "cores", "accelerators with many cores", "fp8", "8", 0.525, "mb-237"),
        (False, "cores", "accelerators with many cores", "fp4", "4", 0.281, "mlperf-028"),
        (True, "systolic", "accelerators with large systolic arrays", "bf16", "16", 0.715, "maxtext-031"),
        (True, "systolic", "accelerators with large systolic arrays", "fp8", "8", 0.341, "iron-019"),
    )
}
"""The highest published MFU, by kind of accelerator (with or without large systolic arrays) and by precision as in
`share_precision`.
"""


def highest_mfu(design: Design) -> float | None:
    """The highest published MFU for this kind of accelerator and precision; if none is published for the precision, the
    highest for any. None if the design has no cluster or workload.
    """
    if design.cluster is None or design.workload is None:
        return None
    systolic = design.cluster.accelerator.array is not None
    found = HIGHEST_MFU.get((systolic, share_precision(design.workload.precision)))
    return found.value if found else max(each.value for (kind, _), each in HIGHEST_MFU.items() if kind is systolic)


def mfu_figure_name(design: Design) -> str | None:
    """The name of the accelerator's figure for published runs like this design; None if the design trains nothing.

    Runs in 16 or more bits count as one precision, and frameworks that share kernels count as one framework.
    """
    workload, layout = design.workload, design.layout
    if workload is None or layout is None or layout.stack is None:
        return None
    framework = layout.capabilities.framework.stacks if layout.capabilities.named else None
    return f"mfu.{share_precision(workload.precision)}.{(framework or layout.framework).replace('-', '_')}"


PART_SPREAD = "spread.part"
"""The name of an accelerator's figure for the extra uncertainty that comes from few published sources."""


def unseen_spread(design: Design) -> Figure | None:
    """The half-width added to the step's range if no published run is like the design; None if there is one."""
    name, workload, cluster = mfu_figure_name(design), design.workload, design.cluster
    if name is None or workload is None or cluster is None:
        return None
    known = cluster.accelerator.achievable
    if f"sustained.{share_precision(workload.precision)}" not in known or PART_SPREAD not in known:
        return UNSEEN_PART
    return None if name in known else UNSEEN_KIND


def evidence_figures(design: Design) -> tuple[tuple[str, Figure], ...]:
    """The half-widths, with their keys, that are added to the step's range because few runs on the accelerator are
    published.

    A part without any measurement has only `UNSEEN_PART`. Other parts have their own figure, which falls with the
    number of sources with runs on the chip, and `UNSEEN_KIND` if none of these runs has this precision and framework.
    Empty where nothing is trained.
    """
    name, cluster = mfu_figure_name(design), design.cluster
    if name is None or cluster is None:
        return ()
    part, gained = cluster.accelerator, unseen_spread(design)
    own = [] if gained is UNSEEN_PART else [(f"{part.id} {PART_SPREAD}", part.achievable[PART_SPREAD])]
    return (*own, *([] if gained is None else [(f"{part.id} {name}", gained)]))


SPREADS = {
    (False, None): "spread",
    (True, None): "spread.experts",
    (False, True): "spread.seen",
    (True, True): "spread.experts.seen",
    (False, False): "spread.unseen",
    (True, False): "spread.experts.unseen",
}
"""The name of a stack's figure for its uncertainty, by whether the model has experts, and by whether a published run
has this framework and precision on the accelerator; None stands for both together.
"""


def spread_name(design: Design) -> str:
    """The name of the figure with the uncertainty of a design's software."""
    experts = design.workload is not None and bool(design.workload.model.experts)
    return SPREADS[experts, unseen_spread(design) is None]


def step_range(
    record: StepRecord,
    experts: bool,
    release_known: bool = False,
    unseen: float = 0.0,
    *,
    seen: bool = True,
    ahead: float = 0.0,
    measured: bool = False,
    between_layouts: bool = False,
) -> tuple[float, float]:
    """Low and high seconds; the range should contain four in five measured steps.

    It combines independent uncertainties: the errors of first predictions for this kind of software (`SPREADS`, by
    whether this framework was ``seen`` on the accelerator), what is ``unseen`` of the accelerator, and the uncertainty
    of exposed communication. The range is the same factor up and down, so it extends further up in seconds. The effect
    of a slower or faster host is added separately: the device hides launches until the host takes longer than the
    kernels. ``release_known`` says whether the spec states the release of the software: published runs are grouped by
    year, and releases of one year differ. ``ahead`` is the predicted utilization over the highest that is published:
    the range reaches down to the published one. Where a ``measured`` step of another layout sets the rate, it has most
    errors of the software in it, which then add no more than another layout does. ``between_layouts`` asks for the
    range of what another layout of the job takes, which has some of the errors of software in common with it. If it is
    unknown whether the software overlaps some communication, the low end assumes that computation hides as much of it
    as it can.
    """
    found = record.software.stack.achievable.get(SPREADS[experts, None if between_layouts else seen])
    spread = (found or UNKNOWN_SPREAD).value / (BY_YEAR.value if release_known else 1.0)
    spread = min(spread, OTHER_LAYOUT.value) if measured else spread
    spread *= 1 - COMMON_TO_LAYOUTS.value if between_layouts else 1.0
    down, up = _half_widths(record, hypot(spread, unseen))
    return (record.seconds - _hideable_seconds(record)) / (1 + down), record.seconds * max(1 + up, ahead)


def _half_widths(record: StepRecord, known: float) -> tuple[float, float]:
    """The relative half-widths of a step's range, down and up, with those of software and accelerator ``known``."""
    width = spread_without_software(record, known)
    down, up = host_spread(record)
    return hypot(width, down), hypot(width, up)


def host_spread(record: StepRecord) -> tuple[float, float]:
    """The relative half-widths of a step's range, down and up, due to a faster and a slower host."""
    fast, slow = (step_of_host(record, pace) / record.seconds for pace in (1 / HOST.value, HOST.value))
    return 1 / fast - 1, slow - 1


def step_of_host(record: StepRecord, pace: float) -> float:
    """Seconds of the step if every launch took the host ``pace`` times as long, except collectives of a measured time.

    If the kernels of a pass take longer, they hide the launches. The idle time of a pipeline grows with its passes.
    """
    software, times = record.software, record.times
    gained = sum_of(
        count * (_launch_seconds(phase, software, pace) - phase.launch)
        for part, count in record.parts
        for _, phase in part.phases
    )
    passes = record.chunk_share * record.inputs.micro_batches
    return record.seconds + passes * gained * (1 + times.idle / times.work if times.work else 1.0)


def _launch_seconds(phase: PhaseTime, software: SoftwareBehavior, pace: float) -> float:
    """Seconds that launches add to a pass if they take the host ``pace`` times as long, except collectives with a
    measured time.
    """
    measured = phase.collectives if "launch.collective" in software.stack.achievable else 0.0
    others = phase.launches - measured, phase.collectives - measured, phase.expert_launches, phase.shards
    host = pace * software.host_seconds(*others) + software.host_seconds(measured, measured, 0.0)
    return launch_overhead(phase.launches, phase.device + phase.exposed, host, software.gap)


def spread_without_software(record: StepRecord, unseen: float = 0.0) -> float:
    """The relative half-width of a step's range from exposed communication, stragglers and ``unseen`` errors of the
    accelerator; software and host are excluded.
    """
    late = STRAGGLERS.value * record.times.straggling
    return hypot(unseen, _communication_uncertainty(record) / record.seconds, late / record.seconds)


def measured_step(design: Design) -> MeasuredShare | None:
    """The measured step that sets the rate of products of a design; None if there is none."""
    known = design.cluster.measured if design.cluster else ()
    return next((each for each in known if each.is_of_step), None)


def range_figures(design: Design, seconds: float) -> tuple[tuple[str, Figure], ...]:
    """The half-widths of a step's range that do not come from its software, each with its key as an assumption; they
    are independent and add in quadrature.

    The measured job itself has the half-width of the measurement. Another job on a machine with a measured step has the
    half-width of another layout. Otherwise they are `evidence_figures`.
    """
    measured = measured_step(design)
    if measured is not None:
        return (("measured[].step_time", RUN_TO_RUN if measured.matches_measured_time(seconds) else OTHER_LAYOUT),)
    return evidence_figures(design)


COMMON_TO_LAYOUTS = assumed_figure(
    "uncertainty",
    "layouts.common",
    0.3,
    "share of the software's half-width that two layouts of one job have in common: of sources that no constant was "
    "fitted to, four in five of 584 pairs of layouts of one source and accelerator lie within 26 %, and four in five "
    "of 617 first predictions within 39 %: 1 - ln 1.26 / ln 1.39",
)
REPLICATED = frozenset({"dp_cp", "expert_dp", "replicate", "shard"})
"""Axes of data parallelism."""


def _hideable_seconds(record: StepRecord) -> float:
    """Exposed seconds of the axes whose communication the software may hide, limited to the seconds of computation."""
    axes = {*record.software.stack.may_hide}
    if not axes:
        return 0.0
    axes |= REPLICATED if "dp" in axes else set()
    return min(record.computing_seconds, sum_of(row.exposed for row, _ in transfer_rows(record) if row.axis in axes))


def _communication_uncertainty(record: StepRecord) -> float:
    """The uncertainty of exposed communication in seconds: for each axis, the uncertainty of its most uncertain
    collective.

    Data parallelism overlaps with computation. If part of its transfer is exposed, the error of the whole transfer
    counts, because the exposed part is the difference of two times.
    """
    sent: defaultdict[str, float] = defaultdict(float)
    widest: defaultdict[str, float] = defaultdict(float)
    for row, cost in transfer_rows(record):
        sent[row.axis] += row.seconds if row.axis in REPLICATED and row.exposed else row.exposed
        widest[row.axis] = max(widest[row.axis], cost.uncertainty)
    return sum_of(seconds * widest[axis] for axis, seconds in sent.items())


# The cost of a design: parameters, memory, and the time of one optimizer step


def estimate(design: Design, tables: Tables | None = None) -> Plan:
    """All results that can be computed for a design; the others are None.

    ``tables`` of an earlier estimate are reused as far as they apply to the design. Takes about a millisecond for any
    cluster size.
    """
    return _plan_with_times(plan_with_memory(design), tables)


def plan_with_memory_of(design: Design, plan: Plan) -> Plan:
    """The plan of a design that has the same memory use as another plan, since the same ranks do the same work."""
    return _plan_with_times(_with_parameters(Plan(design, stored=plan.stored)), plan.tables)


def _plan_with_times(plan: Plan, tables: Tables | None) -> Plan:
    """The plan with its times."""
    design = plan.design
    if design.workload is not None and design.workload.serving is not None:
        return _with_serving(plan)
    if tables is None or not tables.apply_to(design):
        tables = _recent_tables(design, tables)
    found = timed_step(design, tables) if tables else None
    return _with_time(replace(plan, tables=tables), found) if found else plan


def legal_estimate(design: Design, tables: Tables | None = None) -> Plan:
    """The estimate of a design; a layout that cannot run has no time.

    `estimate` also times degrees that no framework supports, as if shards of any size existed.
    """
    return legal_times(plan_with_memory(design), tables)


def legal_times(plan: Plan, tables: Tables | None = None) -> Plan:
    """The plan with times, unless its layout cannot run."""
    return plan if layout_error_rules(plan.design) else _plan_with_times(plan, tables)


def plan_with_memory(design: Design) -> Plan:
    """The plan with parameters and memory, without times."""
    return _with_memory(_with_parameters(Plan(design_with_share_of_memory(design))))


def design_with_share_of_memory(design: Design) -> Design:
    """The design with the memory fraction with which its engines are started; unchanged if it does not serve."""
    if design.workload is None or design.workload.serving is None:
        return design
    from clusterspec.cost.serving.plan_engines import design_with_share  # a training plan needs none of its modules

    return design_with_share(design)


_RECENT: Recent[Tables] = Recent(4)
"""The tables of recent jobs: a job is usually estimated several times, with other layouts."""


def _recent_tables(design: Design, near: Tables | None) -> Tables | None:
    """The tables of a design, from the recent ones if any apply. New tables share equal parts with ``near``, the tables
    of another design.
    """
    known = next((tables for tables in _RECENT if tables.apply_to(design)), None)
    if known is not None:
        return known
    made = design_tables(design, near)
    return None if made is None else _RECENT.keep(made)


def _with_serving(plan: Plan) -> Plan:
    """The plan with the times of serving."""
    from clusterspec.cost.serving.times import serving_times  # a training plan needs none of its modules

    found = serving_times(plan.design)
    return plan if found is None else replace(plan, serving=found)


def _with_parameters(plan: Plan) -> Plan:
    if plan.design.workload is None:
        return plan
    whole = parameters.model_weights(plan.design.workload.model)
    return replace(plan, parameters=whole.total, active_parameters=whole.active_weights)


def _with_memory(plan: Plan) -> Plan:
    found = memory.design_memory(plan.design)
    return plan if found is None else replace(plan, stored=found)


def _with_time(plan: Plan, record: StepRecord) -> Plan:
    design, seconds = plan.design, record.seconds
    cluster, workload, layout = design.cluster, design.workload, design.layout
    assert cluster and workload and layout
    assert workload.peak is not None  # there are rates
    tokens = workload.global_batch * workload.filled_length
    rate = tokens / seconds / (layout.ranks / cluster.ranks_per_accelerator)
    each = parameters.workload_flops_per_token(workload)
    mfu = utilization(rate * each, 1.0, 1, workload.peak.value)
    timed = replace(
        plan,
        step=record,
        tokens_per_second_per_accelerator=rate,
        model_flops_per_accelerator=rate * each,
        mfu=mfu,
        hfu=mfu * recomputation_factor(record.recomputed_flops / record.flops),
        time_to_train=workload.tokens / tokens * seconds if workload.tokens else None,
    )
    if workload.rl is None or not workload.tokens:
        return timed
    times = timed.rl
    whole = replace(timed, time_to_train=workload.tokens / times.tokens_per_second if times else None)
    vars(whole)["rl"] = times  # a cached property: the time to train changes nothing in it
    return whole


def unmeasured_step_time(plan: Plan) -> float | None:
    """The step time in seconds if catalog efficiencies replaced the measured ones; None without measurements or a step
    time.
    """
    cluster = plan.design.cluster
    if plan.step is None or cluster is None or not cluster.measured:
        return None
    from clusterspec.cluster.variation import without_measured

    other = estimate(without_measured(plan.design), plan.tables)
    return other.step.seconds if other.step else None
