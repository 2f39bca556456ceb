"""The factor of all times of open loads with which the time per output token is as published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import sqrt
from statistics import median

from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.units import percent
from tools.accuracy import serving_cases
from tools.accuracy.split import is_held_out

MOST = 3.0
"""The largest factor of all times that is tried, and the inverse of the least."""
WIDTH = 1e-3
"""Relative width at which the bisection ends."""
TEXT = """
### Open loads near their limit

MLPerf's server loads are the highest loads that meet its targets. At such a load, steps that are a few percent slower
have far longer waits and more prompts in each step, and add a third to the time per output token. The last column is
the factor of all times with which the prediction equals the published time per output token. The
[notes](accuracy-notes.md#serving-loads-near-their-limit-kernels-and-releases) name the causes that are known.
"""


def factor_as_published(times: ServingTimes, name: str, seconds: float) -> float:
    """The factor of all times with which a latency is as published, by bisection."""
    assert times.stretched is not None
    low, high = 1 / MOST, MOST
    while high / low > 1 + WIDTH:
        middle = sqrt(low * high)
        low, high = (middle, high) if times.stretched.seconds(name, middle) < seconds else (low, middle)
    return sqrt(low * high)


Plan = tuple[dict[str, str], ServingTimes]
"""A published plan and its predicted times."""


def open_loads(accepts: Callable[[serving_cases.Row], bool] | None = None) -> list[Plan]:
    """The published plans of open loads without an end that state a time per output token; all, or the wanted ones."""
    plans = serving_cases.predicted_plans(
        "new_serving", lambda row: bool(row["load"] == "open" and row["tpot"]) and (accepts is None or accepts(row))
    )
    return [(row, times) for row, _, times in plans if times.stretched and times.lasting is None]


def groups(plans: Iterable[Plan]) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """For each source, model and accelerator the errors of the time per output token and the factors of its plans."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row, times in plans:
        name, published = f"tpot{'_mean' if row['statistic'] == 'mean' else ''}", float(row["tpot"])
        side = "held out" if is_held_out(row["source"]) else "fitted side"
        pair = getattr(times, name) / published - 1, factor_as_published(times, name, published) - 1
        found.setdefault(f"{row['source']}, {side} | {row['model']} | {row['accelerator']}", []).append(pair)
    yield from found.items()


def limits_table(plans: Iterable[Plan]) -> str:
    """The medians of each group of plans of open loads."""
    rows = ["| source | model | accelerator | plans | tpot | all times longer by |", "|---|---|---|---|---|---|"]
    for name, pairs in groups(plans):
        error, longer = (median(each) for each in zip(*pairs, strict=True))
        rows.append(f"| {name} | {len(pairs)} | {_signed_text(error)} | {_signed_text(longer)} |")
    return "\n".join(rows) + "\n"


def _signed_text(share: float) -> str:
    return f"{'-' if share < 0 else '+'}{percent(abs(share), 2)}"
