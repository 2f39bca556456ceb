"""Laws of reading a spec: everything is read, one fault stays one fault, nothing is guessed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec import resources
from clusterspec.document import Document, load, parse, to_finding
from clusterspec.document.model import Places
from clusterspec.finding import Problem, Severity
from clusterspec.quantity import Direction, Quantity
from clusterspec.source import Path as KeyPath
from clusterspec.source import Source, dotted_path
from clusterspec.spec import read
from clusterspec.spec.model import PcieSpec, Spec
from tests.effort import each, examples, sampled, thorough

TEXT = (Path(__file__).parent / "every_key.yaml").read_text()


def document_of(text: str) -> Document:
    document, problems = parse(Source("t.yaml", text))
    assert document is not None
    assert problems == []
    return document


def spec_of(text: str) -> tuple[Spec, list[Problem]]:
    return read(document_of("clusterspec: 1\n" + text))


def said(text: str) -> list[tuple[str, str, str]]:
    _, problems = spec_of(text)
    return [(dotted_path(problem.path), problem.rule, problem.message) for problem in problems]


def judged(document: Document) -> tuple[Spec, list[Problem]]:
    """The spec and what is wrong with it, notes of keys that nothing uses yet aside."""
    spec, problems = read(document)
    return spec, [problem for problem in problems if problem.rule != "unused-key"]


EVERY = document_of(TEXT)
WHOLE, _ = read(EVERY)


def absent(value: Any, path: str) -> Iterator[str]:
    """The fields of a record that are None."""
    if is_dataclass(value) and not isinstance(value, Quantity):
        for field in fields(value):
            yield from absent(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from absent(item, f"{path}[{number}]")
    elif value is None:
        yield path


def test_every_key_is_read() -> None:
    spec, problems = judged(EVERY)
    assert problems == []
    assert spec.broken == frozenset()
    second = ("spec.cluster.scale_out.levels[1]", "spec.measured[1]")  # the first of each has the rest
    assert [name for name in absent(spec, "spec") if not name.startswith(second)] == ["spec.measured[0].log"]


def test_values_arrive_as_they_were_written() -> None:
    spec, _ = read(EVERY)
    assert spec.cluster and spec.cluster.scale_up and spec.cluster.scale_out and spec.procurement and spec.document
    assert spec.cluster.scale_up.bandwidth is not None
    assert spec.cluster.scale_up.bandwidth.direction is Direction.DUPLEX
    assert spec.cluster.scale_up.bandwidth.per_direction == 450e9
    assert [ratio.value for ratio in spec.cluster.scale_out.oversubscription or ()] == [1, 3]
    assert spec.procurement.prices is not None
    assert spec.procurement.prices["node"] == (280000, 340000)
    assert spec.procurement.prices["cable"] == 900.5
    assert spec.procurement.as_of == "2026-11-01"
    assert spec.acceptance is not None
    assert spec.acceptance[0].passes == "10 of 10"


def test_short_forms_stand_for_long_ones() -> None:
    spec, problems = spec_of("cluster: {pcie: 5, scale_out: {oversubscription: 2:1}, accelerator: mi300x}\n")
    assert problems == []
    assert spec.cluster is not None
    assert spec.cluster.pcie == PcieSpec(5, 5)
    assert spec.cluster.accelerator == "mi300x"
    assert spec.cluster.scale_out is not None
    assert [ratio.value for ratio in spec.cluster.scale_out.oversubscription or ()] == [2]
    spec, problems = spec_of("cluster: {nodes: 1e3}\nworkload: {data_loading: hidden, tokens: 15000000000000}\n")
    assert problems == []
    assert spec.cluster is not None
    assert (spec.cluster.nodes, type(spec.cluster.nodes)) == (1000, int)
    assert spec.workload is not None
    assert spec.workload.data_loading == "hidden"
    assert spec.workload.tokens is not None
    assert spec.workload.tokens.value == 15e12


LEAVES = [path for path in EVERY.places if path and path[0] not in {"clusterspec", "extends"}]


def value_at(tree: Any, path: KeyPath) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def with_value(path: KeyPath, value: Any) -> Document:
    """The sample with another value at one path, as parsed; text and places stay, which saves 30 ms a row."""
    tree = copy.deepcopy(EVERY.value)
    value_at(tree, path[:-1])[path[-1]] = value
    keys = {(*path, key): EVERY.places.offsets[path] for key in value} if isinstance(value, dict) else {}
    return replace(EVERY, value=tree, places=Places({**EVERY.places.offsets, **keys}))


VALUES = [path for path in LEAVES if not isinstance(value_at(EVERY.value, path), dict)]
OTHERS = {
    ("workload", "dataset_files"): "unreadable-quantity",
    ("cluster", "power", "pdus", "phases"): "unknown-choice",
}
"""Values that are whole numbers in the sample, and no counts: a quantity and a choice, with the rule of a wrong one."""
COUNTS = [path for path in VALUES if type(value_at(EVERY.value, path)) is int and path not in OTHERS]
CREDITS = ("unit_price", "price")
"""Keys of lines of a quote, which are negative for a credit."""
OUTSIDE = [(path, value) for path in COUNTS for value in (10**18, -(10**18) if path[-1] in CREDITS else -1)]


@thorough
@each("path", sampled(VALUES, 65))
def test_one_wrong_value_is_one_finding_and_hides_nothing_else(path: KeyPath) -> None:
    spec, problems = judged(with_value(path, {"?": 1}))
    assert [problem.path for problem in problems if problem.path[: len(path)] != path] == []
    assert len(problems) == 1
    assert problems[0].severity is Severity.ERROR
    for part in ("cluster", "workload", "layout", "operations", "procurement", "document"):
        if path[0] != part:
            assert getattr(spec, part) == getattr(WHOLE, part)


@thorough
@each(("path", "value"), sampled(OUTSIDE, 61))
def test_every_number_is_bounded(path: KeyPath, value: int) -> None:
    _, problems = judged(with_value(path, value))
    assert [problem.rule for problem in problems] == ["wrong-type"]
    assert problems[0].path[: len(path)] == path


@thorough
def test_a_negative_quantity_or_choice_is_one_finding() -> None:
    for path, rule in OTHERS.items():
        _, problems = judged(document_of(json.dumps(with_value(path, -1).value)))  # the text of a quantity is read
        assert [(problem.rule, problem.path) for problem in problems] == [(rule, path)]


@each(
    ("text", "where", "rule"),
    [
        ("cluster: {nodes: 10**18}", "cluster.nodes", "wrong-type"),
        ("cluster: {nodes: 1000000000000000000}", "cluster.nodes", "wrong-type"),
        ("cluster: {scale_up: {bandwidth: 900 GB/s}}", "cluster.scale_up.bandwidth", "missing-direction"),
        ("cluster: {scale_up: {shape: []}}", "cluster.scale_up.shape", "wrong-type"),
        ("cluster: {scale_out: {nic_bandwidth: 400}}", "cluster.scale_out.nic_bandwidth", "missing-unit"),
        ("cluster: {scale_out: {nic_bandwidth: 400 gb/s}}", "cluster.scale_out.nic_bandwidth", "ambiguous-unit"),
        ("cluster: {scale_out: {nic_bandwidth: 1e30 Gb/s}}", "cluster.scale_out.nic_bandwidth", "wrong-type"),
        ("cluster: {power: {node: 10 GB}}", "cluster.power.node", "wrong-unit"),
        ("cluster: {}\nworkload: {peak_flops: 989 TFLOP/s}", "workload.peak_flops", "missing-sparsity"),
        ("cluster: {}\nworkload: {global_batch: 0}", "workload.global_batch", "wrong-type"),
        ("cluster: {}\nworkload: {expected_mfu: 40 %}", "workload.expected_mfu", "wrong-type"),
        ("cluster: {}\nlayout: {pp: 2, order: [tp, cp, ep, dp]}", "layout.order", "wrong-type"),
        ("cluster: {}\nlayout: {dp: 2, order: [tp, cp, ep, pp]}", "layout.order", "wrong-type"),
        ("cluster: {}\nlayout: {order: [tp, tp, cp, ep, dp, pp]}", "layout.order[1]", "wrong-type"),
        ("cluster: {}\nlayout: {order: [tp, cp, ep, dp_shard, pp]}", "layout.order", "wrong-type"),
        ("cluster: {}\nlayout: {order: [tp, cp, ep, dp, dp_shard, pp]}", "layout.order", "wrong-type"),
        ("cluster: {}\nlayout: {order: [tp, cp, ep, dp, xx]}", "layout.order[4]", "unknown-choice"),
        ("cluster: {}\nprocurement: {prices: {node: [3, 2]}}", "procurement.prices.node", "wrong-type"),
        ("cluster: {}\nprocurement: {as_of: 2026-13-01}", "procurement.as_of", "wrong-type"),
        ("cluster: {}\nworkload: {data_loading: hiden}", "workload.data_loading", "unknown-choice"),
        ("cluster: {}\nworkload: {data_loading: soon}", "workload.data_loading", "unreadable-quantity"),
        ("name: x", "cluster", "missing-key"),
    ],
)
def test_invalid_input_is_one_finding_with_a_place(text: str, where: str, rule: str) -> None:
    document = document_of("clusterspec: 1\n" + text)
    spec, problems = read(document)
    assert [(dotted_path(problem.path), problem.rule) for problem in problems] == [(where, rule)]
    assert to_finding(problems[0], document, document.source).span.start.line >= 1
    if rule != "missing-key":
        assert any(problems[0].path[: len(path)] == path for path in spec.broken)


@pytest.mark.parametrize("ratio", ["0:1", "1:0", "-1:1", "0", "a:b", "1:1:1"])
def test_a_ratio_is_above_zero(ratio: str) -> None:
    assert len(said(f"cluster: {{scale_out: {{oversubscription: '{ratio}'}}}}")) == 1


@pytest.mark.parametrize("figure", ["0 Gb/s", "-400 Gb/s", ".inf", "inf Gb/s", "nan Gb/s", "", "[]", "{}", "no"])
def test_a_rate_is_above_zero_and_finite(figure: str) -> None:
    assert len(said(f"cluster:\n  scale_out:\n    nic_bandwidth: {figure}\n")) == 1


def test_a_revision_that_looks_like_a_number_keeps_its_zeros() -> None:
    spec, problems = spec_of("cluster: {}\ndocument: {revision: 1.10}\n")
    assert problems == []
    assert spec.document is not None
    assert spec.document.revision == "1.10"


def test_a_range_of_prices_may_have_equal_ends() -> None:
    spec, problems = spec_of("cluster: {}\nprocurement: {prices: {node: [3, 3]}}\n")
    assert not problems
    assert spec.procurement is not None and spec.procurement.prices == {"node": (3, 3)}


def test_zero_is_fine_where_nothing_is_a_sensible_amount() -> None:
    text = "cluster: {power: {rack_overhead: 0 kW}}\nworkload: {data_loading: 0 s}\noperations: {checkpoint_time: 0 s}"
    assert said(text) == []


def test_a_misspelled_key_is_not_reported_as_missing() -> None:
    spec, problems = spec_of("cluster: {node: 64}\n")
    assert [problem.rule for problem in problems] == ["unknown-key"]
    assert ("cluster", "nodes") in spec.broken


def test_text_that_is_not_a_spec_gives_one_finding() -> None:
    spec, problems = read(document_of("apiVersion: v1\nkind: Pod\nmetadata: {a: 1}\n"))
    assert [problem.rule for problem in problems] == ["unsupported-spec-version"]
    assert () in spec.broken


def test_a_missing_base_disables_absence_findings(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text("clusterspec: 1\nextends: gone.yaml\ncluster: {nodes: 4}\n")
    document, _ = load(str(tmp_path / "spec.yaml"))
    assert document is not None
    spec, problems = read(document)
    assert problems == []
    assert spec.broken == {()}


def test_an_unused_key_is_a_note_and_is_read_all_the_same() -> None:
    spec, problems = spec_of("cluster: {networks: {storage: {technology: ethernet}}}\n")
    assert [(one.rule, one.severity, one.at_key) for one in problems] == [("unused-key", Severity.NOTE, True)]
    assert spec.cluster is not None
    assert spec.cluster.networks is not None
    assert spec.cluster.networks.storage is not None
    assert spec.cluster.networks.storage.technology == "ethernet"


def test_the_starter_spec_has_no_findings() -> None:
    document, problems = load(str(resources.templates() / "starter.yaml"))
    assert document is not None
    spec, further = read(document)
    assert problems + further == []
    assert spec.cluster is not None
    assert (spec.cluster.platform, spec.cluster.nodes) == ("dgx-h100", 16)
    assert "yaml-language-server: $schema=" in document.comments[0].text


NEARLY = ["1:1", "400 Gb/s", "900 GB/s duplex", "0 s", "8 x 400 Gb/s", "tp", "hidden", "-1 GB", "1e400 GB"]
PRINTABLE = st.text(st.characters(codec="ascii"), max_size=6)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | PRINTABLE | st.sampled_from(NEARLY),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["host", "like", "kv", "zz"]), inner),
    max_leaves=4,
)


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(st.sampled_from(LEAVES), JUNK), min_size=1, max_size=4))
def test_any_spec_returns_a_result(changes: list[tuple[KeyPath, Any]]) -> None:
    tree = copy.deepcopy(EVERY.value)
    for path, junk in changes:
        try:
            value_at(tree, path[:-1])[path[-1]] = junk
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    text = json.dumps(tree).replace("NaN", ".nan").replace("-Infinity", "-.inf").replace("Infinity", ".inf")
    document, problems = parse(Source("t.yaml", text))
    assert document is not None
    spec, found = read(document)
    for problem in [*problems, *found]:
        assert to_finding(problem, document, document.source).message
    errors = [one for one in found if one.severity is Severity.ERROR and one.rule not in {"unknown-key", "missing-key"}]
    assert bool(errors) <= bool(spec.broken)


WORDS = {
    ("workload", "kind", "SFT"): "train",
    ("workload", "kind", "grpo"): "rl",
    ("workload", "precision", "mxfp8"): "fp8",
    ("workload", "precision", "FP8_E4M3"): "fp8",
    ("workload", "precision", "int4"): None,
    ("workload", "attention", "FlashAttention"): "flash",
    ("workload", "attention", "flash_attention_2"): "flash-2",
    ("layout", "sharding", "stage3"): "fsdp",
    ("layout", "schedule", "ZB-H1"): "zero-bubble",
    ("layout", "recompute", "uniform"): "full",
    ("layout", "cp_method", "RingAttention"): "ring",
}
"""A word of the field for a choice of the format; none where only a similar word differs in its number."""


@pytest.mark.parametrize(("section", "key", "word"), WORDS)
def test_a_word_of_the_field_leads_to_the_choice_of_the_format(section: str, key: str, word: str) -> None:
    _, (problem,) = spec_of(f"cluster: {{}}\n{section}: {{{key}: {word}}}\n")
    meant = WORDS[section, key, word]
    assert problem.rule == "unknown-choice"
    assert (problem.fix.replacements[0].text if problem.fix else None) == meant


TIERS = "workload: {{kind: serve, model: llama-3.1-8b, serving: {{cache_tiers: [{{{key}: 1}}]}}}}\n"
SESSION = "workload: {{kind: serve, model: llama-3.1-8b, serving: {{session: {{{key}: 1}}}}}}\n"


@pytest.mark.parametrize(
    ("text", "key", "meant"),
    [
        (TIERS, "bandwidth", "read"),
        (TIERS, "size", "capacity"),
        (TIERS, "dwpd", "writes_per_day"),
        (SESSION, "rounds", "turns"),
        (SESSION, "tokens_per_turn", "growth"),
        (SESSION, "system_prompt", "shared_prefix"),
        ("cluster: {{power: {{cdus: {{{key}: 1}}}}}}\n", "number", "count"),
        ("cluster: {{scale_out: {{{key}: 1}}}}\n", "size", ""),
    ],
)
def test_a_word_for_a_key_is_advised_in_the_mapping_of_the_key(text: str, key: str, meant: str) -> None:
    _, problems = spec_of(text.format(key=key))
    found = next(one for one in problems if one.rule == "unknown-key")
    assert (found.help == f"did you mean `{meant}`?") is bool(meant)
    assert "`capacity`" not in (found.help or "") or meant == "capacity"


@pytest.mark.parametrize(
    ("written", "first"),  # the examples are 2 s, 30 ms and 30 min
    [
        ("workload: {serving: {targets: {ttft: 500}}}", "500 ms"),
        ("workload: {serving: {targets: {ttft: 3}}}", "3 s"),
        ("workload: {serving: {targets: {tpot: 30}}}", "30 ms"),
        ("operations: {checkpoint_interval: 20}", "20 min"),
    ],
)
def test_the_unit_of_a_bare_number_is_first_that_of_usual_values(written: str, first: str) -> None:
    _, problems = read(document_of(f"clusterspec: 1\ncluster: {{}}\n{written}"))
    assert [problem.help.split(" or ")[0] for problem in problems] == [f"write `{first}`"]
