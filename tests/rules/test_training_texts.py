"""What the text of a training plan says of hours, schedules, compute, data and times follows from its keys."""

from __future__ import annotations

from tests.effort import each

from .conftest import Check

MACHINE = "cluster: {platform: dgx-h100, nodes: 16}\n"  # 128 GPUs
QUAD = "cluster: {platform: hpe-cray-ex254n, nodes: 64}\n"  # four GH200 in a node: 256
DENSE = "workload: {kind: train, model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}\n"
EXPERTS = "workload: {kind: train, model: mixtral-8x7b, sequence_length: 4096, global_batch: 1024, tokens: 1T}\n"
MONTH = "operations: {targets: {run_time: 21 days}}\n"  # 504 h


def found(check: Check, rule: str, text: str, keys: str) -> str | None:
    quoted = text.replace('"', "'")
    findings = check(f'clusterspec: 1\ndescription: "{quoted}"\n{keys}', rule)
    return next((str(each.severity) for each in findings if each.rule == rule), None)


# 64 nodes of four: 64 x 504 h = 32,256 node-hours = 129,024 GPU-hours
HOURS = [
    ("The run takes 64 nodes x 504 h = 32,256 GPU-hours.", "error"),
    ("We request 32,256 GPU-hours (64 nodes x 504 h).", "error"),
    ("Request: 64 nodes for 504 h, 32,256 GPU hours.", "error"),
    ("64 nodes x 21 days = 32,256 GPUh.", "error"),
    ("64 nodes x 504 h are 32.3 k GPU-hours.", "error"),
    ("256 GPUs x 504 h = 129,024 node-hours.", "error"),
    ("The run needs 32,256 GPU-hours of the project.", "error"),
    ("64 Knoten x 504 Stunden = 32.256 GPU-Stunden.", "error"),
    ("64 nœuds x 504 heures = 32 256 heures GPU.", "error"),
    ("64 nodos x 504 horas = 32.256 horas de GPU.", "error"),
    ("64 nodes x 504 h = 32,256 node-hours = 129,024 GPU-hours.", None),
    ("256 GPUs x 504 h = 129,024 GPU-hours.", None),
    ("64 nodes x 4 GPUs x 504 h = 129,024 GPU-hours.", None),
    ("64 x 504 h = 32,256 instance-hours = 129,024 GPU-hours.", None),
    ("The run needs 129,024 GPU-hours, at 2.30 USD per GPU-hour.", None),
    ("Each ablation takes 8 nodes x 24 h, 192 node-hours.", None),
    ("The run needs 129,000 GPU-hours; 32,256 GPU-hours remain for ablations.", None),
    # 129,024 of 120,000
    ("The call grants at most 120,000 GPU-hours. The run takes 256 GPUs x 504 h = 129,024 GPU-hours.", "error"),
    ("The call grants at most 130,000 GPU-hours. The run takes 256 GPUs x 504 h = 129,024 GPU-hours.", None),
    # 64 x 4 x 504 h x 2 EUR = 258,048 EUR
    ("64 nodes x 504 h x 2.00 EUR per GPU-hour = 64,512 EUR.", "error"),
    ("64 nodes x 504 h x 8.00 EUR per node-hour = 258,048 EUR.", None),
    ("256 GPUs x 504 h x 2.00 EUR per GPU-hour = 258,048 EUR.", None),
    # 20 x 3,000 + 129,024 = 189,024
    ("20 ablations of 3,000 GPU-hours and 129,024 GPU-hours fit into the allocation of 150,000 GPU-hours.", "error"),
    ("20 ablations of 3,000 GPU-hours and 129,024 GPU-hours fit into the allocation of 190,000 GPU-hours.", None),
]


@each("text, severity", HOURS)
def test_hours_of_a_product_have_the_unit_of_its_machines(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "hours-of-other-unit", text, QUAD + MONTH) == severity


# 1 T / (1,024 x 4,096) = 238,419 steps
ENDS = [
    ("Cosine decay to zero at step 120,000.", "error"),
    ("Learning rate: warm-up over 2,000 steps, then cosine decay to 10 % of the peak at step 120,000.", "error"),
    ("The LR follows a cosine over 120k steps.", "error"),
    ("Linear decay to 3e-5 by iteration 120,000.", "error"),
    ("Cosine decay over 500 B tokens.", "error"),
    ("The rate decays to its minimum after 500 billion tokens.", "error"),
    ("The cosine reaches its minimum after 600,000 steps.", "error"),
    ("Cosine decay to a tenth at step 215,000; it ends with the last token of the run.", "error"),
    ("Die Lernrate sinkt als Kosinus bis Schritt 120.000.", "error"),
    ("Cosinus jusqu'à l'étape 120 000.", "error"),
    ("La tasa decae como coseno hasta el paso 120.000.", "error"),
    *(
        (f"The {word} reaches zero at step 90,000.", "error")
        for word in ("cosine", "decay", "annealing", "rate", "Linear schedule", "cool-down", "COSINE")
    ),
    ("linear decay to the MINIMUM by Steps 4000", "error"),
    ("Cosine decay to zero at step 238,000.", None),
    ("Cosine decay to 10 % at step 238,419; it ends with the last token of the run.", None),
    ("Cosine over 1 T tokens.", None),
    ("Cosine decay to 10 % at step 120,000, then the rate stays there for the rest of the run.", None),
    ("LR: 2k warm-up, cosine to 3e-5 at 120k.", "error"),
    ("Cosine with max_steps 120,000.", "error"),
    ("--lr-decay-iters 120000, the floor is reached with the last batch.", "error"),
    ("The rate is annealed to zero between step 90,000 and step 120,000.", "error"),
    ("Constant until step 90,000, then linear cool-down over 60,000 steps to zero.", "error"),  # at 150,000
    ("Constant until step 190,000, then linear cool-down over 48,000 steps to zero.", None),
    ("Cosine to zero over 236,000 steps after 2,000 steps of warm-up.", None),
    ("Decay over the last 48,000 steps.", None),
    ("Warm-up over 2,000 steps, then a constant rate.", None),
    ("The cosine is set for 600,000 steps, since a second phase continues it.", None),
    ("Cosine with 2,000 warm-up steps, not 120,000.", None),
    ("A cosine of 953,674 steps ran before; no decay to step 120,000.", None),
]


@each("text, severity", ENDS)
def test_the_rate_ends_where_the_tokens_end(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "learning-rate-ends-early", text, MACHINE + DENSE) == severity


SCHEDULES = [
    ("Linear warm-up over 250,000 steps.", "error"),
    ("Warm-up of 150,000 steps, then cosine.", "warning"),
    ("600 B tokens of warm-up.", "warning"),
    ("Aufwärmphase über 250.000 Schritte, danach Kosinus.", "error"),
    ("Warm-up 2,000 steps.", None),
    ("Linear warm-up over 2,000 steps, then cosine.", None),
    ("Warm-up over 1 B tokens, then cosine.", None),
    # 2,000 + 288,000 + 48,000 = 338,000
    ("Warm-up for 2,000 steps, stable for 288,000 steps, decay over 48,000 steps.", "error"),
    ("WSD: warm-up of 8 B tokens, constant rate for 492 B tokens, decay over 200 B tokens.", "error"),
    ("Warm-up for 2,000 steps, stable for 188,400 steps, decay over 48,000 steps.", None),
    ("WSD: warm-up of 8 B tokens, constant rate for 792 B tokens, decay over 200 B tokens.", None),
    # 120,000 steps are 0.5 T
    ("At 120,000 steps (1 T tokens) the suite is evaluated.", "error"),
    ("1 T tokens in 120,000 steps.", "error"),
    ("1 T tokens are 120,000 steps.", "error"),
    ("120,000 steps, i.e. 1 T tokens.", "error"),
    ("1 Billion Token sind 120 steps.", None),  # a billion in one language
    ("238,419 steps (1 T tokens).", None),
    ("1 T tokens in about 238 k steps.", None),
    ("Checkpoints every 10,000 steps (42 B tokens).", None),
    ("12,000 steps of a micro batch (1 T tokens per year).", None),
    # 700 + 200 of 1,000
    ("Phase 1: 700 B tokens at 4k; phase 2: 200 B tokens at 16k.", None),  # two sentences
    ("Stage 1 has 700 B tokens at 4k, stage 2 has 200 B tokens at 16k.", "error"),
    ("Stage 1 has 800 B tokens at 4k, stage 2 has 200 B tokens at 16k.", None),
    ("Stage 1 has 1 T tokens at 4k, stage 2 has 200 B tokens at 16k.", None),
    ("The batch grows from 256 to 1,024 sequences over 2 T tokens.", "error"),
    ("The batch grows from 256 to 2,048 sequences over 20 B tokens.", "warning"),
    ("The batch grows from 256 to 1,024 sequences over 20 B tokens.", None),
    ("The warm-up of 2,000 steps, which is 0.08 % of the run, is short.", "error"),
    ("The warm-up of 2,000 steps, which is 0.8 % of the run, is short.", None),
    ("The corpus has 200 B unique tokens, so that 1 T tokens are two epochs.", "error"),
    ("The corpus has 500 B unique tokens, so that 1 T tokens are two epochs.", None),
    ("We see 600 B unique tokens once.", "error"),
    ("We see 1 T unique tokens once.", None),
    ("Half is web, 30 % code; code has 75 B unique tokens and is seen four times.", None),
    ("Code has 75 B unique tokens and is seen four times.", None),
    ("Four epochs of 200 B tokens.", "error"),
    ("Vier Epochen über 200 Mrd. Token.", None),  # words of numbers are English
    ("4 Epochen über 200 Mrd. Token.", "error"),
    ("Four epochs of 250 B tokens.", None),
    ("Two passes over 500 B unique tokens.", None),
]


@each("text, severity", SCHEDULES)
def test_steps_and_tokens_of_a_schedule_are_those_of_the_run(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "schedule-off-tokens", text, MACHINE + DENSE) == severity


# 6 x 12.9e9 x 1e12 = 7.7e22 FLOP, with attention about 8e22; 128 x 989e12 x 0.4 = 5.06e16 FLOP/s
COMPUTE = [
    ("6 x 46.7e9 x 1e12 = 2.8e23 FLOP.", "error"),
    ("Compute: 6 x 46.7 B x 1 T = 2.8e23 FLOP.", "error"),
    ("Compute: 6 · 47e9 · 1e12 = 282 ZFLOP.", "error"),
    ("The training takes 2.8e23 FLOP.", "error"),
    ("The training takes 280 ZFLOPs in total.", "error"),
    ("Rechenaufwand: 6 x 46,7e9 x 1e12 = 2,8e23 FLOP.", "error"),
    ("The training takes 8e21 FLOP.", "error"),
    ("6 x 12.9e9 x 1e12 = 7.7e22 FLOP.", None),
    ("The training takes 8.2e22 FLOP.", None),
    ("6 x 46.7e9 would be wrong: the active parameters give 6 x 12.9e9 x 1e12 = 7.7e22 FLOP.", None),
    ("A step takes 6 x 12.9e9 x 4.2e6 = 3.2e17 FLOP.", None),
    ("The reward model takes 2.8e23 FLOP.", None),
    ("128 GPUs x 1,979 TFLOP/s x 0.4 = 1.01e17 FLOP/s.", "error"),
    ("128 x 1979e12 x 0.4 = 1.01e17 FLOP/s.", "error"),
    ("At 40 % utilization 128 GPUs deliver 1.01e17 FLOP/s.", "error"),
    ("At 40 % MFU 128 GPUs deliver 5.06e17 FLOP/s.", "error"),
    ("128 GPUs x 989 TFLOP/s x 0.4 = 5.06e16 FLOP/s.", None),
    ("At 40 % utilization 128 GPUs deliver 5.06e16 FLOP/s.", None),
    ("The 128 GPUs have 1.27e17 FLOP/s, of which 40 % are used.", None),
    # 8e22 / 5.06e16 = 1.58e6 s = 18.3 days
    ("8e22 FLOP at 5.06e16 FLOP/s take 36 days.", "error"),
    ("8e22 FLOP at 5.06e16 FLOP/s take 18 days.", None),
    ("8e22 FLOP at 5.06e16 FLOP/s take 18.3 days, 21 days with restarts.", None),
    # 1e12 / 12.9e9 = 78 per active parameter, 21 per parameter
    ("The run has 200 tokens per parameter.", "error"),
    ("The run has 78 tokens per active parameter.", None),
    ("The run has 21 tokens per parameter.", None),
    ("That is far above the 20 tokens per parameter of Chinchilla.", None),
]


@each("text, severity", COMPUTE)
def test_compute_of_a_text_is_that_of_active_parameters_and_dense_peaks(
    text: str, severity: str | None, check: Check
) -> None:
    layout = "layout: {framework: megatron-core, ep: 8}\n"
    assert found(check, "compute-off-model", text, MACHINE + EXPERTS + layout) == severity


# a step has 4.19 M tokens; 50 steps 210 M, of three times the compute of a token of validation
PAUSES = [
    ("Every 50 steps the loss of a validation set of 250 M tokens is computed, less than 2 % of the time.", "error"),
    ("Validation: after every 50 steps on 250 M tokens. It takes less than 2 % of the run.", "error"),
    ("After each 200 M tokens we evaluate the perplexity of 250 M tokens, at most 3 % overhead.", "error"),
    ("Evaluation on 100 batches every 50 steps costs about 5 % of the time.", "error"),
    ("Alle 50 steps Validierung auf 250 Mio. Token, das kostet weniger als 2 % der Rechenzeit.", "error"),
    ("Tous les 50 pas, évaluation sur 250 M tokens, moins de 2 % du temps.", "error"),
    ("Cada 50 pasos, validación con 250 M tokens, menos del 2 % del tiempo.", "error"),
    ("Every 50 steps the loss of a validation set of 250 M tokens is computed.", "warning"),
    ("Training stops for 90 s at each checkpoint, every 15 minutes, which costs less than 2 % of the time.", "error"),
    ("An evaluation takes 20 min every 2 hours, about 3 % of the time.", "error"),
    ("Every 1,000 steps the loss of a validation set of 50 M tokens is computed, about 1 % of the time.", None),
    ("Every 1,000 steps the loss of a validation set of 50 M tokens is computed.", None),
    ("Every 50 steps other nodes compute the loss of 250 M tokens, less than 2 % of the time.", None),
    ("Evaluation on 10 batches every 1,000 steps costs less than 1 % of the time.", None),
    ("Training stops for 9 s at each checkpoint, every 15 minutes, which costs about 1 % of the time.", None),
    ("A checkpoint every 30 minutes, kept for 10 days.", None),
]


@each("text, severity", PAUSES)
def test_pauses_take_the_share_that_the_text_states(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "pauses-off-stated-share", text, MACHINE + DENSE) == severity


MIXTURES = [
    ("Mixture: 60 % web, 25 % code, 10 % mathematics and 15 % books.", "error"),
    ("Data mix: web 60 %, code 25 %, books 5 %.", "error"),
    ("Datenmischung: 60 % Web, 20 % Code, 10 % Mathematik.", "error"),
    ("Mélange : 70 % de web, 25 % de code, 15 % de livres.", "error"),
    ("Mezcla: 60 % de web, 25 % de código, 20 % de libros.", "error"),
    ("Sampling weights: 55 % web, 30 % code, 25 % papers.", "error"),
    ("Mixture: 60 % web, 25 % code, 10 % mathematics and 5 % books.", None),
    ("Mixture: 60 % web, of which 20 % German and 15 % French, 40 % code.", None),
    ("Mixture: 33 % web, 33 % code and 33 % books.", None),
    ("A mixture of experts with 30 % MFU, 60 % memory, 20 % overhead.", None),
    # 20 % of 1 T are 200 B: 22 passes over 9 B, 4 over 50 B
    ("Mixture: 20 % mathematics (9 B unique tokens), 80 % web.", "warning"),
    ("Mixture: 20 % mathematics (30 B tokens), 80 % web. No source is seen more than four times.", "error"),
    ("Mixture: 20 % mathematics (50 B tokens), 80 % web. No source is seen more than four times.", None),
    ("Mixture: 20 % mathematics (30 B unique tokens), 80 % web.", None),
    ("Wikipedia (6 B tokens) gets 20 % of the mixture, at most four epochs each.", "error"),
    ("Wikipedia (60 B tokens) gets 20 % of the mixture, at most four epochs each.", None),
    ("Data: 45 % web, 30 % code, 20 % papers, 15 % others.", "error"),
    ("Mix by tokens: CommonCrawl 67 %, C4 15 %, GitHub 4.5 %, Wikipedia 4.5 %, books 4.5 %, arXiv 10 %.", "error"),
    ("Mix by tokens: CommonCrawl 67 %, C4 15 %, GitHub 4.5 %, Wikipedia 4.5 %, books 4.5 %, arXiv 4.5 %.", None),
]


@each("text, severity", MIXTURES)
def test_shares_of_a_mixture_add_up_and_repeat_no_source_too_often(
    text: str, severity: str | None, check: Check
) -> None:
    assert found(check, "mixture-off-sum", text, MACHINE + DENSE) == severity


PRODUCTS = [
    ("A step has 1,024 x 4,096 tokens = 8.4 M tokens.", "error"),
    ("1,024 sequences x 4,096 = 4.9 M.", "error"),
    ("5 seeds x 4 sizes = 25 runs.", "error"),
    ("238,419 steps x 4.19 M tokens are 2 T tokens.", "error"),
    ("Ablations: 40 runs x 512 GPU-hours = 40,480 GPU-hours.", "error"),
    ("600 M documents x 1,700 tokens = 1.2 T tokens.", "error"),
    ("Prompts: 128 x 8 answers = 2,048 samples.", "error"),
    ("A step has 1,024 x 4,096 tokens = 4.2 M tokens.", None),
    ("1,024 x 4,096 = 4,194,304; 5 seeds x 4 sizes = 20 runs.", None),
    ("16 nodes x 720 h = 92,160 GPU-hours.", None),
    ("15 + 6 x 16 + 15 = 126 layers.", None),
    ("128 GPUs x 989e12 x 0.4 = 5.06e16 FLOP/s.", None),
    ("1e12 tokens x 4 bytes = 4 TB.", None),
    ("64 x 800G = 128 x 400G.", None),
    ("238,419 steps x 6 s = 16.6 days.", None),
]


@each("text, severity", PRODUCTS)
def test_a_product_of_a_text_follows_from_its_factors(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "arithmetic-does-not-close", text, MACHINE) == severity


# 238,419 steps of 6 s are 16.6 days; 1 T at 1.2 M tokens/s 9.6 days, at 9,400 of each of 128 GPUs as well
DURATIONS = [
    ("The run has 238,419 steps of 6 s each and takes 8 days.", "error"),
    ("At 6 s per step the run takes 8 days.", "error"),
    ("238 k steps at 6 s a step take 30 days.", "error"),
    ("A step takes 6 s, so that 238,419 steps last 400 hours; that is 17 days.", None),
    ("238.419 Schritte zu 6 s dauern 8 Tage.", "error"),
    ("238 419 pas de 6 s, soit 8 jours.", "error"),
    ("The run has 238,419 steps of 6 s each and takes 16.6 days.", None),
    ("The run has 238,419 steps of 6 s each and takes 20 days with restarts.", None),
    ("The machine trains 1.2 M tokens/s, so that 1 T tokens take 4 days.", "error"),
    ("At 9,400 tokens/s per GPU the run takes 4 days.", "error"),
    ("At 9,400 tokens/s per GPU the run takes 9.6 days.", None),
    ("The machine trains 1.2 M tokens/s, so that 1 T tokens take 9.6 days.", None),
    ("Decoding reaches 1.2 M tokens/s, and the run takes 4 days.", None),
    ("The run starts on 2027-03-01 and ends on 2027-03-14.", "error"),
    ("The training of 21 days runs from 2027-03-01 to 2027-03-14.", "error"),
    ("The run starts on 2027-03-01 and ends on 2027-03-21.", None),
    ("The site opens on 2027-03-01, and the run ends on 2027-03-14.", None),
    # 50,000 h / 128 = 390 h
    ("One GPU fails every 50,000 h, so 128 GPUs fail every 39 h.", "error"),
    ("Each GPU has an MTBF of 50,000 hours; 128 GPUs fail every 39 h.", None),  # two sentences
    ("Each GPU has an MTBF of 50,000 hours, 128 GPUs fail once in 39 h.", "error"),
    ("One GPU fails every 50,000 h, so 128 GPUs fail every 390 h.", None),
    ("A node fails every 6,250 h, so 16 nodes fail every 16 days.", None),
    ("A node fails every 6,250 h, so 16 nodes fail every 2 days.", "error"),
]


@each("text, severity", DURATIONS)
def test_a_duration_is_work_over_rate(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "duration-off-rate", text, MACHINE + DENSE + MONTH) == severity


# a checkpoint of 8.03e9 x 14 B has 112 GB; 238,419 / 500 = 476 of them are 54 TB, 47 are 5.3 TB
STORE = "cluster: {platform: dgx-h100, nodes: 16, networks: {storage: {bandwidth: 20 GB/s, capacity: 30 TB}}}\n"
SAVING = (
    "layout: {framework: megatron-core, tp: 1}\n"
    "operations: {mean_time_between_failures: 10 h, restart_time: 20 min, "
    "checkpoint: {interval: 60 min, pause: 10 s}}\n"
)
SAVED = [
    ("Every 500 steps a checkpoint is kept for good.", "error"),
    ("We keep one checkpoint every 500 steps for the whole run.", "error"),
    ("A checkpoint each 2 B tokens is archived.", "error"),
    ("Every 5,000 steps a checkpoint is kept for good, about 2 TB.", "error"),
    ("Alle 500 Schritte wird ein Checkpoint archiviert.", "error"),
    ("Every 5,000 steps a checkpoint is kept for good.", None),
    ("Every 5,000 steps a checkpoint is kept for good, about 5.3 TB.", None),
    ("Every 500 steps a checkpoint goes to the object store, and is kept there.", None),
    ("We keep the last 10, every 500 steps one checkpoint.", None),
    ("The store holds 20 checkpoints of 5.7 TB, 60 TB in all.", "error"),
    ("The store holds 20 checkpoints of 5.7 TB, 114 TB in all.", None),
    # one failure in 10 h costs 30 min of work and 20 min of restart: more than 8 %
    ("Failures and restarts cost less than 1 % of the time.", "error"),
    ("Restarts and lost work take about 2 % of the run.", "error"),
    ("We expect a goodput of 99 %.", "error"),
    ("Neustarts kosten weniger als 2 % der Zeit.", "error"),
    ("Les pannes coûtent moins de 2 % du temps.", "error"),
    ("Failures and restarts cost less than 10 % of the time.", None),
    ("We expect a goodput of 92 %.", None),
    (
        "Three failures a week, each costing 45 minutes, waste less than 0.2 % of the time.",
        "error",
    ),  # 135 of 10,080 min
    ("Three failures a week, each costing 45 minutes, waste about 1.3 % of the time.", None),
    ("Failures of nodes per year are less than 1 % of the time.", None),
]


@each("text, severity", SAVED)
def test_saved_checkpoints_and_lost_time_follow_from_the_plan(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "saved-off-text", text, STORE + DENSE + SAVING) == severity


SCALED = [
    ("The batch grows from 512 to 1,024 sequences, so by linear scaling the rate goes from 3e-4 to 1.2e-3.", "error"),
    ("Square-root scaling: 1.5e-4 at a batch of 256, 6e-4 at a batch of 1,024.", "error"),
    ("Linear scaling rule: 3e-4 for a batch of 512, 3e-4 for a batch of 1024.", "error"),
    ("Wurzelskalierung, Batch 256 auf 1024: Wurzel, 1e-4 auf 4e-4.", "error"),
    ("The batch grows from 512 to 1,024 sequences, so by linear scaling the rate goes from 3e-4 to 6e-4.", None),
    ("Square-root scaling: 1.5e-4 at a batch of 256, 3e-4 at a batch of 1,024.", None),
    ("Square-root scaling: 3e-4 at a batch of 256, 6e-4 at a batch of 1,024.", None),
    ("Batch 512 and 1,024, rates 3e-4 and 5e-4, tuned.", None),
]


@each("text, severity", SCALED)
def test_a_scaled_rate_follows_its_rule(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "rate-off-scaling-rule", text, MACHINE + DENSE) == severity


GRPO = (
    "workload: {kind: rl, model: qwen2.5-7b, rl: {prompts_per_step: 128, samples_per_prompt: 8, input_tokens: 512, "
    "output_tokens: 2000}}\nlayout: {framework: megatron-core}\n"
)
SAMPLES = [
    ("GRPO with 2,048 samples per step.", "error"),
    ("Each step generates answers: 512 answers per step.", "error"),
    ("200 steps are two passes over 50,000 prompts.", "error"),
    ("One epoch over 12,800 problems in 1,000 steps.", "error"),
    ("GRPO with 1,024 samples per step.", None),
    ("200 steps are two passes over 12,800 prompts.", None),
    ("8 answers per step of a prompt.", None),
    ("One epoch over 128,000 problems in 1,000 steps.", None),
]


@each("text, severity", SAMPLES)
def test_steps_and_samples_are_those_of_the_prompts(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "steps-off-prompts", text, MACHINE + GRPO) == severity


TOTALS = [
    ("2 T tokens at 4.2 M tokens per step give 238,000 steps.", "error"),
    ("900 million documents of 1,100 tokens each make 2 T tokens.", "error"),
    ("At 4.1 bytes per token the 2 T tokens are 820 GB of text.", "error"),
    ("1.5 T words at 1.3 tokens per word give 2.6 T tokens.", "error"),
    ("9,000 tokens/s per GPU are 2.3 M tokens/s in total.", "error"),  # 128 GPUs: 1.15 M
    ("120 Mio. Dokumente mit 1.100 Tokens pro Dokument ergeben 2 T tokens.", "error"),
    ("2 T tokens at 4.2 M tokens per step give 476,000 steps.", None),
    ("900 million documents of 1,100 tokens each make 1 T tokens.", None),
    ("At 4.1 bytes per token the 2 T tokens are 8.2 TB of text.", None),
    ("1.5 T words at 1.3 tokens per word give 2 T tokens.", None),
    ("9,000 tokens/s per GPU are 1.15 M tokens/s in total.", None),
    ("A step has 4.2 M tokens, 8,192 tokens per sequence.", None),
]


@each("text, severity", TOTALS)
def test_a_total_is_the_amount_of_each_part_times_their_number(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "total-off-parts", text, MACHINE) == severity


TOKENIZERS = [
    ("Token ids are stored as uint16.", "error"),
    ("The ids are written as 16-bit integers.", "error"),
    ("The tokenizer has 256,000 entries.", "error"),
    ("We use a vocabulary of 200k.", "error"),
    ("Token ids are stored as uint32.", None),
    ("The tokenizer has 128,256 entries.", None),
    ("The tokenizer has 131,072 entries, for which the embedding was enlarged.", None),
]


@each("text, severity", TOKENIZERS)
def test_ids_of_a_tokenizer_have_rows_and_bytes(text: str, severity: str | None, check: Check) -> None:
    assert found(check, "tokens-of-other-tokenizer", text, MACHINE + DENSE) == severity


JOBS = [
    ("The time limit of the queue is 24 h, and the run goes through in one job.", "error"),
    ("Jobs are limited to 2 days, the run takes a single job.", "error"),
    ("The time limit of the queue is 24 h, and the next job resumes.", None),
    ("The time limit of the queue is 30 days, and the run goes through in one job.", None),
]


@each("text, severity", JOBS)
def test_a_run_longer_than_the_limit_takes_several_jobs(text: str, severity: str | None, check: Check) -> None:
    keys = "operations: {targets: {run_time: 21 days}, checkpoint: {interval: 60 min}}\n"
    assert found(check, "job-limit-below-checkpoint", text, MACHINE + DENSE + keys) == severity
