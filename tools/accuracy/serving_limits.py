"""How much longer all times of open loads would have to be for the published time per output token."""

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

Loads of MLPerf's servers are the highest that meet its targets. There a plan whose steps are all a little slower has
far longer waits and steps with more prompts: a few percent of every time are a third of the time per output token. For
each plan the factor of all times is given with which the prediction is the published time per output token. Of Llama
3.1 405B, whose time per output token is predicted 18 to 38 % too short on the fitted side, all times are 2 to 4 % too
short on B200, 9 % on H200 and 15 % on GB200; drawn lengths of prompts add a tenth of the time in `simulate`. Four plans
of one machine at one rate (8B on eight B200, 999 requests a second) have first tokens of 0.06 to 0.50 s: a model of the
engine gives one of them.

What else was looked at and not mended, since no source tells one cause from another: DeepSeek-R1 on 16 ranks over two
nodes takes 23 ms (SGLang) and 31 ms (TensorRT-LLM) for a token where 9.5 are predicted, of which all-reduces are 4.1;
on one node releases of February 2025 are as much slower, and the two were not told apart. With tensor parallelism over
PCIe io.net's RTX 4090 are slower than predicted by up to 90 us for each all-reduce, those of AccelMark are not.
Pipelines of TensorRT-LLM are within 13 % with Llama 3.3 70B, but Qwen3-30B-A3B in eight stages is predicted up to 83 %
too fast: stages of six layers are as short as the work of the host for each, which is counted once for all of them.
With 9 us of TensorRT-LLM's host for each sequence of a step instead of 3 the times per output token of open loads on
the fitted side go from 20.9 to 17.7 %, and throughput of dense models at full load from 7.9 to 9.7 %. And two plans of
OCI had latency over all output tokens as time per output token, which counts their prompts; it was taken out.

A fused layer of experts takes 13 to 56 us for one token beyond reading its weights (aiconfigurator 095f58a, moe_perf,
shapes that are read in 6 us: 32 to 42 us in SGLang 0.5.6 to 0.5.10, 17 to 25 us in 0.5.14; vLLM 21 to 40 us on Hopper,
13 to 35 us on Blackwell; TensorRT-LLM 15 us in NVFP4, else 31 to 54 us); four launches of about 15 us are counted, so
that SGLang of 2025 is too fast. Timed by release and precision, fitted times per output token go from 29.5 to 25.6 %
and the 90th percentile of held-out throughput from 50 to 42 %, but 992 plans of the field from 10.6 to 10.9 % in the
median of all figures. With 31 us for all, 0.5 ms of the host where steps are formed ahead, and attention over caches of
2 to 128 MB as the median of all measured releases, the 992 are at 10.5 % and plans of `serving.csv` go from 8.5 to 7.5
%, but held-out times per output token from 12.2 to 12.3 % and throughput from 11.2 to 11.4 %. Neither was adopted.

Formulas and `simulate` were compared on 886 plans of 20 sources: published first tokens are 29.2 % off in the median by
the formulas and 29.1 % by the simulation (90th percentiles 78.3 and 77.3 %), times per output token 14.4 and 14.3 %.
What is left is in the times of kernels and servers, not in the queues. Nor are steps counted that vLLM before 0.8 runs
without captured graphs: those with contexts beyond 8,192 tokens (max_seq_len_to_capture of its 0.7.3, worker/
model_runner.py), for which single requests of 28,640 tokens take 12 to 35 ms a step by machine in AccelMark.
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


def open_loads(wanted: Callable[[serving_cases.Row], bool] | None = None) -> list[Plan]:
    """The published plans of open loads without an end that state a time per output token; all, or the wanted ones."""
    plans = serving_cases.predicted_plans(
        "new_serving", lambda row: bool(row["load"] == "open" and row["tpot"]) and (wanted is None or wanted(row))
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
        rows.append(f"| {name} | {len(pairs)} | {_signed(error)} | {_signed(longer)} |")
    return "\n".join(rows) + "\n"


def _signed(share: float) -> str:
    return f"{'-' if share < 0 else '+'}{percent(abs(share), 2)}"
