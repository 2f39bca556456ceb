"""Lines of errors of any program that suggest a cause by common words, where no line of a known program states one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from clusterspec.logs.statements.common_words import EVENTS, SUGGESTIONS, SYSTEM_ERRORS
from clusterspec.logs.statements.general_words import GENERAL
from clusterspec.logs.statements.host_lines import causes_of_writer
from clusterspec.logs.statements.last_lines import LONGEST, MOST_LINES, REPORTS, cause_in_last_lines
from clusterspec.logs.statements.object_words import APART, OBJECTS, OF_A_PROGRAM, PLACE
from clusterspec.logs.statements.quiet_lines import is_outlived, is_quiet
from clusterspec.logs.statements.raising_frames import OPERATIONS
from clusterspec.logs.statements.reporting_parts import causes_of_part
from clusterspec.logs.statements.required_words import required_words
from clusterspec.logs.text_lines import line_at, lines_of, shown_line
from clusterspec.standard import pattern

_ERROR = re.compile(
    r"(?<!['\"=])\b(?:[Ee]rrors?|ERROR|\w{1,40}Error|\w{0,40}Exception(?=: )"
    r"|[Ff]ail(?:ed|ure|s)?|FAILED|FAIL(?=: )|[Ff]atal|FATAL|[Aa]bort(?:ed|ing)?|[Pp]anic"
    r"|[Ee]xiting|[Uu]ndefined|(?:[Gg]ot|[Cc]aught|[Rr]aised) (?:an? )?exception)\b"
    r"|^[^:]{1,160}: (?:.{0,300}?\b)?(?:[Cc]ould(?: ?not|n't)|[Cc]annot|[Cc]an(?:'t| not)|[Uu]nable|[Ii]nsufficient)\b"
    r"|(?:^|\s)[EF] {1,8}(?:[0-9]{1,9} )?(?:external/)?[\w./-]{1,160}\.(?:cc|h):[0-9]{1,6}\]"
    r"|^[EF][0-9]{4} [0-9:]{8}\.[0-9]{3,6} {1,8}(?:[0-9]{1,9} ){1,2}[\w./-]{1,120}:[0-9]{1,6}\]"  # glog, klog
    r"|_STATUS_(?!SUCCESS)[A-Z_]{3,40}\b|: [0-9]{1,6}: [\w.+-]{1,60}: not found$"
    r"|: (?:unbound variable|parameter (?:null or )?not set)\s{0,8}$"
    r"|\bwhat\(\): {1,4}\S"  # the text of an exception of C++ that nothing catches (libstdc++, vterminate.cc)
)
"""Words by which a line reports an error."""
_OF_ERRORS = (
    "rror",
    "xception: ",
    "ail",
    "atal",
    "bort",
    "anic",
    "xiting",
    "ndefined",
    "ould not",
    "ouldn't",
    "annot",
    "an't",
    "nable",
    "nsufficient",
    " exception",
    ": not found",
    ": unbound variable",
    ": parameter n",
    "ERROR",
    "FAIL",
    "FATAL",
    ".cpp:",
    ".cc:",
    ".go:",
    "what(): ",
)
"""Parts of words; each of those words has one."""
_BY_THEMSELVES = (*SYSTEM_ERRORS, *EVENTS)
_KERNEL = re.compile(
    r"^\s{0,4}(?:[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8} \S{1,80} kernel: )?\[ {0,8}[0-9]{1,9}\.[0-9]{1,6}\] .{0,300}?"
    r"\b(?:time-?outs?|timed[ -]out|hung|not responding|unsupported|not supported)\b"
)
"""A line of the kernel about a device that does not answer, or that its driver does not take."""
_OF_KERNEL = ("imeout", "ime-out", "imed out", "imed-out", "hung", "not respond", "unsupported", "not supported")
_OF_LINES = (*_OF_ERRORS, "WARN", "UCX", *_BY_THEMSELVES, *_OF_KERNEL)
"""A line with an error has one of these words: words of errors, words that libraries print before their errors, errors
that need no such word, and words of kernels.
"""
_LOUD = re.compile(r"\bN?CCL WARN\b|\bCCOM WARN\b|\.(?:cc|cpp|cu|h):[0-9]{1,6} WARN\b|\bUCX {1,4}(?:ERROR|FATAL)\b")
"""What libraries print before each of their errors, which they call warnings."""
_SETTING = re.compile(r"\b(?:NCCL|RCCL|UCX|NVSHMEM|OMPI_MCA|HSA|FI)_[A-Z_]{3,40}\b")
"""Environment variables that a warning of a library names."""
_STATUS = r"\b(?:(?:Xla|Jax)RuntimeError|RpcError|RuntimeError|\bstatus): (?:[^:\n]{0,80}: )?"
"""How an exception of XLA, of gRPC or of PyTorch/XLA begins that has a status."""
FAMILIES = (
    ("system-call", r"(?:unhandled|unhanled) system error|\bncclSystemError\b"),
    ("device-call", r"unhandled (?:cuda|hip) error|\bncclUnhandledCudaError\b"),
    ("arguments", r"\bncclInvalidUsage\b|\bNCCL error .{1,160}, invalid usage"),
    ("argument", r"\bncclInvalidArgument\b"),
    ("remote", r"\bncclRemoteError\b|remote process exited or there was a network error"),
    ("timeout", r"Watchdog caught collective operation timeout"),
    ("exhausted", rf"{_STATUS}RESOURCE_EXHAUSTED\b"),
    ("precondition", rf"{_STATUS}FAILED_PRECONDITION\b"),
    ("unimplemented", rf"{_STATUS}UNIMPLEMENTED\b"),
    ("misfit", r"\b(?:(?:Xla|Jax)RuntimeError|status): (?:[^:\n]{0,80}: )?INVALID_ARGUMENT\b"),
    ("unavailable", rf"{_STATUS}UNAVAILABLE\b"),
    ("internal", rf"{_STATUS}INTERNAL\b"),
)
"""Families of causes and the lines that state one without the cause, by the results of NCCL (`src/nccl.h.in`), the
watchdog of PyTorch (`ProcessGroupNCCL.cpp`) and the statuses of XLA and gRPC (abseil-cpp, `absl/status/status.h`).
"""
OF_OTHERS = ("remote", "timeout", "unavailable")
"""Families of messages that a rank prints after another one ended; the exception of that rank may be in the same log.
"""
_COMPILED_FAMILIES = tuple((family, pattern(words)) for family, words in FAMILIES)
_FAMILY_WORDS: tuple[str, ...] = (
    "system error",
    "unhandled",
    "invalid usage",
    "network error",
    "Watchdog caught",
    "ncclSystemError",
    "ncclUnhandledCudaError",
    "ncclInvalidUsage",
    "ncclInvalidArgument",
    "ncclRemoteError",
    "RuntimeError: ",
    "RpcError: ",
    "status: ",
)
"""Words: a text with a line of a family has at least one of them."""
_NO_PLUGIN = ("Could not find: libnccl-net.so", "NET/Plugin : No plugin found", "NET/Plugin: No plugin found")
_PLUGIN = ("NCCL INFO Plugin Path : ", "NCCL INFO NET/Plugin: Loaded net plugin ")
"""The lines of a rank that finds no network plugin, and of a rank that loads one (NCCL, `src/plugin/plugin_open.cc`).
"""
OF_EXCEPTIONS = frozenset(
    {
        f"family {each}"
        for each in (
            "program",
            "installed",
            "library",
            "settings",
            "registry",
            "key",
            "asserted",
            "computed",
            *OPERATIONS,
        )
    }
)
"""The statements of families that an exception or an assertion has."""
_QUOTED_REASON = re.compile(r"\berror '[^']{20,600}'")
"""The reason that an error message quotes."""
_COMPILED = tuple((cause, pattern(words)) for cause, words in (*SUGGESTIONS, *GENERAL))
_OBJECTS = tuple(
    (cause, pattern(thing, re.IGNORECASE), pattern(event, re.IGNORECASE)) for cause, thing, event in OBJECTS
)
_OF_A_PROGRAM, _PLACE = re.compile(OF_A_PROGRAM), re.compile(PLACE)
_DIGITS = re.compile(r"[0-9]+")
_CHAINED = re.compile(
    r"^(?:(?!\. |\(|; |\b(?:[Pp]lease|[Ss]ee|[Tt]ry|[Cc]heck|[Ii]f|[Hh]int|[Ss]olution)\b).)*: (?:(?!\. ).)*$"
)
"""Words that may come between what failed and its reason: a colon, and no word of a hint and no end of a sentence."""
_WRITER = re.compile(
    r"^\s*(?:\S{1,40} {1,4}\| )?(?:\(\w{1,40}(?: [\w=.:,]{1,60}){0,4}\) )|\bError response from daemon: "
    r"|^(?:\[[^\]]{1,60}\] ?|[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8} \S{1,80} )?[\w-]{2,40}(?:\[[0-9]{1,9}\])?:"
    r" (?:[Ee]rror|[Ff]atal|ERROR|FATAL): "
)
"""The name of the process that wrote a line, which is no object of its error."""
MOST_CHARACTERS = 400_000
"""Characters of these that are searched for common words, which takes most of the time: 1 s."""
MOST_UNLISTED = 500
"""The first of these without other words that are compared with objects and what happened to them."""


def _tells_error(line: str) -> bool:
    """Whether a line reports an error that ends a program; a search for a word is faster than one for a pattern."""
    if ("WARN" in line or "UCX" in line) and _LOUD.search(line):
        return not is_outlived(line)
    told = any(word in line for word in _BY_THEMSELVES)
    if not told and any(word in line for word in _OF_KERNEL) and _KERNEL.search(line) and causes_of_part(line):
        return not is_quiet(line)
    if not told and (not any(word in line for word in _OF_ERRORS) or not _ERROR.search(line)):
        return False
    return not is_quiet(line)


def suggested_causes(text: str) -> Iterator[tuple[str, str, int]]:
    """The causes that each different line of an error suggests, with the line: the first line of each cause.

    Its words are more specific than the part that reports it.
    """
    present = [word for word in _OF_LINES if word in text]
    seen: set[str] = set()
    same: set[str] = set()
    causes: set[str] = set()
    unlisted = searched = 0
    messages = tuple(_wrapped_messages(text))
    wrapped = {number for number, _ in messages}
    lines = chain(messages, enumerate(lines_of(text), 1))
    for number, line in lines if present or messages else ():
        if not line or line in same:
            continue
        if len(same) < MOST_LINES:
            same.add(line)
        shown = line[:LONGEST]
        if not any(word in shown for word in present) and number not in wrapped:
            continue
        form = _DIGITS.sub("0", shown)
        if form in seen:
            continue
        if len(seen) >= MOST_LINES:
            return
        seen.add(form)
        told = _tells_error(shown) or (number in wrapped and _REFUSAL.search(shown) and not _NOTE.search(shown))
        if not told or (REPORTS.search(shown) and not _QUOTED_REASON.search(shown)):
            continue
        searched += len(shown)
        if searched > MOST_CHARACTERS:
            return
        found = _causes_of_words(shown)
        if not found and unlisted < MOST_UNLISTED:
            unlisted += 1
            found = _causes_of_object(shown)
        for cause in causes_of_writer(shown, found):
            if cause not in causes:
                causes.add(cause)
                yield cause, shown_line(shown), number


_BLOCK = re.compile(r"^[^\w\n-]{0,60}-{20,200}\n((?:(?![^\w\n-]{0,60}-{20}).{0,200}\n){1,16})", re.MULTILINE)
"""A message of a launcher between two rules, whose sentences are wrapped over lines."""
_REFUSAL = re.compile(
    r"\b(?:not|non-?existent|invalid|unsupported|missing|cannot|unrecognized|contradict\w{0,4}|improperly"
    r"|conflicting|mutually|malformed|incorrect|more than once)\b"
)
_NOTE = re.compile(r"\bNOTE\b|\bNote\b|\bINFO\b|WARN")
"""Words of a refusal without a word for an error, and words that make such a message only a note."""
MOST_BLOCKS = 50
"""Largest number of messages that are read."""


def _wrapped_messages(text: str) -> Iterator[tuple[int, str]]:
    """The first paragraph of each message of a launcher as one line, where it has several, with its first line."""
    for match in islice(_BLOCK.finditer(text) if "-" * 20 in text else (), MOST_BLOCKS):
        paragraph = match[1].strip("\n").partition("\n\n")[0]
        if "\n" in paragraph:
            yield line_at(text, match.start(1)), " ".join(paragraph.split())


def _causes_of_words(line: str) -> tuple[str, ...]:
    """The cause of the common words of an error, or the causes of the part that reports it.

    Programs put what failed before the reason, with a colon between them: "pull of image a failed: lookup of b: no such
    host". If a colon separates two matches, the later match is the cause, unless the words after the colon are a hint.

    >>> _causes_of_words("Unable to initialize backend 'tpu': libtpu.so: cannot open shared object file")
    ('library-release',)
    """
    found, end = "", 0
    line = line.replace('\\"', '"')  # as logs of services in JSON quote
    for cause, words in _COMPILED:
        match = words.search(line)
        if match is None:
            continue
        if not found or (match.start() > end and _CHAINED.search(line[end : match.start()])):
            found, end = cause, match.end()
    if found:
        return (found,)
    if _LOUD.search(line) and _SETTING.search(line):
        return ("invalid-setting",)
    return causes_of_part(line)


def _causes_of_object(line: str) -> tuple[str, ...]:
    """The causes from an object and its fault in a line that reports an error; none without such a pair.

    >>> _causes_of_object("error: file system /scratch is offline")
    ('storage-fault',)
    >>> _causes_of_object("KeyError: 'disk full'")
    ()
    """
    if _OF_A_PROGRAM.search(line):
        return ()
    line = _PLACE.sub("", _WRITER.sub("", line))
    for cause, thing, event in _OBJECTS:
        objects = [match.span() for match in thing.finditer(line)]
        events = [match.span() for match in event.finditer(line)] if objects else []
        if any(max(a, c) - min(b, d) <= APART for a, b in objects for c, d in events):
            return tuple(cause.split())
    return ()


def stated_families(text: str) -> Iterator[tuple[str, str, int]]:
    """The families that lines state, each with its first line; else a start as the last line, or the last exception."""
    found = False
    stated = any(word in text for word in _FAMILY_WORDS)
    for family, words in _COMPILED_FAMILIES if stated else ():
        first = _first_line_with(words, text)
        if first is not None:
            found = found or family not in OF_OTHERS
            stated_line = text[first : first + LONGEST].split("\n", 1)[0]
            yield family, shown_line(stated_line), line_at(text, first)
    if "NCCL INFO" in text:
        yield from _plugins_of_some_hosts(text)
    if not found:
        yield from cause_in_last_lines(text.rstrip().split("\n"))


def _first_line_with(words_of_line: re.Pattern[str], text: str) -> int | None:
    """Where the first line begins that a pattern matches, among the first `MOST_LINES` with a word that it requires."""
    places = []
    for word in required_words(words_of_line):
        at = text.find(word)
        for _ in range(MOST_LINES):
            if at < 0:
                break
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = len(text) if end < 0 else end
            if words_of_line.search(text[start:end]):
                places.append(start)
                break
            at = text.find(word, end)
    return min(places, default=None)


def _plugins_of_some_hosts(text: str) -> Iterator[tuple[str, str, int]]:
    """A host without the plugin of the network that other hosts load, with the line that says so."""
    absent: dict[str, int] = {}
    loaded: set[str] = set()
    for number, line in enumerate(lines_of(text), 1):
        if "NCCL INFO" not in line or "lugin" not in line:
            continue
        host = line.partition(" NCCL INFO")[0].rsplit(":", 2)[0].rpartition(" ")[2]
        if any(words in line for words in _NO_PLUGIN):
            absent.setdefault(host, number)
        elif any(words in line for words in _PLUGIN):
            loaded.add(host)
    without = [host for host in absent if host not in loaded]
    if without and loaded:
        yield "plugins", f"{without[0]} finds no plugin of the network, and {min(loaded)} loads one", absent[without[0]]
