"""Claims: a quantity of the text with the hardware it refers to, its channel, direction and scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Hint, PrecisionName
from clusterspec.prose.sentence import PAUSES, Sentence, multiplied_by
from clusterspec.prose.specifications import count_before, is_beside_memory_size, is_specified
from clusterspec.prose.subjects import UNKNOWN, Mention, Subject
from clusterspec.prose.tokenize import Token, words_of
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass

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


@dataclass(frozen=True, slots=True)
class Claim:
    """A quantity and what the text states about it.

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
    subject_elsewhere: bool = False
    """Whether the subject is named outside the sentence."""
    of_port: bool = False
    """Whether the figure is of ports, NICs or adapters."""
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


def claims(sentence: Sentence, text: ProseText) -> Iterator[Claim]:
    """The figures of a sentence that can be compared with the catalog."""
    for at in sentence.quantities:
        token = sentence.words[at]
        if token.unit in _UNITS and not token.ranged and not _is_qualified(sentence, at):
            found = tuple(_subjects_of(sentence, at))
            found = tuple(dict.fromkeys((*found, *_owners(sentence, at, found))))
            near = (*_all_subjects(sentence), *sentence.before)
            with_generation = tuple(text.with_generation(each, near) for each in found or sentence.before[-1:])
            if with_generation:
                yield _claim(sentence, at, with_generation, text, subject_elsewhere=not found)


def _claim(
    sentence: Sentence, at: int, subjects: tuple[Subject, ...], text: ProseText, subject_elsewhere: bool
) -> Claim:
    precision = sentence.sole_meaning(at, PrecisionName)
    channel = _channel(sentence, at, subjects)
    scope = _scope(sentence, at, channel)
    words = set(sentence.between(0, len(sentence.words)))
    return Claim(
        sentence.words[at],
        subjects,
        tuple(text.with_generation(each, sentence.before) for each in _all_subjects(sentence)),
        channel=channel,
        direction=sentence.sole_meaning(at, Direction),
        scope=scope,
        sparsity=sentence.sole_meaning(at, Sparsity),
        precision=precision.name if precision else "",
        approximate=sentence.has_meaning(at, Hint.ABOUT),
        counts=_counts(sentence),
        subject_elsewhere=subject_elsewhere,
        of_port=scope is FigureScope.PORT or _is_port(sentence, at),
        doubled=bool(words & _DOUBLING),
        sparse_near=bool(words & _SPARSE) or "*" in words,
        measured=sentence.has_meaning(at, Hint.MEASURED),
        specified=is_specified(sentence, at),
    )


def _scope(sentence: Sentence, at: int, channel: Channel | None) -> FigureScope | None:
    """The scope of a quantity: of one port after a count (`8 x 400 Gb/s`), of an accelerator for a sum of its links."""
    scope = sentence.scope(at)
    ends = {named.start: named.end for named in sentence.named}
    factors = (multiplied_by(sentence.words, count) for count in sentence.counts)
    multiplied = any(at in (factor, ends.get(factor)) for factor in factors)  # `8x 400 Gb/s`, `8x NDR 400 Gb/s`
    multiplied = multiplied or _is_of_one_nic(sentence, at, ends.get(at + 1, at + 1))
    if _may_be_of_one_link(sentence, at):
        return None
    if multiplied and channel is Channel.NETWORK and scope in (None, FigureScope.NODE, FigureScope.SUM):
        return FigureScope.PORT
    nouns = {count.noun for count in sentence.counts}
    directed = sentence.sole_meaning(at, Direction) is not None
    return FigureScope.DEVICE if scope is FigureScope.SUM and directed and nouns == {FigureScope.LINK} else scope


def _is_port(sentence: Sentence, at: int) -> bool:
    """Whether a noun for ports follows or precedes a quantity: `200 Gb/s ports`, `4 NICs of 100 Gb/s`."""
    behind = list(sentence.between(at + 1, at + 4))
    return any(COUNTED.get(word) is FigureScope.PORT for word in behind) or any(
        count.noun is FigureScope.PORT and 0 < at - count.at <= MAX_GAP + 2 for count in sentence.counts
    )


def _all_subjects(sentence: Sentence) -> tuple[Subject, ...]:
    return tuple(dict.fromkeys(named.subject for named in sentence.named))


def _is_qualified(sentence: Sentence, at: int) -> bool:
    """Whether words make a quantity a bound, negate it, or call it a bisection, which has its own check."""
    return any(sentence.has_meaning(at, hint) for hint in (Hint.BOUND, Hint.DENIED, Hint.BISECTION))


def _may_be_of_one_link(sentence: Sentence, at: int) -> bool:
    """Whether a figure may be of one link or of all: `18 links, 25 GB/s each way`, `21 links, 525 GB/s each way`."""
    links = any(count.noun is FigureScope.LINK and 0 < at - count.at <= MAX_GAP for count in sentence.counts)
    behind = list(sentence.between(at + 1, at + 5))
    each = behind.index("each") if "each" in behind else len(behind)
    return links and behind[each + 1 : each + 2] in (["way"], ["direction"])


def _is_of_one_nic(sentence: Sentence, at: int, end: int) -> bool:
    """Whether a noun for NICs or `each` follows a quantity, or the part after it: `400 Gb/s NDR NICs`."""
    behind = [*sentence.between(end, end + 2), "", ""]
    noun = behind[0] in _NIC_NOUNS and behind[1] not in ("bandwidth", "capacity", "throughput")
    return noun or (behind[0] in ("each", "apiece") and any(named.subject.kind == "nic" for named in sentence.named))


def _subjects_of(sentence: Sentence, at: int) -> Iterator[Subject]:
    """The parts that a quantity may refer to: the one that closely follows it, then the one before it."""
    network = _is_of_nics(sentence, at)
    allowed = [named for named in sentence.named if not network or _may_have_nics(named.subject)]
    behind = next((named for named in allowed if named.start > at), None)
    before = next((named for named in reversed(allowed) if named.end <= at), None)
    near = behind is not None and _is_linked_to(sentence, at, behind)
    if behind is not None and near:
        yield behind.subject
        if behind.subject.family == UNKNOWN:
            return
    if before is not None and not any(word in _BARRIERS for word in sentence.between(before.end, at)):
        yield before.subject


def _counts(sentence: Sentence) -> tuple[float, ...]:
    """The counts of a sentence, with those of its parts: `eight H100`."""
    parts = (count_before(sentence, named.start) for named in sentence.named if named.subject.channel is None)
    found = (*(count.value for count in sentence.counts), *parts)
    return tuple(value for value in found if value > 1)


def _is_of_nics(sentence: Sentence, at: int) -> bool:
    """Whether a noun for NICs follows a quantity (`400 Gb/s NICs`) before any pause."""
    behind = takewhile(lambda word: word not in PAUSES, sentence.between(at + 1, at + 4))
    return sentence.words[at].unit == "B/s" and any(word in _NIC_NOUNS for word in behind)


def _may_have_nics(subject: Subject) -> bool:
    return subject.channel in (None, Channel.NETWORK)


def _owners(sentence: Sentence, at: int, found: Sequence[Subject]) -> Iterator[Subject]:
    """The accelerator or machine whose interconnect a figure describes, where only its family is named.

    In `MI300X nodes with eight 400 Gb/s RoCE NICs` the rate is compared with the NICs of MI300X nodes.
    """
    if not found or found[0].ids or found[0].family == UNKNOWN:
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


def _channel(sentence: Sentence, at: int, subjects: Sequence[Subject]) -> Channel | None:
    """The channel of a quantity: from its unit, else its subject, else the words near it."""
    if (by_unit := BY_UNIT.get(sentence.words[at].unit)) is not None:
        return by_unit
    for subject in subjects:
        if subject.channel is not None:
            return subject.channel
    if (named := sentence.sole_meaning(at, Channel)) is not None:
        return named
    return Channel.MEMORY if is_beside_memory_size(sentence, at) else None
