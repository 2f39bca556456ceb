"""Shares of an expected bandwidth, and figures of several releases, as people write them."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.told_rates import SHARE, rate_statements, told_share


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        ("We only get 25 GB/s instead of 50 GB/s.", 0.5),
        ("ib_write_bw shows 400 Gb/s but nccl-tests only 20 GB/s.", 0.4),  # 20 GB/s are 160 Gb/s
        ("It is capped at 6 GB/s while the line rate is 400 Gbps.", 0.12),
        ("One NIC of eight: 50 GB/s expected, only 6250 MB/s measured.", 0.125),
    ],
)
def test_the_smaller_of_two_rates_is_a_share_of_the_expected_one(sentence: str, share: float) -> None:
    assert told_share(sentence) == pytest.approx(share)


@pytest.mark.parametrize(
    "sentence",
    [
        "We have 50 GB/s on one node and 25 GB/s over two nodes.",  # nobody calls one of them too small
        "We only get 25 GB/s.",
        "We only get 45 GB/s instead of 50 GB/s.",  # 90 % are what protocols leave
        "We only get 25 GB/s instead of 50 GB/s or 100 GB/s.",
    ],
)
def test_figures_that_nobody_calls_too_small_and_more_than_two_are_no_share(sentence: str) -> None:
    assert told_share(sentence) is None


def test_a_share_is_also_of_two_lines() -> None:
    text = "The test of the link shows 400 Gb/s for the pair.\nBut nccl-tests gets only 20 GB/s on the same pair."
    assert [(name, line) for name, _, line in rate_statements(text)] == [(SHARE, 2)]


def test_the_figures_of_two_releases_in_a_list_are_a_trial_of_the_release() -> None:
    rows = "- v2.10.3: 57.06\n- v2.11.4: 7.05"
    assert [name for name, _, _ in rate_statements(rows)] == ["trial helped release of library"]
    drivers = "driver 535.183: 362.1\ndriver 550.144: 327.9"
    assert [name for name, _, _ in rate_statements(drivers)] == ["trial helped release of driver"]
    assert not list(rate_statements("- v2.10.3: 57.06\n- v2.11.4: 57.05"))
    assert not list(rate_statements("- v2.10.3: 57.06\n- v2.10.3: 7.05"))
