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

MLPerf's server loads are the highest loads that meet its targets. At such a load, a plan with slightly slower steps has
far longer waits and more prompts in each step: a few percent more in every time add a third to the time per output
token. For each plan, the table states the factor of all times with which the prediction equals the published time per
output token. Of Llama 3.1 405B, whose time per output token is predicted 18 to 38 % too short on the fitted side, all
times are 2 to 4 % too short on B200, 9 % on H200 and 15 % on GB200; drawn lengths of prompts add a tenth of the time in
`simulate`. Four plans of one machine at one rate (8B on eight B200, 999 requests a second) have first tokens of 0.06 to
0.50 s: a model of the engine can give only one of these values.

Some errors remain because no source separates their possible causes. DeepSeek-R1 on 16 ranks over two nodes takes 23 ms
(SGLang) and 31 ms (TensorRT-LLM) for a token; the prediction is 9.5 ms, of which all-reduces take 4.1. On one node,
releases of February 2025 are slower by as much, so the effects of the release and of the second node could not be
separated. With tensor parallelism over PCIe io.net's RTX 4090 are slower than predicted by up to 90 us for each
all-reduce, those of AccelMark are not. Pipelines of TensorRT-LLM are within 13 % with Llama 3.3 70B, but Qwen3-30B-A3B
in eight stages is predicted up to 83 % too fast: a stage of six layers is as short as the host's work for a stage, and
the host's work is counted once for all stages. With 9 us of TensorRT-LLM's host for each sequence of a step instead of
3 the times per output token of open loads on the fitted side go from 20.9 to 17.7 %, and throughput of dense models at
full load from 7.9 to 9.7 %. Two plans of OCI had the latency divided by all output tokens as their time per output
token, which includes the prompts; these figures were removed.

A fused layer of experts takes 13 to 56 us for one token beyond reading its weights (aiconfigurator 095f58a, moe_perf,
shapes that are read in 6 us: 32 to 42 us in SGLang 0.5.6 to 0.5.10, 17 to 25 us in 0.5.14; vLLM 21 to 40 us on Hopper,
13 to 35 us on Blackwell; TensorRT-LLM 15 us in NVFP4, else 31 to 54 us). Until 27 November 2026 four launches of about
15 us were counted; now every fused layer counts 31 us. Timed by release, fitted plans with experts are nearer (mean
logarithm of the time per output token 0.44 in place of 0.48), but 992 plans of the field go from 10.6 to 10.9 % and
more in the median of all figures, so SGLang of 2025 stays too fast. On the same day the small kernels between products
became 2 us each (four in a layer; two with tensor parallelism, whose norms are fused with the all-reduce; the small
kernels of latent attention are part of the time of its module), attention over caches of 2 to 128 MB the median of all
measured releases, and the host 0.5 ms a step where steps are formed ahead. Plans of `serving.csv` on the fitted side
went from 20.9 to 18.9 % (time per output token, dense), from 9.7 to 9.4 % (experts) and from 17.8 to 15.7 %
(throughput, experts). Held out, times per output token of `new_serving.csv` went from 10.1 to 10.0 % (dense) and from
18.9 to 18.4 % (experts), throughput from 11.6 to 11.3 % (experts) and stayed at 10.2 % (dense), first tokens from 24.4
to 24.5 and from 29.2 to 29.3 %. MI300X of argonne became worse (throughput, held out: 39 to 52 %, too fast; its
attention is scaled from those tables, and no small cache of MI300X is on the fitted side). Power with few requests, to
which nothing was fitted, went from 23 to 16 % too high on MI325X, from 31 to 22 % on H100 and from 36 to 29 % on H200.
The 992 plans stayed at 10.6 %. Tried and refused: small kernels of 2.5 and 3 us, or also in layers with latent
attention, the host at 0.7 ms, and no launches of shared experts (10.7 to 11.1 % there).

### Models with experts in MLPerf

MLPerf's plans of DeepSeek-R1, gpt-oss-120b and Mixtral 8x7B were entered before any of these changes: v5.1 (fitted side
as before; mlcommons/inference_results_v5.1 at 965182b0) and v6.0 (held out as before; gbeezybez/inference_results_v6.0
at 232fbf90), at most two submissions of one system, model and scenario. Lengths of prompts are the means of the data
sets (804, 5,011 and 427 tokens; openshift-psap/performance-dashboard at 71007029), those of answers tokens over samples
of the log. Plans with separate prefill engines, plans on Arc and plans on 94 MI355X are left out. Median errors of the
first prediction: v6.0 throughput 6.4 % (29 plans, p90 31 %, 79 % inside), time per output token 30.4 % (31 plans, 63 %,
81 %), first tokens 63 % (some 100 times as long, near the limit; 74 % inside); v5.1 throughput 21.6 % (12 plans, 81 %,
58 %), time per output token 44.3 % and first tokens 69.9 %. By these plans held-out times per output token with experts
went from 17.0 to 18.9 %.

Open: in v5.1 the throughput of DeepSeek-R1 with attention data parallelism in TensorRT-LLM of 2025 is predicted 1.6 to
1.8 times too high; in v6.0, with the same flags, the published throughput is 0.83 to 1.11 times the prediction. The
software changed between the two, and no source explains how. The throughput of gpt-oss on MI355X is predicted at 0.76
to 0.79 of the published value, of Mixtral in v5.1 on H200 and B200 at 1.2 to 1.5.

### Held prompts, filled experts and a driver

On 28 November 2026 three causes were built in from the code of engines and counted figures; nothing was fitted. 4-bit
experts that vLLM fills up to the tiles of its kernels take memory as filled (gpt-oss-120b on one H100: the mean
logarithm of the time per output token went from 1.22 to 0.30, since the cache had seemed to hold more requests than it
does). vLLM up to 0.6.1 sends each step from the driver to every other rank (0.46 ms a rank, its pull request 2221),
too: Argonne's MI300X went from 0.45 to 0.34. TensorRT-LLM's `enable_balance` holds prompts until every replica of
attention has one, up to `timeout_iters`: `hold_steps`, with the 6 or 9 steps that the configurations of MLPerf state
for DeepSeek-R1. In v6.0 (held out) some times per output token had been predicted 1.3 to 1.6 times too long; they are
now predicted at 0.79 to 1.34 of the published values, and one (GB200 at 45 requests a second) at 0.49. Their first
tokens had been predicted at 0.34 to 17 times the published values and are now at 0.55 to 0.94, except for three plans
near their limit (30 to 77 times, before 100 to 230). In v5.1 (fitted side) first tokens come nearer (0.2 to 0.29
before, now 0.31 to 0.41) and times per output token further off (0.44 to 0.79 before, now 0.38 to 0.55): prompts that
were not held had compensated for the error that no source explains. Held out, times per output token with experts went
from 18.4 to 16.7 %, first tokens with experts from 29.3 to 27.8 % and throughput of dense models from 10.2 to 9.9 %.
Where a step of SGLang takes few of the prompts that were held, `simulate` has first tokens up to twice as late as the
formula.

Tried and refused: the first token of SGLang one decode step later, as its overlap scheduler returns it (first tokens of
the cookbook with up to 16 requests in flight went from 0.20 to 0.23 in the mean logarithm); all-reduces of RCCL in vLLM
before 0.8.3; and eager steps beyond 8,192 tokens, whose 12 to 35 ms depend on the host.

One source was entered after these changes: SGLang 0.4.1 with DeepSeek-V3 on the day of its release, on one and two
nodes of eight H200 (datacrunch-research/h200-benchmarks at 700675b, 16 plans, all on the fitted side by the hash of its
name). The median errors of the first predictions were: on one node, TPOT 79.5 %, TTFT 72.9 % and throughput 36.0 %, on
two TPOT 87.2 %, TTFT 99.6 % and throughput 581 %. Nothing was changed after these predictions. Two nodes give 250 to
290 tokens a second at any rate: 122 all-reduces of 14 kB a token are then 1 GB/s each way, the rate of one port of 10
Gb/s; the command of their containers names no InfiniBand device. On one node without captured graphs, steps of decoding
are predicted 1.5 times too fast at 1 to 2 requests a second; with them, where the release that first captured
DeepSeek's was days away (SGLang pull request 2643), 16 times. Its figures do not enter the ranges.

If answers vary in length, long answers are in flight for longer: a request in flight then holds on average half of the
mean square of the lengths divided by their mean. `simulate` confirms this (24.1 ms where half of the mean gave 22.1).
None of these plans states a distribution, so no error here changed.

### Kernels of a release, and norms of their own

On 28 November 2026 the kernels of experts of vLLM 0.14, SGLang 0.5.9 and TensorRT-LLM 1.0 to 1.3.0rc10 were counted
from the measurements of aiconfigurator at 095f58a5 (`experts.vllm_2025.*` and so on): until then a release of 2025 ran
those of 2026, up to three times as fast. vLLM up to 0.13 and SGLang up to 0.5.9 launch the norm after an all-reduce as
a separate kernel; on Blackwell they then use all-reduce kernels of their own (9.4 us for 64 KB over eight ranks, in
place of 7). Nothing was fitted. On the fitted side times per output token with experts went from 28.9 to 28.0 % in the
median and from 33.5 to 32.9 in the mean, throughput with experts from 65.5 to 59.9 and from 113 to 110, of dense models
from 13.8 to 13.5 and from 19.8 to 19.1; first tokens stayed. Held out, times per output token with experts went from
16.7 to 16.4 % (p90 54.6 to 53.3), first tokens with experts from 27.8 to 27.1, throughput with experts from 11.1 to
11.2 (mean 20.3 to 19.5) and of dense models from 9.9 to 10.1 (mean 21.8 to 21.7).

Refused once more: rates of 4-bit experts above those of GEMMs (1.6 to 3.1 times, from 128 rows). On the fitted side
only InferenceX has such plans: their times per output token went from 13.9 to 12.0 % in the mean (p90 33 to 22) and
first tokens from 93 to 49, by five whose engines of prompts are full, and the median of first tokens from 19 to 25.
Held out, throughput with experts went from 11.2 to 12.6 %, first tokens from 27.1 to 26.5: plans at full load that were
predicted within 1 % on average (MLPerf v6.0 and TensorRT-LLM 1.2) became 3 to 11 % too fast. The model lacks some other
cost that occurs only at full load. Refused, too: floors of fused experts by release and precision (10 to 100 us in
place of 31; neutral on the fitted side), a factor for small experts with the newest releases, MXFP4 experts with 16-bit
activations on Blackwell, and passes of experts shared by the degree of experts under tp (first tokens from 40.8 to 41.6
%).

Not mended: DeepSeek of MLPerf v5.1 (server at 0.38 to 0.55 of the published time per output token; CUTLASS as the
default of its release explains a tenth); sampling with top-k and top-p, which sorts 131,072 logits in 17 to 19 us a
sequence before vLLM's pull request 40376 and which no key of a spec states, a quarter of the 75 to 120 us a sequence
that ML.ENERGY's plans are too fast.

Formulas and `simulate` agree on 95 of the plans that this changed: by source, times per output token and throughput
within 3 % in the median (one source of two plans within 11), first tokens within 7 (another within 14). Four of
MLPerf's at full load are within 8 % in times per output token and 1 % in throughput. They disagreed in closed loops on
attention replicas, whose prompts arrive together: the formula ran each prompt alone, as on separate engines. Now only
the first prompt runs alone, and the prompts of the other replicas follow in shared steps. Requests of stated equal
lengths stay in step there, too. A prompt of DeepSeek-R1 on each of 16 replicas takes 2.1 s by both (before 0.9 by the
formula), a loop of 128 equal requests on them 33 ms a token (before 123), and throughput is within 8 % on all of 40
such loops (before up to three times). Kimi-K2 of vLLM's recipes went from 0.64 to 1.8 s (published 1.93), first tokens
with experts of the fitted side from 41.3 to 40.8 %; on the held-out side nothing changed by 0.1 %. First tokens of such
loops in later rounds stay up to half too short.

### Releases of early 2025, and depths of products

On 28 November 2026 the releases that first served DeepSeek-V3 were read again (packages of SGLang 0.4.1 and 0.4.3 and
vLLM 0.7.3 on PyPI; TensorRT-LLM pull request 5480; README of dstackai/benchmarks at 209ca6f). TensorRT-LLM 0.17 to 0.21
captured no graphs on PyTorch, which DeepSeek ran on: with 0.8 ms a layer (AIConfigurator) times per output token that
were predicted 1.7 to 4.6 times too fast are within 15 %, throughput up to 64 requests within 5 %. SGLang and vLLM ran
positions, conversions to 8 bits and the selection of experts as 30 to 50 PyTorch operations a layer. SGLang 0.4.1
captured no graphs of DeepSeek-V3, and two sources were entered with ranks that their commands do not have: 64 on eight
accelerators, and experts divided whole where `--enable-dp-attention` alone slices all of them. With `ep: 1` attention
replicas now gather each token once. On the fitted side times per output token with experts went from 36.5 to 29.0 % in
the median, first tokens from 50.6 to 45.2, throughput from 61.4 to 48.5; no held-out plan changed. Up to 0.5.12 SGLang
still runs positions as PyTorch operations on ROCm, and on MI300X converts both absorbed matrices to 16 bits in every
step (16 kernels a layer): times per output token with experts went from 28.0 to 27.2 % (p90 65.1 to 60.3; after the
change below) and held out from 16.7 to 16.6 (mean 27.3 to 27.1), throughput of InferenceX from 13.3 to 12.4 in the
mean. The remaining errors are those of SGLang 0.4 (0.43 to 0.55 of the published time per output token), MI300X with
few requests (0.38 to 0.74: what a small kernel costs there was not found), prompts (a half to an eighth: no kernels of
those releases were measured) and caches: TensorRT-LLM 0.17 holds 350,000 tokens whatever the length of answers, vLLM
0.7.4 some 200,000, half of the predicted.

A product of few tiles takes a time for each element along which it sums: 1.1 ns in blocks of FP8 on Hopper, 0.85 on
B200, 0.63 in 4 bits (1.8 by TensorRT-LLM), by all releases in aiconfigurator at 095f58a5; products in 16 bits divide
the depth. 512 columns of 7,168 elements take 12 us, where weights and floor are 5.3; a module of latent attention with
16 heads takes 39 us on B200 in 16 bits, 46 to 54 in blocks of FP8 with half of the bytes, and 57 to 64 in NVFP4
(mla_generation_module, TensorRT-LLM 1.3), where 36 us were predicted in FP8 and 40 are now. Nothing was fitted. On the
fitted side times per output token of dense models went from 13.8 to 10.2 % in the median (MLPerf v5.1 from 23.6 to
16.9) and with experts from 29.0 to 28.0; those of `serving.csv` from 10.1 to 9.3 and from 8.4 to 9.2 % (mean 18.2 to
18.1). Held out, times per output token with experts went from 16.4 to 16.7 % (bias -1.4 to -0.1), throughput with
experts from 11.2 to 11.3 (bias +3.6 to +2.8), of dense models from 10.1 to 10.3. The 992 plans went from 10.5 to 10.7 %
(times per output token with experts from 6.7 to 7.0 and, on separate engines, 9.6 to 9.9, both too slow by 1.7 and 2.9
%; dense 7.2 to 7.0, batches 11.6 to 10.9). Shared experts are left out, as they run in parallel with routed ones: with
them they go to 10.9 %.

Refused: passes over copies of a rank's own experts alone under tp with ep. vLLM writes zeros for the copies of other
ranks and sums all (fused_moe.py, write_zeros_to_output; moe_sum); with SGLang and TensorRT-LLM alone, which skip them,
first tokens of `serving.csv` go from 18.1 to 18.9 % and held out from 26.5 to 26.2. And a wait for the host in steps
beyond the largest captured graph (512 tokens in vLLM, 8 to 512 sequences in SGLang, server_args.py): with the 64 to 72
us a kernel of SGLang's pull request 1401 it binds in no published plan.

### Sizes of all-reduces, and requests that decode with themselves

On 29 November 2026 the tables of all-reduces were compared with their source (aiconfigurator at 095f58a5). It states
sizes in elements of 16 bits (collector/network/collect_all_reduce.py: the size is the shape of a tensor; its figures of
268 MB agree with those of nccl-tests only so, and so does the model of collectives, which other logs set), which had
been read as bytes: engines took twice as long. Nothing was fitted by that. Held out, times per output token went from
12.6 to 12.5 % (experts 16.5 to 15.9, dense models 9.9 to 10.3), throughput from 10.6 to 10.5 %, first tokens stayed at
24.8 %; `serving.csv` went from 9.1 to 8.0 % in times per output token. Fitted again, five of six constants stay, and a
launch of the host would take 0.2 instead of 0.16 ms. That was refused: it changes the loss by 1.3 %, but first tokens
of dense models on the fitted side go from 21 to 26 %. Ranges in use are those of before: the rule would let first
tokens of dense models reach to 2.6 instead of 1.7 times the prediction, where those in use hold 81 % of held-out ones.

A request of an open load decodes with as many others as are in flight at any time, and with itself: steps had one
sequence too few, which counts where few long prompts are in flight. At times per token that grow in proportion to the
sequences the number in flight is that of shared processors, whatever the lengths (Cohen, 1979); a test sums it. Prompts
that a request leaves behind when its own ends delay its first tokens and keep more requests in flight, also on engines
that run prompts in steps of their own. A full step of prompts was timed as two steps where the mean number of sequences
left tokens for slightly more than one whole prompt: first tokens of plans at half load came up to 17 times as late as
simulated. Against `simulate`, on 54 loads of prompts of 1,000 to 32,000 tokens at 40 to 90 % of the sustained rate,
times per output token were 15 % too short in the median and up to 40, and are 5.5 % too short and up to 24. Held out,
those of dense models went from 10.3 to 10.1 % and of experts from 15.9 to 15.6. Loads near saturation with short
answers remain, where the number of decoding sequences varies with the prompts.

Refused: rates of latent attention over caches as measured (generation_mla_perf of the same source, for 8 to 128 heads
in 16 and 8 bits). The tables of grouped queries, which stand for them, are 20 to 45 % too fast for small caches on B200
and up to twice too slow for 128 heads over large ones in FP8; with measured ones calls are within 10 % and
`serving.csv` goes from 8.0 to 7.9 %, but held out, times per output token with experts go from 15.9 to 16.3 % and
throughput from 10.7 to 11.4: MLPerf's and TensorRT-LLM's plans at full load, which are predicted too fast already on
the fitted side, become faster. The additional cost at full load is still not known.

### Products in 8 bits by TensorRT-LLM, and what a prediction can reach

On 29 November 2026 the errors of the fitted side were regressed, source by source, on the share of each part of a step,
on parallelism, precision, requests in flight and lengths. On NVIDIA's parts one slope had the same sign in all sources:
the larger the share of prompts in the time, the slower TensorRT-LLM in 8 bits was predicted (NIM, InferenceX, first
tokens of release 0.9, batches of 1.0). Its dense GEMMs had the tables of vLLM on H100, L40S and RTX PRO 6000 and of
SGLang on H200. They now have tables of their own (aiconfigurator-core 0.12.0, TensorRT-LLM 1.3.0rc20); GEMMs with
block-scaled weights have the tables measured with block scales. The layers that were timed compute a scale of their
inputs in each call, as they are given none (collector/trtllm/collect_gemm.py; tensorrt_llm/_torch/modules/linear.py),
which checkpoints have: the time of that, which the same source states (computescale_perf: 40 us of 4,096 rows on H100),
is taken off. And blocks have scales in 8 bits alone: DeepSeek in 4 bits had the depth of vLLM's products. Nothing was
fitted. Throughput of dense models by release 1.0 was 8 % too low on H100 and 1 % too high on H200, and is 1 and 8 % too
high. Of the fitted side of the 992 plans times per output token of dense models went from 11.8 to 11.0 % (NIM 15 to 8),
throughput of dense models from 7.3 to 7.9; of their held-out side times per output token from 6.3 to 6.0, first tokens
from 14.4 to 13.6 and throughput from 9.1 to 8.6. Of the held-out sources of `new_serving.csv` times per output token
stay at 12.3 % (dense 10.1 to 10.3), first tokens at 24.7 and throughput at 10.5. The rule gives narrower ranges than
before; that of open loads follows it (0.94 to 1.26, before 0.90 to 1.28).

How far these errors can fall was estimated: each held-out error was reduced by the median of the other rows of its
source, of its source and engine, and of its configuration (accelerator, model, release, precisions, parallelism), as
if these had been measured. Of the variance of the logarithms 17 % (time per output token), 7 % (first token) and 18 %
(throughput) is between sources, 49 to 54 % between configurations of a source, and 29, 41 and 33 % within one
configuration.

| held out | now | source known | and engine | configuration known |
|---|---|---|---|---|
| tpot, dense | 10.3 % | 8.8 % | 7.5 % | 4.6 % |
| tpot, experts | 15.6 % | 13.7 % | 13.4 % | 8.7 % |
| ttft | 24.7 % | 26.9 % | 25.3 % | 18.3 % |
| throughput | 10.5 % | 8.9 % | 8.9 % | 6.3 % |

Other rows of the same source would reduce the error by 1.5 to 2 points, but nobody has them before a first run. Even
with such rows, times per output token of models with experts are not within 11 %, and first tokens are not nearer: two
fifths of their variance is within a configuration.

Refused: 20 us of the host for each sequence of vLLM 0.8 to 0.13, which launches no step ahead (throughput of dense
models on the fitted side from 20.1 to 16.6 %, but held out, times per output token of dense models from 10.1 to 10.4
and first tokens from 24.7 to 25.0); 5 to 9 us of TensorRT-LLM's, of which the fitted side takes 7 (held out, times per
output token from 12.3 to 12.5 %); GEMMs without any quantization of their inputs, which kernels before them do
(TensorRT-LLM 1.2 from 7.4 to 6.0 %, MLPerf's 8B at full load from 4.8 to 14.6); and tables of 16 bits by software
(within 0.2 points).

How several sources measured was compared with their scripts. Lengths drawn uniformly, as SGLang's client does by
default, or as chats have them change no time by more than 1 % in the median, since caches are a small part of those
steps. Rates of the Qwen pages, which count prompts, are entered without them, and datacrunch's lengths are the full
ones, as its rates show. One input differs from the measurement: InferenceX draws lengths of 0.8 to 1 of the stated
length (RANDOM_RANGE_RATIO 0.8), and its plans have the stated length. With 0.9 of them the mean logarithm of its times
per output token on the fitted side goes from 0.138 to 0.136 and its first tokens from 24.9 to 22.8 %, but from 0.446 to
0.452 in the mean; held out, times per output token with experts go from 15.6 to 16.0 %, and first tokens of the 992
plans from 13.6 to 17.3. The constants of the host and of waves were fitted with the stated lengths, and would have to
be fitted anew; the plans were left. Where ML.ENERGY's servers sample, steps are longer by 40 to 80 us for each sequence
on H100, more with larger vocabularies, of which sorting is a quarter. And on MI355X steps of few requests are predicted
too fast and those of many too slow (DeepSeek-R1 in 8 bits, -20 % with 4 requests to +22 % with 64): no kernels of that
part are published.

### Waits for steps that are formed ahead

On 29 November 2026 the first tokens of formulas and `simulate` were compared at every load of the tests, where three
plans differed. In a loop, a request arrives while the step after its predecessor's last step runs. The following step
is formed when that step begins, so the prompt waits for the whole of it, not only for the part after its launch. If
several requests end in one step, their prompts wait together (vLLM, batch queue of two; SGLang, event_loop_overlap).
Requests that come later than one step after another's end are amid any step, a long one more often. The median of a
loop is now taken from the distribution that already gave its 99th percentile; before, the mean was used. Prompts that
separate prefill engines run on several attention ranks are routed by the requests of a rank, those that run or are
formed ahead included, so that at half load some ranks of 32 have two prompts in a step: medians of first tokens of open
loads there were a quarter of simulated ones. In conversations, short prompts last as long as their launch; a
calculation with the mean length misses this. Nothing was fitted. On 30 loads of six plans that were drawn up before and
run first after the change (three engines, 6 to 128 requests in flight and 40 to 80 % of that rate) mean first tokens
differ by 4.5 % from `simulate` on average (before 7.3), medians by 6.6 (8.2), times per output token by 1.7 as before.
Of the fitted side first tokens went from 41.6 to 40.7 % (dense models 20.6 to 16.7, in loops of the 992 plans 8.2 to
7.1; its regime of dense models would now reach to 2.18 instead of 2.45 times the prediction). Held out, dense models in
loops went from 18.7 to 17.7 %, open loads from 27.4 to 28.2 and with experts from 24.3 to 28.1 in the median, all first
tokens from 24.7 to 24.9 (p90 73.9 to 73.5; mean logarithm 0.465 both), 99th percentiles from 29.9 to 30.1 % (67.1 to
67.0 in the mean). Times per output token and throughput stay.

In one of the three, the test was wrong: the queue of separate prefill engines takes four rounds of a loop to fill, and
the test counted the second round. The remaining differences are prompts of pipelines, which `simulate` lets share one
step of all stages, open loads on attention replicas near saturation (first tokens 43 % too late at 85 % of the highest
rate, before 52 % too soon; at 60 % 7 % too soon, before 43), and times per output token of such replicas, 5 to 20 % too
short as prompts share experts with sequences that other replicas decode.

Refused: products of large steps at no more than 0.9 of the best measured rate, the share that training sustains.
Where prompts take most of the time (by their share of it) throughput held out goes from 10.5 to 10.2 %, times per
output token from 12.3 to 12.2 and first tokens from 24.9 to 24.7, but on the fitted side the mean logarithm of times
per output token goes from 0.425 to 0.432 and throughput stays at 0.428; of the 992 plans throughput goes from 7.5 to
8.2 %. Applied to all steps, dense models in loops go from 7.1 to 7.8 %. Refused, too: the lead of the host by the
same law for the time that prompts add to steps: of few steps beyond the captured graphs it hides launches that
`simulate` shows (throughput 9 to 12 % above it, where the cautious lead has 3 to 6).

Refused: the all-gather of logits over tensor-parallel ranks, which vLLM, SGLang and TensorRT-LLM run in each step
(logits_processor.py of both; _torch/modules/embedding.py), at 2 B for each sequence and entry of the vocabulary by the
model of collectives. On the fitted side of the new sources the mean logarithm of times per output token goes from
0.4252 to 0.4240 and of throughput from 0.4277 to 0.4268, but of times per output token of `serving.csv` from 0.1432 to
0.1439; held out from 0.1961 to 0.1956 and from 0.1665 to 0.1662, while the median error of times per output token goes
from 12.3 to 12.5 %. The effect is too small to tell.

Prompts of TensorRT-LLM on attention ranks of separate prefill engines came too late near saturation by both: they were
routed on arrival, where the engine fetches the prompts that came during a step together and shares them evenly
(_torch/pyexecutor/executor_request_queue.py). With this, mean first tokens of 32 ranks are simulated in 0.78 s at 60 %
of the highest rate and 1.65 at 85 %, where `simulate` had 1.37 and 3.15 s and the formulas 1.31 and 4.19. The formulas
are a queue for steps with the places of all ranks now: within 10 % up to 70 % of the highest rate, 25 % too soon to 60
% too late at 85 and 95 %. Nothing was fitted. First tokens of `serving.csv` with experts went from 19.7 to 18.6 % in
the median (mean logarithm 0.486 to 0.488); of the held-out figures none changes.

### Prompts between the steps of attention replicas

On 30 November 2026 the scheduler of SGLang was read again for attention replicas (get_next_batch_to_run;
prepare_mlp_sync_batch_raw in scheduler_dp_attn_mixin.py: each rank forms its own batch, prompts before decoding, and
all of them run one step together, those without work an empty one). `simulate` does this. The formulas let prompts of
open loads wait for half of the time between two decode steps of their rank instead of the rest of the running step, and
counted the prompts of all ranks as coming one by one where each takes several steps. Prompts that come during a long
step start together, so that their rows of steps overlap, by the mean wait for as many steps without arrivals as a
prompt takes. The next prompt fills the last step of one that takes several, a step may be left with a part of a prompt,
and within a row the lead of the host's launches shrinks or grows by the difference between device and launch. On 49
open loads of 20 plans that were drawn after all this (four parts of Hopper and Blackwell, six models, two to eight
replicas, 30 to 80 % of the highest rate, places not all taken), median first tokens differ from `simulate` by 4.9 %,
12.5 before (p90 9.2 and 172 %), times per output token by 5.0 %, 7.9 before (p90 26 and 25 %). Nothing was fitted. Of
the published rows nine change, first tokens of DeepSeek-V3 by SGLang 0.4.1 (fitted side, 0.44 to 0.80 of the published
times before, 0.40 to 0.78 now): they have other errors (see datacrunch). More load shortened first tokens in 14 of 30
plans drawn at random, and now a mean in one, by 3 % where all places are taken.

Engines that receive requests at intervals (`receive_interval`) were compared on 15 open loads of five plans. A row of
steps with prompts ended as often as its prompts needed few steps, not as requests stopped to come, the seconds between
decode steps did not settle, and all prompts waited for half of the other decode steps of an interval, also those that
come while prompts run, after which the engine receives again. Mean first tokens were 1.07 to 14.6 times the simulated
ones and are 0.49 to 1.32 times, times per output token 0.25 to 1.66 and are 0.67 to 1.03; medians stay above (up to 2.3
times), since waits in decode steps are longer than most. No published row is such a load.

On 200 further plans drawn at random (seed 20261130; dense models and experts, seven parts, three engines, pipelines and
replicas) 1,140 comparisons in light load and in loops of one and four requests per rank were made. Four are more than
15 % off: three first tokens by 16 to 26 %, and one of replicas whose caches hold three requests. More memory never
lowered the cache or the highest concurrency. Concurrency lowered the throughput by 2 to 4 % in three plans whose caches
are full. First tokens of loops fell by 1 to 15 % in 18 steps from one concurrency to its double, as `simulate` has it
in two of three that were asked: successors come 10 ms after an end, so that a longer step leaves less to wait for.
In open loads more requests shortened the first token in five plans without replicas, by 2 to 26 %, where steps outgrow
the captured graphs or all places are taken. In a sixth, of replicas that mix prompts with decoding (vLLM), steps with
more tokens than the graphs had the launch of a single prompt, so that a prompt seemed to wait for a step formed ahead
of it: first tokens were 23 to 34 % too late and are 0 to 24 % too soon. Not mended: steps of few tokens that stay
beyond the graphs once they outgrow them, where the formulas have the state with fewer requests and `simulate` the other
(10 and 35 ms a token); and waits for a place of SGLang where all are taken below the highest rate, which are too short.

### Formulas and simulation

Formulas and `simulate` were compared on 886 plans of 20 sources: published first tokens are 29.2 % off in the median by
the formulas and 29.1 % by the simulation (90th percentiles 78.3 and 77.3 %), times per output token 14.4 and 14.3 %.
The remaining error is in the times of kernels and servers, not in the queues. The model does not count the steps that
vLLM before 0.8 runs without captured graphs: steps with contexts beyond 8,192 tokens (max_seq_len_to_capture of its
0.7.3, worker/ model_runner.py), for which single requests of 28,640 tokens take 12 to 35 ms a step by machine in
AccelMark.
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
