"""Pairs of failed parts: counts and effects against every pair of every part of small fabrics."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from clusterspec import analysis
from clusterspec.exchange.exporters.fabric import fabric_links
from clusterspec.exchange.exporters.registry import ExportInput
from clusterspec.results.faults import PairRow
from clusterspec.studies import Study
from tests.analysis.jobs import study_of
from tests.analysis.test_faults import FAT_TREE, job
from tests.effort import telling

Leaves = frozenset[tuple[int, int]]
Part = tuple[str, frozenset[int], Leaves, frozenset[int], int, Leaves]
"""A kind, the nodes it is in (of a switch tray those of its domain), the leaves it is at, the racks it is in, its plane
(0: none), and of a link the leaves of its NIC."""
TRAY = "scale-up switch"
FABRICS = {
    "fat tree": FAT_TREE,
    "planes": f"{FAT_TREE}, planes: 2",
    "rails": "topology: rail-optimized, switch_ports: 16, tiers: 2",
    "rails and planes": "topology: rail-optimized, switch_ports: 16, tiers: 2, planes: 2",
    "uneven": "topology: fat-tree, switch_ports: 24, tiers: 3",
}


def racked(fabric: str, nodes: int = 8) -> Study:
    base = job(fabric, nodes=nodes).source.text
    return study_of(base.replace("workload:", "  power: {nodes_per_rack: 3, feeds: 2N}\nworkload:", 1))


def domains(fabric: str, per_rack: int, tp: int = 1) -> Study:
    """Eight nodes in two scale-up domains of four with three switch trays each, whose loss slows the job."""
    base = job(fabric, nodes=8, tp=tp).source.text
    inside = "  scale_up: {domain: 32, switches: 3, switch_loss: slows}\n"
    power = f"  power: {{nodes_per_rack: {per_rack}, feeds: 2N}}\n"
    return study_of(base.replace("workload:", f"{inside}{power}workload:", 1))


def every_part(study: Study, nodes: int, per_rack: int = 3) -> list[Part]:
    links = list(fabric_links(ExportInput(study.design)))
    down = [link for link in links if link.level == "node_leaf" and link.low.kind == "node"]
    leaves_of = {
        node: frozenset((link.plane, link.high.number) for link in down if link.low.number == node)
        for node in range(1, nodes + 1)
    }
    none: frozenset[int] = frozenset()
    none_of: frozenset[tuple[int, int]] = frozenset()
    parts: list[Part] = []
    of_nic = {
        (link.low.number, link.low.port): frozenset(
            (each.plane, each.high.number) for each in down if each.low == link.low
        )
        for link in down
    }
    for node, leaves in leaves_of.items():
        rack = frozenset({(node - 1) // per_rack})
        own = {"accelerator": 8, "NIC": 8, "node": 1}
        parts += [
            (kind, frozenset({node}), leaves, rack, 0, none_of) for kind, count in own.items() for _ in range(count)
        ]
        parts += [
            ("NIC-leaf link", frozenset({node}), leaves, rack, link.plane, of_nic[node, link.low.port])
            for link in down
            if link.low.number == node
        ]
    for plane, leaf in {place for leaves in leaves_of.values() for place in leaves}:
        at = frozenset({(plane, leaf)})
        parts.append(("leaf switch", none, at, none, plane, none_of))
        up = [each for each in links if each.level == "leaf_spine" and (each.plane, each.low.number) == (plane, leaf)]
        parts += [("leaf-spine link", none, at, none, plane, none_of) for _ in up]
    if study.design.cluster is not None and study.design.cluster.scale_up.switches:
        for first in range(1, nodes + 1, 4):
            of_domain = frozenset(range(first, first + 4))
            rack = frozenset({(first - 1) // per_rack}) if per_rack % 4 == 0 else none
            parts += [(TRAY, of_domain, none_of, rack, 0, none_of)] * 3
    for rack_number in range(-(-nodes // per_rack)):
        rack = frozenset({rack_number})
        parts += [(kind, none, none_of, rack, 0, none_of) for kind in ("rack", "power feed", "power feed")]
    return parts


def shared_by(one: Part, other: Part) -> str:
    """What two parts share, the innermost first; empty for nothing."""
    if one[1] & other[1]:
        return "scale-up domain" if TRAY in (one[0], other[0]) else "node"
    if one[2] & other[2]:
        return "leaf"
    return "rack" if one[3] & other[3] else ""


def planes_of(one: Part, other: Part) -> str:
    """Where a link and a leaf of another plane are; empty for other parts, and in one plane."""
    if {one[0], other[0]} != {"NIC-leaf link", "leaf switch"} or one[4] == other[4]:
        return ""
    link, leaf = (one, other) if one[0] == "NIC-leaf link" else (other, one)
    return "in unlike planes" if link[5] & leaf[2] else "in unlike planes, of unlike NICs"


def counted_pairs(parts: list[Part]) -> Counter[tuple[frozenset[str], str, str]]:
    """The pairs of parts of unlike kinds by what they share, each looked at."""
    counted: Counter[tuple[frozenset[str], str, str]] = Counter()
    for one, other in combinations(parts, 2):
        shared = shared_by(one, other)
        if one[0] != other[0] and shared:
            counted[frozenset({one[0], other[0]}), shared, planes_of(one, other)] += 1
    return counted


@telling(1)
@pytest.mark.parametrize("per_rack", [3, 4, 8])
def test_pairs_with_switch_trays_are_those_of_all_parts_listed(per_rack: int) -> None:
    study = domains(FABRICS["rails"], per_rack)
    counted = counted_pairs(every_part(study, 8, per_rack))
    rows = {(frozenset(row.parts), row.shared, row.planes.replace("in one plane", "")): row for row in pairs_of(study)}
    assert {key: row.count for key, row in rows.items()} == dict(counted)
    both = rows[frozenset({TRAY, "accelerator"}), "scale-up domain", ""]
    assert (both.count, both.effect, both.worse) == (2 * 3 * 32, "stops", False)


def test_a_tray_and_a_link_take_bandwidth_of_both_networks() -> None:
    """A third of the domain's links and, of two planes, half of one NIC: slower than each alone."""
    study = domains(f"{FABRICS['rails and planes']}, nic_bandwidth: 100 Gb/s", 4, tp=8)
    alone = {row.part: row.step_time for row in analysis.faults(study).rows}
    row = next(row for row in pairs_of(study) if set(row.parts) == {TRAY, "NIC-leaf link"})
    tray, link = alone[TRAY], alone["NIC-leaf link"]
    assert row.effect == "slows" and row.step_time is not None and tray is not None and link is not None
    assert row.step_time > max(tray, link)


@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_pairs_are_those_of_all_parts_listed(fabric: str) -> None:
    study = racked(fabric)
    counted = counted_pairs(every_part(study, 8))
    report = analysis.faults(study, pairs=True)
    assert report.pairs is not None and not study.failures
    rows = {(frozenset(row.parts), row.shared, row.planes.replace("in one plane", "")): row for row in report.pairs}
    assert {key: row.count for key, row in rows.items()} == dict(counted)
    link_and_leaf = frozenset({"NIC-leaf link", "leaf switch"})
    for planes, effect in (("in unlike planes", "stops"), ("in unlike planes, of unlike NICs", "slows")):
        if row := rows.get((link_and_leaf, "leaf", planes)):
            assert row.effect == effect, planes


def pairs_of(study: Study) -> tuple[PairRow, ...]:
    return tuple(analysis.faults(study, pairs=True).pairs or ())


def rows_of(study: Study) -> dict[tuple[str, str, str, str], PairRow]:
    report = analysis.faults(study, pairs=True)
    return {(*row.parts, row.shared, row.planes): row for row in report.pairs or ()}


def test_a_link_and_a_leaf_of_the_other_plane_stop_a_job_that_each_alone_slows() -> None:
    """Each takes one of two planes of a NIC; in one plane the leaf takes all that the link does."""
    rows = rows_of(racked(FABRICS["planes"]))
    apart = rows["NIC-leaf link", "leaf switch", "leaf", "in unlike planes"]
    same = rows["NIC-leaf link", "leaf switch", "leaf", "in one plane"]
    assert (apart.effect, apart.worse, apart.step_time) == ("stops", True, None)
    assert (same.effect, same.worse) == ("slows", False)
    alone = {row.part: row for row in analysis.faults(racked(FABRICS["planes"])).rows}
    assert same.step_time == pytest.approx(alone["leaf switch"].step_time)


def test_both_at_once_are_as_frequent_as_the_repair_of_one_lasts() -> None:
    """128 hosts fail 46 / 419 as often as all parts, every 5 h; a pair overlaps for 2 × 12 h / 8766 h of the year."""
    study = job(operations="mean_time_between_failures: 5 h")
    alone = {row.part: row.failures or 0.0 for row in analysis.faults(study).rows}
    row = rows_of(study)["accelerator", "node", "node", ""]
    assert row.count == 128 and row.effect == "stops" and not row.worse
    assert row.failures == pytest.approx(128 * alone["accelerator"] / 128 * alone["node"] / 16 * 24 / 8766)


def test_pairs_are_never_faster_than_either_part_alone() -> None:
    report = analysis.faults(racked(f"{FAT_TREE}, planes: 2, oversubscription: 2"), pairs=True)
    alone = {row.part: row.step_time for row in report.rows}
    assert report.pairs
    for row in report.pairs:
        steps = [step for part in row.parts if (step := alone[part]) is not None]
        assert row.step_time is None or row.step_time >= max(steps) * (1 - 1e-9), row


def test_pairs_that_do_more_than_either_come_first_and_then_those_of_the_most_hours() -> None:
    rows = pairs_of(racked(FABRICS["planes"]))
    worse = [row.worse for row in rows]
    assert worse == [True] * sum(worse) + [False] * (len(rows) - sum(worse)) and 0 < sum(worse) < len(rows)
    for one, other in pairwise(rows):
        if one.worse == other.worse:
            assert (one.hours or 0, one.failures or 0) >= (other.hours or 0, other.failures or 0)
    failures = [row.failures or 0 for row in rows if row.worse is False]
    assert failures != sorted(failures, reverse=True), "a rare pair that stops the job loses more than a frequent one"


def test_a_machine_without_pairs_and_one_that_was_not_asked() -> None:
    assert analysis.faults(job()).pairs is None
    body = analysis.faults(job(nodes=1), pairs=True).to_json()
    assert [row["parts"] for row in body["pairs"]] == [["accelerator", "node"]]
