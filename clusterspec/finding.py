"""Problems, which point at key paths, and findings, which point at lines.

Code that finds an error builds a `Problem`; only `clusterspec.document.model` turns problems into
findings, so that positions are computed in one place.
"""

from __future__ import annotations

from enum import StrEnum

from clusterspec.records import dataclass
from clusterspec.source import Path, Span


class Severity(StrEnum):
    """The severity of a finding. An error means that the design does not start, cannot be built, is wrong, or loses a
    quarter of the machine.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """The rank of a severity, 0 for errors."""
        return list(Severity).index(self)


ALWAYS_REPORTED = frozenset({"duplicate-key", "unreadable-yaml", "unresolved-extends", "unsupported-spec-version"})
"""Rules about text that could not be read correctly. No waiver, baseline or configuration silences them, because the
unread text may have further errors.
"""


ALIASES: dict[str, tuple[str, ...]] = {
    "low-scale-up-bandwidth": ("hbm-outruns-scale-up",),
    "measured-suggests-duplex-mistake": ("measured-suggests-duplex-slip",),
    "measurement-without-metric": ("metric-unsaid",),
    "pcie-generation-below-accelerator": ("pcie-behind-accelerator",),
    "raw-signaling-rate": ("raw-signalling-rate",),
    "thousandfold-mistake": ("thousandfold-slip",),
}
"""The former names of rules, oldest first. They remain valid in waivers, options, configurations, baselines and
``explain``, and the first one remains in fingerprints."""
_CURRENT = {former: rule for rule, names in ALIASES.items() for former in names}


def current_name(rule: str) -> str:
    """The name of a rule by its present or a former name; other names as given.

    >>> current_name("metric-unsaid"), current_name("shared-nic")
    ('measurement-without-metric', 'shared-nic')
    """
    return _CURRENT.get(rule, rule)


def first_name(rule: str) -> str:
    """The oldest name of a rule, by which fingerprints identify it.

    >>> first_name("measurement-without-metric"), first_name("shared-nic")
    ('metric-unsaid', 'shared-nic')
    """
    return ALIASES.get(rule, (rule,))[0]


class Confidence(StrEnum):
    """The basis of a rule: arithmetic, evidence, or a rule of thumb."""

    CERTAIN = "certain"
    LIKELY = "likely"
    HEURISTIC = "heuristic"


@dataclass(frozen=True)
class Replacement:
    """New text for the value at ``path`` (for its key when ``key`` is true)."""

    path: Path
    text: str
    key: bool = False


@dataclass(frozen=True)
class Fix:
    """A fix as a description and replacements; offered only if it is unambiguous.

    ``safe`` fixes are applied by ``--fix``: a quantity with exactly one reading, a misspelled key with exactly one near
    key. All others are suggestions, applied only with ``--unsafe-fixes``: a value that names hardware, a model, a
    platform, a switch, a topology or the version of the format, and every change of the design.
    """

    description: str
    replacements: tuple[Replacement, ...]
    safe: bool = False


@dataclass(frozen=True)
class Problem:
    """A problem at a key path.

    ``path`` may be an absent key: the finding then points at the nearest present mapping. ``at_key``
    points at the key rather than the value. ``related`` are other positions with a note, as key paths
    or spans.
    """

    rule: str
    path: Path
    message: str
    help: str = ""
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.CERTAIN
    at_key: bool = False
    related: tuple[tuple[Path | Span, str], ...] = ()
    fix: Fix | None = None
    span: Span | None = None
    """Set only for text that is not YAML and therefore has no key paths."""


@dataclass(frozen=True)
class Edit:
    """A text that replaces a span: the value at ``path``, or its key with ``renames``.

    The path is empty if no key is edited, as in a comment.
    """

    span: Span
    text: str
    path: Path = ()
    renames: bool = False

    @property
    def keys(self) -> frozenset[Path]:
        """The paths that the edit writes: the path of its value, and the new path of a renamed key."""
        if not self.path:
            return frozenset()
        return frozenset({self.path, (*self.path[:-1], self.text)} if self.renames else {self.path})


@dataclass(frozen=True)
class Finding:
    """A problem with its position, as reported to the user.

    ``written`` is the value as written, empty for a mapping or an absent key. ``fix_safe`` means that ``--fix``
    applies the edits. ``base`` is the place in a base, of a finding that is reported at the ``extends`` of a spec;
    ``heirs`` are the checked specs that inherit a finding of their base.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    help: str
    span: Span
    path: Path
    related: tuple[tuple[Span, str], ...] = ()
    fix_description: str = ""
    edits: tuple[Edit, ...] = ()
    fix_safe: bool = False
    written: str = ""
    base: Span | None = None
    heirs: tuple[str, ...] = ()

    def place_and_rule(self) -> tuple[str, int, int, int, str]:
        """The order of findings in a report: by position, then by severity and rule."""
        start = self.span.start
        return self.span.file, start.line, start.column, self.severity.rank, self.rule
