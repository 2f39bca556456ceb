"""Terms of causes: the words that reports of a cause have, and the clauses of a text that have them.

`cause-terms.csv` of the catalog lists the terms of each cause by their role: a subsystem, a setting, a message,
hardware, a change, a symptom, or a subject of which texts without a fault tell as often. A clause has a term if it has
all of its words, in any order and form; ``#`` is the number of a release, and a word after ``!`` may not be in the
clause.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from clusterspec import resources
from clusterspec.catalog.names_of_parts import GPU_MODELS
from clusterspec.logs.reports.chinese_words import STOPS, with_english_words
from clusterspec.logs.reports.form_lines import has_title, is_of_a_form
from clusterspec.logs.reports.report_sentences import is_logged
from clusterspec.logs.text_lines import lines_of
from clusterspec.records import NamedTuple

FILE = "cause-terms.csv"
ROLES = {
    "message": 1.0,
    "setting": 0.8,
    "subsystem": 0.7,
    "change": 0.7,
    "symptom": 0.5,
    "hardware": 0.35,
    "subject": 0.35,
}
"""The weight of a term by its role: symptoms, hardware and subjects are alike for many causes."""
PER_WORD, MOST_PER_WORDS = 0.35, 1.8
"""What each further word of a term adds to its weight, as a share, and the limit: several words in one clause are rarer
than one."""
MOST_READ = 120_000
"""Largest number of characters of a text in which terms are searched, half of them at each end."""
WIDEST = 1_200
"""Characters of a line that are read: reports have shorter ones."""
NEAR_WORDS = 3
"""Words of a clause within which the words of a term are near each other, for each word of the term."""
RELEASE = "#"
"""The word that stands for the number of a release."""
_ALIKE = {
    "gpu": "gpus device devices accelerator accelerators card cards npu npus",
    "node": "nodes host hosts machine machines server servers instance instances multinode",
    "hang": "hangs hanging hung stuck freeze freezes frozen froze freezing deadlock deadlocks deadlocked stall stalls "
    "stalled blocked blocks",
    "slow": "slower slowly slowness degraded degradation low lower poor drop drops dropped decreases decreased "
    "half worse longer",
    "small": "smaller tiny",
    "crash": "crashes crashed crashing segfault segfaults sigsegv abort aborted aborts died dies",
    "fail": "fails failed failing failure failures error errors exception exceptions",
    "upgrade": "upgraded upgrading upgrades update updated updating updates downgrade downgraded downgrading bump "
    "bumped revert reverted rollback",
    "version": "versions release releases",
    "wrong": "corrupt corrupted corruption incorrect incorrectly garbage",
    "container": "containers docker pod pods podman containerized",
    "nic": "nics hca hcas adapter adapters",
    "work": "works worked working fine",
    "initialization": "init initialize initializing initialized initialise initialisation initializes",
    "training": "train trains trained",
    "several": "multiple multi",
    "utilization": "usage util utilisation utilized",
    "see": "sees seen shows showed shown lists listed detects detected finds found recognizes recognises displays",
    "missing": "absent lacks lacking lack vanished vanishes disappears disappeared gone lost",
    "process": "processes rank ranks worker workers task tasks",
    "connect": "connects connected connecting connection connections reach reaches reached contact talk talks "
    "communicate communicates communicating communication",
    "start": "starts started starting launch launches launched launching",
    "resolve": "resolves resolved resolving resolution lookup",
    "password": "passphrase passwords",
    "wait": "waits waited waiting forever pending sits",
    "alone": "itself separately independently isolated standalone",
    "same": "identical",
    "different": "differs differ differing differently unequal",
    "mismatch": "mismatched mismatches",
    "batch": "batches sample samples minibatch",
    "evict": "evicts evicted evicting preempts preempted preemption",
    "save": "saves saved saving",
    "write": "writes written wrote writing",
    "stop": "stops stopped stopping terminates terminated terminate",
    "refuse": "refuses refused rejects rejected rejecting denies denied",
    "traffic": "packets flows",
    "memory": "mem",
    "full": "exhausted filled fills",
    "create": "creates created creating",
    "load": "loads loaded loading",
    "read": "reads reading",
    "copy": "copies copied copying transfer transfers transferred move moves moved moving",
    "replace": "replaces replaced replacing swap swaps swapped swapping exchanged",
    "hot": "temperature thermal overheats overheating degrees heat",
    "image": "images",
}
"""Words, each with others of the same meaning."""
_SAME = {other: word for word, others in _ALIKE.items() for other in others.split()}
_KINDS = {"ram": "memory", "vram": "memory", "small": "slow", "mismatch": "different"}
"""Words that mean more than others do, each with the other whose terms it has, too."""
_ENDINGS = ("ing", "ed", "es", "s", "e")
_SHORTEST = 4
"""Smallest number of characters of a word that are left without its ending."""
_WORD = re.compile(r"(?:--)?[A-Za-z0-9_]+(?:[-./][A-Za-z0-9_]+)*")
_RELEASE = re.compile(
    r"v?(?:[0-9]{1,5}(?:\.[0-9]{1,5}){2,4}|[1-9][0-9]{0,4}\.[0-9]{1,5})"
    r"(?:[-.]?(?:rc|post|dev|a|b|alpha|beta|cu|rocm)[0-9]{0,8})?"
)
"""The number of a release: three parts or more, or two that are no share; a measured value has a unit behind it."""
_WITH_RELEASE = re.compile(r"[a-z_]{1,40}[-_]?v?[0-9]{1,4}\.[0-9]")
"""A name with the number of a release, such as `torch-2.9`."""
_OF_DRIVER = re.compile(r"(?:nvidia[-_])?[3-9][0-9]{2}\.[0-9]{2,3}(?:\.[0-9]{2})?")
"""The number of a release of NVIDIA's driver."""
_OF_INTERFACE = re.compile(r"_(?:ifname|iface|interface|if_name|(?:tcp_)?if_(?:in|ex)clude)$")
"""The end of the names of settings that choose a network interface."""
_NAME_OF_NIC = re.compile(r"mlx5|rocep|bnxt_re|ibp[0-9]")
_NAME_OF_GPU = re.compile(
    rf"(?:{GPU_MODELS}|(?:RTX|GTX|TESLA|QUADRO|TITAN)-?[0-9]{{0,4}}|[1-5]0[5-9]0|A(?:2|4|6|[4-6]000)|P4|P40|K[48]0|MI[0-9]{{2,3}}[AXS]?)S?",
    re.IGNORECASE,
)
"""Names of models of accelerators."""
_WITH_DIGIT = re.compile(r"[0-9_]")
_CARD_OF_A_NIC = re.compile(
    r"\b(infiniband|ib|hca|nic|network|ethernet|rdma|roce|mellanox|connectx-?[0-9]?)(?: hca)? (?:interface )?"
    r"(?:cards?|devices?)\b",
    re.IGNORECASE,
)
"""A card or a device that is a NIC: without the word before it, these words are of accelerators."""
_PARTS = re.compile(r"[-./]")
_CAPITALIZED = re.compile(r"[A-Z][a-z]{3,}")
"""A part of a name such as `IterableDataset`."""
_OF_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")
_ENVIRONMENT = re.compile(
    r"[\s>*#|`-]{0,6}(?:\[[\w.]{1,40}\] )?[A-Za-z][\w ()/.+-]{1,40}?(?: {2,}| ?[:=]{1,2} ?)"
    r"v?[0-9]{1,5}\.[0-9][\w.+-]{0,40}(?:[ ,(].{0,60})?$"
    r"|[\s>*#|`-]{0,6}[a-z][a-z_]{1,30}[-_]v?[0-9]{1,4}(?:\.[0-9]{1,5}){1,3}\s{0,8}$"
)
"""A line of a list of releases, which reports have whatever their cause is."""
_LISTED = re.compile(
    r"\s{0,8}(?:(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s{1,4}= "
    r"|(?:GPU|NIC|mlx5_)[0-9]{1,3}:?\s.{0,200}\b(?:X|SYS|NODE|PHB|PXB|PIX)\b"
    r"|\|.{0,200}(?:NVIDIA-SMI|Persistence-M|Pwr:Usage|MIG M\.|[0-9]MiB /|GPU-Util)|[A-Z][\w ().-]{2,40}: {6,}\S"
    r"|.{0,200}\bCPU Affinity\b| {4,24}- [a-z_]{3,40}: ?\S{0,24}\s{0,4}$)"
)
"""A line of nvidia-smi, lscpu or `accelerate env` that any machine prints: a legend, a matrix of links, a table of
accelerators, a default.
"""
_CLAUSE = re.compile(
    rf"(?<=[a-z0-9)`'\"\]])[.;!?] |[{STOPS}]|,? (?:but|however|while|whereas|though|although)\b|(?:但是|然而|不过)"
)
_OF_PEOPLE = frozenset({"change", "symptom"})
"""Roles of terms that programs do not print: what was done before, and what a person notices."""
_RELEASE_OF_ERROR = re.compile(
    r"\bNCCL error in: \S{1,200}|, NCCL version [0-9.]{3,12}|/(?:site|dist)-packages/|\bunhandled system error"
)
"""The place and the release that PyTorch adds to any error of NCCL (`torch/csrc/distributed/c10d/NCCLUtils.hpp`), the
directory of packages of a trace, and NCCL's words for any error of the system.
"""
_ADDRESS = re.compile(r"https?://\S{1,400}")
"""An address that a person quotes, whose words are not of the report."""
_COMMAND = re.compile(
    r"\s{0,8}[`$#>]{0,2} ?(?:[A-Z_]{3,40}=\S{1,200} ){0,20}(?:mpirun|mpiexec|srun|sbatch|torchrun|python3?|docker"
    r"|podman|accelerate|deepspeed|vllm|ray|numactl|singularity|apptainer|enroot|horovodrun|export|#?SBATCH)\b|\s{0,8}--?[a-zA-Z]"
    r"|.{0,300} -x [A-Z]{2,12}_"
)
"""A command that launches a run, or a line of its options."""
_OWN_RELEASES = re.compile(
    r"\W{0,4}(?:(?:my|our|the|and|with|i|we|use|using|run|am|on|in) ){0,4}(?:[\w-]{2,16} )?"
    r"(?:drivers?|cuda|nccl|rccl|torch|pytorch|python|os|kernel|gcc|cudnn|m?ofed|(?:open)?mpi|ubuntu|centos|rocm|docker"
    r"|transformers|vllm|sglang|deepspeed)(?: driver| toolkit)?(?:'s)?(?: versions?| releases?)?(?: is| are|:| =)?"
    r"[ a-z]{0,12} v?[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}[\w+.-]{0,16}\W{0,3}",
    re.IGNORECASE,
)
"""A clause that only says which release a machine has, which tells of no change."""
_DENIED = re.compile(
    r"\b(?:ruled? out|(?:is|are|was|were|looks?|seems?|all|be) (?:\w{1,10} )?(?:fine|ok|okay|good|healthy|normal"
    r"|correct|identical|clean)"
    r"|(?:works?|working|runs?|pass(?:es|ed)) (?:fine|well|correctly|as expected|ok|normally|without)"
    r"|no (?:\w{1,12} )?(?:errors?|issues?|problems?|xid|change|difference|effect|drops?)"
    r"|(?:did|does|do)(?: not|n't) (?:help|fix|change|solve|matter)|not (?:the|an?|due|related|caused|because)"
    r"|unrelated|still (?:hangs?|fails?|the same|slow))\b",
    re.IGNORECASE,
)
"""Words of a clause that denies what it names."""


class Term(NamedTuple):
    """A term of a cause: its role, its text, the words that a clause has to have, and the words it may not have."""

    cause: str
    role: str
    text: str
    words: frozenset[str]
    without: frozenset[str]


class FoundTerm(NamedTuple):
    """A term in a text: the number of its first line, whether that clause denies it, whether the line is a command
    (``launched``), whose options are often of no consequence, and whether it is the title of the text.
    """

    term: Term
    line: int
    denied: bool
    launched: bool
    of_title: bool = False


def plain_word(word: str) -> str:
    """A lowercase word without its ending, or the word that represents its synonyms.

    >>> plain_word("hanging"), plain_word("GPUs"), plain_word("upgraded"), plain_word("4090s")
    ('hang', 'gpu', 'upgrade', '4090')
    """
    small = word.lower()
    if small in _SAME:
        return _SAME[small]
    if not small.isascii() or _WITH_DIGIT.search(small):
        return small.removesuffix("s") if small[-2:-1].isdigit() else small
    endings = () if small.endswith("ss") else _ENDINGS
    ending = next((each for each in endings if small.endswith(each) and len(small) - len(each) >= _SHORTEST), "")
    stem = small.removesuffix(ending) if ending else small
    return _SAME.get(stem, stem)


def words_of(text: str) -> Iterator[str]:
    """The words of a text in their plain form; of names with signs also their parts, and `RELEASE` for releases.

    >>> list(words_of("NCCL 2.27.5 hangs")), list(words_of("--shm-size"))
    (['nccl', '#', '2.27.5', 'hang'], ['--shm-size', 'shm-siz', 'shm', 'size'])
    >>> list(words_of("IB card")), list(words_of("card"))
    (['ib', 'nic'], ['gpu'])
    """
    for found in _WORD.findall(_CARD_OF_A_NIC.sub(r"\1 nic", text)):
        name = found.lower()
        if name.startswith("--"):
            yield name
            name = name[2:]
        if _RELEASE.fullmatch(name) or _WITH_RELEASE.match(name):
            yield RELEASE
        yield (plain := plain_word(name))
        if plain in _KINDS:
            yield _KINDS[plain]
        if _OF_DRIVER.fullmatch(name):
            yield "driver"
        if _NAME_OF_NIC.match(name):
            yield "nic"
        if _NAME_OF_GPU.fullmatch(name):
            yield "gpu"
        if _OF_INTERFACE.search(name):
            yield "ifname"
        parts = _PARTS.split(name)
        yield from (plain_word(part) for part in (parts if len(parts) > 1 else ()) if part and not part.isdigit())
        for part in _PARTS.split(found):
            yield from _parts_of_a_class(part)


def _parts_of_a_class(name: str) -> Iterator[str]:
    """The words of the name of a class; none of an exception, whose last word tells of any fault.

    >>> list(_parts_of_a_class("IterableDataset")), list(_parts_of_a_class("TimeoutError"))
    (['iterabl', 'dataset'], [])
    """
    parts = _CAPITALIZED.findall(name)
    if len(parts) > 1 and "".join(parts) == name and not _OF_EXCEPTION.search(name):
        yield from map(plain_word, parts)


@cache
def terms() -> tuple[Term, ...]:
    """The terms of all causes, in the order of the table."""
    rows = resources.catalog_table(FILE)
    return tuple(_term(row["cause"], row["role"], text.strip()) for row in rows for text in row["terms"].split(";"))


def _term(cause: str, role: str, text: str) -> Term:
    """A term of the table from its text."""
    shown = " ".join(part for part in text.split() if not part.startswith("!"))
    without = frozenset(word for part in text.split() if part.startswith("!") for word in words_of(part[1:]))
    words = {shown.lower()} if shown.startswith("--") else set(words_of(shown))
    return Term(cause, role, shown, frozenset(words | ({RELEASE} if RELEASE in shown else set())), without)


@cache
def _places_by_word() -> dict[str, tuple[int, ...]]:
    """The positions of terms, indexed by the rarest word of each term."""
    counts = Counter(word for each in terms() for word in each.words)
    found: dict[str, list[int]] = {}
    for place, each in enumerate(terms()):
        found.setdefault(min(each.words, key=lambda word: (counts[word], word)), []).append(place)
    return {word: tuple(places) for word, places in found.items()}


@cache
def weights() -> dict[Term, float]:
    """The weight of every term, by its role, its words and its rarity: the logarithm of the number of causes divided by
    the number of causes that have a term with all of its words.
    """
    places: dict[str, set[int]] = {}
    for place, each in enumerate(terms()):
        for word in each.words:
            places.setdefault(word, set()).add(place)
    having = {words: set.intersection(*map(places.__getitem__, words)) for words in {each.words for each in terms()}}
    counts = {words: len({terms()[place].cause for place in found}) for words, found in having.items()}
    causes = len({each.cause for each in terms()})
    return {each: _weight(each, math.log(causes / counts[each.words])) for each in terms()}


def _weight(term: Term, rarity: float) -> float:
    """The weight of a term of a given rarity."""
    return ROLES[term.role] * rarity * min(1 + PER_WORD * (len(term.words) - 1), MOST_PER_WORDS)


def terms_in(text: str) -> tuple[FoundTerm, ...]:
    """The terms of causes in the clauses of a text, each at its first place; only the ends of a long text are read."""
    found: dict[int, FoundTerm] = {}
    seen = set[frozenset[str]]()
    titled = has_title(text)
    for number, clause, written in _clauses(text):
        places_of_words = _places_of_words(clause)
        words = frozenset(places_of_words)
        if words in seen:
            continue
        seen.add(words)
        denied = _DENIED.search(clause) is not None
        launched = is_command(clause)
        for place in _places_in(words):
            if (written or terms()[place].role not in _OF_PEOPLE) and are_near(terms()[place].words, places_of_words):
                found.setdefault(place, FoundTerm(terms()[place], number, denied, launched, titled and number == 1))
    return tuple(found.values())


def is_command(line: str) -> bool:
    """Whether a line is a command that launches a run, or one of its options: their words are often of no consequence.

    >>> is_command("mpirun -np 16 --bind-to core ./test"), is_command("We bind ranks to cores.")
    (True, False)
    """
    return _COMMAND.match(line) is not None


def words_in_clauses(text: str) -> Iterator[dict[str, list[int]]]:
    """The plain words of each clause of a text that is read, each with its places among the words of the clause."""
    return (_places_of_words(clause) for _, clause, _ in _clauses(text))


def _places_of_words(clause: str) -> dict[str, list[int]]:
    """The plain words of a clause, each with its places among the words of the clause."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(_WORD.findall(clause)):
        for word in words_of(name):
            found.setdefault(word, []).append(place)
    return found


def are_near(words: frozenset[str], places: Mapping[str, Sequence[int]]) -> bool:
    """Whether all words of a term are within `NEAR_WORDS` words of a clause for each of them, counted from the rarest
    word of the clause, of equally rare ones the first by the alphabet.

    >>> are_near(frozenset({"new", "gpu"}), {"new": [4], "gpu": [0, 5]})
    True
    >>> are_near(frozenset({"new", "gpu"}), {"new": [4], "gpu": [40]})
    False
    >>> are_near(frozenset("abc"), {"a": [0], "b": [2 * NEAR_WORDS], "c": [4 * NEAR_WORDS]})
    False
    >>> are_near(frozenset("abc"), {"b": [0], "a": [2 * NEAR_WORDS], "c": [4 * NEAR_WORDS]})
    True
    """
    if len(words) == 1:
        return True
    widest = NEAR_WORDS * len(words)
    first, *others = (places[word] for word in sorted(words, key=lambda word: (len(places[word]), word)))
    return any(all(any(abs(place - at) <= widest for place in other) for other in others) for at in first)


def _places_in(words: frozenset[str]) -> Iterable[int]:
    """The places of the terms that a clause with these words has."""
    known = _places_by_word()
    places = (place for word in sorted(words & known.keys()) for place in known[word])
    return (place for place in places if terms()[place].words <= words and not terms()[place].without & words)


def _clauses(text: str) -> Iterator[tuple[int, str, bool]]:
    """The clauses of the lines of a text that are read, each with its line, and whether a person may have written it;
    none of lists that any machine prints.
    """
    last = len(text) - MOST_READ // 2
    at = 0
    for number, line in enumerate(lines_of(text), 1):
        read = line[:WIDEST] if at < MOST_READ // 2 or at >= last else ""
        if read.strip() and not any(each(read) for each in (_ENVIRONMENT.match, _LISTED.match, is_of_a_form)):
            written = not is_logged(read)
            read = _ADDRESS.sub("", read) if written else read
            read = _CARD_OF_A_NIC.sub(r"\1 nic", _RELEASE_OF_ERROR.sub("", read))
            clauses = (clause for clause in _CLAUSE.split(read) if clause and not _OWN_RELEASES.fullmatch(clause))
            yield from ((number, with_english_words(clause), written) for clause in clauses)
        at += len(line) + 1
