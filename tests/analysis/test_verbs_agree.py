"""What `estimate`, `solve` and `search` compute by formulas agrees with `simulate`, which follows single requests."""

from __future__ import annotations

import json
from statistics import fmean
from typing import Any

import pytest

from clusterspec.analysis.simulation.outcomes import first_token_seconds
from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.records import NamedTuple
from clusterspec.studies import study_text
from tests.effort import diagonal
from tests.settings import SETTINGS

NODE: dict[str, Any] = {"platform": "dgx-h100", "nodes": 1}
SGLANG_EXPERTS: dict[str, Any] = {"model": "qwen3-30b-a3b", "framework": "sglang", "cluster": NODE}


class Simulated(NamedTuple):
    """Means of the requests of a simulation: seconds to the first token and per token, and output tokens a second."""

    ttft: float
    tpot: float
    rate: float


def estimated(serving: dict[str, Any], layout: dict[str, Any], **base: Any) -> ServingTimes:
    found = study_text(spec_text(serving, layout, **base), SETTINGS).plan.serving
    assert found is not None
    return found


def simulated(serving: dict[str, Any], layout: dict[str, Any], requests: int | None = None, **base: Any) -> Simulated:
    load = simulated_load(study_text(spec_text(serving, layout, **base), SETTINGS), requests=requests)
    _, tokens, seconds = load.steady_output
    first = fmean(first_token_seconds(each) for each in load.counted)
    return Simulated(first, load.latencies["tpot"].p50, tokens / seconds)


def both(serving: dict[str, Any], layout: dict[str, Any], **base: Any) -> tuple[ServingTimes, Simulated]:
    return estimated(serving, layout, **base), simulated(serving, layout, **base)


def spec_text(
    serving: dict[str, Any], layout: dict[str, Any], *, model: str, framework: str, cluster: dict[str, Any]
) -> str:
    workload = {"kind": "serve", "model": model, "precision": "bf16", "parameter_precision": "bf16", "serving": serving}
    whole = {"clusterspec": 1, "cluster": cluster, "workload": workload, "layout": {"framework": framework, **layout}}
    return json.dumps(whole)


LOADS: tuple[dict[str, Any], ...] = ({"concurrency": 64}, {"request_rate": 6})


@pytest.mark.parametrize(("replicas", "load"), diagonal(3, [1, 2, 8], LOADS), ids=str)
def test_rarer_receptions_shorten_tokens_with_every_number_of_attention_replicas(
    replicas: int, load: dict[str, Any]
) -> None:
    """Prompts that are received together share a step, in which replicas wait for the fullest: fewer steps have any."""
    layout = {"tp": 8 // replicas, "attention_dp": replicas, "ep": 8}
    times = {
        interval: both(
            load | {"input_tokens": 1000, "output_tokens": 400, "receive_interval": interval}, layout, **SGLANG_EXPERTS
        )
        for interval in (1, 50)
    }
    (short, quick), (long, slow) = times[1], times[50]
    assert long.tpot < 0.96 * short.tpot and slow.tpot < 0.98 * quick.tpot
    assert long.ttft > 2 * short.ttft and slow.ttft > 2 * quick.ttft
    assert long.tpot_mean == pytest.approx(slow.tpot, rel=0.06)
    assert long.ttft_mean == pytest.approx(slow.ttft, rel=0.2)
