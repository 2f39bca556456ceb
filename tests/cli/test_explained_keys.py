"""`explain` describes the keys of a spec by its schema: meaning, unit or choices, and the keys inside."""

from __future__ import annotations

import json

import pytest

from clusterspec.spec import schema
from clusterspec.spec.keys import key_rows, rows_of_key
from tests.cli.conftest import Call
from tests.effort import each, sampled

EXPLAINED = [  # a key, what its page says
    (
        "layout.tp",
        ("# layout.tp", "share the matrices of each layer", "Takes: whole number, such as `8`.", "Default: `1`"),
    ),
    ("layout.schedule", ("`1f1b` | `interleaved` | `gpipe`",)),
    ("cluster.scale_up.bandwidth", ("Takes: bandwidth.", "bytes per second. The direction must be stated", "`duplex`")),
    ("workload.serving.targets", ("# workload.serving.targets", "## Keys", "- `workload.serving.targets.tpot`")),
    ("measured[2].algorithm", ("# measured[].algorithm", "`nvls-tree`")),
    ("jobs.chat.workload.model", ("# workload.model", "catalog id")),  # a job has the workload of a spec
    ("pools.east.nodes", ("# cluster.nodes",)),
    ("sequence_length", ("# workload.sequence_length",)),  # the one key of the name
    ("layout", ("# layout", "- `layout.pp`", "Rules about it:", "world-size-mismatch")),
]


@pytest.mark.parametrize(("key", "said"), EXPLAINED)
def test_a_key_is_explained(key: str, said: tuple[str, ...], call: Call) -> None:
    done = call("explain", key)
    text = " ".join(done.out.split())
    assert (done.status, done.error) == (0, "") and all(each in text for each in said), done.out
    body = json.loads(call("explain", key, "--format", "json").out)
    assert said[0].removeprefix("# ").startswith(body["key"]) or body["key"] in key or not said[0].startswith("#")
    assert body["meaning"] and body["takes"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tp", "'tp' is a key in several places: workload.rl.rollout.tp, "),
        (
            "layout.pt",
            "a spec has no key 'layout.pt'; did you mean layout.cp, layout.dp, layout.ep, layout.pp, layout.tp?",
        ),
        ("workload.x.y", "a spec has no key 'workload.x.y'; docs/spec.md lists all keys"),
        ("numerics", "'numerics' is a group of rules; each has a page: "),
        (
            "tp-crosses-scale-up-doman",
            "no rule is called 'tp-crosses-scale-up-doman'; did you mean tp-crosses-scale-up-domain",
        ),
    ],
)
def test_a_name_that_is_no_key_is_one_line(name: str, said: str, call: Call) -> None:
    done = call("explain", name)
    assert (done.status, done.out, done.error.count("\n")) == (2, "", 1) and said in done.error, done.error


@each(
    ("name", "said"),
    [
        ("MFU", "# MFU, HFU\n\nmodel (hardware) FLOPs utilization"),
        ("Bubble", "# bubble\n\ntime in which"),
        ("algbw, busbw", "# algbw, busbw\n"),
        ("activation recomputation", "# activation recomputation\n"),
    ],
)
def test_a_term_of_reports_is_explained(name: str, said: str, call: Call) -> None:
    done = call("explain", name)
    assert done.status == 0 and done.out.startswith(said) and "docs/glossary.md" in done.out


@each(("name", "word"), [("time to first token", "'time to first token'"), ("HSDP", "HSDP"), ("a'b", """'a'"'"'b'""")])
def test_an_unknown_name_leads_to_a_command_that_can_be_called(name: str, word: str, call: Call) -> None:
    error = call("explain", name).error
    assert f"`clusterspec estimate SPEC --explain {word}`" in error and "docs/glossary.md" in error


def test_a_rule_comes_before_a_key(call: Call) -> None:
    assert call("explain", "world-size-mismatch").out.startswith("# world-size-mismatch")


def test_every_key_has_a_page() -> None:
    """Those that repeat a key of a spec, below a pool or a job, are explained by that key."""
    for row in sampled(key_rows(schema()), 250):
        found = rows_of_key(schema(), row.path.replace("NAME", "east").replace("[]", "[0]"))
        assert found and found[0].path == (row.same or row.path), row
