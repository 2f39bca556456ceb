"""The tables of one cluster, workload and generation of software."""

from __future__ import annotations

from clusterspec.catalog.entries import Stack
from clusterspec.cluster.groups import place_runs, runs
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.collectives.paths import paths_of
from clusterspec.cost.compute import embedding_and_head
from clusterspec.cost.compute.rates import Rates, rates
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.compute.software import Software
from clusterspec.cost.formulas.links import PCIE_3_TRANSFERS, PCIE_128B130B, slot_bandwidth
from clusterspec.cost.parameters import Chunk, Share
from clusterspec.cost.record import PartTime
from clusterspec.cost.tables.group import Group
from clusterspec.cost.tables.hiding import Hiding
from clusterspec.cost.tables.layer import timed_dense_layer, timed_expert_layer
from clusterspec.cost.tables.phase import PhaseTimer

LANES = 16
USUAL_SLOT = 4
"""Generation of PCI Express where the spec and the catalog state none."""


Groups = dict[object, Group]
"""Groups by the offsets of their ranks, and by their paths."""


class Tables:
    """Sub-results that many layouts of one job share.

    ``groups`` may be those of other tables whose clusters have the same links.
    """

    def __init__(
        self, cluster: Cluster, workload: Workload, stack: Stack, software_year: int, groups: Groups | None = None
    ) -> None:
        self.cluster, self.workload, self.stack, self.software_year = cluster, workload, stack, software_year
        self.software = Software.of(stack)
        self.rates: Rates | None = rates(cluster, workload, self.software, software_year)
        self.groups: Groups = {} if groups is None else groups
        self._parts: dict[object, PartTime] = {}
        self._shares: dict[object, Share] = {}

    def hold_for(self, design: Design) -> bool:
        """Whether these are tables of the cluster, the workload and the software of a design."""
        layout = design.layout
        if layout is None or layout.stack != self.stack or layout.software_year != self.software_year:
            return False
        return design.cluster == self.cluster and design.workload == self.workload

    def group(self, layout: Layout, axis: str) -> Group:
        """The groups of an axis (`clusterspec.cluster.groups.AXES`); those with the same paths are one object."""
        inside, outside = runs(layout, axis)
        key = (inside, outside, layout.nodes_per_domain)
        found = self.groups.get(key)
        if found is None:
            placement = place_runs(self.cluster, axis, inside, outside, layout.nodes_per_domain)
            paths = paths_of(self.cluster, placement)
            same = (paths or placement, placement.domains)
            found = self.groups[key] = self.groups.setdefault(same, Group(self.cluster, placement, paths))
        return found

    def share(self, layout: Layout, chunks: tuple[Chunk, ...]) -> Share:
        """The weights of a rank that holds these chunks."""
        key = (layout.tp, layout.ep, layout.expert_tp, chunks)
        found = self._shares.get(key)
        if found is None:
            found = self._shares[key] = parameters.share(self.workload.model, layout, chunks)
        return found

    def part(self, name: str, layout: Layout, hiding: Hiding) -> PartTime:
        """One micro-batch through a part of the model: dense_layer, expert_layer, embedding or head.

        Raises `NoPathError` where nothing joins the ranks of a group that communicates there.
        """
        degrees = (layout.micro_batch, layout.tp, layout.cp, layout.sequence_parallel)
        key: tuple[object, ...] = (name, *degrees)
        if name.endswith("layer"):
            experts = (layout.ep, layout.expert_tp, layout.dispatcher) if name == "expert_layer" else ()
            axes = ("tp", "cp", "ep", "expert_tp") if experts else ("tp", "cp")
            joined = (self.group(layout, axis) if getattr(layout, axis) > 1 else None for axis in axes)
            key = (*key, *experts, layout.recompute, layout.cp_method, hiding, *joined)
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = self._timed(name, layout, hiding)
        return found

    def _timed(self, name: str, layout: Layout, hiding: Hiding) -> PartTime:
        assert self.rates is not None
        shard, software = Shard.of(self.workload, layout), self.software
        timer = PhaseTimer(self.rates.speed, software, hiding, lambda axis: self.group(layout, axis))
        if name == "dense_layer":
            return timed_dense_layer(shard, layout, timer)
        if name == "expert_layer":
            return timed_expert_layer(shard, layout, timer)
        if name == "embedding":
            return timer.part(name, embedding_and_head.embedding(shard))
        return timer.part(name, embedding_and_head.head(shard, software.loss, software.accumulation))

    @property
    def host_bandwidth(self) -> float:
        """B/s per direction between one rank and its host's memory: a slot of 16 lanes."""
        generation = self.cluster.pcie_host or USUAL_SLOT
        transfers = PCIE_3_TRANSFERS * 2.0 ** (generation - 3)
        return slot_bandwidth(transfers, LANES, PCIE_128B130B) / self.cluster.ranks_per_accelerator
