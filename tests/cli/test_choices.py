"""What a team and a caller choose: a choice that cannot hold is one clear line, never silence."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clusterspec.cli.options import positive_integer
from tests.cli.conftest import BASE, Call
from tests.effort import telling

CONFIGURATIONS = [
    ('select = ["no-such-rule"]', "no rule or group is called 'no-such-rule'"),
    ('ignore = ["shared-nik"]', "did you mean shared-nic?"),
    ('ignore = ["layot"]', "did you mean layout?"),
    ('error = ["no-such-rule"]', "no rule or group is called 'no-such-rule'"),
    ('severity = {no-such-rule = "note"}', "no rule or group is called 'no-such-rule'"),
    ("thresholds = {no-such-rule = 1}", "no rule or group is called 'no-such-rule'"),
    ('catalog = ["absent"]', "absent is not a folder"),
    ("surprise = 1", "unknown key `surprise`"),
    ("= =", "not TOML"),
]


@telling(2)
@pytest.mark.parametrize(("text", "said"), CONFIGURATIONS)
def test_a_configuration_that_cannot_hold_is_one_line(text: str, said: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("clusterspec.toml").write_text(text)
    done = call("check", "spec.yaml")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert said in done.error


@pytest.mark.parametrize(
    "words",
    [
        ("--select", ","),
        ("--select", ""),
        ("--output", ""),
        ("--baseline", ""),
        ("--config", ""),
        ("--catalog", ""),
        ("--config", "/dev/zero"),
    ],
    ids=" ".join,
)
def test_an_option_without_a_value_is_never_taken_for_one_not_given(words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    done = call("check", "spec.yaml", *words)
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)


def test_an_empty_path_is_not_the_folder_here(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    assert call("check", "").status == 2


BROKEN = {
    "no entry": b"memory: 80 GB\n",
    "not YAML": b"a: [\n",
    "UTF-16": "id: x".encode("utf-16"),
    "empty": b"",
    "list": b"- 1\n",
}
COMMANDS = [
    ("check", "spec.yaml"),
    ("estimate", "spec.yaml"),
    ("bom", "spec.yaml"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8"),
    ("report", "spec.yaml", "-o", "out.html"),
    ("catalog", "list"),
    ("catalog", "search", "h100"),
    ("catalog", "show", "h100-sxm-80gb"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_company_entry_is_a_usage_error(data: bytes, words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("own/accelerators").mkdir(parents=True)
    Path("own/accelerators/h100-sxm-80gb.yaml").write_bytes(data)
    done = call(*words, "--catalog", "own")
    if words[:2] in (("catalog", "list"), ("catalog", "search")):  # shows the others
        assert done.status == 1
        assert "h100-pcie-80gb" in done.out
        assert "\nh100-sxm-80gb " not in done.out
    else:
        assert (done.status, done.out) == (2, "")
    (line,) = done.error.splitlines()
    assert line.startswith("clusterspec: catalog entry accelerator/h100-sxm-80gb: own/accelerators/h100-sxm-80gb.yaml:")


@pytest.mark.parametrize("kind", ["folder", "pipe", "endless", "nowhere"])
def test_a_company_entry_that_is_not_a_file_is_a_usage_error(kind: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    place = Path("own/accelerators/h100-sxm-80gb.yaml")
    place.parent.mkdir(parents=True)
    make: dict[str, Callable[[], None]] = {
        "folder": place.mkdir,
        "pipe": lambda: os.mkfifo(place),
        "endless": lambda: place.symlink_to("/dev/zero"),
        "nowhere": lambda: place.symlink_to("nowhere"),
    }
    make[kind]()
    for words in (("check", "spec.yaml"), ("catalog", "show", "h100-sxm-80gb")):
        done = call(*words, "--catalog", "own")
        assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1), done
        assert f"{place}:1:1: " in done.error


def test_an_unreadable_company_folder_is_a_usage_error(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.listdir

    def denied(place: str | Path) -> list[str]:
        if Path(place).parent.name == "own":
            raise PermissionError(13, "Permission denied")
        return listed(place)

    Path("spec.yaml").write_text(BASE)
    Path("own/accelerators").mkdir(parents=True)
    monkeypatch.setattr(os, "listdir", denied)  # the tests may run as root, whom nothing is denied
    for words in (("check", "spec.yaml"), ("catalog", "show", "h100-sxm-80gb")):
        done = call(*words, "--catalog", "own")
        assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1), done


def test_a_positive_number_has_one_to_nine_digits_and_is_not_zero() -> None:
    assert [positive_integer(text) for text in ("1", "999999999")] == [1, 999_999_999]
    for text in ("0", "-1", "", "1000000000", "1.0", "²"):
        with pytest.raises(argparse.ArgumentTypeError):
            positive_integer(text)
