"""Laws of losses and norms that stay NaN, and of the forms of lines that searches compare."""

from __future__ import annotations

from random import Random

import pytest

from clusterspec.analysis.diagnosis import with_lines_cut
from clusterspec.exchange.import_result import LONGEST_LINE
from clusterspec.logs.step_values import lasting_non_finite
from clusterspec.logs.text_lines import with_digits_as_zero

STEP = "step {number} | loss: {loss} | grad norm: {norm} | lr: 3e-4"


def steps(*values: tuple[str, str]) -> str:
    return "\n".join(STEP.format(number=number, loss=loss, norm=norm) for number, (loss, norm) in enumerate(values, 1))


def test_two_values_in_a_row_that_are_not_finite_last() -> None:
    text = steps(("2.31", "0.7"), ("2.30", "nan"), ("2.29", "nan"))
    assert lasting_non_finite(text) == ("grad norm: nan", 2)


def test_one_value_that_is_left_out_does_not_last() -> None:
    assert lasting_non_finite(steps(("2.31", "0.7"), ("2.30", "inf"), ("2.29", "0.6"))) is None
    assert lasting_non_finite(steps(("2.31", "0.7"), ("2.30", "nan"))) is None


def test_values_that_recover_do_not_last() -> None:
    assert lasting_non_finite(steps(("nan", "nan"), ("nan", "nan"), ("2.29", "0.6"))) is None


@pytest.mark.parametrize(
    "line", ["val_loss: nan", "grad_norm_clip: inf", "nan_loss: 0", "number of nan iterations: 0", "loss: nano"]
)
def test_other_names_are_no_values_of_a_step(line: str) -> None:
    assert lasting_non_finite(f"{line}\n{line}\n") is None


def test_the_line_is_that_of_the_first_value_where_a_log_is_long() -> None:
    before = "a line of a log\n" * 40_000
    assert lasting_non_finite(before + "loss: 2.0\nloss: nan\nloss: nan\n") == ("loss: nan", 40_002)


def test_digits_are_zeros_in_any_text() -> None:
    random = Random(29)
    zeros = str.maketrans("123456789abcdef", "0" * 15)
    for _ in range(200):
        text = "".join(random.choices("0189abfgAF é→\n\ud800", k=30))
        assert with_digits_as_zero(text) == text.translate(zeros)


def test_only_what_exceeds_a_line_is_cut() -> None:
    random = Random(30)
    for _ in range(60):
        lengths = [random.choice([0, 3, LONGEST_LINE - 1, LONGEST_LINE, LONGEST_LINE + 1, 2 * LONGEST_LINE + 5])]
        lengths += [random.choice([0, 1, 9, LONGEST_LINE, LONGEST_LINE + 7]) for _ in range(4)]
        data = b"\n".join(bytes([65 + place]) * length for place, length in enumerate(lengths))
        cut = b"\n".join(line[:LONGEST_LINE] for line in data.split(b"\n"))
        assert with_lines_cut(data) == cut
