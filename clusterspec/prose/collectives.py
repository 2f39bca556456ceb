"""Figures of collectives: which metric, how much traffic, how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import Channel, FigureScope, Hint
from clusterspec.prose.scan import Sort, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.text import BlockKind
from clusterspec.prose.told import Told
from clusterspec.units import plain, say
from clusterspec.units.slips import near

SECTION = 6
"""Sentences to each side in which the metric may be named."""
LIKE = 5
"""How many times the lesser of two rates the greater may be, where the one is held against the other."""
BESIDE = 3
"""How near a collective may stand to a rate that is then its own."""
_RATES = words_of("bandwidth throughput rate speed achieves achieve reaches reach measured effective delivers get gets")
_SPECIFIED = words_of("theoretical advertised spec nominal line peak link interconnect fabric over at using with")
_SHARDED = re.compile(r"(?i)\b(?:zero[- ]?(?:stage[- ]?)?3|fsdp)\b")
_PLAIN = words_of("dp ddp vanilla")
_TRAFFIC = words_of("communication bandwidth traffic volume")
SHARDED_OVER_PLAIN = 1.5
"""Two all-gathers and a reduce-scatter against an all-reduce: three passes against two (Rajbhandari et al., ZeRO, 7.2)."""


def metrics(text: ProseText) -> Iterator[Told]:
    """An all-reduce figure that is neither called algbw nor busbw, a factor of up to two."""
    named = [at for at, sentence in enumerate(text.sentences) if sentence.has(Hint.METRIC)]
    covered = {at for where in named for at in range(where - SECTION, where + SECTION + 1)}
    for at, sentence in enumerate(text.sentences):
        if sentence.kind is BlockKind.HEADING or not sentence.has(Hint.COLLECTIVE) or not sentence.quantities:
            continue
        if at in covered or _compared(sentence):
            continue
        for where in sentence.quantities:
            token = sentence.words[where]
            if token.unit == "B/s" and _is_rate(sentence, where) and not _is_link(sentence, where, text):
                message = (
                    f"{token.written} of a collective does not say whether it is algbw or busbw, a factor of up to two"
                )
                yield Told(
                    "metric-unsaid", token, message, "write `busbw` or `algbw` behind it, as nccl-tests names them"
                )
                break


def _compared(sentence: Sentence) -> bool:
    """Whether a figure is set beside the link's own: that is how bus bandwidth is judged."""
    rates = [sentence.words[at].value for at in sentence.quantities if sentence.words[at].unit == "B/s"]
    share = any(token.text == "%" for token in sentence.words)
    return share or (len(rates) > 1 and min(rates) < max(rates) <= LIKE * min(rates))


def _is_rate(sentence: Sentence, at: int) -> bool:
    """Whether a quantity is what a collective reaches: the words around it say so, and none that it is a link's."""
    around = set(sentence.between(max(0, at - 10), at + 8))
    before = set(sentence.between(max(0, at - 2), at))
    beside = sentence.said.get(at, {}).get(Hint.COLLECTIVE, BESIDE + 1) <= BESIDE
    measured = beside or sentence.has(Hint.MEASURED) or bool(around & _RATES)
    return measured and not before & _SPECIFIED


def _is_link(sentence: Sentence, at: int, text: ProseText) -> bool:
    """Whether a rate is a link's own, which is not stated to be measured."""
    return not sentence.says(at, Hint.MEASURED) and _is_known(sentence, at, text)


def _is_known(sentence: Sentence, at: int, text: ProseText) -> bool:
    """Whether a quantity is a figure of hardware that the text names."""
    token = sentence.words[at]
    subjects = [text.settled(subject, sentence.before) for subject in text.subjects]
    return not token.ranged and any(
        near(token.value, fact.value * way, 0.03)
        for subject in subjects
        for fact in text.known.of(subject)
        if fact.unit == "B/s"
        for way in (1, 2)
    )


def volumes(sentence: Sentence) -> Iterator[Told]:
    """Fully sharded data parallelism sends 1.5 times what an all-reduce does, not three times."""
    words = sentence.words
    said = " ".join(token.text for token in words)
    if not _SHARDED.search(said.replace(" - ", "-")) or not _PLAIN & set(sentence.between(0, len(words))):
        return
    for at, token in enumerate(words[:-1]):
        times = words[at + 1].text in ("x", "×", "times")
        behind = list(sentence.between(at + 2, at + 8))
        if token.sort is Sort.NUMBER and times and 1.8 <= token.value <= 6 and _is_traffic(behind):
            message = (
                f"ZeRO-3 sends {SHARDED_OVER_PLAIN}× what data parallelism with an all-reduce does, not {plain(token.value)}×:"
                " two all-gathers and a reduce-scatter against a reduce-scatter and an all-gather"
            )
            yield Told("arithmetic-does-not-close", token, message, f"write {SHARDED_OVER_PLAIN}×")


def _is_traffic(words: Sequence[str]) -> bool:
    return bool(_TRAFFIC & set(words)) and "memory" not in words


def times(sentence: Sentence, text: ProseText) -> Iterator[Told]:
    """An all-reduce that would need more than the links carry in one direction, and just what both directions sum to."""
    sizes = [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "B"]
    spans = [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "s"]
    rates = [at for at in sentence.quantities if sentence.words[at].unit == "B/s"]
    if len(sizes) != 1 or len(spans) != 1 or rates or not sentence.has(Hint.COLLECTIVE):
        return
    for named in sentence.named:
        subject = text.settled(named.subject, sentence.before)
        for fact in text.known.of(subject):
            if fact.scope is FigureScope.DEVICE and fact.channel is Channel.SCALE_UP and subject.kind == "interconnect":
                needed = sizes[0].value / spans[0].value
                if 1.05 < needed / fact.value < 2.1:
                    least = say(sizes[0].value / fact.value, "s")
                    message = (
                        f"{sizes[0].written} in {spans[0].written} is {say(needed, 'B/s')}, and {fact.whose} carries"
                        f" {say(fact.value, 'B/s')} in one direction: an all-reduce takes more than {least}"
                    )
                    yield Told(
                        "duplex-counted-as-one-way", spans[0], message, "work the time out from the one-way figure"
                    )
                    return
