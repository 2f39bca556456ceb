"""Figures held against the catalog: each is right in some reading, or reads like a slip, or is left alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clusterspec.quantity import Direction, Sparsity
from clusterspec.rules.prose.claims import Claim
from clusterspec.rules.prose.factors import near
from clusterspec.rules.prose.known import SPARSE, Fact, Known
from clusterspec.rules.prose.lexicon import Channel, Scope
from clusterspec.rules.prose.told import Told
from clusterspec.units import plain, say, say_bits

AGREES = 0.05
"""Published figures are rounded: the 63 GB/s of PCIe 5 are printed as 64, 12.5 as 12."""
ROUGHLY = 0.08
"""The same behind `about`."""
CLOSE = 0.04
"""How near a slip must come to the figure that explains it."""
PRINTED = 0.01
"""How near a peak must come to another precision's: measured ones come near by chance."""
BEYOND = 1.2
"""A peak this far above the sparse one is no figure of the part."""
_SCOPES: dict[Scope, frozenset[Scope]] = {
    Scope.LANE: frozenset((Scope.LANE,)),
    Scope.LINK: frozenset((Scope.LINK, Scope.PORT)),
    Scope.PORT: frozenset((Scope.PORT,)),
    Scope.PAIR: frozenset((Scope.PAIR, Scope.DEVICE, Scope.LINK)),
    Scope.DEVICE: frozenset((Scope.DEVICE, Scope.PORT)),
}
_ORDER = (Scope.DEVICE, Scope.PORT, Scope.PAIR, Scope.LINK, Scope.LANE, Scope.NODE, Scope.SUM)


@dataclass(frozen=True, slots=True)
class Slip:
    """What a figure reads like: the rule that tells of it, the part's own figure, and what the claim would be instead."""

    rule: str
    fact: Fact
    meant: str
    """In words that follow `it reads like`."""


def judge(claim: Claim, known: Known) -> Iterator[Told]:
    """The finding on a figure that a slip explains, with every reading that fits; none on one that is right or unusual."""
    slips = _explained(claim, known)
    if slips:
        meant = ", or ".join(dict.fromkeys(slip.meant for slip in slips))
        right, times = _right_figure(claim, slips[0].fact)
        written = f"{claim.token.written}{f' {claim.direction}' if claim.direction else ''}"
        message = f"{written} is {times} the {right} of {slips[0].fact.whose}: it reads like {meant}"
        yield Told(slips[0].rule, claim.token, message, f"write `{right}`, or say what else it is")


def _right_figure(claim: Claim, fact: Fact) -> tuple[str, str]:
    """The figure that is held against a claim, counted as the claim counts, and how many times it the claim is."""
    value = fact.value * (2 if claim.direction is Direction.DUPLEX else 1)
    shown = say_bits(value) if fact.unit == "B/s" and claim.token.bits else say(value, fact.unit)
    ratio = claim.token.value / (8 if claim.token.unit == "T/s" else 1) / value
    times = f"{plain(ratio)} times" if ratio >= 1 else f"1/{plain(1 / ratio)} of"
    if fact.directed:
        return f"{shown} {claim.direction or Direction.ONE_WAY}", times
    return (f"{shown} dense" if fact.unit == "FLOP/s" else shown), times


def _explained(claim: Claim, known: Known) -> tuple[Slip, ...]:
    """The slips that explain a figure, the likeliest first."""
    facts = tuple(fact for subject in claim.subjects for fact in _fitting(claim, known.of(subject)))
    far = claim.remote or all(subject.inferred for subject in claim.subjects if subject.ids)
    if (
        not facts
        or not claim.token.value
        or claim.scope in (Scope.NODE, Scope.SUM)
        or (far and claim.channel is Channel.NETWORK)
    ):
        return ()
    if _right(claim, facts) or any(_right(claim, _fitting(claim, known.of(other))) for other in claim.others):
        return ()
    facts = tuple(sorted(facts, key=lambda fact: _ORDER.index(fact.scope)))
    slips = _peaks(claim, facts) if claim.token.unit == "FLOP/s" else _bandwidths(claim, facts, known)
    return tuple({slip.rule: slip for slip in reversed(tuple(slips))}.values())[::-1]


def _fitting(claim: Claim, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts of the claim's unit and channel."""
    unit = "B/s" if claim.token.unit == "T/s" else claim.token.unit
    return tuple(fact for fact in facts if fact.unit == unit and claim.channel in (None, fact.channel))


def readings(claim: Claim, fact: Fact) -> tuple[float, ...]:
    """What a fact amounts to, counted as the claim counts; both ways where it does not say."""
    if fact.unit == "FLOP/s":
        return {Sparsity.DENSE: (fact.value,), Sparsity.SPARSE: (fact.value * SPARSE,)}.get(
            claim.sparsity or Sparsity.DENSE, ()
        )
    if not fact.directed or claim.direction is Direction.ONE_WAY:
        return (fact.value,)
    if claim.direction is Direction.DUPLEX:
        return (2 * fact.value,)
    return (fact.value,) if fact.channel is Channel.NETWORK else (fact.value, 2 * fact.value)


def _right(claim: Claim, facts: Iterable[Fact]) -> bool:
    within = ROUGHLY if claim.about else AGREES
    value = claim.token.value / 8 if claim.token.unit == "T/s" else claim.token.value
    return any(
        near(value, reading * count, within)
        for fact in facts
        if _in_scope(claim, fact)
        for reading in readings(claim, fact)
        for count in _counted_in(claim, fact)
    )


def _counted_in(claim: Claim, fact: Fact) -> tuple[float, ...]:
    """How many times a fact may be in the claim's figure."""
    if fact.scope is Scope.LANE:
        return (1.0,)
    return (1.0, *claim.counts, *(() if fact.minor else _totals(claim)))


def _totals(claim: Claim) -> tuple[float, ...]:
    """How many ports a network figure may be the sum of, where it does not say that it is of one.

    Eight of them in bytes are left out: there the unit is likelier to be the slip.
    """
    if claim.channel is not Channel.NETWORK or claim.of_port or claim.scope is not None:
        return ()
    clouds = any(subject.family == "efa" for subject in claim.subjects)
    return tuple(map(float, range(3 - clouds, 33))) if claim.token.bits or clouds else (4.0, 16.0, 32.0)


def _in_scope(claim: Claim, fact: Fact) -> bool:
    """Whether a fact is of what the claim says, or the claim does not say."""
    if fact.trap or (fact.minor and claim.of_port and not claim.labelled(fact.value)):
        return False
    if claim.precision and fact.precision and claim.precision != fact.precision:
        return {claim.precision, fact.precision} == {"bf16", "fp16"}
    if fact.scope is Scope.LANE and fact.channel is Channel.NETWORK:
        return claim.scope is Scope.LANE or not claim.of_port
    return claim.scope is None or fact.scope in _SCOPES[claim.scope]


def _bandwidths(claim: Claim, facts: Sequence[Fact], known: Known) -> Iterator[Slip]:
    """The unit that was written decides first, then the direction, then the scope, then the name."""
    if claim.token.unit == "T/s":
        yield from _generations(claim, facts, known)
        return
    fitting = [fact for fact in facts if _in_scope(claim, fact)]
    for fact in fitting:
        yield from _units(claim, fact)
    for fact in fitting:
        yield from _directions(claim, fact)
    if claim.remote:
        return
    yield from _scopes(claim, facts)
    yield from _generations(claim, facts, known)


def _units(claim: Claim, fact: Fact) -> Iterator[Slip]:
    """Bits for bytes, or a prefix one step off; only where the text says which of a part's figures it speaks of."""
    token = claim.token
    if claim.channel is None:
        return
    within = ROUGHLY if fact.unit == "B" else CLOSE  # an 80 GB part reports 85.5e9 bytes
    swapped = token.symbol.replace("b", "B") if token.bits else token.symbol.replace("B", "b")
    other = token.value * 8 if token.bits else token.value / 8
    of_node = claim.subjects[0].kind in ("accelerator", "platform") and fact.channel is Channel.NETWORK
    told = fact.scope is not Scope.LANE and (token.bits or not of_node)
    if told and any(near(other, reading, within) for reading in readings(claim, fact)):
        yield Slip("bits-and-bytes-swapped", fact, f"a figure in {swapped} with {token.symbol} written behind it")
    told = fact.unit != "B" and fact.scope in (Scope.DEVICE, Scope.PORT, Scope.NODE)
    if told and any(
        near(token.value * step, reading, CLOSE) for step in (1000, 0.001) for reading in readings(claim, fact)
    ):
        yield Slip("thousandfold-slip", fact, "a prefix (M, G, T) one step off")


def _directions(claim: Claim, fact: Fact) -> Iterator[Slip]:
    value, line_rate = claim.token.value, fact.channel is Channel.NETWORK
    if not fact.directed or fact.minor:
        return
    summed, single = near(value, 2 * fact.value, CLOSE), near(value, fact.value, CLOSE)
    if summed and claim.direction is Direction.ONE_WAY:
        yield Slip("duplex-counted-as-one-way", fact, "both directions summed")
    elif single and claim.direction is Direction.DUPLEX and not (line_rate and claim.token.bits):
        yield Slip("one-way-counted-as-duplex", fact, "one direction alone")  # `400 Gb/s full duplex` is 400 each way
    elif summed and claim.direction is None and line_rate and not claim.twofold and not claim.remote:
        rule = "nic-rate-off-technology" if claim.token.bits else "duplex-counted-as-one-way"
        yield Slip(rule, fact, "both directions summed, or two ports counted as one")


def _scopes(claim: Claim, facts: Sequence[Fact]) -> Iterator[Slip]:
    """The figure of a link given for a lane, of an accelerator for a link, of a lane for a NIC."""
    own = next((fact for fact in facts if _in_scope(claim, fact) and not fact.minor), None)
    for fact in facts if claim.channel is not None and own is not None else ():
        if own is None or _in_scope(claim, fact) or not _matches(claim, fact):
            continue
        if fact.scope is Scope.LANE and fact.channel is Channel.NETWORK:
            yield Slip("lanes-counted-as-nics", own, "the rate of one lane of a port")
        elif fact.minor:
            yield Slip("nic-rate-off-technology", own, "a port with half its lanes, or one of the generation before")
        elif fact.trap or (claim.scope is not None and fact.what and fact.scope is not claim.scope):
            yield Slip("bandwidth-of-another-scope", own, f"the figure of {fact.what}")


def _matches(claim: Claim, fact: Fact) -> bool:
    return any(near(claim.token.value, reading, CLOSE) for reading in readings(claim, fact))


def _generations(claim: Claim, facts: Sequence[Fact], known: Known) -> Iterator[Slip]:
    """The figure of another generation of the same family."""
    subject = next((each for each in claim.subjects if each.kind == "interconnect" and each.ids), None)
    lane = claim.token.unit == "T/s"
    scopes = (Scope.LANE,) if lane else (claim.scope or Scope.DEVICE, Scope.PORT)
    own = next((fact for fact in facts if fact.scope in scopes), None)
    if subject is None or own is None or claim.remote:
        return
    value = claim.token.value / (8 if lane else 1)
    share = subject.lanes / 16 if subject.lanes and not lane else 1
    for id_, others in known.siblings(subject):
        fitting = (fact for fact in others if fact.scope in scopes and fact.channel is own.channel and not fact.minor)
        if any(near(value, reading * share, CLOSE) for fact in fitting for reading in readings(claim, fact)):
            rule = "nic-rate-off-technology" if own.channel is Channel.NETWORK else "label-contradicts-rate"
            yield Slip(rule, own, f"the figure of {id_}")


def _peaks(claim: Claim, facts: Sequence[Fact]) -> Iterator[Slip]:
    """A sparse peak, a peak of another precision, or more than the part can do."""
    value = claim.token.value
    own = [fact for fact in facts if _in_scope(claim, fact)]
    for fact in own:
        if near(value, SPARSE * fact.value, CLOSE) and claim.sparsity is not Sparsity.SPARSE and _says_dense(claim):
            yield Slip("sparse-peak-as-dense", fact, "the peak with 2:4 sparsity")
    if claim.precision and own:
        for fact in facts:
            if fact not in own and any(near(value, reading, PRINTED) for reading in readings(claim, fact)):
                yield Slip("peak-of-other-precision", fact, f"the {fact.precision} peak")
    highest = max((fact for fact in own), key=lambda fact: fact.value, default=None)
    if highest is not None and value > BEYOND * SPARSE * highest.value * max(_counted(claim, facts)):
        yield Slip("peak-off-catalog", highest, "more than the part can do, sparse or not")


def _says_dense(claim: Claim) -> bool:
    """Whether a peak is called dense, or stands without a word on sparsity near it."""
    return claim.sparsity is Sparsity.DENSE or not claim.sparse_near


def _counted(claim: Claim, facts: Sequence[Fact]) -> tuple[float, ...]:
    """How many parts the text may speak of: what it counts, save the accelerators that a node's figures hold already."""
    node = any(fact.scope is Scope.NODE for fact in facts)
    return (1.0, *(count for count in claim.counts if not (node and count <= 16)))
