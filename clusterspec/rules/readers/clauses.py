"""The clauses of a text, and whether a clause is about a condition, the past, or another plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from clusterspec.rules.readers.written_numbers import is_abbreviated
from clusterspec.standard import pattern

EASTERN = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
"""Pattern of a character of Japanese, Chinese or Korean."""
MOST_CLAUSES = 400
"""Ends of clauses of a text that are read."""
_END = pattern(
    r"[;|()?!\n—]|:(?=[\s=]|$)(?!\s{0,2}[\d~<≤≈])|,(?=\s{1,3}[^\s\d]|\s?$)|(?<=[^\W\d]),(?=\s)|\.(?=\s|$)|\s[–-](?=\s)"
    r"|\b(?:but|while|whereas|whilst|although|yet|aber|während|mais|tandis|pero|mientras)\b"
)
"""Signs between clauses, and words that set one clause against another; no colon between a name and its figure, and no comma
between two figures.
"""
_HYPOTHETICAL = pattern(
    r"(?i)\b(?:would|could|might|if|unless|hypothetical\w*|suppos\w+|imagine\w*|in theory|wäre\w*|würde[nt]?|könnte[nt]?|hätte[nt]?|bräuchte[nt]?|müsste[nt]?|käme[nt]?|"
    r"then (?:have|has|had)|wenn|falls(?! (?:by|to|from|below|under|due)\b)|si|serai\w*|pourrai\w*|aurai\w*|podría\w*|sería\w*|habría\w*)\b|^\W*(?:were|had|should (?:the|we|it|they|demand|load))\b"
)
_BEFORE = (
    r"old|older|former(?:ly)?|previous(?:ly)?|earlier|used to|alte[nrms]?|früher\w*|vorige[nrms]?|bisher\w*|"
    r"ancien(?:ne)?s?|précédente?s?|antes|anterior"
)
_FORMER = pattern(
    rf"(?i)\b(?:{_BEFORE}|was|were|until|last (?:year|month)|no longer|originally|by mistake|bis|war|waren|était|étaient|avant|era|eran)\b"
)
_OTHER_PLAN = pattern(
    rf"(?i)\b(?:{_BEFORE}|pilot|ablations?|proxy|draft|instead of|another|other cluster|competitor\w*|predecessor|last year\w*)\b"
)

_UPPER_LIMIT = pattern(
    r"(?i)\b(?:at (?:the )?most|(?:no|not) more than|(?:a |the )?maximum(?: of)?|höchstens|maximal|nicht mehr als|au (?:plus|maximum)|pas plus de|como máximo|al massimo) $"
)
"""The words before a figure that is an upper limit."""

_ITEM = pattern(r"(?:^|\n|(?<=[.:;])\s)[ \t]*[-*•]\s")
"""The sign of an item of a list: at the start of a line, or behind the end of a sentence or a colon."""


def is_eastern(text: str) -> bool:
    """Whether a text has characters of Japanese, Chinese or Korean.

    >>> is_eastern("12 Knoten à 9 kW"), is_eastern("不得超过 9 kW")
    (False, True)
    """
    return not text.isascii() and EASTERN.search(text) is not None


def items_of(text: str) -> list[str]:
    """The items of a list, each on one line; a text without a list is one item.

    >>> items_of("Order:\\n- 4 nodes\\n  with 8 GPUs\\n- two spares"), items_of("state-of-the-art")
    (['Order:', '4 nodes with 8 GPUs', 'two spares'], ['state-of-the-art'])
    """
    return [" ".join(each.split()) for each in _ITEM.split(text)]


@lru_cache(64)
def clauses_of(text: str) -> Sequence[tuple[int, int]]:
    """The start and the end of each clause of a text.

    >>> text = "a save takes 4 min, but 10.5 s of it (approx. x) wait"
    >>> [text[start:end] for start, end in clauses_of(text)]
    ['a save takes 4 min', ' ', ' 10.5 s of it ', 'approx. x', ' wait']
    """
    found, start = [], 0
    for end in islice(_END.finditer(text), MOST_CLAUSES):
        if end[0] == "." and is_abbreviated(text[: end.start()]):
            continue
        if end.start() > start:
            found.append((start, end.start()))
        start = end.end()
    return (*found, (start, len(text)))


def clause_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """The start and end of the clause with a part of a text, including the clause before it if the clause has no other
    words.

    >>> clause_bounds("runs: 8 days | old runs | 9 days |", 26, 32)
    (14, 33)
    """
    clauses = clauses_of(text)
    first = next((each for each in clauses if each[1] > start), (start, end))
    last = next((each for each in clauses if each[1] >= end), (start, len(text)))
    begin = min(first[0], start)
    if text[begin : last[1]].strip(" .|") == text[start:end].strip(" ."):
        begin = max((each[0] for each in clauses if each[1] <= begin and text[slice(*each)].strip()), default=begin)
    return begin, max(last[1], end)


def clause_at(text: str, start: int, end: int) -> str:
    """The clause with a part of a text.

    >>> clause_at("The run takes 8 days, while the old one (a pilot) took 9 days.", 14, 20)
    'The run takes 8 days'
    >>> clause_at("| run | 8 days | old run | 9 days |", 8, 14)
    'run | 8 days'
    """
    return text[slice(*clause_bounds(text, start, end))].strip()


def is_upper_limit(before: str) -> bool:
    """Whether the text before a figure makes it an upper limit.

    >>> is_upper_limit("for at most "), is_upper_limit("not more than "), is_upper_limit("it has ")
    (True, True, False)
    """
    return _UPPER_LIMIT.search(before[-24:]) is not None


def is_hypothetical(clause: str) -> bool:
    """Whether a clause supposes something, such as one with `if` or `would`."""
    return _HYPOTHETICAL.search(clause) is not None


def is_former(clause: str) -> bool:
    """Whether a clause is about the past."""
    return _FORMER.search(clause) is not None


def is_of_other_plan(clause: str) -> bool:
    """Whether a clause is about another plan: one before this one, a smaller one, or a rejected one.

    >>> is_of_other_plan("the pilot had 4 nodes"), is_of_other_plan("this run has 16 nodes")
    (True, False)
    """
    return _OTHER_PLAN.search(clause) is not None


def is_of_this_plan(clause: str) -> bool:
    """Whether a clause is about this plan as it is: neither a supposition, nor about another plan."""
    return not is_hypothetical(clause) and not is_of_other_plan(clause)


def planned_text(text: str, *, past: bool = True) -> str:
    """A text without its clauses that suppose something, and without those about the past unless ``past``.

    >>> planned_text("Were it 0, drains would stop; it is 1.")
    ' it is 1.'
    """
    clauses = clauses_of(text)
    ends = [*[start for start, _ in clauses][1:], len(text)]
    return "".join(
        text[start:behind]
        for (start, end), behind in zip(clauses, ends, strict=True)
        if not is_hypothetical(text[start:end]) and (past or not is_former(text[start:end]))
    )


_REFERS = pattern(
    r"(?i)^\W*(?:all of )?(?:it|they|them|th[ei]se?|those|both|sie|er|es|diese[rs]?|beide|il|elle|ils|elles|ceux-ci|celles-ci|ell[oa]s|est[oae]s?|ést[oae]s?|ess[oaei]|quest[oaei]|hij|zij|ze|deze|el[ea]s)\b"
)
"""The first words of a sentence about what the one before names."""


def refers_to_before(sentence: str) -> bool:
    """Whether a sentence begins with a pronoun for what the one before names.

    >>> refers_to_before("It closes on 31 March."), refers_to_before("Elles doivent tenir sur le stockage."), refers_to_before("The hall")
    (True, True, False)
    """
    return _REFERS.match(sentence) is not None
