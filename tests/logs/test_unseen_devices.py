"""Answers of frameworks that they see no accelerator, in sentences and in sessions."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.unseen_devices import unseen_by_program, unseen_device
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, read

CALL = "torch.cuda.is_available()"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"In the image {CALL} returns False.", 1),
        (f"a line\nI get `{CALL}` = False", 2),
        (f">>> import torch\n>>> {CALL}\nFalse", 2),
        (f"In [2]: {CALL}\n\nOut[2]: False", 1),
        (f"print({CALL})\nFalse", 1),
        ("torch.cuda.device_count() is 0", 1),
        ("autocast_mode.py:250: UserWarning: User provided device_type of 'cuda', but CUDA is not available.", 1),
    ],
)
def test_an_answer_that_no_device_is_seen_is_found(text: str, line: int) -> None:
    found = unseen_device(text)
    assert found is not None and found[1] == line


@pytest.mark.parametrize(
    "text",
    [
        f"{CALL} returns True",
        f">>> {CALL}\nTrue\nFalse",
        f"if not {CALL}:\n    return False",
        f">>> {CALL}\nTrue\n>>> x\n>>> y\nFalse",
        "assert torch.cuda.device_count() == 8",
        "no call, False",
    ],
)
def test_other_answers_and_source_code_are_none(text: str) -> None:
    assert unseen_device(text) is None and unseen_by_program(text) is None


def test_a_device_that_nvidia_smi_sees_is_unseen_by_the_program_only() -> None:
    told = f"nvidia-smi works in the container, but {CALL} is False there."
    assert unseen_device(told) is None and unseen_by_program(told) == (told, 1)
    found, other = read(H100, told, 8), read(H100, f"In the container {CALL} is False.", 8)
    assert found is not None and names(found)[0] == "library-release"
    assert other is not None and names(other)[0] == "missing-accelerator"
