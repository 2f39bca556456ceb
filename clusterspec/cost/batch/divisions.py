"""Divisions of the ranks: degrees that many rows of a batch share, and the groups that an order of axes gives them."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array
from clusterspec.cost.batch.index import Numbers
from clusterspec.cost.batch.layouts import layout_of
from clusterspec.cost.batch.tables import LAYER_AXES, BatchTables
from clusterspec.cost.tables.group import Group
from clusterspec.records import NamedTuple

DIVIDED = ("tp", "cp", "ep", "expert_tp", "pp", "dp", "shard_group")
"""The degrees of a division."""
ALONE = {"micro_batch": 1, "virtual_stages": 1}
"""What a layout needs besides them for its groups."""


class Divisions:
    """Columns of the `DIVIDED` degrees and expert_dp, and the index of each sub-result that depends on them alone."""

    def __init__(self, known: BatchTables, columns: Mapping[str, Array]) -> None:
        self.known, self.columns = known, {name: columns[name] for name in DIVIDED}
        dense, expert = columns["tp"] * columns["cp"] * columns["dp"], columns["expert_tp"] * columns["ep"]
        self.columns["expert_dp"] = known.library.maximum(dense // expert, 1)
        self.floats = {name: known.library.asarray(column, "float64") for name, column in self.columns.items()}
        self.numbers = {name: known.values[name](columns[name]) for name in DIVIDED if name != "dp"}
        degrees = self.numbers
        self.shape = known.shapes([degrees[axis] for axis in LAYER_AXES])
        self.cut = known.cuts([degrees[axis] for axis in ("tp", "ep", "expert_tp")])
        self.several = 2 * (columns["tp"] > 1) + 1 * (columns["cp"] > 1)
        """2 where tp has several ranks, plus 1 where cp has."""
        self.held = known.held([self.shape, degrees["pp"], degrees["shard_group"]])

    def placed(self, template: Layout) -> PlacedDivisions:
        """The divisions with their ranks placed, by the order of axes and the sharding of a template."""
        known, hsdp = self.known, template.sharding == "hsdp"
        inside = LAYER_AXES if known.tables.workload.model.experts else LAYER_AXES[:2]
        outside = ("shard", "replicate", "expert_dp") if hsdp else ("dp_cp", "expert_dp")

        def group_of(row: int, axis: str) -> Group:
            degrees = {name: int(column[row]) for name, column in self.columns.items()}
            return known.tables.group(layout_of(template, known.tables.workload, degrees | ALONE), axis)

        places = known.placements.number(template, self.columns, (*inside, "pp", *outside), group_of)
        path = known.paths([self.shape, *(places[axis] for axis in inside)])
        stage = known.stages([path, self.numbers["pp"], places["pp"]])
        replicated = [self.cut, self.numbers["pp"], *(places[axis] for axis in outside)]
        return PlacedDivisions(self, places, path, stage, known.replicas["hsdp" if hsdp else ""](replicated))


class PlacedDivisions(NamedTuple):
    """Divisions with their ranks placed. ``places`` has the index of the groups of each axis; ``path``, ``stage`` and
    ``replicas`` are the indices of the inputs of a layer, of a stage and of data parallelism.
    """

    divisions: Divisions
    places: Mapping[str, Numbers]
    path: Numbers
    stage: Numbers
    replicas: Numbers
