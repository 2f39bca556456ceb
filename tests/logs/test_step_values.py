"""Laws of losses and norms that stay NaN, of waits for data, and of the forms of lines that searches compare."""

from __future__ import annotations

from random import Random

import pytest

from clusterspec.analysis.diagnosis.collectives import with_lines_cut
from clusterspec.exchange.import_result import LONGEST_LINE
from clusterspec.logs.statements.step_values import average_wait_for_data, lasting_non_finite, waiting_for_data
from clusterspec.logs.text_lines import with_digits_as_zero
from tests.effort import each

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


FORMS = (
    "Epoch: [1][20/500]\tTime {0} ({1})\tData {2} ({3})\tLoss 1.2",  # imagenet of pytorch/examples
    "Epoch: [3]  [ 50/100]  eta: 0:00:09  loss: 2.1  time: {0}  data: {2}  max mem: 900",  # torchvision
    "Epoch(train) [1][50/100]  lr: 1e-2  eta: 0:01:00  time: {0}  data_time: {2}  memory: 900",  # MMEngine
    "Train Epoch: 0 [9/90 (10%)] Data (t): {2} Batch (t): {0}, 9.9/s LR: 0.001",  # open_clip
)


def waits(form: str, *steps: tuple[float, float]) -> str:
    """Lines of steps, each with its time and the part of it that is a wait for data; averages tell nothing."""
    return "\n".join(form.format(time, 99, data, 98) for time, data in steps)


@pytest.mark.parametrize("form", FORMS)
def test_steps_of_which_half_of_the_later_ones_wait_half_of_their_time_wait_for_data(form: str) -> None:
    early, fast, slow = (8.0, 7.9), (0.2, 0.09), (0.2, 0.1)
    text = waits(form, *[early] * 4, slow, fast, slow, fast)
    assert waiting_for_data(text) == (
        "0.1 s of a step of 0.2 s are spent waiting for data, as in 2 of the last 4 steps",
        7,
    )
    assert waiting_for_data(waits(form, *[early] * 4, slow, fast, fast, fast)) is None


def test_a_few_long_waits_count_where_they_take_half_of_the_time() -> None:
    """Every sixth step waits for all workers of the loader: 2 x 14 s of 2 x 15 s + 10 x 0.9 s."""
    round_of_workers = [(15.0, 14.0), *[(0.9, 0.01)] * 5]
    text = waits(FORMS[3], *round_of_workers * 4)
    assert waiting_for_data(text) == (
        "14 s of a step of 15 s are spent waiting for data, as in 2 of the last 12 steps",
        19,
    )
    assert waiting_for_data(waits(FORMS[3], *round_of_workers * 2)) is None  # one wait may be of an evaluation
    shorter = [(3.0, 2.0), *[(0.9, 0.01)] * 5]  # 2 x 2 s of 2 x 3 s + 10 x 0.9 s
    assert waiting_for_data(waits(FORMS[3], *shorter * 4)) is None


@pytest.mark.parametrize("form", FORMS)
def test_first_steps_that_wait_tell_nothing(form: str) -> None:
    assert waiting_for_data(waits(form, *[(8.0, 7.9)] * 5)) is not None, "three of the later half"
    assert waiting_for_data(waits(form, *[(8.0, 7.9)] * 4)) is None, "two of the later half"


@pytest.mark.parametrize(
    "line",
    [
        "time: 0.2  data: 0.3",  # a part of a step is not longer than the step
        "time: 0.0  data: 0.0",
        "eta_time: 0.2  data: 0.1",
        "time: 0.2  metadata: 0.1",
        "time: 12:30:05  data: 12",
        "time: 0.2  data: 0.1.2",
    ],
)
def test_other_lines_are_no_waits(line: str) -> None:
    assert waiting_for_data("\n".join([line] * 12)) is None


def test_the_line_of_a_wait_is_that_of_the_log_where_it_is_long() -> None:
    text = "a line of a log\n" * 80_000 + waits(FORMS[1], *[(1.0, 0.9)] * 6)
    stated = waiting_for_data(text)
    assert stated is not None
    assert stated[1] == 80_006


@each(
    "step, waits, told",
    [
        ("0.5", ("0.1", "0.1", "0.1"), "0.1 s of a step of 0.5 s"),  # a fifth of the step
        ("0.5", ("0.1", "0.1", "0.099"), ""),
        ("0.5", ("0.5", "0.5", "0.5"), "0.5 s of a step of 0.5 s"),
        ("0.5", ("0.5", "0.5", "0.501"), ""),  # a wait that is longer than its step is of something else
        ("0.5", ("0.25", "0.3", "0.2"), "0.2 s of a step of 0.5 s"),  # four fifths of the first average
        ("0.5", ("0.25", "0.3", "0.199"), ""),
        ("0.5", ("0.2", "0.2"), ""),  # the first step is averaged out after three
    ],
)
def test_an_average_wait_is_told_from_a_fifth_of_the_step_while_it_lasts(
    step: str, waits: tuple[str, ...], told: str
) -> None:
    text = "\n".join(f"Time 0.20 ({step}) Data 0.00 ({wait})" for wait in waits)
    found = average_wait_for_data(text)
    assert (found is None) is (not told)
    if found is not None:
        assert told in found[0] and found[1] == len(waits)
