"""Checks of counts: links, neighbors, accelerators and NICs of machines, and lanes counted as ports."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.prose.blocks import ProseLine
from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Hint
from clusterspec.prose.sentence import NUMERALS, CountedNoun, Sentence
from clusterspec.prose.subjects import Mention
from clusterspec.prose.tokenize import AMBIGUOUS_RATE, TextProblem, Token, TokenKind, words_of
from clusterspec.units import display_bits
from clusterspec.units.display import agrees_within

# Wrong counts: links of a node, neighbors of an accelerator, accelerators of a cluster, lanes counted as ports

_TOTAL = frozenset(("total", "totaling", "totalling", "altogether"))
_PEERS = words_of("chips accelerators gpus devices cards neighbours neighbors peers")


def wrong_counts(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """The counts of a sentence that the catalog or the sentence itself contradicts."""
    yield from _link_problems(sentence, text)
    yield from _neighbor_problems(sentence, text)
    yield from _accelerator_problems(sentence, text)
    yield from _lane_problems(sentence, text)


def _link_problems(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """`six switches of 12 NVLinks for a total of 72`: a node has as many links as its accelerators have."""
    total = _written_total(sentence)
    if total is None or not any(count.noun is FigureScope.LINK for count in sentence.counts):
        return
    for named in sentence.named:
        known = text.known.link_counts(named.subject)
        if known is None:
            continue
        count, each = known
        if not any(agrees_within(total.value, right, 0.001) for right in (each, count * each, count * each / 2)):
            message = f"{total.text} is not the number of links of {named.subject.name}: {count} accelerators have {each} each"
            yield TextProblem("links-miscounted", total, message, f"write {count * each}")
        return


def _written_total(sentence: Sentence) -> Token | None:
    """The bare number after `a total of`."""
    words = sentence.words
    for at, token in enumerate(words):
        behind = words[at + 1 : at + 3]
        if token.text.lower() in _TOTAL:
            return next((word for word in behind if word.kind is TokenKind.NUMBER), None)
    return None


def _neighbor_problems(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """`each connects to 3 other chips`: in a torus neighbors equal links; in a full mesh all peers are neighbors."""
    words = sentence.words
    for at, token in enumerate(words[:-2]):
        if (
            token.kind is not TokenKind.NUMBER
            or words[at + 1].text.lower() != "other"
            or words[at + 2].text.lower() not in _PEERS
        ):
            continue
        if not {"connects", "connected", "linked", "links"} & set(sentence.words_between(max(0, at - 4), at)):
            continue
        named = next((each for each in reversed(sentence.named) if each.end <= at), None)
        right = text.known.neighbors(named.subject) if named else frozenset()
        if right and token.value not in right:
            shown = " or ".join(str(number) for number in sorted(right))
            message = f"{named.subject.name if named else ''} has {shown} neighbors, not {token.text}"
            yield TextProblem("links-miscounted", token, message, f"write {shown}")


_OF_FORMER = words_of("replace replaces replaced replacing old former previous instead earlier")
"""Words of a sentence whose nodes or accelerators may be those of another machine."""


def _accelerator_problems(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """`1,296 nodes of 8 GPUs, 9,216 GPUs in total`."""
    nodes = [count for count in sentence.counts if count.noun is FigureScope.NODE]
    devices = [count for count in sentence.counts if count.noun is FigureScope.DEVICE and count.value > 1]
    if len(nodes) != 1 or not devices or not sentence.has(Hint.TOTAL):
        return
    if not _OF_FORMER.isdisjoint(sentence.words_between(0, len(sentence.words))):
        return
    total = max(devices, key=lambda count: count.value)
    each = {count.value for count in devices if count is not total} or _counts_per_node(sentence, text)
    token = sentence.words[total.at]
    if len(each) != 1 or token.kind is not TokenKind.NUMBER or not total.value > nodes[0].value > 1:
        return
    right = nodes[0].value * each.copy().pop()
    if not agrees_within(total.value, right, 0.001):
        message = f"{nodes[0].value:,.0f} nodes of {right / nodes[0].value:.0f} accelerators are {right:,.0f}, not {token.text}"
        yield TextProblem("accelerators-miscounted", token, message, f"write {right:,.0f}")


def _counts_per_node(sentence: Sentence, text: ProseText) -> set[float]:
    known = (text.known.link_counts(named.subject) for named in sentence.named)
    return {float(each[0]) for each in known if each is not None}


def _lane_problems(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """`4 x NDR lanes give 1600 Gb/s`: four lanes are one port."""
    for named in sentence.named:
        start, end = named.start, named.end
        behind = list(sentence.words_between(end, end + 1))
        if (
            named.subject.family != "infiniband"
            or not named.subject.ids
            or COUNTED.get("".join(behind)) is not FigureScope.LANE
        ):
            continue
        count = next((each for each in sentence.counts if 0 < start - each.at <= 2), None)
        facts = [
            fact
            for fact in text.known.figures_of(named.subject)
            if fact.channel is Channel.NETWORK and not fact.reduced_rate
        ]
        ports = [fact.value for fact in facts if fact.scope is FigureScope.PORT]
        lanes = [fact.value for fact in facts if fact.scope is FigureScope.LANE]
        for at in sentence.quantities if count and ports and lanes else ():
            token = sentence.words[at]
            if count is not None and token.unit == "B/s" and agrees_within(token.value, ports[0] * count.value, 0.02):
                right = display_bits(lanes[0] * count.value)
                message = f"{count.value:.0f} lanes of {named.subject.name} carry {right}; {token.written} is the rate of that many ports"
                yield TextProblem(
                    "lanes-counted-as-nics", token, message, f"write {right}, or `ports` instead of `lanes`"
                )


def misnamed_units(sentence: Sentence, other: Sentence) -> Iterator[TextProblem]:
    """Values whose name and figure disagree on bits or bytes: `nic_gbps=50` next to 50 GB/s."""
    if other.words[0].line - sentence.words[-1].line > 1:
        return
    stated = {token.value: token for token in (*_rate_tokens(sentence), *_rate_tokens(other)) if not token.bits}
    for at, token in enumerate(other.words[2:], 2):
        if token.kind is TokenKind.NUMBER and other.words[at - 1].text == "=" and other.words[at - 2].text == "gbps":
            same = stated.get(token.value * 1e9)
            if same is not None:
                message = (
                    f"`gbps={token.text}` reads as Gb/s, but {same.written} next to it is in bytes: a factor of eight"
                )
                yield TextProblem(
                    "bits-and-bytes-swapped", token, message, f"write {token.value * 8:g}, or rename it to GB/s"
                )


def _rate_tokens(sentence: Sentence) -> Iterator[Token]:
    return (sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "B/s")


def ambiguous_rates(line: ProseLine) -> Iterator[TextProblem]:
    """Rates whose unit may be bits or bytes (`Gps`)."""
    for match in AMBIGUOUS_RATE.finditer(line.text):
        token = Token(TokenKind.QUANTITY, match[0], line.number, match.start() + 1)
        prefix, number = match["unit"][0], match[0].removesuffix(match["unit"]).strip()
        message = f"{match[0]} does not say whether bits or bytes are meant, a factor of eight"
        yield TextProblem("ambiguous-unit", token, message, f"write `{number} {prefix}b/s` or `{number} {prefix}B/s`")


# Wrong numbers of accelerators or NICs of a machine: `a DGX H100 has four GPUs`

RULE = "contradicts-platform"
_ACCELERATORS = words_of("gpu gpus accelerator accelerators chip chips")
_NICS = words_of("nic nics supernic supernics hca hcas adapter adapters")
_STATES = words_of("has have comes come with carries carry contains contain offers offer includes include provides")
_STATES |= words_of(
    "provide packs pack integrates integrate connects connect features feature houses house hold holds exposes expose brings bring : ("
)
_FILLS = words_of(
    "node nodes server servers system systems box boxes instance instances vm vms rack machine machines and"
)
_FILLS |= words_of(", each a the all its together exactly gpu gpus nic nics chips of up with at")
_BEFORE = words_of("a an each every one the our this per aws azure gcp oci nvidia amd intel amazon - * | . ; :")
_OTHER_NICS = words_of(
    "storage frontend front management bluefield dpu dual dualport osfp ethernet tenant in band user"
)
_AFTER = words_of(", . ; ) ( with and at each total")
REACH = 4
"""Maximum words between a count and its noun."""


def miscounted_machines(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """Numbers of accelerators or NICs of one machine that contradict the catalog."""
    machines = [named for named in sentence.named if named.subject.kind == "platform"]
    if len(machines) != 1 or not sentence.counts or not _is_of_one(sentence, machines[0]):
        return
    entry = text.known.machine(machines[0].subject)
    stated = [(count, noun) for count in sentence.counts if (noun := _counted_noun(sentence, count))]
    for count, noun in stated:
        if (
            entry is None
            or [each for _, each in stated].count(noun) > 1
            or not _is_count_of_machine(sentence, machines[0], count)
        ):
            continue
        possible = _accelerator_counts(entry, text) if noun == "accelerators" else _nic_counts(entry)
        more = noun == "NICs" and count.value > max(possible, default=0)  # with those of storage, or virtual ones
        if possible and count.value not in possible and not more:
            token = sentence.words[count.at]
            message = f"{machines[0].subject.name} has {possible[0]} {noun}, not {token.text}"
            yield TextProblem(RULE, token, message, f"write {possible[0]}, or name the machine that has {token.text}")


def _accelerator_counts(entry: Platform, text: ProseText) -> tuple[int, ...]:
    """The numbers of accelerators of a node and of its scale-up domain, the usual statement first."""
    node = entry.accelerators_per_node
    if not node or entry.id.startswith("hgx"):  # boards are sold with four and with eight
        return ()
    domain = entry.domain or node
    return tuple(dict.fromkeys((max(node, domain), node, node * text.known.ranks_per_accelerator(entry))))


def _nic_counts(entry: Platform) -> tuple[int, ...]:
    """The number of NICs of the compute fabric; none for racks, whose NICs are counted by tray or by rack."""
    count = entry.nics_per_node
    rack = entry.domain and entry.accelerators_per_node and entry.domain > entry.accelerators_per_node
    return () if not count or rack else (count,)


def _is_of_one(sentence: Sentence, machine: Mention) -> bool:
    """Whether a name means one machine and is the subject of its clause: not `two DGX H100`, `of a DGX H100`."""
    words = list(sentence.words_between(max(0, machine.start - 2), machine.start))
    if not words:
        return True
    last = words[-1] in _BEFORE
    return last and not (len(words) == 2 and words[0] in ("of", "in", "on", "from", "for", "than", "to", "with"))


def _counted_noun(sentence: Sentence, count: CountedNoun) -> str:
    """The counted noun: accelerators or NICs; empty if another noun or other NICs come first."""
    end = _end_of_count(sentence, count)
    if end is None:
        return ""
    words = list(sentence.words_between(count.at + 1, end))
    if _OTHER_NICS & set(words) or not _is_unrestricted_noun(sentence, end):
        return ""
    return "accelerators" if words[-1] in _ACCELERATORS else "NICs"


def _end_of_count(sentence: Sentence, count: CountedNoun) -> int | None:
    """The index after the noun of a count."""
    named = {each.start: each.end for each in sentence.named}
    at, steps = count.at + 1, 0
    while at < len(sentence.words) and steps < REACH:
        if at in named:
            at, steps = named[at], steps + 1
            continue
        token = sentence.words[at]
        if token.text.lower() in _ACCELERATORS | _NICS or (token.text.lower() in ("interfaces", "cards") and steps):
            return at + 1
        if token.kind not in (TokenKind.WORD, TokenKind.QUANTITY, TokenKind.TIMES):
            return None
        at, steps = at + 1, steps + 1
    return None


def _is_unrestricted_noun(sentence: Sentence, end: int) -> bool:
    """Whether no words restrict the noun: `4 GPUs per socket`, `two NICs for storage`."""
    behind = list(sentence.words_between(end, end + 5))
    if not behind or behind[0] in _AFTER:
        return True
    compute = behind[0] == "for" and bool({"compute", "backend", "training"} & set(behind))
    return compute or (behind[:2] in (["in", "one"], ["in", "total"], ["in", "a"]) and "socket" not in behind)


def _is_count_of_machine(sentence: Sentence, machine: Mention, count: CountedNoun) -> bool:
    """Whether a verb or colon joins the machine and the count, without words that restrict either."""
    if count.at < machine.end:
        return False
    between = sentence.words[machine.end : count.at]
    words = [word.text.lower() for word in between]
    inside = {at for named in sentence.named for at in range(named.start, named.end)}
    return bool(_STATES & set(words)) and all(
        text in _STATES or text in _FILLS or word.kind is not TokenKind.WORD or at in inside or text in NUMERALS
        for at, (text, word) in enumerate(zip(words, between, strict=True), machine.end)
        if word.kind is not TokenKind.NUMBER
    )
