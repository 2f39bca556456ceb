"""The statements of a log: statements of single lines, each found by words that its pattern requires, and statements of
several lines together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

from clusterspec.logs.benchmarks.benchmark import Evidence
from clusterspec.logs.benchmarks.nccl_lines import NCCL_PATTERNS
from clusterspec.logs.benchmarks.pair_faults import pair_statements
from clusterspec.logs.reports.scopes import scope_statements
from clusterspec.logs.reports.slow_symptoms import symptom_statements
from clusterspec.logs.reports.stated_reasons import reason_statements
from clusterspec.logs.reports.told_rates import rate_statements
from clusterspec.logs.reports.trials import trial_statements
from clusterspec.logs.reports.unlike_hosts import unlike_statements
from clusterspec.logs.reports.unlike_ranks import uneven_statements
from clusterspec.logs.statements.announced_addresses import doubled_route, unannounced_address
from clusterspec.logs.statements.build_lines import BUILD_PATTERNS
from clusterspec.logs.statements.catalogued_messages import MESSAGE, xid_patterns
from clusterspec.logs.statements.device_memory import memory_before_start, memory_of_others
from clusterspec.logs.statements.engine_lines import ENGINE_PATTERNS
from clusterspec.logs.statements.engine_load import starved_engine
from clusterspec.logs.statements.exit_lines import EXIT_PATTERNS
from clusterspec.logs.statements.fact_lines import FACT_PATTERNS
from clusterspec.logs.statements.failing_nics import failing_nic
from clusterspec.logs.statements.failure_lines import FAILURE_PATTERNS
from clusterspec.logs.statements.framework_lines import FRAMEWORK_PATTERNS
from clusterspec.logs.statements.host_lines import direct_paths, paths_over_pcie, unlike_links
from clusterspec.logs.statements.launcher_lines import launcher_statements
from clusterspec.logs.statements.library_lines import LIBRARY_PATTERNS
from clusterspec.logs.statements.link_reasons import link_patterns
from clusterspec.logs.statements.machine_figures import figure_statements
from clusterspec.logs.statements.message_index import (
    FEW,
    entries,
    entries_of_line,
    places_by_word,
    possible_entries,
    statement_of_entry,
)
from clusterspec.logs.statements.native_frames import crashed_part
from clusterspec.logs.statements.platform_lines import PLATFORM_PATTERNS
from clusterspec.logs.statements.program_lines import PROGRAM_PATTERNS
from clusterspec.logs.statements.progress import (
    diverging_ranks,
    parted_ranks,
    preparing_ranks,
    renamed_address,
    store_wait,
    waiting_ranks,
)
from clusterspec.logs.statements.refused_calls import CALL_WORDS, LONGEST, refused_call
from clusterspec.logs.statements.required_words import required_words
from clusterspec.logs.statements.shared_devices import ranks_on_one_device
from clusterspec.logs.statements.shared_memory_sizes import ample_shared_memory
from clusterspec.logs.statements.step_values import average_wait_for_data, lasting_non_finite, waiting_for_data
from clusterspec.logs.statements.tool_facts import (
    called_option,
    low_limit,
    old_driver,
    refused_registration,
    scarce_devices,
)
from clusterspec.logs.statements.unseen_devices import unseen_by_program, unseen_device
from clusterspec.logs.statements.waiting_frames import waiting_statements
from clusterspec.logs.text_lines import line_at, lines_of, shown_part, with_digits_as_zero
from clusterspec.records import NamedTuple

Stated = tuple[str, str, int]
"""A statement: its name, its text and its line."""
_LINES = (
    *NCCL_PATTERNS,
    *PROGRAM_PATTERNS,
    *FAILURE_PATTERNS,
    *LIBRARY_PATTERNS,
    *PLATFORM_PATTERNS,
    *FRAMEWORK_PATTERNS,
    *ENGINE_PATTERNS,
    *BUILD_PATTERNS,
    *EXIT_PATTERNS,
    *FACT_PATTERNS,
)
_CALL = -1
"""The place of refused calls among the patterns."""
_UNLIKE = re.compile(
    r"nranks|nNodes|(?:INFO|-) CPU/|: Xid "
)  # lines that differ by their digits alone, and are all read
_QUOTED = re.compile(r"\bLast error:\s*$")
"""What PyTorch prints on the line before the library's last warning, which it quotes without its prefix."""
_DIGITS = re.compile(r"[0-9]+")
_OF_NO_FAULT = (" sshd[", "NCCL DIAG [OK]")
"""Words of lines that do not concern a run: attempts to log in on a host, and checks that a diagnosis of NCCL passed.
"""
MOST_FORMS = 50_000
"""Different lines that are remembered, digits aside."""
WIDEST = 8_000
"""Characters of a line that is read."""
_OPEN = re.compile(
    r"(?:\b(?:[Cc]onnect|failed|error|with)|:[0-9]{1,5}\] connect|[(]|\b[A-Z]\w{1,60}(?:Error|Exception): ?)\s*$"
)
"""How a line ends whose statement the next line goes on with, as exceptions and helps of MPI are wrapped."""
_FILE_CALL = re.compile(r"\b(?:os|shutil)\.\w{3,9}\(")
"""A line of a traceback by a call of the system, whose exception the next line names."""
_OPEN_ENDS = ("onnect", "failed", "error", "with", "(", "Error:", "Exception:")
"""The last characters of a line that `_OPEN` may match: a look at them is faster."""
MOST_CONTINUED = 200
"""Wrapped lines that are joined."""
MOST_OPEN = 10_000
"""Largest number of lines that may go on with the next one."""
MOST_TRIED = 10_000
"""Number of different lines with one word that are searched for its patterns; later lines only repeat the first ones.
"""
Words = dict[str, tuple[int, ...]]
"""Words, each with the positions of the patterns that require it or an alternative to it. The messages of the catalog
have the places after the patterns.
"""


@cache
def statement_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The names of statements and the patterns of their lines."""
    return (*_LINES, *xid_patterns(), *link_patterns())


@cache
def _patterns_of_words() -> Words:
    """Every word that patterns require, with their places. An empty word is in every line."""
    found: dict[str, list[int]] = {word: [_CALL] for word in CALL_WORDS}
    for place, (_, pattern) in enumerate(statement_patterns()):
        for word in required_words(pattern) or {""}:
            found.setdefault(word, []).append(place)
    return {word: tuple(places) for word, places in found.items()}


@cache
def _forms_of_words() -> dict[str, str]:
    """Every word that patterns require, with its form in lines whose digits are zeros."""
    return {word: with_digits_as_zero(word) for word in _patterns_of_words()}


@cache
def _order_of_words() -> dict[str, int]:
    """Every word that patterns require, with its place among them."""
    return {word: place for place, word in enumerate(_patterns_of_words())}


def _character_triples(text: str) -> set[str]:
    """Every three characters that follow each other in a text."""
    return {text[start : start + 3] for start in range(len(text) - 2)}


@cache
def _words_by_triple() -> dict[str, tuple[tuple[str, str, frozenset[str]], ...]]:
    """The words that patterns require, each with its form and the triples of the form, by the triple that the fewest
    words have; words of fewer than three characters by an empty text.
    """
    triples = {word: frozenset(_character_triples(form)) for word, form in _forms_of_words().items()}
    counts = Counter(triple for some in triples.values() for triple in some)
    found: dict[str, list[tuple[str, str, frozenset[str]]]] = {}
    for word, form in _forms_of_words().items():
        rarest = min(triples[word], key=lambda triple: (counts[triple], triple), default="")
        found.setdefault(rarest, []).append((word, form, triples[word]))
    return {triple: tuple(words) for triple, words in found.items()}


def required_words_in(forms: str) -> set[str]:
    """The words that patterns require whose forms are in a text.

    The text is searched only for words whose character triples it all has; a search for every word takes ten times as
    long on large logs.
    """
    present, known = _character_triples(forms), _words_by_triple()
    listed = (one for triple in (known.keys() & present) | {""} for one in known.get(triple, ()))
    return {word for word, form, triples in listed if triples <= present and form in forms}


class Search(NamedTuple):
    """What a log is searched for: words with the places of patterns and of a few messages that its lines may have, and
    words that stand whole in them, with the places of messages where many are possible.
    """

    words: Words
    whole: Words


def _search_of(text: str) -> Search:
    """The words of patterns and messages that a log may contain: few, for which its lines are then searched.

    If lines differ only in decimal or hexadecimal digits, one of them is searched.
    """
    parts = tuple(_parts_of_forms(text))
    found = {word for forms in parts for word in required_words_in(forms)}
    patterns = _patterns_of_words()
    words = {word: patterns[word] for word in sorted(found, key=_order_of_words().__getitem__)}
    after, listed = len(statement_patterns()), possible_entries(parts)
    many = len(listed) > FEW
    for place in listed:
        entry = entries()[place]
        if not many or not entry.whole:
            words[entry.longest] = (*words.get(entry.longest, ()), after + place)
    return Search(words, places_by_word(listed) if many else {})


def _parts_of_forms(text: str) -> Iterator[str]:
    """The different lines of a text, digits aside, in parts of at most `MOST_FORMS`."""
    forms: set[str] = set()
    for line in lines_of(with_digits_as_zero(text)):
        forms.add(line)
        if len(forms) >= MOST_FORMS:
            yield "\n".join(forms)
            forms = set()
    yield "\n".join(forms)


def line_statements(text: str) -> Iterator[Stated]:
    """The statements of the lines of a log, then of its wrapped lines."""
    search = _search_of(text)
    yield from _statements_of_lines(text, search)
    yield from _continued_statements(text, search)


def _statements_of_lines(text: str, search: Search) -> Iterator[Stated]:
    """The statements of single lines. A word that occurs in `MOST_TRIED` of the lines is removed from the words."""
    words, seen, same = search.words, set[str](), set[str]()
    tried = dict.fromkeys(words, 0)
    before = ""
    for number, read in enumerate(lines_of(text), 1):
        if len(read) > WIDEST or read in same or any(words in read[:200] for words in _OF_NO_FAULT):
            continue
        if len(same) < MOST_FORMS:
            same.add(read)
        quoted, before = "Last error:" in before[-40:] and _QUOTED.search(before), read
        line = f"NCCL WARN {read}" if quoted else read
        present = [word for word in words if word in line]
        places = _places_of(present, line, search)
        if not places:
            continue
        form = _DIGITS.sub("0", line)
        if form in seen and not _UNLIKE.search(line):
            continue  # the same statement of another rank or channel
        if len(seen) < MOST_FORMS:
            seen.add(form)
        yield from _statements_of_line(line, number, places)
        _count_words(present, words, tried)


def _count_words(present: list[str], words: Words, tried: dict[str, int]) -> None:
    """Counts a line for each of its words, and takes those out that enough lines had."""
    for word in present:
        tried[word] += 1
        if tried[word] >= MOST_TRIED:
            del words[word]


def _candidate_places(line: str, search: Search) -> list[int]:
    """The places of the patterns and messages that may match a line."""
    return _places_of([word for word in search.words if word in line], line, search)


def _places_of(present: list[str], line: str, search: Search) -> list[int]:
    """The places of the given words and of the messages that a line may have, in their order."""
    found = {place for word in present for place in search.words[word]}
    if search.whole:
        found |= {len(statement_patterns()) + place for place in entries_of_line(line, search.whole)}
    return sorted(found)


def _statements_of_line(line: str, number: int, places: list[int]) -> Iterator[Stated]:
    patterns = statement_patterns()
    for place in places:
        if place == _CALL:
            continue
        if place >= len(patterns):
            if stated := statement_of_entry(entries()[place - len(patterns)], line):
                yield *stated, number
            continue
        name, pattern = patterns[place]
        if match := pattern.search(line):
            yield name, _shown_groups(match), number
    if places and places[0] == _CALL and (call := refused_call(line)):
        yield *call, number


def _shown_groups(match: re.Match[str]) -> str:
    """The groups of a match, joined by blanks; a single one with a sign where it is cut within a word."""
    groups = [place for place, part in enumerate(match.groups(), 1) if part]
    if len(groups) == 1:
        return shown_part(match.string, *match.span(groups[0]))
    return " ".join(match[place] for place in groups).strip()


def _continued_statements(text: str, search: Search) -> Iterator[Stated]:
    """The statements of wrapped lines, if neither part is a statement by itself."""
    joined = opened = 0
    for number, (line, following) in enumerate(pairwise(lines_of(text)), 1):
        raised = "FileNotFoundError" in following and _FILE_CALL.search(line[:LONGEST])
        if not (line.rstrip().endswith(_OPEN_ENDS) or raised) or len(line) > LONGEST or len(following) > LONGEST:
            continue
        if joined >= MOST_CONTINUED or opened >= MOST_OPEN:
            return
        opened += 1
        if not (raised or _OPEN.search(line[-40:])):
            continue
        whole = f"{line.rstrip()} {following.strip()}"
        if places := _candidate_places(whole, search):
            joined += 1
            parts = {
                name
                for part in (line, following)
                for name, _, _ in _statements_of_line(part, number, _candidate_places(part, search))
            }
            yield from (each for each in _statements_of_line(whole, number, places) if each[0] not in parts)


# All statements of a log

MOST = 2_000
"""Largest number of statements kept of each name; further ones repeat them for other ranks and channels."""

MOST_OF_MESSAGES = 200
"""Largest number of catalogued messages kept for one cause."""


def log_evidence(text: str) -> tuple[Evidence, ...]:
    """The distinct statements of a log, in file order; of one with many lines its `searched_part` is given."""
    found: dict[tuple[str, str], Evidence] = {}
    counts: dict[str, int] = {}
    several = {
        "diverging": diverging_ranks,
        "parted": parted_ranks,
        "waiting": waiting_ranks,
        "preparing": preparing_ranks,
        "reverse-name": renamed_address,
        "store-wait": store_wait,
        "unlike-links": unlike_links,
        "pcie-paths": paths_over_pcie,
        "direct-paths": direct_paths,
        "cache-starved": starved_engine,
        "failing-nic": failing_nic,
        "one-device": ranks_on_one_device,
        "occupied-device": memory_of_others,
        "unseen-device": unseen_device,
        "unseen-by-program": unseen_by_program,
        "occupied-at-start": memory_before_start,
        "non-finite": lasting_non_finite,
        "data-wait": waiting_for_data,
        "data-share": average_wait_for_data,
        "ample-shm": ample_shared_memory,
        "unannounced-address": unannounced_address,
        "doubled-route": doubled_route,
        "called-option": called_option,
        "scarce-devices": scarce_devices,
        "low-memlock": low_limit,
        "old-driver": old_driver,
        "unregistered": refused_registration,
    }
    crashed = [Evidence(*part)] if (part := crashed_part(text)) else []
    joined = (Evidence(name, *stated) for name, read in several.items() if (stated := read(text)))
    of_lines = (*line_statements(text), *launcher_statements(text), *pair_statements(text), *figure_statements(text))
    of_people = (*trial_statements(text), *scope_statements(text), *reason_statements(text))
    compared = (*unlike_statements(text), *waiting_statements(text), *uneven_statements(text), *rate_statements(text))
    lines = (Evidence(*each) for each in (*of_lines, *of_people, *compared, *symptom_statements(text)))
    for each in (*_with_refused_peers(text, lines), *_adapter_of_all_channels(text), *joined, *crashed):
        key = (each.name, each.text)
        most = MOST_OF_MESSAGES if each.name.startswith(MESSAGE) else MOST
        if key not in found and counts.get(each.name, 0) < most:
            found[key] = each
            counts[each.name] = counts.get(each.name, 0) + 1
    return tuple(found.values())


_SHARED_HANDLE = re.compile(r"\bin \w{0,30}[Ii]pc\w{0,30}\b|\b(?:cuda|hip)Ipc[A-Z]\w{2,30}")
"""A function that opens the memory of another process, or the call of the runtime that does."""
FRAMES_BEFORE = 8
"""Lines before an error among which the function that raised it is."""


def _with_refused_peers(text: str, stated: Iterable[Evidence]) -> Iterator[Evidence]:
    """Statements of absent devices as of refused peers, where the memory of another process was opened: the runtime
    says "invalid device" of a handle of a device that it cannot reach. Thread: NVIDIA/TensorRT-LLM pull 17034.
    """
    lines = text.split("\n") if _SHARED_HANDLE.search(text) else []
    for each in stated:
        before = "\n".join(lines[max(0, each.line - 1 - FRAMES_BEFORE) : each.line])
        refused = each.name == "no-device" and _SHARED_HANDLE.search(before)
        yield Evidence("peer-refused", each.text, each.line) if refused else each


_NETWORK_CHANNEL = re.compile(
    r"(?:Channel|Ring) ([0-9]{1,3})(?:/[0-9]+)? : [^\n]{1,80} via NET/(?:IB\w{0,6}|Socket)/([0-9]{1,3})"
)


def _adapter_of_all_channels(text: str) -> Iterator[Evidence]:
    """The adapter that all channels of a log use, where these are several."""
    found = [match.groups() for match in _NETWORK_CHANNEL.finditer(text)]
    if len({channel for channel, _ in found}) > 1 and len({adapter for _, adapter in found}) == 1:
        first = _NETWORK_CHANNEL.search(text)
        assert first is not None
        yield Evidence("only-adapter", found[0][1], line_at(text, first.start()))
