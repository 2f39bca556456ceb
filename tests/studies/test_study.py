"""What a study says of the whole of a design."""

from __future__ import annotations

from clusterspec.studies import study_text, variation
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
cluster: {{platform: {platform}, nodes: {nodes}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}}
layout: {{framework: megatron-core, tp: {tp}, micro_batch: 1}}
"""


def test_figures_mean_something_where_every_name_is_known_and_the_layout_can_run() -> None:
    cases = (
        ("dgx-h100", "2", "8", True),
        ("dgx-h101", "2", "8", False),  # no such platform
        ("dgx-h100", "two", "8", False),  # unreadable
        ("dgx-h100", "2", "3", False),  # 32 heads are not a multiple of 3
    )
    for platform, nodes, tp, possible in cases:
        study = study_text(SPEC.format(platform=platform, nodes=nodes, tp=tp), SETTINGS)
        assert study.has_figures is possible, (platform, nodes, tp)
        errors = [each for each in study.findings if each.severity == "error"]
        assert list(study.errors) == errors and bool(errors) is not possible


def test_the_description_of_a_text_is_not_held_against_a_variation() -> None:
    text = SPEC.format(platform="dgx-h100", nodes=2, tp=8) + "description: 2 nodes with 16 H100.\n"
    study, other = study_text(text, SETTINGS), study_text(text.replace("nodes: 2", "nodes: 4"), SETTINGS)
    assert [each.rule for each in other.errors] == ["description-off-keys"]
    for wider in (
        variation.rewritten_study(study, {("cluster", "nodes"): 4}),
        variation.varied_study(study, {("cluster", "nodes"): 4}),
    ):
        assert not list(study.errors) and not list(wider.errors)
        assert wider.design.cluster and wider.design.cluster.nodes == 4
