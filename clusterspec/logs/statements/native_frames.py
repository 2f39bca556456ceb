"""Stacks of native code that a debugger or a signal handler prints of a process that crashed.

Debuggers number frames (`#1`), the handler of Open MPI puts the library before the function (`backtrace_symbols(3)`),
and UCX the function before the file (openucx/ucx, `src/ucs/debug/debug.c`). The frames next to the crash name the
library or the file in which it happened. A stack of a waiting process says nothing about a crash (`waiting_frames`).
"""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.logs.text_lines import lines_of

STACK = "stack "
"""The prefix of the names of these statements; the part follows."""
HANDLED = "handled "
"""The prefix for a stack that a handler prints: without a debugger the innermost frames may be missing."""
_FRAME = re.compile(
    r"^\s{0,8}#[0-9]{1,3}\s{1,4}(?:0x[0-9a-f]{4,16} in )?(?P<function>[^(\n]{1,160}?) ?\((?P<rest>.{0,600}?)$"
)
_HANDLED = re.compile(
    r"^\s{0,8}(?:\[[\w.-]{1,80}:[0-9]{1,9}\] )?\[ ?[0-9]{1,3}\] (?:\[[0-9,]{1,9}\]<std\w{3}>: ?)?"
    r"(?P<rest>/[^\s()]{3,300})"
    r"\((?P<function>[^()+]{0,160})(?:\+0x[0-9a-f]{1,16})?\)"
)
_TRACED = re.compile(
    r"^\s{0,8}(?:\[[\w.:-]{1,80}\] ?)?\s{0,4}[0-9]{1,3} {1,4}0x[0-9a-f]{8,16} (?P<function>[\w:~]{1,160})\(.{0,200}?\)"
    r"(?P<rest>.{0,300})$"
)
_FORMS = (_FRAME, _HANDLED, _TRACED)
_STARTS = ("#0 ", "[ 0] ", "[ 1] ", "[0] /", "= backtrace", " 0 0x", " 0  0x")
"""Words of a text with a stack."""
_FIRST = frozenset("#[0123456789")
"""First characters of frames."""
_BUS = re.compile(r"\bSIGBUS\b|[Bb]us error|exitcode: -7\b|[Ss]ignal:? (?:7\b|code: Non-existent physical address)")
"""A signal of memory that is mapped but cannot be provided (signal(7), mmap(2))."""
_CRASH = re.compile(
    r"\bcrash\w{0,3}\b|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b|[Ss]egmentation fault|\bcore[ -]dump|\bsegfault|\bcore file\b",
    re.IGNORECASE,
)
LONGEST = 1_200
"""Characters of a line that is read."""
NEAREST = 6
"""Frames at the top of a stack that may name the part."""
PARTS = (
    (
        "net-plugin",
        r"(?:p2p|ib|ucx|sharp|ofi|net)_plugin\.c|libnccl-net\S{0,20}\.so|nccl_(?:p2p_ib|ofi|rdma_sharp|ucx)_\w{2,40}",
    ),
    ("rdma-library", r"lib(?:mlx5|ibverbs|bnxt_re|efa|rdmacm|irdma|ionic)\S{0,20}\.so|\bibv_\w{3,30}"),
    ("communication-library", r"lib[nr]ccl\S{0,20}\.so|/(?:src/)?transport/\w{2,20}\.cc|\bnccl[A-Z]\w{2,40}"),
    ("accelerator-driver", r"lib(?:cuda|nvidia-ml|nvidia-ptxjitcompiler)\.so|\bcu[A-Z][a-z]\w{2,30}$"),
)
"""Parts and how their frames are named, the more specific before the more common."""


def crashed_part(text: str) -> tuple[str, str, int] | None:
    """The part in whose code a process crashed: the name of the statement, the frame, its line; None without a stack.

    >>> crashed_part("It crashes:\\n#0  0x0000 in ?? ()\\n#1  0x00007f in nccl_p2p_ib_init (n=1) at p2p_plugin.c:315")
    ('stack net-plugin', 'nccl_p2p_ib_init', 3)
    >>> crashed_part("Signal: Bus error (7)\\n[h:7] [ 1] /l/libnccl.so.2(+0x3)[0x7f]")
    ('stack mapped-memory', '/l/libnccl.so.2', 2)
    >>> crashed_part("It waits in\\n#0  0x00007f in nccl_p2p_ib_init (n=1) at p2p_plugin.c:315")
    """
    if not any(start in text for start in _STARTS) or not (_CRASH.search(text) or _BUS.search(text)):
        return None
    lines = ((number, line) for number, line in enumerate(lines_of(text), 1) if len(line) <= LONGEST)
    frames = ((number, _frame_of(line)) for number, line in lines if line.lstrip()[:1] in _FIRST)
    for number, frame in islice(((number, frame) for number, frame in frames if frame), NEAREST):
        for part, words in PARTS:
            if re.search(words, f"{frame['function']} {frame['rest']}"):
                mapped = part == "communication-library" and _BUS.search(text)
                name = f"{STACK if frame.re is _FRAME else HANDLED}{part}"
                shown = frame["function"].strip() or frame["rest"]
                return f"{STACK}mapped-memory" if mapped else name, shown, number
    return None


def _frame_of(line: str) -> re.Match[str] | None:
    """The frame of a line, in the form of a debugger or of a handler; None of another line."""
    return next((match for form in _FORMS if (match := form.match(line))), None)
