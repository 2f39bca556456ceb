"""Memory of a device that other processes hold, by the figures of an error of memory.

PyTorch prints the capacity, what is free, and what its own process has (`c10/cuda/CUDACachingAllocator.cpp`; until
2.0 "already allocated" and "reserved in total", before 1.5 "cached"). vLLM prints what is free before it allocates
anything (`vllm/v1/worker/utils.py`).
"""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import lines_of

OF_OTHERS = 0.4
"""The least share of a device that other processes hold: the context, workspaces and communicators of one process take
less.
"""
_SIZE = r"([0-9]{1,6}(?:\.[0-9]{1,4})?) ?([KMGT]iB|[KMGT]B|bytes)"
_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_CAPACITY = re.compile(rf"{_SIZE} total capacity; |\btotal capacity of {_SIZE} of which ")
_FREE = re.compile(rf"{_SIZE} (?:is )?free\b")
_OWN = (
    re.compile(rf"\bthis process has {_SIZE} memory in use"),
    re.compile(rf"{_SIZE} (?:reserved in total by PyTorch|cached)"),
)
_ALLOCATED = re.compile(
    rf"Of the allocated memory {_SIZE} is allocated by PyTorch,.{{0,120}}?\b{_SIZE} is reserved by PyTorch"
)
_AT_START = re.compile(
    r"Free memory on device (?:\w{2,6}:[0-9]{1,3} )?\(([0-9.]{1,8})/([0-9.]{1,8}) GiB\) on startup is less than desired"
)
WIDEST = 2_000
"""Characters of a line that are read."""


def memory_of_others(text: str) -> tuple[str, int] | None:
    """The memory of a device that other processes hold by the first out-of-memory error, as text, and the line of the
    error; None if the process of the error holds most of the memory.

    >>> memory_of_others("CUDA out of memory. Tried to allocate 2 MiB (GPU 0; 10.00 GiB total capacity; 1.00 GiB "
    ...     "already allocated; 0 bytes free; 2.00 GiB reserved in total by PyTorch)")
    ('other processes hold 8.0 of 10.0 GiB', 1)
    """
    for number, line in enumerate(lines_of(text), 1):
        if "total capacity" in line:
            total, held = _capacity_and_others(line[:WIDEST])
            if total and held >= OF_OTHERS * total:
                return _held_memory_text(total, held), number
    return None


def memory_before_start(text: str) -> tuple[str, int] | None:
    """The memory that other processes hold before an engine of vLLM has allocated any, as text, and its line.

    >>> memory_before_start("Free memory on device (3.1/79.1 GiB) on startup is less than desired GPU memory")
    ('other processes hold 76.0 of 79.1 GiB', 1)
    """
    for number, line in enumerate(lines_of(text), 1):
        if match := _AT_START.search(line[:WIDEST]):
            free, total = (float(part) * _UNITS["g"] for part in match.groups())
            if total - free >= OF_OTHERS * total:
                return _held_memory_text(total, total - free), number
    return None


def _held_memory_text(total: float, held: float) -> str:
    return f"other processes hold {held / _UNITS['g']:.1f} of {total / _UNITS['g']:.1f} GiB"


def _capacity_and_others(line: str) -> tuple[float, float]:
    """The capacity of a device and what neither is free nor belongs to the process, in bytes; zeros if a figure is
    missing.
    """
    total, free, own = _summed_bytes(_CAPACITY.search(line)), _FREE.search(line), _memory_of_process(line)
    if not total or free is None or own is None:
        return 0.0, 0.0
    return total, total - _summed_bytes(free) - own


def _memory_of_process(line: str) -> float | None:
    """The bytes of a device that the process of an error holds; None if the error does not state them."""
    for pattern in _OWN:
        if match := pattern.search(line):
            return _summed_bytes(match)
    allocated = _ALLOCATED.search(line)
    return _summed_bytes(allocated) if allocated else None


def _summed_bytes(match: re.Match[str] | None) -> float:
    """The sum of the sizes that a pattern found, in bytes."""
    parts = [part for part in match.groups() if part] if match else []
    return sum(float(number) * _UNITS[unit[0].lower()] for number, unit in zip(parts[::2], parts[1::2], strict=True))
