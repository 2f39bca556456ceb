"""Comparisons of tiers that mix directions: a ratio, or two adjacent figures, where one figure sums both directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice

from clusterspec.prose.blocks import BlockKind
from clusterspec.prose.claims import Claim, sentence_claims
from clusterspec.prose.document import ProseText
from clusterspec.prose.known_figures import KnownFigure
from clusterspec.prose.lexicon import Channel, FigureScope, Hint
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.subjects import Subject
from clusterspec.prose.tokenize import TextProblem, Token, TokenKind, words_of
from clusterspec.quantity import Direction
from clusterspec.records import dataclass
from clusterspec.units import display, plain
from clusterspec.units.display import agrees_within

RATIO_TOLERANCE = 0.12
"""Relative tolerance of a stated ratio: `20×` for 18."""
RULE = "mixed-direction-comparison"
_COMPARING = words_of(
    "faster slower gap ratio reduction drop drops difference bandwidth higher lower more less than long"
    " longer penalty : times below above advantage"
)
_TIERS = (Channel.MEMORY, Channel.SCALE_UP, Channel.HOST, Channel.NETWORK)
MAX_PAIRS = 12
"""Maximum pairs of tiers that a ratio is compared with."""
_MACHINES = ("accelerator", "platform")
"""Parts that a number with a multiplication sign counts: `16 x DGX H100`."""
_NEARBY = 12
"""Maximum tokens between a ratio and a word of comparison."""


class DirectionCount(StrEnum):
    """The direction of a figure that states none, inferred from the catalog."""

    ONE_WAY = "one way"
    DUPLEX = "both ways"


@dataclass(frozen=True)
class TierRate:
    """The rate of one tier in one direction, in B/s, and the part that the text names for it, if any."""

    channel: Channel
    one_way: float
    owner: str

    def rate_text(self, ways: int) -> str:
        """The rate with the name of its part and, for the sum of both, the directions."""
        notes = ", ".join(filter(None, (self.owner, "both directions" if ways == 2 else "")))
        return display(self.one_way * ways, "B/s") + (f" ({notes})" if notes else "")


def wrong_ratios(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """Ratios between tiers that mix directions: `NVLink : InfiniBand ≈ 18×`, twice or half the one-way ratio."""
    stated = list(_written_ratios(sentence))
    tiers = list(dict.fromkeys(_compared_tiers(sentence, text))) if stated else []
    pairs = [(a, b) for a in tiers for b in tiers if a.channel is not b.channel and a.one_way > b.one_way]
    for at, ratio in stated:
        right = any(agrees_within(ratio, fast.one_way / slow.one_way, RATIO_TOLERANCE) for fast, slow in pairs)
        if not right and not _is_of_replaced_figure(sentence.words, ratio):
            mixed = (
                problem
                for fast, slow in pairs[:MAX_PAIRS]
                for problem in _mixed_ratio_problems(sentence.words[at], ratio, fast, slow)
            )
            yield from islice(mixed, 1)


def _mixed_ratio_problems(token: Token, ratio: float, fast: TierRate, slow: TierRate) -> Iterator[TextProblem]:
    true = fast.one_way / slow.one_way
    ways = (
        (2, 1)
        if agrees_within(ratio, 2 * true, RATIO_TOLERANCE)
        else (1, 2)
        if agrees_within(ratio, true / 2, RATIO_TOLERANCE)
        else None
    )
    if ways is None or (ways == (2, 1) and fast.channel is Channel.MEMORY):
        return
    reading = f"{fast.rate_text(ways[0])} over {slow.rate_text(ways[1])}"
    message = f"{token.text}× is {reading}; in one direction it is {plain(true, 2)}×"
    yield TextProblem(RULE, token, message, f"write {plain(true, 2)}×, or both figures in the same direction")


def _written_ratios(sentence: Sentence) -> Iterator[tuple[int, float]]:
    """The ratios in a sentence, with their index: `18×`, `14x faster`, `9-fold`."""
    words = sentence.words
    for at, token in enumerate(words[:-1]):
        if token.kind is not TokenKind.NUMBER or not 1.5 < token.value < 1000 or token.ranged:
            continue
        joined = words[at + 1].text in ("-", "‑") and at + 2 < len(words)
        follows = words[at + 1 + joined]
        behind = words[at + 2] if at + 2 < len(words) else None
        times = follows.text in ("x", "×") and (
            behind is None or (behind.kind is not TokenKind.NUMBER and behind.kind is not TokenKind.QUANTITY)
        )
        counted = any(named.start == at + 2 and named.subject.kind in _MACHINES for named in sentence.named)
        if (times or follows.text.lower() in ("times", "fold")) and not counted and _compares_tiers(sentence, at):
            yield at, token.value


def _is_of_replaced_figure(words: Sequence[Token], ratio: float) -> bool:
    """Whether a ratio compares two figures of one kind: `2.35 times as fast (4.8 instead of 2.039 TB/s)`."""
    for at in range(1, len(words) - 2):
        new, old = words[at - 1], words[at + 2]
        joined = f"{words[at].text} {words[at + 1].text}".lower() in _INSTEAD
        if joined and new.kind in _FIGURES and old.kind in _FIGURES and old.value:
            scales = _SCALES if new.kind is TokenKind.NUMBER else (1.0,)
            if any(agrees_within(ratio, new.value * scale / old.value, REPLACED_TOLERANCE) for scale in scales):
                return True
    return False


_SCALES = (1.0, 1e3, 1e6, 1e9, 1e12, 1e15)
"""What the unit of the second figure may multiply the first by, which is written without it."""
_FIGURES = (TokenKind.NUMBER, TokenKind.QUANTITY)
_INSTEAD = ("instead of", "rather than", "up from", "compared to", "compared with")
REPLACED_TOLERANCE = 0.02
"""Relative tolerance of the ratio of two figures that are written next to it."""


def _compares_tiers(sentence: Sentence, at: int) -> bool:
    near_by = sentence.words_between(max(0, at - _NEARBY), at + _NEARBY)
    return any(word in _COMPARING for word in near_by)


def _compared_tiers(sentence: Sentence, text: ProseText) -> list[TierRate]:
    """The tiers that a sentence compares: those named, else those that its phrases or earlier sentences refer to."""
    named = dict.fromkeys(_sentence_subjects(sentence))
    subjects = [text.subject_with_generation(each, (*named, *sentence.before)) for each in named]
    tiers = [tier for subject in subjects for tier in _tiers_of(subject, text)]
    have = {tier.channel for tier in tiers}
    for channel in _channels_in(sentence) - have:
        tiers += _rates_of_channel(channel, sentence, text)
    if len({tier.channel for tier in tiers}) < 2:
        have = {tier.channel for tier in tiers}
        before = [text.subject_with_generation(subject, sentence.before) for subject in sentence.before]
        tiers += [tier for subject in before for tier in _tiers_of(subject, text) if tier.channel not in have]
    return tiers


def _sentence_subjects(sentence: Sentence) -> tuple[Subject, ...]:
    return tuple(named.subject for named in sentence.named)


def _channels_in(sentence: Sentence) -> set[Channel]:
    return {phrase.meaning for phrase in sentence.phrases if isinstance(phrase.meaning, Channel)} & set(_TIERS)


def _tiers_of(subject: Subject, text: ProseText) -> Iterator[TierRate]:
    """The tier rates of an interconnect; empty for an accelerator."""
    if subject.channel is None:
        return
    for fact in text.known.figures_of(subject):
        if (
            fact.scope in (FigureScope.DEVICE, FigureScope.PORT)
            and not fact.reduced_rate
            and fact.channel is subject.channel
        ):
            yield TierRate(fact.channel, fact.value, fact.owner if subject.inferred else subject.name)


def _rates_of_channel(channel: Channel, sentence: Sentence, text: ProseText) -> Iterator[TierRate]:
    """The rates of a tier that is only described (`inter-node`): from the sentence, else from parts the text names."""
    rates = [sentence.words[at] for at in sentence.quantities if sentence.has_meaning(at, channel)]
    rates = [token for token in rates if token.unit == "B/s" and not token.ranged]
    if channel is Channel.NETWORK and len(rates) == 1:
        yield TierRate(channel, rates[0].value, "")
        return
    for subject in text.parts:
        if subject.channel is channel or (channel is Channel.MEMORY and subject.kind == "accelerator"):
            yield from _facts_as_tiers(channel, text.known.figures_of(subject))


def _facts_as_tiers(channel: Channel, facts: Sequence[KnownFigure]) -> Iterator[TierRate]:
    for fact in facts:
        if (
            fact.channel is channel
            and fact.scope in (FigureScope.DEVICE, FigureScope.PORT)
            and not fact.reduced_rate
            and not fact.misprint
        ):
            yield TierRate(channel, fact.value, fact.owner)


def figures_of_unlike_directions(text: ProseText) -> Iterator[TextProblem]:
    """Two adjacent figures, only one of which sums both directions: `50 GB/s instead of 900 GB/s`."""
    last: tuple[Sentence, Claim, DirectionCount] | None = None
    for sentence in text.sentences:
        counted = [
            (claim, how)
            for claim in sentence_claims(sentence, text)
            if (how := direction_count(claim, text)) is not None
        ]
        if sentence.has(Hint.VERSUS) and len(sentence.quantities) == 2:
            yield from _versus_problems(sentence, text)
        if len(counted) != 1 or len(sentence.quantities) != 1:
            last = None
            continue
        claim, how = counted[0]
        if claim.counts:
            last = None
            continue
        if last is not None and _is_next_item(last[0], sentence):
            yield from mixed_pair_problems((last[1], last[2]), (claim, how))
        last = (sentence, claim, how)


def _is_next_item(sentence: Sentence, other: Sentence) -> bool:
    """Whether two sentences are consecutive items of a list."""
    return sentence.kind is other.kind is BlockKind.ITEM and 0 <= other.words[0].line - sentence.words[-1].line <= 1


def mixed_pair_problems(
    one: tuple[Claim, DirectionCount], other: tuple[Claim, DirectionCount]
) -> Iterator[TextProblem]:
    """The problem with two figures in different directions, at the duplex one."""
    if one[1] is other[1]:
        return
    both, single = (one[0], other[0]) if one[1] is DirectionCount.DUPLEX else (other[0], one[0])
    message = (
        f"{both.token.written} of {both.subjects[0].name} sums both directions,"
        f" and {single.token.written} of {single.subjects[0].name} next to it is one-way"
    )
    yield TextProblem(
        RULE, both.token, message, f"write {display(both.token.value / 2, 'B/s')} here, or state the direction of both"
    )


def direction_count(claim: Claim, text: ProseText) -> DirectionCount | None:
    """The direction in which a claim matches the catalog; None if both match or the claim states its direction."""
    if (
        claim.direction is not None
        or claim.token.unit != "B/s"
        or claim.scope in (FigureScope.SUM, FigureScope.NODE, FigureScope.LANE)
    ):
        return None
    found: set[DirectionCount] = set()
    for subject in claim.subjects[:1]:
        for fact in text.known.figures_of(subject):
            if (
                fact.directed
                and fact.scope in (FigureScope.DEVICE, FigureScope.PORT)
                and claim.channel in (None, fact.channel)
            ):
                if not fact.reduced_rate and agrees_within(claim.token.value, fact.value, 0.06):
                    found.add(DirectionCount.ONE_WAY)
                if not fact.reduced_rate and agrees_within(claim.token.value, 2 * fact.value, 0.06):
                    found.add(DirectionCount.DUPLEX)
    return found.pop() if len(found) == 1 else None


def _versus_problems(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """Two compared rates without direction, each of a tier that the text names elsewhere."""
    one, other = (sentence.words[at] for at in sentence.quantities)
    if one.unit != "B/s" or other.unit != "B/s" or one.ranged or other.ranged:
        return
    if any(sentence.sole_meaning(at, Direction) for at in sentence.quantities):
        return
    both, single = (one, other) if one.value > other.value else (other, one)
    summed = _matching_interconnects(both.value / 2, (Channel.SCALE_UP,), text) - _matching_interconnects(
        both.value, (Channel.SCALE_UP, Channel.HOST), text
    )
    lone = _matching_interconnects(single.value, (Channel.NETWORK, Channel.HOST), text) - _matching_interconnects(
        single.value / 2, (Channel.NETWORK,), text
    )
    if summed and lone and not _matching_interconnects(both.value, (Channel.SCALE_UP,), text):
        message = (
            f"{both.written} of {min(summed)} sums both directions, and {single.written} of {min(lone)} is one-way"
        )
        yield TextProblem(
            RULE, both, message, f"write {display(both.value / 2, 'B/s')}, or state the direction of both"
        )


def _matching_interconnects(value: float, channels: Sequence[Channel], text: ProseText) -> set[str]:
    """The named interconnects of the given channels whose one-way rate equals a value."""
    return {
        fact.owner
        for family, ids in text.families.items()
        for id_ in ids
        for fact in text.known.figures_of_id("interconnect", id_)
        if fact.channel in channels and fact.scope in (FigureScope.DEVICE, FigureScope.PORT) and not fact.reduced_rate
        if agrees_within(value, fact.value, 0.05)
    }
