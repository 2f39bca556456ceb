"""A command that exits with 1 says why, and sizes are printed as they were asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call

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
