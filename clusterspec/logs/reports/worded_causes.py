"""Causes suspected from the words of a report if none of its lines decides: the causes whose terms it has.

The score of a cause is the sum of the weights of its terms (`cause_terms.weights`) in the text, each next one counting
less, minus a share of the heaviest term that a clause denies. No cause is named below a threshold; those whose score is
near the best one are named with it. Where a person tells of a case, the cause that single words speak for
(`word_model`) is added, if it is clearly ahead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clusterspec.logs.reports.cause_terms import FoundTerm, Term, is_command, terms_in, weights, words_of
from clusterspec.logs.reports.fault_words import OF_A_PERSON
from clusterspec.logs.reports.report_sentences import (
    is_logged,
    report_sentences,
    reported_fault,
    tells_of_a_case,
    titled_fault,
)
from clusterspec.logs.reports.word_model import evidence_for_causes, evidence_of_word
from clusterspec.logs.text_lines import lines_of
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
DECIDING = 7.5
"""The score from which a cause is named for topics alone, in a text that tells of no case."""
OF_NO_CASE = 5.4
"""The score from which a cause is named in a text that neither a program printed nor a person about a case wrote."""
PER_EVIDENCE = 0.8
"""What a unit of the evidence of single words adds to the score of terms."""
BACKGROUND = 2.0
"""The score that single words of any report give to the likeliest of many causes."""
OF_A_LOG = 10.0
"""The score from which single words name a cause in a text that tells of a case, but is not of a person."""
SENTENCES = 15
"""Sentences of a report whose single words count: later ones are of what was tried, or about something else."""
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
OF_TITLE = 1.5
"""The factor of the weight of a term in the title, in which a person says what the report is about."""
OF_DENIAL = 0.5
"""The share of the largest denied term that is taken from the score."""
_ALIKE = frozenset({"hardware", "subject"})
"""Roles of terms that no cause is named for alone."""
_TOPICS = _ALIKE | {"subsystem"}
"""Roles of terms of what a text is about: texts without a fault have them, too."""
SPECIFIC = 3
"""Least number of words of a symptom that may name a cause by itself."""


class WordedCause(NamedTuple):
    """A cause that the words of a text suggest: its score, and the terms of it, the heaviest first."""

    cause: str
    score: float
    terms: tuple[FoundTerm, ...]


def worded_causes(text: str) -> list[WordedCause]:
    """The causes that a text is suspected of by its words, the likeliest first; none below `FEWEST`.

    >>> [each.cause for each in worded_causes("It stops: the security group of the second subnet has no rule.")]
    ['unreachable-peer']
    >>> worded_causes("Training is slow.")
    []
    """
    scored = _scored_causes(text)
    named = [each for each in scored if each.score >= LEAST and any(_is_specific(term.term) for term in each.terms)]
    best = named[0].score if named else 0.0
    fewest = FEWEST if best >= FEWEST else LEAST
    return [each for each in named if each.score >= max(NEAR * best, fewest)][:MOST]


def _scored_causes(text: str) -> list[WordedCause]:
    """The causes that have terms in a text, with their scores, the highest first."""
    found: dict[str, list[FoundTerm]] = {}
    for each in terms_in(text):
        found.setdefault(each.term.cause, []).append(each)
    return sorted(
        (_scored_cause(cause, terms) for cause, terms in found.items()), key=lambda each: (-each.score, each.cause)
    )


def _is_specific(term: Term) -> bool:
    """Whether a term may name a cause by itself: neither hardware, a subject, nor a symptom of few words."""
    return term.role not in _ALIKE and (term.role != "symptom" or len(term.words) >= SPECIFIC)


def _scored_cause(cause: str, found: Iterable[FoundTerm]) -> WordedCause:
    """A cause with the score of its terms in a text."""
    order = sorted(found, key=lambda each: (-_weight(each), each.line, each.term.text))
    denied = [each for each in order if each.denied and each.term.role != "symptom"]
    stated = _without_parts([each for each in order if each not in denied])
    score = sum(_weight(each) / (1 + PER_TERM * place) for place, each in enumerate(stated))
    return WordedCause(cause, round(score - OF_DENIAL * max(map(_weight, denied), default=0.0), 3), tuple(stated))


def _weight(found: FoundTerm) -> float:
    """The weight of a term at its place."""
    return weights()[found.term] * (OF_LAUNCH if found.launched else 1) * (OF_TITLE if found.of_title else 1)


def _without_parts(found: Sequence[FoundTerm]) -> list[FoundTerm]:
    """The terms, the heaviest first, other than those whose words are all in one before it."""
    kept: list[FoundTerm] = []
    for each in found:
        if not any(each.term.words <= other.term.words for other in kept):
            kept.append(each)
    return kept


def suspected_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The first sentence that reports a fault, then the causes that a text is suspected of, each with its terms and the
    line of the heaviest one; nothing of a text without such a sentence, and fewer causes of one that tells of no case.
    """
    fault = reported_fault(text)
    if fault is None:
        return
    yield OF_A_REPORT, *fault
    for each in _suspected(text):
        name = SUSPECTED if each.score >= FEWEST else HINTED
        yield f"{name}{each.cause}", _shown_terms(each.terms), each.terms[0].line


def _suspected(text: str) -> Sequence[WordedCause]:
    """The causes that a text is suspected of: by its terms and single words together if it tells of a case, else by
    terms that are more than topics.
    """
    by_terms = worded_causes(text)
    sentences = [(number, line) for number, line in report_sentences(text) if not is_command(line)]
    of_a_person = titled_fault(text) is not None or any(OF_A_PERSON.search(line) for _, line in sentences)
    of_a_case = of_a_person or tells_of_a_case(text)
    named = [each for each in by_terms if of_a_case or each.score >= DECIDING or not _is_of_topics(each)]
    fewest = 0.0 if of_a_person or any(is_logged(line) for line in lines_of(text)) else OF_NO_CASE
    named = [each for each in named if each.score >= fewest]
    if not of_a_case:
        return named
    return likeliest_causes(text, sentences[:SENTENCES], named, LEAST if of_a_person else OF_A_LOG)


def likeliest_causes(
    text: str, sentences: Sequence[tuple[int, str]], named: Sequence[WordedCause] = (), least: float = LEAST
) -> list[WordedCause]:
    """The causes that the terms of a text and the single words of its sentences speak for, the likeliest first: those
    already ``named`` by terms, and those with a score of ``least``.

    >>> found = likeliest_causes("", [(1, "The BIOS says NPS1, our copies to host memory on Milan are at 13 GB/s.")])
    >>> found[0].cause
    'numa-per-socket'
    >>> likeliest_causes("", [(1, "Our job is slow.")])
    []
    """
    by_terms = {each.cause: each for each in _scored_causes(text)}
    scores = {
        cause: _joint_score(by_terms.get(cause), evidence)
        for cause, evidence in evidence_for_causes(line for _, line in sentences).items()
    }
    best = max(scores.values())
    certain = {each.cause for each in named}
    kept = [
        WordedCause(cause, score, _terms_of(cause, by_terms.get(cause), sentences))
        for cause, score in scores.items()
        if score >= NEAR * best and (score >= least or cause in certain)
    ]
    return sorted(kept, key=lambda each: (-each.score, each.cause))[:MOST]


def _joint_score(worded: WordedCause | None, evidence: float) -> float:
    """The score of a cause by its terms in a text and the evidence of single words, less what any report has of it."""
    by_terms = max(worded.score, 0.0) if worded else 0.0
    return round(max(by_terms, by_terms + PER_EVIDENCE * evidence - BACKGROUND), 3)


def _terms_of(cause: str, worded: WordedCause | None, sentences: Sequence[tuple[int, str]]) -> tuple[FoundTerm, ...]:
    """The terms that a text has of a cause, or the heaviest single words of its sentences."""
    terms = worded.terms if worded else ()
    return terms or tuple(_heaviest_words(sentences, cause))


def _heaviest_words(sentences: Sequence[tuple[int, str]], cause: str) -> list[FoundTerm]:
    """The words of some sentences that speak most for a cause, each as a term with its line."""
    lines = {word: number for number, line in reversed(sentences) for word in words_of(line)}
    order = sorted(lines, key=lambda word: (-evidence_of_word(word).get(cause, 0.0), word))[:SHOWN]
    return [
        FoundTerm(Term(cause, "subject", word, frozenset({word}), frozenset()), lines[word], False, False)
        for word in order
    ]


def _is_of_topics(worded: WordedCause) -> bool:
    """Whether the terms of a cause only tell what a text is about."""
    return all(each.term.role in _TOPICS for each in worded.terms)


def _shown_terms(found: Sequence[FoundTerm]) -> str:
    """The heaviest terms of a cause, each with its line if that is not the first one's."""
    first = found[0].line
    shown = (f"“{each.term.text}”" + (f" (line {each.line})" if each.line != first else "") for each in found[:SHOWN])
    return ", ".join(shown)
