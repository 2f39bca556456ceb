"""Published 99th percentiles of serving plans and what the program predicts for them (``serving_tails.csv``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cost.serving.percentiles import latency_at, latency_range
from tools.accuracy import serving_cases
from tools.accuracy.cases import Case, table
from tools.accuracy.figures import Score, score

TEXT = """
## Serving: tails, ranges and constants

### 99th percentiles

Published 99th percentiles of the time to the first token and per output token of plans above
(`tests/accuracy/serving_tails.csv`): logs of MLPerf Inference v5.1 and v6.0 (open loads, prompts of many lengths of
which the mean alone was entered) and closed loops. Nothing is fitted to them. The
[notes](accuracy-notes.md#serving-99th-percentiles) compare the formulas with `simulate`.
"""


def cases(every: int = 1) -> Iterator[Case]:
    """The published and the predicted percentiles of one in ``every`` lines; the group names quantity and source."""
    lines = list(table("serving_tails.csv"))[::every]
    stated = {line["id"] for line in lines}
    found = serving_cases.predicted_plans("new_serving", lambda row: row["id"] in stated)
    plans = {row["id"]: (row, design, times) for row, design, times in found}
    for line in lines:
        row, design, times = plans[line["id"]]
        work = design.workload
        assert work is not None and work.serving is not None
        load = work.serving
        quantity, percentile = line["quantity"], float(line["percentile"])
        predicted = latency_at(times, load, quantity, percentile)
        low, high = latency_range(times, load, quantity, percentile)
        group = f"{row['source']}, {row['model']}: {quantity} p{line['percentile']}"
        yield Case(row["id"], group, float(line["seconds"]), predicted, low, high, row["url"], group)


def scores(every: Sequence[Case]) -> list[Score]:
    """A score for each source, model and quantity, and for each quantity of all cases."""
    names = dict.fromkeys(case.group for case in every)
    found = [score(name, [case for case in every if case.group == name]) for name in names]
    quantities = dict.fromkeys(case.group.rpartition(": ")[2] for case in every)
    whole = [score(f"**{name}**", [case for case in every if case.group.endswith(name)]) for name in quantities]
    return [*whole, *found]
