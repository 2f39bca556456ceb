"""Results of AccelMark (``result.json``): the machine, the engine with its degrees, and the figures of each load.

Fields: FreedomIntelligence/AccelMark 5797fc42, schema/result.schema.json and loadgen/loadgen.py: ``online`` sends
requests as a Poisson process (lines 729 to 745), ``interactive`` one after the other (line 1092), and
``throughput_tokens_per_sec`` counts generated tokens (line 584), as ``_throughput_note`` says; earlier results without
the note may count prompts as well. A suite of several precisions or counts has a folder of results for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import (
    TITLE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.links import set_product
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.keys import Keys, flat_leaves, positive_integer_of
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.records import dataclass
from clusterspec.source import Key, mapping_of
from clusterspec.units import plural

ACCELMARK = "accelmark"
_MARKS = ('"suite_id"', '"implementation_id"', '"chip"', '"metrics"')
_PRECISIONS = {"BF16": "bf16", "FP16": "fp16", "FP32": "fp32", "FP8": "fp8", "W8A16": "int8", "W4A16": "int4"}
"""Names of precisions whose weights have one width and type; W8A8 means integers or fp8."""
_ENGINES = {"vllm": "vllm", "sglang": "sglang"}
_DEGREES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
_OPTIONS = ("enforce_eager", "max_num_seqs", "gpu_memory_utilization", "max_num_batched_tokens", "kv_cache_dtype")
_TIMES = ("ttft", "tpot")


@dataclass(frozen=True)
class _Run:
    """One load: its scenario, the value that its rows vary, and its figures."""

    scenario: str
    load: float | None
    figures: Mapping[str, Any]
    path: tuple[Key, ...]

    @property
    def shown(self) -> str:
        if self.load is None:
            return self.scenario
        return f"{self.scenario} {self.load:g}{' requests/s' if self.scenario == 'online' else ' in flight'}"


def matches_accelmark(file: InputFile) -> bool:
    return file.text.lstrip()[:1] == "{" and all(mark in file.text for mark in _MARKS)


def read_accelmark(file: InputFile) -> ImportResult:
    """The machine, the layout and the load of one run. Raises `FormatError` if the file has no measured load,
    `SeveralParts` for several loads.
    """
    yaml = read_yaml(file)
    result = yaml.mapping
    if not isinstance(result.get("metrics"), dict):
        raise FormatError("is no result of AccelMark: it has no metrics")
    runs = list(_runs(result["metrics"]))
    if not runs:
        raise FormatError("has no run of its own (offline, online, interactive): import the result.json of one folder")
    shown = ", ".join(run.shown for run in runs[:12])
    run = chosen_part(runs, file.part, plural(len(runs), "run"), f"holds {len(runs)} runs ({shown})")
    builder = ImportBuilder(ACCELMARK, file.name)
    _set_machine(result, file, builder)
    _set_engine(result, file, builder)
    _set_load(run, yaml, builder)
    return builder.reading()


def _runs(metrics: Mapping[str, Any]) -> Iterator[_Run]:
    for scenario, rows, name in (
        ("offline", "results_by_concurrency", "client_concurrency"),
        ("online", "results_by_qps", "target_qps"),
    ):
        held = mapping_of(metrics.get(scenario)).get(rows)
        for at, row in enumerate(held if isinstance(held, list) else []):
            if isinstance(row, dict) and (load := _number_of_row(row.get(name))) is not None:
                yield _Run(scenario, load, row, ("metrics", scenario, rows, at))
    if figures := mapping_of(metrics.get("interactive")):
        yield _Run("interactive", None, figures, ("metrics", "interactive"))


def _set_machine(result: Mapping[str, Any], file: InputFile, builder: ImportBuilder) -> None:
    chip = mapping_of(result.get("chip"))
    if isinstance(name := chip.get("name"), str) and name:
        set_product(excerpt(name, TITLE), builder, file.line_of_key("chip"))
    builder.count("accelerators", positive_integer_of(chip.get("count")), file.line_of_key("count"))
    for key in ("interconnect_intra_node", "interconnect_inter_node"):
        if isinstance(link := chip.get(key), str):
            builder.unknown(f"{key}: {excerpt(link)}", "a text: state the links of the machine", file.line_of_key(key))


def _set_engine(result: Mapping[str, Any], file: InputFile, builder: ImportBuilder) -> None:
    """Set the model, its precision, the engine and the degrees."""
    model, software = mapping_of(result.get("model")), mapping_of(result.get("software"))
    builder.set("workload.kind", "serve", file.line_of_key("scenario") or file.line_of_key("task"))
    at = file.line_of_key("model_name") if model.get("model_name") else file.line_of_key("model_id")
    named = model.get("model_name") or model.get("model_id")
    found = set_served_model(str(named or ""), builder, at, quantized=True)
    precision, line = str(model.get("precision")), file.line_of_key("precision")
    if precision in _PRECISIONS:
        builder.set("workload.parameter_precision", _PRECISIONS[precision], line)
    else:
        builder.unknown(f"precision: {excerpt(precision)}", "no single type of weights", line)
    task = mapping_of(result.get("task"))
    degrees = mapping_of(task.get("parallelism"))
    keys = Keys()
    for name in _DEGREES:
        if positive_integer_of(degrees.get(name)):
            keys.put(name, degrees[name], file.line_of_key(name))
    for path, value, _ in flat_leaves(mapping_of(task.get("extra_config")), lambda *_: 0):
        if (name := path.rpartition(".")[2]) in _OPTIONS and value is not None:
            keys.put(name, value, file.line_of_key(name))
    if (positive_integer_of(degrees.get("expert_parallel_size")) or 1) > 1:
        builder.unknown(
            "expert_parallel_size", "of which ranks is not stated", file.line_of_key("expert_parallel_size")
        )
    kind, at = str(software.get("framework")), file.line_of_key("framework")
    engine = _ENGINES.get(kind.lower())
    builder.set("layout.framework", engine, at)
    if engine is None:
        builder.unknown(
            f"framework {excerpt(kind)}", "no framework of the catalog: options are read as options of vLLM", at
        )
    set_engine_options(engine or "vllm", keys, found, builder)


def _set_load(run: _Run, yaml: Yaml, builder: ImportBuilder) -> None:
    """Set how requests arrive, and count the figures."""

    def integer_at(name: str) -> int:
        return yaml.line(*run.path, name)

    line = yaml.line(*run.path)
    if run.scenario == "online" and run.load:
        builder.set("workload.serving.load", "open", line)
        builder.set("workload.serving.request_rate", run.load, integer_at("target_qps"))
    elif run.scenario == "interactive":
        builder.set("workload.serving.load", "closed", line)
        builder.set("workload.serving.concurrency", 1, line)
    else:
        why = "requests are given to the engine in groups, which is no load of a spec"
        builder.unknown(f"client_concurrency: {run.load:g}", why, integer_at("client_concurrency"))
    why = "the suite's data set has the lengths of prompts and answers: state workload.serving"
    builder.unknown("workload.serving.input_tokens, output_tokens", why, yaml.line("suite_id"))
    if run.figures.get("oom") is True:
        builder.unknown("oom", "the run ended without enough memory: it has no figures", integer_at("oom"))
    rate = _number_of_row(run.figures.get("throughput_tokens_per_sec"))
    if rate is not None and run.figures.get("_throughput_note") == "output_only":
        builder.count("output_tokens_per_second", rate, integer_at("throughput_tokens_per_sec"))
    elif rate is not None:
        why = "with or without the tokens of prompts"
        builder.unknown(f"throughput_tokens_per_sec: {rate:g}", why, integer_at("throughput_tokens_per_sec"))
    for name in _TIMES:
        for statistic in ("p50", "p90", "p99"):
            stated = f"{name}_ms_{statistic}"
            if (value := _number_of_row(run.figures.get(stated))) is not None:
                builder.count(f"{statistic}_{name}_seconds", float(f"{value / 1e3:.6g}"), integer_at(stated))


def _number_of_row(value: Any) -> float | None:
    """A finite number that is not negative."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and 0 <= value < float("inf") else None
