"""Operations, procurement, the report's title page, measurements, and acceptance tests of a spec."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass

Number = int | float


@dataclass(frozen=True)
class CheckpointSpec:
    """How checkpoints are saved, and how many are kept."""

    interval: Quantity | None = None
    pause: Quantity | None = None
    write_time: Quantity | None = None
    mode: str | None = None
    keep: int | None = None


@dataclass(frozen=True)
class OperationsTargetsSpec:
    """Targets that operation must reach."""

    goodput: float | None = None
    max_single_failure_slowdown: float | None = None
    run_time: Quantity | None = None


@dataclass(frozen=True)
class EarlyFailuresSpec:
    """Failures of a new machine: the rate starts at ``ratio`` times the later rate, and the excess halves in each
    ``half_life``.
    """

    ratio: float | None = None
    half_life: Quantity | None = None


@dataclass(frozen=True)
class StockSpec:
    """Spare parts to keep: enough for ``lead_time`` with probability ``percentile``."""

    percentile: float | None = None
    lead_time: Quantity | None = None


@dataclass(frozen=True)
class FailureRateSpec:
    """The failure rate of one part of a kind: the time between failures or the failures per year, with the likely range
    of failures per year.
    """

    mtbf: Quantity | None = None
    afr: float | None = None
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class FailuresSpec:
    """Failure rates by kind of part."""

    accelerator: FailureRateSpec | None = None
    node: FailureRateSpec | None = None
    domain: FailureRateSpec | None = None
    tray: FailureRateSpec | None = None
    nic: FailureRateSpec | None = None
    cable: FailureRateSpec | None = None
    optic: FailureRateSpec | None = None
    leaf: FailureRateSpec | None = None
    spine: FailureRateSpec | None = None
    core: FailureRateSpec | None = None
    switch: FailureRateSpec | None = None
    rack: FailureRateSpec | None = None
    feed: FailureRateSpec | None = None
    cdu: FailureRateSpec | None = None
    store: FailureRateSpec | None = None
    software: FailureRateSpec | None = None


@dataclass(frozen=True)
class CarbonSpec:
    """The carbon of electricity in kg of CO2 equivalent per kWh, and where the figure is from."""

    intensity: float | None = None
    source: str | None = None


@dataclass(frozen=True)
class OperationsSpec:
    """Checkpointing, failures and repair."""

    checkpoint_interval: Quantity | None = None
    checkpoint_time: Quantity | None = None
    mean_time_between_failures: Quantity | None = None
    node_mtbf: Quantity | None = None
    restart_time: Quantity | None = None
    repair_time: Quantity | None = None
    detection_time: Quantity | None = None
    burn_in: Quantity | None = None
    checkpoint: CheckpointSpec | None = None
    targets: OperationsTargetsSpec | None = None
    recovery: str | None = None
    failures: FailuresSpec | None = None
    early_failures: EarlyFailuresSpec | None = None
    stock: StockSpec | None = None
    carbon: CarbonSpec | None = None
    power_budget: Quantity | None = None
    """IT power of all pools of a fleet, or of the one cluster, in watts."""

    @property
    def interval(self) -> Quantity | None:
        """The time between checkpoints, under either of its two keys."""
        return self.checkpoint_interval or (self.checkpoint.interval if self.checkpoint else None)

    @property
    def interval_key(self) -> str:
        """The key path of `interval`."""
        nested = self.checkpoint_interval is None and self.checkpoint is not None
        return "operations.checkpoint.interval" if nested else "operations.checkpoint_interval"

    @property
    def pause(self) -> Quantity | None:
        """The time that training stops for a checkpoint, under either of its keys.

        Without these keys, training stops until the checkpoint is written, unless it is written asynchronously.
        """
        nested = self.checkpoint
        if self.checkpoint_time is not None or nested is None:
            return self.checkpoint_time
        return nested.pause or (None if nested.mode == "asynchronous" else nested.write_time)

    @property
    def pause_key(self) -> str:
        """The key path of `pause`."""
        nested = self.checkpoint
        if self.checkpoint_time is not None or nested is None:
            return "operations.checkpoint_time"
        written = nested.pause is None and nested.write_time is not None
        return "operations.checkpoint.write_time" if written else "operations.checkpoint.pause"

    @property
    def shrinks(self) -> bool:
        """Whether a job continues with fewer replicas after a failure."""
        return self.recovery == "shrink"

    @property
    def is_asynchronous(self) -> bool:
        """Whether checkpoints are written while training continues, as far as the spec says so."""
        return self.checkpoint is not None and self.checkpoint.mode == "asynchronous"


Price = Number | tuple[Number, Number]


@dataclass(frozen=True)
class QuoteLine:
    """A line of a supplier's quote."""

    part: str | None = None
    quantity: Number | None = None
    unit_price: Number | None = None
    price: Number | None = None


@dataclass(frozen=True)
class DeliverySpec:
    """Weeks until complete delivery, and milestones."""

    weeks: Number | None = None
    milestones: tuple[str, ...] | None = None


@dataclass(frozen=True)
class PaymentSpec:
    """Shares of the price that are due with the order, on delivery and after acceptance."""

    order: Number | None = None
    delivery: Number | None = None
    acceptance: Number | None = None


@dataclass(frozen=True)
class SupportSpec:
    """The support that is bought: for how long, and how fast failed parts are replaced."""

    term: Quantity | None = None
    response: Quantity | None = None


@dataclass(frozen=True)
class TariffSpec:
    """Hours of a day whose price of a kWh differs: from and to as ``HH:MM``."""

    starts: str | None = None
    to: str | None = None
    price: Number | None = None


@dataclass(frozen=True)
class ProcurementSpec:
    """Prices and terms; a price may be a range."""

    currency: str | None = None
    as_of: str | None = None
    term: Quantity | None = None
    commitment: Quantity | None = None
    prices: dict[str, Price] | None = None
    quote: tuple[QuoteLine, ...] | None = None
    quoted_total: Number | None = None
    budget: Number | None = None
    delivery: DeliverySpec | None = None
    needed_by: str | None = None
    discount: Number | None = None
    tax: Number | None = None
    payment: PaymentSpec | None = None
    support: SupportSpec | None = None
    warranty: Quantity | None = None
    electricity: Number | None = None
    tariff: tuple[TariffSpec, ...] | None = None
    pue: float | None = None
    utilization: float | None = None

    @property
    def is_rent(self) -> bool:
        """Whether nodes have an hourly price and no purchase price."""
        prices = self.prices or {}
        return bool(prices.get("node_hour")) and not prices.get("node")


@dataclass(frozen=True)
class DocumentSpec:
    """The title page of the report."""

    revision: str | None = None
    author: str | None = None
    signatories: tuple[str, ...] | None = None
    audience: str | None = None


# Measurements, and the tests that a supplier must pass


@dataclass(frozen=True)
class MeasuredSpec:
    """One measurement of the user's machine: a collective (a figure or a log of nccl-tests), the rate of GEMMs in a
    precision, a training step (a time or a log), or a time per output token (a figure or the result of a load test).
    """

    collective: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    size: Quantity | None = None
    busbw: Quantity | None = None
    algbw: Quantity | None = None
    algorithm: str | None = None
    log: str | None = None
    gemm_rate: Quantity | None = None
    precision: str | None = None
    step_time: Quantity | None = None
    step_log: str | None = None
    tpot: Quantity | None = None
    load_test: str | None = None


@dataclass(frozen=True)
class AcceptanceSpec:
    """One test that a supplier must pass."""

    collective: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    size: Quantity | None = None
    busbw: Quantity | None = None
    algbw: Quantity | None = None
    algorithm: str | None = None
    scope: str | None = None
    passes: str | None = None
    duration: Quantity | None = None

    @property
    def required_runs(self) -> tuple[int, int] | None:
        """The runs that must pass, and all runs: ``9 of 10``; None if they are not stated."""
        passed, sign, runs = (self.passes or "").replace("/", "of").partition("of")
        return (int(passed), int(runs)) if sign else None

    @property
    def set_nodes(self) -> int | None:
        """The number of nodes in each set on which the test runs: ``every-4-nodes``; None for one set."""
        return int(self.scope.removeprefix("every-").removesuffix("-nodes")) if self.scope else None
