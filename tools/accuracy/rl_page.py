"""The section of docs/accuracy.md about reinforcement learning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from tools.accuracy.rl_cases import RlCase, is_ordered, ordered_pairs

HEAD = """## Reinforcement learning

Published steps (`tests/accuracy/rl.csv`), with the models, lengths, layouts and placements that their sources state. A
hash of the source's name decided, before its rows were read, whether constants may be fitted to it. Sources with
fitted constants are NeMo RL, checkpoint-engine, AReaL, miles, slime, vime, Perplexity and THisisPX/slime, those without
verl, SkyRL, vLLM, prime-rl, TRL, Megatron-LM lite, THisisPX/verl_cambricon and rocm-miles; of miles, vLLM and the last
four the side was looked up just after their rows were seen. Where a source does not state the mean length of outputs, a
length is assumed: the row counts for the order of placements only. Assumed are, too, NICs of AReaL's machines and of
those of verl with H20, A100 and A800, the nodes that train while AReaL's rollout runs, the machines of slime,
Perplexity and verl-24 to -26, and Perplexity's engines of 32 GPUs; degrees of the layouts of verl and slime are those
of their scripts.

The rows from verl-16 on, and those of SkyRL, vLLM, prime-rl and miles, were entered on 2026-11-22. Their first
prediction: 22.0 % in the median of all steps of unfitted sources, 6 of 7 pairs, 3 of 10 transfers, and 8 of the 12 of
miles. On 2026-11-23 came the transfers of slime, vime, Perplexity and TRL, nemo-rl-23 to -27, verl-24 to -27, vllm-02,
skyrl-02 and the step of miles-13. Their first prediction: 3 of the 12 fitted transfers, 1 of the 8 unfitted (TRL 1 of
2, verl 0 of 4, vLLM and SkyRL 0 of 1), and 57 % off for miles-13, which trains with its optimizer in host memory. Then
transfers by RDMA took the NICs of each rank, not those of its node, and tensors that are gathered or loaded one by one
a cost of their own, as the code of each release has it; the cost is fitted to slime and vime. The engines of vllm-01
and prime-rl-01 were described as tensor-parallel first; their sources say expert-parallel. Later that day a collective
of a single tensor was given a cost inside a domain and another between domains, and broadcasts of every expert were
counted as slime has them: fitted transfers 25 -> 28 of 30, unfitted 9 of 18 as before (verl-19 and trl-02 came within
the factor, verl-23 and skyrl-01 left it). The three transfers of Megatron-LM lite came then: 0 of 3 at first.

The last nine rows state each part of a step. First prediction: 16, 36 and -23 % for px-slime-01 to -03; 10, 7, -22,
-34 and -48 % for px-verl-01 to -05 and -26 % for rocm-miles-01 (23.9 % in the median of the unfitted); 0 of 5
transfers. Then the rows were given the limits of sequences of their engines, which the reports state (-14 and -32 %
for px-verl-04 and -05), and px-slime captures graphs for at most 16 sequences (36, 66 and 5 %); the time of such steps
was then taken at their own context rather than between short and long ones (28 and 55 %). No constant was changed. The
means of px-slime are those of the steps after the first, its length of prompts and that of px-verl are assumed, and so
is that the four accelerators of each role are a node. The length of rocm-miles-01 follows from its tokens per second,
and its script offloads the optimizer; its report does not say what takes 75 s of a step. What is known of them:
updates of samples that are not packed take 1.3 to 2.8 times the predicted time, a step of the driver a second rather
than 30, SGLang with 64 sequences on two A100 27 ms a token where 43 are predicted, and the transfers 2 to 14 times the
predicted time.

On 2026-11-24 came verl-28 to -43, skyrl-03 and -04, transfers of unfitted sources. First prediction: 3 of 18
(verl-32, -33 and -38); nothing was changed for them. The first eight of verl are on A100 and A800 whose NICs the
source does not state (those of a DGX A100 are taken): they take 16 to 31 times the predicted time where the shards of
a tensor are on two nodes, and 5 to 7 where they are not, as if their network carried 1.4 GB/s. In verl-40 to -43 each
of eight ranks sends over its own NIC: 2.5 s for 54 GB, of which the wire needs 0.2; the source cannot explain the 5.5
s of its 2 + 2 nodes either. What frameworks do for each bucket is not modeled: it is published as 0.38 s a bucket
(slime, Kimi K2 in 0.5 to 6 GB, pull request 689), 0.8 s or more (miles, a diffusion model, 92 s in buckets of 512 MiB
and 15 s in 4 GiB), and is below 0.02 s in the transfers of miles here; the first two state no machine, and no
constant fits all three.

What is known of the worst rows: the same work is published slower on 128 than on 64 GPUs of NVIDIA GB200 (nemo-rl-14
and -15), and rollout during training slower than in turn (nemo-rl-17 and -18); neither kernels nor links explain
it. The asynchronous runs of verl train on half of the GPUs in less time than all of them need in turn (verl-02 and
-03): the lengths of answers differ from run to run, and no source states them; their order is wrong for every mean
from 800 to 2,500 tokens. Where kernels are launched one by one (verl-01, -08 and -09, whose script sets
`enforce_eager`, which their first description did not say: 4 of 6 pairs were right then), their launches set the rate
of generation. Steps that stream minibatches to the trainer without stale samples (verl, 231 s on 128 GPUs) are not
entered, since no spec can state them. The asynchronous steps of Qwen3.5 (verl-17 and -18) were first described with
eight batches in flight, as many as their staleness allows (-58 and -31 %); the trainer of verl starts one and adds one
at the start of each step (commit 1dda039, verl/trainer/config/ppo_trainer.yaml and
verl/trainer/ppo/v1/trainer_separate_async.py), so that a batch and a half is generated at once. The transfers of verl
with FSDP on H100 (verl-20 to -22 and -27) take four to five times the predicted time: a profile in the source has 15
GB on the wire for 1.7 s, a fifth of the rate of one NIC, and TRL moves 65.5 GB in 2.3 s by the same steps on other
machines, as predicted. With the parameters on the accelerators, the times of 32B and 72B lie on 2.2 s and 5.5 GB/s of
weights in bf16 (verl-21 and -22), a ninth of a NIC; with the parameters in host memory 32B takes 3.7 s more, which is
not modeled either. The code gathers each tensor in the precision in which the trainer stores it (`param.full_tensor()`
of commit 1dda039, verl/workers/engine/fsdp/transformer_impl.py), and the same source has Qwen3-8B on A100 at 34
s where the shards of a tensor are on two nodes, 10 to 11 s where they are on one, and Qwen3-0.6B inside a node at 0.6
s: what crosses nodes takes the time, the gathers more than the broadcast, at 0.7 to 1.6 GB/s, far below the rate of
links. No source of the fitted side gathers tensor by tensor with FSDP, so that no constant is fitted to this. Two
transfers of DeepSeek-V3.1 (verl-24 and -25) spend their time in a converter that sends
names and shapes of every tensor as objects, which is not modeled, nor are the request for each tensor of skyrl-02 and
the copies through host memory of megatron-lite-01. The handles of single tensors that engines of verl with SGLang and
of SkyRL take (verl-23, skyrl-01) cost two to five times those of slime and vime, which differ by 2.5 themselves.
Transfers of Awex, of marin's Snowball and of NeMo RL by NCCL Xfer (pull request 2413, 15 mappings) are published
without machine, layout or model, and are not entered; nor are steps that users report as faults.

A pair is two rows of one source that differ in placement alone; its order is right where the faster one is predicted
to be faster. A transfer of weights is right within a factor of 1.5.
"""
SIDES_HEAD = """
| sources | steps | median error | order of pairs right | transfers within 1.5 |
|---|---:|---:|---:|---:|
"""
ROWS = """
| row | model | accelerators | placement | staleness | published | predicted | error |
|---|---|---:|---|---:|---:|---:|---:|
"""


def section(found: Sequence[RlCase]) -> Iterator[str]:
    """The parts of the section."""
    yield HEAD
    yield SIDES_HEAD
    yield from (_summary(name, [case for case in found if case.held_out is held]) for name, held in SIDES.items())
    yield ROWS
    yield from map(_row, found)


SIDES = {"with fitted constants": False, "without": True}
"""The name of each side, and whether its sources are held out."""


def _summary(name: str, found: Sequence[RlCase]) -> str:
    errors = [abs(case.error) for case in found if case.error is not None]
    pairs = ordered_pairs(list(found))
    right = sum(map(is_ordered, pairs))
    sync = [case.sync_ratio for case in found if case.sync_ratio is not None]
    close = sum(1 / 1.5 <= ratio <= 1.5 for ratio in sync)
    middle = f"{100 * median(errors):.1f} %" if errors else ""
    return f"| {name} | {len(errors)} | {middle} | {right} of {len(pairs)} | {close} of {len(sync)} |\n"


def _row(case: RlCase) -> str:
    row, times = case.row, case.times
    seconds = times.step if times is not None else None
    published, what = case.published, row["placement"]
    error = f"{100 * case.error:+.0f} %" if case.error is not None else ""
    if published is None:
        published, seconds = float(row["sync_time"]), times.sync.seconds if times is not None else None
        what = f"transfer by {row['sync_method']}"
        error = f"{100 * ((case.sync_ratio or 0.0) - 1):+.0f} %" if case.sync_ratio else ""
    accelerators = f"{times.accelerators:,.0f}" if times is not None else ""
    shown = f"{seconds:,.1f} s" if seconds is not None and (error or row["pair"]) else ""
    cells = (f"[{row['id']}]({row['url']})", row["model"], accelerators, what, row["staleness"])
    return f"| {' | '.join(cells)} | {published:,.1f} s | {shown} | {error} |\n"
