"""Published steps of reinforcement learning as specs, and their predictions.

Constants are fitted on half of the sources. The hash of a source's name decides its side, before its rows are read.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.records import dataclass
from clusterspec.studies import Settings, study_text
from tools.accuracy.cases import Case
from tools.accuracy.split import is_held_out

TABLE = Path(__file__).resolve().parents[2] / "tests" / "accuracy" / "rl.csv"
Row = dict[str, str]


def rows() -> list[Row]:
    """All rows of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def spec_of_row(row: Row) -> dict[str, Any]:
    """The spec of a row; what its source does not state is left to defaults."""
    workload = {
        "kind": "rl",
        "model": row["model"],
        "sequence_length": _number(row["sequence_length"]),
        "precision": row["precision"] or None,
        "rl": _learning_section(row),
    }
    return {
        "clusterspec": 1,
        "name": row["id"],
        "cluster": json.loads(row["cluster"]) | {"nodes": _number(row["nodes"])},
        "workload": _stated_keys(workload),
        "layout": _trainer_section(row),
    }


def _learning_section(row: Row) -> dict[str, Any]:
    """The section `workload.rl`: samples of a step, rollout and the transfer of weights."""
    output: dict[str, int] = {"mean": int(row["output_mean"])}
    if row["output_max"]:
        output["max"] = int(row["output_max"])
    rollout = {
        "framework": row["rollout_framework"] or "vllm",
        "tp": _number(row["rollout_tp"]),
        "nodes": _number(row["rollout_nodes"]) or None,
        "memory_fraction": float(row["memory_fraction"]) if row["memory_fraction"] else None,
        "parameter_precision": row["rollout_precision"] or None,
        "captured_graphs": False if row["eager"] == "yes" else None,
        "max_sequences": _number(row["max_sequences"]),
        "attention_dp": _number(row["rollout_dp"]),
        "ep": _number(row["rollout_ep"]),
    }
    rl: dict[str, Any] = {
        "algorithm": row["algorithm"],
        "prompts_per_step": _number(row["prompts"]),
        "samples_per_prompt": _number(row["samples"]),
        "input_tokens": _number(row["input_tokens"]),
        "output_tokens": output,
        "minibatches": _number(row["minibatches"]),
        "max_staleness": _number(row["staleness"]),
        "batches_in_flight": float(row["in_flight"]) if row["in_flight"] else None,
        "log_probabilities": row["log_probabilities"] or None,
        "placement": row["placement"],
        "rollout": _stated_keys(rollout),
    }
    if row["sync_method"]:
        names = ("method", "ranks", "gather", "load", "requests")
        rl["weight_sync"] = _stated_keys({name: row[f"sync_{name}"] or None for name in names})
    return _stated_keys(rl)


def _trainer_section(row: Row) -> dict[str, Any]:
    """The section `layout`, of the trainer."""
    layout: dict[str, Any] = {name: _number(row[name]) for name in ("tp", "cp", "ep", "pp")}
    layout |= {"framework": row["train_framework"], "sharding": row["sharding"] or None}
    layout |= {"expert_tp": 1} if layout["ep"] not in {None, 1} else {}
    layout |= {"recompute": row["recompute"] or None, "nodes": _number(row["trainer_nodes"])}
    layout |= {"offload": {"optimizer": float(row["offload"])} if row["offload"] else None}
    return _stated_keys(layout)


def _number(text: str) -> int | None:
    return int(text) if text else None


def _stated_keys(section: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value is not None}


@dataclass(frozen=True)
class RlCase:
    """A published step and its prediction in seconds; ``times`` is None where there is none."""

    row: Row
    times: RlTimes | None

    @property
    def held_out(self) -> bool:
        return is_held_out(self.row["source"])

    @property
    def published_seconds(self) -> float | None:
        """Seconds of the published step; None where the source states a transfer of weights alone."""
        return float(self.row["step_time"]) if self.row["step_time"] else None

    @property
    def error(self) -> float | None:
        """Predicted over published step, minus one; None where the source does not state the mean length of outputs."""
        if self.times is None or self.published_seconds is None or self.row["length_stated"] != "yes":
            return None
        return self.times.step / self.published_seconds - 1

    @property
    def shown_error(self) -> float | None:
        """The error of the step, or of the transfer of weights where no step is published."""
        if self.published_seconds is not None:
            return self.error
        return self.sync_ratio - 1 if self.sync_ratio else None

    @property
    def sync_ratio(self) -> float | None:
        """Predicted over published transfer of weights."""
        published = self.row["sync_time"]
        return self.times.sync.seconds / float(published) if self.times and published else None


def cases() -> list[RlCase]:
    """All rows with their predictions, from the shipped catalog."""
    settings = Settings(Catalog.open(), Config(), date(2026, 11, 20))
    return [RlCase(row, prediction(row, settings)) for row in rows()]


def steps(rl_cases: Iterable[RlCase]) -> Iterator[Case]:
    """The published steps whose source states the mean length of outputs, with their predictions."""
    for case in rl_cases:
        if case.error is not None and case.published_seconds is not None and case.times is not None:
            row = case.row
            yield Case(row["id"], row["placement"], case.published_seconds, case.times.step, source=row["source"])


def prediction(row: Row, settings: Settings) -> RlTimes | None:
    """The predicted step of a row."""
    return study_text(json.dumps(spec_of_row(row)), settings, row["id"]).plan.rl


def ordered_pairs(rl_cases: list[RlCase]) -> list[tuple[RlCase, RlCase]]:
    """Pairs of rows of one source that differ only in placement or staleness, as their ``pair`` says."""
    by_pair: dict[str, list[RlCase]] = {}
    for case in rl_cases:
        if case.row["pair"] and case.times is not None and case.published_seconds:
            by_pair.setdefault(case.row["pair"], []).append(case)
    return [(one, other) for same in by_pair.values() for i, one in enumerate(same) for other in same[i + 1 :]]


def is_ordered(pair: tuple[RlCase, RlCase]) -> bool:
    """Whether the faster of two published steps is predicted to be the faster one."""
    one, other = pair
    assert one.times and other.times and one.published_seconds and other.published_seconds
    return (one.published_seconds < other.published_seconds) == (one.times.step < other.times.step)
