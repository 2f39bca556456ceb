"""Changes in the text of a spec: the lines of the changed keys change, comments and all other lines stay."""

from __future__ import annotations

import pytest

from clusterspec.analysis.rewrite import text_with_changes, text_with_layout
from clusterspec.cluster.variation import Changes
from clusterspec.studies import study_text
from tests.settings import SETTINGS

TEXT = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}  # ours
workload:
  model: llama-3.1-8b  # as agreed
  sequence_length: 8192
  global_batch: 256
layout: {tp: 2, pp: 1}   # first try
"""
TP, BATCH = ("layout", "tp"), ("workload", "global_batch")
CHANGES: list[tuple[Changes, list[str], list[str]]] = [  # changes; lines gone, lines new
    ({TP: 4}, ["layout: {tp: 2, pp: 1}   # first try"], ["layout: {tp: 4, pp: 1}   # first try"]),
    ({TP: None}, ["layout: {tp: 2, pp: 1}   # first try"], ["layout: {pp: 1}   # first try"]),
    ({("layout", "pp"): None}, ["layout: {tp: 2, pp: 1}   # first try"], ["layout: {tp: 2}   # first try"]),
    (
        {TP: 4, ("cluster", "nodes"): 8},
        ["cluster: {platform: dgx-h100, nodes: 4}  # ours", "layout: {tp: 2, pp: 1}   # first try"],
        ["cluster: {platform: dgx-h100, nodes: 8}  # ours", "layout: {tp: 4, pp: 1}   # first try"],
    ),
    ({BATCH: 512}, ["  global_batch: 256"], ["  global_batch: 512"]),
    ({BATCH: None}, ["  global_batch: 256"], []),
    ({("workload", "model"): "llama-3.1-70b"}, ["  model: llama-3.1-8b  # as agreed"],
     ["  model: llama-3.1-70b  # as agreed"]),
    ({("workload", "precision"): "fp8"}, [], ["  precision: fp8"]),
    ({("operations", "checkpoint_interval"): "1 h"}, [], ["operations:", "  checkpoint_interval: 1 h"]),
    ({("layout", "overlap", "tp"): "full"}, ["layout: {tp: 2, pp: 1}   # first try"],
     ["layout: {tp: 2, pp: 1, overlap: {tp: full}}   # first try"]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "gone", "new"), CHANGES)
def test_a_change_touches_the_lines_of_its_keys_alone(changes: Changes, gone: list[str], new: list[str]) -> None:
    before = TEXT.splitlines()
    after = text_with_changes(study_text(TEXT, SETTINGS, "a.yaml"), changes).splitlines()
    assert [line for line in before if line not in after] == gone
    assert [line for line in after if line not in before] == new
    assert [line for line in after if line in before] == [line for line in before if line in after]


def test_a_new_key_stands_below_the_last_one_of_its_section() -> None:
    wanted = TEXT.replace("256\n", "256\n  precision: fp8\n  tokens: 1000\n")
    changes: Changes = {("workload", "precision"): "fp8", ("workload", "tokens"): 1000}
    assert text_with_changes(study_text(TEXT, SETTINGS, "a.yaml"), changes) == wanted
    wanted = f"{TEXT}operations:\n  checkpoint_interval: 1 h\n"
    changes = {("operations", "checkpoint_interval"): "1 h"}
    assert text_with_changes(study_text(TEXT, SETTINGS, "a.yaml"), changes) == wanted


def test_words_that_yaml_reads_as_something_else_are_quoted() -> None:
    section = {"tp": 8, "schedule": "1f1b", "framework": "no", "order": ["tp", "dp"], "sequence_parallel": False}
    text = text_with_layout(study_text(TEXT, SETTINGS, "a.yaml"), section)
    wanted = (
        'layout: {tp: 8, schedule: "1f1b", framework: "no", order: [tp, dp], sequence_parallel: false}   # first try'
    )
    assert text.splitlines()[-1] == wanted and text.splitlines()[:-1] == TEXT.splitlines()[:-1]
