"""An entry that breaks a rule of measure is a fault of the audit, and the nearest sound one is none."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.measures import measure_faults
from clusterspec.catalog.reader import read_raw_entry


def faults(kind: str, facts: dict[str, Any], state: str = "shipping", **more: Any) -> list[str]:
    """What the rules say of an entry of a kind with some facts, as of November 2026."""
    status = {"is": state, "as_of": "2026-11-27"}
    entry = {"kind": kind, "id": "x", "name": "X", "vendor": "ACME", "status": status, "sources": {}, "facts": facts}
    return [each.removeprefix(f"{kind}/x: ") for each in measure_faults([read_raw_entry(entry | more)])]


def rate(value: str, basis: str, **more: str) -> dict[str, str]:
    return {"is": value, "scope": "port", "basis": basis, **more}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            {"memory": "80 GB", "memory_type": "HBM3"},
            "memory is 80 GB, but memory of this kind counts in powers of two",
        ),
        ({"memory": "80 GB"}, "write MiB or GiB"),
        ({"memory": "81559 MiB", "memory_type": "HBM3"}, ""),
        ({"memory": "44 GB", "memory_type": "SRAM"}, ""),
        # 80 GB are 80 GiB of stacks: a driver reports 81,920 MiB at most.
        ({"memory": {"is": "81920 MiB", "prints": "80 GB"}}, ""),
        ({"memory": {"is": "82000 MiB", "prints": "80 GB"}}, "memory is 1.001 of the 80 GB"),
        ({"memory": {"is": "70000 MiB", "prints": "80 GB"}}, "memory is 0.854 of the 80 GB"),
        ({"memory": {"is": "many GiB", "prints": "80 GB"}}, ""),  # the reader refuses it
        ({"memory": {"is": "70000 MiB", "prints": "much"}}, ""),
    ],
)
def test_memory_counts_in_powers_of_two_and_is_at_most_what_is_printed(facts: dict[str, Any], words: str) -> None:
    found = faults("accelerator", facts)
    assert words in "".join(found)
    assert bool(words) == bool(found)


@pytest.mark.parametrize(
    ("facts", "state", "words"),
    [
        ({"year": 2027}, "shipping", "year is 2027, but it is shipping as of 2026-11-27"),
        ({"year": 2027}, "announced", ""),
        ({"year": 2021, "memory_type": "HBM3"}, "shipping", "year is 2021, but HBM3 is of 2022"),
        ({"year": 2022, "memory_type": "HBM3"}, "shipping", ""),
        ({"year": 2018, "pcie": 5}, "shipping", "year is 2018, but PCIe 5 is of 2019"),
        ({"year": 2019, "pcie": 5}, "shipping", ""),
    ],
)
def test_a_part_is_not_sold_in_the_future_nor_older_than_what_it_holds(
    facts: dict[str, Any], state: str, words: str
) -> None:
    assert faults("accelerator", facts, state) == ([words] if words else [])


def test_ports_have_their_rate_after_coding() -> None:
    for kind in ("nic", "switch", "optics"):
        name = "bandwidth" if kind == "optics" else "port_bandwidth"
        assert faults(kind, {name: rate("400 Gb/s per direction", "line-code")}) == []
        assert (
            f"{name} has the basis signalling" in faults(kind, {name: rate("425 Gb/s per direction", "signalling")})[0]
        )


def test_bytes_of_users_are_counted_where_the_source_says_so() -> None:
    bare = faults("interconnect", {"bandwidth": rate("100 GB/s duplex", "payload")})
    assert bare == ["bandwidth counts bytes of users: say in `note` or `prints` which words of the source do"]
    assert faults("interconnect", {"bandwidth": rate("100 GB/s duplex", "payload", note="`effective`")}) == []


def test_lanes_and_links_of_one_interconnect_have_one_basis() -> None:
    lane = {"bandwidth": rate("50 Gb/s per direction", "line-code")}
    link = {"bandwidth": rate("106.25 Gb/s per direction", "signalling")}
    assert faults("interconnect", {"lane": lane, "link": lane}) == []
    assert "one basis, but lane.bandwidth line-code and link.bandwidth signalling" in "".join(
        faults("interconnect", {"lane": lane, "link": link})
    )


@pytest.mark.parametrize(
    ("narrow", "reason", "words"),
    [
        (200, "", ""),
        (100, "", "its peak in 8 bits is 1 times that of bf16, not 2"),
        (400, "", "its peak in 8 bits is 4 times that of bf16, not 2"),
        (100, "one peak for both", ""),
        (50, "one peak for both", "its peak in 8 bits is 0.5 times that of bf16"),
        (200, "one peak for both", "exception `widths` is not needed"),
    ],
)
def test_eight_bits_are_twice_as_fast_as_sixteen_or_the_entry_says_why_not(
    narrow: int, reason: str, words: str
) -> None:
    peaks = {"bf16": "100 TFLOP/s dense", "fp8": f"{narrow} TFLOP/s dense"}
    found = faults("accelerator", {"peak": peaks}, exceptions={"widths": reason} if reason else {})
    assert words in "".join(found)
    assert bool(words) == bool(found)


@pytest.mark.parametrize(
    ("memory", "kind", "kept", "words"),
    [
        ("23028 MiB", "GDDR6", True, ""),  # 15/16 of 24,576 MiB are 23,040
        ("23028 MiB", "GDDR6", False, "memory is 0.937 of what is printed: check_bits_in_memory is true"),
        ("24564 MiB", "GDDR6X", False, ""),
        ("24564 MiB", "GDDR6X", True, "memory is 1.000 of what is printed: check_bits_in_memory is false"),
        ("23028 MiB", "HBM3", False, ""),
    ],
)
def test_a_card_reports_a_sixteenth_less_where_its_memory_holds_check_bits(
    memory: str, kind: str, kept: bool, words: str
) -> None:
    facts = {"memory": {"is": memory, "prints": "24 GB"}, "memory_type": kind, "check_bits_in_memory": kept}
    assert faults("accelerator", facts) == ([words] if words else [])
