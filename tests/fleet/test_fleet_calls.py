"""Commands on a fleet: a part is chosen with --job or --pool; what needs one design and gets none says so."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.cli.conftest import Call, call  # noqa: F401 - the fixture
from tests.fleet.test_fleet_studies import POOLS, SINGLE, WORK, as_fleet

FLEET = POOLS + f"  a: {{pool: train, nodes: 8, {WORK}}}\n  b: {{pool: train, {WORK}}}\n  c: {{pool: serve, {WORK}}}\n"
REFUSED = {
    ("search", "x.yaml"): "x.yaml is a fleet, and this command needs one design: choose with --job (a, b, c) or --pool",
    ("diff", "x.yaml", "x.yaml"): "choose with --job (a, b, c) or --pool",
    ("search", "x.yaml", "--job", "d"): "no job is called 'd'; there are a, b, c",
    ("estimate", "x.yaml", "--pool", "d"): "no pool is called 'd'; there are train, serve",
    ("estimate", "one.yaml", "--job", "a"): "one.yaml describes one cluster",
    ("search", "x.yaml", "--job", "a", "--write", "y.yaml"): "--write: x.yaml is a fleet",
}


def test_a_call_without_a_design_says_so_in_one_line(call: Call) -> None:  # noqa: F811
    Path("x.yaml").write_text(FLEET)
    Path("one.yaml").write_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n")
    for words, message in REFUSED.items():
        done = call(*words)
        assert done.status == 2, words
        assert message in done.error, words
        assert done.error.count("\n") == 1, words
    assert not Path("y.yaml").exists()


def test_a_chosen_job_is_estimated_as_a_design(call: Call) -> None:  # noqa: F811
    Path("x.yaml").write_text(FLEET)
    made = json.loads(call("estimate", "x.yaml", "--job", "a", "--format", "json").out)
    pool = json.loads(call("estimate", "x.yaml", "--pool", "train", "--format", "json").out)
    assert made["cluster"]["nodes"] == pool["cluster"]["nodes"] == 16
    assert (made["accelerators_used"], pool["step_time"]) == (64, None)
    assert made["step_time"] > 0


def test_a_fleet_of_one_prints_the_figures_of_the_short_form(call: Call) -> None:  # noqa: F811
    path = next(path for path in SINGLE if path.stem == "bloom-176b")
    spec = yaml.safe_load(path.read_text("utf-8"))
    Path("x.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    single = call("estimate", "x.yaml"), call("bom", "x.yaml"), call("cost", "x.yaml")
    Path("x.yaml").write_text(yaml.safe_dump(as_fleet(spec), sort_keys=False))
    assert (call("estimate", "x.yaml"), call("bom", "x.yaml"), call("cost", "x.yaml")) == single
