"""The period of a count of requests has its name in a message."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.loads import figures_in
from clusterspec.rules.readers.services.relations import _counts


@pytest.mark.parametrize(
    ("written", "days", "name"),
    [
        ("a day", 1, "a day"),
        ("a week", 7, "a week"),
        ("a month", 30.4375, "a month"),
        ("a year", 365.25, "a year"),
    ],
)
def test_a_count_is_of_a_day_a_week_a_month_or_a_year(written: str, days: float, name: str) -> None:
    sentence = f"The service answers 700,000 requests {written}."
    ((figure, seconds, told),) = _counts(sentence, [*figures_in(sentence)])
    assert (figure.value, seconds, told) == (700_000, days * 86_400, name)
