"""The power of serving engines: by the parts of a decode step, by the load, and against readings of accelerators."""

from __future__ import annotations

import math
from statistics import median

import pytest

from clusterspec.cost.activity import Activity, activity_of
from clusterspec.cost.power import MachinePower, accelerator_draws, drawn_power
from clusterspec.studies import study_text
from tests.effort import thorough
from tests.settings import SETTINGS
from tools.accuracy.cases import table
from tools.accuracy.power_cases import accelerator_draw_of

ROWS = list(table("power_serving.csv"))
ENGINE = """
clusterspec: 1
cluster: {{accelerator: h100-sxm-80gb, nodes: 1, accelerators_per_node: 8}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 512, output_tokens: 512, {load}}}}}
layout: {{framework: vllm, tp: 8}}
"""


def activity(load: str) -> Activity:
    found = activity_of(study_text(ENGINE.format(load=load), SETTINGS).plan)
    assert found is not None
    return found


def watts(load: str) -> float:
    draws = accelerator_draws(study_text(ENGINE.format(load=load), SETTINGS).plan)
    assert draws is not None
    low, middle, high = draws
    assert low.value < middle.value < high.value <= 700
    return middle.value


def test_a_decode_step_draws_by_its_parts() -> None:
    """Kernels at 0.8 of 700 W and more by their arithmetic, launches at 0.3, collectives at 0.65, prompts at 1."""
    text = ENGINE.replace("input_tokens: 512", "input_tokens: 2048")
    plan = study_text(text.format(load="concurrency: 4"), SETTINGS).plan
    shares, times = activity_of(plan), plan.serving
    assert shares is not None and times is not None
    parts = {part.name: part.seconds / times.decode.total for part in times.decode.parts}
    added = times.prefill.device - times.decode.device  # the host launches the step with the prompt in less time
    assert times.prefill.floor < times.prefill.device and times.carried_prefill == pytest.approx(added, rel=0.01)
    assert shares.products == pytest.approx(times.prefill_share)
    decode = 1 - shares.products
    assert shares.host == pytest.approx(decode * parts["launch"])
    assert shares.memory == pytest.approx(decode * (1 - parts["launch"] - parts["all_reduce"]))
    flops = sum(part.numbers.get("flops", 0.0) for part in times.decode.parts)
    assert shares.arithmetic == pytest.approx(
        flops / (989.4e12 * times.decode.total * shares.memory / decode), rel=1e-3
    )
    waiting = decode * parts["all_reduce"]
    kernels = shares.memory * (0.8 + shares.arithmetic)
    draws = accelerator_draws(plan)
    assert draws is not None and draws[1].value == pytest.approx(
        700 * (shares.products + kernels + 0.3 * shares.host + 0.65 * waiting), rel=1e-6
    )


PLACED = """
clusterspec: 1
cluster: {{platform: dgx-h100, nodes: {nodes}{spare}}}
workload:
  {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 512, output_tokens: 512, concurrency: {flight}}}}}
layout: {{framework: vllm, tp: 2, dp: {engines}}}
"""


def drawn(nodes: int, engines: int, spare: str = "") -> MachinePower:
    """Two of eight accelerators an engine, 16 requests in flight on each."""
    text = PLACED.format(nodes=nodes, engines=engines, spare=spare, flight=16 * engines)
    found = drawn_power(study_text(text, SETTINGS).plan, None)
    assert found is not None and found.busy is not None
    return found


def test_accelerators_without_an_engine_draw_idle_power() -> None:
    """4, 8 and 6 engines of two accelerators are 1, 2 and 1.5 of three nodes; a spare node idles as any other."""
    whole = drawn(3, 12)
    assert whole.busy is not None
    busy, idle = whole.busy.value / 3, whole.idle.value / 3
    assert busy > 2 * idle
    for engines, used in ((4, 1.0), (8, 2.0), (6, 1.5), (1, 0.25)):
        found = drawn(3, engines)
        assert found.busy is not None
        assert found.busy.value == pytest.approx(used * busy + (3 - used) * idle, abs=0.1), engines
        assert dict(found.busy.inputs)["used"].value == used
        assert found.swings is not None
        assert found.swings.fall.value == pytest.approx(used * (busy - idle), abs=0.1)
    spare, without = drawn(2, 8, ", spare_nodes: 1"), drawn(3, 8)
    assert spare.busy is not None and without.busy is not None and spare.per_token and without.per_token
    assert spare.busy.value == pytest.approx(without.busy.value)
    assert spare.per_token.value == pytest.approx(without.per_token.value)


def test_larger_batches_never_draw_less() -> None:
    drawn = [watts(f"concurrency: {number}") for number in (1, 8, 64, 256)]
    assert drawn == sorted(drawn) and drawn[0] < 0.7 * 700 < 0.85 * 700 < drawn[-1]


def test_an_engine_without_requests_draws_what_an_idle_one_does() -> None:
    """A request every 1,000 s leaves the engine empty for all but its seconds: near 70 W, a tenth of the limit."""
    few, many = activity("request_rate: 0.001"), activity("request_rate: 4")
    plan = study_text(ENGINE.format(load="request_rate: 0.001"), SETTINGS).plan
    assert plan.serving is not None
    assert few.idle == pytest.approx(math.exp(-plan.serving.sequences - few.products), rel=1e-3)
    assert few.idle > 0.98 and many.idle < 1e-6
    assert 70 < watts("request_rate: 0.001") < 78
    assert activity("concurrency: 1").idle == 0, "a closed loop sends the next request at once"


def test_separate_prefill_engines_compute_prompts_or_are_idle() -> None:
    """Three of four engines run prompts for their load and are idle else; the fourth decodes, without any prompt."""
    for load in ("concurrency: 64", "request_rate: 0.01"):
        engines = "disaggregated: {prefill: {replicas: 3, tp: 8}, decode: {replicas: 1, tp: 8}}"
        text = ENGINE.format(load=f"{load}, {engines}").replace("nodes: 1", "nodes: 4").replace("vllm, tp: 8", "sglang")
        plan = study_text(text, SETTINGS).plan
        shares, times = activity_of(plan), plan.serving
        assert shares is not None and times is not None and 0 < times.prompt_load < 1
        step = {part.name: part.seconds / times.decode.total for part in times.decode.parts}
        empty = math.exp(-times.sequences) if "rate" in load else 0.0
        assert shares.products == pytest.approx(0.75 * times.prompt_load)
        assert shares.idle == pytest.approx(0.75 * (1 - times.prompt_load) + 0.25 * empty)
        assert shares.host == pytest.approx(0.25 * (1 - empty) * step["launch"])


@thorough
def test_accelerators_of_published_engines_draw_what_is_predicted() -> None:
    """Every tenth of 237 runs of ML.ENERGY (fitted), and three readings to which nothing was fitted.

    Those are of eight accelerators with four requests, within the range. On H100 and H200 the program predicts 22 and
    29 % too much; the bounds state this error from both sides, so that a better model must change them.
    """
    errors, above = list[float](), dict[str, float]()
    for row in ROWS:
        found, read = accelerator_draw_of(row), float(row["watts_of_accelerator"])
        assert found is not None, row
        low, middle, high = found
        if row["side"] == "fitted":
            errors.append(middle / read - 1)
        else:
            above[row["accelerator"]] = middle / read - 1
            assert low <= read <= high, (row, found)
    assert len(errors) == 24
    assert above == pytest.approx({"mi325x": 0.005, "h100-sxm-80gb": 0.223, "h200-sxm-141gb": 0.288}, abs=0.02)
    assert median(map(abs, errors)) <= 0.101, errors
    assert abs(median(errors)) <= 0.07, errors
