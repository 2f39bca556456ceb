"""The published cases, and what the program predicts for each."""

from __future__ import annotations

import csv
import json
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from clusterspec import analysis, studies
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import OUTSIDE, Term

DATA = Path(__file__).resolve().parents[2] / "tests" / "accuracy"
TODAY = date(2026, 11, 20)
MEBIBYTE = 2**20
FILES = ("runs", "small_runs", "new_runs")
"""Files of published training runs."""


@dataclass(frozen=True)
class Case:
    """One prediction with its published figure, both in SI units."""

    id: str
    group: str
    published: float
    predicted: float | None
    low: float | None = None
    high: float | None = None
    source: str = ""
    note: str = ""

    @property
    def error(self) -> float:
        """Predicted over published, less one; unbounded where nothing could be predicted."""
        return self.predicted / self.published - 1 if self.predicted is not None else float("inf")

    @property
    def inside(self) -> bool | None:
        """Whether the published figure lies in the predicted band."""
        return None if self.low is None or self.high is None else self.low <= self.published <= self.high


@cache
def settings() -> studies.Settings:
    return studies.Settings(Catalog.open(), Config(), TODAY)


def study(spec: dict[str, Any]) -> studies.Study:
    """A spec as data, taken up the stairs as text."""
    return studies.study_text(json.dumps(spec, ensure_ascii=False), settings())


@cache
def published_runs(name: str = "runs") -> tuple[dict[str, Any], ...]:
    """The runs of one file: ``runs``; ``small_runs`` of models so small that launching bounds their steps;
    ``new_runs`` of sources that were entered since the split of sources was declared, to which nothing is fitted.
    """
    return tuple(json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines())


def table(name: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file of published figures."""
    yield from csv.DictReader((DATA / name).read_text("utf-8").splitlines())


@cache
def _specs_of_runs() -> dict[str, dict[str, Any]]:
    """The spec of every published run by its id."""
    return {run["id"]: run["spec"] for name in FILES for run in published_runs(name)}


@cache
def study_of(run: str) -> studies.Study:
    """The published run with an id, read once; its plan and its findings are computed on first use."""
    return study(_specs_of_runs()[run])


def plan_of(run: str) -> Plan | None:
    """The plan of one published run."""
    return study_of(run).plan


def step_time(run: dict[str, Any], plan: Plan | None) -> float | None:
    """The published seconds of a step; where only a FLOP rate was printed, the FLOPs are ours."""
    if run["step_time"]:
        return float(run["step_time"])
    work = run["spec"]["workload"]
    if run["tokens_per_second_per_accelerator"]:
        tokens = work["global_batch"] * work["sequence_length"]
        return float(tokens / (run["tokens_per_second_per_accelerator"] * run["accelerators"]))
    if run["flops_per_accelerator"] and plan and plan.step_time and plan.model_flops_per_accelerator:
        return plan.step_time.value * plan.model_flops_per_accelerator / float(run["flops_per_accelerator"])
    return None


def runs(ids: Container[str] | None = None) -> Iterator[Case]:
    """Step times: of all runs, or of those with the ids in ``ids``."""
    return _steps("runs", ids)


def small_runs() -> Iterator[Case]:
    """Step times of small models."""
    return _steps("small_runs")


def new_runs(ids: Container[str] | None = None) -> Iterator[Case]:
    """Step times of sources to which nothing is fitted: of all their runs, or of those with the ids in ``ids``."""
    return _steps("new_runs", ids)


def first_predictions() -> Iterator[Case]:
    """The predictions made when the rows were entered."""
    for run in published_runs("new_runs"):
        published = step_time(run, plan_of(run["id"]) if run["flops_per_accelerator"] else None)
        if published is not None:
            yield Case(run["id"], run["accelerator"], published, run["first"], source=run["source"], note=run["model"])


def new_memory(error: float | None = None, ids: Container[str] | None = None) -> Iterator[Case]:
    """Peak memory of sources to which nothing is fitted, of all their runs or those with ``ids``; with ``error``
    instead of the program's error of activations, as a share of them.
    """
    for run in published_runs("new_runs"):
        if ids is None or run["id"] in ids:
            yield from _memory(run, plan_of(run["id"]) if run["memory"] else None, error)


def _steps(name: str, ids: Container[str] | None = None) -> Iterator[Case]:
    for run in published_runs(name):
        if ids is None or run["id"] in ids:
            yield from _step(run, plan_of(run["id"]))


def _step(run: dict[str, Any], plan: Plan | None) -> Iterator[Case]:
    published = step_time(run, plan)
    if run["fits"] and published is not None:
        low, high = (plan.step_time_range if plan else None) or (None, None)
        predicted = plan.step_seconds if plan else None
        yield Case(run["id"], run["accelerator"], published, predicted, low, high, run["source"], run["model"])


def memory(ids: Container[str] | None = None) -> Iterator[Case]:
    """Peak memory: of all runs, or of those with the ids in ``ids``."""
    for run in published_runs():
        if ids is None or run["id"] in ids:
            yield from _memory(run, plan_of(run["id"]) if run["memory"] else None)


UNCOUNTED: dict[str, frozenset[str]] = {
    "device": frozenset(),
    "reserved": OUTSIDE,
    "allocated": OUTSIDE | {"fragmentation"},
}
"""Memory that a published peak omits, by what the peak counts: all device memory in use (also where the source does not
say), memory reserved by PyTorch's allocator, or memory that the allocator has given to tensors, without what it keeps.
"""


def _memory(run: dict[str, Any], plan: Plan | None, error: float | None = None) -> Iterator[Case]:
    """Peak memory, without the parts that the published figure does not count."""
    if not run["memory"]:
        return
    found: tuple[float | None, float | None, float | None] = (None, None, None)
    if plan and plan.memory and plan.memory_range:
        left = UNCOUNTED[run.get("memory_counts", "device")]
        out = sum(part.value for part in plan.memory.other.parts if isinstance(part, Term) and part.name in left)
        held = replace(plan.memory, kept=0.0) if "fragmentation" in left else plan.memory
        held = held if error is None else replace(held, error=error * held.activations.value)
        low, high = held.range or plan.memory.total.ends
        found = (plan.memory.total.value - out, low - out, high - out)
    yield Case(run["id"], run["accelerator"], run["memory"], *found, run["source"], run["model"])


def fits(ids: Container[str] | None = None) -> Iterator[Case]:
    """Cases of memory fit: 1 if the prediction agrees with the run (it ran, or ran out of memory), else 2. Runs that
    ran out of memory are always among them; of the others, those with the ids in ``ids``.
    """
    for run in published_runs():
        if not run["offloads"] and (ids is None or not run["fits"] or run["id"] in ids):
            plan = plan_of(run["id"])
            predicted_fit = plan.memory.fits if plan and plan.memory else None
            group = "ran" if run["fits"] else "ran out of memory"
            yield Case(run["id"], group, 1.0, 1.0 if predicted_fit is run["fits"] else 2.0, source=run["source"])


def collectives() -> Iterator[Case]:
    """Times of collectives, by size, started as each log says (``processes`` of `analysis.collective`)."""
    rows: dict[str, list[dict[str, str]]] = {}
    for row in table("collectives.csv"):
        rows.setdefault(row["series"], []).append(row)
    for series in table("collective_series.csv"):
        sizes = [float(row["size"]) for row in rows[series["series"]]]
        one = study(collective_spec(series))
        name, ranks, algorithm = series["collective"], int(series["ranks"]), series["algorithm"] or None
        found = analysis.collective(one, name, ranks, sizes, algorithm, processes=series["processes"] or None)
        for row, got in zip(rows[series["series"]], found.rows, strict=True):
            id_ = f"{series['series']} {row['size']}"
            yield Case(id_, size_group(got.size), float(row["seconds"]), got.seconds, got.low, got.high, row["source"])


def size_group(size: float) -> str:
    """The group of a collective by its size in bytes."""
    if size < MEBIBYTE:
        return "below 1 MiB"
    return "1 to 256 MiB" if size < 256 * MEBIBYTE else "from 256 MiB"


def collective_spec(series: dict[str, str]) -> dict[str, Any]:
    """The machine of a series as a spec."""
    cluster: dict[str, Any] = {
        "accelerator": series["accelerator"],
        "accelerators_per_node": int(series["accelerators_per_node"]),
        "nodes": max(1, int(series["nodes"])),
    }
    if series["technology"]:
        out = {
            "technology": series["technology"],
            "nics_per_node": int(series["nics_per_node"]),
            "nic_bandwidth": f"{series['nic_gbps']} Gb/s",
        }
        if series["collective_plugin"]:
            out["collective_plugin"] = series["collective_plugin"]
        if series["collective_library"]:
            out["collective_library"] = series["collective_library"]
        if series["technology"].startswith("roce"):
            out["flow_control"] = {"pfc": True, "ecn": True}
        cluster["scale_out"] = out
    up: dict[str, Any] = {"domain": int(series["domain"])} if series["domain"] else {}
    if series["topology"]:
        up["topology"] = series["topology"]
    if series["in_network_reduction"]:
        up["in_network_reduction"] = True
    return {"clusterspec": 1, "name": series["series"], "cluster": cluster | ({"scale_up": up} if up else {})}


TECHNOLOGIES = {100: "infiniband-edr", 200: "infiniband-hdr", 400: "infiniband-ndr", 800: "infiniband-xdr"}


def fabrics() -> Iterator[Case]:
    """Switches and links of reference designs."""
    for row in table("fabrics.csv"):
        fabric = analysis.bill(study(fabric_spec(row))).fabric
        if fabric is None:
            raise ValueError(f"{row['id']} has no fabric")
        found = fabric.to_json()
        wanted = [("leaf", "leaf_switches"), ("spine", "spine_switches"), ("core", "core_switches")]
        pairs = [(name, row[name], found[key]) for name, key in wanted]
        pairs += [(k, row[f"cables_{k}"], found["cables"][k]) for k in ("leaf_spine", "spine_core")]
        for name, published, predicted in pairs:
            if published not in ("", "0"):
                yield Case(f"{row['id']} {name}", name, float(published), float(predicted), source=row["source"])


def fabric_spec(row: dict[str, str]) -> dict[str, Any]:
    rate, nodes = int(row["nic_gbps"]), int(row["nodes"])
    out: dict[str, Any] = {
        "technology": row["technology"] or TECHNOLOGIES[rate],
        "nics_per_node": int(row["nics_per_node"]),
        "nic_bandwidth": f"{rate} Gb/s",
        "topology": "rail-optimized",
        "planes": int(row["planes"]),
        "switch_ports": int(row["switch_radix"]),
        "oversubscription": row["oversubscription"],
    }
    part = "b300-sxm-288gb" if rate == 800 else "b200-sxm-180gb" if "b200" in row["id"] else "h100-sxm-80gb"
    cluster = {"accelerator": part, "accelerators_per_node": int(row["accelerators"]) // nodes, "nodes": nodes}
    return {"clusterspec": 1, "name": row["id"], "cluster": cluster | {"scale_out": out}}
