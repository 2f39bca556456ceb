"""A router that limits the nodes of a token limits what leaves a node."""

from __future__ import annotations

from clusterspec import studies
from tests.settings import SETTINGS

SPEC = """\
clusterspec: 1
name: routing
cluster: {{platform: dgx-h100, nodes: 32}}
workload: {{model: {{base: deepseek-v3{routing}}}, sequence_length: 4096, global_batch: 1024, precision: bf16}}
layout:
  {{framework: custom, dispatcher: deepep, pp: 4, ep: {ep}, micro_batch: 1, recompute: full,
  stage_layers: [15, 16, 15, 15]}}
"""


def sent(ep: int, limit: int | None) -> float:
    routing = f", routing: {{max_nodes: {limit}}}" if limit else ""
    plan = studies.study_text(SPEC.format(ep=ep, routing=routing), SETTINGS).plan
    return sum(row.bytes for row in plan.communication if row.axis == "ep")


def test_fewer_nodes_a_token_send_less() -> None:
    assert sent(64, 2) < sent(64, 4) <= sent(64, 8)


def test_a_routing_limit_has_no_effect_inside_a_domain() -> None:
    assert sent(8, 4) == sent(8, None)
