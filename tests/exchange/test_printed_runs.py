"""What a log of steps prints of its run: the vocabulary of the model, and times that its time stamps confirm."""

from __future__ import annotations

import pytest

from tests.exchange.imports import counts, given, read, unknown

LISTED = """\
------------------------ arguments ------------------------
  hidden_size ..................................... 128
  num_attention_heads ............................. 4
  num_layers ...................................... 2
{listed}
-------------------- end of arguments ---------------------
{printed}
 [{first}] iteration 1/ 9 | elapsed time per iteration (ms): 4000.0 | global batch size: 2 |
 [{second}] iteration 2/ 9 | elapsed time per iteration (ms): 2000.0 | global batch size: 2 |
 [{third}] iteration 3/ 9 | elapsed time per iteration (ms): 2000.0 | global batch size: 2 |
"""
PADDED = " > padded vocab (size: {}) with 100 dummy tokens (new size: {})"
STAMPS = {
    "as long as stated": ("2026-01-02 03:00:04", "2026-01-02 03:00:06", "2026-01-02 03:00:08"),
    "means since the start": ("2026-01-02 03:00:04.000", "2026-01-02 03:00:04.020", "2026-01-02 03:00:04.045"),
    "apart for evaluations": ("2026-01-02 03:00:04", "2026-01-02 03:09:06", "2026-01-02 03:20:08"),
    "one line late": ("2026-01-02 03:00:04", "2026-01-02 03:00:04", "2026-01-02 03:00:08"),
}


def of_run(listed: str = "", printed: str = "", stamps: str = "as long as stated") -> str:
    first, second, third = STAMPS[stamps]
    return LISTED.format(listed=listed, printed=printed, first=first, second=second, third=third)


@pytest.mark.parametrize(
    ("listed", "printed", "vocabulary"),
    [
        ("", PADDED.format(32_668, 32_768), 32_768),
        ("  padded_vocab_size ........ 50304", PADDED.format(32_668, 32_768), 50_304),
        ("  padded_vocab_size ........ None", "INFO:core.tokenizers:" + PADDED.format(32_668, 32_768), 32_768),
        ("  vocab_size ............... 32668", PADDED.format(32_668, 32_768), 32_768),
        ("", PADDED.format(1, 128) + "\n" + PADDED.format(2, 256), None),
        ("", "", None),
    ],
)
def test_the_vocabulary_of_a_run_is_the_padded_one_that_it_prints(
    listed: str, printed: str, vocabulary: int | None
) -> None:
    found = given(read(of_run(listed, printed), "step-log"))
    assert found["workload.model.layers"] == 2 and found.get("workload.model.vocab") == vocabulary


@pytest.mark.parametrize(("stamps", "measured"), [(name, name != "means since the start") for name in STAMPS])
def test_steps_that_state_to_be_longer_than_their_lines_are_apart_are_no_measurement(
    stamps: str, measured: bool
) -> None:
    reading = read(of_run(stamps=stamps), "step-log")
    entries = [each for each in reading.given if each.path == ("measured",)]
    assert bool(entries) is measured
    assert ("of a step by the time stamps" in unknown(reading)) is not measured
    assert counts(reading)["step_seconds"] == 2.0
