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


ALL, OFF = "counts all 46.7B parameters, but a token uses 12.9B of them", "1T tokens of mixtral-8x7b take"


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
        # also four times 989.4; 40 % of 128 x 989.4 TFLOP/s are 50.7 PFLOP/s
        ("128 x 2015 TFLOP/s x 40 % = 103.2 PFLOP/s.", SPARSE),
        ("128 x 2022 TFLOP/s x 40 % = 103.5 PFLOP/s.", ""),
        ("128 x 3958 TFLOP/s x 40 % = 202.6 PFLOP/s.", SPARSE),
        ("128 x 2968 TFLOP/s x 40 % = 152.0 PFLOP/s.", ""),
        ("128 x 1484 TFLOP/s x 40 % = 76.0 PFLOP/s.", SLOW),
        ("128 x 495 TFLOP/s x 40 % = 25.3 PFLOP/s.", ""),
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


@each(
    ("text", "words"),
    [
        # 238,419 steps of 4,194,304 tokens
        ("The warm-up takes 119,000 steps.", ""),
        ("The warm-up takes 120,000 steps.", "the warm-up of `120,000 steps` takes 50% of a run of 238,419 steps"),
        ("The warm-up takes 510B tokens.", "takes 51% of a run of 1T tokens"),
        ("Warm-up of 1,000 steps, constant for 200,000 steps, decay over 10,000 steps.", "are 211,000 steps"),
        ("Warm-up of 1,000 steps, constant for 227,000 steps, decay over 10,000 steps.", ""),
        # steps and their tokens, within 5 %
        ("It saves at 1,000 steps (4.19B tokens).", ""),
        ("It saves at 1,000 steps (4.38B tokens).", ""),
        ("It saves at 1,000 steps (4.5B tokens).", "1,000 steps of 4,194,304 tokens are 4.19B"),
        ("4.5B tokens in 1,000 steps.", "1,000 steps of 4,194,304 tokens are 4.19B"),
        ("It saves at 1,000 steps, 4.5B tokens.", "1,000 steps of 4,194,304 tokens are 4.19B"),
        ("It saves at 1,000 steps, 20B tokens, and 50B tokens.", ""),
        ("The first 1,000 steps (4.5B tokens).", ""),
        ("It saves at 9 steps (1B tokens).", ""),
        ("It saves at 10 steps (1B tokens).", "10 steps of 4,194,304 tokens are 41,943,040"),
        # shares, half as much again at most: 100,000 steps are 41.9 %
        ("100,000 steps are 62 % of the run.", ""),
        ("100,000 steps are 63 % of the run.", "`100,000 steps` are 42 % of the run, not 63 %"),
        ("100,000 steps are 28 % of the run.", ""),
        ("100,000 steps are 27.9 % of the run.", "not 27.9 %"),
        ("500B tokens (76 % of all tokens).", "`500B tokens` are 50 % of the run"),
        ("100,000 steps are 90 % of the time.", ""),
        # unique tokens and their passes, within a tenth, of sources between half and twice the run
        ("500B unique tokens, seen two times.", ""),
        ("540B unique tokens, seen two times.", ""),
        ("560B unique tokens, seen two times.", "are 1.12T tokens, but the run has 1T"),
        ("260B unique tokens, seen two times.", "are 520B tokens, but the run has 1T"),
        ("240B unique tokens, seen two times.", ""),
        ("1.2T unique tokens, seen once.", "1 times `1.2T"),
        ("990B unique tokens, seen two times.", "are 1.98T"),
        ("1.05T unique tokens, seen two times.", ""),
        ("700B unique tokens, seen two times, 1.4T tokens.", ""),
        ("700B unique tokens, 30 % of them seen two times.", ""),
        # phases: all of the run where none of them is
        ("Two phases: 600B tokens and 400B tokens.", ""),
        ("Two phases: 600B tokens and 370B tokens.", ""),
        ("Two phases: 600B tokens and 300B tokens.", "600B tokens + 300B tokens are 900B tokens"),
        ("Two phases: 300B tokens and 150B tokens.", ""),
        ("Two phases: 1.2T tokens and 300B tokens.", ""),
        ("Two phases: 1T tokens and 300B tokens.", ""),
        ("Five phases of 180B tokens, 180B tokens, 180B tokens, 180B tokens, 180B tokens.", "are 900B tokens"),
        ("Phases of 150B tokens" + ", 150B tokens" * 5, ""),
        ("Two phases: 900B tokens and 0.9B tokens.", ""),
        ("One phase: 900B tokens.", ""),
        # a batch that grows
        ("The batch grows over 1.1T tokens.", "the batch grows over `1.1T tokens`, but the run has 1T"),
        ("The batch grows over 1.04T tokens.", ""),
        ("The batch grows over 0.9B tokens.", ""),
        (
            "In some steps the batch grows from 256 to 512 sequences.",
            "grows to `512 sequences`, but `global_batch` is 1,024",
        ),
        ("In some steps the batch grows from 256 to 1,024 sequences.", ""),
        ("In some steps the batch grows from 512 sequences.", ""),
        ("In some steps the batch grows from 256 to 4,194,304 sequences.", ""),  # its tokens
        ("In some steps the batch grows from 256 to 4,096 sequences.", "grows to `4,096 sequences`"),
        # passes over tokens, of all or of half of the run
        ("Two epochs of 500B tokens.", ""),
        ("4 epochs of 260B tokens.", ""),
        ("Four epochs of 125B tokens.", ""),
        ("Two epochs of 600B tokens.", "are 1.2T tokens, but `tokens` is 1T"),
        ("Two epochs of 600B tokens, 1.2T tokens.", ""),
    ],
)
def test_the_schedule_of_a_text_is_that_of_the_plan(text: str, words: str) -> None:
    judge("schedule-off-tokens", words, text, LLAMA)


@each(
    ("text", "words"),
    [
        # 240,000 x 3 s = 8.33 days, within 15 %, and up to 40 % more with restarts
        ("The run has 240,000 steps of 3 s and takes 9.5 days.", ""),
        ("The run has 240,000 steps of 3 s and takes 9.7 days.", "240,000 steps of 3 s take 8.33 days, not 9.7 days"),
        ("The run has 240,000 steps of 3 s and takes 7.1 days.", ""),
        ("The run has 240,000 steps of 3 s and takes 7 days.", "not 7 days"),
        ("With restarts the run has 240,000 steps of 3 s and takes 11.6 days.", ""),
        ("With restarts the run has 240,000 steps of 3 s and takes 11.8 days.", "not 11.8 days"),
        ("The run has 240,000 steps of 3 s and 1,000 steps, and takes 20 days.", ""),
        ("99 steps of 3 s take 10 min.", ""),
        ("100 steps of 3 s take 10 min.", "100 steps of 3 s take 5 min, not 10 min"),
        ("100 steps of 0.3 s take 50 s.", ""),
        ("100 steps of 0.3 s take 60 s.", "not 60 s"),
        ("200 steps of 3,600 s take 4 days.", "not 4 days"),
        ("200 steps of 3,601 s take 4 days.", ""),  # no step
        # 238,419 steps of the plan
        ("The run has a step time of 3 s and takes 9 days.", ""),
        ("The run has a step time of 3 s and takes 12 days.", "238,419 steps of 3 s take 8.28 days"),
        ("A step time of 3 s takes 12 days.", ""),
        # 1e12 / 1.2e6 = 9.65 days; of each of 128 accelerators or 16 nodes
        ("1T tokens at 1.2M tokens/s take 9.6 days.", ""),
        ("1T tokens at 1.2M tokens/s take 32 days.", "take 9.65 days, not 32 days"),
        ("1T tokens at 20k tokens/s take 9.6 days.", "1T tokens at 20k tokens/s take 4.52 days"),
        ("1T tokens at 20k tokens/s take 4.5 days.", ""),
        ("1T tokens at 20k tokens/s take 36 days.", ""),
        ("1T tokens at 20k tokens/s, 1.2M tokens/s take 32 days.", "at 1.2M tokens/s take 9.65 days"),
        ("1T tokens at 20k tokens/s, 1.2M tokens/s, 40k tokens/s take 32 days.", ""),
        ("110M tokens at 1k tokens/s take 9 days.", "take 30.6 h, not 9 days"),
        ("90M tokens at 1k tokens/s take 9 days.", ""),
        ("The run at 1.2M tokens/s takes 32 days.", "1T tokens at 1.2M tokens/s take 9.65 days"),
        ("At 1.2M tokens/s it takes 32 days.", ""),
        # both days count: ten of them
        ("The run starts on 2027-01-01, ends on 2027-01-10 and takes 12 days.", "are 10 days, but the run takes 12"),
        ("The run starts on 2027-01-01, ends on 2027-01-10 and takes 10.3 days.", ""),
        ("The run starts on 2027-01-01, ends on 2027-01-10 and takes 10.4 days.", "the run takes 10.4"),
        ("The run starts on 2027-01-01, ends on 2027-01-02 and takes 50 hours.", "are 2 days"),
        ("The run starts on 2027-01-01, ends on 2027-01-01 and takes 47 hours.", ""),
        ("The run starts on 2027-01-01, ends on 2027-01-10 and takes 12 days or 14 days.", ""),
        ("It starts on 2027-01-01, ends on 2027-01-10 and takes 12 days.", ""),
        ("The run starts on 2027-01-01, ends on 2027-01-40 and takes 12 days.", ""),
        # 50,000 h / 128 = 391 h, between 0.7 and 1.4 times as much
        ("One GPU fails every 50,000 hours, 128 GPUs every 390 hours.", ""),
        ("One GPU fails every 50,000 hours, 128 GPUs every 540 hours.", ""),
        (
            "One GPU fails every 50,000 hours, 128 GPUs every 550 hours.",
            "fail every 16.3 days together, not every 550 h",
        ),
        ("One GPU fails every 50,000 hours, 128 GPUs every 280 hours.", ""),
        ("One GPU fails every 50,000 hours, 128 GPUs every 270 hours.", "not every 270 hours"),
        ("One node fails every 50,000 hours, 128 GPUs every 550 hours.", ""),
        ("One node fails every 50,000 hours, 128 nodes every 550 hours.", "128 nodes that each fail"),
        ("One GPU fails every 99 hours, 128 GPUs every 3 hours.", ""),
        ("One GPU fails every 101 hours, 128 GPUs every 3 hours.", "not every 3 hours"),
        ("One GPU fails every 50,000 hours, 128 GPUs every 50 s.", ""),
        ("One GPU fails every 50,000 hours, 128 GPUs every 60 s.", "not every 60 s"),
        ("One GPU fails every 50,000 hours, 128 GPUs every 550 hours, with repair.", ""),
        ("One GPU fails every 50,000 hours, 128 GPUs of 256 GPUs every 550 hours.", ""),
    ],
)
def test_a_duration_is_its_steps_tokens_days_or_failures(text: str, words: str) -> None:
    judge("duration-off-rate", words, text, LLAMA)
