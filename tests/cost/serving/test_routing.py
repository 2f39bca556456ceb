"""Which share of the requests finds no idle engine, where each goes to the engine with the fewest: against counts."""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random

import pytest

from clusterspec.cost.formulas.routing import MOST_ENGINES, share_finding_others
from clusterspec.studies import study_text
from tests.settings import SETTINGS

REQUESTS = 20_000


def counted_share(flight: float, engines: int) -> float:
    """The counted share of requests that arrive at random, each of which takes one second."""
    random, moment, found = Random(f"{flight} {engines}"), 0.0, 0
    loads, ends = [0] * engines, list[tuple[float, int]]()
    for _ in range(REQUESTS):
        moment += random.expovariate(flight * engines)
        while ends and ends[0][0] <= moment:
            loads[heappop(ends)[1]] -= 1
        fewest = min(loads)
        found += fewest > 0
        engine = random.choice([place for place, load in enumerate(loads) if load == fewest])
        loads[engine] += 1
        heappush(ends, (moment + 1, engine))
    return found / REQUESTS


@pytest.mark.parametrize(
    ("flight", "engines", "within"),
    [(0.5, 1, 0.01), (0.6, 2, 0.04), (1.5, 2, 0.05), (1.0, 4, 0.04), (1.0, 8, 0.04), (1.5, 8, 0.02), (3.0, 8, 0.02)],
)
def test_the_share_that_finds_no_idle_engine_is_that_which_is_counted(
    flight: float, engines: int, within: float
) -> None:
    assert share_finding_others(flight, engines) == pytest.approx(counted_share(flight, engines), abs=within)


def test_two_engines_by_hand() -> None:
    """With a share p, 1.2 p / 2 of two engines have two requests, the rest is Erlang's formula: B(1) = 1.2 / 2.2 and
    B(2) = 1.2 B(1) / (2 + 1.2 B(1)), between which shares have equal ratios. It is below 1 - 2.2 exp(-1.2).
    """
    one = 1.2 / 2.2
    two = 1.2 * one / (2 + 1.2 * one)
    found = share_finding_others(0.6, 2)
    assert found == pytest.approx(one * (two / one) ** (1 - 0.6 * found), abs=1e-5)


@pytest.mark.parametrize("engines", [1, 2, 7, 40, MOST_ENGINES, 10_000])
def test_more_requests_find_fewer_idle_engines(engines: int) -> None:
    found = [share_finding_others(flight / 10, engines) for flight in (0.01, 1, 3, 6, 9, 10, 11, 14, 18, 25, 40, 900)]
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.001 if engines == 1 else 0.0, abs=1e-5)
    assert found[-1] == 1.0


@pytest.mark.parametrize(
    ("layout", "load", "listed"),
    [
        ("tp: 1", "load: open, request_rate: 5", True),
        ("tp: 1", "load: closed, concurrency: 16", True),
        ("tp: 8", "load: open, request_rate: 5", False),
        ("tp: 1", "load: offline", False),
    ],
)
def test_a_plan_of_several_engines_lists_how_requests_are_spread(layout: str, load: str, listed: bool) -> None:
    text = (
        "clusterspec: 1\nname: a\ncluster: {platform: dgx-h100, nodes: 1}\nworkload: {kind: serve, model: llama-3.1-8b,"
        f" serving: {{input_tokens: 1000, output_tokens: 100, {load}}}}}\nlayout: {{framework: vllm, {layout}}}\n"
    )
    assert ("serving.routing" in {key for key, *_ in study_text(text, SETTINGS).plan.assumptions}) is listed
