"""Every value that a step log gives, written by hand for each framework: its name, its unit, its median, its line."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from clusterspec.exchange.workloads.step_logs.step_runs import MOST_RUNS, SKIPPED
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

MEGATRON = (
    " iteration {0}/ 90 | elapsed time per iteration (ms): {1} | throughput per GPU (TFLOP/s/GPU): {2} | "
    "global batch size: {3} |"
)
TITAN = "step: {0}  loss: {3}  memory: 40.1GiB(50.5%)  tps: {1}  tflops: {2}  mfu: 30.5%"
MAXTEXT = "completed step: {0}, seconds: {1}, TFLOP/s/device: {2}, Tokens/s/device: {3}, loss: 10.1"
SIZES = (
    "using world size: 64, data-parallel size: 2, {sequence}context-parallel size: 4, "
    "tensor-model-parallel size: 8, pipeline-model-parallel size: {pp}\n"
)


def log(step: str, *rows: tuple[object, ...]) -> str:
    return "\n".join(step.format(number + 1, *row) for number, row in enumerate(rows)) + "\n"


def test_a_log_of_megatron_gives_seconds_and_rates_and_its_batch() -> None:
    reading = read(log(MEGATRON, *[(1500.0, 400.5, 128)] * 3))
    assert counts(reading) == {"step_seconds": 1.5, "tflops_per_accelerator": 400.5, "steps": 3}
    assert given(reading) == {"layout.framework": "megatron-core", "workload.global_batch": 128}
    said = "cluster and workload.model: the log does not state them: import the launch"
    assert said in unknown(reading)
    assert "layout: the log does not print the sizes of the groups: import the launch" in unknown(reading)


def test_a_log_of_torchtitan_gives_tokens_and_the_share_of_the_peak() -> None:
    reading = read(log(TITAN, *[("12,345", "1,050.25", 3.1 - n / 10) for n in range(3)]))
    assert counts(reading) == {
        "tokens_per_second_per_accelerator": 12_345,
        "tflops_per_accelerator": 1_050.25,
        "mfu_percent": 30.5,
        "steps": 3,
    }
    assert given(reading) == {"layout.framework": "torchtitan"}


def test_a_log_of_maxtext_gives_seconds_rates_and_tokens() -> None:
    reading = read(log(MAXTEXT, *[(2.25, 312.5, 5120.25)] * 3))
    assert counts(reading) == {
        "step_seconds": 2.25,
        "tflops_per_accelerator": 312.5,
        "tokens_per_second_per_accelerator": 5120.25,
        "steps": 3,
    }
    assert given(reading) == {"layout.framework": "maxtext"}


@each(
    ("seconds", "median"),
    [
        ([9.0], 9.0),
        ([9.0, 1.0], 5.0),
        ([9.0, 8.0, 1.0], 8.0),
        ([9.0, 8.0, 1.0, 3.0], 5.5),  # as many steps as twice those that are left out: all count
        ([9.0, 8.0, 1.0, 3.0, 4.0], 3.0),  # one more: 1, 3 and 4
        ([9.0, 8.0, 1.0, 3.0, 4.0, 6.0], 3.5),
    ],
)
def test_the_first_two_steps_are_left_out_where_more_than_as_many_again_follow(
    seconds: list[float], median: float
) -> None:
    assert SKIPPED == 2
    reading = read(log(MAXTEXT, *[(each, 300, 5000) for each in seconds]), "step-log")
    assert counts(reading)["step_seconds"] == median
    assert counts(reading)["steps"] == len(seconds)


def test_a_batch_that_grows_is_not_given_and_its_ends_are_told() -> None:
    reading = read(log(MEGATRON, *[(1500.0, 400, batch) for batch in (32, 64, 48)]))
    assert "workload.global_batch" not in given(reading)
    assert "workload.global_batch: it grows from 32 to 64 during the run" in unknown(reading)


@each(
    ("sequence", "told"), [("", False), ("sequence-parallel size: 1, ", False), ("sequence-parallel size: 4, ", True)]
)
def test_sizes_of_groups_are_degrees(sequence: str, told: bool) -> None:
    reading = read(SIZES.format(sequence=sequence, pp=16) + log(MEGATRON, (1500.0, 400, 128)))
    degrees = {"layout.tp": 8, "layout.cp": 4, "layout.pp": 16}
    assert given(reading) == {"layout.framework": "megatron-core", "workload.global_batch": 128, **degrees}
    assert {name: counts(reading)[name] for name in ("ranks", "data_parallel")} == {"ranks": 64, "data_parallel": 2}
    assert ("sequence-parallel size 4: DeepSpeed's own context parallelism" in unknown(reading)) is told


def test_sizes_of_several_runs_are_no_layout() -> None:
    sizes = SIZES.format(sequence="", pp=16) + SIZES.format(sequence="", pp=2)
    reading = read(sizes + log(MEGATRON, (1500.0, 400, 128)))
    assert "layout.tp" not in given(reading)
    assert "layout: 2 runs with groups of other sizes" in unknown(reading)
    (line,) = [one.at.line for one in reading.unknown if one.what == "layout"]
    assert line == 1


def test_steps_carry_the_line_of_the_first() -> None:
    reading = read("a line\nanother\n" + log(MAXTEXT, *[(2.25, 300, 5000)] * 2))
    assert {one.at.line for one in reading.given} == {one.at.line for one in reading.counts} == {3}


@each(
    ("losses", "runs"),
    [(["3.5", "3.5", "3.5"], 1), (["3.5", "3.4"], 2)],
)
def test_ranks_that_print_one_loss_for_a_step_are_one_run(losses: list[str], runs: int) -> None:
    text = "".join(TITAN.format(7, "5,000", 300, loss) + "\n" for loss in losses)
    if runs == 1:
        assert counts(read(text, "step-log"))["steps"] == 1
        return
    with pytest.raises(FormatError, match=r"2 runs, whose steps begin on lines 1 \(torchtitan, 1 step\), 2 "):
        read(text, "step-log")


def test_a_file_of_too_many_runs_is_refused() -> None:
    step = MAXTEXT.format(1, 2.0, 300, 5000)
    back = "\n".join(f"{step.replace('step: 1', f'step: {number}')}" for number in range(MOST_RUNS, 0, -1))
    with pytest.raises(FormatError, match="holds 1000 runs, whose steps begin on lines 1 "):
        read(back, "step-log")
    with pytest.raises(FormatError, match="holds more than 1,000 runs"):
        read(back + "\n" + step.replace("step: 1", "step: 0"), "step-log")


NEMO = "Training epoch 0, iteration {0}/99 | global_batch_size: 512 | global_step: {0} | train_step_timing in s: {1}\n"
BAR = (
    "Epoch 0: :  {0}%|##| {0}/99 [00:10<00:00, reduced_train_loss=0.1, global_step={0}.000, train_step_timing in s={1}]"
)


def test_steps_of_nemo_are_read_from_its_lines_and_from_its_progress_bar() -> None:
    times = [30.0, 9.0, 4.0, 4.0, 4.0, 6.0]
    reading = read("".join(NEMO.format(*each) for each in enumerate(times)))
    assert given(reading) == {"layout.framework": "nemo", "workload.global_batch": 512}
    assert (counts(reading)["step_seconds"], counts(reading)["steps"]) == (4.0, 6)
    partial = "".join(NEMO.format(*each).replace("512", "409.6") for each in enumerate(times))
    assert given(read(partial)) == {"layout.framework": "nemo"}, "a mean over steps of which one lacks the batch"
    drawn = "\r".join(BAR.format(*each) for number in enumerate(times) for each in (number, number))
    reading = read(drawn + "\n")
    assert given(reading) == {"layout.framework": "nemo"}
    assert (counts(reading)["step_seconds"], counts(reading)["steps"]) == (4.0, 6), "a bar drawn twice is one step"
    with pytest.raises(SeveralParts, match="holds 2 runs"):
        read(NEMO.format(0, 3.0) + NEMO.format(1, 3.0) + NEMO.format(0, 5.0))


SETTING = ':::MLLOG {{"namespace": "", "event_type": "POINT_IN_TIME", "key": "{0}", "value": {1}, "metadata": {{}}}}\n'
STATS = (
    ':::MLLOG {{"key": "tracked_stats", "value": {{"train_step_timing in s": {1}, "reduced_train_loss": 2.5}}, '
    '"metadata": {{"file": "a.py", "lineno": 1, "step": {0}}}}}\n'
)


def test_steps_of_nemo_in_a_log_of_mlperf_are_read_with_its_batch_and_its_sequence() -> None:
    times = [30.0, 9.0, 4.0, 4.0, 4.0, 6.0]
    settings = SETTING.format("global_batch_size", 2048) + SETTING.format("max_sequence_length", 8192)
    steps = "".join(STATS.format(2048 * number, time) for number, time in enumerate(times, 1))
    reading = read(settings + steps)
    stated = {"layout.framework": "nemo", "workload.global_batch": 2048, "workload.sequence_length": 8192}
    assert given(reading) == stated
    assert (counts(reading)["step_seconds"], counts(reading)["steps"]) == (4.0, 6)
    assert given(read(steps)) == {"layout.framework": "nemo"}


def test_a_progress_bar_writes_a_large_step_with_an_exponent() -> None:
    drawn = "\r".join(BAR.format(number, 3.0).replace(f"={number}.000", f"={number}e+3") for number in (1, 2, 3))
    assert counts(read(drawn + "\n"))["steps"] == 3


def test_the_start_of_a_log_of_megatron_states_its_groups_and_that_steps_are_missing() -> None:
    start = (
        "using world size: 16, data-parallel size: 2, context-parallel size: 1, "
        "hierarchical context-parallel sizes: None, tensor-model-parallel size: 4, pipeline-model-parallel size: 2\n"
        "[before the start of training step] datetime: 2026-11-25 09:00:00\n"
    )
    reading = read(start)
    stated = {"layout.framework": "megatron-core", "layout.tp": 4, "layout.cp": 1, "layout.pp": 2}
    assert given(reading) == stated
    assert counts(reading) == {"ranks": 16, "data_parallel": 2}
    assert "the time of a step: the log has no line `iteration N/ M |" in unknown(reading)
    launch = "torchrun pretrain_gpt.py --tensor-model-parallel-size 4 --micro-batch-size 8\n"
    assert given(read(launch + start))["layout.micro_batch"] == 8, "a launch states more than its log"


MESH = "Building device mesh with parallelism: pp={}, dp_replicate={}, dp_shard={}, cp={}, tp={}, ep={}{}\n"


@each(
    ("sizes", "layout", "ranks"),
    [
        ((2, 1, 8, 1, 4, 1, ""), {"pp": 2, "dp": 8, "cp": 1, "tp": 4, "ep": 1, "sharding": "fsdp"}, 64),
        ((1, 4, 8, 2, 1, 8, ", etp=1"), {"dp": 32, "cp": 2, "ep": 8, "expert_tp": 1, "shard_group": 16}, 64),
        ((8, 1, 1, 1, 1, 1, ", etp=1"), {"pp": 8, "dp": 1, "expert_tp": None, "sharding": "none"}, 8),
    ],
)
def test_a_log_of_torchtitan_states_its_groups_with_steps_and_without(
    sizes: tuple[object, ...], layout: dict[str, object], ranks: int
) -> None:
    begun = "[rank0]:[titan] - " + MESH.format(*sizes)
    for steps in ("", log(TITAN, ("12,345", 1, 3.0), ("12,345", 1, 2.9))):
        reading = read(begun + steps)
        assert counts(reading)["ranks"] == ranks
        assert {name: given(reading).get(f"layout.{name}") for name in layout} == layout
        assert ("the time of a step" in unknown(reading)) == (not steps)
        assert "does not print the sizes" not in unknown(reading)


def test_runs_with_other_groups_are_not_joined() -> None:
    runs = MESH.format(1, 1, 8, 1, 1, 1, "") + log(TITAN, ("10", 1, 3.0)) + MESH.format(1, 1, 4, 1, 2, 1, "")
    with pytest.raises(SeveralParts):
        read(runs + log(TITAN, ("20", 1, 2.0)))
    second = read(runs + log(TITAN, ("20", 1, 2.0)), part=2)
    assert (given(second)["layout.tp"], given(second)["layout.dp"]) == (2, 4)


def test_a_validation_is_no_step_of_training() -> None:
    steps = [TITAN.format(number, "1,000", 1, 3.0 - number / 10) for number in (1, 2, 3, 4, 5)]
    validation = "validate step: 3  loss:  9.9  memory: 10GiB(50%)  tps: 9,999"
    plain, validated = read("\n".join(steps)), read("\n".join([*steps[:3], validation, *steps[3:]]))
    assert counts(plain) == counts(validated)
    with pytest.raises(FormatError):
        read(validation)


@each(
    ("axes", "layout"),
    [
        ("['dp_shard', 'tp'], [4, 2]", {"pp": 1, "dp": 4, "tp": 2, "ep": None, "sharding": "fsdp"}),
        ("['pp', 'dp_shard_mod_ep', 'dp_shard_in_ep'], [2, 1, 8]", {"pp": 2, "dp": 8, "ep": None}),
        ("[], []", {"pp": 1, "dp": 1, "tp": 1, "sharding": "none"}),
    ],
)
def test_axes_that_an_earlier_torchtitan_does_not_print_are_one(axes: str, layout: dict[str, object]) -> None:
    reading = read(f"Building {axes.count(chr(39)) // 2}-D device mesh with {axes}\n" + log(TITAN, ("10", 1, 3.0)))
    assert {name: given(reading).get(f"layout.{name}") for name in layout} == layout


@each(("before", "seconds"), [(0, 2.25), (3_968, 2.25), (3_969, 2.2), (3_971, 2.0), (4_000, None)])
def test_the_first_four_thousand_characters_of_a_line_are_read(before: int, seconds: float | None) -> None:
    """`completed step: 1, seconds: 2.25` has 32 characters, of which the first 4,000 of the line hold all, all but one,
    or all but three.
    """
    step = "completed step: {0}, seconds: {1}"
    assert len(step.format(1, 2.25)) == 32
    text = log("x" * (before - 10) + " " * min(10, before) + step, (2.25,))
    if seconds is None:
        with pytest.raises(FormatError, match="has no step"):
            read(text, "step-log")
    else:
        assert counts(read(text, "step-log"))["step_seconds"] == seconds


def test_a_log_with_a_line_longer_than_others_gives_its_steps() -> None:
    first, second = log(MEGATRON, (2000.0, 90.5, 64), (4000.0, 90.5, 64)).splitlines()
    found = counts(read(f"{first}\nHOSTS={'a' * 70_000}\n{second}\n"))
    assert (found["step_seconds"], found["steps"]) == (3.0, 2)
