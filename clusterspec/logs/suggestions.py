"""Lines of errors of any program that suggest a cause by common words, where no line of a known program states one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ERROR = re.compile(
    r"\b(?:[Ee]rrors?|ERROR|\w{1,40}Error|[Ff]ail(?:ed|ure|s)?|FAILED|[Ff]atal|FATAL|[Aa]bort(?:ed|ing)?)\b"
)
"""Words by which a line tells of an error."""
_QUIET = re.compile(
    r"\b(?:DEBUG|INFO|WARN(?:ING)?|[Nn]o errors?|0 errors?|[Cc]orrect(?:able|ed))\b|\b[Ee]rrors?[:= ]{1,3}0\b"
)
"""Words by which a line with one of those tells of none, or of one that the program outlives."""
SUGGESTIONS = (
    ("shared-memory", r"/dev/shm|shared memory"),
    ("locked-memory", r"locked memory|memlock|MEMLOCK"),
    ("storage-full", r"[Nn]o space left|[Qq]uota exceeded|[Dd]isk (?:is )?full"),
    ("storage-fault", r"[Ii]nput/output error|[Ss]tale (?:NFS )?file|[Rr]ead-only file system"),
    ("kv-cache-full", r"KV cache.{0,60}(?:not enough|insufficient|too small|exceed|larger)"),
    ("memory-full", r"(?:GPU|CUDA|HIP|NPU|XPU|HBM|device|accelerator).{0,60}(?:[Oo]ut of memory|OOM\b|OutOfMemory)"),
    ("host-memory-full", r"[Cc]annot allocate memory|[Oo]ut of memory|\bOOM\b"),
    ("file-limit", r"[Tt]oo many open files"),
    ("process-limit", r"[Rr]esource temporarily unavailable"),
    ("port-in-use", r"[Aa]ddress (?:is )?(?:already )?in use|\b[Pp]ort .{0,30}(?:in use|occupied|already bound)"),
    ("name-resolution", r"(?:not|n't|to) resolve|[Uu]nknown host|name resolution|[Nn]ame or service"),
    ("unstable-link", r"\b(?:[Ll]ink|[Pp]ort)s? (?:is |are |went )?(?:down|DOWN)\b"),
    ("unreachable-peer", r"[Cc]onnection (?:refused|timed out)|[Nn]o route to host|unreachable|\bGIDs?\b"),
    ("peer-access-off", r"peer.access"),
    ("gpudirect-refused", r"GPU ?[Dd]irect|\bGDR\b|peer_?mem\b|[Dd]ma-?buf"),
    ("fabric-manager", r"[Ff]abric ?[Mm]anager|NVSwitch|\bIMEX\b"),
    ("accelerator-fault", r"[Uu]ncorrectable|\bECC\b|[Hh]ardware error|\bXid\b|reset the (?:board|device|GPU)"),
    ("driver-release", r"(?:[Dd]river|CUDA).{0,60}(?:too old|insufficient|older than|upgrade|does not support CUDA)"),
    ("unsupported-accelerator", r"(?:not support|unsupport).{0,60}(?:GPU|device|architecture|capability|gfx|\bsm_?\d)"),
    (
        "missing-accelerator",
        r"\b[Nn]o .{0,30}(?:GPU|NPU|device|accelerator)s? .{0,20}(?:found|available|detected|visible)",
    ),
    ("library-release", r"undefined symbol|symbol lookup|cannot open shared object|version mismatch|incompatible"),
    ("invalid-setting", r"environment variable"),
    ("data-loading", r"[Dd]ata ?[Ll]oader.{0,60}tim"),
    ("program-fault", r"[Ss]egmentation fault|SIGSEGV|[Ii]llegal (?:memory|instruction|address)"),
    ("peer-ended", r"\b(?:[Ww]orker|[Rr]ank|[Pp]eer|[Nn]ode|[Aa]ctor)s?\b.{0,40}\b(?:died|crashed|lost|killed|dead)\b"),
)
"""Causes and the common words of their errors, the more specific before the more common."""
_COMPILED = tuple((cause, re.compile(words)) for cause, words in SUGGESTIONS)
_DIGITS = re.compile(r"[0-9]+")
LONGEST = 1_000
"""Characters of a line that is read for common words."""
MOST_LINES = 20_000
"""Different lines of errors that are read."""


def suggested_causes(text: str) -> Iterator[tuple[str, str, int]]:
    """The cause that each different line of an error suggests, with the line: the first line of each cause."""
    seen: set[str] = set()
    causes: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        shown = line[:LONGEST]
        if not _ERROR.search(shown) or _QUIET.search(shown):
            continue
        form = _DIGITS.sub("0", shown)
        if form in seen or len(seen) >= MOST_LINES:
            continue
        seen.add(form)
        cause = next((cause for cause, words in _COMPILED if words.search(shown)), None)
        if cause and cause not in causes:
            causes.add(cause)
            yield cause, shown.strip()[:160], number
