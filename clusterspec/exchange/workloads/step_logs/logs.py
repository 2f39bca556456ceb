"""Step logs of Megatron-LM, NeMo, torchtitan and MaxText: the time of a step, and the other measurements of its line.

Formats: Megatron-LM 0.20, megatron/training/training.py, ``training_log``, and megatron/training/arguments.py, line 567
(sizes of the groups); Megatron-DeepSpeed, megatron/training.py, line 1045 (it also prints tokens); torchtitan b5bcd76c,
torchtitan/components/metrics.py (tokens per second of a device); MaxText e591f30c,
src/maxtext/common/metric_logger.py, line 181; NeMo 8cfedd72,
nemo/lightning/pytorch/callbacks/progress_printer.py (means over its interval), and the progress bar of PyTorch
Lightning with the metrics of nemo/utils/exp_manager.py, lines 346 and 456; read 2026-11-25. ``bridge_logs`` has those
of Megatron-Bridge.
"""

from __future__ import annotations

import re
from math import prod
from statistics import median

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    combined_result,
)
from clusterspec.exchange.workloads.megatron import bridge_logs
from clusterspec.exchange.workloads.megatron.listing import printed_arguments, reading_of_arguments
from clusterspec.exchange.workloads.step_logs.mlperf_logs import is_of_mlperf, settings_of_log, with_machine
from clusterspec.exchange.workloads.step_logs.step_lines import step_program
from clusterspec.exchange.workloads.step_logs.step_runs import SKIPPED, RunLogs, StepLog, seconds_between, time_stamp
from clusterspec.logs.statements.required_words import first_match
from clusterspec.standard import DECIMAL
from clusterspec.units import plural

STEP_LOG = "step-log"
_MEGATRON = re.compile(
    r"\biteration\s+([0-9]{1,9})\s*/\s*[0-9]{1,9}\s*\|.{0,200}?elapsed time per iteration \(ms\):\s*" + DECIMAL
)
_MEGATRON_SIZES = re.compile(
    r"using world size: ([0-9]{1,7}), data-parallel[- ]size: ([0-9]{1,7}), "
    r"(?:sequence-parallel size: ([0-9]{1,7}), )?(?:context-parallel size: ([0-9]{1,7}), )?.{0,120}?"
    r"tensor-model-parallel size: ([0-9]{1,7}), .{0,120}?pipeline-model-parallel size: ([0-9]{1,7})"
)
_MEGATRON_GROUP = re.compile(r"> initialized (tensor|pipeline) model parallel with size ([0-9]{1,7})\b")
"""Printed once the groups exist (initialize.py, ``_initialize_distributed``)."""
_MEGATRON_BATCH = re.compile(r"global batch size:\s*([0-9]{1,9})\b")
_MEGATRON_FLOPS = re.compile(r"throughput per GPU \(TFLOP/s/GPU\):\s*" + DECIMAL)
_TITAN = re.compile(r"(?<!validate )\bstep:\s*([0-9]{1,9})\s.{0,300}?\btps:\s*([0-9][0-9,]{0,13}(?:\.[0-9]{1,3})?)")
"""A step of training; ``validate step:`` has the tokens per second of a validation (metrics.py, line 571)."""
_TITAN_MESH = re.compile(
    r"Building device mesh with parallelism: pp=([0-9]{1,7}), dp_replicate=([0-9]{1,7}), dp_shard=([0-9]{1,7}), "
    r"cp=([0-9]{1,7}), tp=([0-9]{1,7})(?:, ep=([0-9]{1,7}))?(?:, etp=([0-9]{1,7}))?"
)
"""The degrees of all groups: torchtitan b5bcd76c, torchtitan/distributed/parallel_dims.py, line 275; ``etp`` in
release 0.2.2.
"""
_TITAN_AXES = re.compile(
    r"Building [0-9]-D device mesh with \[((?:'[a-z_]{1,20}'(?:, )?){0,8})\], \[((?:[0-9]{1,7}(?:, )?){0,8})\]"
)
"""The axes above 1 of release 0.2.0, parallel_dims.py, lines 107 and 158; the parts of ``dp_shard`` with experts
multiply to it.
"""
_TITAN_FLOPS = re.compile(r"\btflops:\s*([0-9][0-9,]{0,9}(?:\.[0-9]{1,3})?)")
_TITAN_LOSS = re.compile(r"\bloss:\s*([0-9.e+-]{1,14})")
_DEEPSPEED = re.compile(
    r"DeepSpeed info: version|\[INFO\] \[(?:engine|module)\.py:[0-9]|^\s*deepspeed_config \.{2,80} \S*\.json"
)
"""Lines that DeepSpeed prints at startup, or that Megatron-DeepSpeed prints of its configuration."""
_TITAN_MFU = re.compile(r"\bmfu:\s*" + DECIMAL + r"%")
_MAXTEXT = re.compile(r"\bcompleted step:\s*([0-9]{1,9}),\s*seconds:\s*" + DECIMAL)
_MAXTEXT_FLOPS = re.compile(r"TFLOP/s/device:\s*" + DECIMAL)
_MAXTEXT_TOKENS = re.compile(r"Tokens/s/device:\s*" + DECIMAL)
_NEMO = re.compile(
    r"\bglobal_step[:=]\s{0,4}([0-9]{1,9}(?:\.[0-9]{1,4})?(?:e\+?[0-9]{1,2})?)(?![.\w])[^\r\n]{0,600}?"
    r"\btrain_step_timing in s[:=]\s{0,4}" + DECIMAL
)
_NEMO_MLPERF = re.compile(
    r"\"key\": \"tracked_stats\"[^\r\n]{0,200}?\"train_step_timing in s\": "
    + DECIMAL
    + r"[^\r\n]{0,400}?\"step\": ([0-9]{1,15})"
)
"""A step in the log of an MLPerf submission with NeMo, whose number counts samples: mlcommons/training_results_v4.1
b87b9e39, Dell/benchmarks/gpt3/implementations/nemo/custom_callbacks.py, lines 485 to 495; read 2026-11-25.
"""
_MLPERF_KEY = re.compile(r"\"key\": \"(global_batch_size|max_sequence_length)\", \"value\": ([0-9]{1,9})\b")
_NEMO_BATCH = re.compile(r"\bglobal_batch_size[:=]\s{0,4}([0-9]{1,9})(?:\.0{1,4})?(?![.\w])")
"""The batch. The printer divides a sum by its interval, so the quotient is not a batch if a step lacks the metric."""
_MARKS = ("train_step_timing in s", "elapsed time per iteration (ms):", "tps:", "completed step:")
"""Texts: every step line of these programs contains one of them."""
_COLORS = re.compile(r"\x1b\[[0-9;]{0,12}m")


_NOT_READ = (
    "has steps of verl that combine rollout and training; they are not read: import its launch with "
    "`import verl`, and compare `timing_s/step` with the step of `estimate`"
)


def _is_of_verl(file: InputFile) -> bool:
    return step_program(file.text) == "verl"


def matches_step_log(file: InputFile) -> bool:
    if _is_of_verl(file):
        return True  # for its message
    marks = [mark for mark in _MARKS if mark in file.text]
    lines = (line[:4_000] for line in file.text.split("\n") if any(mark in line for mark in marks)) if marks else ()
    lines = (line for line in lines if not _is_comment(line))
    return any(
        pattern.search(_COLORS.sub("", line))
        for line in lines
        for pattern in (_MEGATRON, _TITAN, _MAXTEXT, _NEMO, _NEMO_MLPERF)
    ) or (_begins_run(file.text) or is_of_mlperf(file.text) or bridge_logs.is_log(file.text))


_OPTION = re.compile(r"--(?:tensor-model-parallel-size|num-layers|micro-batch-size)\b")


def _begins_run(text: str) -> bool:
    """Whether a text is the start of a log of Megatron-LM or torchtitan, and holds no launch, which states more."""
    plain = _COLORS.sub("", text)
    begun = _MEGATRON_SIZES.search(text) or _TITAN_MESH.search(plain) or _TITAN_AXES.search(plain)
    return bool(begun) and not _OPTION.search(text)


def _is_comment(line: str) -> bool:
    """Whether a line is a comment of a script that quotes a log; no framework prints it."""
    return line.lstrip().startswith("#")


def read_step_log(file: InputFile) -> ImportResult:
    """The medians of a run after its first steps.

    A step number lower than the one before begins another run. Raises `FormatError` if there are no steps, or several
    runs and no choice of one.
    """
    runs = RunLogs(numbered=first_match(_MEGATRON, file.plain) is not None)
    for number, raw in enumerate(file.text.split("\n"), 1):
        for part in raw.split("\r"):  # a progress bar writes over its line
            line = part[:4_000]
            _read_line(_COLORS.sub("", line) if "\x1b" in line else line, number, runs)
    found = [log for log in runs.logs if log.figures]
    if not found and (runs.sizes or runs.meshes) and not _is_of_verl(file):
        return _run_without_steps(runs, file)
    if not found and is_of_mlperf(file.text):
        return settings_of_log(STEP_LOG, file)
    if not found:
        raise FormatError(_NOT_READ if _is_of_verl(file) else "has no step of Megatron-LM, NeMo, torchtitan or MaxText")
    log, builder = _chosen_run(found, file.part), ImportBuilder(STEP_LOG, file.name)
    builder.set("layout.framework", log.framework, log.line)
    configured = bridge_logs.printed_configuration(file) if log.framework == "megatron-core" else None
    keys = printed_arguments(file) if log.framework.startswith("megatron") and not configured else configured
    _record_sizes(log, builder, of_all=keys is not None)
    for name, values in log.figures.items():
        steady = values[SKIPPED:] if len(values) > 2 * SKIPPED else values
        builder.count(name, float(f"{median(steady):.6g}"), log.line)
    builder.count("steps", _step_count(log), log.line)
    _set_step_time(log, builder)
    if len(log.batches) == 1:
        builder.set("workload.global_batch", log.batches.pop(), log.line)
    elif log.batches:
        shown = f"from {min(log.batches)} to {max(log.batches)}"
        builder.unknown("workload.global_batch", f"it grows {shown} during the run", log.line)
    if log.sequence is not None:
        builder.set("workload.sequence_length", *log.sequence)
    if configured:
        bridge_logs.list_unprinted(builder, configured.line("num_layers"))
    what = "cluster" if keys else "cluster and workload.model"
    builder.unknown(what, f"the log does not state {'it' if keys else 'them'}: import the launch", log.line)
    stated = [reading_of_arguments(keys, file, STEP_LOG, log.framework)] if keys else []
    return with_machine(file, combined_result([builder.reading(), *stated]))


def _set_step_time(log: StepLog, builder: ImportBuilder) -> None:
    """Set the time of a step as measured, unless time stamps show that it is not the time of a step."""
    seconds = builder.reading().number("step_seconds")
    if not isinstance(seconds, int | float) or seconds <= 0:
        return
    apart = seconds_between(log)
    if apart is not None:
        why = f"more than the {apart:.4g} s of a step by the time stamps of the lines: means since the start, or others"
        builder.unknown(f"step_seconds: {seconds:.6g}", why, log.line)
    else:
        builder.append("measured", {"step_time": f"{seconds:.6g} s"}, log.line)


def _run_without_steps(runs: RunLogs, file: InputFile) -> ImportResult:
    """The groups and arguments that the start of a log of Megatron-LM or torchtitan prints, where no step follows."""
    line = min((runs.sizes or runs.meshes).values())
    named = "megatron-deepspeed" if runs.deepspeed else "megatron-core"
    log = StepLog(named if runs.sizes else "torchtitan", sizes=runs.sizes, meshes=runs.meshes, line=line)
    builder, keys = ImportBuilder(STEP_LOG, file.name), printed_arguments(file) if runs.sizes else None
    builder.set("layout.framework", log.framework, line)
    _record_sizes(log, builder, of_all=keys is not None)
    why = "the log has no line `iteration N/ M | … elapsed time per iteration (ms)`, printed each --log-interval steps"
    if not runs.sizes:
        why = "the log has no line `step: N … tps: …` of a training step"
    builder.unknown("the time of a step", why, line)
    stated = [reading_of_arguments(keys, file, STEP_LOG, log.framework)] if keys else []
    return combined_result([builder.reading(), *stated])


def _chosen_run(found: list[StepLog], part: int | None) -> StepLog:
    places = ", ".join(f"{log.line} ({log.framework}, {plural(_step_count(log), 'step')})" for log in found[:12])
    choices = f"holds {len(found)} runs, whose steps begin on lines {places}"
    return chosen_part(found, part, plural(len(found), "run"), choices)


def _step_count(log: StepLog) -> int:
    return len(log.steps)


def _record_sizes(log: StepLog, builder: ImportBuilder, *, of_all: bool = False) -> None:
    """Record the group sizes that the program prints at startup, if the log states them once. ``of_all`` degrees the
    log prints elsewhere.
    """
    if log.meshes:
        _record_mesh(log, builder)
    elif len(log.sizes) > 1:
        builder.unknown("layout", f"{len(log.sizes)} runs with groups of other sizes", min(log.sizes.values()))
    elif log.sizes:
        (ranks, dp, sequence, cp, tp, pp), line = next(iter(log.sizes.items()))
        builder.count("ranks", int(ranks or 0), line)
        builder.count("data_parallel", int(dp or 0), line)
        for key, size in (("tp", tp), ("cp", cp), ("pp", pp)):
            if size is not None:
                builder.set(f"layout.{key}", int(size), line)
        if sequence not in {None, "1"}:
            builder.unknown(f"sequence-parallel size {sequence}", "DeepSpeed's own context parallelism", line)
    elif log.groups:
        _record_groups(log, builder, of_all=of_all)
    elif not of_all:
        builder.unknown("layout", "the log does not print the sizes of the groups: import the launch", log.line)


def _record_mesh(log: StepLog, builder: ImportBuilder) -> None:
    """Record the degrees of torchtitan's device mesh; the data degrees either replicate or divide the states."""
    if len(log.meshes) > 1:
        builder.unknown("layout", f"{len(log.meshes)} runs with groups of other sizes", min(log.meshes.values()))
        return
    sizes, line = next(iter(log.meshes.items()))
    pp, copies, shard, cp, tp, ep, expert_tp = (int(size or 0) for size in sizes)
    builder.count("ranks", pp * copies * shard * cp * tp, line)
    degrees = {"pp": pp, "cp": cp, "tp": tp, "ep": ep, "dp": copies * shard, "expert_tp": expert_tp if ep > 1 else 0}
    for key, size in degrees.items():
        builder.set(f"layout.{key}", size or None, line)
    if shard == cp == 1:  # states are divided over data and context
        builder.set("layout.sharding", "none", line)
    elif copies == 1:
        builder.set("layout.sharding", "fsdp", line)
    else:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", shard * cp, line)


def _record_groups(log: StepLog, builder: ImportBuilder, *, of_all: bool) -> None:
    """Record the tensor and pipeline groups; Megatron prints one line for each."""
    for name, key in (("tensor", "tp"), ("pipeline", "pp")):
        found = [(size, line) for (kind, size), line in log.groups.items() if kind == name]
        if len(found) == 1:
            builder.set(f"layout.{key}", *found[0])
        elif found:
            builder.unknown(f"layout.{key}", f"{len(found)} runs with groups of other sizes", found[0][1])
    if not of_all:
        builder.unknown("other degrees", "the log prints tensor and pipeline groups only: import the launch", log.line)


def _split(listed: str) -> list[str]:
    return [each.strip() for each in listed.split(",") if each.strip()]


def _read_groups(line: str, number: int, runs: RunLogs) -> bool:
    """Whether a line states groups of Megatron or torchtitan; its sizes wait for the next step."""
    if match := _MEGATRON_SIZES.search(line):
        runs.sizes.setdefault(match.groups(), number)
    elif match := _MEGATRON_GROUP.search(line):
        runs.groups.setdefault((match[1], int(match[2])), number)
    elif match := _TITAN_MESH.search(line):
        runs.meshes.setdefault(match.groups(), number)
    elif match := _TITAN_AXES.search(line):
        sizes = [(name.strip("'"), int(size)) for name, size in zip(_split(match[1]), _split(match[2]), strict=False)]
        axes = ("pp", "dp_replicate", "dp_shard", "cp", "tp")
        products = tuple(str(prod(size for name, size in sizes if name.startswith(axis))) for axis in axes)
        runs.meshes.setdefault((*products, None, None), number)
    return bool(match)


def _read_line(line: str, number: int, runs: RunLogs) -> None:
    if _is_comment(line) or _is_megatron_step(line, number, runs):
        return
    if _is_nemo_step(line, number, runs) or _is_of_mlperf(line, number, runs):
        return
    if not runs.deepspeed and _DEEPSPEED.search(line):
        runs.deepspeed = True
    if _read_groups(line, number, runs):
        return
    if match := _TITAN.search(line):
        loss = _TITAN_LOSS.search(line)
        log = runs.run_of_step("torchtitan", int(match[1]), number, loss[1] if loss else None)
        log.add("tokens_per_second_per_accelerator", match[2])
        if flops := _TITAN_FLOPS.search(line):
            log.add("tflops_per_accelerator", flops[1])
        if share := _TITAN_MFU.search(line):
            log.add("mfu_percent", share[1])
    elif not runs.numbered and bridge_logs.STEP_MARK in line and (match := bridge_logs.STEP.search(line)):
        began, step = runs.counted
        runs.counted = (began, step + 1)
        log = runs.run_of_step("megatron-core", step + 1, number, str(began))
        log.add("step_seconds", match[1])
        log.add("tflops_per_accelerator", match[2])
    elif match := bridge_logs.BEGUN.search(line):
        runs.counted = (runs.counted[0] + 1, int(match[1]))
    elif match := _MAXTEXT.search(line):
        log = runs.run_of_step("maxtext", int(match[1]), number)
        log.add("step_seconds", match[2])
        for name, pattern in (
            ("tflops_per_accelerator", _MAXTEXT_FLOPS),
            ("tokens_per_second_per_accelerator", _MAXTEXT_TOKENS),
        ):
            if found := pattern.search(line):
                log.add(name, found[1])


def _is_megatron_step(line: str, number: int, runs: RunLogs) -> bool:
    """Whether a line is a step of Megatron, which it adds."""
    if "elapsed time per iteration (ms):" not in line or not (match := _MEGATRON.search(line)):
        return False
    name = "megatron-deepspeed" if runs.deepspeed or "| consumed tokens:" in line else "megatron-core"
    log = runs.run_of_step(name, int(match[1]), number)
    seconds = float(match[2]) / 1e3
    log.figures.setdefault("step_seconds", []).append(seconds)
    log.stamps.append((int(match[1]), time_stamp(line), seconds))
    if flops := _MEGATRON_FLOPS.search(line):
        log.add("tflops_per_accelerator", flops[1])
    if batch := _MEGATRON_BATCH.search(line):
        log.batches.add(int(batch[1]))
    return True


def _is_nemo_step(line: str, number: int, runs: RunLogs) -> bool:
    """Whether a line is a step of NeMo, which it adds. A progress bar drawn again repeats a step, which counts once."""
    if "train_step_timing in s" not in line or not (match := _NEMO.search(line)):
        return False
    step = int(float(match[1]))
    before = next((log for log in reversed(runs.logs) if log.framework == "nemo"), None)
    if before is not None and before.last == step:
        return True
    log = runs.run_of_step("nemo", step, number)
    log.add("step_seconds", match[2])
    if batch := _NEMO_BATCH.search(line):
        log.batches.add(int(batch[1]))
    return True


def _is_of_mlperf(line: str, number: int, runs: RunLogs) -> bool:
    """Whether a line belongs to an MLPerf log: a NeMo step, which is added, or a setting of the run, which is kept."""
    if ":::MLLOG" not in line:
        return False
    if setting := _MLPERF_KEY.search(line):
        runs.settings[setting[1]] = (int(setting[2]), number)
    elif match := _NEMO_MLPERF.search(line):
        log = runs.run_of_step("nemo", int(match[2]), number)
        log.add("step_seconds", match[1])
        if batch := runs.settings.get("global_batch_size"):
            log.batches.add(batch[0])
        if length := runs.settings.get("max_sequence_length"):
            log.sequence = length
    return True
