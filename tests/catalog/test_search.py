"""What ``catalog search`` finds beyond the words of entries: names, rates in other spellings, and parts without
entries.
"""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest

from clusterspec.catalog.known_parts import KnownPart, known_parts, part_of_name
from clusterspec.catalog.lookup import KnownByName, entries_named
from clusterspec.catalog.search import entries_with_words, search_text
from tests.catalog.shipped import CATALOG
from tests.effort import each, sampled, thorough

WANTED = [
    (row["words"], row["found"])
    for name in ("wanted_2026_11.csv", "wanted_2026_12.csv")
    for row in csv.DictReader(Path(__file__).with_name(name).read_text("utf-8").splitlines())
]
"""What an engineer or a buyer types at the end of 2026, and the entry, or the part without one, that it names."""
OTHER_KINDS = ("cooling-equipment", "drive", "memory-expander", "power-equipment", "processor")
STATUSES = {"announced", "sampling", "in production", "shipping", "not for sale", "cancelled"}


@thorough
@each(("words", "wanted"), sampled(WANTED, len(WANTED)))
def test_what_is_wanted_is_found(words: str, wanted: str) -> None:
    found = entries_with_words(CATALOG, words)
    named = [*(f"{each.kind}/{each.id}" for each in found.rows), *(f"part {each.name}" for each in found.parts)]
    assert wanted in named[:4]


def test_statements_of_a_source_find_a_part_where_no_name_does() -> None:
    assert "9650" in {each.name for each in entries_with_words(CATALOG, "E3.S").parts}
    assert not any("e3.s" in each.words for each in known_parts())
    assert entries_with_words(CATALOG, "E3.SX").parts == ()


def test_a_part_of_a_name_comes_before_one_that_has_it_inside_a_word() -> None:
    assert [each.name for each in entries_with_words(CATALOG, "Modal").parts] == ["Modal Functions", "Phi-4-multimodal"]
    assert entries_with_words(CATALOG, "IREN").rows == ()
    assert [each.id for each in entries_with_words(CATALOG, "biren").rows] == ["biren-br100"]


def test_a_number_stands_alone_among_digits() -> None:
    gemma = entries_with_words(CATALOG, "Gemma 4")
    assert {each.id for each in gemma.rows} == {"gemma-3-4b", "gemma-4-12b", "gemma-4-26b-a4b", "gemma-4-31b"}
    assert "gemma-2-27b" not in {each.id for each in gemma.rows}  # 46 layers of 4608
    assert "a100-sxm-80gb" in {each.id for each in entries_with_words(CATALOG, "A100 80").rows}
    absent = entries_with_words(CATALOG, "OLMo 97")
    assert absent.rows == ()
    assert all("olmo" in each.id for each in absent.nearest)


def test_a_name_comes_before_what_mentions_it() -> None:
    found = entries_with_words(CATALOG, "H20")
    assert [each.id for each in found.rows[:2]] == ["h20-141gb", "h20-96gb"]
    assert "h200-sxm-141gb" in {each.id for each in found.rows}


@pytest.mark.parametrize(
    ("words", "first", "mention"),
    [
        ("Gemma 4", "gemma-4-12b", "gemma-3-4b"),
        ("Nemotron 3", "nemotron-3-nano", "llama-3.1-70b"),  # an alias of it is Llama-3.1-Tulu-3-70B
        ("Mistral Large 4", "mistral-large-4", "mistral-large-3"),  # experts of which 4 are active
    ],
)
def test_a_name_with_the_words_in_a_row_comes_before_one_with_them_apart(words: str, first: str, mention: str) -> None:
    found = [each.id for each in entries_with_words(CATALOG, words).rows if each.kind == "model"]
    assert found[0] == first
    assert mention in found


def test_a_generation_finds_its_versions_where_nothing_is_called_so() -> None:
    granite = {each.id for each in entries_with_words(CATALOG, "Granite 4").rows}
    assert {"granite-4.0-h-small", "granite-4.1-8b", "granite-4.2-3b"} <= granite
    assert not granite & {"granite-3.2-2b", "granite-3.3-8b"}
    assert {each.id for each in entries_with_words(CATALOG, "Qwen 3").rows} >= {"qwen3-8b"}, "called so itself"
    assert entries_with_words(CATALOG, "4").rows != entries_with_words(CATALOG, "Granite 4").rows
    assert entries_with_words(CATALOG, "OLMo 97").rows == ()


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("DGX B300", "platform/dgx-b300"),  # gb300-desktop mentions it
        ("NeMo", "framework/nemo"),
        ("v6e-256", "accelerator/tpu-v6e"),
        ("Gigabyte G893-SD1", "platform/hgx-b200"),
        ("ml.p5.48xlarge", "platform/aws-p5-48xlarge"),
    ],
)
def test_the_kind_of_what_is_called_so_comes_first(words: str, first: str) -> None:
    found = entries_with_words(CATALOG, words).rows[0]
    assert f"{found.kind}/{found.id}" == first


@pytest.mark.parametrize(
    ("typed", "written"), [("800G", "800 Gb/s"), ("1.6T", "1600 Gb/s"), ("400GbE", "400 Gb/s"), ("141gb", "141 GB")]
)
def test_a_rate_or_a_capacity_matches_as_it_is_typed(typed: str, written: str) -> None:
    found = entries_with_words(CATALOG, typed).rows
    assert found
    assert all(typed.lower() in each.words or written.lower() in each.words for each in found)


def test_a_length_is_what_a_cable_has_to_reach() -> None:
    """The 800 Gb/s cables of copper end at 2 and 3 m; no entry has the length in its words."""
    assert "dac-800g-osfp" in {each.id for each in entries_with_words(CATALOG, "OSFP DAC 800G 2m").rows}
    assert "dac-800g-osfp" not in {each.id for each in entries_with_words(CATALOG, "OSFP DAC 800G 3m").rows}
    assert entries_with_words(CATALOG, "OSFP DAC 800G 0.03km").rows == ()


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("Micron 6600 ION 122.88TB", "6600 ION"),
        ("Galaxy VXL 1250 kW", "Galaxy VXL"),
        ("Credo ZeroFlap AEC 800G", "HiWire AEC"),
    ],
)
def test_a_part_without_an_entry_is_found_with_the_size_in_which_it_is_ordered(typed: str, part: str) -> None:
    assert [each.name for each in entries_with_words(CATALOG, typed).parts] == [part]


@pytest.mark.parametrize("typed", ["H100 900TB", "server 800G", "1250 kW", "OSFP DAC 800G 3m 4kw"])
def test_a_size_alone_or_with_an_entry_finds_no_part(typed: str) -> None:
    assert entries_with_words(CATALOG, typed).parts == ()


def test_an_optical_part_is_found_by_the_number_under_which_it_is_ordered() -> None:
    """The manual of the switch lists MMS4X00-NS as 980-9I30H-00NM00."""
    assert [each.id for each in entries_with_words(CATALOG, "980-9I30H-00NM00").rows] == ["mms4x00-ns"]
    assert [each.id for each in entries_with_words(CATALOG, "MCA4J80-N004").rows] == ["acc-mca4j80"]


def test_a_designation_does_not_end_within_a_word() -> None:
    """6000D is not in "RTX PRO 6000 domain"."""
    assert entries_with_words(CATALOG, "RTX 6000D").rows == ()
    assert "gb300-nvl72" in {each.id for each in entries_with_words(CATALOG, "gb300nvl").rows}
    assert [each.id for each in entries_with_words(CATALOG, "Q3400RA").rows] == ["quantum-x800-q3400"]


@thorough
def test_a_release_after_the_name_of_software_is_left_out() -> None:
    assert [each.id for each in entries_with_words(CATALOG, "Neuron SDK 2.28").rows] == ["neuron"]
    assert [each.name for each in entries_with_words(CATALOG, "verl v0.7.0rc1").parts] == ["verl"]
    glm = entries_with_words(CATALOG, "GLM 9.9")  # a version of a model is another model
    assert (glm.rows, glm.parts) == ((), ())
    assert entries_with_words(CATALOG, "9.9").rows == ()


@thorough
def test_words_for_what_a_part_is_count_where_an_entry_has_them() -> None:
    assert entries_with_words(CATALOG, "rack").rows
    assert [each.id for each in entries_with_words(CATALOG, "CoreWeave GB300 instance").rows] == ["coreweave-gb300"]
    assert entries_with_words(CATALOG, "giraffe rack").rows == ()


def test_the_nearest_entries_are_offered_and_not_taken_for_results() -> None:
    found = entries_with_words(CATALOG, "Spectrum-X giraffe")
    assert (found.rows, found.parts) == ((), ())
    assert found.nearest[0].id == "spectrum-x"
    assert search_text(found, 0).startswith("no entry has all words; the nearest:\n")
    assert entries_with_words(CATALOG, "a4x-maxgpus-4g").nearest[0].id == "gcp-a4x-maxgpu-4g"
    assert search_text(entries_with_words(CATALOG, "giraffe"), 0) == "no catalog entry matches\n"
    assert [each.id for each in entries_with_words(CATALOG, "nope").nearest] == ["node"], "hopper shares three letters"


def test_a_part_without_an_entry_is_shown_with_what_is_unknown() -> None:
    found = entries_with_words(CATALOG, "amd mi500")
    assert found.rows == ()
    (part,) = found.parts
    text = search_text(found, 0)
    assert text.startswith("known by name, without an entry (1)\nInstinct MI500 (accelerator of AMD): announced 2027\n")
    assert f"unknown: {part.unknown}" in text
    assert part.url in text
    plain = part.to_json()
    assert found.to_json()["known_parts"] == [plain]
    assert (plain["name"], plain["year"], plain["unknown"]) == ("Instinct MI500", 2027, part.unknown)


def test_showing_a_part_without_an_entry_says_why_there_is_none() -> None:
    with pytest.raises(KnownByName, match="announced, and these figures are unknown: memory, bandwidths, peaks"):
        entries_named(CATALOG, "MI500")


@pytest.mark.parametrize("part", known_parts(), ids=[each.name for each in known_parts()])
def test_a_part_has_a_source_and_unknown_figures_and_no_entry(part: KnownPart) -> None:
    assert part.kind in {*CATALOG.kinds, *OTHER_KINDS}
    assert part.status in STATUSES
    assert part.url.startswith(("https://", "http://")) and part.url.count("/") > 2
    assert date.fromisoformat(part.read) <= date(2026, 12, 1)
    assert part.vendor and part.states and part.unknown and part.source
    assert part.year.isdigit() or not part.year
    if part.kind in CATALOG.kinds:
        assert [id_ for name in part.names for id_ in CATALOG.ids_named(part.kind, name)] == []
    assert part_of_name(f"{part.vendor} {part.name}") == part


def test_a_part_is_listed_once() -> None:
    names = [(each.kind, each.name) for each in known_parts()]
    assert len(names) == len({*names})
