"""Rails of small fabrics, names of jobs that are too long, and tests that no document can list."""

from __future__ import annotations

import re

import pytest

from clusterspec.exchange.exporters.fabric import _switch_index, fabric_plane
from clusterspec.exchange.exporters.registry import ExportInput, MissingPart
from clusterspec.studies import study_text
from tests.exchange.test_exporters import exported, pod, source
from tests.settings import SETTINGS

TWO_NICS = "platform: dgx-h100, nodes: {}, scale_out: {{topology: {}, switch: quantum-2-qm9700, nics_per_node: 2}}"


@pytest.mark.parametrize(
    ("nodes", "topology", "leaves", "rails"),
    [
        (8, "rail-optimized", 1, 1),  # a single leaf has the NICs of a node next to each other
        (32, "rail-optimized", 1, 1),  # 64 ends on 64 ports
        (33, "rail-optimized", 4, 2),
        (33, "fat-tree", 3, 1),
        (40, "rail-only", 2, 2),  # 40 ends of each rail on a switch of its own
    ],
)
def test_nics_are_spread_over_rails_from_two_leaves_on(nodes: int, topology: str, leaves: int, rails: int) -> None:
    plane = fabric_plane(source(TWO_NICS.format(nodes, topology)))
    assert (plane.leaves, plane.rails) == (leaves, rails)


TEST = "{{collective: all-reduce, nodes: {}, size: {} GiB, busbw: 300 GB/s}}"


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("pod", ["pod-all-reduce-1-node-4gib", "pod-all-reduce-1-node-8gib"]),
        # cut to 55 characters with a number that tells them apart
        ("p" * 40, [f"{'p' * 40}-all-reduce-1-1", f"{'p' * 40}-all-reduce-1-2"]),
    ],
)
def test_jobs_with_long_names_are_numbered_from_one(name: str, jobs: list[str]) -> None:
    tests = ", ".join(TEST.format(*each) for each in ((1, 4), (2, 8), (1, 8)))
    text = f"clusterspec: 1\nname: {name}\ncluster: {{platform: dgx-h100, nodes: 4}}\nacceptance: [{tests}]\n"
    written = exported("kubernetes-job", ExportInput(study_text(text, SETTINGS).design))
    assert re.findall(r"^  name: (\S+)$", written, re.MULTILINE) == jobs


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        (("{collective: all-reduce, nodes: 1}",), r"^acceptance\[0\]: "),
        ((TEST.format(1, 8), "{collective: all-reduce, nodes: 1}"), r"^acceptance\[1\]: "),
    ],
)
def test_clauses_are_not_written_of_a_test_that_cannot_be_run(tests: tuple[str, ...], why: str) -> None:
    with pytest.raises(MissingPart, match=why):
        exported("clauses", pod(nodes=4, rest=f"acceptance: [{', '.join(tests)}]\n"))


@pytest.mark.parametrize(
    ("uplinks", "first", "switches", "places"),
    [
        (8, 0, 4, [0, 0, 1, 1, 2, 2, 3, 3]),  # neighbors share a switch
        (8, 24, 4, [0, 0, 1, 1, 2, 2, 3, 3]),
        (4, 0, 4, [0, 1, 2, 3]),
        (3, 0, 1, [0, 0, 0]),
        (6, 0, 4, [0, 1, 2, 3, 0, 1]),  # six on four: in turn, and the next device goes on
        (6, 6, 4, [2, 3, 0, 1, 2, 3]),
        (5, 0, 4, [0, 1, 2, 3, 0]),
        (5, 5, 4, [1, 2, 3, 0, 1]),
    ],
)
def test_uplinks_that_divide_evenly_are_neighbors_and_others_go_in_turn(
    uplinks: int, first: int, switches: int, places: list[int]
) -> None:
    assert [_switch_index(uplink, uplinks, first, switches) for uplink in range(uplinks)] == places
