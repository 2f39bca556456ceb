"""Nodes, rates and ports of machines, worked out by hand and compared with the keys that state them."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from clusterspec.cluster.degrees import (
    Degrees,
    domain_overhead,
    job_nodes,
    nodes_of_domain,
    nodes_per_domain,
    rack_nodes,
)
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.nearby_layouts import fewer_nodes, neighbor_degrees
from clusterspec.cluster.scaleout import nic_rate
from clusterspec.cluster.sites import link_to_pool
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.spec.model import LayoutSpec, PoolLinkSpec
from tests.cluster.resolving import catalog, clean, cluster_of
from tests.designs import TRAINED, changed, layout_of, machine_of, work_of

RACKS = "cluster: {{platform: gb200-nvl72, nodes: {}}}"
ONES = ("tp", "attention_dp", "cp", "pp", "dp", "ep", "expert_tp", "virtual_stages")
H100 = "cluster: {{platform: dgx-h100, nodes: {}{}}}"


def of_nodes(nodes: int) -> Cluster:
    return cluster_of(H100.format(nodes, ""))


@pytest.mark.parametrize(
    ("nodes", "used"),
    [(1, None), (2, None), (3, None), (5, 4), (7, 6), (10, 8), (11, None), (15, 12), (20, 16), (22, None), (52, 48)],
)
def test_a_job_leaves_a_quarter_of_the_nodes_at_most_for_a_number_that_degrees_divide(
    nodes: int, used: int | None
) -> None:
    """4 of 5 nodes are 80 %, 8 of 11 and 16 of 22 only 73 %; 12 of 15 are 80 %."""
    assert fewer_nodes(None, of_nodes(nodes)) == (used and ("nodes", used))


@pytest.mark.parametrize(
    ("nodes", "layout", "found"),
    [
        (18, None, ("nodes_per_domain", 16)),
        (36, LayoutSpec(tp=8), ("nodes_per_domain", 16)),
        (36, LayoutSpec(nodes=32), None),
        (36, LayoutSpec(nodes_per_domain=16), None),
        (12, None, None),  # less than a domain
    ],
)
def test_a_rack_of_eighteen_nodes_leaves_two_free(
    nodes: int, layout: LayoutSpec | None, found: tuple[str, int] | None
) -> None:
    assert fewer_nodes(layout, cluster_of(RACKS.format(nodes))) == found


def test_a_domain_of_racks_has_eighteen_nodes_and_that_of_a_node_one() -> None:
    rack, node = cluster_of(RACKS.format(36)), of_nodes(4)
    assert (nodes_of_domain(rack), nodes_of_domain(node)) == (18, 1)
    assert [rack_nodes(machine, stated) for machine in (rack, node) for stated in (None, 9)] == [18, 9, None, 9]
    used = [nodes_per_domain(LayoutSpec(nodes_per_domain=count), rack) for count in (1, 17, 18, 19)]
    assert used == [1, 17, None, None]
    assert nodes_per_domain(LayoutSpec(), rack) is None


def test_a_rack_draws_what_its_nodes_do_not() -> None:
    rack = cluster_of(RACKS.format(36))
    platform = rack.platform
    assert platform is not None and platform.rack_power is not None
    whole = platform.rack_power.value
    rated = platform.power.value if platform.power else whole / 18
    assert domain_overhead(rack) == pytest.approx(max(0.0, whole - 18 * rated))
    high = cluster_of(RACKS.format("36, power: {node: 5 kW}"))
    assert domain_overhead(high) == pytest.approx(max(0.0, whole - 18 * max(5e3, rated)))
    low = replace(platform, power=replace(platform.rack_power, value=whole / 36))
    assert domain_overhead(replace(rack, platform=low)) == pytest.approx(whole / 2)
    assert domain_overhead(of_nodes(4)) == 0


@pytest.mark.parametrize(
    ("degrees", "copies"),
    [
        ({"tp": 2, "pp": 4, "dp": 8, "ep": 4, "expert_tp": 2}, 2),  # 64 ranks over 2 × 4 × 4
        ({"dp": 4, "ep": 4}, 1),
        ({"tp": 2, "ep": 4, "expert_tp": 2}, 1),  # two ranks for eight shards
        ({"tp": 2, "cp": 2, "pp": 2, "dp": 3, "ep": 2}, 6),
    ],
)
def test_copies_of_experts_are_what_is_left_of_the_ranks(degrees: dict[str, int], copies: int) -> None:
    assert Degrees(**dict.fromkeys(ONES, 1) | degrees).expert_dp == copies


def test_a_nic_has_the_rate_of_all_its_ports() -> None:
    entry = catalog().nic("connectx-7")
    assert entry.port_bandwidth is not None
    rates = [nic_rate(replace(entry, ports=ports)) for ports in (None, 1, 2, 4)]
    assert [rate and rate.value / entry.port_bandwidth.value for rate in rates] == [1, 1, 2, 4]
    assert nic_rate(None) is nic_rate(replace(entry, port_bandwidth=None)) is None


RATE = Quantity(100e9, "B/s", "100 GB/s")


@pytest.mark.parametrize(
    ("link", "found"),
    [
        # four nodes of 8 × 50 GB/s behind 2:1, 800 GB/s; three nodes of 4 × 50 GB/s, 600 GB/s
        ({"fabric": "shared"}, (600e9, 200e9, 0.0)),
        ({"bandwidth": RATE}, (100e9, inf, 0.0)),
        ({"bandwidth": RATE, "share": 0.25, "latency": Quantity(2e-3, "s", "2 ms")}, (25e9, inf, 2e-3)),
    ],
)
def test_a_link_of_two_pools_is_as_fast_as_its_slower_end(link: dict[str, Any], found: tuple[float, ...]) -> None:
    fabric = ", scale_out: {{oversubscription: {}{}}}".format
    design = clean(H100.format(8, fabric("2:1", "")))
    other = cluster_of(H100.format(8, fabric("1:1", ", nics_per_node: 4")))
    spec = replace(design.spec, pool_links=(PoolLinkSpec(between=("own", "away"), **link),))
    known = link_to_pool(replace(design, spec=spec), "away", other, (4, 3))
    assert known is not None
    assert known == found
    assert link_to_pool(replace(design, spec=spec), "elsewhere", other, (4, 3)) is None


@pytest.mark.parametrize(
    ("nodes", "spares", "used", "job"),
    [
        (54, 0, 16, 48),  # three racks of 18 trays
        (48, 6, 16, 48),  # the six spare trays are those held back
        (32, 4, 16, 32),
        (36, 18, 16, 32),  # a spare rack of its own
        (48, 5, 16, 32),  # 53 trays are no whole racks
    ],
)
def test_spare_nodes_are_the_trays_held_back_where_these_are_as_many(
    nodes: int, spares: int, used: int, job: int
) -> None:
    rack = replace(cluster_of(RACKS.format(nodes)), spare_nodes=spares)
    assert job_nodes(LayoutSpec(nodes_per_domain=used), rack) == job


@pytest.mark.parametrize(
    ("nodes", "heads", "layers", "tp", "pp"),
    [
        (1, 64, 80, (1, 2, 4, 8), (1, 2, 3, 4, 6, 8)),  # up to the 8 ranks of the job
        (32, 64, 40, (1, 2, 4, 8, 16, 32, 64), (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)),  # 3 × 8 is the last doubling
        (32, 12, 5, (1, 2, 4, 8), (1, 2, 3, 4)),  # up to the heads and the layers
        (32, 0, 0, (1, 2), (1, 3)),  # one where a model states neither, and the present degrees
        (999, 999, 999, (1, 2, 4, 8, 16, 32, 64), (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)),  # 64 at most
    ],
)
def test_neighbors_of_degrees_are_powers_of_two_and_doublings(
    nodes: int, heads: int, layers: int, tp: tuple[int, ...], pp: tuple[int, ...]
) -> None:
    cluster, work = machine_of(TRAINED), changed(work_of(TRAINED), {"model.heads": heads, "model.layers": layers})
    assert cluster.ranks_per_node == 8
    assert neighbor_degrees(cluster, work, replace(layout_of(TRAINED), nodes=nodes, tp=2, pp=3)) == (tp, pp)
