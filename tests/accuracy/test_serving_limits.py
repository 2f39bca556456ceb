"""The factor of all times with which an open load has a published time per output token."""

from __future__ import annotations

import pytest

from clusterspec.cost.serving.times import serving_times
from tests.cluster.resolving import clean
from tests.effort import sampled
from tools.accuracy.serving_cases import rows
from tools.accuracy.serving_limits import factor_as_published, limits_table, open_loads

PLAN = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1000, output_tokens: 200, request_rate: 12}}
layout: {framework: vllm, tp: 8}
"""


def test_the_factor_is_that_with_which_the_plan_has_the_time() -> None:
    """Near its limit a plan whose times are all a tenth longer has a time per token longer by more than a tenth."""
    times = serving_times(clean(PLAN))
    assert times is not None and times.stretched is not None
    for factor in (0.7, 1.0, 1.1):
        given = times.stretched.seconds("tpot", factor)
        assert factor_as_published(times, "tpot", given) == pytest.approx(factor, rel=2e-3)
    assert times.stretched.seconds("tpot", 1.1) > 1.2 * times.tpot


def test_every_group_of_open_loads_has_a_line() -> None:
    """By every sixteenth plan: the factor of one is found in a dozen steps."""
    stated = [row["id"] for row in rows("new_serving") if row["load"] == "open" and row["tpot"]]
    chosen = frozenset(sampled(stated, len(stated) // 8))
    lines = limits_table(open_loads(lambda row: row["id"] in chosen)).splitlines()[2:]
    assert {line.split(",")[0] for line in lines} >= {"| mlperf", "| mlperf-v6"}
    for line in lines:
        error, longer = (float(each.strip(" %|")) for each in line.rsplit("|", 3)[1:3])
        of_both_signs = abs(error) < 5  # the two medians of a group may then come from different plans
        assert of_both_signs or error * longer < 0, "a time that is too short needs longer ones"
