"""The part of a device that collectives between nodes take, by the bandwidth of the NICs of a node."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusterspec.cost.layer_tables import interference_share
from clusterspec.studies import study_text
from tests.effort import telling
from tests.settings import SETTINGS

NODES = """clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: {nodes}
  scale_up: {{technology: nvlink4}}
  scale_out: {{technology: infiniband-ndr, nics_per_node: {nics}, nic_bandwidth: {rate} Gb/s}}
"""


@pytest.mark.parametrize(
    ("nodes", "nics", "rate", "share"),
    [
        (2, 8, 25, 0.4 + 0.6 / 8),  # 25 of 200 GB/s
        (2, 1, 200, 0.4 + 0.6 / 8),
        (2, 1, 400, 0.4 + 0.6 / 4),
        (2, 4, 100, 0.4 + 0.6 / 4),
        (2, 2, 400, 0.4 + 0.6 / 2),
        (2, 8, 100, 0.4 + 0.6 / 2),
        (2, 8, 200, 1.0),
        (2, 4, 400, 1.0),
        (2, 8, 400, 1.0),
        (2, 16, 400, 1.0),
        (1, 4, 100, 1.0),
    ],
)
def test_traffic_between_nodes_disturbs_by_the_bandwidth_of_the_nics_and_not_by_their_number(
    nodes: int, nics: int, rate: int, share: float
) -> None:
    """Two fifths at any rate, the rest in proportion up to 200 GB/s of a node; one node sends nothing to another."""
    cluster = study_text(NODES.format(nodes=nodes, nics=nics, rate=rate), SETTINGS).design.cluster
    assert cluster is not None
    assert cluster.scale_out is None or cluster.scale_out.nics_per_node == nics
    assert interference_share(cluster) == pytest.approx(share)


POD = """clusterspec: 1
cluster: {accelerator: tpu-v5p, accelerators_per_node: 4, nodes: NODES, scale_out: {nic_bandwidth: RATE Gb/s}DOMAIN}
"""


@pytest.mark.parametrize(
    ("nodes", "domain", "share"),
    [
        (16, "", 1.0),  # one torus of 64 chips: its traffic takes no NIC
        (16, ", scale_up: {domain: 16}", 0.4 + 0.6 * 3.125 / 200),  # four of them; one NIC of 25 Gb/s a node
    ],
)
def test_traffic_within_one_domain_of_several_nodes_depends_on_no_nic(nodes: int, domain: str, share: float) -> None:
    text = POD.replace("NODES", str(nodes)).replace("RATE", "25").replace("DOMAIN", domain)
    cluster = study_text(text, SETTINGS).design.cluster
    assert cluster is not None and cluster.scale_out is not None and cluster.scale_out.nics_per_node == 1
    assert interference_share(cluster) == pytest.approx(share)


JOB = """workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {framework: megatron-core, tp: 8, sharding: SHARDING}
"""
SHARDINGS = (("zero1", True), ("zero2", False), ("fsdp", True))


@pytest.mark.parametrize(("nics", "share"), [(2, 0.7), (8, 1.0)])
def test_the_interference_of_a_step_is_the_part_of_that_of_the_software(nics: int, share: float) -> None:
    for sharding, again in SHARDINGS:
        text = NODES.format(nodes=2, nics=nics, rate=400) + JOB.replace("SHARDING", sharding)
        step = study_text(text, SETTINGS).plan.step
        assert step is not None
        overlap, software = step.choices.overlap, step.software
        assert overlap.interference == pytest.approx(software.interference * share) and software.interference > 0
        assert overlap.gathers_again is again and overlap.hides_across is software.overlaps("replicas")


def exposed(nics: int, rate: int, sharding: str) -> float:
    """Exposed seconds of data parallelism in a step."""
    step = study_text(NODES.format(nodes=8, nics=nics, rate=rate) + JOB.replace("SHARDING", sharding), SETTINGS)
    assert step.plan.step is not None
    return step.plan.step.times.replicas


@telling(1)
@pytest.mark.parametrize("sharding", ["zero1", "zero2", "fsdp"])
def test_exposed_traffic_does_not_depend_on_how_a_bandwidth_is_split_over_nics(sharding: str) -> None:
    """400 GB/s of a node as eight NICs to one, and 100 GB/s of one as eight to two."""
    for whole, most, least in ((3200, 8, 1), (800, 8, 2)):
        counts = [nics for nics in (8, 4, 2, 1) if least <= nics <= most]
        times = [exposed(nics, whole // nics, sharding) for nics in counts]
        assert times == pytest.approx([times[0]] * len(times), rel=1e-3), (whole, times)


@pytest.mark.parametrize("sharding", ["zero1", "zero2", "fsdp"])
def test_half_of_the_nics_expose_more(sharding: str) -> None:
    times = [exposed(nics, 400, sharding) for nics in (8, 4, 2, 1)]
    assert all(fewer > 1.1 * more for more, fewer in pairwise(times)), times
