"""The words in which every writer says the same thing."""

from __future__ import annotations

from clusterspec.results.verdict import Status

VERDICT_WORDS = {
    Status.FAILS: "Does not work as written",
    Status.RESERVATIONS: "Works with reservations",
    Status.CLEAR: "Checked, nothing found against it",
    Status.NOT_JUDGED: "Not judged",
}
VERDICT_COLORS = {
    Status.FAILS: "red",
    Status.RESERVATIONS: "yellow",
    Status.CLEAR: "green",
    Status.NOT_JUDGED: "cyan",
}
