"""Laws of the memory left for a cache, of a bisection, and of the ranges of serving times, in hand-worked numbers."""

from __future__ import annotations

import pytest

from clusterspec.cluster.requests import Serving, Target
from clusterspec.cost.serving.constants import RANGES, Part, StepTime
from clusterspec.cost.serving.handoff import CacheTransfer, Handoff
from clusterspec.cost.serving.highest import largest_satisfying
from clusterspec.cost.serving.host import HostOverhead
from clusterspec.cost.serving.latency import ServingTimes, range_factors, serving_range
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.plan_engines import cache_space, raised_fraction
from clusterspec.cost.serving.targets import missed_targets
from clusterspec.records import replace
from clusterspec.results.serving_json import RANGED
from tests.analysis.jobs import study_of
from tests.cost.serving.test_targets import plan

FOUND, LOAD = plan("concurrency: 32")


@pytest.mark.parametrize(
    ("of_free", "memory", "taken", "wanted", "share", "space"),
    [
        (False, 80, 20, 0, 0.9, 52),  # 0.9 × 80 - 20
        (False, 80, 20, 40, 0.9, 52),
        (False, 80, 20, 52, 0.9, 52),
        (False, 80, 20, 54, 0.93, 54.4),  # 74 of 80 are 0.925, in whole percent 0.93: 74.4 - 20
        (False, 80, 20, 54.4, 0.93, 54.4),
        (False, 80, 20, 54.5, 0.94, 55.2),
        (False, 80, 20, 56, 0.95, 56),  # 0.95 × 80 - 20
        (False, 80, 20, 57, 0.95, 56),
        (False, 80, 75, 0, 0.94, 0.2),  # weights of 0.9375 take it to 0.94
        (False, 80, 75, 5, 0.95, 1),
        (False, 80, 77, 5, 0.95, 0),
        (True, 80, 20, 0, 0.9, 54),  # 0.9 × (80 - 20)
        (True, 80, 20, 60, 0.9, 54),
        (True, 80, 81, 5, 0.9, 0),
    ],
)
def test_a_cache_has_a_share_of_all_memory_or_of_what_is_free(
    of_free: bool, memory: float, taken: float, wanted: float, share: float, space: float
) -> None:
    found = 0.9 if of_free else raised_fraction((taken + wanted) / memory, 0.9)
    assert found == share
    load = replace(LOAD, of_free=of_free, memory_fraction=found)
    assert cache_space(memory, taken, load) == pytest.approx(space)


@pytest.mark.parametrize(
    ("most", "limit", "found"),
    [
        (0.5, 8, 0),
        (1, 8, 1),
        (1, 1, 1),
        (5.25, 8, 5.25),
        (8, 8, 8),
        (100, 8, 8),
        (0.99, 1, 0),
        (7.5, 8, 7.5),
        (1.5, 2, 1.5),
    ],
)
def test_a_bisection_finds_the_most_that_satisfies_a_condition(most: float, limit: float, found: float) -> None:
    assert largest_satisfying(lambda sequences: sequences - most, limit) == pytest.approx(found, abs=1e-5)


def times(**changes: object) -> ServingTimes:
    return replace(FOUND, **changes)  # type: ignore[arg-type]


SENT = Handoff(0.06, CacheTransfer(1e9, 50e9))
EXPERTS = StepTime.of((Part("experts", lambda x: x, {"x": 0.1}, {}),))
ROUTED = FOUND.state._replace(prefill=EXPERTS)


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (times(offered=1.0), "ttft alone"),
        (times(offered=1.01), "ttft"),
        (times(offered=32.0), "ttft"),
        (times(offered=32.0, state=ROUTED), "ttft experts"),
        (times(offered=32.0, sent=SENT, state=ROUTED), "ttft apart"),
        (times(offered=1.0, sent=SENT), "ttft alone"),
        (times(offered=32.0, starts_together=True, state=ROUTED), "ttft static"),
    ],
)
def test_the_range_of_the_first_token_follows_the_load_and_the_pools(found: ServingTimes, kind: str) -> None:
    assert found.recent and range_factors(replace(found, recent=False), "ttft") == RANGES[kind]
    recent = " recent" if kind == "ttft experts" else ""
    assert range_factors(found, "ttft") == RANGES[f"{kind}{recent}"]
    routed = " experts" if found.state.prefill == EXPERTS else ""
    for other in ("tpot", "output_tokens_per_second"):
        assert range_factors(replace(found, recent=False), other) == RANGES[other + routed]
        early = replace(found, recent=False, early=True, own_kernels=False)
        assert range_factors(early, other) == RANGES[f"{other} early"]
        assert range_factors(found, other) == RANGES[f"{other}{routed}{' recent' if routed else ''}"]
    for name in RANGED:
        low, high = range_factors(found, name.removesuffix("_mean"))
        assert low < 1 < high
        assert serving_range(found, name) == [getattr(found, name) * low, getattr(found, name) * high]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, " offline"),
        ({"state": ROUTED}, " offline experts"),
        ({"early": True}, " offline early"),
        ({"early": True, "always_full": False, "starts_together": True}, " offline early"),
        ({"always_full": False, "starts_together": True}, ""),
        ({"own_kernels": False}, ""),
        ({"own_kernels": False, "early": True}, " early"),
    ],
)
def test_the_throughput_of_full_engines_is_more_certain_where_kernels_were_measured(
    changes: dict[str, object], kind: str
) -> None:
    found = times(**({"always_full": True, "own_kernels": True, "offered": 64.0} | changes))
    assert range_factors(found, "output_tokens_per_second") == RANGES[f"output_tokens_per_second{kind}"]
    low, high = RANGES[f"output_tokens_per_second{kind}"]
    widest = RANGES[f"output_tokens_per_second{kind.replace(' offline', '')}"]
    assert widest[0] <= low < 1 < high <= widest[1]


def test_a_transfer_takes_its_fixed_time_and_that_of_its_bytes() -> None:
    assert times(sent=SENT).handoff == pytest.approx(0.06 + 1 / 50)
    assert times(sent=None).handoff == 0
    assert times(output_tokens_per_second=4000.0, accelerators=8.0).per_accelerator == 500


def test_without_an_entry_the_host_times_are_assumptions() -> None:
    """0.7 ms a step, or 0.5 ms where steps are formed ahead, 3 µs a sequence, 0.16 ms a launch, 8 ms a request and 2 µs
    a token of its prompt; compiled code of 2026 launches in 88 µs."""
    assert HostOverhead.of(None) == HostOverhead(0.7e-3, 3e-6, 0.16e-3, 8e-3, 2e-6, 0.16e-3, 0.5e-3)
    assert HostOverhead.of(None, year=2025) == HostOverhead.of(None)
    assert HostOverhead.of(None, year=2026) == HostOverhead(0.7e-3, 3e-6, 0.16e-3, 8e-3, 2e-6, 88e-6, 0.5e-3)
    text = "cluster: {{accelerator: mi355x, accelerators_per_node: 8, nodes: 1}}\nworkload: {{kind: serve, "
    text += "model: deepseek-r1, precision: fp8, serving: {{input_tokens: 1000, output_tokens: 9, concurrency: 1}}}}\n"
    listed, floors = {}, {}
    for framework, year in (("custom", 2025), ("custom", 2026), ("vllm", 2026)):
        study = study_of((text + "layout: {{framework: {}, software_year: {}, tp: 8}}").format(framework, year))
        listed[framework, year] = [key for key, *_ in study.plan.assumptions if key == "serving.compiled"]
        assert study.plan.serving is not None
        floors[framework, year] = study.plan.serving.prompt_floor
    assert listed == {("custom", 2025): [], ("custom", 2026): ["serving.compiled"], ("vllm", 2026): []}
    launches = (floors["custom", 2025] - 0.7e-3 - 6e-6) / 0.16e-3  # two sequences are sampled
    assert floors["custom", 2026] == pytest.approx(launches * 88e-6 + 0.7e-3 + 6e-6)


def test_the_driver_of_vllm_of_2024_sends_each_step_to_each_other_rank() -> None:
    """0.46 ms for each of seven, on 0.7 ms; vLLM of 2025 has its scheduler in each process."""
    text = "cluster: {{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1}}\nworkload: {{kind: serve, "
    text += (
        "model: llama-3.1-70b, precision: fp8, serving: {{input_tokens: 1000, output_tokens: 9, concurrency: 1}}}}\n"
    )
    hosts, listed = [], []
    for year, ranks in ((2024, 8), (2024, 1), (2025, 8)):
        study = study_of((text + "layout: {{framework: vllm, software_year: {}, tp: {}}}").format(year, ranks))
        assert study.design.layout is not None
        found = HostOverhead.of(study.design.layout.stack, "sm_90", year, ranks)
        keys = [key for key, *_ in study.plan.assumptions if key.endswith("serving.rank")]
        hosts.append(found.host)
        listed.append(len(keys))
    assert hosts == pytest.approx([0.7e-3 + 7 * 0.46e-3, 0.7e-3, 0.7e-3]) and listed == [1, 0, 0]


def test_a_figure_of_an_entry_for_an_architecture_comes_before_the_one_for_any() -> None:
    """SGLang launches a kernel in 0.12 ms on MI355X, and in the usual time elsewhere; plans list the figure in use."""
    layout = "layout: {{framework: sglang, software_year: 2026, tp: 8}}"
    text = (
        "cluster: {{accelerator: {0}, accelerators_per_node: 8, nodes: 1}}\nworkload: {{kind: serve, model: deepseek-r1"
    )
    text += ", precision: fp8, serving: {{input_tokens: 1000, output_tokens: 9, concurrency: 4}}}}\n" + layout
    launches = {}
    for chip in ("mi355x", "h200-sxm-141gb"):
        study = study_of(text.format(chip))
        assert study.design.layout is not None
        found = HostOverhead.of(study.design.layout.stack, "gfx950" if chip == "mi355x" else "sm_90")
        keys = [key for key, *_ in study.plan.assumptions if "serving.eager" in key]
        launches[chip] = (found.eager, found.compiled, keys)
    assert launches["mi355x"] == (0.12e-3, 0.12e-3, ["stack/sglang-2026 serving.eager.gfx950"])
    assert launches["h200-sxm-141gb"] == (0.16e-3, 0.16e-3, ["serving.eager"])


@pytest.mark.parametrize(
    ("ttft", "tpot", "late"),
    [(1.0, 0.02, ()), (0.999, 0.02, ("ttft",)), (1.0, 0.0199, ("tpot",)), (0.5, 0.01, ("ttft", "tpot"))],
)
def test_a_target_is_met_at_its_limit_and_missed_below(ttft: float, tpot: float, late: tuple[str, ...]) -> None:
    targets = (Target("ttft", 50.0, ttft, "ttft"), Target("tpot", 50.0, tpot, "tpot"))
    load: Serving = replace(LOAD, targets=targets)
    assert tuple(each.quantity for each in missed_targets(times(ttft=1.0, tpot=0.02), load)) == late


@pytest.mark.parametrize(("percentile", "mean"), [(49.0, False), (50.0, False), (51.0, True), (99.0, True)])
def test_above_the_median_a_token_takes_at_least_the_mean(percentile: float, mean: bool) -> None:
    def at(found: ServingTimes, quantity: str) -> float:
        return latency_at(found, LOAD, quantity, percentile)

    assert at(times(tpot=0.02, tpot_mean=0.03), "tpot") == (0.03 if mean else 0.02)
    assert at(times(tpot=0.02, tpot_mean=0.01), "tpot") == 0.02
    assert (at(times(ttft=1.0, wait=0.5), "ttft") > 1.0) is mean


def test_a_percentile_beyond_the_tail_is_that_of_the_tail() -> None:
    highest, beyond, below = (latency_at(times(ttft=1.0, wait=0.5), LOAD, "ttft", each) for each in (99.9, 100.0, 99.8))
    assert below < highest == beyond
