"""Published 99th percentiles of serving plans and what the program predicts for them (``serving_tails.csv``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cost.serving.percentiles import latency_at, latency_range
from tools.accuracy import serving_cases
from tools.accuracy.cases import Case, table
from tools.accuracy.figures import Score, score

TEXT = """
## Tails, ranges and constants of serving

The percentiles, the loads near their limit, the ranges and the fitted constants of the plans above.

### 99th percentiles

Published 99th percentiles of plans above (`tests/accuracy/serving_tails.csv`), of the time to the first token and per
output token: of the logs of MLPerf Inference v5.1 and v6.0 (open loads, prompts of many lengths of which the mean
alone was entered) and of closed loops. Nothing is fitted to them. As first predicted those of v6.0 were, for the time
per output token, 8B 25 to 74 % too low, and for the time to the first token up to 94 % too low (8B) and up to 43
times too high (405B on B300, predicted to be overloaded). The 119 of AccelMark's open runs were entered in the
evening of 26 November 2026, after its rows had been mended: first errors 33 % of the time to the first token, and 34
% per output token of its equal answers. Those per output token of its other runs, 65 % too low, are left out: their
answers vary from a few tokens to 512, and only the mean is entered.

The formulas were compared with `simulate` on the same loads. Both have the same capacities, so an error of both is
mostly an error of the capacity: counting the time of a token between GEMMs halved the error of the time per output
token. They differed because the formulas had one queue of prompts for each engine, and the simulation one queue for all
engines: on eight RTX PRO 6000 the formulas had 0.41 s in the median and 2.7 s at the 99th percentile where the
simulation had 0.10 and 0.17 s; published are 0.10 and 0.39 s. The formulas now have one queue for all engines: 0.10 and
0.46 s. On one engine (405B on H200) the median of the simulation is longer by 14 % and its 99th percentile by 24 %, and
the published ones are nearer to the formulas (1.54 and 5.6 s; formulas 1.88 and 7.3, simulated 2.14 and 9.1): in the
simulation equal prompts of 9,400 tokens share their last step with the next prompt, which lengthens it; prompts of many
lengths rarely do. In closed loops both have the same 99th percentile within 6 %.

Late on 26 November 2026 three things were mended by comparing both on loads of no source; nothing was fitted. Where the
mean number of requests of an open load leaves places free, the formulas had no wait for a place. With 16 places of
which 86 % are taken on average the 99th percentile of the first token was 0.08 s where the simulation has 1.36 s, and
is 1.54 s now; from 60 to 98 % taken it was 83 to 98 % too low and is within 22 %, the mean within 16 %. The errors of
the published loads above have another cause: most of their places are free. In runs whose queue grows, the tail of
irregular arrivals was added to the growth, which hides it: at 1.4 times the rate that full steps compute the 99th
percentile was 39 % too long and is 12 % too long. Of AccelMark's runs of prompts of 28,640 tokens on A100 and A800 it
went from 13 to 32 % too long to 1 % too short to 11 % too long, on H200 at two a second from 14 to 40 % too short; of
the 125 held-out figures the mean error went from 61.9 to 60.1 %, the median stayed. And `simulate` took lengths of
which the mean alone is stated as equal, so that requests of closed loops stayed in step, where the formulas take them
as unequal. The medians of 96 closed loops of InferenceX with up to 64 requests in flight, which draw lengths from 0.8
to 1 of the longest, were 192 % too long in the simulation and are within 16 % (formulas 14 %; fitted side), with
lengths drawn within a ninth of the mean. Their 99th percentiles are as before 46 % off, mostly too short, by the delay
of the first prompts of a run.

On 27 November 2026 the wait of open loads on engines whose steps contain prompts and decoding sequences was derived
again. Prompts beyond the budget of a step had been timed with the mean step in place of the full step, and steps of
several prompts with the step of one prompt. Now a step takes the prompts that arrived before it, up to its budget of
tokens; the second moments of this balance give the mean wait, and long waits decrease by the Lundberg equation. Nothing
was fitted. On 35 loads of no source (Llama 3.1 70B on eight H100, prompts of 128 to 8,000 tokens, 20 to 92 % of the
rate that is sustained) the mean time to first token was 57 % too short to 77 % too long, 15 % off in the median, and is
within 22 %, 1.8 % off in the median; the 99th percentile was 51 % too short to 111 % too long (33 %) and is 29 % too
short to 9 % too long (13 %). Of 30 runs of 200 and 300 requests, at 30 % of the sustained rate to three times as much,
the 99th percentile was 44 % too short to 186 % too long (33 %) and is within 24 % (10 %): they end before the longest
waits of a steady state come. The last request of such a run meets no more prompts; throughput was up to 18 % too low
above the sustained rate and is 2 to 10 % too high. In loops without a beginning the 99th percentile was up to 128 % too
long and is within 31 %, but for one that is always full (203 % as before). Of published figures, first tokens of
MLPerf's open loads on the fitted side went from 22.7 to 17.3 %, 99th percentiles of Llama 3.1 405B from 14.6 to 3.3 %.
The held-out loads hardly changed: first tokens of all loads 27.5 and 27.6 % (p90 78.3 to 76.4 %), 99th percentiles 37.4
and 37.9 %. Their error is not in the queue. With short answers the number of decoding sequences varies with the
prompts, which only `simulate` models: 99th percentiles there stay up to 34 % too short. A router that sends requests to
the engine with the fewest in flight, most of which decode, balances prompts less than the formulas assume: on two
engines, the predicted mean is 23 % below the simulation, but nearer to MLPerf.

Separate prefill engines were corrected in the same way. They had been modeled as one server whose prompts arrive one at
a time. Now a router sends each prompt to the engine with the fewest prompts, and prompts share a step up to its budget;
in loops, requests that return in the same step arrive together. Nothing was fitted. On open loads of no source the 99th
percentile of the first token was up to 214 % too long (with three engines three to six times) and is within 30 %, 8.8 %
off in the median; in loops the median was up to 86 % too long and is within 21 %; in runs of a stated number of
requests the 99th percentile was 82 % off in the median and is 3.8 %. Published first tokens of separate engines on the
fitted side went from 28.4 to 26.3 %; held out from 22.2 to 27.2 % in the median, but from 79.8 to 64.7 % at the p90 (14
plans). The rate that `simulate` says it can sustain on such plans counted requests that start without a prompt: it was
up to 60 % too high.

Later that day 60 plans were drawn at random (engines, layouts, lengths, budgets and loads; seed 24112701), and 60 more
after the first were mended (24112702). Runs at a rate waited for a place only where their rate was above that of full
places; irregular arrivals take all places below it, too. Of 30 such loads the 99th percentile of the first token was 33
% off in the median, up to 95 % too short, and is 10 % off; the mean was up to 87 % too short and is within 35 %. A
prompt slightly longer than the tokens that decoding sequences leave in a step counted as two full steps (9.2 s; the
simulation has 0.36). And the waits of a closed loop of a stated number of requests had an exponential tail without an
end: no prompt waits longer than for those of all other requests that run. Nothing was fitted. Held out, 99th
percentiles of first tokens went from 42.1 to 29.0 % (p90 151 to 85 %), fitted 17.6 to 19.2 % (22 figures). In the
second draw, as first compared, the median first token is 5.3 % off in open loads, 4.5 % in closed loops and 7.3 % in
runs, the 99th percentile 24.5, 21.7 and 8.5 %, throughput 1.6, 1.1 and 3.2 %. What is left: times per output token of
short answers behind long prompts near saturation (up to 50 % too short), SGLang's closed loops (99th percentiles up to
75 % too long), plans of one or two places, and separate engines at 0.95 of their limit.

On the evening of 27 November 2026 formulas and `simulate` were compared again on plans drawn at random (seeds 27111427
and 27111500, and loops that fill the cache). Six corrections follow the code of schedulers and kernels; one figure was
fitted to simulated loops (the number of requests that a full cache has started: 0.22 and a power). Where the cache is
full, vLLM starts a request as soon as its prompt fits and preempts the youngest, so that most of the wait for a place
comes after the first token; and every token that comes takes the place of another, so that a request computes as many
tokens again as it has output (Scheduler.schedule at 00024d31). In 18 loops with 2.5 times as many requests as fit,
throughput was 2 to 24 % too high and is 8 % too low to 5 % too high. SGLang starts a request only where its own output
fits in addition to what others hold (PrefillAdder.add_one_req at 00550cd1), in `simulate` too. Equal requests of a loop
that come together wait for the step of the first one, and kernels compile in the first wave alone: with small prompts
first tokens were 0.46 to 0.66 of the simulated ones and are 0.92 to 0.98, SGLang's on H100 four to seven times as long
and are 0.85 to 1.0. GEMMs of 32 to 192 rows read weights as slowly as was measured (AIConfigurator at 095f58a5). In
steps with prompts on A100, A10G, L40S and others FlashAttention 2 has a block for each query head (mha_varlen_fwd); the
formulas multiplied the read of a small cache by the heads, the simulation read a larger one: an open load on A100 was
42 % too slow and is 3 %. And of several engines fewer prompts are left on the one to which a request is sent than on a
single one: tokens on four engines were delayed up to twice as much as simulated. Of the first draw the median first
token of open loads went from 15.1 to 8.4 % off, time per output token from 2.9 to 1.8 % (p90 24.6 to 6.0), that of runs
at a rate from 4.0 to 3.2 % (p90 142.6 to 46.8); loops were 4.4 and 0.6 % off. In the second draw, as first compared,
first tokens are 9.9 % off in open loads, 5.4 in loops, 5.5 in runs and 3.1 in runs at a rate, times per output token
3.2, 0.3, 1.0 and 1.5 %. Published first tokens of the fitted side went from 27.5 to 26.5 %, times per output token from
16.9 to 16.6, throughput from 17.0 to 16.5; held out, without the two sources of that day, 26.2 % as before, 14.6 to
14.4 and 11.2 as before. What is left: answers of up to some twenty tokens whose requests nearly stay in step (first
tokens half as long, times per output token twice as long as simulated), plans of one or two places, open loads that
fill the cache, and blocks of FlashAttention 2 that do not split long keys in steps with prompts, which nothing counts.

On 29 November 2026 `simulate` admitted the prompts of a pipeline once per round of all its batches. vLLM schedules a
batch whenever fewer than one for each stage are in flight (step_with_batch_queue in vllm/v1/engine/core.py), and the
micro-batches of SGLang take prompts in turn (event_loop_pp): prompts start with each batch of the first stage, in
`simulate` and in the formulas. Of 40 plans of two to eight stages the formulas' first tokens were down to 0.55 of the
simulated ones and are 0.67 to 1.1 of them. Laws and agreement were then tried on 170 plans drawn at random (seeds
2911 to 2913: engines, parts, layouts, lengths, drafts). Three differences were in the formulas: a step that the host
launches for longer than the device runs took that time for each of its prompts (first tokens up to 1.7 times as
late), steps of attention replicas with few tokens of prompts ran beyond captured graphs (tokens up to 1.7 times as
slow), and requests found engines busy that a router passes over (first tokens a third too late at four requests on
eight engines). In the last draw, of answers from 80 tokens on, at up to a tenth of the highest rate and in loops of
one and four requests for each rank, three of some 240 comparisons were more than 15 % off in the median and the mean
of first tokens, and one in times per output token. With more load the time per output token of SGLang falls in some
open loads, in both: prompts come so often that decoding starts only when all places are taken. Nothing was fitted.
Published first tokens changed in 22 rows: fitted side 40.69 to 40.73 % in the median and 0.6596 to 0.6621 in the mean
logarithm, by plans that are predicted two times too fast, held out 24.9 % as before. Tried and not adopted: the wait
in loops of SGLang by the step that runs when the successor arrives, as the simulation has it (fitted first tokens
16.1 to 16.3 %, held out 24.9 to 25.1 %). What is left: short answers behind long prompts in loops (down to half of
the simulated first token), prompts that nearly fill a step (0.65), and SGLang near saturation.

First tokens of MLPerf's 8B plans remain. B200 at 1,000 requests a second has 99th percentiles from 0.06 to 1.7 s in
plans of the same settings (closed/*/configs of both rounds, which are entered: token budget, sequences and share of
memory), while the times per output token differ little: the requests seem to wait before the engine, in the client or
the server, whose hosts differ. The interval at which tokens are streamed (1 or 20 tokens) does not tell them apart.
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
