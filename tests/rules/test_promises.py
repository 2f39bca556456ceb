"""Figures that a finding promises for a change are those of the design with the change written into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterspec.cluster.variation import layout_changes
from clusterspec.finding import Finding
from clusterspec.spec import keys_of
from clusterspec.spec.model import LayoutSpec
from clusterspec.studies import Study, study_text
from clusterspec.studies.variation import rewritten_study
from clusterspec.units import display
from tests.effort import sampled
from tests.settings import SETTINGS

ROOT = Path(__file__).parents[2]
DESIGNS = sorted([*(ROOT / "examples").rglob("*.yaml"), *(ROOT / "tests" / "review" / "designs").rglob("*.yaml")])
SIZE = r"\d[\d.,]* [kMGT]?B"
TIME = r"\d[\d.,]* (?:µs|ms|s|min|h|days?)"
FORMS = [
    re.compile(rf"`(?P<keys>\w+: [^`]+)` \((?:(?P<memory>{SIZE}))?(?:, )?(?:(?P<step>{TIME}) per step)?[,)]"),
    re.compile(
        rf"per step, (?P<step>{TIME}) with `(?P<keys>[^`]+)`(?: \([^();]*(?:; (?P<memory>{SIZE}) per rank)?\))?"
    ),
    re.compile(r"output tokens per second, (?P<rate>\d[\d,]*) with `(?P<keys>[^`]+)`"),
]
"""How messages and help write changed keys and what they lead to."""
OF_LAYOUT = set(keys_of(LayoutSpec))
SHARES = 8
ROLLOUT = ("workload", "rl", "rollout")
"""A finding under this key is about the engines of rollout. `estimate` prints no rate of theirs to compare with."""


@dataclass(frozen=True)
class Promise:
    """Changed keys, and the printed step time, memory and rate of output tokens that they lead to, where said."""

    rule: str
    of_rollout: bool
    keys: str
    figures: tuple[tuple[str, str], ...]


def promises(findings: list[Finding]) -> Iterator[Promise]:
    for finding in findings:
        for form in FORMS:
            for match in form.finditer(f"{finding.message} | {finding.help}"):
                said = {name: text for name, text in match.groupdict().items() if text and name != "keys"}
                of_rollout = finding.path[:3] == ROLLOUT
                if of_rollout:
                    said.pop("rate", None)
                if said:
                    yield Promise(finding.rule, of_rollout, match["keys"], tuple(said.items()))


def changes(promise: Promise) -> dict[Any, object]:
    """The key paths of the promise with their values, as a reader writes them into the file."""
    written = yaml.safe_load(f"{{{promise.keys}}}")
    if promise.of_rollout:
        return {(*ROLLOUT, key): value for key, value in written.items()}
    layout = {key: value for key, value in written.items() if key in OF_LAYOUT}
    other = {("workload", key): value for key, value in written.items() if key not in OF_LAYOUT}
    return {**layout_changes(layout), **other}


def figures(study: Study, *, whole_step: bool) -> dict[str, str]:
    """The figures as printed; of reinforcement learning the trainer's step, with ``whole_step`` that of all roles."""
    plan = study.plan
    step = plan.rl.step if plan.rl and whole_step else plan.step_seconds
    rate = plan.serving.output_tokens_per_second if plan.serving else None
    return {
        "step": display(step, "s") if step else "",
        "memory": display(plan.memory_bytes, "B") if plan.memory_bytes else "",
        "rate": display(rate, "1") if rate else "",
    }


def parts(study: Study) -> list[Study]:
    """The study itself, or those of the pools' jobs of a fleet."""
    return list(study.fleet.jobs.values()) if study.fleet is not None else [study]


@cache
def study_of(file: Path) -> Study:
    return study_text(file.read_text(encoding="utf-8"), SETTINGS, folder=file.parent)


def broken_figures(study: Study, promise: Promise) -> dict[str, tuple[str, str]]:
    """The figures that differ: as promised, and of the changed design."""
    there = figures(rewritten_study(study, changes(promise)), whole_step=promise.of_rollout)
    return {name: (text, there[name]) for name, text in promise.figures if there[name] != text}


@pytest.mark.parametrize("share", range(SHARES))
def test_a_promised_figure_is_that_of_the_changed_design(share: int) -> None:
    broken = {
        (file.name, promise): off
        for file in sampled(DESIGNS[share::SHARES], 10)
        for study in parts(study_of(file))
        for promise in promises(list(study.findings))
        if (off := broken_figures(study, promise))
    }
    assert not broken


LONG = """\
clusterspec: 1
cluster: {platform: azure-nd-gb200-v6, nodes: 72}
workload:
  model: {base: qwen3-235b-a22b, max_sequence_length: 262144}
  sequence_length: 131072
  global_batch: 96
  precision: fp8
layout: {framework: megatron-core, tp: 4, cp: 4, pp: 2, ep: 8}
"""


def test_memory_is_advised_on_where_the_layout_cannot_run_for_another_reason() -> None:
    study = study_text(LONG, SETTINGS)
    (found,) = (one for one in study.findings if one.rule == "activations-exceed-memory")
    assert "ep-not-dividing-ranks" in {one.rule for one in study.errors}
    assert found.help.startswith("by memory alone, before the other errors are corrected, these fit: ")
    offers = list(promises([found]))
    assert "recompute: full" in {offer.keys for offer in offers} and len(offers) == 2
    assert not any(broken_figures(study, offer) for offer in offers)
    assert all(dict(offer.figures).keys() == {"memory"} for offer in offers)  # no time: the layout cannot run


@pytest.mark.parametrize(("tokens", "ending"), [(524288, "add nodes and raise cp over them"), (131072, None)])
def test_activations_above_the_memory_are_not_answered_by_smaller_states(tokens: int, ending: str | None) -> None:
    """Full recomputation is on. At 524,288 tokens cp 4 leaves 112 GB on cards of 48; at 131,072 it leaves 33.9 GB."""
    spec = f"""\
clusterspec: 1
cluster: {{accelerator: l40s, nodes: 1, accelerators_per_node: 4}}
workload:
  model: {{base: llama-3.1-8b, max_sequence_length: 524288}}
  sequence_length: {tokens}
  global_batch: 32
  trainable: {{method: lora, rank: 16}}
layout: {{framework: fsdp, dp: 4, recompute: full}}
"""
    (found,) = (one for one in study_text(spec, SETTINGS).findings if one.rule == "activations-exceed-memory")
    assert "recompute" not in found.help and "states" not in found.help
    assert found.help.endswith(f": {ending}") if ending else found.help.startswith("these fit: `cp: 4, dp: 1` (")


def test_a_changed_figure_is_noticed() -> None:
    study = study_text(LONG, SETTINGS)
    wrong = Promise("activations-exceed-memory", False, "recompute: full", (("memory", "46.9 GB"),))
    assert broken_figures(study, wrong) == {"memory": ("46.9 GB", "47 GB")}


def test_each_form_of_a_promise_is_read() -> None:
    texts = [
        "these fit: `cp: 2, recompute: full` (50.5 GB, 2.82 min per step); or `recompute: full` (67.6 GB)",
        "predicted 34.1 s per step, 25.2 s with `tp: 4, order: [tp, cp, dp, ep, pp]` (26 % less; 123 GB per rank)",
        "`gradient_precision: bf16` (11.6 s per step, 11 % less)",
        "predicted 1,200 output tokens per second, 1,900 with `tp: 1` (58 % more)",
    ]
    read = [(match["keys"], match.groupdict()) for text in texts for form in FORMS for match in form.finditer(text)]
    assert [(keys, said.get("memory"), said.get("step"), said.get("rate")) for keys, said in read] == [
        ("cp: 2, recompute: full", "50.5 GB", "2.82 min", None),
        ("recompute: full", "67.6 GB", None, None),
        ("tp: 4, order: [tp, cp, dp, ep, pp]", "123 GB", "25.2 s", None),
        ("gradient_precision: bf16", None, "11.6 s", None),
        ("tp: 1", None, None, "1,900"),
    ]


SESSIONS = """\
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 1}
workload:
  kind: serve
  model: gpt-oss-120b
  serving:
    input_tokens: 6000
    output_tokens: 500
    request_rate: 2
    session: {turns: 10, think_time: 30 s, growth: 1200, shared_prefix: 2500}
layout: {framework: vllm, tp: 2}
"""


@pytest.mark.parametrize(
    ("key", "bound", "beyond"),
    [
        ("input_tokens", 7900, 7899),
        ("session.turns", 6, 7),
        ("session.growth", 777, 778),
        ("session.shared_prefix", 600, 601),
    ],
)
def test_each_bound_of_a_session_is_the_first_that_holds(key: str, bound: int, beyond: int) -> None:
    study = study_text(SESSIONS, SETTINGS)
    (found,) = (one for one in study.findings if one.rule == "keys-disagree")
    name = key.rpartition(".")[2]
    assert f"at {'least' if name == 'input_tokens' else 'most'} {bound:,}" in found.help and f"`{name}`" in found.help

    def disagrees(value: int) -> bool:
        changed = rewritten_study(study, {("workload", "serving", *key.split(".")): value})
        return "keys-disagree" in {one.rule for one in changed.findings}

    assert not disagrees(bound) and disagrees(beyond)
