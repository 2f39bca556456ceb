"""The option that prints the version among other words, and the description of the program."""

from __future__ import annotations

import pytest

import clusterspec
from clusterspec.cli.commands import parser


@pytest.mark.parametrize(
    "words", [["-V"], ["--version"], ["--version", "check"], ["-V", "estimate", "spec.yaml"]], ids=" ".join
)
def test_the_version_takes_no_value_and_ends_the_call(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser(words).parse_args(words)
    assert ended.value.code == 0 and capsys.readouterr().out == f"clusterspec {clusterspec.__version__}\n"


def test_the_program_describes_itself_by_the_first_sentence_of_its_package() -> None:
    described = parser(["check"]).description
    assert described and "\n" not in described and (clusterspec.__doc__ or "").startswith(described)
    assert described.endswith(".") and described in parser(["check"]).format_help().replace("\n", " ")
