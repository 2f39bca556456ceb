"""Facts that several lines of tools state together: an option that a called program lacks, accelerators that Ray has
and is asked for, a limit that a shell was asked for, memory that NIXL does not register, and a driver that is older
than the CUDA of the program needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clusterspec.logs.text_lines import lines_of

LONGEST = 1_000
"""Largest number of characters of a line that is read."""
AFTER = 60
"""Lines after a refused option among which the exception of its caller is."""
MINIMUM_DRIVERS = {11: 450, 12: 525, 13: 580}
"""The oldest branch of NVIDIA's driver that runs programs of a major release of CUDA, without the packages for forward
compatibility (https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html, table 1, read on
2026-11-30).
"""
_OPTION = re.compile(
    r"^\s{0,8}([\w./-]{1,80}: (?:invalid|unrecogni[sz]ed|unknown|illegal) option(?: --|:)? ['\"`‘]?[\w-]\S{0,40})"
)
"""What getopt(3) prints of an option that a program does not know."""
_CALLED = re.compile(r"\bCalledProcessError: Command\b|\breturned non-zero exit status [1-9]")
"""The exception of a Python program whose command failed (python/cpython, `Lib/subprocess.py`)."""
_USED = re.compile(r"^\s{0,8}[0-9.]{1,9}/([0-9.]{1,9}) GPU\b")
"""A row of the resources that `ray status` prints."""
_DEMAND = re.compile(r"\{'GPU': ([0-9.]{1,6})[^{}]{0,80}\} ?\* ?([0-9]{1,6})")
"""A demand that is pending, and how many times."""
_NODE = re.compile(r"^\s{0,8}([0-9]{1,6}) node_[0-9a-f]{16,64}\s*$")
"""A node that is active."""
_ASKED = re.compile(r"^\s{0,8}(?:\S{0,60}[$#%>] ?)?(?:sudo )?ulimit -l\s*$")
"""A shell that is asked for its limit of locked memory."""
_ANSWER = re.compile(r"^\s{0,8}([0-9]{1,4})\s*$")
"""A limit in kB, below 10 MB."""
_REGISTERING = re.compile(r"\bin (?:_?register_(?:memory|kv_caches|xfer_buffers)|registerMem)\b|\bregisterMem\(")
"""A frame of the function of NIXL, or of an engine, that registers memory for transfers."""
FRAMES_BEFORE = 8
"""Lines before an error among which the function that raised it is."""
_DRIVER = re.compile(
    r"^(?:.{0,24}\b)?[Nn](?:vidia|VIDIA) [Dd]river [Vv]ersion: ([3-9][0-9]{2})\.[0-9]"
    r"|\bDriver Version: ([3-9][0-9]{2})\."
)
"""The release of the driver, as PyTorch's `collect_env.py` and nvidia-smi print it."""
_BUILT = re.compile(
    r"^(?:.{0,24}\b)?CUDA (?:used to build PyTorch|runtime version): ([0-9]{1,2})\.[0-9]"
    r"|\bNCCL version [0-9.]{3,12}\+cuda([0-9]{1,2})\.[0-9]"
)
"""The CUDA for which a program is built, as `collect_env.py` and NCCL print it."""


def called_option(text: str) -> tuple[str, int] | None:
    """An option that a program does not know which another program calls, with its line; None without any.

    >>> called_option("hostname: invalid option -- 'I'\\nsubprocess.CalledProcessError: Command '['hostname', '-I']'")
    ("hostname: invalid option -- 'I'", 1)
    >>> called_option("all_reduce_perf: invalid option -- 'q'")
    """
    if " option" not in text or not _CALLED.search(text):
        return None
    lines = list(lines_of(text))
    for number, line in enumerate(lines, 1):
        if (match := _OPTION.match(line[:LONGEST])) and any(map(_is_call, lines[number : number + AFTER])):
            return match[1], number
    return None


def _is_call(line: str) -> bool:
    return _CALLED.search(line[:LONGEST]) is not None


def scarce_devices(text: str) -> tuple[str, int, int] | None:
    """The accelerators that Ray has, if they are fewer than a demand asks for, with their line and the number of active
    nodes; None otherwise.

    >>> scarce_devices(" 1 node_0123456789abcdef0\\n 0.0/1.0 GPU\\n {'GPU': 1.0} * 2 (PACK): 1+ pending")
    ('1 nodes are active and have 1 GPUs, of 2 that one demand asks for', 2, 1)
    """
    if " GPU" not in text or "{'GPU': " not in text:
        return None
    lines = [line[:LONGEST] for line in lines_of(text)]
    owned = [(float(found[1]), number) for number, line in enumerate(lines, 1) if (found := _USED.match(line))]
    asked = [float(each) * int(times) for line in lines for each, times in _DEMAND.findall(line)]
    if not owned or not asked or owned[-1][0] >= max(asked):
        return None
    active = sum(int(found[1]) for line in lines if (found := _NODE.match(line)))
    total, number = owned[-1]
    said = f"{active} nodes are active and have {total:g} GPUs, of {max(asked):g} that one demand asks for"
    return said, number, active


def low_limit(text: str) -> tuple[str, int] | None:
    """A limit of locked memory below 10 MB that a shell was asked for, with its line; None otherwise.

    >>> low_limit("$ ulimit -l\\n64")
    ('ulimit -l is 64 kB', 2)
    >>> low_limit("$ ulimit -l\\nunlimited")
    """
    if "ulimit -l" not in text:
        return None
    lines = [line[:LONGEST] for line in lines_of(text)]
    asked = (number for number, line in enumerate(lines, 1) if _ASKED.match(line))
    answers = (
        (match, number + 1) for number in asked for line in lines[number : number + 1] if (match := _ANSWER.match(line))
    )
    return next(((f"ulimit -l is {match[1]} kB", number) for match, number in answers), None)


def refused_registration(text: str) -> tuple[str, int] | None:
    """An error of NIXL's backend in a function that registers memory, with its line; None otherwise.

    >>> refused_registration("line 2, in register_memory\\nnixlBackendError: NIXL_ERR_BACKEND")
    ('NIXL_ERR_BACKEND as memory is registered', 2)
    >>> refused_registration("line 2, in make_prepped_xfer\\nnixlBackendError: NIXL_ERR_BACKEND")
    """
    if "NIXL_ERR_BACKEND" not in text:
        return None
    lines = [line[:LONGEST] for line in lines_of(text)]
    for number, line in enumerate(lines, 1):
        if "NIXL_ERR_BACKEND" in line and any(map(_REGISTERING.search, lines[max(0, number - FRAMES_BEFORE) : number])):
            return "NIXL_ERR_BACKEND as memory is registered", number
    return None


def old_driver(text: str) -> tuple[str, int] | None:
    """A driver that is older than the CUDA needs for which the program is built, with its line; None otherwise.

    >>> old_driver("Nvidia driver version: 470.57.02\\nCUDA used to build PyTorch: 12.1")
    ('driver 470, CUDA 12', 1)
    >>> old_driver("Nvidia driver version: 535.104.05\\nCUDA used to build PyTorch: 12.4")
    """
    if "river " not in text or ("CUDA " not in text and "+cuda" not in text):
        return None
    lines = [line[:LONGEST] for line in lines_of(text)]
    branch, number = _first_number(_DRIVER, lines)
    major, _ = _first_number(_BUILT, lines)
    if not branch or branch >= MINIMUM_DRIVERS.get(major, 0):
        return None
    return f"driver {branch}, CUDA {major}", number


def _first_number(words: re.Pattern[str], lines: Sequence[str]) -> tuple[int, int]:
    """The first number that a pattern finds in lines, and its line; zeros without any."""
    found = ((match, number) for number, line in enumerate(lines, 1) if (match := words.search(line)))
    match, number = next(found, (None, 0))
    return (int(next(filter(None, match.groups()))), number) if match else (0, 0)
