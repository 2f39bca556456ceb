"""What a report blames in words: "the root cause was …", "it turned out that …", "it was due to …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.reports.outcomes import in_small_letters
from clusterspec.logs.reports.stated_reasons import GUESS
from clusterspec.logs.reports.trial_words import BLAMABLE, FAULTS, REMEDIES

_BLAME = re.compile(
    r"\b(?:problem|issue|cause|reason) (?:was|turned out to be)\b(?! (?:not|gone|there|the same|solved|fixed|resolved))"
    r"|\bturn(?:ed|s) out (?=[\w/.-]{2,24} (?:was|were|is|are|had)\b)"
    r"|\b(?:root cause|culprit|actual cause|real (?:issue|problem|cause))(?: here)?(?: (?:is|was|turned out to be)\b|:)"
    r"|\bturn(?:ed|s) out (?:to be\b|that\b|it was\b|(?=(?:the|there|my|our|one|two|both)\b))"
    r"|\b(?:it|this|that|hang|error|issue|problem|slowdown|failure) (?:was|is) (?:due to|caused by|because of)\b"
    r"|\b(?:it|this|problem|issue|cause) (?:was|is) (?=(?:an?|the|one|our) "
    r"(?:stale|bad|wrong|broken|missing|faulty|misconfigured|loose|blocked|dead|failing)\b)"
    r"|\b(?:i|we) found (?:out )?(?:that |the )|\bmy (?:mistake|bad|fault)\b",
    re.IGNORECASE,
)
"""Words before what is blamed."""
(_BLAME_FOLDED,) = in_small_letters(_BLAME)
_DENIED = re.compile(
    r"^\W{0,3}(?:not|n't|unclear|unknown|still)\b|\b(?:is|was|were) (?:fine|ok|not the)\b", re.IGNORECASE
)
_THINGS = (
    *((name, re.compile(words, re.IGNORECASE)) for name, words in FAULTS),
    *((name, re.compile(words)) for name, words in REMEDIES if name in BLAMABLE),
)


def blames_something(line: str) -> bool:
    """Whether a line after `str.casefold` blames something.

    >>> blames_something("the root cause was the mtu"), blames_something("the cause is open")
    (True, False)
    """
    return _BLAME_FOLDED.search(line) is not None


def blamed_things(clause: str) -> Iterator[str]:
    """The remedies of the things that a clause blames; a guess (`logs.reports.stated_reasons`) blames nothing.

    >>> list(blamed_things("It turned out to be the MTU of one node")), list(blamed_things("the MTU was 9000"))
    (['mtu'], [])
    >>> list(blamed_things("I think it was due to the MTU"))
    []
    """
    for match in _BLAME.finditer(clause) if not GUESS.search(clause) else ():
        blamed = clause[match.end() :]
        if not _DENIED.search(blamed):
            yield from (name for name, words in _THINGS if words.search(blamed))
            return
