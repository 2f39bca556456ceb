"""Texts and colors of verdicts, shared by all writers."""

from __future__ import annotations

from clusterspec.results.verdict import VerdictStatus

VERDICT_WORDS = {
    VerdictStatus.FAILS: "Does not work as written",
    VerdictStatus.RESERVATIONS: "Works with reservations",
    VerdictStatus.CLEAR: "Checked, nothing found against it",
    VerdictStatus.NOT_JUDGED: "Not judged",
}
VERDICT_COLORS = {
    VerdictStatus.FAILS: "red",
    VerdictStatus.RESERVATIONS: "yellow",
    VerdictStatus.CLEAR: "green",
    VerdictStatus.NOT_JUDGED: "cyan",
}
