"""Comparisons between tiers: a ratio, or two figures side by side, one of which sums both directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice

from clusterspec.prose.claims import Claim, claims
from clusterspec.prose.document import ProseText
from clusterspec.prose.known import KnownFigure
from clusterspec.prose.lexicon import Channel, FigureScope, Hint
from clusterspec.prose.names import Subject
from clusterspec.prose.scan import Sort, Token, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.text import BlockKind
from clusterspec.prose.told import Told
from clusterspec.quantity import Direction
from clusterspec.records import dataclass
from clusterspec.units import plain, say
from clusterspec.units.slips import near

SAME = 0.12
"""How near a stated ratio must come to a true one: `20×` is said of 18."""
RULE = "mixed-direction-comparison"
_COMPARING = words_of(
    "faster slower gap ratio reduction drop drops difference bandwidth higher lower more less than long"
    " longer penalty : times below above advantage"
)
_TIERS = (Channel.MEMORY, Channel.SCALE_UP, Channel.HOST, Channel.NETWORK)
MOST = 12
"""Pairs of tiers that a ratio is held against."""
_NEARBY = 12
"""Tokens to each side of a ratio in which one of the words of comparison stands."""


class Counted(StrEnum):
    """How a bare figure counts, where the catalog leaves one reading only."""

    ONE_WAY = "one way"
    DUPLEX = "both ways"


@dataclass(frozen=True, slots=True)
class Tier:
    """One level of the machine: what it carries in one direction, and whose figure that is."""

    channel: Channel
    one_way: float
    whose: str

    def shown(self, ways: int) -> str:
        return say(self.one_way * ways, "B/s")


def ratios(sentence: Sentence, text: ProseText) -> Iterator[Told]:
    """`NVLink : InfiniBand ≈ 18×`: twice, or half, what both in one direction make."""
    stated = list(_stated(sentence))
    tiers = list(dict.fromkeys(_tiers(sentence, text))) if stated else []
    pairs = [(a, b) for a in tiers for b in tiers if a.channel is not b.channel and a.one_way > b.one_way]
    for at, ratio in stated:
        if not any(near(ratio, fast.one_way / slow.one_way, SAME) for fast, slow in pairs):
            mixed = (told for fast, slow in pairs[:MOST] for told in _mixed(sentence.words[at], ratio, fast, slow))
            yield from islice(mixed, 1)


def _mixed(token: Token, ratio: float, fast: Tier, slow: Tier) -> Iterator[Told]:
    true = fast.one_way / slow.one_way
    ways = (2, 1) if near(ratio, 2 * true, SAME) else (1, 2) if near(ratio, true / 2, SAME) else None
    if ways is None or (ways == (2, 1) and fast.channel is Channel.MEMORY):
        return
    said = f"{fast.shown(ways[0])} of {fast.whose} over {slow.shown(ways[1])} of {slow.whose}"
    message = f"{token.text}× is {said}, one of which sums both directions; in one direction it is {plain(true, 2)}×"
    yield Told(RULE, token, message, f"write {plain(true, 2)}×, or both figures in the same direction")


def _stated(sentence: Sentence) -> Iterator[tuple[int, float]]:
    """Numbers that say how many times: `18×`, `14x faster`, `9-fold`."""
    words = sentence.words
    for at, token in enumerate(words[:-1]):
        if token.sort is not Sort.NUMBER or not 1.5 < token.value < 1000 or token.ranged:
            continue
        follows = words[at + 1]
        behind = words[at + 2] if at + 2 < len(words) else None
        times = follows.text in ("x", "×") and (
            behind is None or (behind.sort is not Sort.NUMBER and behind.sort is not Sort.QUANTITY)
        )
        if (times or follows.text.lower() in ("times", "fold")) and _compares(sentence, at):
            yield at, token.value


def _compares(sentence: Sentence, at: int) -> bool:
    near_by = sentence.between(max(0, at - _NEARBY), at + _NEARBY)
    return any(word in _COMPARING for word in near_by)


def _tiers(sentence: Sentence, text: ProseText) -> list[Tier]:
    """The tiers that a sentence compares: what it names, else what its words, and what precedes, refer to."""
    named = dict.fromkeys(_subjects(sentence))
    subjects = [text.settled(each, (*named, *sentence.before)) for each in named]
    tiers = [tier for subject in subjects for tier in _of(subject, text)]
    have = {tier.channel for tier in tiers}
    for channel in _spoken(sentence) - have:
        tiers += _of_channel(channel, sentence, text)
    if len({tier.channel for tier in tiers}) < 2:
        have = {tier.channel for tier in tiers}
        before = [text.settled(subject, sentence.before) for subject in sentence.before]
        tiers += [tier for subject in before for tier in _of(subject, text) if tier.channel not in have]
    return tiers


def _subjects(sentence: Sentence) -> tuple[Subject, ...]:
    return tuple(named.subject for named in sentence.named)


def _spoken(sentence: Sentence) -> set[Channel]:
    return {mark.meaning for mark in sentence.marks if isinstance(mark.meaning, Channel)} & set(_TIERS)


def _of(subject: Subject, text: ProseText) -> Iterator[Tier]:
    """The tier of an interconnect; an accelerator is none."""
    if subject.channel is None:
        return
    for fact in text.known.of(subject):
        if fact.scope in (FigureScope.DEVICE, FigureScope.PORT) and not fact.minor and fact.channel is subject.channel:
            yield Tier(fact.channel, fact.value, fact.whose)


def _of_channel(channel: Channel, sentence: Sentence, text: ProseText) -> Iterator[Tier]:
    """A tier that is only spoken of (`inter-node`): its rate in the sentence, else what the text names of it."""
    rates = [sentence.words[at] for at in sentence.quantities if sentence.says(at, channel)]
    rates = [token for token in rates if token.unit == "B/s" and not token.ranged]
    if channel is Channel.NETWORK and len(rates) == 1:
        yield Tier(channel, rates[0].value, rates[0].written)
        return
    for subject in text.subjects:
        if subject.channel is channel or (channel is Channel.MEMORY and subject.kind == "accelerator"):
            yield from _facts_as_tiers(channel, text.known.of(subject))


def _facts_as_tiers(channel: Channel, facts: Sequence[KnownFigure]) -> Iterator[Tier]:
    for fact in facts:
        if (
            fact.channel is channel
            and fact.scope in (FigureScope.DEVICE, FigureScope.PORT)
            and not fact.minor
            and not fact.trap
        ):
            yield Tier(channel, fact.value, fact.whose)


def side_by_side(text: ProseText) -> Iterator[Told]:
    """`50 GB/s instead of 900 GB/s`, and lists whose lines do the same: one of the two sums both directions."""
    last: tuple[Sentence, Claim, Counted] | None = None
    for sentence in text.sentences:
        counted = [(claim, how) for claim in claims(sentence, text) if (how := count_of(claim, text)) is not None]
        if sentence.has(Hint.VERSUS) and len(sentence.quantities) == 2:
            yield from _versus(sentence, text)
        if len(counted) != 1 or len(sentence.quantities) != 1:
            last = None
            continue
        claim, how = counted[0]
        if claim.counts:
            last = None
            continue
        if last is not None and _follows(last[0], sentence):
            yield from mixed_pair((last[1], last[2]), (claim, how))
        last = (sentence, claim, how)


def _follows(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences are lines of one list."""
    return one.kind is other.kind is BlockKind.ITEM and 0 <= other.words[0].line - one.words[-1].line <= 1


def mixed_pair(one: tuple[Claim, Counted], other: tuple[Claim, Counted]) -> Iterator[Told]:
    """The finding on two bare figures, at the one that sums both directions."""
    if one[1] is other[1]:
        return
    both, single = (one[0], other[0]) if one[1] is Counted.DUPLEX else (other[0], one[0])
    message = (
        f"{both.token.written} of {both.subjects[0].name} sums both directions,"
        f" and {single.token.written} of {single.subjects[0].name} beside it counts one"
    )
    yield Told(
        RULE, both.token, message, f"write {say(both.token.value / 2, 'B/s')} here, or say the direction of both"
    )


def count_of(claim: Claim, text: ProseText) -> Counted | None:
    """How a bare figure counts by the catalog; None where both readings fit, or it says its direction."""
    if (
        claim.direction is not None
        or claim.token.unit != "B/s"
        or claim.scope in (FigureScope.SUM, FigureScope.NODE, FigureScope.LANE)
    ):
        return None
    found: set[Counted] = set()
    for subject in claim.subjects[:1]:
        for fact in text.known.of(subject):
            if (
                fact.directed
                and fact.scope in (FigureScope.DEVICE, FigureScope.PORT)
                and claim.channel in (None, fact.channel)
            ):
                if not fact.minor and near(claim.token.value, fact.value, 0.06):
                    found.add(Counted.ONE_WAY)
                if not fact.minor and near(claim.token.value, 2 * fact.value, 0.06):
                    found.add(Counted.DUPLEX)
    return found.pop() if len(found) == 1 else None


def _versus(sentence: Sentence, text: ProseText) -> Iterator[Told]:
    """Two bare rates that are set against each other, each of a tier that the text names elsewhere."""
    one, other = (sentence.words[at] for at in sentence.quantities)
    if one.unit != "B/s" or other.unit != "B/s" or one.ranged or other.ranged:
        return
    if any(sentence.only(at, Direction) for at in sentence.quantities):
        return
    both, single = (one, other) if one.value > other.value else (other, one)
    summed = _matches(both.value / 2, (Channel.SCALE_UP,), text) - _matches(
        both.value, (Channel.SCALE_UP, Channel.HOST), text
    )
    lone = _matches(single.value, (Channel.NETWORK, Channel.HOST), text) - _matches(
        single.value / 2, (Channel.NETWORK,), text
    )
    if summed and lone and not _matches(both.value, (Channel.SCALE_UP,), text):
        message = (
            f"{both.written} of {min(summed)} sums both directions, and {single.written} of {min(lone)} counts one"
        )
        yield Told(RULE, both, message, f"write {say(both.value / 2, 'B/s')}, or say the direction of both")


def _matches(value: float, channels: Sequence[Channel], text: ProseText) -> set[str]:
    """Whose figure of these channels a value is, in one direction, of all that the text names."""
    return {
        fact.whose
        for family, ids in text.families.items()
        for id_ in ids
        for fact in text.known.entry("interconnect", id_)
        if fact.channel in channels and fact.scope in (FigureScope.DEVICE, FigureScope.PORT) and not fact.minor
        if near(value, fact.value, 0.05)
    }
