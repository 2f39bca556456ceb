"""Here-documents of scripts: whether they are only printed, and what a substitution writes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.shell import script_of
from clusterspec.exchange.shell_text import branches_of, is_printed, text_of, tree_of, written_text
from clusterspec.exchange.written_documents import document_within
from tests.effort import each


def nodes_of(text: str, kind: str) -> Iterator[Any]:
    """The nodes of a kind in a script, in their order."""
    left = [tree_of(text)]
    while left:
        node = left.pop(0)
        if node.type == kind:
            yield node
        left[:0] = node.named_children


@each(
    ("script", "printed"),
    [
        ("cat <<EOF\nlaunch --a\nEOF\n", True),
        ("if true; then\ncat <<EOF\nlaunch --a\nEOF\nfi\n", True),
        ("cat <<EOF > job.sh\nlaunch --a\nEOF\n", False),
        ("cat > job.sh <<EOF\nlaunch --a\nEOF\n", False),
        ("cat <<EOF | bash\nlaunch --a\nEOF\n", False),
        ("bash <<EOF\nlaunch --a\nEOF\n", False),
        ("ARGS=$(cat <<EOF\nlaunch --a\nEOF\n)\n", False),
        ("f() {\ncat <<EOF\nlaunch --a\nEOF\n}\n", False),
        ("diff <(cat <<EOF\nlaunch --a\nEOF\n) b\n", False),
    ],
)
def test_a_document_is_printed_where_nothing_takes_it(script: str, printed: bool) -> None:
    assert is_printed(next(nodes_of(script, "redirected_statement"))) is printed


CALLED = "f() {\ncat <<EOF\nlaunch --a\nEOF\n}\n"


@each(
    ("script", "started"),
    [
        (f"{CALLED}f\n", []),
        (f"{CALLED}g() {{\nf\n}}\ng\n", []),
        (f"{CALLED}f > run.sh\n", ["launch"]),
        (f"{CALLED}f | bash\n", ["launch"]),
        (f"{CALLED}f | tee run.sh\n", ["launch"]),
        ("f() {\ncat > run.sh <<EOF\nlaunch --a\nEOF\n}\nf\n", ["launch"]),
        (f"{CALLED}echo a\n", []),
    ],
)
def test_a_document_of_a_function_starts_something_where_its_call_is_written_or_piped(
    script: str, started: list[str]
) -> None:
    names = [command.words[0].text for command in script_of(script).commands]
    assert [name for name in names if name == "launch"] == started


@each(
    ("default", "item", "started"),
    [
        ("help", "echo usage; exit 1", {"launch", "train"}),
        ("help", "show_help", {"launch", "train"}),
        ("help", "run --a", {"run"}),
        ("serve", "echo usage", {"launch"}),
    ],
)
def test_other_items_may_run_where_the_default_of_an_argument_only_shows_help(
    default: str, item: str, started: set[str]
) -> None:
    script = (
        "show_help() {\necho a\n}\n"
        f'case "${{1:-{default}}}" in\nserve) launch --b ;;\ntrain) train --c ;;\nhelp) {item} ;;\nesac\n'
    )
    assert {command.words[0].text for command in script_of(script).commands} - {"echo", "exit"} == started


@each(
    ("script", "text"),
    [
        ("A=$(cat <<EOF\n--a 1\nEOF\n)\n", "--a 1"),
        ("A=$(cat <<EOF\n--a 1\n--b\nEOF\n)\n", "--a 1\n--b"),
        ("A=$(tr a b <<EOF\n--a 1\nEOF\n)\n", None),
        ("A=$(cat file)\n", None),
        ("A=$(cat <<EOF\n--a\nEOF\necho b\n)\n", None),
    ],
)
def test_a_substitution_that_only_prints_a_document_is_its_text(script: str, text: str | None) -> None:
    found = written_text(next(nodes_of(script, "command_substitution")))
    assert (text_of(found).strip() if found is not None else None) == text


def test_branches_are_the_test_and_the_statements_of_each() -> None:
    script = "if a; then b; c; elif d; then e; else f; g; fi\n"
    found = list(branches_of(next(nodes_of(script, "if_statement"))))
    assert [(text_of(test) if test else None, [text_of(one) for one in body]) for test, body in found] == [
        ("a", ["b", "c"]),
        ("d", ["e"]),
        (None, ["f", "g"]),
    ]


def _states(key: str, file: InputFile) -> bool:
    return f"{key}: " in file.text


@each(
    ("heads", "wanted"),
    [
        (("<<EOF", "<<EOF"), ("a: 4", "b: 4 $M")),
        (("<<EOF", "<<'EOF'"), ("a: 4", "b: $N $M")),  # in quotes, the shell fills nothing in
        (('<<"EOF"', "<<-EOF"), ("a: $N", "b: 4 $M")),
    ],
)
def test_the_variables_of_a_document_are_filled_in_unless_its_end_is_quoted(
    heads: tuple[str, str], wanted: tuple[str, str]
) -> None:
    first, second = heads
    text = f"N=4\ncat {first} > a\na: $N\nEOF\ncat {second} > b\nb: $N $M\nEOF\n"
    for name, line in zip("ab", wanted, strict=True):
        found = document_within(InputFile("s.sh", text.encode()), partial(_states, name), str)
        assert found is not None
        assert found.text.strip() == line
        assert found.lines.index(line) == {"a": 2, "b": 5}[name]
