"""`init` prints a spec that checks without errors, for whatever machine and model are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.effort import ALL_CASES, sampled, thorough

MORE = [
    ("dgx-h100", "llama-3.1-8b", "train"),
    ("dgx-h100", "llama-3.1-8b", "serve"),
    ("dgx-h100", "deepseek-v3", "train"),
    ("gb200-nvl72", "llama-3.1-70b", "train"),
]


@thorough
@pytest.mark.parametrize(
    ("platform", "model", "kind"),
    sampled(
        [
            ("dgx-h100", "llama-3.1-70b", "train"),
            ("gb200-nvl72", "llama-3.1-70b", "serve"),
            ("dgx-1", "llama-3.1-8b", "train"),
            *([("dgx-h100", "deepseek-v3", "serve"), *MORE] if ALL_CASES else []),
            ("dgx-1", "gpt3-175b", "serve"),
        ],
        8,
    ),
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
    done = call("init", "--platform", "groq-3-lpx", "--model", "bloom-176b", "--for", "serve")
    assert done.status == 0
    assert done.out.startswith("# yaml-language-server")
    assert "No layout of bloom-176b runs on groq-3-lpx; this template has errors." in done.error


SAMPLE = ("aws-dl1-24xlarge", "aws-trn2-48xlarge", "cerebras-cs-4", "gaudi2-hls", "tpu-8t", "tpu-v5e")
"""Platforms without a published peak, announced, with a mesh, a torus, or three accelerators in a node."""


@pytest.mark.parametrize("kind", ["train", "serve"])
def test_a_starting_spec_checks_without_a_warning(kind: str, call: Call) -> None:
    for platform in sampled(SAMPLE, 2 * len(SAMPLE)):
        Path("spec.yaml").write_text(call("init", "--platform", platform, "--for", kind).out)
        checked = call("check", "spec.yaml", "--fail-on", "warning")
        assert checked.status == 0, (platform, checked.out)


CHOSEN = [
    ("aws-trn2-48xlarge", "llama-3.1-70b", "serve"),
    ("gaudi3-hls", "llama-3.1-70b", "serve"),
    ("aws-g6-8xlarge", "mellum2-12b-a2.5b", "train"),
    ("oci-bm-gpu-a100-v2-8", "qwen3-coder-next", "train"),
    ("aws-g4dn-metal", "qwen3.5-27b", "train"),
    ("gcp-a3-highgpu-4g", "glm-5.2", "serve"),
]
"""More key-value heads than ranks, a full mesh, layers that no number of stages divides, a cloud, PCIe alone, fewer
NICs than accelerators."""
OF_LAYOUT = (
    "layers-indivisible-by-pp",
    "missing-collective-plugin",
    "no-placement-policy",
    "partial-mesh-group",
    "pipeline-bubble",
    "tp-beyond-kv-heads",
    "tp-over-pcie",
)
"""Rules about choices that a starting spec makes."""


@thorough
def test_a_starting_spec_chooses_nothing_to_which_the_check_objects(call: Call) -> None:
    for platform, model, kind in CHOSEN if ALL_CASES else CHOSEN[:2]:
        Path("spec.yaml").write_text(call("init", "--platform", platform, "--model", model, "--for", kind).out)
        checked = call("check", "spec.yaml", "--fail-on", "warning", "--format", "json")
        assert checked.status == 0, (platform, checked.out)
        found = {one["rule"] for one in json.loads(checked.out)["findings"]}
        assert found.isdisjoint(OF_LAYOUT), (platform, model, kind, found)


@thorough
@pytest.mark.parametrize("model", ["gpt-oss-120b", *(["deepseek-v3", "qwen3-235b-a22b"] if ALL_CASES else [])])
def test_a_starting_spec_distributes_many_experts(model: str, call: Call) -> None:
    """Slices of all 128 experts on each rank take several times the step of whole experts on a part of the ranks."""
    Path("spec.yaml").write_text(call("init", "--platform", "dgx-h100", "--model", model).out)
    assert "  ep: 8 " in Path("spec.yaml").read_text()
    found = {one["rule"] for one in json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]}
    assert "narrow-expert-slices" not in found


@pytest.mark.parametrize(("platform", "nodes"), [("dgx-h100", 3), *([("gb200-nvl72", 36)] if ALL_CASES else [])])
def test_a_starting_spec_has_the_nodes_that_are_asked_for(platform: str, nodes: int, call: Call) -> None:
    done = call("init", "--platform", platform, "--nodes", str(nodes))
    assert f"nodes: {nodes} " in done.out
    Path("spec.yaml").write_text(done.out)
    assert call("check", "spec.yaml", "--fail-on", "warning").status == 0


def test_too_few_or_too_many_nodes_are_one_clear_line(call: Call) -> None:
    few = call("init", "--model", "deepseek-v3", "--nodes", "1")
    assert (few.status, few.out) == (2, "") and "deepseek-v3 divides over 1 node of dgx-h100" in few.error
    many = call("init", "--nodes", "1000001")
    assert (many.status, many.out) == (2, "") and "at most 1,000,000 nodes" in many.error


def test_a_name_that_the_catalog_lacks_names_the_nearest(call: Call) -> None:
    done = call("init", "--platform", "dgx-h10")
    assert (done.status, done.out) == (2, "")
    assert "nearest: dgx-h100" in done.error


@thorough
def test_an_error_of_the_machine_is_told_as_such(call: Call) -> None:
    """One node of a platform sold by nine: the model fits, and no layout is at fault."""
    done = call("init", "--platform", "aws-p6e-gb200-36xlarge", "--nodes", "1")
    assert "nodes: 1 " in done.out
    assert "sold in units of 9 nodes: 1 node is a part of 9 (partial-unit-of-sale)" in done.error
    assert "No layout" not in done.error
    sold = call("init", "--platform", "aws-p6e-gb200-36xlarge")
    assert "nodes: 9 " in sold.out and not sold.error
