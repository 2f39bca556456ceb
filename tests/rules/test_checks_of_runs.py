"""Compute, rates and times that the text of a training plan works out: on both sides of each limit, by hand."""

from __future__ import annotations

from clusterspec import rules
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h100, nodes: 16}}
workload: {{model: {model}, sequence_length: 4096, global_batch: 1024, tokens: 1T, precision: bf16{keys}}}
layout: {{framework: megatron-core, ep: {ep}}}
"""
MIXTRAL, LLAMA = "mixtral-8x7b", "llama-3.1-8b"


def judge(rule: str, words: str, text: str, model: str, keys: str = "") -> None:
    spec = SPEC.format(text=text, model=model, keys=keys, ep=8 if model == MIXTRAL else 1)
    study = study_text(spec, SETTINGS)
    assert not study.loading, study.loading
    found = [problem.message for problem in rules.run_rules(study.facts(), {rule}) if problem.rule == rule]
    assert any(words in message for message in found) if words else found == [], found


ALL, OFF = "counts all 46.7B parameters, and a token uses 12.9B of them", "1T tokens of mixtral-8x7b take"


@each(
    ("text", "words"),
    [
        # 46.7 and 12.9 billion parameters: 6 x 46.7e9 x 1e12 = 2.80e23, of the active ones 8.3e22 with attention
        ("It takes 6 x 46.7e9 x 1e12 = 2.80e23 FLOP.", ALL),
        ("It takes 8 x 46.7e9 x 1e12 = 3.74e23 FLOP.", ALL),
        ("It takes 4 x 46.7e9 x 1e12 = 1.87e23 FLOP.", ALL),
        ("It takes 2 x 46.7e9 x 1e12 = 9.34e22 FLOP.", ALL),
        ("It takes 3 x 46.7e9 x 1e12 = 1.40e23 FLOP.", ""),
        ("It takes 5 x 46.7e9 x 1e12 = 2.34e23 FLOP.", OFF),
        ("It takes 6 x 12.9e9 x 1e12 = 7.74e22 FLOP.", ""),
        ("The part takes 6 x 46.7e9 x 4e7 = 1.12e19 FLOP.", ALL),
        ("The part takes 6 x 46.7e9 x 3e7 = 8.41e18 FLOP.", ""),  # of a token, a layer or a step
        ("It takes 6 x 49e9 x 1e12 = 2.94e23 FLOP.", ALL),
        ("It takes 6 x 51e9 x 1e12 = 3.06e23 FLOP.", OFF),
        # 2.5 times more or less
        ("It takes 2.0e23 FLOP.", ""),
        ("It takes 2.15e23 FLOP.", OFF),
        ("It takes 3.5e22 FLOP.", ""),
        ("It takes 3.1e22 FLOP.", OFF),
        ("It takes 2.95e23 FLOP.", ALL),
        ("It takes 3.02e23 FLOP.", OFF),
        ("It takes 0.9e19 FLOP.", ""),
        ("It takes 1.1e19 FLOP.", OFF),
        # of another run, or of other tokens
        ("The teacher takes 9e23 FLOP.", ""),
        ("Each day takes 9e23 FLOP.", ""),
        ("It takes 9e23 FLOP over 3e12 tokens.", ""),
        ("It takes 9e23 FLOP over 1e12 tokens.", OFF),
        ("It takes 9e23 FLOP over 1.05e12 tokens.", OFF),
        ("It takes 9e23 FLOP over 1.07e12 tokens.", ""),
        ("It takes 9e23 FLOP with 46.7e9 and 12.9e9 weights.", OFF),
        ("It takes 9e23 FLOP with 9e9 weights.", OFF),
        ("It takes 9e23 FLOP with 11e9 weights.", ""),
    ],
)
def test_the_compute_of_a_run_is_that_of_its_active_parameters(text: str, words: str) -> None:
    judge("compute-off-model", words, text, MIXTRAL)


SPARSE, SLOW = "multiplies the peak with 2:4 sparsity", "128 accelerators at 40% of 989 TFLOP/s deliver"


@each(
    ("text", "words"),
    [
        # 128 x 989 TFLOP/s x 0.4 = 5.07e16; twice 989 is 1,979, within 2 %
        ("128 GPUs x 989 TFLOP/s x 0.4 = 5.06e16 FLOP/s.", ""),
        ("128 GPUs x 1,979 TFLOP/s x 0.4 = 1.01e17 FLOP/s.", SPARSE),
        ("128 GPUs x 1,945 TFLOP/s x 0.4 = 9.96e16 FLOP/s.", SPARSE),
        ("128 GPUs x 1,930 TFLOP/s x 0.4 = 9.88e16 FLOP/s.", ""),
        ("With fp8: 128 GPUs x 1,979 TFLOP/s x 0.4 = 1.01e17 FLOP/s.", ""),
        ("128 GPUs at an MFU of 40 % deliver 5.07e16 FLOP/s.", ""),
        ("128 GPUs at an MFU of 40 % deliver 5.3e16 FLOP/s.", ""),
        ("128 GPUs at an MFU of 40 % deliver 5.5e16 FLOP/s.", SLOW),
        ("128 GPUs at an MFU of 40 % deliver 1.01e17 FLOP/s.", "`1.01e17 FLOP/s`, twice the dense figure"),
        ("128 GPUs at an MFU of 40 % deliver 8e16 FLOP/s.", f"`8e16 FLOP/s`: {SLOW} 5.07e+16 FLOP/s"),
        ("128 GPUs at an MFU of 40 % deliver 1.266e17 FLOP/s.", ""),  # the peak of all
        ("GPUs at an MFU of 40 % deliver 8e16 FLOP/s.", SLOW),
        ("64 GPUs at an MFU of 40 % deliver 8e16 FLOP/s.", ""),
        ("One of 1 GPU at an MFU of 40 % delivers 8e16 FLOP/s.", SLOW),
        ("128 GPUs at 40 % or 30 % MFU deliver 8e16 FLOP/s.", ""),
        ("128 GPUs with 40 % MFU deliver 8e16 FLOP/s of 9e16 FLOP/s.", ""),
        ("128 GPUs at an MFU of 5 % deliver 8e16 FLOP/s.", "at 5% of 989"),
        ("128 GPUs at an MFU of 4 % deliver 8e16 FLOP/s.", ""),
        ("128 GPUs at an MFU of 90 % deliver 8e16 FLOP/s.", "at 90% of 989"),
        ("128 GPUs at an MFU of 91 % deliver 8e16 FLOP/s.", ""),
        ("128 GPUs at an MFU of 40 % deliver 1.45e15 FLOP/s.", ""),  # of one
        ("128 GPUs at an MFU of 40 % deliver 1.55e15 FLOP/s.", SLOW),
        ("128 GPUs, not at an MFU of 40 %, deliver 8e16 FLOP/s.", ""),
    ],
)
def test_the_rate_of_a_machine_is_its_dense_peak_times_its_use(text: str, words: str) -> None:
    judge("compute-off-model", words, text, LLAMA)


TOTAL = "The run takes 2.82e22 FLOP."


@each(
    ("text", "words"),
    [
        # 2.82e22 / 5.64e16 = 500,000 s = 5.79 days, within 30 %
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 5.8 days.", ""),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 7.5 days.", ""),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 7.6 days.", "take 5.79 days, not 7.6 days"),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 4.1 days.", ""),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 4 days.", "not 4 days"),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 7 hours.", "not 7 hours"),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 5 hours.", ""),  # no time of a run
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 9 days. A week has 5.5 days.", ""),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 30 days or 9 days.", "not 9 days"),  # the nearest
        (f"{TOTAL} At 5.64e16 FLOP/s or 6e16 FLOP/s it lasts 9 days.", ""),
        (f"{TOTAL} At 1.9e16 FLOP/s it lasts 9 days.", ""),  # of one machine
        (f"{TOTAL} At 2.1e16 FLOP/s it lasts 9 days.", "take 15.5 days, not 9 days"),
        (f"{TOTAL} At 5.64e16 FLOP/s it lasts 9 days for each GPU per day.", ""),
        (f"{TOTAL} We have 5.64e16 FLOP/s. It lasts 9 days.", ""),
        (f"{TOTAL} At 5.64e16 FLOP/s in 9 decades.", ""),
    ],
)
def test_a_time_is_the_compute_over_the_rate(text: str, words: str) -> None:
    judge("compute-off-model", words, text, LLAMA)


@each(
    ("text", "model", "keys", "words"),
    [
        # 1T / 8.03B = 124.5, within a quarter
        ("125 tokens per parameter.", LLAMA, "", ""),
        ("155 tokens per parameter.", LLAMA, "", ""),
        ("157 tokens per parameter.", LLAMA, "", "1T tokens of 8.03B parameters are 125"),
        ("94 tokens per parameter.", LLAMA, "", ""),
        ("92 tokens per parameter.", LLAMA, "", "are 125"),
        ("At most 500 tokens per parameter.", LLAMA, "", ""),
        ("The law says at most 9. It has 500 tokens for every parameter.", LLAMA, "", "are 125"),
        ("The batch grows. At most 500 tokens per parameter.", LLAMA, "", ""),
        ("500 tokens per parameter. The law says at most 9.", LLAMA, "", "are 125"),
        ("500 tokens per parameter.", LLAMA, ", trainable: {method: lora, rank: 8}", ""),
        # 1T / 12.9B = 77.6 and 1T / 46.7B = 21.4
        ("21 tokens per parameter.", MIXTRAL, "", ""),
        ("77 tokens per parameter.", MIXTRAL, "", ""),
        ("45 tokens per parameter.", MIXTRAL, "", "1T tokens of 12.9B parameters are 77.6"),
        ("77 tokens per active parameter.", MIXTRAL, "", ""),
        ("21 tokens per active parameter.", MIXTRAL, "", "are 77.6"),
    ],
)
def test_tokens_of_a_parameter_are_those_of_the_plan(text: str, model: str, keys: str, words: str) -> None:
    judge("compute-off-model", words, text, model, keys)
