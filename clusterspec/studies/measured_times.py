"""Measured rates of GEMMs, step times, and times per output token: the rates of products and of kernels that reproduce
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path as FilePath

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.measured_shares import RATE_OF_GEMMS, RATE_OF_KERNELS, RATE_OF_PRODUCTS, MeasuredShare
from clusterspec.cluster.model import Design, Workload
from clusterspec.cluster.variation import with_values
from clusterspec.cost.compute.rates import share_precision, sustained_product_share
from clusterspec.cost.estimate import RUN_TO_RUN, legal_estimate
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.microbenchmarks.samples import FASTER
from clusterspec.finding import Problem, Severity
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.files import log_text
from clusterspec.quantity import PRECISIONS, Figure, Peak
from clusterspec.records import dataclass, replace
from clusterspec.source import Measured, Path
from clusterspec.spec.model import MeasuredSpec
from clusterspec.standard import median
from clusterspec.units import display, percent

LEAST, MOST = 0.25, 2.0
"""Bounds of a rate relative to the catalog's rate. A time that implies a rate outside of them belongs to another job or
a faulty machine.
"""
TOO_SHORT = 2.0
"""If the time at the highest rate is at least this multiple of the measured time, the measured time has the wrong unit
or belongs to another job.
"""
GEMM_HELP = "measure products of 8,192 rows, columns and depth or more on one accelerator, or leave the rate out"
CLOSE = 1e-6
"""Relative difference between predicted and measured time at which the search ends."""
ROUNDS = 40


@dataclass(frozen=True)
class UnusedReason:
    """The reason why a measured time is not used: a note if there is nothing to compare it with, a higher severity if
    it contradicts the model.
    """

    why: str
    severity: Severity = Severity.NOTE


def design_calibrated_by_gemms(entries: tuple[MeasuredSpec, ...], design: Design) -> tuple[Design, list[Problem]]:
    """The design with the measured rate of GEMMs in each precision (the median of several), and a problem for each
    unused entry. Attention keeps the catalog's rate.
    """
    work, cluster = design.workload, design.cluster
    if work is None or cluster is None:
        return design, []
    found, problems = dict[str, list[Figure]](), list[Problem]()
    for index, entry in enumerate(entries):
        if entry.gemm_rate is None or entry.gemm_rate.sparsity is None:
            continue
        precision, rate = entry.precision or work.precision, entry.gemm_rate.dense
        share = _share_of_peak(cluster.accelerator, work, precision, rate)
        if isinstance(share, UnusedReason):
            said = f"GEMMs in {precision} at {display(rate, 'FLOP/s')} are measured, and {share.why}: they are not used"
            at = ("measured", index, "gemm_rate")
            problems.append(Problem("unused-measurement", at, said, GEMM_HELP, severity=share.severity))
        else:
            origin = Measured(f"{display(rate, 'FLOP/s')} of GEMMs in {precision} (measured[{index}])")
            found.setdefault(share_precision(precision), []).append(Figure(share, "1", origin))
    shares = tuple(
        MeasuredShare(name, RATE_OF_GEMMS, RATE_OF_GEMMS, 1, replace(some[-1], value=median(one.value for one in some)))
        for name, some in found.items()
    )
    return (
        with_values(design, {("cluster", "measured"): (*cluster.measured, *shares)}) if shares else design
    ), problems


def _share_of_peak(chip: Accelerator, work: Workload, precision: str, rate: float) -> float | UnusedReason:
    """A rate in FLOP/s as a share of the dense peak of a precision, or the reason why it cannot be used."""
    if work.kind == "serve":
        return UnusedReason("engines run measured kernels")
    if PRECISIONS[precision].bits < PRECISIONS[work.precision].bits:
        return UnusedReason(f"the GEMMs of the workload are in {work.precision}", Severity.WARNING)
    peaks: dict[str, Peak] = {**chip.peaks, **({work.precision: work.peak} if work.peak else {})}
    peak = peaks.get(precision) or (peaks.get("bf16") if precision == "fp16" else None)
    if peak is None:
        return UnusedReason(f"the peak of {chip.id} in {precision} is not known", Severity.WARNING)
    share, usual = rate / peak.value, sustained_product_share(chip, precision)
    if share > FASTER:
        return UnusedReason(f"the peak of {chip.id} is {display(peak.value, 'FLOP/s')}", Severity.ERROR)
    if share < LEAST * usual:
        told = display(usual * peak.value, "FLOP/s")
        return UnusedReason(
            f"training sustains {told} by the catalog, more than {1 / LEAST:g} times that", Severity.WARNING
        )
    return share


def design_calibrated_by_steps(
    entries: tuple[MeasuredSpec, ...], design: Design, folder: FilePath
) -> tuple[Design, list[Problem]]:
    """The design whose estimated step equals the measured step (the median of several), and a problem for each unused
    entry.

    Communication, memory traffic and host times stay as predicted, or as measured by their own tests; the rest of the
    step is attributed to GEMMs and attention.
    """
    steps, problems = list[tuple[int, float]](), list[Problem]()
    for index, entry in enumerate(entries):
        try:
            steps += [(index, seconds) for seconds in _measured_steps(entry, design, folder)]
        except (FormatError, NotALogError) as fault:
            problems.append(
                _measurement_problem("unreadable-log", ("measured", index, "step_log"), f"{entry.step_log}: {fault}")
            )
    if not steps:
        return design, problems
    seconds, index = median(each for _, each in steps), steps[-1][0]
    spread = max(RUN_TO_RUN.value, *(max(each / seconds, seconds / each) - 1 for _, each in steps))
    found = _with_step(design, seconds, index, spread)
    if isinstance(found, UnusedReason):
        key = "step_time" if entries[index].step_time else "step_log"
        at = ("measured", index, key)
        return design, [*problems, _measurement_problem("unused-measurement", at, found.why, found.severity)]
    return found, problems


def _measurement_problem(rule: str, path: Path, message: str, severity: Severity = Severity.ERROR) -> Problem:
    help_ = "measure the workload and the layout of the spec, after its first steps, or leave the step out"
    return Problem(rule, path, message, help_, severity=severity)


def _measured_steps(entry: MeasuredSpec, design: Design, folder: FilePath) -> Iterator[float]:
    """Seconds of a step that an entry states or whose log it names. Raises `FormatError` and `NotALogError`."""
    if entry.step_time is not None:
        yield entry.step_time.value
    if entry.step_log is not None:
        text = log_text(entry.step_log, folder)
        from clusterspec.studies.measured_logs import step_of_log  # few specs name one

        yield step_of_log(entry.step_log, text, design)


def _with_step(design: Design, seconds: float, index: int, spread: float) -> Design | UnusedReason:
    """The design whose step takes ``seconds``, with a relative ``spread`` of the measurements, or the reason why there
    is none.
    """
    work, cluster = design.workload, design.cluster
    said = f"a step of {display(seconds, 's')} is measured"
    if cluster is None or work is None or work.rl is not None or work.serving is not None:
        return UnusedReason(f"{said}, and the spec has no training job")

    def design_at_rate(rate: float) -> Design:
        origin = Measured(f"a step of {display(seconds, 's')} (measured[{index}])")
        share = MeasuredShare("step", RATE_OF_PRODUCTS, RATE_OF_PRODUCTS, 1, Figure(rate, "1", origin), seconds, spread)
        return with_values(design, {("cluster", "measured"): (*cluster.measured, share)})

    found = _measured_rate(lambda rate: legal_estimate(design_at_rate(rate)).step_seconds, seconds, "products")
    if isinstance(found, UnusedReason):
        return UnusedReason(f"{said}, and {found.why or 'the job of the spec has no estimate'}", found.severity)
    return design_at_rate(found)


def _measured_rate(time: Callable[[float], float | None], seconds: float, kernels: str) -> float | UnusedReason:
    """The rate of the given kernels from `rate_of_time`, or the reason why there is none. The reason is empty if no
    time can be predicted.
    """
    timed = cache(time)
    found, bounds = rate_of_time(timed, seconds)
    if found is not None:
        return found
    if bounds is None:
        return UnusedReason("")
    rates = f"{percent(LEAST)} to {percent(MOST)} of the catalog's rate of {kernels}"
    impossible = seconds * TOO_SHORT < (timed(MOST) or 0.0)
    return UnusedReason(f"{rates} give {bounds}: it is not used", Severity.ERROR if impossible else Severity.WARNING)


def rate_of_time(time: Callable[[float], float | None], seconds: float) -> tuple[float | None, str | None]:
    """The rate, relative to the catalog's, at which a job takes ``seconds``, and the possible times as text.

    ``time`` gives the seconds at a rate. The rate is None for seconds outside of the possible times; the text is None
    if the job has no time.
    """
    longest, shortest = time(LEAST), time(MOST)
    if longest is None or shortest is None:
        return None, None
    bounds = f"{display(shortest, 's')} to {display(longest, 's')}"
    if not shortest <= seconds <= longest:
        return None, bounds
    low, high = 1 / MOST, 1 / LEAST  # a step is linear in the time of kernels, where nothing else bounds it
    times = [shortest, longest]
    for turn in range(ROUNDS):
        share = (seconds - times[0]) / (times[1] - times[0]) if times[1] > times[0] else 0.0
        middle = low + (high - low) * (share if turn % 3 < 2 else 0.5)
        found = time(1 / middle)
        assert found is not None
        if abs(found - seconds) <= CLOSE * seconds:
            return 1 / middle, bounds
        if found < seconds:
            low, times[0] = middle, found
        else:
            high, times[1] = middle, found
    return 1 / high, bounds


# Times per output token: the rate of kernels that reproduces them

HELP = "measure the engines of the spec at its load, without failed requests, or leave the time out"


def design_calibrated_by_load_tests(
    entries: tuple[MeasuredSpec, ...], design: Design, folder: FilePath
) -> tuple[Design, list[Problem]]:
    """The design whose mean time per output token equals the measured one (the median of several), and a problem for
    each unused entry.

    The rate of all kernels of the engines changes; times of the host, of collectives and of the network do not.
    """
    times, problems = list[tuple[int, str, float]](), list[Problem]()
    for index, entry in enumerate(entries):
        try:
            times += [(index, key, seconds) for key, seconds in _measured_tokens(entry, design, folder)]
        except (FormatError, NotALogError) as fault:
            at, message = ("measured", index, "load_test"), f"{entry.load_test}: {fault}"
            problems.append(Problem("unreadable-log", at, message, HELP, severity=Severity.ERROR))
    if not times:
        return design, problems
    seconds, (index, key, _) = median(each for _, _, each in times), times[-1]
    spread = max(RUN_TO_RUN.value, *(max(each / seconds, seconds / each) - 1 for _, _, each in times))
    found = _with_token_time(design, seconds, index, spread)
    if isinstance(found, UnusedReason):
        at = ("measured", index, key)
        return design, [*problems, Problem("unused-measurement", at, found.why, HELP, severity=found.severity)]
    return found, problems


def _measured_tokens(entry: MeasuredSpec, design: Design, folder: FilePath) -> Iterator[tuple[str, float]]:
    """The mean times per output token of an entry in seconds, each with its key. A key states the time, or a file that
    has it.

    Raises `FormatError` and `NotALogError`.
    """
    if entry.tpot is not None:
        yield "tpot", entry.tpot.value
    if entry.load_test is not None:
        text = log_text(entry.load_test, folder)
        from clusterspec.studies.measured_logs import token_time_of_test  # few specs name one

        yield "load_test", token_time_of_test(entry.load_test, text, design)


def _with_token_time(design: Design, seconds: float, index: int, spread: float) -> Design | UnusedReason:
    """The design whose mean time per output token is ``seconds``, with a relative ``spread`` of the measurements, or
    the reason why there is none.
    """
    work, cluster = design.workload, design.cluster
    said = f"a time per output token of {display(seconds, 's')} is measured"
    if cluster is None or work is None or work.serving is None:
        return UnusedReason(f"{said}, and the spec serves nothing")

    instead = ""

    def design_at_rate(rate: float) -> Design:
        origin = Measured(f"{display(seconds, 's')} per output token (measured[{index}]){instead}")
        share = MeasuredShare("token", RATE_OF_KERNELS, RATE_OF_KERNELS, 1, Figure(rate, "1", origin), seconds, spread)
        return with_values(design, {("cluster", "measured"): (*cluster.measured, share)})

    def token(rate: float) -> float | None:
        times = legal_estimate(design_at_rate(rate)).serving
        return times.tpot_mean if times is not None else None

    usual = token(1.0)
    if usual is not None:
        instead = f", {display(usual, 's')} at the catalog's rate"
    found = _measured_rate(token, seconds, "kernels")
    if isinstance(found, UnusedReason):
        return UnusedReason(f"{said}, and {found.why or 'the plan has no estimate'}", found.severity)
    return design_at_rate(found)
