"""Rules of measure that hold for all entries: units of memory, years, bases of rates, and peaks by width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from clusterspec.catalog.reader import Fact, FactReader, RawEntry

WIDTHS = "widths"
"""The name of the exception for entries whose 8-bit peak is not twice the 16-bit peak."""
NARROWER = 0.1
"""The maximum relative difference between the 8-bit peak and twice the 16-bit peak."""
LEAST_OF_PRINT = 0.9
"""The minimum ratio of the memory that a driver reports to the printed capacity in powers of two."""
CHECKED = frozenset({"GDDR5", "GDDR6", "GDDR6X"})
"""Kinds of memory without separate space for the check bits of error correction."""
MOST_CHECKED = 0.95
"""The maximum ratio of reported to printed memory from which the check bits, a sixteenth, are known to be excluded."""
FIRST_YEARS = {
    **{"HBM2": 2016, "HBM2E": 2018, "HBM3": 2022, "HBM3E": 2023, "HBM4": 2025},
    **{"GDDR6": 2017, "GDDR6X": 2020, "GDDR7": 2024},
}
"""The year of the standard of each kind of memory, or of its first announcement."""
FIRST_SLOTS = {4: 2017, 5: 2019, 6: 2022}
"""The year of the specification of each generation of PCIe."""
SOLD = frozenset({"shipping", "sampling", "end of sale", "discontinued"})
_DRAM = re.compile(r"HBM|GDDR|LPDDR|DDR", re.IGNORECASE)
_BINARY = re.compile(r"[KMGT]iB\b")
_PRINTED = re.compile(r"(\d+(?:\.\d+)?) ?GB")
_PORT_RATES = ("port_bandwidth", "ethernet_port_bandwidth", "capacity", "bandwidth", "lane_bandwidth")
_CODED = ("lane.bandwidth", "link.bandwidth", "bandwidth", "widths.x1", "widths.x4", "widths.x8", "widths.x12")


def measure_faults(raw: Sequence[RawEntry]) -> Iterator[str]:
    """The violations of these rules in the entries, as texts that begin with kind and id."""
    for each in raw:
        read = FactReader(each)
        faults = [*_memory_faults(each, read), *_year_faults(each, read), *_basis_faults(each), *_width_faults(read)]
        yield from (f"{each.kind}/{each.id}: {fault}" for fault in faults)


def _memory_faults(entry: RawEntry, facts: FactReader) -> Iterator[str]:
    """Violations of the memory rules: DRAM is made in powers of two, and a driver reports at most the printed capacity
    in powers of two.
    """
    fact, kind = entry.facts.get("memory"), facts.text("memory_type") or ""
    if entry.kind != "accelerator" or fact is None:
        return
    if not _BINARY.search(str(fact.value)) and (not kind or _DRAM.match(kind)):
        yield f"memory is {fact.value}, but memory of this kind counts in powers of two: write MiB or GiB"
        return
    size, printed = facts.figure("memory", "bytes"), _PRINTED.fullmatch(fact.prints)
    if size and printed:
        share = size.value / (float(printed[1]) * 2**30)
        if not LEAST_OF_PRINT <= share <= 1.0005:
            yield f"memory is {share:.3f} of the {fact.prints} that are printed, in powers of two"
        kept = bool(facts.flag("check_bits_in_memory"))
        if kind.upper() in CHECKED and kept != (share <= MOST_CHECKED):
            yield f"memory is {share:.3f} of what is printed: check_bits_in_memory is {str(not kept).lower()}"


def _year_faults(entry: RawEntry, facts: FactReader) -> Iterator[str]:
    """A part is not sold after the day of its status, nor older than its memory or its slot."""
    year = facts.count("year")
    if year is None or entry.kind == "model":
        return
    if entry.status.state in SOLD and year > date.fromisoformat(entry.status.as_of).year:
        yield f"year is {year}, but it is {entry.status.state} as of {entry.status.as_of}"
    kind, slot = (facts.text("memory_type") or "").upper(), facts.count("pcie")
    for what, first in ((kind, FIRST_YEARS.get(kind)), (f"PCIe {slot}", FIRST_SLOTS.get(int(slot)) if slot else None)):
        if first and year < first:
            yield f"year is {year}, but {what} is of {first}"


def _basis_faults(entry: RawEntry) -> Iterator[str]:
    """Violations of the rules for bases: port rates are stated after coding, and a rate that counts payload cites the
    words of its source.
    """
    for name, fact in entry.facts.items():
        if fact.basis == "payload" and not (fact.note or fact.prints):
            yield f"{name} counts bytes of users: say in `note` or `prints` which words of the source do"
        if entry.kind in {"nic", "switch", "optics"} and name in _PORT_RATES and fact.basis != "line-code":
            yield f"{name} has the basis {fact.basis}; a port is named by its rate after coding, `line-code`"
    coded = [entry.facts[name] for name in _CODED if name in entry.facts] if entry.kind == "interconnect" else []
    yield from _mixed_bases(coded)


def _mixed_bases(facts: Sequence[Fact]) -> Iterator[str]:
    bases = {fact.basis: fact.name for fact in facts if fact.basis}
    if len(bases) > 1:
        told = " and ".join(f"{name} {basis}" for basis, name in bases.items())
        yield f"lanes, links and widths have one basis, but {told}"


def _width_faults(facts: FactReader) -> Iterator[str]:
    """Violations of the peak rules: the 8-bit peak is twice the 16-bit peak unless the entry states a reason, and never
    lower.
    """
    peaks, excused = facts.peaks("peak"), WIDTHS in facts.raw_entry.exceptions
    wide, narrow = peaks.get("bf16"), next((peaks[name] for name in ("fp8", "int8") if name in peaks), None)
    if not wide or not narrow:
        return
    ratio = narrow.value / wide.value
    doubles = abs(ratio / 2 - 1) <= NARROWER
    if ratio < 1 - NARROWER or (not doubles and not excused):
        yield f"its peak in 8 bits is {ratio:.3g} times that of bf16, not 2; where that is so, say why in `{WIDTHS}`"
    if doubles and excused:
        yield f"its peak in 8 bits is twice that of bf16, so its exception `{WIDTHS}` is not needed"
