"""Logs of MLPerf training runs: the settings that ``:::MLLOG`` lines state, and the machine of ``:::SYSJSON``.

Seen in LambdaLabsML/Lambda-MLPerf-Training-v51 ff831082, results/b200_n1_ngc25.04_nemo (the program of the benchmark
logs ``lora_rank``, mlperf_common's callbacks the batch and the accumulation); read 2026-11-25.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, combined_result
from clusterspec.exchange.machines.submissions import read_mlperf_system
from clusterspec.logs.text_lines import lines_of
from clusterspec.records import replace

_KEY = re.compile(
    r":::MLLOG .{0,200}?\"key\": \"(global_batch_size|max_sequence_length|gradient_accumulation_steps|lora_rank)\", "
    r"\"value\": ([0-9]{1,9})\b"
)
_BENCHMARK = re.compile(r":::MLLOG .{0,200}?\"key\": \"submission_benchmark\", \"value\": \"([\w.-]{1,60})\"")
_MACHINE = re.compile(r"^[^\n]{0,40}?:::SYSJSON (\{[^\n]{2,20000}\})[ \t]*$", re.MULTILINE)
_SET = {"global_batch_size": "workload.global_batch", "max_sequence_length": "workload.sequence_length"}


def is_of_mlperf(text: str) -> bool:
    """Whether a text is the log of an MLPerf training run that states its batch."""
    return ":::MLLOG" in text and any(match[1] == "global_batch_size" for match in _KEY.finditer(text))


def with_machine(file: InputFile, found: ImportResult) -> ImportResult:
    """A reading of a log with the machine that its ``:::SYSJSON`` line describes, if it has one."""
    if ":::SYSJSON" not in file.text:
        return found
    lines = {match[1]: match.start(1) for match in _MACHINE.finditer(file.text)}
    if len(lines) != 1:
        return found
    ((described, at),) = lines.items()
    before = "\n" * (file.line_at(at) - 1)
    try:
        machine = read_mlperf_system(InputFile(file.name, (before + described).encode(), None))
    except FormatError:
        return found
    open_parts = tuple(each for each in found.unknown if each.what not in {_OPEN, "cluster"})
    model = ImportBuilder(found.kind, file.name)
    if found.value(("workload", "model")) is None:
        model.unknown("workload.model", "the log does not state it: import the launch")
    return combined_result([replace(found, unknown=open_parts), machine, model.reading()])


_OPEN = "cluster and workload.model"
_MODELS = {
    "gpt3": "gpt3-175b",
    "llama2_70b_lora": "llama-2-70b",
    "llama31_405b": "llama-3.1-405b",
    "llama31_8b": "llama-3.1-8b",
}
"""Models of the catalog by benchmark (mlcommons/training_results_v5.1, folders of benchmarks; mlcommons/logging at
053c5ba2, mlperf_logging/benchmark_meta.py).
"""


def settings_of_log(kind: str, file: InputFile) -> ImportResult:
    """The settings that the lines of a log without steps state."""
    builder = ImportBuilder(kind, file.name)
    stated: dict[str, tuple[int, int]] = {}
    several: set[str] = set()
    for number, line in enumerate(lines_of(file.unpainted), 1):
        if match := _KEY.search(line[:4_000]):
            value = int(match[2])
            if stated.setdefault(match[1], (value, number))[0] != value:
                several.add(match[1])
        elif not builder.counts and (named := _BENCHMARK.search(line[:4_000])):
            builder.count("benchmark", named[1], number)
    for name, (value, at) in stated.items():
        if name in several:
            builder.unknown(name, "stated otherwise on other lines: several runs", at)
        elif name in _SET:
            builder.set(_SET[name], value, at)
        elif name == "lora_rank":
            builder.set("workload.trainable.method", "lora", at)
            builder.set("workload.trainable.rank", value, at)
        else:
            builder.count(name, value, at)
    builder.unknown("the time of a step", "the log has no line that states it")
    benchmark = next((each for each in builder.counts if each.name == "benchmark"), None)
    model = _MODELS.get(str(benchmark.value)) if benchmark else None
    builder.set("workload.model", model, benchmark.at.line if benchmark else 0)
    why = "the log does not state it: import the launch"
    builder.unknown(*(("cluster", why) if model else (_OPEN, why.replace("it:", "them:"))))
    return with_machine(file, builder.reading())
