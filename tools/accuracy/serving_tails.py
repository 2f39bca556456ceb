"""Published 99th percentiles of serving plans and what the program predicts for them (``serving_tails.csv``)."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.percentiles import latency_at, latency_range
from clusterspec.cost.serving.times import serving_times
from tools.accuracy import serving_cases
from tools.accuracy.cases import Case, table
from tools.accuracy.figures import Score, score

TEXT = """
### 99th percentiles

Published 99th percentiles of plans above (`tests/accuracy/serving_tails.csv`), of the time to the first token and per
output token: of the 16 logs of MLPerf Inference v5.1 (open loads, prompts of many lengths of which the mean alone was
entered) and of closed loops. Nothing is fitted to them, and nothing was changed after they were read. Llama 3.1 405B on
H200 and on GB200 is within 5 % in both quantities. On B200, where it is predicted to be nearly full at a rate that it
serves with ease, tails are predicted twice as long. Llama 3.1 8B is the opposite: what it sustains is predicted to be
13 % above the rate of the log on H200 and 42 % on B200, so that queues are missing. `simulate` does not mend that: its
capacities are the same, its median first tokens are 17 to 38 % longer than those of the formulas, and of 405B, where
both have the load right, the formulas are nearer to the logs (median on H200 1.56 s, simulated 1.99, published 1.54;
99th percentile 5.7, 8.5 and 5.6 s). In the simulation equal prompts of 9,400 tokens share their second step with the
next prompt, which lengthens it; prompts of many lengths rarely do.
"""


def cases() -> Iterator[Case]:
    """The published and the predicted percentiles; the group names quantity and source."""
    plans = {row["id"]: (row, design) for row, design in serving_cases.plans("new_serving")}
    for line in table("serving_tails.csv"):
        row, design = plans[line["id"]]
        times, work = serving_times(design), design.workload
        assert times is not None and work is not None and work.serving is not None
        load = work.serving
        quantity, percentile = line["quantity"], float(line["percentile"])
        predicted = latency_at(times, load, quantity, percentile)
        low, high = latency_range(times, load, quantity, percentile)
        group = f"{row['source']}, {row['model']}: {quantity} p{line['percentile']}"
        yield Case(row["id"], group, float(line["seconds"]), predicted, low, high, row["url"], group)


def scores() -> list[Score]:
    """A score for each source, model and quantity, and for each quantity of all."""
    every = list(cases())
    names = dict.fromkeys(case.group for case in every)
    found = [score(name, [case for case in every if case.group == name]) for name in names]
    quantities = dict.fromkeys(case.group.rpartition(": ")[2] for case in every)
    whole = [score(f"**{name}**", [case for case in every if case.group.endswith(name)]) for name in quantities]
    return [*whole, *found]
