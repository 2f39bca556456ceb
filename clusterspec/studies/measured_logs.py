"""Times that a `measured` entry takes from a file: a step from the log of a training run, or the time per token from a
load test.
"""

from __future__ import annotations

from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Serving
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.workloads.engines.load_tests import read_load_test
from clusterspec.exchange.workloads.step_logs.logs import read_step_log

SAME_LENGTH = 0.05
"""Relative difference of mean lengths up to which a load test counts as having the load of the spec."""


def step_of_log(name: str, text: str, design: Design) -> float:
    """Seconds of a step in a log. Raises `FormatError` for a file that is none, or of another job than a design has."""
    log = read_step_log(InputFile(name, text.encode()))
    work, layout = design.workload, design.layout
    if work is None or layout is None:
        raise FormatError("needs a workload and a layout to be compared with")
    own = {f"layout.{axis}": getattr(layout, axis) for axis in ("tp", "cp", "pp")}
    for key, value in (own | {"workload.global_batch": work.global_batch}).items():
        seen = log.value(tuple(key.split(".")))
        if seen is not None and seen != value:
            raise FormatError(f"is of a run with {key.split('.')[1]} {seen}, and the spec has {value}")
    ranks = log.number("ranks")
    if ranks is not None and ranks != layout.ranks:
        raise FormatError(f"is of a run on {ranks} ranks, but the job of the spec has {layout.ranks}")
    seconds, rate = log.number("step_seconds"), log.number("tokens_per_second_per_accelerator")
    if isinstance(seconds, int | float):
        return float(seconds)
    if not isinstance(rate, int | float) or not rate:
        raise FormatError("has no time of a step")
    return work.global_batch * work.sequence_length / (rate * layout.ranks)


def token_time_of_test(name: str, text: str, design: Design) -> float:
    """The mean time per output token of a load test, in seconds.

    Raises `FormatError` for a file that is none, or of another load than a design has.
    """
    result = read_load_test(InputFile(name, text.encode()))
    load = design.workload.serving if design.workload is not None else None
    if load is None:
        raise FormatError("needs a workload of kind `serve` to be compared with")
    for key, own in _load_figures(load).items():
        seen = result.value(("workload", "serving", key))
        mean = seen.get("mean") if isinstance(seen, dict) else seen
        within = SAME_LENGTH if key.endswith("_tokens") else 0.0
        if isinstance(mean, int | float) and own is not None and abs(mean / own - 1) > within:
            raise FormatError(f"is of a test with {key} {mean:g}, and the spec has {own:g}")
    seconds = result.number("mean_tpot_seconds")
    if not isinstance(seconds, int | float) or not seconds:
        raise FormatError("has no mean time per output token")
    return float(seconds)


def _load_figures(load: Serving) -> dict[str, float | None]:
    """The figures of a load that a load test states."""
    return {
        "concurrency": load.concurrency if load.load == "closed" else None,
        "request_rate": load.request_rate,
        "input_tokens": load.input_tokens,
        "output_tokens": load.output_tokens,
    }
