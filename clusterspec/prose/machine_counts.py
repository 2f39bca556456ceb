"""Wrong numbers of accelerators or NICs of a machine: `a DGX H100 has four GPUs`."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.prose.document import ProseText
from clusterspec.prose.sentence import NUMERALS, CountedNoun, Sentence
from clusterspec.prose.subjects import Mention
from clusterspec.prose.text_problem import TextProblem
from clusterspec.prose.tokenize import TokenKind, words_of

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


def miscounted(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """The numbers of accelerators or NICs that a sentence states of one machine and the catalog contradicts."""
    machines = [named for named in sentence.named if named.subject.kind == "platform"]
    if len(machines) != 1 or not sentence.counts or not _is_of_one(sentence, machines[0]):
        return
    entry = text.known.machine(machines[0].subject)
    stated = [(count, noun) for count in sentence.counts if (noun := _noun(sentence, count))]
    for count, noun in stated:
        if (
            entry is None
            or [each for _, each in stated].count(noun) > 1
            or not _is_stated(sentence, machines[0], count)
        ):
            continue
        possible = _accelerators(entry, text) if noun == "accelerators" else _nics(entry)
        more = noun == "NICs" and count.value > max(possible, default=0)  # with those of storage, or virtual ones
        if possible and count.value not in possible and not more:
            token = sentence.words[count.at]
            message = f"{machines[0].subject.name} has {possible[0]} {noun}, not {token.text}"
            yield TextProblem(RULE, token, message, f"write {possible[0]}, or name the machine that has {token.text}")


def _accelerators(entry: Platform, text: ProseText) -> tuple[int, ...]:
    """The numbers of accelerators of a node and of its scale-up domain, the usual statement first."""
    node = entry.accelerators_per_node
    if not node or entry.id.startswith("hgx"):  # boards are sold with four and with eight
        return ()
    domain = entry.domain or node
    return tuple(dict.fromkeys((max(node, domain), node, node * text.known.ranks_per_accelerator(entry))))


def _nics(entry: Platform) -> tuple[int, ...]:
    """The number of NICs of the compute fabric; none for racks, whose NICs are counted by tray or by rack."""
    count = entry.nics_per_node
    rack = entry.domain and entry.accelerators_per_node and entry.domain > entry.accelerators_per_node
    return () if not count or rack else (count,)


def _is_of_one(sentence: Sentence, machine: Mention) -> bool:
    """Whether a name is of one machine and the subject of its clause: not `two DGX H100`, `of a DGX H100`."""
    words = list(sentence.between(max(0, machine.start - 2), machine.start))
    if not words:
        return True
    last = words[-1] in _BEFORE
    return last and not (len(words) == 2 and words[0] in ("of", "in", "on", "from", "for", "than", "to", "with"))


def _noun(sentence: Sentence, count: CountedNoun) -> str:
    """What a count counts: accelerators or NICs; empty if another noun, or a word for other NICs, comes first."""
    end = _end(sentence, count)
    if end is None:
        return ""
    words = list(sentence.between(count.at + 1, end))
    if _OTHER_NICS & set(words) or not _is_closed(sentence, end):
        return ""
    return "accelerators" if words[-1] in _ACCELERATORS else "NICs"


def _end(sentence: Sentence, count: CountedNoun) -> int | None:
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


def _is_closed(sentence: Sentence, end: int) -> bool:
    """Whether no words restrict the noun: `4 GPUs per socket`, `two NICs for storage`."""
    behind = list(sentence.between(end, end + 5))
    if not behind or behind[0] in _AFTER:
        return True
    compute = behind[0] == "for" and bool({"compute", "backend", "training"} & set(behind))
    return compute or (behind[:2] in (["in", "one"], ["in", "total"], ["in", "a"]) and "socket" not in behind)


def _is_stated(sentence: Sentence, machine: Mention, count: CountedNoun) -> bool:
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
