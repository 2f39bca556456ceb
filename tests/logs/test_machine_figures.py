"""Figures that tools print of a slow machine, and of a sound one."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.machine_figures import (
    bound_cores,
    busy_disk,
    figure_statements,
    low_clocks,
    narrow_link,
    stopped_group,
    unlike_widths,
)

LISTING = """    Utilization
        Gpu                               : {used} %
    PCI
            GPU Link Info
                PCIe Generation
                    Max                   : 5
                    Current               : 1
                Link Width
                    Max                   : 16x
                    Current               : {lanes}x
    Clocks
        Graphics                          : {clock} MHz
        SM                                : {clock} MHz
    Max Clocks
        Graphics                          : 1980 MHz
        SM                                : 1980 MHz
"""
DISKS = """avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           4.10    0.00    2.10   {wait}    0.00   32.60

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz  aqu-sz  %util
sda            210.00  26000.00     0.00   0.00   48.10   123.81   10.10  {busy}
"""


def test_fewer_lanes_and_low_clocks_are_read_from_the_listing_of_a_device() -> None:
    slow = LISTING.format(used=99, lanes=8, clock=345)
    assert narrow_link(slow) == ("8 of 16 lanes", 8)
    assert low_clocks(slow) == ("345 of 1980 MHz at 99 % utilization", 13)
    assert [name for name, _, _ in figure_statements(slow)] == ["narrow-link", "low-clocks"]


@pytest.mark.parametrize(("used", "clock"), [(0, 345), (99, 1755), (79, 345)])
def test_a_device_at_rest_or_at_its_usual_clock_has_no_low_clock(used: int, clock: int) -> None:
    assert list(figure_statements(LISTING.format(used=used, lanes=16, clock=clock))) == []


def test_the_clock_of_one_device_is_not_compared_with_that_of_the_next() -> None:
    first, second = LISTING.format(used=99, lanes=16, clock=1755), LISTING.format(used=0, lanes=16, clock=345)
    assert low_clocks(first + second) is None
    found = low_clocks(second + LISTING.format(used=95, lanes=16, clock=600))
    assert found is not None and found[0] == "600 of 1980 MHz at 95 % utilization"


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ("index, pcie.link.width.current\n0, 16\n1, 4\n2, 16", ("4 lanes, another accelerator has 16", 3)),
        ("index, pcie.link.width.current\n0, 16\n1, 16", None),
        ("index, pcie.link.width.current, pcie.link.width.max\n0, 8, 8\n1, 16, 16", None),  # slots of two kinds
        ("pcie.link.width.current is what I looked at, it is 16\n0, 16\n1, 4", None),
    ],
)
def test_lanes_of_one_table_are_compared(table: str, found: tuple[str, int] | None) -> None:
    assert unlike_widths(table) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pid 4221's current affinity list: 0", "1 core"),
        ("pid 4221's current affinity list: 0,64", "2 cores"),
        ("Cpus_allowed_list:\t0-1", "2 cores"),
        ("physcpubind: 3", "1 core"),
        ("cpu.max: 150000 100000", "a quota of 1.5 cores"),
        ("Cpus_allowed_list:\t0-63", ""),
        ("physcpubind: 0 1 2 3 4 5", ""),
        ("cpu.max: max 100000", ""),
        ("cpu.max: 6400000 100000", ""),
    ],
)
def test_one_or_two_cores_are_too_few(text: str, found: str) -> None:
    stated = bound_cores(text)
    assert (stated[0] if stated is not None else "") == found


@pytest.mark.parametrize(
    ("wait", "busy", "found"), [("61.20", "99.80", True), ("1.20", "99.80", False), ("61.20", "40.00", False)]
)
def test_a_disk_limits_a_run_if_it_is_busy_and_processors_wait(wait: str, busy: str, found: bool) -> None:
    assert (busy_disk(DISKS.format(wait=wait, busy=busy)) is not None) is found


def test_a_group_that_never_stopped_has_no_statement() -> None:
    assert stopped_group("nr_periods 900\nnr_throttled 0") is None
