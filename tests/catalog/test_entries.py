"""What every shipped entry promises: a source for each figure, and names that lead somewhere."""

from __future__ import annotations

from pathlib import Path

from clusterspec import resources
from clusterspec.catalog.company import REFERENCES, entry_problems
from clusterspec.catalog.reader import RawEntry
from clusterspec.document import parse
from clusterspec.source import Cited, Source
from tests.catalog.shipped import CARDS, CATALOG, NAMES, every_fact
from tests.effort import each, sampled, thorough

PROMISED = (Path(__file__).parent / "promised_ids.txt").read_text().split()
FOLDERS = {"switch": "switches", "kernels": "kernels", "library": "libraries", "optics": "optics"}


def name_of(raw_entry: RawEntry) -> str:
    return f"{raw_entry.kind}/{raw_entry.id}"


@each(("kind", "name"), NAMES)
def test_an_entry_satisfies_the_schema_and_is_named_as_its_file(kind: str, name: str) -> None:
    file = resources.catalog() / FOLDERS.get(kind, f"{kind}s") / f"{name}.yaml"
    document, problems = parse(Source(str(file), file.read_text()))
    assert problems == []
    assert document is not None
    assert entry_problems(document, kind, name) == []


def test_every_file_of_the_catalog_is_an_entry() -> None:
    files = {file for file in resources.catalog().rglob("*") if file.is_file()}
    extra = {file.name for file in files if file.suffix != ".yaml"}
    assert len(files) - len(extra) == len(NAMES)
    messages = {"cause-reports.csv", "cause-terms.csv", "exceptions.csv", "messages.csv", "sxids.csv", "xids.csv"}
    tables = {
        "checkpoint-formats.csv",
        "documented-facts.csv",
        "known-parts.csv",
        "longest-offers.csv",
        "number-encodings.csv",
        "purchase-terms.csv",
        "release-faults.csv",
        "releases.csv",
        "slow-symptoms.csv",
        "software-names.csv",
        "words-of-claims.csv",
    }
    assert extra == {"CHANGES.md", "LICENSE", "VERSION", "index.json", *messages, *tables}


@each("raw_entry", CARDS)
def test_every_figure_has_a_source_or_says_why_it_is_assumed(raw_entry: RawEntry) -> None:
    assert [fact.name for fact in every_fact(raw_entry) if fact.origin is None] == []


@each("raw_entry", CARDS)
def test_an_entry_is_read_into_its_type_without_problems(raw_entry: RawEntry) -> None:
    entry = CATALOG.get(raw_entry.kind, raw_entry.id)
    assert (entry.kind, entry.id) == (raw_entry.kind, raw_entry.id)


@each("raw_entry", CARDS)
def test_every_listed_source_is_used_by_a_figure(raw_entry: RawEntry) -> None:
    text = " ".join(f"{fact.origin} {fact.rejected} {fact.also}" for fact in every_fact(raw_entry))
    assert [key for key, source in raw_entry.sources.items() if source.title not in text] == []


@each("raw_entry", [raw_entry for raw_entry in CARDS if raw_entry.kind in REFERENCES])
def test_references_of_an_entry_exist(raw_entry: RawEntry) -> None:
    for fact, kind in REFERENCES[raw_entry.kind].items():
        value = raw_entry.facts[fact].value if fact in raw_entry.facts else []
        named = value if isinstance(value, list) else [value]
        assert [name for name in named if name not in CATALOG.ids(kind)] == [], fact


@each("promised", PROMISED)
def test_every_required_id_exists(promised: str) -> None:
    kind, name = promised.split("/")
    assert name in CATALOG.ids(kind)


def test_parts_that_do_not_ship_have_the_status_announced() -> None:
    coming = {raw_entry.id for raw_entry in CARDS if raw_entry.status.state == "announced"}
    assert {"rubin-ultra", "tpu-8t", "trainium4", "mi430x", "infiniband-gdr", "ualink-1", "pcie-7"} <= coming
    assert {"h100-sxm-80gb", "gb300", "infiniband-xdr", "connectx-8", "rubin", "vr-nvl72", "mi455x"}.isdisjoint(coming)


@each("raw_entry", CARDS)
def test_a_status_has_a_date_and_every_source_a_day(raw_entry: RawEntry) -> None:
    assert len(raw_entry.status.as_of) == len("2026-11-20")
    assert [key for key, source in raw_entry.sources.items() if not (source.read or source.recalled)] == []


def test_device_memory_is_what_the_device_reports() -> None:
    in_mebibytes = {"h200-sxm-141gb": 143771, "h100-sxm-80gb": 81559, "a100-sxm-80gb": 81920, "mi300x": 196592}
    for name, mebibytes in in_mebibytes.items():
        memory = CATALOG.accelerator(name).memory
        assert memory is not None
        assert memory.value == mebibytes * 2**20


def test_the_catalog_has_at_least_the_required_number_of_models() -> None:
    assert len(CATALOG.ids("model")) >= 40


def test_a_source_read_only_as_another_document_quotes_it_says_so() -> None:
    raw_entry = next(raw_entry for raw_entry in CARDS if raw_entry.id == "a10g")
    quoted = {source.named for source in raw_entry.sources.values() if source.quoted_in}
    assert quoted
    assert all(", as quoted in " in name for name in quoted)
    assert {fact.origin.source for fact in every_fact(raw_entry) if isinstance(fact.origin, Cited)} >= quoted


def test_no_figure_of_hardware_or_software_lacks_a_source_that_was_read() -> None:
    """A figure was read at a source, or is assumed for a reason that the entry states."""
    facts = {
        f"{raw_entry.kind}/{raw_entry.id} {fact.name}": fact.origin
        for raw_entry in CARDS
        for fact in every_fact(raw_entry)
        if raw_entry.kind != "model"
    }
    assert [name for name, origin in facts.items() if isinstance(origin, Cited) and not origin.read] == []


ENTRIES = sorted(resources.catalog().glob("*/*.yaml"))


@thorough
@each("path", sampled(ENTRIES, len(ENTRIES) // 2))
def test_reading_only_values_gives_the_same_values_as_reading_all(path: Path) -> None:
    from clusterspec.document import decode, parse
    from clusterspec.document.values import yaml_value

    document, problems = parse(decode(path.name, path.read_bytes()))
    assert document is not None and problems == []
    assert yaml_value(path.read_text("utf-8")) == document.value


def test_what_replaces_an_entry_is_sold_and_of_its_kind() -> None:
    replaced = {f"{each.kind}/{each.id}": each.replaced_by for each in CARDS if each.replaced_by}
    assert replaced["interconnect/infiniband-edr"] == "infiniband-ndr"
    for name, successor in replaced.items():
        assert CATALOG.raw_entry(name.partition("/")[0], successor).status.state == "shipping", name
