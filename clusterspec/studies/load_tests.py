"""Measured times per output token of the engines of a spec: the rate of kernels that reproduces them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from statistics import median

from clusterspec.cluster.model import RATE_OF_KERNELS, Design, MeasuredShare
from clusterspec.cluster.requests import Serving
from clusterspec.cluster.variation import with_values
from clusterspec.cost.estimate import RUN_TO_RUN, legal_estimate
from clusterspec.exchange.import_result import FormatError, ImportResult, InputFile
from clusterspec.exchange.workloads.load_tests import read_load_test
from clusterspec.finding import Problem, Severity
from clusterspec.logs.nccl_rows import NotALogError
from clusterspec.logs.readers import log_text
from clusterspec.origin import Measured
from clusterspec.quantity import Figure
from clusterspec.spec.model import MeasuredSpec
from clusterspec.studies.step_times import LEAST, MOST, rate_of_time
from clusterspec.units import display, percent

HELP = "measure the engines of the spec at its load, without failed requests, or leave the time out"
SAME_LENGTH = 0.05
"""Relative difference of mean lengths up to which a load test has the load of the spec."""


def calibrated_by_load_tests(
    entries: tuple[MeasuredSpec, ...], design: Design, folder: FilePath
) -> tuple[Design, list[Problem]]:
    """The design whose mean time per output token is the measured one, of several the median; a problem for each entry
    that is not used.

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
    found, why = _with_token_time(design, seconds, index, spread)
    if found is None:
        at, note = ("measured", index, key), Severity.NOTE
        return design, [*problems, Problem("unused-measurement", at, why, HELP, severity=note)]
    return found, problems


def _measured_tokens(entry: MeasuredSpec, design: Design, folder: FilePath) -> Iterator[tuple[str, float]]:
    """The keys of an entry, and the mean time per output token in seconds that each states or names the file of.

    Raises `FormatError` and `NotALogError`.
    """
    if entry.tpot is not None:
        yield "tpot", entry.tpot.value
    if entry.load_test is not None:
        text = log_text(entry.load_test, folder)
        yield "load_test", _token_time(read_load_test(InputFile(entry.load_test, text.encode())), design)


def _token_time(result: ImportResult, design: Design) -> float:
    """The mean time per output token of a load test, in seconds. Raises `FormatError` for a test with another load."""
    load = design.workload.serving if design.workload is not None else None
    if load is None:
        raise FormatError("needs a workload of kind `serve` to be compared with")
    for name, own in _load_of(load).items():
        seen = result.value(("workload", "serving", name))
        mean = seen.get("mean") if isinstance(seen, dict) else seen
        within = SAME_LENGTH if name.endswith("_tokens") else 0.0
        if isinstance(mean, int | float) and own is not None and abs(mean / own - 1) > within:
            raise FormatError(f"is of a test with {name} {mean:g}, and the spec has {own:g}")
    seconds = result.number("mean_tpot_seconds")
    if not isinstance(seconds, int | float) or not seconds:
        raise FormatError("has no mean time per output token")
    return float(seconds)


def _load_of(load: Serving) -> dict[str, float | None]:
    """The figures of a load that a load test states."""
    return {
        "concurrency": load.concurrency if load.load == "closed" else None,
        "request_rate": load.request_rate,
        "input_tokens": load.input_tokens,
        "output_tokens": load.output_tokens,
    }


def _with_token_time(design: Design, seconds: float, index: int, spread: float) -> tuple[Design | None, str]:
    """The design whose mean time per output token is some seconds, within a relative spread, or why there is none."""
    work, cluster = design.workload, design.cluster
    said = f"a time per output token of {display(seconds, 's')} is measured"
    if cluster is None or work is None or work.serving is None:
        return None, f"{said}, and the spec serves nothing"

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
    found, bounds = rate_of_time(token, seconds)
    if bounds is None:
        return None, f"{said}, and the plan has no estimate"
    if found is None:
        rates = f"{percent(LEAST)} to {percent(MOST)} of the catalog's rate of kernels"
        return None, f"{said}, and {rates} give {bounds}: it is not used"
    return design_at_rate(found), ""
