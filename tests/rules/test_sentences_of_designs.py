"""Sentences that were written before the readers of their class: flaws are found, and what is right raises no alarm.

In the tables a line `@ name` is followed by the keys of a design. Below them `-` begins a sentence with a flaw, `+` one
without, and `~` one whose flaw is not found so far. A note is no alarm: it says that a text may mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clusterspec import rules
from clusterspec.finding import Problem, Severity
from clusterspec.studies import study_text
from tests.effort import each, sampled
from tests.settings import SETTINGS

TABLES = ("several_machines.txt", "facts_in_words.txt", "other_explanations.txt")
SIGNS = ("- ", "+ ", "~ ")


def rows(table: str) -> Iterator[tuple[str, str, str]]:
    """The keys of each design with a sign and a sentence."""
    for design in Path(__file__).with_name(table).read_text("utf-8").split("@ ")[1:]:
        lines = design.splitlines()[1:]
        keys = "\n".join(line for line in lines if line[:2] not in SIGNS)
        yield from ((keys, line[0], line[2:]) for line in lines if line[:2] in SIGNS)


def found(keys: str, text: str) -> list[Problem]:
    study = study_text(f"clusterspec: 1\ndescription: {text!r}\n{keys}\n", SETTINGS)
    assert not study.loading, study.loading
    return [each for each in rules.run_rules(study.facts()) if each.path == ("description",)]


@each("table", TABLES)
def test_a_flaw_in_a_sentence_is_found_and_a_right_sentence_raises_no_alarm(table: str) -> None:
    wrong, lines = [], list(rows(table))
    for keys, sign, text in sampled(lines, len(lines)):
        problems = found(keys, text)
        loud = [problem for problem in problems if problem.severity is not Severity.NOTE]
        if (sign == "-" and not problems) or (sign == "+" and loud) or (sign == "~" and problems):
            wrong.append((sign, text, [problem.message for problem in problems]))
    assert wrong == []


MANY = " ".join(f"We met {at} people on {at} May." for at in range(2, 10))
MACHINE = "cluster: {platform: dgx-h100, nodes: 24}"


@each(
    ("text", "severity"),
    [
        ("The 24 nodes draw 10.2 kW each, 310 kW together.", Severity.ERROR),
        (f"The 24 nodes draw 10.2 kW each, 310 kW together. {MANY}", Severity.NOTE),  # 19 figures
        (f"The 24 nodes draw 10.2 kW each, 24.48 kW together. {MANY}", Severity.ERROR),  # a tenth of 244.8 kW
        (f"The 24 nodes draw 10.2 kW each, 122.4 kW together. {MANY}", Severity.ERROR),  # half of it
        (f"The 24 nodes draw 10.2 kW each, 244.8 kW together. {MANY}", None),
    ],
)
def test_of_many_figures_one_is_wrong_for_certain_where_a_known_mistake_explains_it(
    text: str, severity: Severity | None
) -> None:
    problems = [each.severity for each in found(MACHINE, text) if each.rule == "result-off-figures"]
    assert problems == ([] if severity is None else [severity])


PUE = "cluster: {platform: dgx-h100, nodes: 24}\nprocurement: {currency: EUR, as_of: 2026-11-01, pue: 1.25}"


def test_a_contradiction_is_a_note_where_its_text_also_speaks_of_another_machine() -> None:
    (alone,) = found(PUE, "24 nodes with a PUE of 1.4.")
    (beside,) = found(PUE, "The predecessor had 20 nodes. The 24 nodes have a PUE of 1.4.")
    (away,) = found(PUE, "The predecessor had 20 nodes. It is sold. The 24 nodes come with a PUE of 1.4.")
    assert [each.severity for each in (alone, beside, away)] == [Severity.WARNING, Severity.NOTE, Severity.NOTE]
    doubt = "; the text also says `predecessor`, and may mean another machine, order or case"
    assert beside.message.endswith(doubt) and away.message == alone.message + doubt


def test_arithmetic_is_as_wrong_beside_another_machine() -> None:
    (wrong,) = found(PUE, "The predecessor had 20 nodes. The 24 nodes at 10.2 kW draw 226 kW.")
    assert wrong.severity is Severity.ERROR  # 24 x 10.2 = 244.8


COMPILED = """cluster: {platform: aws-p6-b200-48xlarge, nodes: 2}
workload: {kind: serve, model: llama-3.3-70b, serving: {concurrency: 32, input_tokens: 2000, output_tokens: 500}}
layout: {framework: trt-llm, tp: 4}"""


def test_a_claim_about_a_product_is_as_wrong_beside_another_machine() -> None:
    claim = "The engines are built with trtllm-build on an H100, and the same files are loaded on all machines."
    problems = found(COMPILED, f"The predecessor had 20 nodes. {claim}")
    assert {each.rule: each.severity for each in problems} == {
        "text-contradicts-documentation": Severity.ERROR,
        "description-off-settings": Severity.NOTE,
    }
