"""``clusterspec test``: what is expected of a spec holds or fails with the figure, and no slip passes."""

from __future__ import annotations

import hashlib
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call, Done


def written(*tests: dict[str, object]) -> None:
    Path("base.yaml").write_text(BASE)
    Path("base.test.yaml").write_text(json.dumps({"tests": list(tests)}))


def expecting(call: Call, *expect: str, **changed: object) -> Done:
    written({"name": "it", "spec": "base.yaml", "set": changed, "expect": list(expect)})
    return call("test")


def test_expectations_that_hold_pass(call: Call) -> None:
    done = expecting(
        call, "fits", "no error", "mfu>=0.3", "mfu<=0.9", "step_time<=60s", "silent tp-crosses-scale-up-domain"
    )
    assert (done.status, done.out) == (0, "1 test passed, 0 failed\n"), done
    wide = {"layout.tp": 16}
    assert expecting(call, "fires tp-crosses-scale-up-domain", "slowdown>=5%", **wide).status == 0
    assert expecting(call, "slowdown<=0.1%").status == 0
    assert expecting(call, "no note", **{"cluster.nodes": 8, "workload.global_batch": 512}).status == 0


def test_what_does_not_hold_fails_with_the_figure_and_the_finding(call: Call) -> None:
    wide = {"layout.tp": 16, "workload.model": "nowhere"}
    written(
        {
            "name": "slow",
            "spec": "base.yaml",
            "expect": ["step_time<=1ms", "fits", "ttft<=1s", "targets", "mfu>=90%", "mfu>=0.9"],
        },
        {
            "name": "wide",
            "spec": "base.yaml",
            "set": wide,
            "expect": ["no error", "mfu>=0.1"],
        },
        {"name": "fine", "spec": "base.yaml", "expect": ["fits"]},
    )
    estimate = json.loads(call("estimate", "base.yaml", "--format", "json").out)
    seconds = estimate["step_time"]
    done = call("test", "base.test.yaml")
    assert done.status == 1
    assert f"mfu>=90%: it is {100 * estimate['mfu']:.4g} %" in done.out
    assert f"mfu>=0.9: it is {estimate['mfu']:.4g}" in done.out, "in the unit of the limit"
    assert f"step_time<=1ms: it is {seconds:.4g} s" in done.out
    assert "ttft<=1s: the estimate has no such figure" in done.out
    assert "targets: they are latencies of a serving plan, but the spec has none" in " ".join(done.out.split())
    assert "no error: line" in " ".join(done.out.split())
    assert "mfu>=0.1: there is no estimate, because of errors: line" in " ".join(done.out.split())
    assert done.out.endswith("1 test passed, 2 failed\n")
    found = json.loads(call("test", "--format", "json").out)
    assert found["summary"] == {"pass": 1, "fail": 2}
    assert [one["status"] for one in found["tests"]] == ["fail", "fail", "pass"]
    assert found["input"]["sha256"] == hashlib.sha256(Path("base.test.yaml").read_bytes()).hexdigest()
    suite = ET.fromstring(call("test", "--format", "junit").out)[0]
    failures = [one.attrib["message"] for one in suite.iter("failure")]
    assert failures == ["5 of 6 expectations do not hold", "2 of 2 expectations do not hold"]
    assert suite.attrib["failures"] == "2" and len(suite.findall("testcase")) == 3


@pytest.mark.parametrize(("below", "said"), [(0, "does not fit"), (1, "may not fit")])
def test_a_plan_that_may_fit_is_not_said_to_be_too_large(below: int, said: str, call: Call) -> None:
    """Of a memory below the low end of the range, and of one that the prediction alone fits into."""
    Path("base.yaml").write_text(BASE)
    found = json.loads(call("estimate", "base.yaml", "--format", "json").out)
    size = (0.98 * found["range"]["memory"][0], 1.01 * found["memory"]["total"])[below]
    small = {"like": "h100-sxm-80gb", "memory": f"{size / 1e9:.2f} GB"}
    done = expecting(call, "fits", "step_time<=1ms", **{"cluster.accelerator": small})
    shown = " ".join(done.out.split())
    assert f"fits: it {said} in memory: " in shown and f", and it {said} in memory" in shown, shown


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ({"expect": ["step_tim<=3s"]}, "did you mean `step_time`"),
        ({"expect": ["step_time<=3 GB"]}, "step_time"),
        ({"expect": ["fires tp-crosses"]}, "no rule is called"),
        ({"expect": ["no eror"]}, "is not a condition; write `no error`, `fires RULE`"),
        ({"expect": ["mfu>0.4"]}, "a metric with `<=` or `>=`"),
        ({"expect": []}, "expect"),
        ({"expect": ["fits"], "set": {"layout.tpp": 4}}, "did you mean `layout.tp`"),
        ({"expect": ["fits"], "spec": "other.yaml"}, "not a file of this project"),
        ({"expect": ["fits"], "spec": "/etc/passwd"}, "not a file of this project"),
        ({"expect": ["fits"], "expects": []}, "expects"),
    ],
)
def test_a_slip_is_an_error_and_never_a_pass(test: dict[str, object], why: str, call: Call) -> None:
    written({"name": "it", "spec": "base.yaml"} | test)
    done = call("test")
    assert done.status == 2 and done.out == "" and done.error.count("\n") == 1, done
    assert "base.test.yaml:1:" in done.error and why in done.error


def test_a_failure_counts_one_expectation_in_the_singular(call: Call) -> None:
    written({"name": "one", "spec": "base.yaml", "expect": ["mfu>=0.9"]})
    suite = ET.fromstring(call("test", "--format", "junit").out)[0]
    assert [one.attrib["message"] for one in suite.iter("failure")] == ["1 of 1 expectation does not hold"]


def test_no_test_is_an_error(call: Call) -> None:
    assert call("test").status == 2
    assert call("test", "missing.test.yaml").status == 2
    Path("x.test.yaml").write_text("- [")
    assert call("test").status == 2


def test_a_fleet_is_tested_by_its_findings(call: Call) -> None:
    """It has no step and no memory of its own: a limit names no figure of it, instead of one that its jobs have."""
    pools = "pools:\n  a: {platform: dgx-h100, nodes: 4}\n"
    job = "  one:\n    pool: a\n    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}\n"
    Path("base.yaml").write_text(f"clusterspec: 1\n{pools}jobs:\n{job}    layout: {{tp: 2}}\n")
    tests = [{"name": "it", "spec": "base.yaml", "expect": ["no error", "fits", "step_time<=1h"]}]
    Path("base.test.yaml").write_text(json.dumps({"tests": tests}))
    done = call("test")
    assert done.status == 1 and "no error" not in done.out
    told = "a fleet has no estimate of its own: test its findings, or the spec of a job"
    assert f"fits: {told}" in done.out and f"step_time<=1h: {told}" in done.out
