"""Standby nodes that replace failed ones, and those that need the failed part themselves: hand-worked machines."""

from __future__ import annotations

import pytest

from clusterspec.cost.interruptions import STANDBY, Recovery, job_interruptions
from clusterspec.cost.standby import Standbys, is_provided, leaves_spares_open, nodes_of_job, standby_nodes
from tests.cluster.resolving import clean

DENSE = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}\n"
EXPERTS = "workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 9216}\n"
NO_SPARES = "cluster: {platform: dgx-h100, nodes: 4, spare_nodes: 0}\n"
RACKS = "cluster: {platform: gb200-nvl72, nodes: %s}\n"
"""Domains of 18 nodes of four accelerators."""
OF_64 = "layout: {framework: megatron-core, tp: 1, ep: 64, pp: %s%s}\n"
"""An expert group of 64 ranks takes 16 nodes of a domain."""


def standbys(text: str) -> Standbys:
    return Standbys.from_design(clean(text))


def test_nodes_without_work_are_spares_and_idle_ones() -> None:
    text = f"cluster: {{platform: dgx-h100, nodes: 8, spare_nodes: 2}}\n{DENSE}layout: {{nodes: 6, tp: 8}}\n"
    design = clean(text)
    assert (nodes_of_job(design), standby_nodes(design)) == (6, 4)


@pytest.mark.parametrize(
    ("spares", "away", "held", "replaced"),
    [
        (0, 0, 0, True),  # software takes no node
        (0, 1, 1, False),
        (1, 1, 1, True),
        # a leaf with four nodes of the job and all five of the machine; one with eight of the nine
        (1, 4, 9, False),
        (4, 8, 12, False),  # the four spares hang on the same leaf
        (8, 8, 16, False),
        (8, 8, 8, True),  # the spares hang on another one
        (7, 8, 8, False),
        (9, 8, 10, False),  # two of nine spares are below the failed leaf
        (10, 8, 10, True),
        (1000, 8, 1008, False),  # the storage system, a rail or a spine: all nodes need it
    ],
)
def test_a_spare_replaces_a_node_only_where_it_does_without_the_failed_part(
    spares: int, away: int, held: int, replaced: bool
) -> None:
    """A job on eight nodes of eight accelerators."""
    found = standbys(f"cluster: {{platform: dgx-h100, nodes: 8, spare_nodes: {spares}}}\n{DENSE}layout: {{tp: 8}}\n")
    assert (found.replaced_share(away, held) == 1) is replaced


@pytest.mark.parametrize(
    ("nodes", "layout", "node", "domain"),
    [
        # two idle nodes in each of eight domains: one replaces a node of its domain, no domain replaces another
        ("144", OF_64 % (4, ", nodes_per_domain: 16"), True, False),
        ("128, spare_nodes: 16", OF_64 % (4, ", nodes: 128, nodes_per_domain: 16"), True, False),
        # whole other domains replace either
        ("144, spare_nodes: 36", OF_64 % (4, ", nodes_per_domain: 16"), True, True),
        ("144, spare_nodes: 18", "layout: {framework: megatron-core, tp: 1, ep: 72, pp: 4}\n", True, True),
        # two spares outside full domains are in none of them
        ("144, spare_nodes: 2", "layout: {framework: megatron-core, tp: 1, ep: 72, pp: 4}\n", False, False),
        # 14 of the 18 nodes of one rack: the spares are inside
        ("14, spare_nodes: 4", "layout: {framework: megatron-core, tp: 1, ep: 56}\n", True, False),
    ],
)
def test_a_group_over_the_nodes_of_a_domain_needs_the_spare_in_its_domain(
    nodes: str, layout: str, node: bool, domain: bool
) -> None:
    found = standbys(RACKS % nodes + EXPERTS + layout)
    assert found.bound
    assert (found.replaced_share(1, 1) == 1) is node
    assert (found.replaced_share(found.used, found.domain) == 1) is domain


@pytest.mark.parametrize(
    ("nodes", "layout", "bound", "share"),
    [
        # groups of 16 nodes across domains of 18: nothing needs its own domain, and 8 idle nodes replace any node
        ("72", "tp: 1, ep: 64, pp: 4, nodes: 64", False, 1.0),
        ("144, spare_nodes: 2", "tp: 1, ep: 64", False, 1.0),
        # groups of two nodes inside their domains: the 8 idle nodes are more than the ten that the job has in the
        # last one
        ("72", "tp: 1, ep: 8, nodes: 64", True, 10 / 64),
        ("64, spare_nodes: 8", "tp: 1, ep: 8", True, 10 / 64),
        ("72", "tp: 1, ep: 8, nodes: 16", True, 1.0),  # one domain, with two idle nodes
        ("72", "tp: 1, ep: 8, nodes: 54", True, 1.0),  # a whole idle domain
        ("72", "tp: 1, ep: 8", True, 0.0),
        ("72, spare_nodes: 2", "tp: 1, ep: 8", True, 0.0),
        ("72, spare_nodes: 18", "tp: 1, ep: 8", True, 1.0),
    ],
)
def test_idle_nodes_replace_those_of_their_own_domain(nodes: str, layout: str, bound: bool, share: float) -> None:
    text = f"{RACKS % nodes}{EXPERTS}layout: {{framework: megatron-core, {layout}}}\n"
    found = standbys(text if "spare" in nodes else text.replace("}\nworkload", ", spare_nodes: 0}\nworkload"))
    assert found.bound is bound
    assert found.replaced_share(1, 1) == pytest.approx(share)


def test_failures_wait_for_a_repair_where_no_standby_node_is_in_their_domain() -> None:
    """Ten of 64 nodes have standby ones in addition: 54 of 64 failures of nodes wait 12 h, and all restart."""
    layout = "layout: {framework: megatron-core, tp: 1, ep: 8, nodes: 64}\n"
    text = f"{RACKS % '72, spare_nodes: 0'}{EXPERTS}{layout}operations: {{restart_time: 20 min, repair_time: 12 h}}\n"
    recovery = Recovery.from_design(clean(text), None)
    assert recovery.share_without_standby(1, 1) == pytest.approx(54 / 64)
    assert recovery.seconds(1, 1, 12 * 3600) == pytest.approx(1200 + 54 / 64 * 12 * 3600)
    assert recovery.waits_for_repair(1, 1)


def test_groups_inside_nodes_move_to_any_domain() -> None:
    """16 of 18 nodes of eight domains: 14 idle ones stand outside of a failed domain, 16 would be needed."""
    free = standbys(RACKS % "144" + DENSE + "layout: {tp: 4, nodes_per_domain: 16}\n")
    assert not free.bound and (free.replaced_share(1, 1), free.replaced_share(16, 18)) == (1, 0)
    spared = standbys(RACKS % "144, spare_nodes: 2" + DENSE + "layout: {tp: 4, nodes_per_domain: 16}\n")
    assert spared.replaced_share(16, 18) == 1, "14 idle nodes and two spares"


@pytest.mark.parametrize(
    ("text", "provided"),
    [
        ("cluster: {platform: aws-p5-48xlarge, nodes: 4}\n", True),
        ("cluster: {platform: dgx-h100, nodes: 4}\nprocurement: {prices: {node_hour: 80}}\n", True),
        (f"{NO_SPARES}procurement: {{prices: {{node_hour: 80, node: 300000}}}}\n", False),
        (NO_SPARES, False),
    ],
)
def test_a_provider_replaces_single_nodes(text: str, provided: bool) -> None:
    design = clean(f"{text}{DENSE}layout: {{tp: 8}}\n")
    assert is_provided(design) is provided
    found = Standbys.from_design(design)
    assert (found.replaced_share(1, 1), found.replaced_share(2, 2)) == (provided, 0)


def test_another_node_takes_over_where_the_spec_leaves_spares_open() -> None:
    """That a spec states none does not say that there is none; what a failed leaf switch takes waits all the same."""
    for spares, waits, standby in (("", 0.0, True), (", spare_nodes: 0", 1.0, False)):
        design = clean(f"cluster: {{platform: dgx-h100, nodes: 4{spares}}}\n{DENSE}layout: {{tp: 8}}\n")
        found = Standbys.from_design(design)
        assert leaves_spares_open(design) is standby
        assert (found.replaced_share(1, 1), found.replaced_share(4, 4)) == (standby, 0)
        kept = job_interruptions(design, 8e9, step=10.0)
        assert (kept.standby is not None) is standby
        assert any(each.origin == STANDBY.origin for each in kept.assumed) is standby
        assert (kept.waits > 0.5) is (waits > 0.5)


def test_standby_nodes_replace_whole_domains_and_one_with_enough_nodes_for_the_job() -> None:
    """Domains of 18 nodes, of which the job uses 16: 34 nodes are one domain and the 16 of another."""
    found = Standbys(40, 0, 0, 40, 16, 16, 18, bound=True, provided=False, job=64, nodes=112)
    for outside, domains in ((15, 0), (16, 1), (18, 1), (33, 1), (34, 2), (36, 2)):
        for taken in (1, 2, 3):
            share = found._replace(outside=outside).replaced_share(16 * taken, 18 * taken)
            assert share == (taken <= domains), (outside, taken)
    assert found._replace(outside=0).replaced_share(1, 1) == 0.0
    assert found._replace(outside=0, in_last=2, last=8).replaced_share(1, 1) == 8 / 64
    assert found._replace(outside=0, inside=2).replaced_share(1, 1) == 1.0
    assert found.replaced_share(64, 112) == found.replaced_share(64, 200) == 0.0, "all nodes of the machine"
    assert found._replace(outside=0, provided=True).replaced_share(1, 1) == 1.0
    assert found._replace(outside=0, provided=True).replaced_share(1, 2) == 0.0
