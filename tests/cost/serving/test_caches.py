"""The tokens of conversations in a cache, and the share of their prompts that it still has, worked out by hand."""

from __future__ import annotations

from math import log

import pytest

from clusterspec.cluster.requests import Session
from clusterspec.cost.serving.caches import LONGEST, occupied_tokens, retained_seconds, returning_share

NEVER = 1e12
"""Seconds from an answer to the next turn, of users who do not come back within any retention."""
OCCUPIED = [  # session, output, rate, retention, time of a running request; the tokens kept
    # each request leaves 100 + 50 tokens for 10 s, two a second
    (Session(1, 0.0, 0, 0, 100.0), 50.0, 2.0, 10.0, 0.0, 2 * 150 * 10),
    # a session a second, whose prompts have 100 and 120 tokens; both stay for 10 s
    (Session(2, NEVER, 20, 0, 100.0), 50.0, 2.0, 10.0, 0.0, (150 + 170) * 10),
    # the second turn begins at once and renews the first, which stays while its request runs for 4 s
    (Session(2, 0.0, 20, 0, 100.0), 50.0, 2.0, 10.0, 4.0, 150 * 4 + 170 * 10),
    # a retention below the time of a request
    (Session(2, 0.0, 20, 0, 100.0), 50.0, 2.0, 3.0, 4.0, (150 + 170) * 3),
    # three turns: 150, 170 and 190 tokens
    (Session(3, NEVER, 20, 0, 100.0), 50.0, 3.0, 10.0, 0.0, (150 + 170 + 190) * 10),
    # the 30 tokens that all share are there once
    (Session(2, NEVER, 20, 30, 100.0), 50.0, 2.0, 10.0, 0.0, (120 + 140) * 10 + 30),
]
RETURNED = [  # session, output, retention, time of a running request; returned tokens of 2 prompts of 140 on average
    (Session(2, 0.0, 80, 0, 100.0), 50.0, 10.0, 0.0, 150),
    # an answer of 100 tokens, of which the second prompt of 180 has room for 80
    (Session(2, 0.0, 80, 0, 100.0), 100.0, 10.0, 0.0, 180),
    # half of the users return within the retention, or within what is left of it after the answer
    (Session(2, 10.0, 80, 0, 100.0), 50.0, 10 * log(2), 0.0, 75),
    (Session(2, 10.0, 80, 0, 100.0), 50.0, 4 + 10 * log(2), 4.0, 75),
    (Session(2, 10.0, 80, 0, 100.0), 50.0, 4.0, 4.0, 0),
    # 30 tokens of both prompts are shared, and 70 + 50 of the first return in the second
    (Session(2, 0.0, 80, 30, 100.0), 50.0, 10.0, 0.0, 2 * 30 + 120),
]


def test_a_cache_keeps_the_tokens_of_its_requests() -> None:
    for session, output, rate, retention, running, tokens in OCCUPIED:
        found = occupied_tokens(session, output, rate, retention, running)
        assert found == pytest.approx(tokens, rel=1e-6), session
        kept = retained_seconds(session, output, rate, tokens, running)
        assert kept == pytest.approx(retention, rel=1e-5), session
    session, *_ = OCCUPIED[0]
    assert retained_seconds(session, 50.0, 2.0, 0.0) == 0.0
    assert retained_seconds(session, 50.0, 0.0, 100.0) == retained_seconds(session, 50.0, 1.0, 1e30) == LONGEST


def test_what_returns_is_counted_over_all_prompts() -> None:
    for session, output, retention, running, tokens in RETURNED:
        found = returning_share(session, output, 100.0, retention, running=running)
        assert found == pytest.approx(tokens / 280), (session, output, retention)
    shared = Session(1, 0.0, 0, 100, 100.0)
    assert returning_share(shared, 50.0, 1.0, log(2)) == pytest.approx(0.5), (
        "a prefix dropped before half of the requests"
    )
    assert returning_share(shared, 50.0, 1.0, 0.0, in_use=log(4)) == pytest.approx(0.75)
