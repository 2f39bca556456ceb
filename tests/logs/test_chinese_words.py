"""Chinese words of reports: each counts as its English one, the longest that fits."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.cause_terms import terms_in, words_of
from clusterspec.logs.reports.chinese_words import with_english_words
from clusterspec.logs.reports.worded_causes import suspected_statements


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("版本不一致", {"different", "version"}),  # not the word for a version alone
        ("单机正常", {"one", "node"}),
        ("多卡卡住", {"several", "gpu", "hang"}),
        ("显存不足", {"out", "gpu", "memory"}),
        ("天气很好", set()),
    ],
)
def test_a_chinese_word_counts_as_its_english_ones(text: str, words: set[str]) -> None:
    assert words <= set(words_of(with_english_words(text)))
    assert (with_english_words(text) == text) is (not words)


def test_a_comma_ends_a_chinese_clause() -> None:
    together = {each.term.text for each in terms_in("端口打开")} | {each.term.text for each in terms_in("open 端口")}
    apart = {each.term.text for each in terms_in("open，端口")}
    assert "open port" in together and "open port" not in apart


def test_a_report_in_chinese_is_suspected_as_one_in_english() -> None:
    found = [name for name, _, _ in suspected_statements("两台机器多机训练报错，防火墙和安全组没有改过。")]
    assert "suspected unreachable-peer" in found
