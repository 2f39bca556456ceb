"""The cost of reinforcement learning counts the nodes of all roles, and the tokens of whole steps."""

from __future__ import annotations

import json

import pytest

from clusterspec.analysis import cost
from clusterspec.studies import study_text
from tests.cost.test_reinforcement import described
from tests.settings import SETTINGS


def test_a_run_and_its_tokens_are_those_of_the_whole_step() -> None:
    whole = described(placement="split", rollout={"nodes": 2}, max_staleness=1)
    whole["workload"]["tokens"] = "100B"
    whole["procurement"] = {"currency": "USD", "as_of": "2026-11-01", "term": "3 years", "prices": {"node": 300000}}
    one = study_text(json.dumps(whole), SETTINGS)
    times = one.plan.rl
    assert times is not None and one.plan.time_to_train is not None
    assert one.plan.time_to_train == pytest.approx(100e9 / times.tokens * times.step)
    found = cost(one).to_json()
    second = 4 * 300000 / (3 * 365.25 * 86400)
    assert found["per_million_tokens"] == pytest.approx(second / times.tokens_per_second * 1e6, rel=0.02)
