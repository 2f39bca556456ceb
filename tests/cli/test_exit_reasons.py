"""A command that exits with 1 says why, and sizes are printed as they were asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, ROOT, Call
from tests.effort import sampled

BROKEN = BASE.replace("layout:", "layout: {tp: 3}\nlayout_:") if "layout:" in BASE else BASE


@pytest.mark.parametrize("words", [("bom", "spec.yaml"), ("collective", "spec.yaml", "all-reduce", "--ranks", "8")])
def test_exit_status_one_comes_with_a_finding(words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(BROKEN)
    done = call(*words)
    assert done.status == 1
    assert "the exit status is 1" in done.out
    assert "clusterspec check spec.yaml" in done.out


@pytest.mark.parametrize("words", [("bom", "spec.yaml"), ("collective", "spec.yaml", "all-reduce", "--ranks", "8")])
def test_exit_status_zero_comes_without_an_error(words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    done = call(*words)
    assert (done.status, "exit status" in done.out) == (0, False)


@pytest.mark.parametrize(
    ("asked", "printed"),
    [("16 MB", "16 MB"), ("1 GiB", "1 GiB"), ("1000 KiB", "1000 KiB"), ("1.5 MiB", "1.5 MiB"), ("64kB", "64kB")],
)
def test_a_size_is_printed_as_it_was_asked_for(asked: str, printed: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    lines = call("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", asked).out.splitlines()
    assert any(line.strip().startswith(f"{printed}  ") for line in lines), lines


INCOMPLETE = "clusterspec: 1\nname: x\ncluster:\n  nodes: 4\n"
UNREADABLE = "clusterspec: 1\n a: b: c\n"
LOG = ROOT / "tests" / "rules" / "logs" / "all-reduce-16-ranks.txt"
COMMANDS_OF_A_SPEC = (
    "check spec.yaml",
    "estimate spec.yaml",
    "estimate spec.yaml --explain step_time",
    "collective spec.yaml all-reduce --ranks 8",
    "search spec.yaml",
    "simulate spec.yaml",
    "solve spec.yaml --for nodes --until fits",
    "sensitivity spec.yaml",
    "cost spec.yaml",
    "faults spec.yaml",
    "bom spec.yaml",
    "report spec.yaml -o out.json --kind procurement",
    "diff whole.yaml spec.yaml",
    "diagnose spec.yaml log.txt",
    "accept spec.yaml log.txt",
    "export sbatch spec.yaml",
    "export megatron spec.yaml",
    "export cabling spec.yaml",
    "export bom-csv spec.yaml",
    "sweep axes.yaml --jobs 1",
)


@pytest.fixture
def beside(call: Call) -> Call:
    """A call in a folder with a whole spec, a log, and the axes of a sweep over ``spec.yaml``."""
    Path("whole.yaml").write_text(BASE)
    Path("log.txt").write_text(LOG.read_text())
    Path("axes.yaml").write_text("base: spec.yaml\naxes: {workload.global_batch: [64, 128]}\n")
    return call


@pytest.mark.parametrize("words", COMMANDS_OF_A_SPEC)
@pytest.mark.parametrize("spec", [INCOMPLETE, UNREADABLE], ids=["incomplete", "unreadable"])
def test_a_spec_that_cannot_be_answered_for_is_never_the_fault_of_the_call(words: str, spec: str, beside: Call) -> None:
    Path("spec.yaml").write_text(spec)
    assert beside(*words.split()).status == 1


def test_no_difference_to_an_unreadable_spec_is_a_success(beside: Call) -> None:
    Path("spec.yaml").write_text(UNREADABLE)
    assert beside("diff", "spec.yaml", "whole.yaml").status == 1


def test_nothing_is_imported_into_an_unreadable_spec(beside: Call) -> None:
    Path("spec.yaml").write_text(UNREADABLE)
    assert beside("import", "auto", "log.txt", "--into", "spec.yaml").status == 1
    assert Path("spec.yaml").read_text() == UNREADABLE


@pytest.mark.parametrize(
    "words",
    [
        "estimate whole.yaml --explain nonsense",
        "export nonsense whole.yaml",
        "export vllm whole.yaml",
        "diagnose whole.yaml axes.yaml",
        "accept whole.yaml axes.yaml",
        "import auto axes.yaml --into spec.yaml",
        "sweep whole.yaml",
        "sweep axes.yaml --catalog nowhere",
    ],
)
def test_a_mistake_of_the_call_is_not_blamed_on_the_spec(words: str, beside: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    done = beside(*words.split())
    assert (done.status, done.out, done.error.count("\n")) == (2, "", 1)


WRONG = """clusterspec: 1
name: wrong
cluster: {platform: dgx-h100, nodes: 9, scale_out: {technology: infiniband-ndr}}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 72}
layout: {framework: megatron-core, ep: 64}
procurement: {currency: USD, term: 1 year, prices: {node: 300000}}
"""


@pytest.mark.parametrize(
    "command",
    sampled(
        [
            ("solve", "wrong.yaml", "--for", "nodes", "--until", "mfu>=0.1"),
            ("cost", "wrong.yaml"),
            ("sensitivity", "wrong.yaml"),
            ("collective", "wrong.yaml", "all-reduce", "--ranks", "16"),
            ("export", "nccl-env", "wrong.yaml"),
            ("export", "megatron", "wrong.yaml"),
        ],
        3,
    ),
    ids=" ".join,
)
def test_figures_of_a_spec_with_errors_follow_its_errors(command: tuple[str, ...], call: Call) -> None:
    Path("wrong.yaml").write_text(WRONG)
    done = call(*command)
    assert done.status == 1
    told = done.error.splitlines()
    assert "error[ep-not-dividing-ranks]" in told[0]
    assert any("conditional until" in line for line in told)


def test_a_layout_that_cannot_run_has_no_times(call: Call) -> None:
    Path("wrong.yaml").write_text(WRONG)
    pins = ("tp=1", "cp=1", "recompute=full", "micro_batch=1")  # a search of few layouts
    searched = call("search", "wrong.yaml", "--format", "json", *(word for pin in pins for word in ("--set", pin)))
    assert json.loads(searched.out)["present"] is None and searched.status == 1
    assert "error[ep-not-dividing-ranks]" in searched.error.splitlines()[0]
    assert "conditional until" in searched.error
    cost = json.loads(call("cost", "wrong.yaml", "--format", "json").out)
    assert cost["per_run"] is None and cost["per_million_tokens"] is None
    moved = json.loads(call("sensitivity", "wrong.yaml", "--format", "json").out)
    assert moved["step_time"] is None and moved["levers"] == []
    assert call("export", "megatron", "wrong.yaml").out == ""


@pytest.mark.parametrize("words", sampled(COMMANDS_OF_A_SPEC, 8))
def test_exit_status_one_comes_with_its_reason(words: str, beside: Call) -> None:
    """In every format, also where the output is figures alone."""
    for text in (BASE.replace("tp: 2", "tp: 3").replace("nodes: 4", "nodes: 1"), INCOMPLETE, UNREADABLE):
        Path("spec.yaml").write_text(text)
        done = beside(*words.split())
        if done.status == 1:
            assert re.search(r"exit status is 1|error|clusterspec: spec.yaml: |reports why", done.out + done.error), (
                text
            )
        if words.split(maxsplit=1)[0] in {"bom", "cost", "collective", "estimate", "search", "sensitivity", "solve"}:
            json_ = beside(*words.split(), "--format", "json")
            assert json_.status != 1 or re.search("error|reports why", json_.error)


SWAPPED = ("export", "whole.yaml", "megatron"), "the kind comes first: `clusterspec export megatron whole.yaml`"
TRAINS = ("simulate", "whole.yaml"), "there is no serving plan to simulate"


@pytest.mark.parametrize(("words", "advice"), [SWAPPED, TRAINS], ids=["swapped", "trains"])
def test_a_call_that_cannot_be_carried_out_says_what_would(words: tuple[str, ...], advice: str, beside: Call) -> None:
    done = beside(*words)
    assert done.status == 2 and advice in done.error


def test_a_spec_without_a_layout_is_told_how_to_find_one(call: Call) -> None:
    Path("bare.yaml").write_text(BASE[: BASE.index("layout:")])
    for words in (("estimate", "bare.yaml"), ("sensitivity", "bare.yaml")):
        assert "clusterspec search" in call(*words).out.replace("\n", " "), words
