"""Published serving plans as specs, and what the program predicts for each."""

from __future__ import annotations

from collections.abc import Iterator
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


@cache
def plans(name: str = "serving") -> tuple[tuple[dict[str, str], Design], ...]:
    """The published plans of a file with their designs: ``serving``; ``new_serving`` of sources that were entered since
    the constants were fitted, to which nothing is fitted. Recipes and scripts state the settings of some, the number of
    requests, whether replicas of attention share an engine and whether all outputs are equally long, images the
    release of others.
    """
    stated = (*SETTINGS, "kv_precision", "requests", "tp", "ep", "attention_dp", "equal_lengths", "overlap_tp")
    further = {row["id"]: {name: row[name] for name in stated if row[name]} for row in table("serving_settings.csv")}
    further |= {
        row["id"]: further.get(row["id"], {}) | {"software": row["software"]} for row in table("serving_releases.csv")
    }
    rows = (dict.fromkeys(SETTINGS, "") | row | further.get(row["id"], {}) for row in table(f"{name}.csv"))
    return tuple((row, study(spec_of(row)).design) for row in rows)


@cache
def predicted_plans(name: str = "serving") -> tuple[tuple[dict[str, str], Design, ServingTimes], ...]:
    """The plans of a file with their times, predicted once: those of open loads keep what they find at other rates."""
    return tuple((row, design, _times_of(row, design)) for row, design in plans(name))


def _times_of(row: dict[str, str], design: Design) -> ServingTimes:
    found = serving_times(design)
    assert found is not None, row["id"]
    return found


def cases(name: str = "serving") -> Iterator[Case]:
    """Times per output token, to the first token, and throughput; the group names quantity, load and kind of model."""
    for row, _, found in predicted_plans(name):
        yield from of_plan(row, found)


def of_plan(row: dict[str, str], found: ServingTimes) -> Iterator[Case]:
    """The published and the predicted figures of one plan."""
    mean = "_mean" if row["statistic"] == "mean" else ""
    names = {"tpot": f"tpot{mean}", "ttft": f"ttft{mean}", "output_tokens_per_second": "output_tokens_per_second"}
    for column, name in names.items():
        if row[column]:
            low, high = serving_range(found, name)
            group = f"{column.replace('output_tokens_per_second', 'throughput')}, {_kind(row, found)}"
            note = f"{row['model']} on {row['accelerator']}, {row['framework']}"
            predicted = getattr(found, name)
            yield Case(row["id"], group, float(row[column]), predicted, low, high, row["url"], note)


def _kind(row: dict[str, str], found: ServingTimes) -> str:
    load = "disaggregated" if row["prefill"] else row["load"]
    experts = any(part.name == "experts" for part in found.decode.parts)
    return f"{load}, {'experts' if experts else 'dense'}"


def spec_of(row: dict[str, str]) -> dict[str, Any]:
    """A published plan as a spec."""
    per_node, count = int(row["per_node"]), int(row["accelerators"])
    cluster: dict[str, Any] = {"accelerator": row["accelerator"], "accelerators_per_node": per_node}
    cluster["nodes"] = -(-count // per_node)
    if row["accelerator"] in RACK:
        cluster["scale_up"] = {"domain": min(72, per_node * cluster["nodes"])}
    work = {
        "kind": "serve",
        "model": row["model"],
        "precision": row["precision"],
        "parameter_precision": row["precision"],
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


def _requests(row: dict[str, str]) -> dict[str, Any]:
    load: dict[str, Any] = {name: int(row[name]) for name in ("input_tokens", "output_tokens")}
    load |= {name: int(row[name]) for name in (*LIMITS, *SETTINGS[:3]) if row.get(name)}
    if row.get("memory_fraction"):
        load["memory_fraction"] = float(row["memory_fraction"])
    if row.get("equal_lengths"):
        load["output_tokens"] = {"mean": load["output_tokens"], "p99": load["output_tokens"]}
    load["load"] = row["load"]
    if row.get("request_rate"):
        load["request_rate"] = float(row["request_rate"])
    if row["draft_tokens"]:
        load["speculative"] = {"tokens": int(row["draft_tokens"]), "acceptance": float(row["acceptance"])}
    if row["prefill"]:
        load["disaggregated"] = {side: _engines(row[side]) for side in ("prefill", "decode")}
    return load


def _engines(text: str) -> dict[str, int]:
    """The degrees of one kind of engine, as ``tp=8 ep=8 replicas=2``."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in text.split())}
