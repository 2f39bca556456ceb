"""The margins that judge a figure, and what a result tells of a service."""

from __future__ import annotations

import pytest

from clusterspec.records import replace
from clusterspec.results.serving_json import serving_json
from clusterspec.results.verdict import CLOSE, LEAST
from clusterspec.studies import study_text
from tests.settings import SETTINGS

SERVICE = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 200, request_rate: 4/s}}
layout: {tp: 1}
"""


def test_nine_tenths_of_a_limit_are_close_to_it_and_a_hundredth_of_the_time_is_listed() -> None:
    assert [1 - used >= CLOSE for used in (0.875, 0.925)] == [True, False]
    assert [effect >= LEAST for effect in (0.0099, 0.01)] == [False, True]


@pytest.mark.parametrize(("drafts", "speculative"), [(0, False), (1, True), (4, True)])
def test_a_service_is_speculative_from_one_draft_token_on(drafts: int, speculative: bool) -> None:
    plan = study_text(SERVICE, SETTINGS).plan
    load = plan.design.workload.serving if plan.design.workload is not None else None
    assert plan.serving is not None and load is not None
    document = serving_json(plan.serving, replace(load, draft_tokens=drafts))
    assert document is not None and document["speculative"] is speculative
    assert document["output_tokens_per_second_per_accelerator"] == plan.serving.per_accelerator
    assert serving_json(None, load) is serving_json(plan.serving, None) is None
