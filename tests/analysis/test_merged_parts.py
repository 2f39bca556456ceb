"""Values from logs in the file of a fleet: those of a pool or a job stand at its keys, and count for that part."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from clusterspec.analysis.merged_parts import _fleet_places
from clusterspec.document.model import Places
from clusterspec.document.parse import parse
from clusterspec.exchange.import_result import FileLine, FormatError, ImportedValue
from clusterspec.records import replace
from clusterspec.source import Path as KeyPath
from clusterspec.source import Source
from clusterspec.studies.fleet_parts import FleetPart
from tests.cli.conftest import Call
from tests.effort import thorough

JOB = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512}, layout: {sharding: fsdp}"
FLEET = f"""clusterspec: 1
pools:
  train: {{platform: dgx-h100, nodes: 16}}
  serve: {{platform: dgx-h200, nodes: 4}}
  spare: {{platform: dgx-h200, nodes: 2}}
jobs:
  a: {{pool: train, nodes: 8, {JOB}}}
  b: {{pool: train, nodes: 8, {JOB}}}
  c: {{pool: serve, {JOB}}}
"""
ONE = FLEET.replace("  serve: {platform: dgx-h200, nodes: 4}\n  spare: {platform: dgx-h200, nodes: 2}\n", "").replace(
    f"  c: {{pool: serve, {JOB}}}\n", ""
)
LOG = "time,part,node\n2026-01-03T00:00:00Z,accelerator,n1\n2026-02-03T00:00:00Z,accelerator,n2\n"
WORDS = ("--log", "log.csv", "--period", "90 d", "--write")


def written(call: Call, text: str, *words: str) -> dict[str, object]:
    """The spec after rates of a log are stored in it."""
    Path("x.yaml").write_text(text)
    Path("log.csv").write_text(LOG)
    done = call("faults", "x.yaml", *words, *WORDS)
    assert (done.status, done.error) == (0, "")
    found: dict[str, object] = yaml.safe_load(Path("x.yaml").read_text())
    return found


def rates(found: object, *path: str) -> object:
    """The mean failures a year of an accelerator at some keys."""
    for key in (*path, "operations", "failures", "accelerator", "afr"):
        found = found.get(key) if isinstance(found, dict) else None
    return found


@pytest.mark.parametrize(
    ("words", "jobs", "accelerators"),
    [(("--job", "a"), "a", 128), (("--pool", "train"), "ab", 128), (("--pool", "serve"), "c", 32)],
)
def test_rates_of_a_part_stand_in_its_jobs(call: Call, words: tuple[str, str], jobs: str, accelerators: int) -> None:
    """2 failures in 90 days of all accelerators of the pool."""
    found = written(call, FLEET, *words)
    rate = 2 / (accelerators * 90 / 365.25)
    for job in "abc":
        assert rates(found, "jobs", job) == (pytest.approx(rate, rel=1e-3) if job in jobs else None)
    assert rates(found) is None


def test_rates_of_the_only_pool_hold_for_the_file(call: Call) -> None:
    found = written(call, ONE, "--pool", "train")
    assert rates(found) == pytest.approx(2 / (128 * 90 / 365.25), rel=1e-3)
    assert rates(found, "jobs", "a") is None


@thorough
def test_a_stated_rate_is_kept(call: Call) -> None:
    for stated in ("operations: {failures: {accelerator: {afr: 0.5}}}\n", ""):
        own = FLEET.replace("a: {pool: train,", "a: {pool: train, operations: {failures: {accelerator: {afr: 0.5}}},")
        found = written(call, FLEET + stated if stated else own, "--job", "a")
        assert rates(found, *(() if stated else ("jobs", "a"))) == 0.5


def test_a_pool_without_a_job_has_no_place_for_rates(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    Path("log.csv").write_text(LOG)
    assert call("faults", "x.yaml", "--pool", "spare", *WORDS[:-1]).status == 0
    done = call("faults", "x.yaml", "--pool", "spare", *WORDS)
    assert done.status == 2
    assert "no rate of pool `spare` can be stored" in done.error
    assert Path("x.yaml").read_text() == FLEET


@pytest.mark.parametrize(
    ("pools", "written", "path", "place"),
    [
        ("p", (), ("measured", 0), ("pools", "p", "measured", 0)),
        ("p", (("measured",),), ("measured", 0), ("measured", 0)),  # one pool: the list of the file is its own
        ("pq", (), ("measured", 0), ("pools", "p", "measured", 0)),
        ("pq", (("measured",), ("pools", "p", "measured", 0)), ("measured", 0), ("pools", "p", "measured", 0)),
        ("pq", (("measured",),), ("measured", 0), None),  # one list for all pools
        ("p", (), ("operations", "failures"), ("operations", "failures")),
        ("pq", (), ("operations", "failures"), ("jobs", "j", "operations", "failures")),
        ("pq", (("operations", "failures"),), ("operations", "failures"), ("operations", "failures")),
    ],
)
def test_measurements_belong_to_a_pool_and_operations_to_its_jobs(
    pools: str, written: tuple[KeyPath, ...], path: KeyPath, place: KeyPath | None
) -> None:
    document, _ = parse(Source("f.yaml", yaml.safe_dump({"pools": {key: {} for key in pools}})))
    assert document is not None
    document = replace(document, places=Places(dict.fromkeys(written, document.places.offsets["pools",])))
    given = ImportedValue(path, 1, FileLine("log"))
    if place is None:
        with pytest.raises(FormatError, match="`p` and `q`"):
            list(_fleet_places(document, FleetPart("p"), given, ["j"]))
    else:
        assert list(_fleet_places(document, FleetPart("p"), given, ["j"])) == [place]
