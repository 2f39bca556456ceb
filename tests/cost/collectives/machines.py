"""Clusters for the tests of collectives, resolved from short specs."""

from __future__ import annotations

from functools import cache
from textwrap import dedent

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.studies import study_text
from tests.settings import SETTINGS


def cluster(body: str) -> Cluster:
    """The cluster of a spec whose ``cluster:`` block is ``body``."""
    return resolved(dedent(body))[0]


@cache
def resolved(body: str, rest: str = "") -> tuple[Cluster, Layout | None]:
    """Cluster and layout of a spec."""
    block = "\n".join(f"  {line}" for line in body.strip().splitlines())
    design = study_text(f"clusterspec: 1\nname: test\ncluster:\n{block}\n{dedent(rest)}", SETTINGS).design
    assert design.cluster is not None
    return design.cluster, design.layout


def nodes_of(
    accelerator: str,
    nodes: int,
    technology: str = "infiniband-ndr",
    nics: int = 8,
    rate: int = 400,
    more: str = "",
    up: str = "",
) -> Cluster:
    """Nodes of eight of an accelerator on a fabric; ``more`` and ``up`` add keys to the two tiers."""
    return cluster(
        f"""
        accelerator: {accelerator}
        accelerators_per_node: 8
        nodes: {nodes}
        scale_up: {{{up}}}
        scale_out: {{technology: {technology}, nics_per_node: {nics}, nic_bandwidth: {rate} Gb/s, {more}}}
        """
    )


H100 = "h100-sxm-80gb"
A100 = "a100-sxm-80gb"
