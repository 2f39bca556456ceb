"""Pools of nodes that Karpenter starts: their machine, and their number if it is fixed.

Fields: ``NodePool`` of karpenter.sh/v1 (``spec.template.spec.requirements``; ``spec.replicas`` is "the exact number of
nodes that the node pool will maintain", docs.aws.amazon.com/eks/latest/userguide/auto-static-capacity.html, read
2026-11-29) and ``Provisioner`` of karpenter.sh/v1alpha5 (``spec.requirements``).
"""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import Path, list_at
from clusterspec.exchange.import_result import ImportBuilder, chosen_part, excerpt
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import value_at
from clusterspec.units import plural

_REQUIREMENTS: dict[str, Path] = {
    "NodePool": ("spec", "template", "spec", "requirements"),
    "Provisioner": ("spec", "requirements"),
}
_TYPE = ("node.kubernetes.io/instance-type", "karpenter.azure.com/sku-name")
_CLOUDS = ("aws", "azure", "gcp", "oci")


def has_known_machine(kind: str, yaml: Yaml) -> bool:
    """Whether a pool has one type of machine, and the catalog lists it."""
    return _platform_of(kind, yaml) is not None


def record_pool(pools: list[tuple[str, Yaml]], part: int | None, builder: ImportBuilder) -> None:
    """The machine of a pool. Karpenter chooses the number of nodes by the pods that wait, unless it is fixed."""
    choices = ", ".join(excerpt(value_at(yaml.value, "metadata", "name")) for _, yaml in pools[:8])
    kind, yaml = chosen_part(pools, part, plural(len(pools), "node pool"), choices)
    builder.set("cluster.platform", _platform_of(kind, yaml), yaml.line(*_REQUIREMENTS[kind]))
    path: Path = ("spec", "replicas")
    if (count := positive_integer_of(value_at(yaml.value, *path))) is not None:
        builder.set("cluster.nodes", count, yaml.line(*path))
    else:
        why = "Karpenter starts as many nodes as the pods that wait need"
        builder.unknown("cluster.nodes", why, yaml.line("spec"))


def _platform_of(kind: str, yaml: Yaml) -> str | None:
    """The platform of the only type of machine that a pool allows; None if it allows several, or if the catalog lacks
    it.
    """
    found = [
        list_at(each, "values")
        for each in list_at(yaml.value, *_REQUIREMENTS.get(kind, ("spec", "requirements")))
        if value_at(each, "key") in _TYPE and value_at(each, "operator") == "In"
    ]
    types = {str(each) for values in found for each in values}
    if kind not in _REQUIREMENTS or len(types) != 1:
        return None
    name, ids = types.pop(), Catalog.open().ids("platform")
    return next((each for cloud in _CLOUDS if (each := match_instance(name, cloud, ids))), None)
