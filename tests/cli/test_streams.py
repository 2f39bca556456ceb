"""Whatever standard input, output and error are connected to, a command ends in a way that can be told apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clusterspec.cli.terminal import encodable_text
from tests.cli.conftest import BASE, Call

ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}


@pytest.fixture(autouse=True)
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(BASE)


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of shell in which $C is the program."""
    command = {"C": f"{sys.executable} -m clusterspec", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    return subprocess.run(
        ["/bin/sh", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT | command | environment,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("$C estimate spec.yaml >&-", "clusterspec: standard output is closed"),
        ("$C estimate spec.yaml >/dev/full", "clusterspec: standard output: No space left on device"),
        ("$C check - <&-", "clusterspec: standard input is closed"),
    ],
)
def test_a_stream_that_cannot_be_used_is_one_line(line: str, said: str) -> None:
    done = shell(line)
    assert (done.returncode, done.stdout, done.stderr.splitlines()) == (2, "", [said])


def test_without_standard_error_the_exit_status_is_unchanged() -> None:
    assert shell("$C check absent.yaml 2>&-").returncode == 2


def test_a_closed_pipe_is_not_an_error() -> None:
    done = shell("$C estimate spec.yaml | head -n 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_pipe_is_a_spec_like_any_other() -> None:
    done = shell("cat spec.yaml | $C check /dev/stdin --format json")
    assert (
        json.loads(done.stdout)["findings"]
        == json.loads(shell("$C check - --format json <spec.yaml").stdout)["findings"]
    )


def test_characters_that_an_encoding_lacks_are_replaced_by_similar_ones() -> None:
    done = shell("$C estimate spec.yaml", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\\u" not in done.stdout
    assert "###" in done.stdout


def test_json_is_the_same_in_every_encoding() -> None:
    Path("spec.yaml").write_text(BASE.replace("base", "é × 日本 🚀"), "utf-8")
    texts = [shell("$C check spec.yaml --format json", PYTHONIOENCODING=name).stdout for name in ("utf-8", "ascii")]
    assert json.loads(texts[0]) == json.loads(texts[1])


def test_an_escape_is_one_that_json_reads_back() -> None:
    text = "é × 🚀 \udcff"
    assert json.loads(f'"{encodable_text(text, "ascii", "escaped")}"') == text


@pytest.mark.parametrize(
    ("environment", "words", "painted"),
    [
        ({}, "", False),
        ({"FORCE_COLOR": "1"}, "", True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "", False),
        ({"NO_COLOR": "1"}, "--color always", True),
    ],
)
def test_color_follows_options_and_environment(
    environment: dict[str, str], words: str, painted: bool, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    Path("spec.yaml").write_text(BASE)
    assert ("\x1b[" in call("check", "spec.yaml", *words.split()).out) is painted


def test_file_names_cannot_send_escape_sequences(call: Call) -> None:
    name = "e\x1b[31m\n.yaml"
    for path in (name, "spec.yaml"):
        Path(path).write_text(BASE)
    for words in (
        ("check", name, "spec.yaml"),
        ("estimate", name),
        ("check", name, "--select", "no-rule"),
        ("bom", name),
    ):
        done = call(*words)
        assert done.out + done.error and "\x1b" not in done.out + done.error
    assert len(call("check", "absent\x1b\n.yaml").error.splitlines()) == 1
