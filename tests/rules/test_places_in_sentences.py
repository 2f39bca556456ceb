"""Which of several words of a sentence a reader takes: the nearest, those before a number, those of a whole period."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.services.availability import allowances_in
from clusterspec.rules.readers.services.planned_stops import stops_beyond_availability
from clusterspec.rules.readers.subjects import is_size_of_site
from tests.effort import each

HOUR = 3600.0


@each(
    ("sentence", "hours"),
    [
        ("Once a month all nodes are shut down for 6 hours", 72.0),  # of 8.76 that 99.9 % of a year leave
        ("Once a month all nodes are shut down for 6 hours, as agreed in the review of the year", 72.0),
        ("Following the review of the year, once a month all nodes are shut down for 6 hours", 72.0),
        ("The load of a month is reported, and once a year all nodes are shut down for 20 hours", 20.0),
        ("Once a year all nodes are shut down for 6 hours", None),
    ],
)
def test_stops_come_as_often_as_the_nearest_period_tells(sentence: str, hours: float | None) -> None:
    found = [*stops_beyond_availability(f"We promise an availability of 99.9 % a year. {sentence}.")]
    assert [one.stopped / HOUR for one in found] == pytest.approx([] if hours is None else [hours])


@pytest.mark.parametrize("period", ["24 hours", "7 days", "28 days", "30 days", "31 days", "365 days", "366 days"])
def test_a_time_that_is_the_period_is_no_downtime(period: str) -> None:
    text = "We promise 99.9 % availability a month. The promised availability allows {} in a month."
    assert [*allowances_in(text.format(period))] == []
    assert [one.seconds for one in allowances_in(text.format("43 minutes"))] == [43 * 60.0]
    assert [one.seconds for one in allowances_in(text.format("29 days"))] == [29 * 24 * HOUR]


FILLING = "which the owner has told the supplier and all neighbors of the site in a letter of this spring, "


@each(
    ("sentence", "of_site"),
    [
        ("The hall and its power are laid out for 64 nodes", True),
        (f"The hall and its power are laid out for 64 nodes, {FILLING}{FILLING}and more", True),
        (f"The hall and its power are laid out well, {FILLING}{FILLING}and we buy 64 nodes", False),  # far before it
        ("We buy 64 nodes, and the hall and its power are laid out for more", False),
    ],
)
def test_a_size_of_a_site_has_the_words_of_the_site_shortly_before_it(sentence: str, of_site: bool) -> None:
    assert is_size_of_site(sentence, sentence.index("64")) is of_site
