"""Activities of engines and their power, each share worked out from parts of a step that are given."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

from clusterspec.cost import activity
from clusterspec.cost.activity import Activity
from clusterspec.cost.formulas.serving import latent_time, roofline_time, stream_time
from clusterspec.cost.serving.activity import serving_activity
from clusterspec.cost.serving.constants import Part, StepTime
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.studies import study_text
from tests.settings import SETTINGS

RANGES = {
    name: tuple(each.value for each in found)
    for name, found in vars(activity).items()
    if isinstance(found, tuple) and found and all(isinstance(each, Figure) for each in found)
}


def test_the_power_of_an_activity_is_a_range_and_no_more_than_the_limit_of_the_part() -> None:
    """An accelerator draws least without work, more while it waits for its host, for other ranks, in kernels bound by
    memory, and most in products: at each end of the ranges.
    """
    assert set(RANGES) == {
        *("AT_PRODUCTS", "AT_MEMORY", "AT_ARITHMETIC", "AT_HOST", "AT_WAITING", "AT_IDLE"),
        *("OF_IDLE", "HOST", "HOST_IDLE"),
    }
    for name, (low, middle, high) in RANGES.items():
        assert low <= middle <= high and low > 0, name
    for end in range(3):
        order = [RANGES[name][end] for name in ("AT_IDLE", "AT_HOST", "AT_WAITING", "AT_MEMORY", "AT_PRODUCTS")]
        assert order == sorted(order) and order[-1] <= 1, end
    assert RANGES["AT_PRODUCTS"][1:] == (1, 1), "products reach the limit"
    assert (RANGES["AT_ARITHMETIC"][0] * 2, RANGES["AT_ARITHMETIC"][2] / 2) == (1, 1), "by half and by twice"
    low, middle, high = RANGES["HOST_IDLE"]
    assert 8 * middle == pytest.approx(1550, rel=0.02) and 8 * low < 1550 < 8 * high < 2000
    assert 1400 < RANGES["HOST"][1] * 8 * 700 < 1700 < RANGES["HOST"][2] * 8 * 700 < 1800  # as logged: 1.4 to 1.8 kW
    assert 1300 < RANGES["HOST"][0] * 8 * 700 < 1400
    assert RANGES["OF_IDLE"][0] + RANGES["OF_IDLE"][2] == pytest.approx(2) and RANGES["OF_IDLE"][2] < 146 / 131
    fans = {name: tuple(each.value for each in found) for name, found in activity.FANS.items()}
    assert fans["immersion"] == (0, 0, 0) and fans["liquid"][:2] == (0, 0)
    assert 0 < fans["liquid"][2] < fans["air"][0] < fans["air"][1] < fans["air"][2] <= 0.2


TEXT = """
clusterspec: 1
cluster: {{accelerator: h100-sxm-80gb, nodes: 1, accelerators_per_node: 8}}
workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 512, output_tokens: 512, {load}}}}}
layout: {{framework: vllm, tp: 8}}
"""


def streamed(name: str, seconds: float) -> Part:
    """A part of a step that takes these seconds."""
    return Part(name, stream_time, {"bytes_read": seconds, "bandwidth": 1.0}, {})


FLOPS = {"bandwidth": 1.0, "rate": 1e9}
STEP = StepTime(
    (
        streamed("dense", 0.4)._replace(formula=roofline_time, numbers=FLOPS | {"bytes_read": 0.4, "flops": 60.0}),
        Part(
            "latent_attention", latent_time, FLOPS | {"calls": 4.0, "floor": 0.0, "bytes_read": 0.05, "flops": 10.0}, {}
        ),
        streamed("all_reduce", 0.1),
        streamed("expert_exchange", 0.05),
        streamed("launch", 0.25),
    ),
    1.0,
    1.0,
    0.75,
)
"""A second, of which kernels take 0.6 with 100 FLOPs, collectives 0.15 and the host 0.25."""


def times(load: str, share: float = 0.2, **changes: Any) -> tuple[ServingTimes, Activity]:
    """The times of a plan in which this step decodes and prompts take a share of the time, and its activity."""
    plan = study_text(TEXT.format(load=load), SETTINGS).plan
    assert plan.serving is not None and plan.design.workload is not None
    serving = plan.design.workload.serving
    assert serving is not None
    prompt = STEP._replace(steps=2.0, total=5.0, device=4.0, floor=0.0)
    state = plan.serving.state._replace(decode=STEP, prefill=prompt, share=share, carried=2.5, sequences=0.5)
    found = replace(plan.serving, state=state, **changes)
    return found, serving_activity(found, 200.0, serving)


def test_the_parts_of_a_decode_step_share_what_prompts_leave() -> None:
    """Kernels of 0.6 s do 100 of the 200 × 0.6 FLOPs that they could."""
    _, found = times("concurrency: 4")
    assert found == pytest.approx((0.2, 0.8 * 0.6, 0.8 * 0.25, 0.0, 100 / 120))
    _, more = times("concurrency: 4", 1.5)
    assert more == pytest.approx((1.0, 0.0, 0.0, 0.0, 100 / 120))
    _, none = times("concurrency: 4", -0.1)
    assert none[:4] == pytest.approx((0.0, 0.6, 0.25, 0.0))


def test_a_prompt_that_the_host_launches_slowly_computes_a_part_of_the_time_that_it_adds() -> None:
    """It adds 2.5 s to steps; the device computes 4 s in two steps that would take 0.75 s each without it: 2.5 s of
    them are its own at most.
    """
    found, _ = times("concurrency: 4")
    floor = found.state.prefill._replace(floor=6.0)
    for carried, part in ((2.5, 1.0), (5.0, 0.5), (10.0, 0.25)):
        slow = replace(found, state=found.state._replace(prefill=floor, carried=carried))
        plan = study_text(TEXT.format(load="concurrency: 4"), SETTINGS).plan
        assert plan.design.workload is not None and plan.design.workload.serving is not None
        assert serving_activity(slow, 200.0, plan.design.workload.serving).products == pytest.approx(0.2 * part)
        kinds: tuple[dict[str, Any], ...] = ({"prompts_alone": True}, {"starts_together": True})
        for alone in kinds:
            whole = serving_activity(replace(slow, **alone), 200.0, plan.design.workload.serving)
            share = slow.state.prompt / slow.request_latency if "starts_together" in alone else 0.2
            assert whole.products == pytest.approx(share)


def test_an_open_load_leaves_its_engines_idle_while_no_request_is_there() -> None:
    found, shares = times("request_rate: 1")
    assert found.coupled_ranks == 1
    idle = exp(-0.5 - 0.2)
    assert shares == pytest.approx((0.2, (0.8 - idle) * 0.6, (0.8 - idle) * 0.25, idle, 100 / 120))
    _, shares = times("request_rate: 1", 0.9, coupled_ranks=4)
    assert shares.idle == pytest.approx(min(0.1, exp(-4 * 0.5 - 0.9)))


APART = "disaggregated: {prefill: {replicas: 3, tp: 1}, decode: {replicas: 1, tp: 4}}"


@pytest.mark.parametrize(("load", "busy"), [(0.25, 0.25), (1.5, 1.0), (-0.5, 0.0)])
def test_engines_of_prompts_compute_for_their_load_and_the_others_decode(load: float, busy: float) -> None:
    """Three of seven accelerators run prompts."""
    _, shares = times(f"concurrency: 4, {APART}", prompt_load=load)
    assert shares == pytest.approx((3 / 7 * busy, 4 / 7 * 0.6, 4 / 7 * 0.25, 3 / 7 * (1 - busy), 100 / 120))


def test_a_step_of_the_host_alone_has_no_kernels() -> None:
    only = StepTime((streamed("launch", 0.5), streamed("all_reduce", 0.5)), 1.0, 1.0, 1.0)
    found, _ = times("concurrency: 4")
    plan = study_text(TEXT.format(load="concurrency: 4"), SETTINGS).plan
    assert plan.design.workload is not None and plan.design.workload.serving is not None
    alone = replace(found, state=found.state._replace(decode=only))
    assert serving_activity(alone, 200.0, plan.design.workload.serving) == pytest.approx((0.2, 0.8, 0, 0, 0))
    assert serving_activity(found, None, plan.design.workload.serving).arithmetic == 0
    assert serving_activity(found, 100.0, plan.design.workload.serving).arithmetic == 1
