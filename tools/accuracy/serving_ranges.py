"""What the sources of the fitted side say about the ranges of serving: ``python -m tools.accuracy.serving_ranges``.

The error of a figure is the factor by which the prediction would have to be larger. In an open load it is the factor by
which all times of the plan would have to be longer, whose waits follow; for a first token only if it is in the range of
a step. The errors of a source weigh as many figures as it has, ten at most. A regime with fewer than three sources
takes those of related regimes too; the throughput of loops also takes the inverse of times per output token of sources
that state no throughput. The range reaches from the tenth to the ninetieth percentile, and a margin over the root of
the number of sources further at each end. Each quantity has one margin. It is the smallest with which ranges drawn from
all other sources hold four in five figures of a source that is left out; each regime of each source has the same
weight.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log, sqrt

from clusterspec.cost.serving.constants import RANGES
from clusterspec.cost.serving.latency import ServingTimes, range_kind
from tools.accuracy import serving_cases
from tools.accuracy.cases import DATA, Case, table
from tools.accuracy.split import is_held_out

Errors = dict[str, dict[str, list[float]]]
"""The logarithms of errors, by regime and source."""
NAME = "serving_ranges.csv"
HELD = 0.8
HEAVIEST = 10
"""The most figures that a source weighs."""
PROMISED = (0.76, 0.84)
"""The shares of held-out figures between which a range is neither too wide nor too narrow."""
FEWEST = 3
"""A regime with fewer sources takes those of related regimes."""
FURTHEST, ROUNDS = 2.0, 12
"""The logarithm of the largest factor of the times of an open load that is tried, and the halvings of the interval."""
LOOPS = ("", " experts", " experts recent", " early")
RELATED = (
    ("tpot", "tpot open"),
    ("tpot experts", "tpot unmeasured", "tpot early"),
    ("ttft", "ttft static"),
    ("ttft experts", "ttft apart"),
    ("output_tokens_per_second experts", "output_tokens_per_second early"),
    tuple(f"output_tokens_per_second offline{kind}" for kind in LOOPS if "recent" not in kind),
)
FIRST_DAYS = "datacrunch"
"""The release that first served DeepSeek-V3, and two nodes whose containers reach each other through a slow port."""
FIRST_RUN = "maeehart"
"""The pull request that lets DeepSeek-V4 run on MI300X at all ("functional fixes"), by general kernels."""
EXCLUDED = frozenset(
    {
        ("ttft experts", "dstack-r1"),
        ("ttft alone", "vultr"),
        *((each, FIRST_DAYS) for each in ("tpot experts", "tpot unmeasured", "ttft experts")),
        ("output_tokens_per_second experts", FIRST_DAYS),
        ("tpot experts recent", FIRST_RUN),
        ("output_tokens_per_second experts recent", FIRST_RUN),
    }
)
"""Regimes of sources that are left out: releases of February 2025 that serve DeepSeek-R1, whose requests of equal
lengths stay in step, the only single request of Vultr, `FIRST_DAYS` and `FIRST_RUN`.
"""


def regime_of(times: ServingTimes, case: Case) -> str:
    """The name of the range of a published figure."""
    quantity = case.group.partition(",")[0].replace("throughput", "output_tokens_per_second")
    return range_kind(times, quantity, times.regime)


def fitted_errors() -> Errors:
    """The errors of the sources that constants may be fitted to."""
    found: defaultdict[str, dict[str, list[float]]] = defaultdict(dict)
    for name in ("serving", "new_serving"):
        for row, _, times in serving_cases.predicted_plans(name, lambda row: not is_held_out(row["source"])):
            for case in serving_cases.cases_of_plan(row, times):
                regime, source = regime_of(times, case), row["source"]
                if (regime, source) not in EXCLUDED:
                    mean = "_mean" if row["statistic"] == "mean" else ""
                    found[regime].setdefault(source, []).append(_error(times, case, mean))
    return dict(found)


def _error(times: ServingTimes, case: Case, mean: str) -> float:
    """The logarithm of the factor that a figure needs."""
    assert case.predicted
    error = log(case.published / case.predicted)
    quantity = case.group.partition(",")[0]
    if times.stretched is None or quantity == "throughput":
        return error
    low, high = (-FURTHEST, 0.0) if error < 0 else (0.0, FURTHEST)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        shorter = times.stretched.seconds(quantity + mean, exp(middle)) < case.published
        low, high = (middle, high) if shorter else (low, middle)
    longer = (low + high) / 2
    return longer if quantity == "tpot" or _is_of_step(times, longer) else error


def _is_of_step(times: ServingTimes, longer: float) -> bool:
    """Whether the logarithm of a factor of all times is in the range of a step."""
    low, high = RANGES[range_kind(times, "tpot", "")]
    return log(low) <= longer <= log(high)


def ranges_by_rule(errors: Errors) -> dict[str, tuple[float, float]]:
    """The ends of the range of each regime, as factors of the prediction."""
    errors = with_inverse_times(errors)
    quantities: defaultdict[str, list[str]] = defaultdict(list)
    for regime in errors:
        quantities["offline" if "offline" in regime else regime.split()[0]].append(regime)
    return {
        regime: (exp(low), exp(high))
        for regimes in quantities.values()
        for regime, (low, high) in _ranges(errors, regimes, _least_margin(errors, regimes)).items()
    }


def with_inverse_times(errors: Errors) -> Errors:
    """Errors of throughput in loops with the inverse of those of the time per output token where a source has only
    these: a loop finishes as many requests as its time per request allows.
    """
    found = {regime: dict(sources) for regime, sources in errors.items()}
    for kind in LOOPS:
        for source, some in errors.get(f"tpot{kind}", {}).items():
            found.setdefault(f"output_tokens_per_second{kind}", {}).setdefault(source, [-each for each in some])
    return found


def _least_margin(errors: Errors, regimes: Sequence[str]) -> float:
    low, high = 0.0, FURTHEST
    if _share_held(errors, regimes, low) >= HELD:
        return low
    for _ in range(2 * ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if _share_held(errors, regimes, middle) >= HELD else (middle, high)
    return high


def _share_held(errors: Errors, regimes: Sequence[str], margin: float) -> float:
    """The share of the figures of a source within the ranges of all others, each regime of each source alike."""
    shares = []
    for left in sorted({source for regime in regimes for source in errors[regime]}):
        others = {name: {each: some[each] for each in some if each != left} for name, some in errors.items()}
        for regime, (low, high) in _ranges(others, [each for each in regimes if left in errors[each]], margin).items():
            some = errors[regime][left]
            shares.append(sum(low <= each <= high for each in some) / len(some))
    return sum(shares) / len(shares) if shares else 1.0


def _ranges(errors: Errors, regimes: Iterable[str], margin: float) -> dict[str, tuple[float, float]]:
    found = {}
    for regime in regimes:
        sources = _with_related(errors, regime)
        if sources:
            further = margin / sqrt(len(sources))
            found[regime] = weighted_quantile(sources, 0.1) - further, weighted_quantile(sources, 0.9) + further
    return found


def _with_related(errors: Errors, regime: str) -> dict[str, list[float]]:
    """The errors of the sources of a regime, and where these are few of related regimes."""
    found = dict(errors.get(regime, {}))
    if len(found) < FEWEST:
        for other in next((some for some in RELATED if regime in some), ()):
            for source, some in errors.get(other, {}).items() if other != regime else ():
                found[source] = found.get(source, []) + some
    return found


def weighted_quantile(sources: Mapping[str, Sequence[float]], share: float) -> float:
    """The quantile of errors by source, linear between the middles of their weights.

    >>> weighted_quantile({"a": [0.0, 1.0], "b": [2.0, 3.0]}, 0.5), weighted_quantile({"a": [1.0]}, 0.9)
    (1.5, 1.0)
    """
    pairs = sorted((each, min(len(some), HEAVIEST) / len(some)) for some in sources.values() for each in some)
    total, reached, before = sum(weight for _, weight in pairs), 0.0, (0.0, pairs[0][0])
    for value, weight in pairs:
        place = (reached + weight / 2) / total
        if share <= place:
            part = (share - before[0]) / (place - before[0])
            return before[1] + part * (value - before[1])
        reached, before = reached + weight, (place, value)
    return before[1]


def shares_inside() -> dict[tuple[str, bool], dict[str, tuple[int, int]]]:
    """For each regime and side (whether held out), by source: the figures in the range in use, and all figures."""
    found: defaultdict[tuple[str, bool], dict[str, tuple[int, int]]] = defaultdict(dict)
    for name in ("serving", "new_serving"):
        for row, _, times in serving_cases.predicted_plans(name):
            for case in serving_cases.cases_of_plan(row, times):
                sources = found[regime_of(times, case), is_held_out(row["source"])]
                inside, every = sources.get(row["source"], (0, 0))
                sources[row["source"]] = inside + bool(case.inside), every + 1
    return dict(found)


def recorded() -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """For each regime the range in use and that of the rule, as they were last written down."""
    return {
        row["regime"]: ((float(row["low"]), float(row["high"])), (float(row["rule_low"]), float(row["rule_high"])))
        for row in table(NAME)
    }


def write() -> None:
    """Put the ranges in use and those of the rule into the record."""
    rule = ranges_by_rule(fitted_errors())
    with (DATA / NAME).open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("regime", "low", "high", "rule_low", "rule_high"))
        for regime, ends in RANGES.items():
            rows.writerow((regime, *(f"{end:g}" for end in ends), *(f"{end:.2f}" for end in rule[regime])))


def ranges_table() -> str:
    """The record with the half-widths of the ranges in use and the shares of published figures inside them, as a table
    in Markdown. The last column names the ranges that contain held-out figures more or less often than `PROMISED`.
    """
    rows = ["| range | in use | half-width | by the rule | fitted figures (sources) | inside | held out (sources) "]
    rows[0] += "| inside | held out |"
    rows.append("|---|---|---|---|---|---|---|---|---|")
    shares = shares_inside()
    for regime, (used, rule) in recorded().items():
        cells = [
            regime.replace("output_tokens_per_second", "throughput"),
            f"{used[0]:g}–{used[1]:g}",
            f"{(used[1] - used[0]) / 2:.0%}",
            f"{rule[0]:g}–{rule[1]:g}",
        ]
        for side in (False, True):
            some = shares.get((regime, side), {})
            inside, every = (sum(each[place] for each in some.values()) for place in (0, 1))
            cells += [f"{every} ({len(some)})", f"{inside / every:.0%}" if every else ""]
        cells.append(_fit_of_range(inside / every) if every else "")
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _fit_of_range(share: float) -> str:
    """Whether a range that holds this share of figures is wider or narrower than promised.

    >>> _fit_of_range(0.9), _fit_of_range(0.76), _fit_of_range(0.7)
    ('too wide', '', 'too narrow')
    """
    low, high = PROMISED
    return "too wide" if share > high else "too narrow" if share < low else ""


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write()
    print(ranges_table(), end="")
