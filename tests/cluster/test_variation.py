"""Laws of changed designs: what a change does not name stays, and a changed design is the one of the changed spec."""

from __future__ import annotations

import pytest

from clusterspec import studies
from clusterspec.analysis.levers.keys import LEVERS
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.variation import NoSuchKeyError, design_with_keys, layout_changes, with_values
from clusterspec.document.values import dump
from clusterspec.quantity import Quantity
from clusterspec.source import Path
from clusterspec.studies import variation
from clusterspec.units import read
from tests.analysis.jobs import study_of
from tests.effort import sampled, telling

MEASURED = """
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2, sharding: fsdp}
measured:
  - {collective: all-reduce, nodes: 16, size: 8 GiB, busbw: 200 GB/s duplex}
"""
DEEP = """
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 4, pp: 4, dp: 8, micro_batch: 1}
"""
CHANGES: list[dict[Path, object]] = [
    {("cluster", "nodes"): 8, ("layout", "dp"): None},
    {("cluster", "scale_out", "oversubscription"): "2:1"},
    {("cluster", "scale_out", "nic_bandwidth"): "400"},
    {("cluster", "platform"): "dgx-h1000"},
    {("workload", "precision"): "fp9"},
    {("workload", "global_batch"): 250},
    {("layout", "pp"): 8, ("layout", "dp"): None},
    {("layout", "tp"): 3},
    {("layout",): None},
    {("layout", "stage_layers"): [20, 20, 20, 20]},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_variation_is_the_study_of_the_changed_text(changes: dict[Path, object]) -> None:
    one = study_of(DEEP)
    other = variation.rewritten_study(one, changes)
    assert other.document is not None
    alone = studies.study_text(dump(other.document.value), one.settings)
    assert other.design == alone.design
    found = {(each.rule, each.severity, each.path) for each in other.findings}
    assert found == {(each.rule, each.severity, each.path) for each in alone.findings}
    assert other.plan.step_seconds == alone.plan.step_seconds


@pytest.mark.parametrize("name", ["nic_bandwidth", "oversubscription", "scale_up.bandwidth", "nodes", "global_batch"])
def test_a_value_varied_is_the_text_varied(name: str) -> None:
    lever, one = LEVERS[name], study_of(DEEP)
    for step in sampled(lever.steps, 8):
        changes = lever.changes(step)
        by_value = variation.varied_study(one, changes)
        texts = {path: _text(value) for path, value in changes.items()}
        by_text = variation.rewritten_study(one, texts)
        assert by_value.design == by_text.design
        assert by_value.document is not None and by_text.document is not None
        assert by_value.document.value == by_text.document.value
        assert {each.rule for each in by_value.findings} == {each.rule for each in by_text.findings}


def _text(value: object) -> object:
    if isinstance(value, Quantity):
        return value.written
    return [_text(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("nic_bandwidth", "line_rate", "400 Gb/s"),
        ("oversubscription", "ratio", "2:1"),
        ("scale_up.bandwidth", "bandwidth", "450 GB/s unidirectional"),
    ],
)
def test_a_lever_writes_what_the_reader_of_quantities_reads(name: str, kind: str, text: str) -> None:
    quantity = read(text, kind)
    written = LEVERS[name].written(quantity.value)
    assert (written[0] if isinstance(written, tuple) else written) == quantity


def test_a_variation_keeps_the_measured_shares_and_the_catalog() -> None:
    one = study_of(MEASURED)
    assert one.design.cluster is not None and one.design.cluster.measured
    for path, value in ((("layout", "tp"), 4), (("cluster", "nodes"), 8), (("workload", "global_batch"), 512)):
        other = design_with_keys(one.design, {path: value})
        assert other.cluster is not None and other.cluster.measured == one.design.cluster.measured
        assert other.catalog is one.settings.catalog
    study = variation.varied_study(one, {("workload", "global_batch"): 512})
    assert study.measurements == one.measurements and study.design.cluster == one.design.cluster
    slower = variation.varied_study(one, {("cluster", "scale_out", "nic_bandwidth"): read("200 Gb/s", "line_rate")})
    assert slower.design.cluster is not None and slower.design.cluster.measured == one.design.cluster.measured
    assert not slower.measurements, "what was measured on the machine is not compared with another one"


def test_without_its_measurements_a_variation_has_the_shares_of_the_catalog() -> None:
    other = variation.rewritten_study(study_of(MEASURED), {("measured",): None})
    assert other.design.cluster is not None and not other.design.cluster.measured


def test_the_problems_of_other_keys_stay_and_those_of_the_changed_key_go() -> None:
    one = study_of(DEEP.replace("global_batch: 256", "global_batch: 256, precision: fp9"))
    assert {each.rule for each in one.errors} == {"unknown-choice"}
    assert {each.rule for each in variation.varied_study(one, {("cluster", "nodes"): 16}).errors} == {"unknown-choice"}
    assert not variation.varied_study(one, {("workload", "precision"): "bf16"}).errors


def test_dp_and_the_layers_of_stages_follow_from_the_degrees() -> None:
    assert layout_changes({"tp": 2}) == {("layout", "tp"): 2, ("layout", "dp"): None}
    assert layout_changes({"tp": 2, "dp": 4}) == {("layout", "tp"): 2, ("layout", "dp"): 4}
    assert layout_changes({"micro_batch": 2}) == {("layout", "micro_batch"): 2}
    other = design_with_keys(study_of(DEEP).design, layout_changes({"tp": 8}))
    assert other.layout is not None and (other.layout.dp, layout_error_rules(other)) == (4, frozenset())


def test_a_key_that_no_spec_has_is_refused() -> None:
    design = study_of(DEEP).design
    assert with_values(design.spec, {("cluster", "scale_out", "tiers"): 1}) != design.spec
    for path in (("cluster", "nodez"), ("layout", "tp", "more"), ("dgx-h100 launch",), ("cluster", "platform", "id")):
        with pytest.raises(NoSuchKeyError):
            with_values(design.spec, {path: 1})


def test_removing_an_absent_key_changes_nothing() -> None:
    design = study_of(DEEP).design
    assert design_with_keys(design, {("cluster", "scale_up", "shape"): None}).spec == design.spec


@telling(2)
@pytest.mark.parametrize(
    ("layout", "rules"),
    [
        ("{framework: torchtitan, tp: 16}", {"kv-heads-indivisible-by-tp"}),
        ("{framework: torchtitan, tp: 8, pp: 2}", set()),
        ("{framework: megatron-core, tp: 2, ep: 8}", {"ep-without-experts"}),
        ("{framework: megatron-core, tp: 3}", {"world-size-mismatch"}),
        ("{framework: megatron-core, pp: 8, dp: 7}", {"world-size-mismatch"}),
        ("{framework: deepspeed, pp: 2, sharding: fsdp}", {"sharding-forbids-pipeline"}),
        ("{framework: custom, pp: 4, virtual_stages: 8, stage_layers: [" + "1, " * 30 + "2, 0]}", set()),
        ("{framework: megatron-core, pp: 16, virtual_stages: 8, schedule: interleaved}", {"layers-indivisible-by-pp"}),
    ],
)
def test_what_legality_refuses_is_an_error_of_check(layout: str, rules: set[str]) -> None:
    one = study_of(DEEP.partition("layout:")[0] + f"layout: {layout}\n")
    refused = layout_error_rules(one.design)
    assert rules <= refused and (bool(rules) or not refused)
    errors = {each.rule for each in one.errors}
    assert rules <= errors and bool(refused & errors) is bool(refused)
    assert one.has_figures is not bool(refused)


def test_a_value_of_a_mapping_is_set_replaced_or_removed_below_keys_that_exist() -> None:
    record = {"a": {"b": 1, "c": 2}, "d": 3}
    for path, value, wanted in (
        (("d",), 4, {"a": {"b": 1, "c": 2}, "d": 4}),
        (("a", "b"), 7, {"a": {"c": 2, "b": 7}, "d": 3}),
        (("a", "b"), None, {"a": {"c": 2}, "d": 3}),
        (("e",), 5, {**record, "e": 5}),
        (("e",), None, record),
        (("a",), None, {"d": 3}),
    ):
        assert with_values(record, {path: value}) == wanted
    assert record == {"a": {"b": 1, "c": 2}, "d": 3}, "the record itself does not change"
    with pytest.raises(NoSuchKeyError, match="there is no 'e'"):
        with_values(record, {("e", "f"): 1})
