"""Engines over a day: the fewest that serve each hour, their accelerator-hours, late starts, and the cost."""

from __future__ import annotations

import json

import pytest

from clusterspec import analysis
from clusterspec.cluster.requests import Hours
from clusterspec.cost.serving.day import DayPlan, _running_hours
from clusterspec.cost.serving.targets import keeps_up
from clusterspec.records import replace
from clusterspec.studies import Study, study_text
from tests.effort import thorough
from tests.settings import SETTINGS

HOURS = '{from: "08:00", to: "20:00", request_rate: 24}, {from: "20:00", to: "08:00", request_rate: 3}'


def study(
    load: str,
    layout: str = "{framework: vllm, tp: 4}",
    more: str = "",
    lengths: str = "input_tokens: 2000, output_tokens: 300",
) -> Study:
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 8}\n"
        "workload: {kind: serve, model: llama-3.1-70b, precision: fp8, parameter_precision: fp8, "
        f"serving: {{{lengths}, {load}}}}}\nlayout: {layout}\n{more}"
    )
    return study_text(text, SETTINGS)


def day(load: str, layout: str = "{framework: vllm, tp: 4}") -> DayPlan:
    found = study(load, layout).plan.day
    assert found is not None
    return found


@thorough
def test_each_hour_has_the_fewest_engines_that_serve_it() -> None:
    for targets in ("", ", targets: {ttft: {p99: 1 s}, tpot: 25 ms}"):
        for each in day(f"day: [{HOURS}]{targets}").hours:
            for engines, enough in ((each.replicas, True), (each.replicas - 1, False)):
                if not engines:
                    continue
                one = study(f"request_rate: {each.hours.rate}{targets}", f"{{framework: vllm, tp: 4, dp: {engines}}}")
                work = one.design.workload
                assert one.plan.serving is not None and work is not None and work.serving is not None
                assert keeps_up(one.plan.serving, work.serving) is enough is (engines == each.replicas)
                if enough:
                    assert each.times is not None
                    assert each.times.ttft == pytest.approx(one.plan.serving.ttft, rel=1e-9)


def test_accelerator_hours_count_engines_from_their_start() -> None:
    hours = [(Hours(0, 480, 3), 1), (Hours(480, 1200, 24), 5), (Hours(1200, 1440, 3), 1)]
    # Twelve hours with five engines and twelve with one; four start half an hour early.
    assert _running_hours(hours, 0.0) == pytest.approx(12 * 5 + 12)
    assert _running_hours(hours, 1800.0) == pytest.approx(12 * 5 + 12 + 4 * 0.5)
    # An engine that is needed again within the time of its start does not stop; over midnight neither.
    valley = [(Hours(0, 600, 1), 5), (Hours(600, 620, 1), 1), (Hours(620, 1440, 1), 5)]
    assert _running_hours(valley, 1500.0) == pytest.approx(24 * 5)
    night = [(Hours(0, 1430, 1), 2), (Hours(1430, 1440, 1), 0)]
    assert _running_hours(night, 300.0) == pytest.approx(48 - 2 * 5 / 60)
    assert _running_hours(valley, 1e9) == pytest.approx(24 * 5)


def test_a_day_without_hours_of_its_own_changes_nothing() -> None:
    plain = study("request_rate: 24").plan.serving
    one = study(f"day: [{HOURS}]")
    assert plain is not None and one.plan.serving is not None
    assert replace(one.plan.serving, highest=None) == replace(plain, highest=None), "timed at the highest rate"
    assert ("workload.serving.request_rate", 24.0, "the highest of `day`") in one.plan.assumptions
    flat = day('request_rate: 24, day: [{from: "00:00", to: "24:00", request_rate: 24}]')
    assert flat.accelerator_hours == 24 * flat.hours[0].accelerators
    assert flat.requests == 24 * 86400


@thorough
def test_more_load_never_needs_fewer_engines() -> None:
    rates = (0.5, 2, 5, 9, 14, 20, 27, 35)
    hours = ", ".join(
        f'{{from: "{number * 3:02}:00", to: "{number * 3 + 3:02}:00", request_rate: {rate}}}'
        for number, rate in enumerate(rates)
    )
    for layout in (
        "{framework: vllm, tp: 4}",
        "{framework: vllm}",
    ):
        apart = "disaggregated: {prefill: {replicas: 8, tp: 4}, decode: {replicas: 8, tp: 4}}, "
        found = day(f"{apart if layout == '{framework: vllm}' else ''}day: [{hours}]", layout).hours
        used = [each.accelerators for each in found]
        assert used == sorted(used) and used[0] < used[-1], layout


def test_requests_wait_for_engines_that_start_late() -> None:
    early = day(f"day: [{HOURS}], scaling: {{cold_start: 5 min}}")
    found = day(f"day: [{HOURS}], scaling: {{cold_start: 5 min, ahead: 1 min}}")
    assert not early.late
    (late,) = found.late
    assert (late.minute, late.before, late.rate, late.late) == (480, 3.0, 24.0, 240.0)
    assert late.waiting == pytest.approx((24 - late.capacity) * 240)
    assert 3 < late.capacity < 24 and late.wait > 0
    (later,) = day(f"day: [{HOURS}], scaling: {{cold_start: 9 min, ahead: 1 min}}").late
    assert later.waiting == pytest.approx(2 * late.waiting)
    assert not day(f"day: [{HOURS}], scaling: {{cold_start: 5 min, ahead: 0 s, min_replicas: 16}}").late


@thorough
def test_contradictions_of_a_day_are_reported_at_their_keys() -> None:
    cases = {
        f"concurrency: 8, day: [{HOURS}]": "day",
        f"request_rate: 5, day: [{HOURS}]": "day.0.request_rate",
        f'day: [{HOURS}, {{from: "07:00", to: "09:00", request_rate: 4}}]': "day.2.from",
        "request_rate: 5, scaling: {cold_start: 5 min}": "scaling",
    }
    for load, key in cases.items():
        assert f"workload.serving.{key}" in {".".join(map(str, each.path)) for each in study(load).findings}, load


def test_the_hours_of_a_day_add_up_and_an_even_day_is_its_steady_state() -> None:
    found = day(f"day: [{HOURS}], scaling: {{ahead: 0 s}}")
    spent = sum(each.accelerators * (each.hours.end - each.hours.start) / 60 for each in found.hours)
    assert found.accelerator_hours == pytest.approx(spent)
    for each in found.hours:
        assert each.utilization is not None and each.times is not None and each.slowest is not None
        assert 0 < each.utilization <= 1 and each.slowest > each.times.ttft
    even = day('request_rate: 24, day: [{from: "08:00", to: "20:00", request_rate: 24}]')
    steady = study("request_rate: 24", f"{{framework: vllm, tp: 4, dp: {even.hours[0].replicas}}}").plan.serving
    assert steady is not None
    for each in even.hours:
        assert each.times is not None and each.times.ttft == pytest.approx(steady.ttft, rel=1e-9)
        assert each.accelerators * 24 == pytest.approx(even.accelerator_hours)


def test_a_day_costs_its_accelerator_hours() -> None:
    more = "procurement: {currency: USD, term: 4 years, prices: {node: 280512}, utilization: 0.5}\n"
    one = study(f"day: [{HOURS}]", more=more)
    assert one.plan.day is not None
    # 280,512 USD for eight accelerators over 35,064 hours: 1 USD an hour of one accelerator.
    body = json.loads(json.dumps(analysis.cost(one).to_json()))["per_day"]
    assert body["engines_follow_load"] == pytest.approx(one.plan.day.accelerator_hours)
    assert body["all_engines"] == pytest.approx(64 * 24)
    tokens = (24 + 3) * 12 * 3600 * 300
    assert body["per_million_output_tokens"] == pytest.approx(one.plan.day.accelerator_hours / tokens * 1e6)
    hours = [(each["amount"], each["accelerators"] * (each["to"] - each["from"]) / 60) for each in body["hours"]]
    assert [amount for amount, _ in hours] == pytest.approx([used for _, used in hours])
    assert sum(used for _, used in hours) == pytest.approx(one.plan.day.accelerator_hours)
    assert len({each["per_million_output_tokens"] for each in body["hours"]}) == 2  # of the busy and of the quiet hours
