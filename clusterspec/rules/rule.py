"""The metadata of a rule: name, group, severity and confidence."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.finding import ALIASES, Confidence, Fix, Problem, Replacement, Severity
from clusterspec.records import dataclass
from clusterspec.source import Path


@dataclass(frozen=True)
class Rule:
    """The metadata of one rule; its file contains the page and the check.

    ``severity`` is the default. Where the cost model predicts the loss, the loss determines the severity. A rule that
    rests only on a rule of thumb (``heuristic``) is never an error.
    """

    name: str
    group: str
    severity: Severity
    confidence: Confidence
    yields_to: tuple[str, ...] = ()
    """Rules that report the same flaw of the same key more precisely; where one of them fires, this rule is silent."""
    reads: tuple[str, ...] = ()
    """Keys, other than the reported one, that the rule needs to judge. If one of them is unreadable or misspelled, the
    rule is silent, because the key then has its default and not the author's value.
    """

    @property
    def aliases(self) -> tuple[str, ...]:
        """The rule's former names, oldest first."""
        return ALIASES.get(self.name, ())

    @classmethod
    def of(
        cls,
        module: str,
        severity: str,
        confidence: str = "certain",
        *,
        yields_to: tuple[str, ...] = (),
        reads: tuple[str, ...] = (),
    ) -> Rule:
        """The rule of a module: ``rules.scale_up.tp_crosses_domain`` is ``tp-crosses-domain`` of ``scale-up``."""
        *_, group, name = module.replace("_", "-").split(".")
        return cls(name, group, Severity(severity), Confidence(confidence), yields_to, reads)

    def problem(
        self,
        at: str | Path,
        message: str,
        help: str = "",  # noqa: A002 - the word people see
        *,
        severity: str = "",
        confidence: str = "",
        related: Sequence[tuple[str, str]] = (),
        fix: Fix | None = None,
        at_key: bool = False,
    ) -> Problem:
        """A problem of this rule at a key path, given as a tuple or in dotted notation (``layout.tp``)."""
        return Problem(
            self.name,
            key_path(at),
            message,
            help,
            Severity(severity or self.severity),
            Confidence(confidence or self.confidence),
            at_key,
            tuple((key_path(path), text) for path, text in related),
            fix,
        )


def key_path(at: str | Path) -> Path:
    """A key path from its dotted notation.

    >>> key_path("acceptance.0.busbw")
    ('acceptance', 0, 'busbw')
    """
    if isinstance(at, tuple):
        return at
    return tuple(int(key) if key.isdigit() else key for key in at.split("."))


def quote_path(index: int, key: str) -> Path:
    """The path of a key in a quote line with this index.

    >>> quote_path(2, "unit_price")
    ('procurement', 'quote', 2, 'unit_price')
    """
    return "procurement", "quote", index, key


def value_fix(at: str, text: str, description: str = "", *, safe: bool = False) -> Fix:
    """The fix that writes ``text`` as the value of one key; ``safe`` only where a quantity has exactly one reading."""
    return Fix(description or f"write `{text}`", (Replacement(key_path(at), text),), safe)
