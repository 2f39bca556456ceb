"""`init` prints a spec that checks without errors, for whatever machine and model are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.mark.parametrize(
    ("platform", "model", "kind"),
    [
        ("dgx-h100", "llama-3.1-8b", "train"),
        ("dgx-h100", "llama-3.1-70b", "train"),
        ("gb200-nvl72", "llama-3.1-70b", "train"),
        ("dgx-h100", "llama-3.1-8b", "serve"),
        ("gb200-nvl72", "llama-3.1-70b", "serve"),
        ("dgx-1", "llama-3.1-8b", "train"),
        ("dgx-h100", "deepseek-v3", "serve"),
        ("dgx-h100", "deepseek-v3", "train"),
        ("dgx-1", "gpt3-175b", "serve"),
    ],
)
def test_a_starting_spec_has_no_error_and_fits(platform: str, model: str, kind: str, call: Call) -> None:
    done = call("init", "--platform", platform, "--model", model, "--for", kind)
    assert done.status == 0
    Path("spec.yaml").write_text(done.out)
    checked = call("check", "spec.yaml")
    assert checked.status == 0, checked.out
    document = json.loads(call("estimate", "spec.yaml", "--format", "json").out)
    assert document["fits"] is True
    assert f"platform: {platform} " in done.out
    assert done.out.count("#") > 6


def test_a_model_that_no_usual_layout_holds_is_said(call: Call) -> None:
    done = call("init", "--platform", "cerebras-cs-3", "--model", "deepseek-v3", "--for", "serve")
    assert done.status == 0
    assert done.out.startswith("# yaml-language-server")
    assert "no usual layout of deepseek-v3 is without errors on cerebras-cs-3" in done.error


def test_a_name_that_the_catalog_lacks_names_the_nearest(call: Call) -> None:
    done = call("init", "--platform", "dgx-h10")
    assert (done.status, done.out) == (2, "")
    assert "nearest: dgx-h100" in done.error
