"""Percentiles of the times of serving plans: laws, and numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.latency import ServingTimes, range_factors
from clusterspec.cost.serving.percentiles import latency_at, single_gap
from clusterspec.cost.serving.quantiles import lengths_in_parts, poisson_quantile
from clusterspec.cost.serving.runs import FiniteRun
from clusterspec.cost.serving.targets import latency_tail, missed_targets, target_results
from clusterspec.studies import study_text
from tests.effort import thorough
from tests.settings import SETTINGS


def plan(load: str) -> tuple[ServingTimes, Serving]:
    lengths = "" if "input_tokens" in load else "input_tokens: 2000, output_tokens: 500, "
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
        "workload: {kind: serve, model: llama-3.1-70b, "
        f"serving: {{{lengths}{load}}}}}\n"
        "layout: {framework: vllm, tp: 8}\n"
    )
    one = study_text(text, SETTINGS)
    assert one.plan.serving is not None and one.design.workload is not None
    assert one.design.workload.serving is not None
    return one.plan.serving, one.design.workload.serving


def test_at_the_median_the_times_are_those_of_the_estimate() -> None:
    found, load = plan("concurrency: 32, targets: {ttft: 1 s}")
    assert [latency_at(found, load, each, 50) for each in ("ttft", "tpot")] == [found.ttft, found.tpot]


@pytest.mark.parametrize("load", ["concurrency: 32", "request_rate: 3"])
def test_first_tokens_of_a_steady_state_vary_as_the_waits_do(load: str) -> None:
    """The median time to first token, and the wait at the percentile over the median wait."""
    found, stated = plan(f"{load}, targets: {{ttft: 1 s, percentile: 95}}")
    tail = found.state.tail
    assert tail is not None and tail.of_all == pytest.approx(found.wait)
    wanted = found.ttft + tail.wait_at(0.95) - tail.wait_at(0.5)
    assert latency_at(found, stated, "ttft", stated.percentile) == pytest.approx(wanted)


def test_requests_that_wait_for_a_place_have_no_cache() -> None:
    """Of 16 places nearly all are taken: those that wait are in flight, but at most 16 have a cache."""
    full = plan("concurrency: 16, max_sequences: 16")[0].state.rate
    found, _ = plan(f"request_rate: {0.95 * full:.4f}, max_sequences: 16")
    assert found.place.share > 0.3
    assert found.placed_requests == pytest.approx(found.offered - 0.95 * full * found.place.of_all, rel=1e-3)
    assert found.placed_requests <= 16 < found.offered
    closed, _ = plan("concurrency: 40, max_sequences: 16")
    assert closed.placed_requests == closed.offered == 40


def test_long_waits_have_an_exponential_tail() -> None:
    """Behind the even part ten times fewer prompts wait ln 10 of its mean longer."""
    found, load = plan("request_rate: 3")
    tail = found.state.tail
    assert tail is not None and tail.share > 0.01
    first, second = (latency_at(found, load, "ttft", percentile) for percentile in (99.0, 99.9))
    assert second - first == pytest.approx(tail.mean * math.log(10))


def test_requests_of_a_full_loop_wait_alike() -> None:
    found, load = plan("concurrency: 500, max_sequences: 16")
    assert found.queued > 0.9 * found.wait
    assert found.ttft < latency_at(found, load, "ttft", 99) < 1.1 * found.ttft


def test_the_slowest_requests_of_a_run_are_the_last_of_its_burst() -> None:
    found, load = plan("concurrency: 32, requests: 320, targets: {ttft: 1 s, percentile: 99}")
    # a tenth of the requests start together, of which nine in ten are before the 99th percentile
    assert isinstance(found.run, FiniteRun)
    burst = 0.9 * 31 * found.run.service
    first = found.ttft - found.wait - found.burst[0]
    assert latency_at(found, load, "ttft", load.percentile) == pytest.approx(first + burst, rel=0.02)
    assert found.ttft < latency_at(found, load, "ttft", 85) < first + found.wait * 4


@thorough
def test_a_higher_percentile_is_never_faster() -> None:
    spread = "input_tokens: {mean: 2000, p99: 9000}, output_tokens: {mean: 500, p99: 2000}"
    for written in (
        "concurrency: 32, requests: 320",
        "concurrency: 32",
        "request_rate: 4",
        f"request_rate: 4, {spread}",
    ):
        found, load = plan(written)
        for quantity in ("ttft", "tpot", "itl", "end_to_end"):
            at = [latency_at(found, load, quantity, each) for each in (50, 80, 95, 99, 100)]
            assert at == sorted(at) and math.isfinite(at[-1]), (written, quantity)


def test_missed_targets_are_named() -> None:
    assert missed_targets(*plan("concurrency: 1")) == ()
    for targets, late in (
        ("ttft: 1 ms, tpot: 1 ms", ["ttft", "tpot"]),
        ("ttft: 10 s, tpot: 1 ms", ["tpot"]),
        ("ttft: {p50: 1 ms, p99: 10 s}, itl: {p99: 1 ms}, end_to_end: 1 h", ["ttft.p50", "itl.p99"]),
    ):
        found, load = plan(f"concurrency: 1, targets: {{{targets}}}")
        assert [each.key for each in missed_targets(found, load)] == late
        assert [each.target.key for each in target_results(found, load) if each.missed] == late


def test_the_range_of_a_percentile_widens_from_that_of_the_median_to_that_of_the_99th() -> None:
    assert latency_tail(*plan("concurrency: 32, targets: {ttft: 1 s}")) is None
    found, load = plan("concurrency: 32, targets: {percentile: 99}")
    last = latency_tail(found, load)
    assert last is not None and (last.ttft, last.tpot) == tuple(
        latency_at(found, load, each, 99) for each in ("ttft", "tpot")
    )
    assert last.ttft_range == pytest.approx((0.70 * last.ttft, 7.3 * last.ttft))
    assert last.tpot_range == pytest.approx((0.81 * last.tpot, 1.35 * last.tpot))  # no narrower than at the median
    ends = [range_factors(found, "ttft")[1]]
    for percentile in (51, 75, 90, 95, 99, 99.9):
        at = latency_tail(*plan(f"concurrency: 32, targets: {{percentile: {percentile}}}"))
        assert at is not None
        ends.append(at.ttft_range[1] / at.ttft)
    assert ends == sorted(ends)


def test_gaps_between_tokens_are_longer_where_a_prompt_starts() -> None:
    # 32 sequences of 500 tokens: a prompt starts in 32 / 500 = 6.4 % of the steps, two in 1 - e^-0.064 (1.064) = 0.2 %
    found, load = plan("concurrency: 32")
    step = found.decode.total
    assert single_gap(found, load, 0.9) == step
    assert single_gap(found, load, 0.99) == pytest.approx(step + found.carried_prefill)
    assert single_gap(found, load, 0.999) == pytest.approx(step + 2 * found.carried_prefill)
    # the mean of the gaps is the mean of a request
    mean = step + found.sequences / 500 * found.carried_prefill
    assert found.tpot == pytest.approx(mean, rel=0.01)  # a request decodes together with the prompts of the 31 others


@pytest.mark.parametrize("load", ["request_rate: 0.01", "concurrency: 1"])
def test_a_long_prompt_takes_no_less_than_alone_at_its_percentile(load: str) -> None:
    """One request in 100 has a prompt of eight times the mean or more, which takes more than eight times as long:
    attention grows with the square of the length. Prompts of one length take the same at all percentiles.
    """
    lengths = f"output_tokens: 50, {load}, input_tokens: "
    varied, served = plan(lengths + "{mean: 4000, p99: 32000}")
    alone, equal = (plan(lengths + tokens)[0] for tokens in ("30000", "4000"))
    assert latency_at(varied, served, "ttft", 99) > alone.ttft - equal.ttft + varied.ttft > 7 * equal.ttft
    assert latency_at(varied, served, "ttft", 99) < 1.3 * plan(lengths + "32000")[0].ttft
    times, load_of_equal = plan(lengths + "4000")
    assert latency_at(times, load_of_equal, "ttft", 99) == pytest.approx(equal.ttft, rel=0.15)


def test_the_median_first_token_is_that_of_a_prompt_of_median_length() -> None:
    """A 99th percentile of four times the mean: sigma = z - sqrt(z² - 2 ln 4) = 0.702, so the median is 0.782 of it."""
    lengths = "output_tokens: 500, concurrency: 32, input_tokens: "
    varied, equal = (plan(lengths + prompts)[0] for prompts in ("{mean: 4000, p99: 16000}", "4000"))
    assert varied.typical_prompt == pytest.approx(1 - varied.growing * (1 - 0.7817), abs=1e-4)
    assert (
        0.85 < varied.growing < 1.0 == equal.growing
    )  # the rest of 4,000 tokens is launches and the step that contains them
    launched = plan(lengths + "{mean: 32, p99: 128}")[0]  # GEMMs of so few rows hardly grow with them
    assert launched.growing < 0.1 and launched.typical_prompt > 0.97
    assert varied.ttft == pytest.approx(varied.ttft_mean - (1 - varied.typical_prompt) * varied.prompt_time)
    assert varied.ttft < equal.ttft_mean
    assert equal.state.tail is not None  # a median below the mean, by the steps that the median prompt waits for
    gap = equal.state.tail.of_all - equal.state.tail.wait_at(0.5)
    assert equal.ttft == pytest.approx(equal.ttft_mean - gap) and gap > 0


def test_a_whole_request_takes_its_first_token_and_its_gaps() -> None:
    found, load = plan("concurrency: 32")
    assert latency_at(found, load, "end_to_end", 50) == pytest.approx(found.ttft + 499 * found.tpot)


def test_parts_of_a_distribution_have_its_mean_and_its_99th_percentile() -> None:
    _, load = plan("request_rate: 4, input_tokens: {mean: 2000, p99: 9000}, output_tokens: 500")
    assert load.input_lengths is not None
    parts = lengths_in_parts(load.input_lengths)
    assert sum(share for _, share in parts) == pytest.approx(1)
    assert sum(length * share for length, share in parts) == pytest.approx(2000, rel=0.01)
    # e^-1.5 = 0.22, with 1.5 e^-1.5 0.56, with 1.125 e^-1.5 0.81, with 0.5625 e^-1.5 0.93
    assert [poisson_quantile(1.5, each) for each in (0.2, 0.5, 0.8, 0.95)] == [0, 1, 2, 4]
    longer = sum(share for length, share in parts if length > 9000)
    assert longer == pytest.approx(0.01, abs=0.004)


def test_a_queue_that_grows_misses_the_targets_that_include_it() -> None:
    targets = "load: open, targets: {ttft: 1000 s, tpot: 1000 s, end_to_end: 5000 s}"
    for rate, missed in ((1, {}), (400, {"ttft", "end_to_end"})):
        found, load = plan(f"request_rate: {rate}, {targets}")
        assert {each.target.quantity for each in target_results(found, load) if each.missed} == set(missed)
        assert not missed_targets(found, load), "full engines are faster than that"
