"""Measurements held against machines: flaws and their near misses, and logs of every kind."""

from __future__ import annotations

import pytest

from .conftest import Check
from .reports import Reported, one, reported

H100 = "cluster: {platform: dgx-h100, nodes: 16}"
SLIPPED = "cluster: {platform: dgx-h100, nodes: 4, scale_up: {bandwidth: 900 GB/s unidirectional}}"
RIGHT = "cluster: {platform: dgx-h100, nodes: 4, scale_up: {bandwidth: 900 GB/s duplex}}"
BUSBW = "measured[0].busbw"
SOCKETS = one("measured-socket-fallback", BUSBW, "error")


CASES: list[tuple[str, str, Reported]] = [
    # logs
    (H100, "log: all-reduce-16-ranks.txt", []),
    (H100, "log: all-reduce-16-ranks.txt, collective: all-reduce, ranks: 16, nodes: 2", []),
    (H100, "log: contradicts-itself.txt", one("unreadable-log", "measured[0].log", "error")),
    (H100, "log: another-tool.txt", one("unreadable-log", "measured[0].log", "error")),
    (H100, "log: absent.txt", one("unreadable-log", "measured[0].log", "error")),
    (H100, "log: ../conftest.py", one("unreadable-log", "measured[0].log", "error")),
    (H100, "log: all-reduce-16-ranks.txt, ranks: 8", one("unreadable-log", "measured[0].log", "error")),
    (H100, "log: all-reduce-16-ranks.txt, collective: all-gather", one("unreadable-log", "measured[0].log", "error")),
    (H100, "log: wrong-values.txt", one("wrong-results", "measured[0].log", "error")),
    (H100, "log: unchecked.txt", one("unused-measurement", "measured[0]", "note")),
    (
        "cluster: {platform: dgx-h100, nodes: 1}",
        "log: all-reduce-16-ranks.txt",
        one("measured-ranks-exceed-cluster", "measured[0].log", "error"),
    ),
    (H100, "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 480 GB/s", []),  # reduced in the switches
    (
        H100,
        "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 480 GB/s, algorithm: ring",
        one("measured-above-ceiling", BUSBW, "note"),
    ),
    # what such a machine shows
    (H100, "collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 300 GB/s", one("measured-below-expected", BUSBW)),
    (H100, "collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 450 GB/s", []),
    (
        H100,
        "collective: all-reduce, nodes: 2, size: 8 GiB, algbw: 160 GB/s",
        one("measured-below-expected", "measured[0].algbw"),
    ),
    (H100, "collective: all-reduce, nodes: 2, size: 512 MiB, busbw: 300 GB/s", []),
    (
        H100,
        "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 40 GB/s",
        one("measured-below-expected", BUSBW, "error"),
    ),
    # 473 GB/s between two nodes and 364 GB/s within one are predicted: nine tenths is the least
    (H100, "collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 427 GB/s", []),
    (H100, "collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 424 GB/s", one("measured-below-expected", BUSBW)),
    (H100, "collective: all-gather, nodes: 1, size: 8 GiB, busbw: 312 GB/s", []),
    (H100, "collective: all-gather, nodes: 1, size: 8 GiB, busbw: 305 GB/s", one("measured-below-expected", BUSBW)),
    (
        "cluster: {platform: gb200-nvl72, nodes: 18}",
        "collective: all-reduce, ranks: 72, size: 8 GiB, busbw: 835 GB/s",
        [],
    ),
    (
        "cluster: {platform: gb200-nvl72, nodes: 18}",
        "collective: all-reduce, ranks: 72, size: 8 GiB, busbw: 100 GB/s",
        one("measured-below-expected", BUSBW, "error"),  # no NIC is crossed, so sockets do not explain it
    ),
    # sockets
    (
        H100,
        "collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 20 GB/s",
        one("measured-socket-fallback", BUSBW, "error"),
    ),
    (
        H100,
        "collective: all-to-all, nodes: 4, size: 8 GiB, busbw: 5 GB/s",
        one("measured-socket-fallback", BUSBW, "error"),
    ),
    (H100, "collective: all-to-all, nodes: 4, size: 8 GiB, busbw: 60 GB/s", []),
    # beyond the wire
    (
        H100,
        "collective: all-gather, nodes: 1, size: 8 GiB, busbw: 480 GB/s",
        one("measured-above-ceiling", BUSBW, "note"),
    ),
    (H100, "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 480 GB/s", []),
    # another machine
    (
        H100,
        "collective: all-reduce, ranks: 256, size: 8 GiB, busbw: 350 GB/s",
        one("measured-ranks-exceed-cluster", "measured[0].ranks", "error"),
    ),
    (
        H100,
        "collective: all-reduce, nodes: 32, size: 8 GiB, busbw: 350 GB/s",
        one("measured-ranks-exceed-cluster", "measured[0].nodes", "error"),
    ),
    # the stated bandwidth
    (
        SLIPPED,
        "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 365 GB/s",
        one("measured-suggests-duplex-mistake", BUSBW),
    ),
    (RIGHT, "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 475 GB/s", []),
    (
        RIGHT,
        "collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 180 GB/s",
        one("measured-below-expected", BUSBW, "error"),
    ),
    # what is left out
    (H100, "collective: all-reduce, nodes: 2, size: 8 GiB", one("measurement-without-metric", "measured[0]")),
    (H100, "collective: all-reduce, nodes: 2, busbw: 450 GB/s", one("unused-measurement", "measured[0]", "note")),
    (
        H100,
        "collective: all-reduce, nodes: 2, size: 64 MiB, busbw: 205 GB/s",
        one("unused-measurement", "measured[0].size", "note"),
    ),
    (
        H100,
        "collective: all-reduce, nodes: 2, ranks: 2, size: 8 GiB, busbw: 45 GB/s",
        one("unused-measurement", "measured[0].ranks", "note"),
    ),
    # both bandwidths
    (
        H100,
        "collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 475 GB/s, algbw: 240 GB/s",
        one("algbw-contradicts-busbw", "measured[0].algbw", "error"),
    ),
    (H100, "collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 475 GB/s, algbw: 271.4 GB/s", []),
]


@pytest.mark.parametrize(("cluster", "entry", "wanted"), CASES)
def test_a_measurement_is_judged(cluster: str, entry: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "measured", f"{cluster}\nmeasured:\n  - {{{entry}}}\n") == wanted


def test_an_unreadable_entry_is_reported_once(check: Check) -> None:
    text = f"{H100}\nmeasured:\n  - {{collective: all-reduce, nodes: 2, size: 8 GiB, busbw: fast}}\n"
    assert reported(check, "measured", text) == []


@pytest.mark.parametrize(("busbw", "algbw"), [(360, 192), (430, 246)])  # × 2 (n − 1) / n: 1.875 and 1.75
def test_turned_bandwidths_are_those_of_the_run_that_states_one_of_them(busbw: int, algbw: int, check: Check) -> None:
    tests = [f"  - {{collective: all-reduce, ranks: {n}, busbw: {rate} GB/s}}" for n, rate in ((8, 430), (16, 360))]
    said = f"description: The {busbw} GB/s of bus bandwidth are 675 GB/s of algorithm bandwidth.\n"
    for order in (tests, tests[::-1]):
        found = check(said + H100 + "\nacceptance:\n" + "\n".join(order) + "\n", "algbw-contradicts-busbw")
        (problem,) = [each for each in found if each.rule == "algbw-contradicts-busbw"]
        assert f"but {algbw} GB/s" in problem.message
