"""What is said to the author: a rule, the words it speaks of, the numbers, and what to write."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.rules.prose.scan import Token
from clusterspec.source import Position, Span

_WARNINGS = frozenset(
    [
        "bandwidth-of-another-scope",
        "mixed-direction-comparison",
        "peak-of-other-precision",
        "metric-unsaid",
        "percentage-off-count",
        "decimal-binary-mixup",
    ]
)
"""Rules whose text may be right in a reading that was not written: a warning. The rest contradict themselves."""


@dataclass(frozen=True, slots=True)
class Told:
    """A slip at some tokens: from ``start`` to ``end``, the same one where only one is meant."""

    rule: str
    start: Token
    message: str
    help: str
    end: Token | None = None

    def problem(self, file: str) -> Problem:
        """The problem, with its span in a file."""
        end = self.end if self.end is not None and self.end.line == self.start.line else self.start
        severity = Severity.WARNING if self.rule in _WARNINGS else Severity.ERROR
        span = Span(file, Position(self.start.line, self.start.column), Position(end.line, end.column + len(end.text)))
        return Problem(self.rule, (), self.message, self.help, severity, Confidence.LIKELY, span=span)
