"""Severities of rules exactly at their limits, from designs and times with round shares."""

from __future__ import annotations

import pytest

from clusterspec.cost.reinforcement.roles import OwnRole
from clusterspec.records import replace
from clusterspec.rules.reinforcement.unbalanced_roles import _slowest_role_problem
from clusterspec.rules.serving.nodes_without_engine import check
from clusterspec.studies import study_text
from tests.designs import REINFORCED, plan_of
from tests.settings import SETTINGS

APART = """clusterspec: 1
cluster: {platform: dgx-h200, nodes: NODES}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 128,
  disaggregated: {prefill: {replicas: 2, tp: 4}, decode: {replicas: DECODE, tp: 8}}}}
"""


@pytest.mark.parametrize(
    ("nodes", "decode", "severity"),
    [
        (8, 6, "warning"),  # an eighth of the nodes
        (9, 7, "note"),  # a ninth
        (16, 13, "warning"),  # two of 16
        (17, 14, "note"),  # two of 17
        (8, 7, None),
    ],
)
def test_an_eighth_of_the_nodes_without_an_engine_is_a_warning(nodes: int, decode: int, severity: str | None) -> None:
    """Two prefill engines share a node, and each decode engine has one."""
    design = study_text(APART.replace("NODES", str(nodes)).replace("DECODE", str(decode)), SETTINGS).design
    assert design.cluster is not None and design.workload is not None
    found = [each.severity or "warning" for each in check(design.workload, design.cluster, None)]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("waits", "severity"),
    [
        (2.5, None),  # as much as the threshold
        (3.0, "warning"),
        (7.5, "warning"),
        (8.0, "error"),  # four fifths of a step of ten seconds
        (9.0, "error"),
    ],
)
def test_a_role_for_which_all_others_wait_four_fifths_of_a_step_is_an_error(waits: float, severity: str | None) -> None:
    times = plan_of(REINFORCED).rl
    assert times is not None and times.rl.placement == "colocated"
    roles = (OwnRole("critic", 1, 0.5, 8, None), OwnRole("reward", 2, waits, 16, None))
    times = replace(times, roles=roles, step=10.0, waits=waits, band=(9.5, 10.5))
    found = _slowest_role_problem(times, 0.25)
    assert (found and (str(found.severity), found.path[2])) == (severity and (severity, "reward"))
    assert _slowest_role_problem(replace(times, roles=()), 0.25) is None
