"""The verdict on a design, the state of its areas, and the influence of its assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from clusterspec.cluster.model import Assumption
from clusterspec.quantity import DAY
from clusterspec.records import asdict, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.money import Money
    from clusterspec.procurement.quotes import QuotedPart

REQUESTS = "requests"
"""The unit of a count of requests."""
CLOSE = 0.1
"""Headroom, relative to the limit, below which an area is tight."""


@dataclass(frozen=True)
class Area:
    """An area: the binding ``constraint``, its ``value`` and ``limit``, both in ``unit``. ``headroom`` is the remaining
    fraction of the limit, negative if it is exceeded. ``state`` is ``good``, ``tight``, ``bad`` or ``open`` (not
    judged, for the reason in ``note``).
    """

    area: str
    constraint: str
    value: float | None
    limit: float | None
    unit: str
    headroom: float | None
    state: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class VerdictStatus(StrEnum):
    """The four verdicts, as `estimate` prints them in JSON."""

    FAILS = "fails"
    RESERVATIONS = "reservations"
    CLEAR = "clear"
    NOT_JUDGED = "not-judged"


OF_PURCHASE = frozenset({"delivery-misses-date", "over-budget", "quote-arithmetic", "quote-off-bill"})
"""Errors about the purchase of a machine, which do not affect whether the machine works."""


@dataclass(frozen=True)
class Verdict:
    """The status, its reasons, and the parts of the design that were not judged. ``of_purchase`` is true if the design
    works and the only open errors are about its purchase.
    """

    status: VerdictStatus
    reasons: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    of_purchase: bool = False

    def to_json(self) -> dict[str, object]:
        return {"status": str(self.status), "reasons": list(self.reasons), "not_judged": list(self.not_judged)}


LEAST = 0.01
"""An assumption with a smaller relative effect than this is not listed on the first screen."""


@dataclass(frozen=True)
class Influence:
    """The largest change caused by another value of an assumption.

    ``step_time`` (for serving, the time per output token) and ``memory`` are relative changes (0.1 is 10 % more);
    ``against`` is the other value.
    """

    assumption: Assumption
    against: Any
    step_time: float
    memory: float

    @property
    def size(self) -> float:
        return max(abs(self.step_time), abs(self.memory))


# The decision of a buyer


class GateStatus(StrEnum):
    """The state of a gate before a signature."""

    MET = "met"
    OPEN = "open"
    FAILED = "failed"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True)
class Gate:
    """A condition of a signature, its state, and the reason with its numbers."""

    gate: str
    status: GateStatus
    text: str
    ask: str = ""
    """The action required of the buyer; empty if none."""

    def to_json(self) -> dict[str, str]:
        return {"gate": self.gate, "status": str(self.status), "text": self.text, "ask": self.ask}


@dataclass(frozen=True)
class Risk:
    """A risk in ``days`` of the run and in ``money``; None if one of them cannot be computed."""

    risk: str
    days: float | None
    money: Money | None
    text: str

    @property
    def seconds(self) -> float | None:
        return self.days * DAY if self.days is not None else None

    def to_json(self) -> dict[str, Any]:
        return {
            "risk": self.risk,
            "days": self.days,
            "seconds": self.seconds,
            "money": self.money.to_json() if self.money else None,
            "text": self.text,
        }


@dataclass(frozen=True)
class Choice:
    """A machine that a buyer may choose.

    ``kind`` is ``design``, ``option`` (another spec), ``size`` (this machine with other nodes) or ``plan`` (this
    machine with the ``engines``, or of a training job the ``settings`` of the layout, that a search found). ``amount``
    is its price, or its rent over the term, at the prices of its spec; ``work`` is the time of the run in seconds, or
    the highest output tokens per second within the targets (without targets, at the load of the spec). ``holds_load``
    is false where a serving machine misses its targets at that load. ``errors`` are the rules that refuse the machine,
    whatever the purchase lacks; ``surely_fits`` is false where memory may be exceeded within the range of its
    prediction. ``rent`` is the term of a rent as written, empty for a purchase; amounts with different terms cannot be
    compared. ``per_million`` is the cost of a million tokens that carry the whole machine over the term, None without a
    term. ``over_budget`` is true where even the low end of the amount exceeds the budget of its spec.
    """

    name: str
    kind: str
    nodes: int
    amount: Money
    work: float
    errors: tuple[str, ...] = ()
    surely_fits: bool = True
    rent: str = ""
    per_million: float | None = None
    over_budget: bool = False
    holds_load: bool = True
    engines: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"amount": self.amount.to_json(), "errors": list(self.errors)}


@dataclass(frozen=True)
class Choices:
    """The machines among which a buyer chooses, the design first, in one currency.

    ``unit`` is that of their ``work``: ``s`` for the time of a run (less is better), or ``1/s``. ``recommended`` is the
    number of the choice with the lowest cost per token (without a term, the most work for its price) among those that
    surely fit, have no errors and are within their budget. If the design itself is such a choice, a size that does less
    work in a time or costs more is not recommended. ``load`` is the requested rate of a serving plan in output tokens
    per second; None if that is not a rate.
    """

    unit: str
    rows: tuple[Choice, ...]
    recommended: int | None = None
    load: float | None = None
    of_targets: bool = False
    """Whether the ``work`` of a serving plan is its maximum within the targets."""

    @property
    def recommended_row(self) -> Choice | None:
        """The choice recommended instead of the design."""
        return self.rows[self.recommended] if self.recommended else None

    def to_json(self) -> dict[str, Any]:
        rows = [row.to_json() for row in self.rows]
        return {"unit": self.unit, "rows": rows, "recommended": self.recommended} | {
            "load": self.load,
            "of_targets": self.of_targets,
        }


@dataclass(frozen=True)
class PurchaseDay:
    """A day of a purchase, as YYYY-MM-DD, and the condition under which it holds."""

    event: str
    day: str
    condition: str

    def to_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Purchase:
    """The decision on a purchase or a rent.

    ``amount`` is the amount to sign: the total of the ``quote``, else the sum of the ``prices`` of the spec or the
    ``rent`` over its term, named by ``basis``. ``expected`` is the cost at the prices of the spec, with their range.
    With a quote, the quote and the missing ``parts`` have the discount and the tax of the quote, as ``terms`` says.
    """

    amount: Money | None
    basis: str
    expected: Money | None
    gates: tuple[Gate, ...]
    parts: tuple[QuotedPart, ...] = ()
    risks: tuple[Risk, ...] = ()
    days: tuple[PurchaseDay, ...] = ()
    terms: str = ""

    @property
    def status(self) -> str:
        """``do not sign`` if a gate failed, ``not ready`` if one is open, else ``ready``."""
        states = {gate.status for gate in self.gates}
        if GateStatus.FAILED in states:
            return "do not sign"
        return "not ready" if GateStatus.OPEN in states else "ready"

    @property
    def added_nodes(self) -> int:
        """The nodes that the quote adds to a machine in place; 0 for a whole machine, or without a quote."""
        extended = [part.quoted for part in self.parts if part.kind == "node" and part.state == "in place"]
        return round(extended[0] or 0) if extended else 0

    def gates_with_status(self, status: GateStatus) -> tuple[Gate, ...]:
        """The gates with a status."""
        return tuple(gate for gate in self.gates if gate.status is status)

    def to_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "amount": self.amount.to_json() if self.amount else None,
            "basis": self.basis or None,
            "expected": self.expected.to_json() if self.expected else None,
            "gates": [gate.to_json() for gate in self.gates],
            "quote": [part.to_json() for part in self.parts],
            "risks": [risk.to_json() for risk in self.risks],
            "days": [one.to_json() for one in self.days],
        }
