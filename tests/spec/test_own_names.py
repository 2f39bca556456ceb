"""Names of pools and jobs, which writers choose in their own script."""

from __future__ import annotations

import json
import re

import pytest

from clusterspec import resources
from clusterspec.studies import study_text
from tests.settings import SETTINGS

FLEET = """\
clusterspec: 1
pools:
  NAME: {platform: dgx-h100, nodes: 4}
jobs:
  NAME: {pool: NAME, workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}, layout: {tp: 2}}
"""
NAMES = ("train-1", "训练", "学習", "훈련", "обучение", "تدريب", "אימון", "प्रशिक्षण", "ฝึก", "größe", "Εκπαίδευση")


@pytest.mark.parametrize("name", NAMES)
def test_a_pool_and_a_job_have_a_name_in_any_script(name: str) -> None:
    study = study_text(FLEET.replace("NAME", name), SETTINGS, "fleet.yaml")
    assert not study.errors
    assert study.fleet is not None and list(study.fleet.jobs) == [name]


@pytest.mark.parametrize("name", ["a b", "x/y", "_z", "a\u00a0b", "–", "a,b", "x" * 61])
def test_a_name_with_a_space_or_other_signs_is_refused_where_it_is_written(name: str) -> None:
    text = FLEET.replace("  NAME: {platform", f"  {name}: {{platform").replace("NAME", "a")
    found = [one for one in study_text(text, SETTINGS, "fleet.yaml").checked.findings if one.rule == "wrong-type"]
    assert [(one.span.start.line, one.path[:1]) for one in found] == [(3, ("pools",))], name
    assert found[0].message.endswith("is not a name that `pools` takes")
    assert found[0].help.startswith("write letters and digits of any script")


def test_the_pattern_means_the_same_to_an_editor() -> None:
    """ECMA has no `(?a)`, and `\\w` is ASCII there: ranges are explicit and below U+10000, without invisible signs."""
    schema = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    narrow, wide = (one["pattern"] for one in schema["$defs"]["own_name"]["anyOf"])
    assert set(re.findall(r"\\(.)", wide)) == {"u"}
    for code in (
        0x00A0,
        0x00AD,
        0x061C,
        0x115F,
        0x1160,
        0x17B4,
        0x180E,
        0x200B,
        0x200E,
        0x202E,
        0x2066,
        0x3000,
        0x3164,
    ):
        assert not re.search(wide, f"a{chr(code)}b"), hex(code)
    assert all(re.search(wide, name) for name in NAMES)
    assert [name for name in NAMES if re.search(narrow, name)] == ["train-1"], "compiled alone for names in ASCII"
