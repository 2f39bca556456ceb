"""What a spec makes of a cloud instance's NICs."""

from __future__ import annotations

from clusterspec.rules.facts import Facts
from clusterspec.rules.slips import near

ROUNDED = 0.02


def counts_frontend(facts: Facts) -> bool:
    """Whether the stated fabric equals the instance's fabric and its frontend together."""
    platform, fabric, said = facts.platform, facts.scale_out, facts.said_scale_out
    if platform is None or fabric is None or said is None:
        return False
    if said.nics_per_node is None and said.nic_bandwidth is None:
        return False
    if platform.nics_per_node is None or platform.nic_bandwidth is None or platform.frontend_bandwidth is None:
        return False
    frontend = (platform.frontend_nics or 1) * platform.frontend_bandwidth.value
    both = platform.nics_per_node * platform.nic_bandwidth.value + frontend
    return near(fabric.node_bandwidth, both, ROUNDED)
