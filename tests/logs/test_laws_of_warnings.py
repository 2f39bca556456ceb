"""Which warnings of a collective library end a run."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.last_lines import _reports_fatal_warning


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("n1:10 [0] NCCL WARN Call to connect failed", True),
        ("n1:10 [0] RCCL WARN Call to connect failed", True),
        ("n1:10 [0] NCCL WARN Call to connect failed, retrying", False),
        ("n1:10 [0] NCCL INFO Call to connect failed", False),
        ("Call to connect failed, retrying", False),
    ],
)
def test_a_warning_is_of_an_error_unless_the_library_tries_again(line: str, ends: bool) -> None:
    assert _reports_fatal_warning(line) is ends
