"""What other processes hold of a device, by the figures of errors of memory, with totals worked by hand."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.device_memory import OF_OTHERS, memory_before_start, memory_of_others
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, read

OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 60.00 MiB (GPU 0; {total} total capacity; 1.00 GiB already "
    "allocated; {free} free; {own} {word})"
)
RESERVED, CACHED = "reserved in total by PyTorch", "cached"
NEW = (
    "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 80.00 GiB of which {free} is free. "
)
INCLUDING = "Including non-PyTorch memory, this process has {own} memory in use. "
ALLOCATED = "Of the allocated memory {own} is allocated by PyTorch, and {more} is reserved by PyTorch but unallocated."


def old(total: str, free: str, own: str, word: str = RESERVED) -> str:
    return OLD.format(total=total, free=free, own=own, word=word)


@pytest.mark.parametrize(
    ("line", "held"),
    [
        (old("16.00 GiB", "512.00 MiB", "1.50 GiB"), "14.0 of 16.0"),  # 16 - 0.5 - 1.5
        (old("16.00 GiB", "512.00 MiB", "1.50 GiB", CACHED), "14.0 of 16.0"),
        (old("10.00 GiB", "0 bytes", "6.00 GiB"), "4.0 of 10.0"),  # exactly the least share
        (old("10.00 GiB", "0 bytes", "6.01 GiB"), None),
        (old("10.00 GiB", "6.00 GiB", "2.00 GiB"), None),  # free
        (NEW.format(free="1.00 GiB") + INCLUDING.format(own="9.00 GiB"), "70.0 of 80.0"),
        (NEW.format(free="1.00 GiB") + ALLOCATED.format(own="8.00 GiB", more="512.00 MiB"), "70.5 of 80.0"),
        (NEW.format(free="1.00 GiB") + ALLOCATED.format(own="70.00 GiB", more="8.00 GiB"), None),
        (NEW.format(free="1.00 GiB"), None),  # what its own process has is not told
    ],
)
def test_what_is_neither_free_nor_of_the_process_is_of_others(line: str, held: str | None) -> None:
    assert OF_OTHERS == 0.4
    found = memory_of_others(f"a line\n{line}\n")
    assert found == (None if held is None else (f"other processes hold {held} GiB", 2))


def test_the_first_error_whose_process_holds_little_is_given() -> None:
    full, occupied = old("10.00 GiB", "0 bytes", "9.00 GiB"), old("10.00 GiB", "0 bytes", "1.00 GiB")
    assert memory_of_others(f"{full}\n{occupied}\n{occupied}") == ("other processes hold 9.0 of 10.0 GiB", 2)


@pytest.mark.parametrize(("free", "found"), [("47.4", "31.6 of 79.0"), ("47.5", None), ("3.0", "76.0 of 79.0")])
def test_memory_that_is_not_free_before_an_engine_starts_is_of_others(free: str, found: str | None) -> None:
    line = f"ValueError: Free memory on device cuda:0 ({free}/79.0 GiB) on startup is less than desired GPU memory"
    assert memory_before_start(line) == (None if found is None else (f"other processes hold {found} GiB", 1))


def test_a_device_that_others_fill_is_the_cause_before_its_full_memory() -> None:
    occupied = read(H100, old("16.00 GiB", "0 bytes", "1.00 GiB"), 8)
    full = read(H100, old("16.00 GiB", "0 bytes", "15.00 GiB"), 8)
    assert occupied is not None and names(occupied)[:2] == ["shared-accelerator", "memory-full"]
    assert full is not None and names(full) == ["memory-full"]
