"""The ranges of predictions that follow from the logs of a passed acceptance."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.analysis.diagnosis.collectives import Logs, calibration, diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.merged_parts import merged_into, study_of_merged
from clusterspec.analysis.outputs import collective
from clusterspec.cost.collectives.predict import CollectiveRow
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.merge import MergedText
from clusterspec.results.diagnosis import AcceptanceReport, PlannedTest, UpdatedRange
from clusterspec.studies import Study


def accepted_ranges(study: Study, logs: Logs, report: AcceptanceReport) -> tuple[tuple[UpdatedRange, ...], MergedText]:
    """The predicted range of each test before and after the logs that measured it, and the spec with these logs in
    `measured`.

    As in `diagnose`, each log sets the achieved share of its limiting link, so the prediction equals the measurement at
    the largest size; the new range is the narrower range of shares measured on the same machine. Raises `FormatError`
    if a test failed, because predictions should not be fitted to a defective machine, or if no test was run.
    """
    if any(test.status == "fail" for test in report.tests):
        raise FormatError(
            "a test failed: repair the machine and repeat the test; measurements of a failed test are not stored"
        )
    if any(test.status == "impossible" for test in report.tests):
        raise FormatError("a measurement is above what the links carry: correct its log, or the machine of the spec")
    used = {name for test in report.tests for name, _ in test.logs}
    cluster = study.design.cluster
    if not used or cluster is None:
        raise FormatError("no log belongs to a test")
    found = diagnosis_of(cluster, [(name, log) for name, log in logs if name in used], LogOverrides())
    merged = merged_into(study, calibration(found.runs))
    again = study_of_merged(study, merged)
    measured: Mapping[str, float | None] = {test.name: test.measured for test in report.tests}
    ranges = tuple(
        UpdatedRange(test.name, _range_of(study, test), _range_of(again, test), measured.get(test.name))
        for test in report.plan
    )
    return ranges, merged


def _range_of(study: Study, test: PlannedTest) -> tuple[float, float]:
    """The low and high end of the predicted bus bandwidth of a test in B/s."""
    row: CollectiveRow = collective(study, test.collective, test.ranks, (test.size,)).rows[0]
    return row.lowest_busbw, row.busbw * row.seconds / row.low if row.low else row.busbw
