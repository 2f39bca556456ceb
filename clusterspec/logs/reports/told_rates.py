"""Two figures that a sentence compares: a bandwidth or a time that was measured, and the one that was expected; or the
figures of several releases in a list.

The share of the expected bandwidth says what halves or divides it: half of the lanes, one of several NICs, one port of
a bond, the generation of a slot. Times and bandwidths of two releases in a list say that the release matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from clusterspec.logs.reports.outcomes import HELPED
from clusterspec.logs.reports.report_sentences import report_sentences
from clusterspec.logs.reports.trials import TRIAL
from clusterspec.logs.text_lines import MOST_LINES, lines_of, shown_line

SHARE = "share of expected"
"""The name of the statement of a measured and an expected bandwidth: the share, and the sentence."""
_FIGURE = re.compile(
    r"(?<![\w.])(?:~|about |around |ca\. ?)?(?P<number>\d{1,5}(?:\.\d{1,3})?) ?"
    r"(?P<unit>(?P<scale>[KMGT])i?(?P<of>[Bb](?:yte|it)?s?)(?:/s(?:ec)?|ps)|Gbps|Gbit/s|Mbps|GBps|MBps)(?!\w)"
)
_SCALES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_LESS = re.compile(
    r"\b(?:only|just|barely|instead of|rather than|not even|merely|far (?:from|below)|much (?:lower|less)|less than"
    r"|lower than|below|drops? to|dropped to|capped|limited to|can ?not (?:reach|exceed)|can't (?:reach"
    r"|exceed)|max(?:es)? out)\b",
    re.IGNORECASE,
)
_EXPECTED = re.compile(
    r"\b(?:expect(?:ed|ing)?|should|theoretical(?:ly)?|line rate|supposed|peak|nominal|instead of"
    r"|rather than|out of|of the"
    r"|while|but|whereas|compared (?:to|with)|vs\.?|normal(?:ly)?|before|other|good|spec(?:ified)?|rated)\b",
    re.IGNORECASE,
)
_VERSION = r"v?\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?:[-+.]\w{1,12})?"
_ROW = re.compile(
    rf"^[\s*|>-]{{0,6}}(?P<part>[A-Za-z][A-Za-z ]{{1,24}}?)?[ =:|-]{{0,3}}(?P<release>{_VERSION})"
    r"(?: ?\+ ?[A-Za-z]{2,10} ?[\d.]{1,8})?[ `]{0,3}(?::|\||=|->|→|—)[^\d\n]{0,40}(?P<figure>\d{1,7}(?:\.\d{1,18})?)"
    r"[ `*]{0,3}(?P<unit>[A-Za-z/%]{0,12})[ `*|.]{0,4}$"
)
"""A row with a release and one figure."""
NEAR = 8
"""Lines between two rows of one list."""
UNLIKE = 1.05
"""The ratio of the figures of two releases from which they are unlike, in a text that reports a fault."""
HIGHEST = 0.8
"""The share of the expected bandwidth above which nothing is missing."""
LOWEST = 0.002
"""The share below which the two figures are of different things."""
_DRIVER = re.compile(r"\bdrivers?\b", re.IGNORECASE)


def rate_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The first share of an expected bandwidth that a sentence tells, then the releases whose figures differ.

    >>> list(rate_statements("We only get 25 GB/s instead of 50 GB/s between the two nodes."))
    [('share of expected', '0.5 We only get 25 GB/s instead of 50 GB/s between the two nodes.', 1)]
    >>> list(rate_statements("- v2.10.3: 57.06\\n- v2.11.4: 7.05"))
    [('trial helped release of library', '57.06 with v2.10.3, 7.05 with v2.11.4', 2)]
    """
    before = ""
    for number, line in report_sentences(text):
        if share := told_share(line) or (_LESS.search(line) and told_share(f"{before} but {line}")):
            yield SHARE, f"{share:.3g} {shown_line(line.strip())}", number
            break
        before = line
    yield from _unlike_releases(text)


def told_share(sentence: str) -> float | None:
    """The smaller bandwidth of a sentence as a share of the larger one, if the sentence calls one of them too small.

    >>> told_share("ib_write_bw has 400 Gb/s but nccl-tests only 20 GB/s")
    0.4
    >>> told_share("We have 50 GB/s on one node and 25 GB/s over two nodes.")
    """
    if not (_LESS.search(sentence) and _EXPECTED.search(sentence)):
        return None
    rates = [rate for match in _FIGURE.finditer(sentence) if (rate := _bytes_per_second(match)) > 0]
    if len(rates) != 2:
        return None
    share = min(rates) / max(rates)
    return share if LOWEST <= share <= HIGHEST else None


def _bytes_per_second(figure: re.Match[str]) -> float:
    """The rate of a figure with its unit, in B/s."""
    unit = figure["unit"]
    scale = _SCALES[unit[0]]
    of_bits = "b" in unit.removeprefix(unit[0]).replace("bps", "b")[:2] and "B" not in unit
    return float(figure["number"]) * scale / (8 if of_bits else 1)


def _unlike_releases(text: str) -> Iterator[tuple[str, str, int]]:
    """The statement that a list has unlike figures for two releases: that of the better one is the remedy."""
    rows = [
        (number, match)
        for number, line in islice(enumerate(lines_of(text), 1), MOST_LINES)
        if len(line) <= 200 and (match := _ROW.match(line))
    ]
    for (first, one), (second, other) in pairwise(rows):
        alike = (one["part"] or "").strip().lower() == (other["part"] or "").strip().lower()
        if second - first > NEAR or not alike or one["release"] == other["release"] or one["unit"] != other["unit"]:
            continue
        small, large = sorted((float(one["figure"]), float(other["figure"])))
        if small > 0 and large >= UNLIKE * small:
            part = "driver" if _DRIVER.search(one["part"] or "") else "library"
            shown = f"{one['figure']} with {one['release']}, {other['figure']} with {other['release']}"
            yield f"{TRIAL}{HELPED} release of {part}", shown, second
            return
