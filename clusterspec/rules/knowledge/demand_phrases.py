"""Phrases of demands with other words between their parts, which tables of words do not hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.rules.knowledge.lexicon import Mention
from clusterspec.standard import pattern

MOST = 8
"""Phrases of each kind that are read in a sentence."""
_DELIVERED = r"(?:deliver\w*|arriv\w*|geliefert|eintr\w+|livr\w+|entreg\w+|lleg\w+|consegna\w*|arriva\w*|geleverd|aankom\w*|cheg\w+|dostarcz\w+)"
_ACCEPTED = r"(?:accepted|abgenommen|réceptionn\w+|aceptad\w+|recibid\w+|collaudat\w+|accettat\w+|aanvaard|geaccepteerd|aceit\w+|odebran\w+)"
_BEFORE = r"(?:before|until|bevor|ehe|bis|avant que|antes de que|hasta que|prima che|finché|voordat|totdat|antes que|até que|zanim)"
_PHRASES = (
    # the French words around what is the most: `n'évacue que 600 kW`
    ("most", pattern(r"(?i)\b(?:ne |n['’])[^.;,]{1,48}?\bque (?=\d)")),
    (
        "rollback",
        pattern(
            r"(?i)\b(?:throws?|threw|sets?|puts?|brings?) (?:[^\W\d]+ ){1,3}back\b|\bw[ei]rf\w* (?:[^\W\d]+ ){1,6}zurück\b|\bgeht\b[^.;,]{1,60}\bverloren\b"
        ),
    ),
    ("removing", pattern(r"(?i)\bführ\w{1,3} [^.;]{1,60}?\bab\b|\bvoer\w{1,2} [^.;]{1,60}?\baf\b")),
    ("permits", pattern(r"(?i)\b(?:laat|laten|staat|staan) [^.;]{1,60}?\btoe\b|\bl[äa]ss\w* [^.;]{1,60}?\bzu\b")),
    ("prepaid", pattern(rf"(?i)\b{_BEFORE} [^.;,\d]{{1,40}}?\b{_DELIVERED}\b")),
    ("unaccepted", pattern(rf"(?i)\b{_BEFORE} [^.;,\d]{{1,40}}?\b{_ACCEPTED}\b")),
)


def phrases_in(sentence: str) -> Iterator[Mention]:
    """The phrases of a sentence.

    >>> [each.meaning for each in phrases_in("A crash may throw the whole run back; we pay before the nodes are delivered.")]
    ['rollback', 'prepaid']
    """
    for meaning, phrase in _PHRASES:
        for match in islice(phrase.finditer(sentence), MOST):
            yield Mention(meaning, *match.span())
