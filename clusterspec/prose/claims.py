"""Claims: figures stated as properties of a part, with channel, direction and scope."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Hint, PrecisionName
from clusterspec.prose.sentence import NUMERALS, PAUSES, Sentence, multiplied_index
from clusterspec.prose.subjects import UNKNOWN, Mention, Subject
from clusterspec.prose.tokenize import Token, TokenKind, words_of
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass
from clusterspec.units.display import agrees_within

# Figures stated as properties of a part: `H200 has 141 GB of HBM3e`, unlike `a job needs 40 GB of each H200`

_STATES = words_of(
    "has have comes come with carries carry ships ship offers offer features feature provides provide includes include"
    " packs pack delivers deliver holds hold reads read contains contain : ( = is gives give brings bring"
)
"""Words that may occur between a part and its property."""
_AMONG = words_of("between among")
"""Words before the ends of a link, as in `between two H100`, where the number is not a count of parts."""
_PLACES = words_of("halls sites buildings campuses rooms regions floors cities")
"""Words for the ends of a link that is not one of a machine, as in `between the halls`."""
_FILLS = words_of(
    "and , @ of at its their a an the each every all memory capacity bandwidth gpu gpus chip chips card cards accelerator"
    " accelerators device devices hbm hbm2 hbm2e hbm3 hbm3e hbm4 on board - version model models peak total"
)
"""Further words that may occur between a part and its property."""
_FORM = re.compile(r"sxm\d?|nvl|oam|pcie")
_MEMORIES = words_of("hbm hbm2 hbm2e hbm3 hbm3e hbm4 memory vram dram gddr6 gddr6x gddr7")
_PARTIAL = words_of("of on in per half from than")
"""Words before a part that say where a figure applies, not which part it belongs to."""
_USED = words_of("free left available unused used remaining for reserved needed more less extra spare usable cache")
"""Words after a figure that mark it as a share of the part's total."""


def is_specified(sentence: Sentence, at: int) -> bool:
    """Whether a memory size or bandwidth is stated as a property of the part named before it."""
    before = [named for named in sentence.named if named.start <= at]
    if not before or before[-1].end > at or sentence.words[at].unit not in ("B", "B/s"):
        return False
    lead = list(sentence.words_between(max(0, before[-1].start - 4), before[-1].start))
    if _PARTIAL & set(lead[-2:]) and not {"memory", "bandwidth", "capacity"} & set(lead):
        return False
    if count_before(sentence, before[-1].start) > 1:
        return False
    behind = list(sentence.words_between(at + 1, at + 5))
    if _USED & set(behind) or (sentence.words[at].unit == "B" and not _MEMORIES & set(behind[:3])):
        return False
    between = sentence.words[before[-1].end : at]
    return any(word.text.lower() in _STATES for word in between) and all(map(_is_filler, between))


def count_before(sentence: Sentence, start: int) -> float:
    """The count directly before a part: 8 for `8x H100` and `eight H100`; 1 if there is none, or if the parts are the
    ends of a link: `between two H100`.
    """
    at = start - 1
    if at > 0 and sentence.words[at].text in ("x", "×"):
        at -= 1
    if at < 0:
        return 1
    token = sentence.words[at]
    if at > 0 and sentence.words[at - 1].text.lower() in _AMONG:
        return 1
    return token.value if token.kind is TokenKind.NUMBER else NUMERALS.get(token.text.lower(), 1)


def has_adjacent_memory_size(sentence: Sentence, at: int) -> bool:
    """Whether a rate follows a memory size directly: the 6 TB/s in `256 GB of HBM3 at 6 TB/s`."""
    before = max((other for other in sentence.quantities if other < at), default=None)
    if before is None or sentence.words[before].unit != "B" or sentence.words[at].unit != "B/s":
        return False
    between = list(sentence.words_between(before + 1, at))
    if between in ([","], ["@"], ["and"]):  # a list of properties: `MI300X (192 GB, 5.3 TB/s)`
        ends = {named.end for named in sentence.named}
        start = before - (sentence.words[before - 1].text in ("(", ":")) if before else before
        return start in ends and _rate_exceeds_memory(sentence, at, before)
    return bool(_MEMORIES & set(between)) and all(
        word in _MEMORIES or word in _FILLS or word == "with" for word in between
    )


def _rate_exceeds_memory(sentence: Sentence, at: int, size: int) -> bool:
    """Whether a rate per second exceeds a memory size, as is usual for the memory of accelerators."""
    return sentence.words[at].value > sentence.words[size].value


def _is_filler(word: Token) -> bool:
    text = word.text.lower()
    return text in _STATES or text in _FILLS or word.kind is TokenKind.QUANTITY or bool(_FORM.fullmatch(text))


# Claims: a quantity of the text with the hardware it refers to, its channel, direction and scope

_UNITS = frozenset(("B/s", "B", "FLOP/s", "W", "T/s"))
BY_UNIT = {"W": Channel.POWER, "FLOP/s": Channel.PEAK, "B": Channel.CAPACITY}
_LINKING = words_of(
    "tflops pflops gflops petaflops teraflops as peak peaks of over via for on from with per the using in through a an its by to at each ( ~ - ` about"
)
_BARRIERS = frozenset((";", "—", "|", "while", "whereas", "but", "than", "vs", "versus", "unlike", "instead"))
_DOUBLING = words_of("twin dual two 2x osfp qsfp cage cages cable cables transceiver transceivers optics switch")
_DOUBLING |= words_of("switches breakout split splits aggregate aggregated total combined node bonded bonding pair")
_NIC_NOUNS = words_of("nic nics supernic supernics hca hcas adapter adapters adaptor adaptors")
_SPARSE = words_of("sparse sparsity sparsities structured dense")
MAX_GAP = 5
"""Maximum tokens between a quantity and a subject that follows it."""


@dataclass(frozen=True)
class Claim:
    """A quantity and the statements of the text about it.

    ``subjects`` are the parts it may refer to, likeliest first. ``others`` are the further parts the sentence names; a
    figure that is correct for one of them is not reported. ``counts`` are the counts in the same sentence.
    """

    token: Token
    subjects: tuple[Subject, ...]
    others: tuple[Subject, ...]
    channel: Channel | None = None
    direction: Direction | None = None
    scope: FigureScope | None = None
    sparsity: Sparsity | None = None
    precision: str = ""
    approximate: bool = False
    counts: tuple[float, ...] = ()
    written: str = ""
    """The figure with its direction in the words of the text."""
    subject_elsewhere: bool = False
    """Whether the subject is named outside the sentence."""
    of_port: bool = False
    """Whether the figure belongs to ports, NICs or adapters."""
    doubled: bool = False
    """Whether a word indicates two of the part: two ports, a cage, a cable."""
    sparse_near: bool = False
    """Whether the sentence mentions sparsity, or has a footnote mark."""
    measured: bool = False
    """Whether a word calls the figure measured or achieved."""
    specified: bool = False
    """Whether the figure is stated as a property of the part: `X has 80 GB of HBM3`, `X: 3.35 TB/s`."""

    @property
    def names_no_part(self) -> bool:
        """Whether the sentence itself does not name the part, or its generation."""
        near = [subject for subject in self.subjects if subject.ids and subject.channel in (None, self.channel)]
        return self.subject_elsewhere or all(subject.inferred for subject in near)

    def is_in_name(self, value: float) -> bool:
        """Whether a rate in B/s is part of the subject's name (`NDR200`)."""
        named = (*self.subjects, *self.others)
        return any(subject.label and abs(subject.label * 1.25e8 / value - 1) < 0.01 for subject in named)


def sentence_claims(sentence: Sentence, text: ProseText) -> Iterator[Claim]:
    """The figures of a sentence that can be compared with the catalog."""
    between_places = bool(sentence.quantities) and _is_between_places(sentence)
    for place, at in enumerate(sentence.quantities):
        token = sentence.words[at]
        if token.unit in _UNITS and not token.ranged and not _is_bound_or_negated(sentence, at):
            found = tuple(_subjects_of(sentence, at))
            if not found and (between_places or _restates_a_port(sentence, place)):
                continue
            found = tuple(dict.fromkeys((*found, *_interconnect_owners(sentence, at, found))))
            near = (*_subjects_of_sentence(sentence), *sentence.before)
            with_generation = (text.subject_with_generation(each, near) for each in found or sentence.before[-1:])
            subjects = tuple(text.known.with_memory(each, _adjacent_sizes(sentence, at)) for each in with_generation)
            if subjects:
                yield _claim_at(sentence, at, subjects, text, subject_elsewhere=not found)


def _is_between_places(sentence: Sentence) -> bool:
    """Whether a sentence is about a link of two places: `the link between the halls carries 800 Gb/s`."""
    words = set(sentence.words_between(0, len(sentence.words)))
    return not _AMONG.isdisjoint(words) and not _PLACES.isdisjoint(words)


def _restates_a_port(sentence: Sentence, place: int) -> bool:
    """Whether the figure at a place among the quantities is the rate of a port next to it in other units: `one 800 Gb/s
    port, 100 GB/s each way`.
    """
    token = sentence.words[sentence.quantities[place]]
    for at in sentence.quantities[max(0, place - 1) : place + 2]:
        other = sentence.words[at]
        if other.bits != token.bits and other.unit == token.unit and agrees_within(token.value, other.value, 0.01):
            return _is_port(sentence, at)
    return False


def _claim_at(
    sentence: Sentence, at: int, subjects: tuple[Subject, ...], text: ProseText, subject_elsewhere: bool
) -> Claim:
    precision = sentence.sole_meaning(at, PrecisionName)
    channel = _quantity_channel(sentence, at, subjects)
    scope = _quantity_scope(sentence, at, channel)
    words = set(sentence.words_between(0, len(sentence.words)))
    direction = sentence.sole_meaning(at, Direction)
    return Claim(
        sentence.words[at],
        subjects,
        _other_subjects(sentence, at, text),
        channel=channel,
        direction=direction,
        written=sentence.words_of_direction(at, direction) if direction else "",
        scope=scope,
        sparsity=sentence.sole_meaning(at, Sparsity),
        precision=precision.name if precision else "",
        approximate=sentence.has_meaning(at, Hint.ABOUT),
        counts=_stated_counts(sentence),
        subject_elsewhere=subject_elsewhere,
        of_port=scope is FigureScope.PORT or _is_port(sentence, at),
        doubled=bool(words & _DOUBLING),
        sparse_near=bool(words & _SPARSE) or "*" in words,
        measured=sentence.has_meaning(at, Hint.MEASURED),
        specified=is_specified(sentence, at),
    )


def _other_subjects(sentence: Sentence, at: int, text: ProseText) -> tuple[Subject, ...]:
    sizes = _adjacent_sizes(sentence, at)
    named = (text.subject_with_generation(each, sentence.before) for each in _subjects_of_sentence(sentence))
    return tuple(text.known.with_memory(each, sizes) for each in named)


def _adjacent_sizes(sentence: Sentence, at: int) -> list[float]:
    """The memory size in a sentence about one part that also states another figure: `A100 has 80 GB of HBM2e at 2
    TB/s`.
    """
    sizes = [
        sentence.words[other] for other in sentence.quantities if sentence.words[other].unit == "B" and other != at
    ]
    single = len(_subjects_of_sentence(sentence)) == 1 and len(sizes) == 1 and not sizes[0].ranged
    return [sizes[0].value] if single else []


def _quantity_scope(sentence: Sentence, at: int, channel: Channel | None) -> FigureScope | None:
    """The scope of a quantity: a port after a count (`8 x 400 Gb/s`), an accelerator for the sum of its links."""
    scope = sentence.scope(at)
    ends = {named.start: named.end for named in sentence.named}
    factors = (multiplied_index(sentence.words, count) for count in sentence.counts)
    multiplied = any(at in (factor, ends.get(factor)) for factor in factors)  # `8x 400 Gb/s`, `8x NDR 400 Gb/s`
    multiplied = multiplied or _is_of_one_nic(sentence, at, ends.get(at + 1, at + 1))
    if _may_be_of_one_link(sentence, at):
        return None
    multiplied = multiplied or _is_multiplied_later(sentence, at)
    if multiplied and channel is Channel.NETWORK and scope in (None, FigureScope.NODE, FigureScope.SUM):
        return FigureScope.PORT
    nouns = {count.noun for count in sentence.counts}
    directed = sentence.sole_meaning(at, Direction) is not None
    return FigureScope.DEVICE if scope is FigureScope.SUM and directed and nouns == {FigureScope.LINK} else scope


def _is_multiplied_later(sentence: Sentence, at: int) -> bool:
    """Whether a later figure is a quantity times a count of ports: the 400 in `8 NICs at 400 GB/s, that is 3.2 TB/s`."""
    value = sentence.words[at].value
    later = [sentence.words[other].value for other in sentence.quantities if other > at]
    counts = [count.value for count in sentence.counts if count.noun is FigureScope.PORT and count.value > 1]
    return value > 0 and any(agrees_within(other, value * count, 0.01) for other in later for count in counts)


def _is_port(sentence: Sentence, at: int) -> bool:
    """Whether a noun for ports follows or precedes a quantity: `200 Gb/s ports`, `4 NICs of 100 Gb/s`."""
    behind = list(sentence.words_between(at + 1, at + 4))
    return any(COUNTED.get(word) is FigureScope.PORT for word in behind) or any(
        count.noun is FigureScope.PORT and 0 < at - count.at <= MAX_GAP + 2 for count in sentence.counts
    )


def _subjects_of_sentence(sentence: Sentence) -> tuple[Subject, ...]:
    return tuple(dict.fromkeys(named.subject for named in sentence.named))


def _is_bound_or_negated(sentence: Sentence, at: int) -> bool:
    """Whether words make a quantity a bound, negate it, or call it a bisection bandwidth (checked separately)."""
    return any(sentence.has_meaning(at, hint) for hint in (Hint.BOUND, Hint.DENIED, Hint.BISECTION))


def _may_be_of_one_link(sentence: Sentence, at: int) -> bool:
    """Whether a figure may describe one link or all: `18 links, 25 GB/s each way`, `21 links, 525 GB/s each way`."""
    links = any(count.noun is FigureScope.LINK and 0 < at - count.at <= MAX_GAP for count in sentence.counts)
    behind = list(sentence.words_between(at + 1, at + 5))
    each = behind.index("each") if "each" in behind else len(behind)
    return links and behind[each + 1 : each + 2] in (["way"], ["direction"])


def _is_of_one_nic(sentence: Sentence, at: int, end: int) -> bool:
    """Whether a noun for NICs or `each` follows a quantity, or the part after it: `400 Gb/s NDR NICs`."""
    behind = [*sentence.words_between(end, end + 2), "", ""]
    noun = behind[0] in _NIC_NOUNS and behind[1] not in ("bandwidth", "capacity", "throughput")
    return noun or (behind[0] in ("each", "apiece") and any(named.subject.kind == "nic" for named in sentence.named))


def _subjects_of(sentence: Sentence, at: int) -> Iterator[Subject]:
    """The parts that a quantity may refer to: first the part right after it, then the part before it."""
    network = _is_of_nics(sentence, at)
    allowed = [named for named in sentence.named if not network or _may_have_nics(named.subject)]
    behind = next((named for named in allowed if named.start > at), None)
    before = next((named for named in reversed(allowed) if named.end <= at), None)
    near = behind is not None and _is_linked_to(sentence, at, behind)
    if behind is not None and near:
        yield behind.subject
        if behind.subject.family == UNKNOWN:
            return
    if before is not None and not any(word in _BARRIERS for word in sentence.words_between(before.end, at)):
        yield before.subject


def _stated_counts(sentence: Sentence) -> tuple[float, ...]:
    """The counts in a sentence, including counts of parts: `eight H100`."""
    parts = (count_before(sentence, named.start) for named in sentence.named if named.subject.channel is None)
    found = (*(count.value for count in sentence.counts), *parts)
    return tuple(value for value in found if value > 1)


def _is_of_nics(sentence: Sentence, at: int) -> bool:
    """Whether a noun for NICs follows a quantity (`400 Gb/s NICs`) before any pause."""
    behind = takewhile(lambda word: word not in PAUSES, sentence.words_between(at + 1, at + 4))
    return sentence.words[at].unit == "B/s" and any(word in _NIC_NOUNS for word in behind)


def _may_have_nics(subject: Subject) -> bool:
    return subject.channel in (None, Channel.NETWORK)


def _interconnect_owners(sentence: Sentence, at: int, subjects: Sequence[Subject]) -> Iterator[Subject]:
    """The accelerator or machine whose interconnect a figure describes, where only its family is named.

    In `MI300X nodes with eight 400 Gb/s RoCE NICs` the rate is compared with the NICs of MI300X nodes.
    """
    if not subjects or subjects[0].ids or subjects[0].family == UNKNOWN:
        return
    for kind in ("accelerator", "platform"):
        machines = [named for named in sentence.named if named.subject.kind == kind]
        before = [named.subject for named in machines if named.end <= at]
        yield from before[-1:] or [named.subject for named in machines[:1]]


def _is_linked_to(sentence: Sentence, at: int, named: Mention) -> bool:
    """Whether only linking words separate a quantity from a subject that follows it."""
    if named.start - at > 2 * MAX_GAP:
        return False
    marked = {index for phrase in sentence.phrases for index in range(phrase.start, phrase.end)}
    between = range(at + 1, named.start)
    if sum(index not in marked for index in between) > MAX_GAP:
        return False
    return all(index in marked or sentence.words[index].text.lower() in _LINKING for index in between)


def _quantity_channel(sentence: Sentence, at: int, subjects: Sequence[Subject]) -> Channel | None:
    """The channel of a quantity: from its unit, else its subject, else the words near it."""
    if (by_unit := BY_UNIT.get(sentence.words[at].unit)) is not None:
        return by_unit
    for subject in subjects:
        if subject.channel is not None:
            return subject.channel
    if (named := sentence.sole_meaning(at, Channel)) is not None:
        return named
    return Channel.MEMORY if has_adjacent_memory_size(sentence, at) else None
