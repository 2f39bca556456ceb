"""Stacks of native code that a debugger or a signal handler prints of a process that crashed.

The frames next to the crash name the library or the file in which it happened. A stack of a waiting process says
nothing about a crash, and is not read as one.
"""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.logs.text_lines import lines_of

STACK = "stack "
"""The prefix of the names of these statements; the part follows."""
_FRAME = re.compile(
    r"^\s{0,8}#[0-9]{1,3}\s{1,4}(?:0x[0-9a-f]{4,16} in )?(?P<function>[^(\n]{1,160}?) ?\((?P<rest>.{0,600}?)$"
)
_CRASH = re.compile(
    r"\bcrash\w{0,3}\b|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b|[Ss]egmentation fault|\bcore[ -]dump|\bsegfault|\bcore file\b",
    re.IGNORECASE,
)
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
    >>> crashed_part("It waits in\\n#0  0x00007f in nccl_p2p_ib_init (n=1) at p2p_plugin.c:315")
    """
    if "#0 " not in text or not _CRASH.search(text):
        return None
    frames = ((number, _FRAME.match(line)) for number, line in enumerate(lines_of(text), 1) if "#" in line[:12])
    for number, frame in islice(((number, frame) for number, frame in frames if frame), NEAREST):
        for part, words in PARTS:
            if re.search(words, f"{frame['function']} {frame['rest']}"):
                return f"{STACK}{part}", frame["function"].strip(), number
    return None
