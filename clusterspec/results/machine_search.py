"""Results of a search for the machine to buy."""

from __future__ import annotations

from clusterspec.records import asdict, dataclass, field
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr
from clusterspec.results.search import Section


@dataclass(frozen=True)
class MachineRow:
    """A machine with its best layout.

    ``spec`` is the platform or the file of the candidate, ``cluster`` the section of a spec that holds it. ``elapsed``
    is the time of the run in seconds without interruptions, ``run`` with them. ``cost`` is that over the term, or of
    the purchase where no term is stated, None if the nodes have no price; ``per_run`` the cost of a run or of a million
    output tokens, in the currency of the spec; ``unpriced`` are the parts that these costs leave out. ``power`` is IT
    power at full load in watts. ``missed`` are the limits that the machine misses, with both figures; ``why`` is the
    reason where there is no layout.
    """

    spec: str
    nodes: int
    fabric: str
    cluster: Section
    accelerators: int | None = None
    layout: Section | None = None
    disaggregated: Json | None = None
    step_time: float | None = None
    mfu: float | None = None
    elapsed: float | None = None
    run: float | None = None
    serving: Json | None = None
    memory: float | None = None
    surely_fits: bool | None = None
    cost: float | None = None
    per_run: float | None = None
    power: float | None = None
    unpriced: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    why: str = ""
    errors: tuple[str, ...] = ()

    @property
    def meets(self) -> bool:
        """Whether the machine has a layout and misses no limit."""
        return self.layout is not None and not self.missed

    @property
    def time(self) -> float | None:
        """The time that the fastest machine minimizes: seconds of the run, of a step, or of each output token."""
        if self.serving is not None:
            tpot: float = self.serving["tpot"]
            return tpot
        return self.elapsed if self.elapsed is not None else self.step_time

    def to_json(self) -> Json:
        """All fields. The run time with interruptions has the same name as in `cost`."""
        values = asdict(self)
        values["time_to_train"] = values.pop("elapsed")
        values["time_to_train_with_interruptions"] = values.pop("run")
        sections = {"cluster": dict(self.cluster), "layout": dict(self.layout) if self.layout is not None else None}
        listed = {name: list(values[name]) for name in ("unpriced", "missed", "errors")}
        return values | sections | listed | {"why": self.why or None}


@dataclass(frozen=True)
class MachinesReport(Result):
    """The machines that were compared: those that miss nothing first, the cheapest first.

    ``best`` has the row of the ``cheapest``, ``fastest`` and ``leanest`` (least power) machine that misses nothing;
    ``pareto`` the rows with less cost, time or power than any other that is no worse in the rest. If no machine meets
    all limits, ``nearest`` has, for each limit, the row that misses only this limit by the least.
    """

    tool: Tool
    input: Input
    name: str
    limits: tuple[str, ...]
    machines: tuple[MachineRow, ...]
    best: dict[str, MachineRow]
    pareto: tuple[MachineRow, ...]
    currency: str = ""
    whole_term: bool = False
    nearest: dict[str, MachineRow] = field(default_factory=dict)

    __repr__ = result_repr

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "name": self.name,
            "limits": list(self.limits),
            "machines": [row.to_json() for row in self.machines],
            "pareto": [row.to_json() for row in self.pareto],
            **{name: self.best[name].to_json() if name in self.best else None for name in BEST},
            "nearest": {name: row.to_json() for name, row in self.nearest.items()},
            "currency": self.currency or None,
        }


BEST = ("cheapest", "fastest", "leanest")
