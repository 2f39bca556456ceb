"""Published serving plans as specs, and what the program predicts for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from clusterspec.cluster.model import Design
from clusterspec.cost.serving.latency import ServingTimes, serving_range
from clusterspec.cost.serving.times import serving_times
from tools.accuracy.cases import Case, study, table

RACK = frozenset({"gb200", "gb300"})
DEGREES = ("tp", "pp", "ep", "attention_dp")
LIMITS = ("concurrency", "requests")
SETTINGS = ("max_sequences", "receive_interval", "chunk_tokens", "memory_fraction")
"""The settings of engines that recipes and launch scripts state."""
SHARES = ("memory_fraction", "prefix_hit")
"""Settings between 0 and 1: of the memory, and of the prompt tokens that the cache already has."""


Row = dict[str, str]
"""A published plan as its file has it, with the settings and the release that other files state of it."""


@cache
def rows(name: str = "serving") -> tuple[Row, ...]:
    """The published plans of a file: ``serving``; ``new_serving`` of sources that were entered since the constants
    were fitted, to which nothing is fitted. Recipes and scripts state the settings of some, the number of requests,
    whether replicas of attention share an engine, whether all outputs are equally long and whether graphs are captured;
    images state the release of others.
    """
    settings = table("serving_settings.csv")
    further = {row["id"]: {name: row[name] for name in row if name != "url" and row[name]} for row in settings}
    further |= {
        row["id"]: further.get(row["id"], {}) | {"software": row["software"]} for row in table("serving_releases.csv")
    }
    return tuple(dict.fromkeys(SETTINGS, "") | row | further.get(row["id"], {}) for row in table(f"{name}.csv"))


@cache
def plans(name: str = "serving") -> tuple[tuple[Row, Design], ...]:
    """The published plans of a file with their designs."""
    return tuple((row, _plan_design(name, place)) for place, row in enumerate(rows(name)))


def predicted_plans(
    name: str = "serving", accepts: Callable[[Row], bool] | None = None
) -> Iterator[tuple[Row, Design, ServingTimes]]:
    """The plans of a file, or the wanted ones among them, with their times. Each is predicted once, when it is asked
    for: those of open loads keep what they find at other rates.
    """
    for place, row in enumerate(rows(name)):
        if accepts is None or accepts(row):
            yield row, _plan_design(name, place), _times_at(name, place)


@cache
def _plan_design(name: str, place: int) -> Design:
    """The design of the plan at a place of a file."""
    return study(spec_of(rows(name)[place])).design


@cache
def _times_at(name: str, place: int) -> ServingTimes:
    """The times of the plan at a place of a file."""
    found = serving_times(_plan_design(name, place))
    assert found is not None, rows(name)[place]["id"]
    return found


def cases(name: str = "serving") -> Iterator[Case]:
    """Times per output token, to the first token, and throughput; the group names quantity, load and kind of model."""
    for row, _, found in predicted_plans(name):
        yield from cases_of_plan(row, found)


def cases_of_plan(row: Row, times: ServingTimes) -> Iterator[Case]:
    """The published and the predicted figures of one plan."""
    mean = "_mean" if row["statistic"] == "mean" else ""
    names = {"tpot": f"tpot{mean}", "ttft": f"ttft{mean}", "output_tokens_per_second": "output_tokens_per_second"}
    for column, name in names.items():
        if row[column]:
            low, high = serving_range(times, name)
            group = f"{column.replace('output_tokens_per_second', 'throughput')}, {_kind(row, times)}"
            note = f"{row['model']} on {row['accelerator']}, {row['framework']}"
            predicted = getattr(times, name)
            yield Case(row["id"], group, float(row[column]), predicted, low, high, row["url"], note)


def _kind(row: Row, times: ServingTimes) -> str:
    load = "disaggregated" if row["prefill"] else row["load"]
    experts = any(part.name == "experts" for part in times.decode.parts)
    return f"{load}, {'experts' if experts else 'dense'}"


def spec_of(row: Row) -> dict[str, Any]:
    """A published plan as a spec."""
    per_node, count = int(row["per_node"]), int(row["accelerators"])
    cluster: dict[str, Any] = {"accelerator": row["accelerator"], "accelerators_per_node": per_node}
    cluster["nodes"] = -(-count // per_node)
    if row["accelerator"] in RACK:
        cluster["scale_up"] = {"domain": min(72, per_node * cluster["nodes"])}
    if row.get("power"):
        cluster["accelerator"] = {"like": row["accelerator"], "power": row["power"]}
    if row.get("pcie"):
        cluster["pcie"] = int(row["pcie"])
    work = {
        "kind": "serve",
        "model": row["model"],
        "precision": row["precision"],
        "parameter_precision": row.get("parameter_precision") or row["precision"],
    }
    for key, name in (("expert_parameter_precision", "expert_precision"), ("kv_precision", "kv_precision")):
        if row[name]:
            work[key] = row[name]
    layout: dict[str, Any] = {"framework": row["framework"]}
    if row["software"]:
        layout["software"] = row["software"]
    elif row["software_year"]:
        layout["software_year"] = int(row["software_year"])
    layout |= {name: int(row[name]) for name in DEGREES if row[name]}
    if row.get("overlap_tp"):
        layout["overlap"] = {"tp": row["overlap_tp"]}
    return {
        "clusterspec": 1,
        "name": row["id"],
        "cluster": cluster,
        "workload": work | {"serving": _requests(row)},
        "layout": layout,
    }


def _requests(row: Row) -> dict[str, Any]:
    load: dict[str, Any] = {name: int(row[name]) for name in ("input_tokens", "output_tokens")}
    load |= {name: int(row[name]) for name in (*LIMITS, *SETTINGS[:3]) if row.get(name)}
    load |= {name: float(row[name]) for name in SHARES if row.get(name)}
    if row.get("equal_lengths"):
        load["output_tokens"] = {"mean": load["output_tokens"], "p99": load["output_tokens"]}
    if row.get("hold_steps"):
        load["hold_steps"] = int(row["hold_steps"])
    if row.get("captured_graphs"):
        load["captured_graphs"] = row["captured_graphs"] == "yes"
    load["load"] = row["load"]
    if row.get("request_rate"):
        load["request_rate"] = float(row["request_rate"])
    if row["draft_tokens"]:
        load["speculative"] = {"tokens": int(row["draft_tokens"]), "acceptance": float(row["acceptance"])}
    if row["prefill"]:
        load["disaggregated"] = {side: _degrees_by_name(row[side]) for side in ("prefill", "decode")}
    return load


def _degrees_by_name(text: str) -> dict[str, int]:
    """The degrees of one kind of engine, as ``tp=8 ep=8 replicas=2``."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in text.split())}
