"""The part of a device that collectives between nodes take, by the NICs of a node."""

from __future__ import annotations

import pytest

from clusterspec.cost.timing import channel_share
from clusterspec.studies import study_text
from tests.settings import SETTINGS

NODES = """clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: {nodes}
  scale_up: {{technology: nvlink4}}
  scale_out: {{technology: infiniband-ndr, nics_per_node: {nics}, nic_bandwidth: 400 Gb/s}}
"""


@pytest.mark.parametrize(
    ("nodes", "nics", "share"),
    [(2, 1, 0.125), (2, 2, 0.25), (2, 4, 0.5), (2, 8, 1.0), (2, 16, 1.0), (1, 4, 1.0)],
)
def test_two_channels_for_each_nic_take_a_sixteenth_of_the_fitted_part_each(
    nodes: int, nics: int, share: float
) -> None:
    """Eight NICs open the 16 channels of the fit; more take no more, and one node sends nothing to another."""
    cluster = study_text(NODES.format(nodes=nodes, nics=nics), SETTINGS).design.cluster
    assert cluster is not None
    assert cluster.scale_out is None or cluster.scale_out.nics_per_node == nics
    assert channel_share(cluster) == share


JOB = """workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {framework: megatron-core, tp: 2, sharding: SHARDING}
"""


@pytest.mark.parametrize(("nics", "share"), [(2, 0.25), (8, 1.0)])
def test_the_interference_of_a_step_is_that_of_the_software_on_the_channels_of_the_nics(
    nics: int, share: float
) -> None:
    for sharding, again in (("zero1", True), ("zero2", False), ("fsdp", True)):
        text = NODES.format(nodes=2, nics=nics) + JOB.replace("SHARDING", sharding)
        step = study_text(text, SETTINGS).plan.step
        assert step is not None
        overlap, software = step.choices.overlap, step.software
        assert overlap.interference == pytest.approx(software.interference * share) and software.interference > 0
        assert overlap.gathers_again is again and overlap.hides_across is software.overlaps("replicas")
