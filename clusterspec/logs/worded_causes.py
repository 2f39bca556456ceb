"""Causes suspected from the words of a report if none of its lines decides: the causes whose terms it has.

The score of a cause is the sum of the weights of its terms (`cause_terms.weights`) in the text, each next one counting
less, minus a share of the heaviest term that a clause denies. No cause is named below a threshold; those whose score is
near the best one are named with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clusterspec.logs.cause_terms import Found, Term, terms_in, weights
from clusterspec.logs.report_sentences import reported_fault, tells_of_a_case
from clusterspec.records import NamedTuple

SUSPECTED = "suspected "
"""Prefix of the names of statements that suspect a cause; the cause follows."""
HINTED = "hinted "
"""Prefix for a suspected cause whose score is below `FEWEST`."""
OF_A_REPORT = "reported fault"
"""The name of the statement that a sentence of the text reports a fault."""
FEWEST = 4.0
"""The score from which causes are named: two terms of a subsystem, or a message."""
LEAST = 2.4
"""The score from which causes are named where none has `FEWEST`: one term that few causes have."""
DECIDING = 6.0
"""The score from which a cause is named for topics alone, in a text that tells of no case."""
NEAR = 0.6
"""The share of the best score from which other causes are also named."""
MOST = 4
"""Largest number of causes that are named."""
SHOWN = 4
"""Terms of a cause that its evidence shows."""
PER_TERM = 0.5
"""Decrease of the weight of further terms of a cause: to 1 / (1 + PER_TERM), then to 1 / (1 + 2 PER_TERM)."""
OF_LAUNCH = 0.5
"""The share of its weight that a term of a command has, where settings stand that are of no consequence."""
OF_DENIAL = 0.5
"""The share of the largest denied term that is taken from the score."""
_ALIKE = frozenset({"hardware", "subject"})
"""Roles of terms that no cause is named for alone."""
_TOPICS = _ALIKE | {"subsystem"}
"""Roles of terms of what a text is about: texts without a fault have them, too."""
SPECIFIC = 3
"""Least number of words of a symptom that may name a cause by itself."""


class Worded(NamedTuple):
    """A cause that the words of a text suggest: its score, and the terms of it, the heaviest first."""

    cause: str
    score: float
    terms: tuple[Found, ...]


def worded_causes(text: str) -> list[Worded]:
    """The causes that a text is suspected of by its words, the likeliest first; none below `FEWEST`.

    >>> [each.cause for each in worded_causes("It stops: the security group of the second subnet differs.")]
    ['unreachable-peer']
    >>> worded_causes("Training is slow.")
    []
    """
    found: dict[str, list[Found]] = {}
    for each in terms_in(text):
        found.setdefault(each.term.cause, []).append(each)
    scored = sorted(
        (_scored(cause, terms) for cause, terms in found.items()), key=lambda each: (-each.score, each.cause)
    )
    named = [each for each in scored if each.score >= LEAST and any(_is_specific(term.term) for term in each.terms)]
    best = named[0].score if named else 0.0
    fewest = FEWEST if best >= FEWEST else LEAST
    return [each for each in named if each.score >= max(NEAR * best, fewest)][:MOST]


def _is_specific(term: Term) -> bool:
    """Whether a term may name a cause by itself: neither hardware, a subject, nor a symptom of few words."""
    return term.role not in _ALIKE and (term.role != "symptom" or len(term.words) >= SPECIFIC)


def _scored(cause: str, found: Iterable[Found]) -> Worded:
    """A cause with the score of its terms in a text."""
    order = sorted(found, key=lambda each: (-_weight(each), each.line, each.term.text))
    denied = [each for each in order if each.denied and each.term.role != "symptom"]
    stated = _without_parts([each for each in order if each not in denied])
    score = sum(_weight(each) / (1 + PER_TERM * place) for place, each in enumerate(stated))
    return Worded(cause, round(score - OF_DENIAL * max(map(_weight, denied), default=0.0), 3), tuple(stated))


def _weight(found: Found) -> float:
    """The weight of a term at its place."""
    return weights()[found.term] * (OF_LAUNCH if found.launched else 1)


def _without_parts(found: Sequence[Found]) -> list[Found]:
    """The terms, the heaviest first, other than those whose words are all in one before it."""
    kept: list[Found] = []
    for each in found:
        if not any(each.term.words <= other.term.words for other in kept):
            kept.append(each)
    return kept


def suspected_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The first sentence that reports a fault, then the causes that a text is suspected of, each with its terms and the
    line of the heaviest one; nothing of a text without such a sentence, and no cause for its topics alone where the
    text tells of no case.
    """
    fault = reported_fault(text)
    if fault is None:
        return
    yield OF_A_REPORT, *fault
    of_a_case = tells_of_a_case(text)
    for each in worded_causes(text):
        if not of_a_case and each.score < DECIDING and _is_of_topics(each):
            continue
        name = SUSPECTED if each.score >= FEWEST else HINTED
        yield f"{name}{each.cause}", _shown_terms(each.terms), each.terms[0].line


def _is_of_topics(worded: Worded) -> bool:
    """Whether the terms of a cause only tell what a text is about."""
    return all(each.term.role in _TOPICS for each in worded.terms)


def _shown_terms(found: Sequence[Found]) -> str:
    """The heaviest terms of a cause, each with its line if that is not the first one's."""
    first = found[0].line
    shown = (f"“{each.term.text}”" + (f" (line {each.line})" if each.line != first else "") for each in found[:SHOWN])
    return ", ".join(shown)
