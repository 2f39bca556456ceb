"""Plain statements of a text, in nine languages: right with the figure of the design, and found with another one.

A row of `plain_statements/machine.txt` and `service.txt` has a wrong figure, a right one, and the sentence, under a
heading for what it is about. Sentences of `sound_*.txt` are right: they are about other machines, other years or tests,
or have figures that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from clusterspec.finding import Finding, Severity
from clusterspec.rules.readers.other_models import without_other_models
from clusterspec.rules.readers.statements.plain_statements import plain_statements
from clusterspec.studies import study_text
from tests.effort import each, sampled
from tests.settings import SETTINGS

FOLDER = Path(__file__).with_name("plain_statements")
DESIGNS = {name: (FOLDER / f"{name}.yaml").read_text("utf-8") for name in ("machine", "service")}


def rows(name: str) -> Iterator[tuple[str, str, str, str]]:
    """The subject, the wrong and the right figure and the sentence of each row."""
    subject = ""
    for line in (FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            subject = line[2:]
        elif line:
            wrong, right, sentence = line.split("|")
            yield subject, wrong, right, sentence


def loud(design: str, text: str) -> list[Finding]:
    """The errors and warnings of a design with a description, without those that it has without one."""
    plain = {(one.rule, one.message) for one in findings(design, "Plain.")}
    return [one for one in findings(design, text) if (one.rule, one.message) not in plain]


@cache
def findings(design: str, text: str) -> list[Finding]:
    found = study_text(DESIGNS[design].replace("TEXT", text), SETTINGS).findings
    return [one for one in found if one.severity is not Severity.NOTE]


@pytest.mark.parametrize("design", DESIGNS)
def test_a_plain_statement_is_found_with_a_wrong_figure_and_silent_with_the_right_one(design: str) -> None:
    wrong = []
    table = [*rows(design)]
    for subject, other, right, sentence in sampled(table, 28):
        if not loud(design, sentence.format(other)):
            wrong.append((subject, sentence.format(other)))
        if loud(design, sentence.format(right)):
            wrong.append((subject, sentence.format(right)))
    assert wrong == []


@pytest.mark.parametrize("design", DESIGNS)
def test_a_sentence_about_something_else_or_with_a_kept_figure_is_silent(design: str) -> None:
    lines = (FOLDER / f"sound_{design}.txt").read_text("utf-8").splitlines()
    assert [line for line in sampled(lines, 28) if loud(design, line)] == []


@each(
    "text, found",
    [
        ("The contract runs for four years.", [("procurement.term", 4 * 365.25 * 86400)]),
        (
            "Each rack holds 4 nodes, and each node has 8 GPUs.",
            [("cluster.power.nodes_per_rack", 4.0), ("cluster.accelerators_per_node", 8.0)],
        ),
        ("The fabric is oversubscribed 2:1.", [("cluster.scale_out.oversubscription", 2.0)]),
        ("A kilowatt hour costs 14 cents.", [("procurement.electricity", 0.14 / 3.6e6)]),
        ("Jede Netzwerkkarte liefert 200 Gbit/s.", [("cluster.scale_out.nic_bandwidth", 25e9)]),
        ("La salle fournit 340 kW.", [("power", 340e3)]),
        ("集群有24个节点。", [("cluster.nodes", 24.0)]),
        ("The old cluster has 24 nodes, and each node has 8 GPUs.", []),  # the second clause is of the old one, too
        ("The cluster has roughly 24 nodes.", []),  # a word that is not known
        ("The cluster has 24 nodes of 8 GPUs.", []),  # two figures in a clause
        ("The 33rd node is a spare.", []),
        ("A node and 3 spares draw 10 kW.", []),
        ("If the grid fails, the machine may draw at most 340 kW.", []),
    ],
)
def test_a_sentence_is_a_statement_if_each_of_its_words_is_known(text: str, found: list[tuple[str, float]]) -> None:
    read = [*plain_statements(text)]
    assert [one.kind.name for one in read] == [name for name, _ in found]
    assert [one.value for one in read] == pytest.approx([value for _, value in found])


@each(
    "text, left",
    [
        ("The 8B model took 5 days. The run takes 20 days.", "The run takes 20 days."),
        ("The 70B model was trained in 20 days.", "The 70B model was trained in 20 days."),
        ("Das 8B-Modell lief auf 64 GPUs.", ""),
        ("We serve 8B.", "We serve 8B."),  # says neither what was nor what comes
        ("The 8B and the 70B model were trained together.", "The 8B and the 70B model were trained together."),
    ],
)
def test_sentences_about_the_past_of_another_model_are_left_out(text: str, left: str) -> None:
    assert without_other_models(text, lambda: (70.6e9,)) == left
    assert without_other_models(text, tuple) == text, "without a known model no sentence is about another"
