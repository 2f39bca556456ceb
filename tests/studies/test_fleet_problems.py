"""Problems of a fleet: each once, at a key of the file, with the name of the part that it is about."""

from __future__ import annotations

from clusterspec.document import Document, parse
from clusterspec.finding import Problem, Severity
from clusterspec.source import Path, Source
from clusterspec.studies.fleet import _merged_problems, _part_problems
from clusterspec.studies.fleet_parts import FleetPart, path_in_fleet
from tests.effort import each
from tests.studies.test_fleets import POOLS, WORK, fleet_of

TWO_JOBS = f"""{POOLS}  a: {{pool: train, nodes: 8, {WORK}}}
  b: {{pool: train, nodes: 8, {WORK}}}
"""
ENTRIES = """measured:
  - {step_time: 3 s}
  - {collective: all-reduce, nodes: 1, ranks: 8, size: 4 GiB, busbw: 700 GB/s}
  - {tpot: 20 ms}
  - {step_log: a.log}
"""
UNUSED = "unused-measurement"


def unused(text: str) -> list[tuple[object, ...]]:
    """The key paths of measurements that belong to no job."""
    found = [one for one in fleet_of(text).problems_and_fault[0] if one.rule == UNUSED]
    assert all(one.severity is Severity.NOTE for one in found)
    return [one.path for one in found]


def test_a_measured_step_of_several_jobs_belongs_to_none_of_them() -> None:
    """Collectives are of the machine, and a fleet of one job says whose the step is."""
    assert unused(TWO_JOBS + ENTRIES) == [
        ("measured", 0, "step_time"),
        ("measured", 2, "tpot"),
        ("measured", 3, "step_log"),
    ]
    alone = TWO_JOBS.partition("  b:")[0]
    assert unused(alone + "\n".join(ENTRIES.splitlines()[:3])) == []


def test_a_measured_step_of_a_pool_is_at_the_pool() -> None:
    own = TWO_JOBS.replace("spare_nodes: 1}", "spare_nodes: 1, measured: [{load_test: a.json}, 5]}")
    assert unused(own) == [("pools", "train", "measured", 0, "load_test")]


def messages(text: str, rule: str) -> list[str]:
    return [one.message for one in fleet_of(text).problems_and_fault[0] if one.rule == rule]


def test_unlike_messages_at_a_shared_key_name_their_pools() -> None:
    """360 GB/s is another share of what B200 and H200 reach; on two pools of one kind, the message has no name."""
    slow = "measured: [{collective: all-reduce, nodes: 1, ranks: 8, size: 4 GiB, busbw: 300 GB/s}]\n"
    found = messages(TWO_JOBS + slow, "measured-below-expected")
    assert sorted(each.partition(":")[0] for each in found) == ["pool `serve`", "pool `train`"]
    alike = (TWO_JOBS + slow).replace("dgx-b200", "dgx-h200")
    found = messages(alike, "measured-below-expected")
    assert len(found) == 1 and found[0].startswith("all-reduce over 8 ranks: 300 GB/s")


QUOTE = """procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 640 GB, quantity: 16, unit_price: 310000}
"""


def test_a_line_of_a_quote_is_wrong_where_it_fits_no_pool() -> None:
    """One DGX H100 line, and pools of H200 and B200: alone, together, and with a pool of H100."""
    pools = {name: f"  {name}: {{platform: {name}, nodes: 16}}\n" for name in ("dgx-h200", "dgx-b200", "dgx-h100")}

    def found(*names: str) -> list[str]:
        text = "clusterspec: 1\npools:\n" + "".join(pools[name] for name in names) + QUOTE
        return messages(text, "quote-names-other-part")

    (alone,) = found("dgx-h200")
    assert "no other pool" not in alone
    (together,) = found("dgx-h200", "dgx-b200")
    assert together == f"{alone}; no other pool fits it either"
    assert found("dgx-h200", "dgx-h100") == found("dgx-h100", "dgx-b200") == []


def test_unlike_messages_of_jobs_of_one_pool_name_the_jobs() -> None:
    """Two jobs of `train` disagree with the third; each pool alone in a message is named as a pool."""
    at: Path = ("pools", "train", "nodes")

    def of(pool: str, job: str | None, message: str, path: Path = at) -> tuple[Problem, tuple[Document, FleetPart]]:
        return Problem("short", path, message), (fleet_of(TWO_JOBS).document, FleetPart(pool, job))

    jobs = [of("train", "a", "4 short"), of("train", "b", "2 short"), of("train", "c", "2 short")]
    assert [one.message for one in _part_problems(jobs)] == ["job `a`: 4 short", *["job `b`, `c`: 2 short"] * 2]
    pools = [of("train", "a", "4 short"), of("serve", None, "2 short")]
    assert [one.message for one in _part_problems(pools)] == ["pool `train`: 4 short", "pool `serve`: 2 short"]
    own = [of("train", name, f"{name} short", ("jobs", "a", "nodes")) for name in ("a", "b")]
    assert [one.message for one in _part_problems(own)] == ["a short", "b short"]


def test_problems_that_parts_read_again_are_one_of_the_highest_severity() -> None:
    """A problem of the file is not repeated, except where only a part has the catalog to say more."""
    note, warning, error = Severity.NOTE, Severity.WARNING, Severity.ERROR
    keys = Problem("unknown-key", ("a",), "of the file"), Problem("unknown-key", ("a",), "of a part")
    unit = Problem("missing-direction", ("b",), "plain"), Problem("missing-direction", ("b",), "with the entry")
    twice = [Problem("slow", ("c",), "same", severity=each) for each in (note, error, warning)]
    found = _merged_problems([keys[0], unit[0]], [keys[1], unit[1], *twice])
    assert [(one.message, one.severity) for one in found if one.rule == "slow"] == [("same", error)]
    assert [one.message for one in found] == ["of the file", "with the entry", "same"]


PLACES = """\
clusterspec: 1
operations: {goodput: 0.9, repair: 2 h}
procurement: {currency: USD, prices: {node: 1}}
measured: {links: {nic: {log: a}}}
pools:
  p: {platform: dgx-h100, nodes: 4, prices: {node: 2}, measured: {links: {}}, networks: {storage: {pool: q}}}
  q: {platform: dgx-h100, nodes: 4, networks: {storage: {capacity: 1 PB}}}
jobs:
  a: {pool: p, nodes: 2, workload: {model: llama-3.1-8b}, operations: {repair: 3 h}}
  b: {pool: q, layout: {nodes: 2}}
"""
PATHS = [  # the job and its pool, a key of its spec, and the key in the file of the fleet
    ("a", "p", "cluster.nodes", "pools.p.nodes"),
    ("a", "p", "cluster.networks.storage.capacity", "pools.q.networks.storage.capacity"),  # the store of another pool
    ("b", "q", "cluster.networks.storage.capacity", "pools.q.networks.storage.capacity"),
    ("a", "p", "layout.nodes", "jobs.a.nodes"),
    ("b", "q", "layout.nodes", "jobs.b.layout.nodes"),
    ("a", "p", "workload.model", "jobs.a.workload.model"),
    ("a", "p", "operations.repair", "jobs.a.operations.repair"),
    ("a", "p", "operations.goodput", "operations.goodput"),
    ("a", "p", "operations.spares", "jobs.a.operations.spares"),  # in neither: the job has its own section
    ("b", "q", "operations.repair", "operations.repair"),
    (None, "p", "operations.repair", "operations.repair"),
    ("a", "p", "procurement.prices.node", "pools.p.prices.node"),
    ("b", "q", "procurement.prices.node", "procurement.prices.node"),
    ("a", "p", "procurement.currency", "procurement.currency"),
    ("a", "p", "measured.links.nic", "pools.p.measured.links.nic"),
    ("b", "q", "measured.links.nic", "measured.links.nic"),
]


@each(("job", "pool", "path", "at"), PATHS)
def test_a_key_of_a_part_has_its_place_in_the_file_of_the_fleet(job: str | None, pool: str, path: str, at: str) -> None:
    document, _ = parse(Source("fleet.yaml", PLACES))
    assert document is not None
    found = path_in_fleet(document, FleetPart(pool, job), tuple(path.split(".")))
    assert ".".join(map(str, found)) == at
