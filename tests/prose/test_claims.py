"""Recall and precision on labelled claims, restated here and, where the documents are at hand, as they stand."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.prose import text_problems
from clusterspec.rules.index import RULES
from clusterspec.source import Source
from tests.effort import each, thorough
from tools.generate.prose import WrongClaim, claims, measure

RECALL, PRECISION = 0.80, 0.85
DOCUMENTS = os.environ.get("CLUSTERSPEC_SEEDS", "")
"""A folder of the labelled documents, `000_….txt` to `004_….txt`; they are not part of the project."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.open()


def test_recall_and_precision_on_labeled_claims(catalog: Catalog) -> None:
    score = measure(claims(), catalog)
    assert len(score.claims_of_verdict("wrong")) >= 40 and len(score.claims_of_verdict("right")) >= 60
    assert score.recall >= RECALL
    assert score.precision >= PRECISION


@thorough
def test_a_wrong_claim_is_reported_by_the_rule_of_its_error(catalog: Catalog) -> None:
    found = [(claim, rules) for claim, rules in measure(claims(), catalog).claims_of_verdict("wrong") if rules]
    assert [claim for claim, rules in found if claim.kind not in rules] == []


@each("claim", claims())
def test_a_label_is_whole(claim: WrongClaim) -> None:
    assert claim.verdict in {"right", "wrong", "ambiguous"}
    assert bool(claim.text) == (claim.verdict != "ambiguous")
    assert (claim.kind in RULES or claim.kind in {"rounding", "out-of-reach"}) == (claim.verdict == "wrong")


@pytest.mark.skipif(not DOCUMENTS, reason="CLUSTERSPEC_SEEDS names no folder of documents")
def test_the_documents_themselves_are_judged_as_well(catalog: Catalog) -> None:
    lines = {
        verdict: {(c.file, c.line) for c in claims() if c.verdict == verdict} for verdict in ("wrong", "ambiguous")
    }
    told: list[tuple[str, int]] = []
    for path in sorted(Path(DOCUMENTS).glob("*.txt")):
        for problem in text_problems(Source(path.name, path.read_text("utf-8")), catalog):
            assert problem.span is not None
            told.append((path.name[:3], problem.span.start.line))
    counted = [at for at in told if at not in lines["ambiguous"] or at in lines["wrong"]]
    true = [at for at in counted if at in lines["wrong"]]
    assert len(set(true)) / len(lines["wrong"]) >= RECALL
    assert len(true) / len(counted) >= PRECISION


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("The MI300X has 256 GB of HBM3.", "`192 GB`"),
        ("An H200 has 80 GB of HBM3e.", "`141 GB`"),
        ("A B300 with 180 GB of HBM3e.", "`288 GB`"),
        ("| GPU | Memory |\n|---|---|\n| MI355X | 192 GB |", "`288 GB`"),
        ("| GPU | Memory |\n|---|---|\n| H100 | 141 GB |", "`80 GB`"),
        ("Each MI325X has 192 GB of HBM3e.", "`256 GB`"),
    ],
)
def test_advice_uses_the_figure_that_the_vendor_prints(text: str, advice: str, catalog: Catalog) -> None:
    (problem,) = text_problems(Source("notes.md", text), catalog)
    assert problem.rule == "label-contradicts-rate" and advice in problem.help
    assert advice.strip("`") in problem.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NVLink 4 at 900 GB/s in each direction.", "900 GB/s in each direction is 2 times"),
        ("Each H100 gets 900 GB/s of NVLink bandwidth one way.", "900 GB/s of NVLink bandwidth one way is 2 times"),
        (
            "H100: unidirectional NVLink bandwidth of 900 GB/s.",
            "unidirectional NVLink bandwidth of 900 GB/s is 2 times",
        ),
        (
            "NVLink 4 is 18x faster than the network at 50 GB/s.",
            "18× is 900 GB/s (NVLink 4, both directions) over 50 GB/s;",
        ),
        ("NVLink 4 : NDR ≈ 18×", "900 GB/s (NVLink 4, both directions) over 50 GB/s (NDR); in one direction it is 9×"),
        (
            "NVLink 4 : NDR ≈ 4.5×",
            "450 GB/s (NVLink 4) over 100 GB/s (NDR, both directions); in one direction it is 9×",
        ),
    ],
)
def test_a_message_quotes_what_is_written(text: str, said: str, catalog: Catalog) -> None:
    (problem,) = text_problems(Source("notes.md", text), catalog)
    assert said in problem.message


@pytest.mark.parametrize(
    ("row", "advice"),
    [
        ("A100 | 80 GB | 2039 GB/s", []),
        ("A100 | 40 GB | 1555 GB/s", []),
        ("A100 | 80 GB | 1555 GB/s", ["`2.04 TB/s`"]),
        ("A100 | 40 GB | 2039 GB/s", ["`1.55 TB/s`"]),
        ("H100 | 94 GB | 3.35 TB/s", ["`3.94 TB/s`"]),
        ("GH200 | 144 GB | 4 TB/s", ["`4.9 TB/s`"]),
        ("A100 | 80 Gb | 2039 GB/s", ["`80 GB`"]),
        ("A100 | 141 GB | 2039 GB/s", ["`80 GB`"]),
        ("A100 | 80 TB | 2039 GB/s", ["`80 GB`"]),
    ],
)
def test_a_row_is_compared_with_the_part_of_its_memory(row: str, advice: list[str], catalog: Catalog) -> None:
    table = f"| Part | HBM | HBM bandwidth |\n|---|---|---|\n| {row} |\n"
    found = text_problems(Source("notes.md", table), catalog)
    assert [problem.help.split(",")[0].removeprefix("write ") for problem in found] == advice


FOUND = tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))["message"]


@each("found", FOUND)
def test_a_message_names_the_figure_and_how_many_times_it_was_written(found: dict[str, str], catalog: Catalog) -> None:
    (problem,) = text_problems(Source("notes.md", found["text"]), catalog)
    assert str(problem.span) == f"notes.md:{found['at']}"
    assert f"{problem.message}; {problem.help}" == found["says"]
