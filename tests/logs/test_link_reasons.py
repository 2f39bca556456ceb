"""Reasons of ports that are down, in the words of ethtool, mlxlink and NVOS."""

from __future__ import annotations

import pytest

from tests.analysis.test_program_lines import PAIR, read


@pytest.mark.parametrize(
    ("line", "causes"),
    [
        ("\tLink detected: no (Bad signal integrity)", ["unstable-link"]),
        ("\tLink detected: no (Cable issue, Unsupported cable)", ["unstable-link"]),
        ("\tLink detected: no (Autoneg, No partner detected)", ["unstable-link", "invalid-setting"]),
        ("Recommendation                     : \x1b[31mBad signal integrity\x1b[0m", ["unstable-link"]),
        ("Recommendation                     : Port is close by command", ["invalid-setting"]),
        ("Device 'mlx5_0' is not in valid HW state (Cable is unplugged)", ["unstable-link"]),
        ('        "status": "Power budget exceeded"', ["nic-fault"]),
    ],
)
def test_reasons_of_ports_name_their_cause(line: str, causes: list[str]) -> None:
    diagnosis = read(PAIR, line, 16)
    assert diagnosis is not None
    assert [each.name for each in diagnosis.causes] == causes
    assert diagnosis.causes[0].weight < 1


@pytest.mark.parametrize(
    "line",
    [
        "\tLink detected: yes",
        "\tLink detected: no",
        "Recommendation                     : No issue was observed",
        '        "status": "ok"',
    ],
)
def test_ports_without_a_reason_name_none(line: str) -> None:
    assert read(PAIR, line, 16) is None
