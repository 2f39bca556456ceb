"""Problems found in running text, at tokens."""

from __future__ import annotations

from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.prose.tokenize import Token
from clusterspec.records import dataclass
from clusterspec.source import Position, Span

_ERRORS = (
    "accelerators-miscounted ambiguous-unit arithmetic-does-not-close bits-and-bytes-swapped duplex-counted-as-one-way"
    " injection-called-bisection label-contradicts-rate lanes-counted-as-nics links-miscounted nic-rate-off-technology"
    " one-way-counted-as-duplex peak-off-catalog sparse-peak-as-dense thousandfold-slip"
)
_WARNINGS = (
    "bandwidth-of-another-scope contradicts-platform metric-unsaid mixed-direction-comparison peak-of-other-precision"
)
_NOTES = "decimal-binary-mixup percentage-off-count"
SEVERITIES: dict[str, Severity] = {
    **dict.fromkeys(_ERRORS.split(), Severity.ERROR),
    **dict.fromkeys(_WARNINGS.split(), Severity.WARNING),
    **dict.fromkeys(_NOTES.split(), Severity.NOTE),
}
"""The rules that apply to running text, with the severity that their pages state."""


@dataclass(frozen=True, slots=True)
class TextProblem:
    """A problem of a text from token ``start`` to ``end`` (inclusive; only ``start`` if that is None)."""

    rule: str
    start: Token
    message: str
    help: str
    end: Token | None = None

    def problem(self, file: str) -> Problem:
        """The same as a `Problem` with a span in a file."""
        end = self.end if self.end is not None and self.end.line == self.start.line else self.start
        span = Span(file, Position(self.start.line, self.start.column), Position(end.line, end.column + len(end.text)))
        return Problem(self.rule, (), self.message, self.help, SEVERITIES[self.rule], Confidence.LIKELY, span=span)
