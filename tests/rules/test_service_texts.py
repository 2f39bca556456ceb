"""What a text says of a service, compared with the keys and with itself: each flaw with a sound sentence.

A line of ``service_texts.txt`` names a rule, the keys, a text, and the severity and the end of the message, worked out
by hand, or `silent`; `any` stands for all of them.
"""

from __future__ import annotations

from pathlib import Path

from clusterspec.rules import run_rules
from clusterspec.studies import study_text
from tests.effort import each, sampled
from tests.settings import SETTINGS

LINES = Path(__file__).with_name("service_texts.txt").read_text("utf-8").splitlines()
SERVICE = """clusterspec: 1
description: >-
  {text}
cluster: {{platform: {platform}, nodes: {nodes}}}
workload:
  kind: serve
  model: {model}
  serving: {{input_tokens: {prompt}, output_tokens: {answer}, request_rate: {rate}}}
layout: {{framework: vllm, tp: {tp}}}
"""
H200 = {"platform": "dgx-h200", "nodes": "1", "rate": "0.2", "tp": "8"}
LOADS = {
    "small": {"platform": "dgx-h100", "nodes": "6", "model": "llama-3.1-8b", "prompt": "1000", "answer": "100"}
    | {"rate": "20", "tp": "1"},
    "slow": {**H200, "model": "llama-3.1-405b", "prompt": "2000", "answer": "1800"},
    "short": {**H200, "model": "llama-3.1-405b", "prompt": "2000", "answer": "300"},
    "long": {**H200, "model": "llama-3.3-70b", "prompt": "{mean: 9000, p99: 90000, max: 120000}"}
    | {"answer": "{mean: 900, max: 4096}"},
}
"""Keys by the first word of their column: 48 engines of one accelerator; requests of 66 s, of 11 s; long prompts."""
RULES = {line.split(" | ")[0] for line in LINES} - {"any"}


def found_in(text: str, keys: str) -> dict[str, str]:
    """The severity and the message of each rule of the table that finds something."""
    load, *others = keys.split()
    stated = LOADS[load] | dict(other.split("=") for other in others)
    study = study_text(SERVICE.format(text=text, **stated), SETTINGS)
    return {one.rule: f"{one.severity} {one.message}" for one in run_rules(study.facts(), RULES)}


@each("line", sampled(LINES, len(LINES)))
def test_a_text_is_compared_with_the_keys_and_with_itself(line: str) -> None:
    rule, keys, text, expected = line.split(" | ")
    found = found_in(text, keys)
    if expected == "silent":
        assert not found, line
        return
    severity, _, words = expected.partition(" … ")
    assert list(found) == [rule], line
    assert found[rule].startswith(severity), line
    assert words in found[rule], line


def test_every_rule_has_flaws_and_sound_sentences() -> None:
    for rule in RULES:
        rows = [line.split(" | ")[3] for line in LINES if line.startswith(f"{rule} ")]
        silent = [each for each in rows if each == "silent"]
        assert len(silent) >= 4, rule
        assert len(rows) - len(silent) >= 6, rule
