"""A figure as a text claims it: the quantity, of what, counted how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Hint, Precision
from clusterspec.prose.names import UNKNOWN, Named, Subject
from clusterspec.prose.scan import Token, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass

_UNITS = frozenset(("B/s", "B", "FLOP/s", "W", "T/s"))
_BY_UNIT = {"W": Channel.POWER, "FLOP/s": Channel.PEAK, "B": Channel.CAPACITY}
_LINKING = words_of("of over via for on from with per the using in through a an its by to at each ( ~ - ` about")
_BARRIERS = frozenset((";", "—", "|", "while", "whereas", "but", "than", "vs", "versus", "unlike", "instead"))
_TWOFOLD = words_of("twin dual two 2x osfp qsfp cage cages cable cables transceiver transceivers optics switch")
_TWOFOLD |= words_of("switches breakout split splits aggregate aggregated total combined node bonded bonding pair")
_SPARSE = words_of("sparse sparsity sparsities structured dense")
AHEAD = 5
"""How many tokens behind a quantity its subject may begin."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A quantity and what is stated of it.

    ``subjects`` are what it may be of, the likeliest first; ``others`` what the sentence also refers to: a figure
    that is right of one of those is silent. ``count`` is how many of the thing the same stretch of text counts.
    """

    token: Token
    subjects: tuple[Subject, ...]
    others: tuple[Subject, ...]
    channel: Channel | None = None
    direction: Direction | None = None
    scope: FigureScope | None = None
    sparsity: Sparsity | None = None
    precision: str = ""
    about: bool = False
    counts: tuple[float, ...] = ()
    remote: bool = False
    """The subject stands outside the sentence."""
    of_port: bool = False
    """Ports, NICs or adapters are what the figure is of."""
    twofold: bool = False
    """Something says that two of the thing are meant: two ports, a cage, a cable."""
    sparse_near: bool = False
    """Sparsity is spoken of close by, or a footnote is."""

    @property
    def far(self) -> bool:
        """Whether the sentence itself does not say which part, or which generation, it refers to."""
        near = [subject for subject in self.subjects if subject.ids and subject.channel in (None, self.channel)]
        return self.remote or all(subject.inferred for subject in near)

    def labelled(self, value: float) -> bool:
        """Whether a rate in B/s is in the subject's own name (`NDR200`)."""
        named = (*self.subjects, *self.others)
        return any(subject.label and abs(subject.label * 1.25e8 / value - 1) < 0.01 for subject in named)


def claims(sentence: Sentence, text: ProseText) -> Iterator[Claim]:
    """The figures of a sentence that can be held against the catalog."""
    for at in sentence.quantities:
        token = sentence.words[at]
        if token.unit in _UNITS and not token.ranged and not _hedged(sentence, at):
            found = tuple(_subjects_of(sentence, at))
            near = (*_all(sentence), *sentence.before)
            settled = tuple(text.settled(each, near) for each in found or sentence.before[-1:])
            if settled:
                yield _claim(sentence, at, settled, text, remote=not found)


def _claim(sentence: Sentence, at: int, subjects: tuple[Subject, ...], text: ProseText, remote: bool) -> Claim:
    precision = sentence.only(at, Precision)
    scope = sentence.scope(at)
    words = set(sentence.between(0, len(sentence.words)))
    return Claim(
        sentence.words[at],
        subjects,
        tuple(text.settled(each, sentence.before) for each in _all(sentence)),
        channel=_channel(sentence, at, subjects),
        direction=sentence.only(at, Direction),
        scope=scope,
        sparsity=sentence.only(at, Sparsity),
        precision=precision.name if precision else "",
        about=sentence.says(at, Hint.ABOUT),
        counts=tuple(count.value for count in sentence.counts if count.value > 1),
        remote=remote,
        of_port=scope is FigureScope.PORT or _is_port(sentence, at),
        twofold=bool(words & _TWOFOLD),
        sparse_near=bool(words & _SPARSE) or "*" in words,
    )


def _is_port(sentence: Sentence, at: int) -> bool:
    """Whether a noun for ports follows a quantity or before it: `200 Gb/s ports`, `4 NICs of 100 Gb/s`."""
    behind = list(sentence.between(at + 1, at + 4))
    return any(COUNTED.get(word) is FigureScope.PORT for word in behind) or any(
        count.noun is FigureScope.PORT and 0 < at - count.at <= AHEAD + 2 for count in sentence.counts
    )


def _all(sentence: Sentence) -> tuple[Subject, ...]:
    return tuple(dict.fromkeys(named.subject for named in sentence.named))


def _hedged(sentence: Sentence, at: int) -> bool:
    """Whether words make a quantity a bound, deny it, or call it a bisection, which is judged elsewhere."""
    return any(sentence.says(at, hint) for hint in (Hint.BOUND, Hint.DENIED, Hint.BISECTION))


def _subjects_of(sentence: Sentence, at: int) -> Iterator[Subject]:
    """What a quantity is of: what closely follows it, then what precedes it."""
    behind = next((named for named in sentence.named if named.start > at), None)
    before = next((named for named in reversed(sentence.named) if named.end <= at), None)
    near = behind is not None and _reaches(sentence, at, behind)
    if behind is not None and near:
        yield behind.subject
        if behind.subject.family == UNKNOWN:
            return
    if before is not None and not any(word in _BARRIERS for word in sentence.between(before.end, at)):
        yield before.subject


def _reaches(sentence: Sentence, at: int, named: Named) -> bool:
    """Whether only linking words are between a quantity and a subject behind it."""
    if named.start - at > AHEAD:
        return False
    marked = {index for mark in sentence.marks for index in range(mark.start, mark.end)}
    between = range(at + 1, named.start)
    return all(index in marked or sentence.words[index].text.lower() in _LINKING for index in between)


def _channel(sentence: Sentence, at: int, subjects: Sequence[Subject]) -> Channel | None:
    """What carries the bytes: what the subject is, else what the words beside the quantity say."""
    if (by_unit := _BY_UNIT.get(sentence.words[at].unit)) is not None:
        return by_unit
    for subject in subjects:
        if subject.channel is not None:
            return subject.channel
    return sentence.only(at, Channel)
