"""Power as drawn: of accelerators and nodes by what they do, of the machine at work and idle, and its energy.

The constants are fitted to one source: the power logs of an MLPerf Training 4.0 submission with immersed nodes of eight
H100 (GPT-3 on 64 nodes, Llama 2 70B LoRA on 1, 8 and 64). Nodes of eight water-cooled B200 and the air-cooled nodes
of Brookhaven were not looked at for the fit; `tests/accuracy/power.csv` has both sides.
"""

from __future__ import annotations

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Assumption, Cluster
from clusterspec.cost.formulas.power import (
    accelerator_draw,
    energy_of_run,
    energy_per_token,
    machine_draw,
    node_draw,
)
from clusterspec.cost.nameplates import power_draw
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import NamedFigures, Term, computed_term, ranged_term
from clusterspec.origin import Assumed, Computed, Origin, Written
from clusterspec.quantity import Figure
from clusterspec.records import dataclass
from clusterspec.spec.model import PowerSpec
from clusterspec.summation import sum_of

SMC = (
    "power logs of Sustainable Metal Cloud in MLPerf Training 4.0, immersed HGX H100 "
    "(github.com/mlcommons/training_results_v4.0, smc-ac-power)"
)


def _constant(name: str, values: tuple[float, float, float], why: str) -> tuple[Figure, Figure, Figure]:
    low, middle, high = (Figure(value, "1", Assumed(f"power.{name}", why)) for value in values)
    return low, middle, high


AT_PRODUCTS = _constant(
    "at_products", (0.93, 1.0, 1.0), f"accelerators in matrix products reach their power limit; {SMC}: 7.0 to 7.3 kW"
)
AT_MEMORY = _constant(
    "at_memory", (0.65, 0.85, 0.95), "by judgment, between products and waiting; no log tells it apart"
)
AT_WAITING = _constant(
    "at_waiting",
    (0.45, 0.65, 0.8),
    f"{SMC}: Llama 2 70B LoRA on 64 nodes, mostly communication, draws 0.76 of the limit",
)
AT_IDLE = _constant(
    "at_idle", (0.07, 0.1, 0.14), f"{SMC}: an idle node draws 1.9 to 2.3 kW, its accelerators 70 W each"
)
HOST = {
    "immersion": _constant("host", (0.24, 0.28, 0.32), f"{SMC}: 1.4 to 1.8 kW beside 8 × 700 W"),
    "liquid": _constant("host", (0.24, 0.28, 0.36), f"as immersed nodes, which have no fans either; {SMC}"),
    "air": _constant(
        "host",
        (0.36, 0.44, 0.52),
        "fans add 0.16: an air-cooled HGX H100 draws at most 8.4 kW in training, 7.75 kW in heavy work "
        "(arXiv:2412.08602, arXiv:2506.14551), an immersed one 7.2 kW",
    ),
}
"""Watts of the rest of a node per watt of its accelerators' limit, by cooling: low, middle, high."""
ENDS = (0, 1, 2)
"""Low, middle and high in the constants above."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The power of a machine in watts, and its energy in joules, without cooling and conversion of the facility.

    ``busy`` is with the planned work (on the nodes of the layout; the others idle), ``idle`` without work, ``peak`` the
    nameplates of all parts. ``per_token`` is None without a throughput, ``of_run`` without a number of tokens.
    """

    busy: Term | None
    idle: Term
    peak: Term | None
    per_token: Term | None
    of_run: Term | None
    assumptions: tuple[Assumption, ...]

    def to_json(self) -> dict[str, object]:
        """The fields ``power`` and ``energy`` of an estimate."""
        power = {"busy": self.busy, "idle": self.idle, "peak": self.peak}
        energy = {"per_token": self.per_token, "of_run": self.of_run}
        return {"power": _term_values(power), "energy": _term_values(energy)}


def _term_values(terms: dict[str, Term | None]) -> dict[str, object]:
    ranges = {name: [term.low, term.high] if term and term.low is not None else None for name, term in terms.items()}
    return {name: term.value if term else None for name, term in terms.items()} | {"range": ranges}


def drawn_power(plan: Plan, fabric: Fabric | None, *, run: float | None = None) -> Drawn | None:
    """The power of the machine of a plan; None if its cluster, or the power of its accelerator, is not known.

    ``run`` is the duration of the run in seconds, interruptions included.
    """
    design = plan.design
    cluster, written = design.cluster, design.spec.cluster.power if design.spec.cluster else None
    if cluster is None or cluster.accelerator.power is None or cluster.cloud:
        return None
    machine = _Machine(cluster, written, fabric)
    shares = time_shares(plan)
    used = design.layout.nodes if design.layout is not None else cluster.nodes
    idle = ranged_term(*(machine.total("idle", 0, end, None) for end in ENDS))
    busy = ranged_term(*(machine.total("busy", used, end, shares) for end in ENDS)) if shares else None
    whole = power_draw(cluster, fabric, written)
    peak = _peak(whole.node, whole.nodes, machine.switches)
    rate = _tokens_per_second(plan, cluster)
    tokens = _scaled(busy, "per_token", "J", rate) if busy and rate else None
    energy = _scaled(busy, "of_run", "J", run) if busy and run else None
    return Drawn(busy, idle, peak, tokens, energy, machine.assumptions(working=busy is not None))


def time_shares(plan: Plan) -> tuple[float, float] | None:
    """The shares of the time that accelerators spend in matrix products with attention, and in kernels bound by memory.

    None without times, and for reinforcement learning, whose roles do unlike work. Decoding is bound by memory, prefill
    by products.
    """
    written = plan.design.spec.workload
    if written is not None and written.kind == "rl":
        return None
    if plan.serving is not None:
        prefill = min(1.0, max(0.0, plan.serving.prefill_share))
        return prefill, 1.0 - prefill
    step = plan.step_time
    if step is None or not step.value:
        return None
    products = memory = 0.0
    for phase in step.parts:
        if phase.name not in {"forward", "backward", "recomputation", "optimizer"}:
            continue
        inside = [part.value for part in phase.parts if part.name.endswith(("_matrix_products", "_attention"))]
        whole = sum_of(inside) if inside else (phase.value if phase.name == "recomputation" else 0.0)
        products += whole
        memory += max(0.0, phase.value - whole)
    return products / step.value, memory / step.value


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine whose power is summed."""

    cluster: Cluster
    written: PowerSpec | None
    fabric: Fabric | None

    @property
    def limit(self) -> Figure:
        """The power limit of an accelerator: the stated cap, else its own power."""
        cap, own = self.written.accelerator_cap if self.written else None, self.cluster.accelerator.power
        assert own is not None
        if cap is not None and cap.value < own.value:
            return Figure(cap.value, "W", Written("cluster.power.accelerator_cap"))
        return own

    @property
    def cooling(self) -> str:
        """How nodes are cooled: as stated, else liquid for rack-scale domains and parts above 1 kW, else air."""
        stated = self.written.cooling if self.written else None
        own = self.cluster.accelerator.power
        return stated or ("liquid" if own is not None and own.value > 1000 else "air")

    @property
    def switches(self) -> float:
        """The power of the switches of the fabric and of scale-up domains, in watts; 0 where it is not known."""
        drawn = power_draw(self.cluster, self.fabric, self.written)
        fabric = drawn.switches * drawn.switch.value if drawn.switch else 0.0
        return fabric + (drawn.domains * drawn.domain_overhead.value if drawn.domain_overhead else 0.0)

    def node(self, end: int, shares: tuple[float, float] | None) -> Term:
        """The power of a node at work, or idle without ``shares``."""
        count = Figure(float(self.cluster.accelerators_per_node), "1", Computed("accelerators_per_node"))
        host, limit = HOST[self.cooling][end], self.limit
        if shares is None:
            if self.written is not None and self.written.node_idle is not None:
                return Term("node_idle", self.written.node_idle.value, "W", "cluster.power.node_idle")
            draw = Figure(limit.value * AT_IDLE[end].value, "W", Computed("limit * at_idle"))
        else:
            draw = _accelerator_figure(limit, shares, end)
        inputs: NamedFigures = (("accelerators", count), ("draw", draw), ("host", host), ("limit", limit))
        term = computed_term("node", node_draw, "W", inputs)
        nameplate = self.cluster.node_power
        if nameplate is None or term.value <= nameplate.value:
            return term
        return Term("node", nameplate.value, "W", "cluster.power.node", (("node", nameplate),))

    def total(self, name: str, used: int, end: int, shares: tuple[float, float] | None) -> Term:
        """The power of the machine with ``used`` nodes at work."""
        idle = self.node(end, None)
        busy = self.node(end, shares) if shares else idle
        figures = (
            ("used", Figure(float(used), "1", Computed("layout.nodes"))),
            ("busy", Figure(busy.value, "W", Computed(busy.formula))),
            ("nodes", Figure(float(self.cluster.all_nodes), "1", Computed("nodes + spare_nodes"))),
            ("idle", Figure(idle.value, "W", Computed(idle.formula))),
            ("switches", Figure(self.switches, "W", Computed("switches * watts_each"))),
        )
        return computed_term(name, machine_draw, "W", figures)

    def assumptions(self, *, working: bool) -> tuple[Assumption, ...]:
        """The constants that the power rests on."""
        used = (AT_IDLE, HOST[self.cooling], *((AT_PRODUCTS, AT_MEMORY, AT_WAITING) if working else ()))
        middle = [each[1] for each in used]
        found = [(origin.key, figure, origin.why) for figure in middle if isinstance(origin := figure.origin, Assumed)]
        if self.written is None or self.written.cooling is None:
            why = "parts above 1 kW are cooled by liquid, others by air"
            found.append(("cluster.power.cooling", self.cooling, why))
        return tuple(found)


def _accelerator_figure(limit: Figure, shares: tuple[float, float], end: int) -> Figure:
    busy, memory = shares
    value = accelerator_draw(
        limit.value,
        busy,
        memory,
        at_products=AT_PRODUCTS[end].value,
        at_memory=AT_MEMORY[end].value,
        at_waiting=AT_WAITING[end].value,
    )
    return Figure(value, "W", Computed("limit * shares of the time in products, memory and waiting"))


def _peak(node: Figure | None, nodes: int, switches: float) -> Term | None:
    if node is None:
        return None
    count: Origin = Computed("nodes + spare_nodes")
    figures = (
        ("used", Figure(float(nodes), "1", count)),
        ("busy", node),
        ("nodes", Figure(float(nodes), "1", count)),
        ("idle", Figure(0.0, "W", Computed("0"))),
        ("switches", Figure(switches, "W", Computed("switches * watts_each"))),
    )
    return computed_term("peak", machine_draw, "W", figures)


def _tokens_per_second(plan: Plan, cluster: Cluster) -> float | None:
    """The tokens per second of the whole job; output tokens of a serving plan."""
    if plan.serving is not None:
        return plan.serving.output_tokens_per_second or None
    rate, layout = plan.tokens_per_second_per_accelerator, plan.design.layout
    return rate * layout.ranks / cluster.ranks_per_accelerator if rate and layout else None


def _scaled(busy: Term, name: str, unit: str, by: float) -> Term:
    """An energy from the power at work, with the range of that."""

    def at(watts: float) -> Term:
        figure = Figure(watts, "W", Computed(busy.formula))
        if name == "per_token":
            rate = Figure(by, "1/s", Computed("tokens_per_second"))
            return computed_term(name, energy_per_token, unit, (("watts", figure), ("tokens_per_second", rate)))
        seconds = Figure(by, "s", Computed("time_to_train / goodput"))
        return computed_term(name, energy_of_run, unit, (("watts", figure), ("seconds", seconds)))

    low, high = busy.value if busy.low is None else busy.low, busy.value if busy.high is None else busy.high
    return ranged_term(at(low), at(busy.value), at(high))
