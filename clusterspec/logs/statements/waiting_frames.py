"""What a process waits for, by the innermost frames of its stack: dumps of py-spy and of Python's `faulthandler`.

py-spy prints the innermost frame first, as `function (file:line)`; `faulthandler` does so below "most recent call
first". A process that waits for data, a file or its peers is named by the first frame that belongs to one of these
parts: the frames above it only sleep or read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.text_lines import MOST_LINES, lines_of, shown_line

WAITS = "waits "
"""The prefix of the names of these statements; what the process waits for follows."""
_DUMPED = re.compile(
    r"^\s{2,10}(?P<function>[\w.<>]{1,80}) \((?P<file>[^()\n]{3,200}\.(?:py|cpp|cc|c|so|pyx)):\d{1,6}\)\s*$"
)
_FAULT = re.compile(r'^\s{1,6}File "(?P<file>[^"\n]{1,300})", line \d{1,6} in (?P<function>[\w.<>]{1,80})\s*$')
_START = re.compile(
    r"^\s{0,4}Thread \S{1,30} \(|^\s{0,4}(?:Current t|T)hread 0x\w{1,16} ?.{0,60}\(most recent call first\)"
)
_CRASH = "Fatal Python error"
PARTS = (
    (
        "data",
        r"torch/utils/data/|(?:^|/)datasets/(?:iterable_dataset|arrow_dataset)|(?:^|/)(?:energon|streaming|webdataset|dali)/",
        r"_try_get_batch|_get_data|_next_data|get_batch|next_batch|__next__|prefetch\w{0,10}",
    ),
    (
        "file",
        r"torch/serialization|safetensors|(?:^|/)filelock/|(?:^|/)fcntl|torch/distributed/(?:checkpoint|_shard)|tensorstore|(?:^|/)fsspec/",
        r"flock|load_file|safe_open|torch_load|read_tensor\w{0,10}|acquire_lock",
    ),
    ("server", r"huggingface_hub|(?:^|/)(?:requests|urllib3|botocore|httpx)/|modelscope/hub", r""),
    (
        "meeting",
        r"torch/distributed/(?:rendezvous|elastic/rendezvous)",
        r"_store_based_barrier|_create_c10d_store|next_rendezvous|init_process_group|_new_process_group_helper"
        r"|_init_torch_distributed|init_distributed_environment|init_distributed|rendezvous",
    ),
    (
        "collective",
        r"torch/distributed/distributed_c10d|deepspeed/comm/",
        r"(?:monitored_)?barrier|all_?reduce\w{0,12}|all_?gather\w{0,20}|reduce_?scatter\w{0,12}|broadcast\w{0,20}"
        r"|all_to_all\w{0,12}|nccl[A-Z]\w{2,30}|synchronize|sync_global_devices",
    ),
)
"""What a process waits for, with the files and the functions of its frames; the more specific ones precede."""
_COMPILED = tuple(
    (part, re.compile(file), re.compile(function) if function else None) for part, file, function in PARTS
)
NEAREST = 12
"""Frames of a thread, the innermost first, that may name the part."""


def waiting_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """What the stacks of a text wait for, each once, with its frame and line; none of a process that crashed.

    >>> list(waiting_statements('Thread 0x1 (active): "MainThread"\\n    flock (filelock/_unix.py:41)'))
    [('waits file', 'flock (filelock/_unix.py:41)', 2)]
    """
    if _CRASH in text or not ("Thread " in text or "thread 0x" in text):
        return
    found: set[str] = set()
    for frames in _stacks(text):
        for number, line, file, function in frames[:NEAREST]:
            part = _part_of(file, function)
            if part and part not in found:
                found.add(part)
                yield f"{WAITS}{part}", shown_line(line.strip()), number
            if part:
                break


def _stacks(text: str) -> Iterator[list[tuple[int, str, str, str]]]:
    """The frames of each thread of a text, the innermost first: number, line, file and function."""
    frames: list[tuple[int, str, str, str]] | None = None
    for number, line in enumerate(lines_of(text), 1):
        if number > MOST_LINES:
            break
        if _START.match(line):
            if frames:
                yield frames
            frames = []
        elif frames is not None and (match := _DUMPED.match(line) or _FAULT.match(line)):
            frames.append((number, line, match["file"], match["function"]))
    if frames:
        yield frames


def _part_of(file: str, function: str) -> str:
    """What a frame waits for; empty if it belongs to none of the parts.

    >>> _part_of("torch/distributed/distributed_c10d.py", "barrier"), _part_of("threading.py", "wait")
    ('collective', '')
    """
    for part, of_file, of_function in _COMPILED:
        named = of_function is not None and of_function.fullmatch(function) is not None
        if named and (part == "collective" or of_file.search(file) or "/" not in file or part == "meeting"):
            return part
        if part not in ("collective", "meeting") and of_file.search(file):
            return part
    return ""
