"""Step time and memory of every layout of a family."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from math import inf
from typing import NamedTuple

from clusterspec.cluster.model import Design
from clusterspec.cost import memory
from clusterspec.cost.tables import Tables
from clusterspec.cost.timing import tables_of, timed
from clusterspec.records import replace
from clusterspec.search.front import Numbers
from clusterspec.search.layouts import layout_of
from clusterspec.search.space import Family, Job, choices


class Columns(NamedTuple):
    """Seconds of a step and bytes on the fullest accelerator, one number for each layout of a family in the order of
    `space.choices`. Both are infinite for a layout whose time cannot be computed."""

    step_time: Numbers
    memory: Numbers


Evaluate = Callable[[Family], Columns]


def one_by_one(design: Design, job: Job) -> Evaluate:
    """An evaluation of families with the tables of one design; each layout is estimated by itself."""
    tables = tables_of(design)

    def evaluate(family: Family) -> Columns:
        rows = [_pair(design, job, tables, index, family) for index in range(family.size)]
        return Columns([time for time, _ in rows], [held for _, held in rows])

    return evaluate


def _pair(design: Design, job: Job, tables: Tables | None, index: int, family: Family) -> tuple[float, float]:
    layout = layout_of(job, next(islice(choices(family), index, None)))
    one = replace(design, layout=layout)
    found = timed(one, tables) if tables else None
    used, _ = memory.use(one)
    if found is None or used is None:
        return inf, inf
    return found.seconds, used.total.value


def evaluation(design: Design, job: Job) -> Evaluate:
    """The fastest way there is to evaluate families of a design."""
    return one_by_one(design, job)
