"""`clusterspec import`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call, call  # noqa: F401
from tests.exchange.test_nccl_topology import meshed, nic, system

TOPOLOGY = system(meshed(8), "\n".join(nic(n, 400_000) for n in range(8)))
BASE = "clusterspec: 1\nname: mine   # ours\ncluster:\n  nodes: 4   # as ordered\n  accelerators_per_node: 4\n"


def test_a_file_becomes_a_spec_that_checks(call: Call) -> None:  # noqa: F811
    Path("topo.xml").write_text(TOPOLOGY)
    done = call("import", "auto", "topo.xml")
    assert (done.status, done.error) == (0, "")
    assert "  accelerator: mi300x  # topo.xml:" in done.out
    Path("made.yaml").write_text(done.out.replace("cluster:\n", "cluster:\n  nodes: 2\n"))
    assert call("check", "made.yaml").status == 0


def test_the_kind_may_be_left_out(call: Call) -> None:  # noqa: F811
    Path("topo.xml").write_text(TOPOLOGY)
    assert call("import", "topo.xml").out == call("import", "auto", "topo.xml").out != ""
    done = call("import", "none.xml")
    assert done.status == 2 and "no import format is called 'none.xml'" in done.error
    assert "none.xml: No such file or directory; " in done.error
    done = call("import", "config.json")  # a former name of a kind
    assert done.status == 2 and "there is no file config.json here: name a FILE" in done.error
    Path("config.json").write_text(TOPOLOGY)
    assert "accelerator: mi300x  # config.json:" in call("import", "config.json").out


def test_a_spec_is_named_as_one(call: Call) -> None:  # noqa: F811
    """A topology of a fabric in a spec is no topology of Slurm."""
    Path("spec.yaml").write_text(f"{BASE}  scale_out: {{topology: fat-tree}}\n# topology:\n")
    done = call("import", "spec.yaml")
    assert done.status == 2 and "spec.yaml: is a spec, which `clusterspec check` reads" in done.error


def test_json_states_the_spec_the_counts_and_every_line(call: Call) -> None:  # noqa: F811
    Path("topo.xml").write_text(TOPOLOGY)
    document = json.loads(call("import", "nccl-topo", "topo.xml", "--format", "json").out)
    assert list(document)[:3] == ["version", "tool", "input"]
    assert document["spec"]["cluster"]["accelerators_per_node"] == 8
    assert document["counts"]["links_per_accelerator"] == 7
    assert all(each["line"] > 0 for each in document["provenance"])


def test_into_a_spec_keeps_what_it_states(call: Call) -> None:  # noqa: F811
    Path("topo.xml").write_text(TOPOLOGY)
    Path("spec.yaml").write_text(BASE)
    done = call("import", "auto", "topo.xml", "--into", "spec.yaml")
    assert done.status == 0
    assert "kept  cluster.accelerators_per_node is 4 on line 5; topo.xml:" in done.out
    text = Path("spec.yaml").read_text()
    assert text.startswith(BASE)
    assert "  accelerator: mi300x  # topo.xml:" in text
    again = call("import", "auto", "topo.xml", "--into", "spec.yaml")
    assert Path("spec.yaml").read_text() == text
    assert "wrote" not in again.out
    assert "kept 1 value of spec.yaml, since the spec states another" in again.out.splitlines()[0]


LAUNCH = """torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --tensor-model-parallel-size 4 \\
  --pipeline-model-parallel-size 2 --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
  --group-query-attention --num-query-groups 8 --seq-length 8192 --max-position-embeddings 8192 \\
  --micro-batch-size 1 --global-batch-size 128 --context-parallel-size 2
"""
OTHER = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
layout: {tp: 8, pp: 2}
"""


def test_two_runs_are_not_joined_unless_asked(call: Call) -> None:  # noqa: F811
    """The script trains another model with another batch on other degrees: its cp and nodes are no part of the spec."""
    Path("run.sh").write_text(LAUNCH)
    Path("spec.yaml").write_text(OTHER)
    done = call("import", "run.sh", "--into", "spec.yaml")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    for said in (
        "layout.tp is 8 on line 4, and 4 in run.sh:1",
        "global_batch is 512 on line 3, and 128 in run.sh:4",
        "workload.model is llama-3.1-70b on line 3, and layers 32 in run.sh:2",
        "nothing is written",
        "--keep",
    ):
        assert said in done.error, said
    assert Path("spec.yaml").read_text() == OTHER
    kept = call("import", "run.sh", "--into", "spec.yaml", "--keep")
    assert kept.status == 0 and "wrote layout.cp: 2  (run.sh:4)" in kept.out
    assert "cp: 2" in Path("spec.yaml").read_text()


def test_one_run_is_completed_by_its_script(call: Call) -> None:  # noqa: F811
    Path("run.sh").write_text(LAUNCH)
    own = OTHER.replace("model: llama-3.1-70b, ", "").replace("512", "128").replace("tp: 8", "tp: 4")
    Path("spec.yaml").write_text(own)
    done = call("import", "run.sh", "--into", "spec.yaml")
    assert done.status == 0 and "wrote layout.cp: 2  (run.sh:4)" in done.out
    again = Path("spec.yaml").read_text()
    Path("spec.yaml").write_text(
        again.replace("global_batch: 128", "global_batch: 64")
    )  # nothing is left to be written
    done = call("import", "run.sh", "--into", "spec.yaml")
    assert done.status == 0 and "kept  workload.global_batch is 64" in done.out


def test_a_launch_says_which_key_of_its_machine_is_missing(call: Call) -> None:  # noqa: F811
    """Eight processes on each of four nodes; a file that names the machine lacks nothing."""
    Path("run.sh").write_text(LAUNCH)
    Path("topo.xml").write_text(TOPOLOGY)
    line = next(line for line in call("import", "run.sh").out.splitlines() if line.startswith("# missing"))
    assert "cluster.platform: state a platform with nodes of 8 accelerators (`cluster: {platform: …, nodes: 4}`" in line
    assert "group_query_attention" not in call("import", "run.sh").out  # --num-query-groups says how
    named = json.loads(call("import", "run.sh", "--format", "json").out)
    assert len(named["missing"]) == 1 and line.removeprefix("# missing: ") == named["missing"][0]
    assert json.loads(call("import", "topo.xml", "--format", "json").out)["missing"] == []
    both = call("import", "run.sh", "topo.xml")
    assert both.status == 0 and "missing" not in both.out


def test_a_log_can_be_read_from_standard_input(call: Call) -> None:  # noqa: F811
    log = b"  8589934592    2147483648     float     sum      -1    64000  134.22  234.88      0\n"
    done = call("import", "auto", "-", stdin=log)
    assert "- {collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 234.88 GB/s}  # -:1" in done.out


def test_wrong_calls_are_one_line(call: Call) -> None:  # noqa: F811
    Path("topo.xml").write_text(TOPOLOGY[:300])
    for words in (
        ("import",),
        ("import", "auto"),
        ("import", "auto", "none.xml"),
        ("import", "nonsense", "topo.xml"),
        ("import", "auto", "topo.xml"),
        ("import", "auto", "topo.xml", "--into", "topo.xml"),
    ):
        done = call(*words)
        assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1), words


def test_every_kind_is_listed(call: Call) -> None:  # noqa: F811
    from clusterspec.exchange.import_formats import IMPORT_FORMATS

    listed = call("import", "--list").out
    assert all(kind.name in listed for kind in IMPORT_FORMATS)


def test_a_file_of_several_launches_lists_them_with_status_one(call: Call) -> None:  # noqa: F811
    Path("run.sh").write_text("vllm serve x/Llama-3.1-8B --tp 2\nvllm serve x/Llama-3.1-8B --tp 4\n")
    done = call("import", "auto", "run.sh")
    assert (done.status, done.out, len(done.error.splitlines())) == (1, "", 1)
    assert "on lines 1, 2: choose one with --part N" in done.error
    assert call("import", "auto", "run.sh", "--part", "2").status == 0
