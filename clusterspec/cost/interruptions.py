"""Interruptions of a training job by failures and checkpoints, and the remaining goodput."""

from __future__ import annotations

from itertools import takewhile
from math import prod

from clusterspec.cluster.model import Design, Layout
from clusterspec.cost.class_rates import MachineFailures
from clusterspec.cost.failures import PartRate, stated_figure
from clusterspec.cost.formulas.compute import larger
from clusterspec.cost.formulas.failures import availability, best_interval, goodput
from clusterspec.cost.part_classes import PartClass
from clusterspec.cost.standby import ONE_NODE, Standbys, leaves_spares_open
from clusterspec.quantity import DAY, Figure
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Assumed, Computed
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.plan import Plan

REPAIR = Figure(
    DAY,
    "s",
    Assumed("operations.repair_time", "a day until a failed part is replaced; no published figure holds for all parts"),
)
RESTART = Figure(
    600.0,
    "s",
    Assumed(
        "operations.restart_time",
        "10 minutes until training runs again, once a node has taken over or is repaired; the 466 interruptions in 54"
        " days of the Llama 3 run, with more than 90 % effective training time, leave at most 17 minutes each"
        " (arXiv:2407.21783)",
    ),
)
STANDBY = Figure(
    1.0,
    "1",
    Assumed(
        "cluster.spare_nodes",
        "a node takes the place of each failed one, since the spec states no number of spares; with `spare_nodes: 0`,"
        " a failure stops the job until the repair",
    ),
)
HOT_RESTART = Figure(
    120.0,
    "s",
    Assumed(
        "operations.restart_time",
        "2 minutes with a hot spare: its software runs already, so the job only rebuilds its groups and loads "
        "states; by judgment, no published figure holds for all jobs",
    ),
)
CHECKPOINT_TIME = Figure(
    60.0,
    "s",
    Assumed(
        "operations.checkpoint_time", "one minute; neither the spec nor the bandwidth of the storage system gives it"
    ),
)

ASYNCHRONOUS_PAUSE = Figure(
    10.0,
    "s",
    Assumed(
        "operations.checkpoint.pause",
        "training stops for the copy of the states to host memory: several seconds in MegaScale (arXiv:2402.15627,"
        " section 4.4)",
    ),
)


MOSTLY = 0.5
"""If more than this share of the failures waits for a repair, repairs are reported as the main cause of the time lost
to restarts.
"""


@dataclass(frozen=True)
class Interruptions:
    """The effect of failures and checkpoints on a job; each figure in seconds with its origin.

    ``restart`` is the mean over failures, from each until training runs again; ``waits`` is the share of the failures
    that wait for a repair, since no standby node takes over. ``share`` is the goodput, ``low`` and ``high`` its range
    over the ranges of the failure rates (equal to ``share`` where the spec states the rate).
    """

    between: Figure
    interval: Figure
    checkpoint: Figure
    restart: Figure
    share: float
    low: float
    high: float
    waits: float = 0.0
    rests_on: tuple[Figure, ...] = ()
    """The restart times that ``restart`` averages."""
    standby: Figure | None = None
    """The standby node that is assumed where the spec leaves spares open."""

    @property
    def stopped_share(self) -> float:
        """The share of the time in which the job is stopped, from a failure until training runs again."""
        return 1 - availability(self.between.value, self.restart.value)

    @property
    def saving_share(self) -> float:
        """The share of the time in which training waits for checkpoints."""
        return (1 - self.stopped_share) * min(1.0, self.checkpoint.value / self.interval.value)

    @property
    def repeated_share(self) -> float:
        """The share of time spent on steps that a failure discards because no checkpoint includes them."""
        return max(0.0, 1 - self.stopped_share - self.saving_share - self.share)

    @property
    def mostly_waits(self) -> bool:
        """Whether repairs are the main cause of the time lost to restarts."""
        return self.waits > MOSTLY

    @property
    def figures(self) -> tuple[tuple[str, Figure], ...]:
        """The inputs of the goodput formula by name."""
        return (
            ("interval", self.interval),
            ("between", self.between),
            ("checkpoint", self.checkpoint),
            ("restart", self.restart),
        )

    @property
    def assumed(self) -> tuple[Figure, ...]:
        """The figures that the spec does not state."""
        figures = (self.between, self.interval, self.checkpoint, *(self.rests_on or (self.restart,)))
        figures += (self.standby,) if self.standby is not None else ()
        return tuple(each for each in figures if isinstance(each.origin, Assumed))


def plan_interruptions(plan: Plan) -> Interruptions | None:
    """The interruptions of the job of a training plan; None if its step has no time."""
    design, step = plan.design, plan.step
    if design.cluster is None or design.layout is None or step is None:
        return None
    return job_interruptions(design, plan.parameters, step=step.seconds)


def job_interruptions(
    design: Design, parameters: float | None, *, step: float, failures: MachineFailures | None = None
) -> Interruptions:
    """The interruptions of the job of a design with a layout, from figures of the spec and the rates of the catalog.

    ``parameters`` gives the checkpoint size where the spec states a storage system and no checkpoint time. ``step`` is
    the time of a step in seconds: training saves at most once per step, however little a checkpoint costs. The restart
    includes the time of detection.
    """
    layout, written = design.layout, design.spec.operations or OperationsSpec()
    assert layout is not None
    networks = design.spec.cluster.networks if design.spec.cluster else None
    found = failures or MachineFailures.from_design(design)
    between, rates = found.time_between
    checkpoint = _checkpoint_time(written, networks, parameters, layout)
    interval = stated_figure(written.interval, written.interval_key) or Figure(
        larger(step, best_interval(between.value, checkpoint.value)),
        "s",
        Computed("max(step_time, sqrt(2 * between * checkpoint))"),
    )
    recovery = Recovery.from_design(design, parameters)
    restart, waits = recovery.mean_restart(found.interrupting)
    share, low, high = (
        goodput(interval.value, each, checkpoint.value, restart.value) for each in (between.value, *rates)
    )
    rests_on = (recovery.restart, recovery.repair) if waits else (recovery.restart,)
    standby = STANDBY if leaves_spares_open(design) else None
    return Interruptions(between, interval, checkpoint, restart, share, low, high, waits, rests_on, standby)


class Recovery(NamedTuple):
    """How a job runs again after a failure.

    ``restart`` is the time until it runs on a standby node, or again once its nodes are repaired, ``repair`` until a
    failed part is replaced, ``noticed`` the seconds until a failure is noticed. ``alone`` means that the spec states a
    restart time but neither spares nor a repair time, so the restart time also covers the repair of a failed node.
    """

    standbys: Standbys
    layout: Layout
    ranks_per_node: int
    restart: Figure
    repair: Figure
    noticed: float
    shrinks: bool
    alone: bool

    @classmethod
    def from_design(cls, design: Design, parameters: float | None) -> Recovery:
        """The recovery of the job of a design; ``parameters`` as for `job_interruptions`."""
        layout, written = design.layout, design.spec.operations or OperationsSpec()
        assert design.cluster is not None and layout is not None
        networks = design.spec.cluster.networks if design.spec.cluster else None
        standbys = Standbys.from_design(design)
        stated = stated_figure(written.repair_time, "operations.repair_time")
        return cls(
            standbys,
            layout,
            design.cluster.ranks_per_node,
            _restart_time(standbys, written, _checkpoint_read_time(written, networks, parameters, layout)),
            stated or REPAIR,
            written.detection_time.value if written.detection_time else 0.0,
            written.shrinks,
            written.restart_time is not None and stated is None and not standbys.total,
        )

    def repair_seconds(self, rate: PartRate | None) -> float:
        """Seconds until a part is replaced: as stated for all parts, else as known of its kind."""
        known = rate.repair if rate is not None else None
        return known.value if known is not None and isinstance(self.repair.origin, Assumed) else self.repair.value

    def share_waiting(self, part: PartClass) -> float:
        """The share of a part's failures after which the job waits for the repair or runs on fewer nodes."""
        return 0.0 if part.restarts else self.share_without_standby(part.nodes, part.held)

    def seconds_of(self, part: PartClass, repair: float) -> float:
        """Seconds from the failure of a part that stops the job until the job runs again, with a repair time of
        ``repair`` seconds.
        """
        return self.noticed + self.restart.value if part.restarts else self.seconds(part.nodes, part.held, repair)

    def share_without_standby(self, away: int, held: int) -> float:
        """The share of failures that standby nodes cannot cover, so that the job waits for the repair or runs on fewer
        nodes. A failure takes ``away`` nodes of the job and ``held`` nodes of the machine.
        """
        return 0.0 if self.alone and held == ONE_NODE else 1 - self.standbys.replaced_share(away, held)

    def waits_for_repair(self, away: int, held: int) -> bool:
        """Whether the job waits for a repair, or runs on fewer nodes, after at least some failures of such a part."""
        return self.share_without_standby(away, held) > 0

    def seconds(self, away: int, held: int, repair: float) -> float:
        """Mean seconds that a failure costs the job, from the failure until it runs again; ``repair`` is the repair
        time in seconds. The mean is over the locations of the part.
        """
        restart, waits = self.noticed + self.restart.value, self.share_without_standby(away, held)
        if self.shrinks and away < self.layout.nodes:
            return restart + waits * repair * share_of_replicas(self.layout, self.ranks_per_node, away)
        return restart + waits * repair

    def mean_restart(self, failures: tuple[tuple[PartClass, PartRate], ...]) -> tuple[Figure, float]:
        """The mean time from a failure until the job runs again, and the share of failures that wait for a repair."""
        whole = sum_of(rate.yearly for _, rate in failures)
        waits = sum_of(rate.yearly * self.share_waiting(part) for part, rate in failures)
        if not whole or not waits:
            return self._noticed_restart(), 0.0
        taken = sum_of(rate.yearly * self.seconds_of(part, self.repair_seconds(rate)) for part, rate in failures)
        until = "the share of the replicas that are away" if self.shrinks else "`repair_time`"
        why = f"the mean over failures: `restart_time`, and {until} until the repair of what no standby node replaces"
        return Figure(taken / whole, "s", Computed(why)), waits / whole

    def _noticed_restart(self) -> Figure:
        if not self.noticed:
            return self.restart
        return Figure(self.restart.value + self.noticed, "s", Computed("detection_time + restart_time"))


def _checkpoint_time(
    written: OperationsSpec, networks: NetworksSpec | None, parameters: float | None, layout: Layout
) -> Figure:
    stated = stated_figure(written.pause, written.pause_key)
    if stated is not None:
        return stated
    if written.is_asynchronous:
        return ASYNCHRONOUS_PAUSE
    from clusterspec.cost.storage import write_seconds  # most specs state a pause, or no storage system

    value = write_seconds(networks, parameters, layout)
    if value is None:
        return CHECKPOINT_TIME
    why = "the checkpoint over the bandwidth of the storage system, training waiting for all of it"
    return Figure(value, "s", Assumed("operations.checkpoint_time", why))


def _checkpoint_read_time(
    written: OperationsSpec, networks: NetworksSpec | None, parameters: float | None, layout: Layout
) -> float:
    """Seconds in which all ranks read the last checkpoint; 0 if the stated restart time already includes the read, or
    if the spec states no storage bandwidth.
    """
    if written.restart_time is not None or networks is None or parameters is None:
        return 0.0
    from clusterspec.cost.storage import restore_seconds  # few specs state a storage system

    return restore_seconds(networks, parameters, layout) or 0.0


def _restart_time(standbys: Standbys, written: OperationsSpec, read: float) -> Figure:
    """The time from a failure until training runs again with a standby node: the stated time, or else an assumed time
    plus ``read`` seconds for reading the checkpoint.
    """
    stated = stated_figure(written.restart_time, "operations.restart_time")
    if stated is not None:
        return stated
    usual = HOT_RESTART if written.recovery == "hot-spare" and standbys.total else RESTART
    if not read:
        return usual
    assert isinstance(usual.origin, Assumed)
    why = f"{usual.origin.why}; and the read of the checkpoint from the stated storage system"
    return Figure(usual.value + read, "s", Assumed(usual.origin.key, why))


def share_of_replicas(layout: Layout, ranks_per_node: int, nodes: int) -> float:
    """The share of the replicas that a job loses with ``nodes`` neighboring nodes, at most 1.

    A replica stops with any of its nodes. Ranks of the axes before dp in the order are neighbors.
    """
    inner = takewhile(lambda axis: not axis.startswith("dp"), layout.order)
    neighbors = prod({"tp": layout.tp, "cp": layout.cp, "pp": layout.pp}.get(axis, 1) for axis in inner)
    return min(1.0, -(-nodes * ranks_per_node // neighbors) / layout.dp)
