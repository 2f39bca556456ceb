"""The files that a spec names: traces of requests, and logs of measurements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from clusterspec.cluster.model import Design
from clusterspec.finding import Problem, Severity
from clusterspec.source import Path
from clusterspec.spec.model import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.measured import Measurement
    from clusterspec.logs.traces import TraceSummary


def summarized_traces(spec: Spec, folder: FilePath) -> tuple[dict[str, TraceSummary], list[Problem]]:
    """Summaries of the request traces that a spec names, by name, read from ``folder``; a problem for each unusable
    trace.
    """
    found: dict[str, TraceSummary] = {}
    problems = []
    for path, name in _named_traces(spec):
        from clusterspec.logs.traces import TraceFault, TraceMissing, trace_path, trace_summary  # few specs name one

        try:
            found[name] = found.get(name) or trace_summary(trace_path(name, folder))
        except TraceFault as fault:
            severity = Severity.NOTE if isinstance(fault, TraceMissing) else Severity.ERROR
            help_ = "put the file next to the spec; until then its rate and lengths are not known"
            problems.append(Problem("unreadable-log", path, str(fault), help_, severity=severity))
    return found, problems


def _named_traces(spec: Spec) -> Iterator[tuple[Path, str]]:
    """The places in a spec that name a trace, with its name."""
    work = spec.workload
    for key, section in (("serving", work and work.serving), ("rl", work and work.rl)):
        for name in ("arrivals", "input_tokens", "output_tokens"):
            trace = getattr(getattr(section, name, None), "trace", None)
            if trace is not None:
                yield ("workload", key, name, "trace"), trace


def design_calibrated_by_logs(
    spec: Spec, design: Design, folder: FilePath, *, steps: bool = True
) -> tuple[Design, tuple[Measurement, ...], list[Problem]]:
    """The design with measurements in place of catalog efficiencies; log paths are relative to ``folder``. Without
    ``steps``, measured steps belong to another job.
    """
    if not spec.measured:
        return design, (), []
    from clusterspec.cost.measured import calibrated_design, resolve_measurements

    logs, named = {}, [entry.log for entry in spec.measured if entry.log is not None]
    if named:
        from clusterspec.logs.benchmarks.nccl import read_logs  # most measurements are stated

        logs = read_logs(named, folder)
    measurements, problems = resolve_measurements(spec.measured, design.cluster, logs)
    design = calibrated_design(design, measurements)
    if any(entry.gemm_rate for entry in spec.measured):
        from clusterspec.studies.measured_times import design_calibrated_by_gemms  # few specs have one

        design, further = design_calibrated_by_gemms(spec.measured, design)
        problems += further
    if steps and any(entry.step_time or entry.step_log for entry in spec.measured):
        from clusterspec.studies.measured_times import design_calibrated_by_steps  # few specs have one

        design, further = design_calibrated_by_steps(spec.measured, design, folder)
        problems += further
    if steps and any(entry.tpot or entry.load_test for entry in spec.measured):
        from clusterspec.studies.measured_times import design_calibrated_by_load_tests  # few specs have one

        design, further = design_calibrated_by_load_tests(spec.measured, design, folder)
        problems += further
    return design, measurements, problems
