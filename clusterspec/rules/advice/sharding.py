"""Whether sharding inside the domain is faster than across domains."""

from __future__ import annotations

from clusterspec.rules.advice.what_if import NOTICEABLE, Alternative, fitting
from clusterspec.rules.facts import Facts


def hsdp_instead(facts: Facts) -> Alternative | None:
    """hsdp with shard groups of one domain, where it is legal, fits, and is noticeably faster than fsdp; else None.

    Computed once for all rules.
    """
    return facts.remember(_hsdp_instead)


def _hsdp_instead(facts: Facts) -> Alternative | None:
    cluster, layout = facts.cluster, facts.layout
    if cluster is None or layout is None or facts.training is None or layout.sharding != "fsdp":
        return None
    group = cluster.ranks_per_domain // layout.tp
    placement = facts.placement("shard")
    if placement is None or placement.domains < 2 or group < 2 or (layout.dp * layout.cp) % group:
        return None
    found = fitting(facts, [{"sharding": "hsdp", "shard_group": group}])
    saving = found[0].saving(facts) if found else None
    return found[0] if saving is not None and saving > NOTICEABLE else None
