"""Power draw of accelerators and nodes by activity, of the machine at work and idle, and the energy of a job.

The constants and the data they were fitted to are in `activity`.
"""

from __future__ import annotations

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Assumption, Cluster, Design
from clusterspec.cost.activity import (
    AT_ARITHMETIC,
    AT_HOST,
    AT_IDLE,
    AT_MEMORY,
    AT_PRODUCTS,
    AT_WAITING,
    FANS,
    HOST,
    HOST_IDLE,
    MAXQ,
    OF_IDLE,
    Activity,
    activity_of,
)
from clusterspec.cost.compute.power_cap import capped_clock
from clusterspec.cost.energy import Supply, carbon_of, energy_assumptions, money_of, parts_power, supply
from clusterspec.cost.formulas.power import (
    accelerator_draw,
    energy_of_run,
    energy_per_token,
    machine_draw,
    node_draw,
    power_swing,
    racks_draw,
)
from clusterspec.cost.heat import heat_assumptions
from clusterspec.cost.nameplates import PowerDraw, charged_nodes, node_cooling, node_nameplates, power_draw
from clusterspec.cost.plan import Plan
from clusterspec.cost.swing import RISE, Swings, swings
from clusterspec.cost.term import NamedFigures, Term, computed_term, ranged_term
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, replace
from clusterspec.source import Assumed, Computed, Origin, Written
from clusterspec.spec.model import PowerSpec

ENDS = (0, 1, 2)
"""Low, middle and high in the constants above."""


@dataclass(frozen=True)
class MachinePower:
    """The power of a machine in watts, and its energy in joules, without cooling and conversion of the facility.

    ``busy`` is the power with the planned work on the accelerators that have ranks, while all other accelerators idle;
    ``idle`` the power without work; ``peak`` the nameplates of all parts. ``swings`` are the changes of power in each
    step and at a stop. ``per_token`` is None without a throughput, ``of_run`` without a number of tokens.
    """

    busy: Term | None
    idle: Term
    peak: Term | None
    per_token: Term | None
    of_run: Term | None
    assumptions: tuple[Assumption, ...]
    swings: Swings | None = None
    supply: Supply = Supply()
    money: tuple[Term, ...] = ()
    """The price of the energy of a run, and of a million tokens, where the spec prices electricity."""
    carbon: tuple[Term, ...] = ()
    """The carbon of the same energy in kg of CO2 equivalent, if the spec states the carbon intensity of the grid."""
    carbon_source: str = ""

    def to_json(self) -> dict[str, object]:
        """The fields ``power`` and ``energy`` of an estimate."""
        power = {"busy": self.busy, "idle": self.idle, "peak": self.peak, **self._swing_terms()}
        energy = {"per_token": self.per_token, "of_run": self.of_run}
        return {
            "power": _term_values(power) | {"supply": self.supply.to_json()},
            "energy": _term_values(energy) | {"cost": _term_values({term.name: term for term in self.money})},
            "carbon": _term_values({term.name: term for term in self.carbon}) | {"source": self.carbon_source or None}
            if self.carbon
            else None,
        }

    def _swing_terms(self) -> dict[str, Term | None]:
        step, fall, ramp = self.swings or (None, None, None)
        return {"swing": step, "fall": fall, "ramp": ramp}

    @property
    def terms(self) -> dict[str, Term]:
        """All computed terms by the names under which they are printed."""
        supply, token = self.supply.terms, self.per_token
        named = {
            "power": self.busy,
            "power_idle": self.idle,
            "power_peak": self.peak,
            **{f"power_{name}": term for name, term in self._swing_terms().items()},
            **{f"power_{name}": term for name, term in supply.items()},
            "energy_per_token": token,
            "energy_of_run": self.of_run,
            **{f"energy_cost_{term.name}": term for term in self.money},
            **{f"carbon_{term.name}": term for term in self.carbon},
        }
        return {name: replace(term, name=name) for name, term in named.items() if term is not None}


def _term_values(terms: dict[str, Term | None]) -> dict[str, object]:
    ranges = {name: [term.low, term.high] if term and term.low is not None else None for name, term in terms.items()}
    return {name: term.value if term else None for name, term in terms.items()} | {"range": ranges}


def drawn_power(
    plan: Plan, fabric: Fabric | None, *, run: float | None = None, whole: bool = False
) -> MachinePower | None:
    """The power of the machine of a plan; None if its cluster, or the power of its accelerator, is not known.

    ``run`` is the duration of the run in seconds, interruptions included. For a job of a fleet, power and energy count
    only its own nodes. With ``whole`` they count the whole machine, whose other nodes then idle.
    """
    design = plan.design
    cluster, written = design.cluster, design.spec.cluster.power if design.spec.cluster else None
    if cluster is None or cluster.accelerator.power is None or cluster.cloud:
        return None
    machine = _Machine(cluster, written, fabric, 1.0 if whole else charged_nodes(design, cluster) / cluster.nodes)
    shares = activity_of(plan)
    used = min(_working_nodes(design, cluster), machine.part * cluster.nodes)
    idle = ranged_term(*(machine.power("idle", 0.0, end, None) for end in ENDS))
    busy = ranged_term(*(machine.power("busy", used, end, shares) for end in ENDS)) if shares else None
    peak = _peak_power(node_nameplates(cluster), machine.drawn)
    rate = _tokens_per_second(plan, cluster)
    tokens = _scaled_energy(busy, "per_token", "J", rate) if busy and rate else None
    energy = _scaled_energy(busy, "of_run", "J", run) if busy and run else None
    swing = machine.swings(used, shares) if shares else None
    operations, procurement = design.spec.operations, design.spec.procurement
    million = _term_of_million_tokens(tokens) if tokens else None
    counted = [(name, term) for name, term in (("of_run", energy), ("per_million_tokens", million)) if term is not None]
    money = [money_of(name, term, procurement) for name, term in counted]
    carbon = [carbon_of(name, term, operations, procurement) for name, term in counted]
    return MachinePower(
        busy,
        idle,
        peak,
        tokens,
        energy,
        (
            *machine.assumptions(working=busy is not None),
            *energy_assumptions(design.spec.cluster, operations, procurement),
            *(heat_assumptions(cluster, written) if peak else ()),
        ),
        swing,
        supply(cluster, design.spec.cluster, peak, machine.fabric_switch_power),
        tuple(term for term in money if term is not None),
        tuple(term for term in carbon if term is not None),
        operations.carbon.source or "" if operations and operations.carbon else "",
    )


NODES = "nodes + spare_nodes"
OWN = "nodes of the job * (nodes + spare_nodes) / nodes"
USED = Computed("accelerators_used / accelerators_per_node")
"""The derivation of the number of nodes under load."""


def _working_nodes(design: Design, cluster: Cluster) -> float:
    """The number of nodes under load, which may be a fraction: accelerators without ranks idle, with a proportional
    part of their node.
    """
    used = design.layout.ranks / cluster.ranks_per_accelerator if design.layout is not None else cluster.accelerators
    return min(float(cluster.nodes), used / cluster.accelerators_per_node)


def idle_power(design: Design, fabric: Fabric | None) -> Term | None:
    """The power of the whole machine without work, in watts, with its range; None if it is not known."""
    cluster, written = design.cluster, design.spec.cluster.power if design.spec.cluster else None
    if cluster is None or cluster.accelerator.power is None or cluster.cloud:
        return None
    machine = _Machine(cluster, written, fabric)
    return ranged_term(*(machine.power("idle", 0.0, end, None) for end in ENDS))


def _term_of_million_tokens(token: Term) -> Term:
    """The energy of a million tokens with its range."""
    low, high = (None if end is None else 1e6 * end for end in (token.low, token.high))
    return replace(token, value=1e6 * token.value, low=low, high=high)


def accelerator_draws(plan: Plan) -> tuple[Term, Term, Term] | None:
    """The mean power of an accelerator under the planned work: low, middle and high; None if it is not known."""
    cluster, shares = plan.design.cluster, activity_of(plan)
    if cluster is None or cluster.accelerator.power is None or shares is None:
        return None
    written = plan.design.spec.cluster.power if plan.design.spec.cluster else None
    machine = _Machine(cluster, written, None)
    low, middle, high = (machine.working_draw(shares, end) for end in ENDS)
    return low, middle, high


@dataclass(frozen=True)
class _Machine:
    """A machine whose power is computed; ``part`` is the share that belongs to a job."""

    cluster: Cluster
    written: PowerSpec | None
    fabric: Fabric | None
    part: float = 1.0

    @property
    def limit(self) -> Figure:
        """The rated power of an accelerator, disregarding a cap."""
        own = self.cluster.accelerator.power
        assert own is not None
        return own

    @property
    def cap(self) -> Figure:
        """The cap of an accelerator, else its own power limit."""
        return self.cluster.accelerator_cap or self.limit

    @property
    def accelerators(self) -> Figure:
        """The accelerators of a node."""
        return Figure(float(self.cluster.accelerators_per_node), "1", Computed("accelerators_per_node"))

    @property
    def cooling(self) -> str:
        """How nodes are cooled: as stated, else as the platform or accelerator is sold, else inferred from the
        accelerator's power.
        """
        return node_cooling(self.cluster, self.written)[0]

    @property
    def drawn(self) -> PowerDraw:
        """The nameplate power of all parts of the machine."""
        return power_draw(self.cluster, self.fabric, self.written)

    @property
    def fabric_switch_power(self) -> float:
        """The power of the switches of the fabric in watts; 0 if it is not known."""
        drawn = self.drawn
        return drawn.switches * drawn.switch.value if drawn.switch else 0.0

    def node_power(self, name: str, end: int, shares: Activity | None) -> Term:
        """The power of a node under load, or idle without ``shares``."""
        limit, fans = self.limit, FANS[self.cooling][end]
        host = Figure(HOST[end].value * limit.value, "W", Computed("host * limit"))
        if shares is None:
            if self.written is not None and self.written.node_idle is not None:
                stated = Figure(self.written.node_idle.value, "W", Written("cluster.power.node_idle"))
                return Term(name, stated.value, "W", "node_idle", (("node_idle", stated),))
            draw = self.idle_draw(end)
            host = host if host.value < HOST_IDLE[end].value else HOST_IDLE[end]
        else:
            draw = self.working_draw(shares, end)
        inputs: NamedFigures = (
            ("accelerators", self.accelerators),
            ("draw", Figure(draw.value, "W", Computed(draw.formula))),
            ("host", host),
            ("fans", fans),
            ("limit", limit),
        )
        term = computed_term(name, node_draw, "W", inputs)
        nameplate = self.cluster.node_power
        if nameplate is None or term.value <= nameplate.value:
            return replace(term, inputs=(inputs[0], *inputs[2:]), parts=(draw,))
        return Term(name, nameplate.value, "W", "nameplate", (("nameplate", nameplate),))

    def idle_draw(self, end: int) -> Term:
        """The power of an accelerator without work: as measured on the part, else a share of its limit."""
        known = self.cluster.accelerator.power_idle
        name, figure, share = ("idle", known, OF_IDLE[end]) if known else ("limit", self.limit, AT_IDLE[end])
        factor = "of_idle" if known else "at_idle"
        value = figure.value * share.value
        return Term("draw", value, "W", f"{name} * {factor}", ((name, figure), (factor, share)))

    def working_draw(self, shares: Activity, end: int) -> Term:
        """The mean power of an accelerator under load."""
        found = (
            ("busy", shares.products, "share of the time in matrix products and attention"),
            ("memory_bound", shares.memory, "share of the time in kernels bound by memory"),
            ("host_bound", shares.host, "share of the time in which the host launches kernels"),
            ("unused", shares.idle, "share of the time without a request"),
            ("arithmetic", shares.arithmetic, "share of the matrix peak in kernels bound by memory"),
        )
        idle = self.idle_draw(end)
        inputs = (
            ("limit", self.limit),
            ("cap", self.cap),
            *((name, Figure(value, "1", Computed(why))) for name, value, why in found),
            ("idle", Figure(idle.value, "W", Computed(idle.formula))),
            ("at_products", AT_PRODUCTS[end]),
            ("at_memory", AT_MEMORY[end]),
            ("at_arithmetic", AT_ARITHMETIC[end]),
            ("at_host", AT_HOST[end]),
            ("at_waiting", AT_WAITING[end]),
        )
        return computed_term("draw", accelerator_draw, "W", inputs)

    def power(self, name: str, used: float, end: int, shares: Activity | None) -> Term:
        """The power of the machine with ``used`` nodes under load."""
        idle = self.node_power("node_idle", end, None)
        busy = self.node_power("node_busy", end, shares) if shares else replace(idle, name="node_busy")
        figures = (
            ("used", Figure(used, "1", USED)),
            ("nodes", Figure(self.part * self.cluster.all_nodes, "1", Computed(NODES if self.part == 1 else OWN))),
        )
        return _machine_sum(name, figures, (busy, idle), self.drawn, self.part)

    def swing_power(self, used: float, end: int) -> Term:
        """The change of power each time all accelerators of the job wait for exposed communication."""
        figures = (
            ("used", Figure(used, "1", USED)),
            ("accelerators", self.accelerators),
            ("limit", self.limit),
            ("cap", self.cap),
            ("at_products", AT_PRODUCTS[1]),
            ("at_waiting", AT_WAITING[2 - end]),
        )
        return computed_term("swing", power_swing, "W", figures)

    def swings(self, used: float, shares: Activity) -> Swings:
        """The swings of the power of the job."""
        step = ranged_term(*(self.swing_power(used, end) for end in ENDS))
        low, middle, high = (self.node_power("node_busy", end, shares) for end in ENDS)
        least, usual, most = (self.node_power("node_idle", end, None) for end in ENDS)
        return swings(step, used, (low, middle, high), (least, usual, most))

    def assumptions(self, *, working: bool) -> tuple[Assumption, ...]:
        """The constants that the power rests on."""
        at_work = (AT_PRODUCTS, AT_MEMORY, AT_ARITHMETIC, AT_HOST, AT_WAITING, HOST) if working else ()
        idle = OF_IDLE if self.cluster.accelerator.power_idle else AT_IDLE
        used = (idle, HOST_IDLE, FANS[self.cooling], *at_work, *((RISE,) if working else ()))
        middle = [each[1] for each in used]
        found = [(origin.key, figure, origin.why) for figure in middle if isinstance(origin := figure.origin, Assumed)]
        if (clock := capped_clock(self.cluster)) is not None:
            why = f"GEMMs slow down as the square root of the power above idle; {MAXQ}: within 4 % at 350 to 500 W"
            found.append(("rate under cluster.power.accelerator_cap", clock, why))
        cooling, why = node_cooling(self.cluster, self.written)
        if why:
            found.append(("cluster.power.cooling", cooling, why))
        drawn = self.drawn
        if drawn.switches and drawn.switch is None:
            why = f"the power of the {drawn.switches} switches of the fabric is not known and not counted"
            found.append(("cluster.power.switch", Figure(0.0, "W", Assumed("cluster.power.switch", why)), why))
        return tuple(found)


def _machine_sum(name: str, known: NamedFigures, parts: tuple[Term, ...], drawn: PowerDraw, part: float = 1.0) -> Term:
    """The power of nodes plus the ``part`` of the power of the machine's switches and rack overhead."""
    if drawn.switches and drawn.switch is not None:
        parts = (*parts, parts_power("switches", part * drawn.switches, drawn.switch))
    else:
        known = (*known, ("switches", Figure(0.0, "W", Computed("no switches of known power"))))
    overhead = drawn.overhead
    racks = () if overhead is None else (parts_power("rack_overhead", part * overhead[0], overhead[1]),)
    parts = (*parts, *racks)
    figures = (*known, *((part.name, Figure(part.value, "W", Computed(part.formula))) for part in parts))
    term = computed_term(name, racks_draw if racks else machine_draw, "W", figures)
    return replace(term, inputs=tuple(known), parts=parts)


def _peak_power(nameplates: tuple[Figure, Figure, Figure] | None, drawn: PowerDraw) -> Term | None:
    """The nameplates of all nodes and switches, over the range of an assumed node."""
    if nameplates is None:
        return None
    count: Origin = Computed(NODES)

    def peak_of(node: Figure) -> Term:
        figures = (
            ("used", Figure(float(drawn.nodes), "1", count)),
            ("node_busy", node),
            ("nodes", Figure(float(drawn.nodes), "1", count)),
            ("node_idle", Figure(0.0, "W", Computed("all nodes are used"))),
        )
        return _machine_sum("peak", figures, (), drawn)

    return ranged_term(*map(peak_of, nameplates))


def _tokens_per_second(plan: Plan, cluster: Cluster) -> float | None:
    """The tokens per second of the whole job; output tokens of a serving plan."""
    if plan.serving is not None:
        return plan.serving.output_tokens_per_second or None
    rate, layout = plan.tokens_per_second_per_accelerator, plan.design.layout
    return rate * layout.ranks / cluster.ranks_per_accelerator if rate and layout else None


def _scaled_energy(busy: Term, name: str, unit: str, by: float) -> Term:
    """An energy computed from the power under load, with its range."""

    def energy_at(watts: float) -> Term:
        figure = Figure(watts, "W", Computed(busy.formula))
        if name == "per_token":
            rate = Figure(by, "1/s", Computed("tokens_per_second"))
            return computed_term(name, energy_per_token, unit, (("watts", figure), ("tokens_per_second", rate)))
        seconds = Figure(by, "s", Computed("time_to_train / goodput"))
        return computed_term(name, energy_of_run, unit, (("watts", figure), ("seconds", seconds)))

    low, high = busy.ends
    return ranged_term(energy_at(low), energy_at(busy.value), energy_at(high))
