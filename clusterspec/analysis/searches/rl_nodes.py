"""Numbers of nodes for which reinforcement learning meets a condition. Each number is divided between trainer and
rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.analysis.searches.rl_splits import (
    Rollouts,
    keys_of_nodes,
    rollout_nodes_in_proportion,
    splits_of_nodes,
)
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.results.search import RlSplit
from clusterspec.studies import Study, variation

TP = ("workload", "rl", "rollout", "tp")

BestLayouts = Callable[[Design], Iterator[Changes]]
"""The keys of the best layouts of a trainer on the nodes of a design, the best first."""


class Divisions:
    """The divisions of numbers of nodes between trainer and rollout, the fastest first.

    With ``best_layouts``, the trainer has the best layout on its nodes, and engines the best tensor parallelism.
    """

    def __init__(self, study: Study, best_layouts: BestLayouts | None) -> None:
        self.study, self.best_layouts = study, best_layouts
        self._rollouts: Rollouts = {}

    def of_nodes(self, nodes: int) -> Iterator[tuple[Study, Changes]]:
        """The study with each division of a total of ``nodes`` nodes between the roles, and the keys that a layout
        search changed.
        """
        if self.best_layouts is None:
            yield from (
                (self._study_of_split(nodes, split, {}), {}) for split in self._splits(self.study.design, nodes)
            )
            return
        layout: Changes = {}
        best: tuple[RlSplit, ...] = self._splits(self.study.design, nodes)
        start = best[0].rollout_nodes if best else rollout_nodes_in_proportion(self.study.design, nodes)
        for _ in range(ROUNDS):
            varied = variation.varied_study(self.study, keys_of_nodes(self.study.design, nodes, start))
            found = next(self.best_layouts(varied.design), None)
            laid = variation.rewritten_study(self.study, found) if found is not None else None
            splits = self._splits(laid.design, nodes) if laid is not None else ()
            if found is None or not splits or (best and splits[0].step_time >= best[0].step_time):
                break
            layout, best, start = found, splits, splits[0].rollout_nodes
        yield from ((self._study_of_split(nodes, split, layout), layout) for split in best)

    def _splits(self, design: Design, nodes: int) -> tuple[RlSplit, ...]:
        return splits_of_nodes(design, nodes, self._rollouts, degrees=self.best_layouts is not None)

    def _study_of_split(self, nodes: int, split: RlSplit, layout: Changes) -> Study:
        laid = variation.rewritten_study(self.study, layout) if layout else self.study
        keys = keys_of_nodes(self.study.design, nodes, split.rollout_nodes)
        degree: Changes = {TP: split.rollout_tp} if self.best_layouts is not None else {}
        return variation.varied_study(laid, {**keys, **degree})


ROUNDS = 3
"""Rounds in which the division and the layout of the trainer are chosen again for each other."""
