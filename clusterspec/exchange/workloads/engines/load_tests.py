"""Results of load tests of serving: JSON and printed results of ``vllm bench serve`` and ``sglang.bench_serving``,
JSON, CSV and printed results of GenAI-Perf and AIPerf.

Fields: vllm-project/vllm def9ce85, vllm/benchmarks/serve.py; sgl-project/sglang 50a61368,
python/sglang/bench_serving.py. Times are milliseconds, throughput is tokens or requests per second of all servers.
The client records neither the engine behind its endpoint nor the engine's layout, unless it asks a server of SGLang.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    Value,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.workloads.engines.genai_perf import (
    figures_of_metrics,
    has_printed_table,
    is_genai_perf,
    is_genai_perf_table,
    metrics_of_printed_tables,
    metrics_of_table,
)
from clusterspec.exchange.workloads.engines.tested_servers import server_of, set_server
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.logs.text_lines import lines_of
from clusterspec.records import dataclass
from clusterspec.units import plural

LOAD_TEST = "load-test"
MOST_RUNS = 10_000
_HEADING = "Serving Benchmark Result"
_LABELS = {
    "Successful requests": "completed",
    "Failed requests": "failed",
    "Maximum request concurrency": "max_concurrency",
    "Max request concurrency": "max_concurrency",
    "Request rate configured (RPS)": "request_rate",
    "Traffic request rate": "request_rate",
    "Burstiness factor": "burstiness",
    "Benchmark duration (s)": "duration",
    "Total input tokens": "total_input_tokens",
    "Total generated tokens": "total_output_tokens",
    "Request throughput (req/s)": "request_throughput",
    "Output token throughput (tok/s)": "output_throughput",
}
"""Labels of the printed results, and the names of the same figures in JSON."""
_TOTALS = {"total_input_tokens", "total_output_tokens"}
_STATISTICS = {"Mean": "mean", "Median": "median", "P50": "p50", "P90": "p90", "P95": "p95", "P99": "p99"}
_LATENCIES = {"TTFT": "ttft", "TPOT": "tpot", "ITL": "itl", "E2EL": "e2el", "E2E Latency": "e2e_latency"}
_LABEL = re.compile(r"[ \t#>|]*([A-Za-z][A-Za-z0-9 ./()-]{1,60}?):\s+(\S+)")
_LATENCY = re.compile(r"(Mean|Median|P50|P90|P95|P99) (TTFT|TPOT|ITL|E2EL|E2E Latency) \(ms\)")
_MODEL = re.compile(r"Namespace\(.{0,4000}?\bmodel='([^']{1,200})'")
_SHOWN = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "end_to_end", "e2e_latency": "end_to_end"}


_INSTANT = 1e-3
"""Share of a run in which requests are sent at once, as far as its load goes."""


@dataclass(frozen=True)
class LoadTest:
    """One run: its figures by JSON name, and the line where the run begins."""

    figures: Mapping[str, Any]
    line: int

    def number(self, name: str) -> float | None:
        """A finite number that is not negative; None if it is absent or another value."""
        value = self.figures.get(name)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,20})?", value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if math.isfinite(value) and value >= 0 else None

    @property
    def has_figures(self) -> bool:
        return self.number("duration") is not None or self.number("request_throughput") is not None

    @property
    def without_rate(self) -> bool:
        """Whether only the number in flight limits how fast requests are sent: there is no rate, or it sends all of
        them in less than a thousandth of the run.
        """
        rate, offered, duration = (self.number(name) for name in ("request_rate", "num_prompts", "duration"))
        at_once = bool(rate and offered and duration and offered / rate < duration * _INSTANT)
        return at_once or str(self.figures.get("request_rate")).lower() in {"inf", "infinity"}


def matches_load_test(file: InputFile) -> bool:
    text = file.text
    if _HEADING in text or is_genai_perf_table(text) or has_printed_table(text):
        return True
    return text.lstrip()[:1] in "{[" and any(
        all(f'"{name}"' in text for name in names)
        for names in (
            ("total_input_tokens", "total_output_tokens", "output_throughput", "duration"),
            ("request_throughput", "output_sequence_length", "request_latency"),
        )
    )


def read_load_test(file: InputFile) -> ImportResult:
    """The load and the figures of one run. Raises `FormatError` for none, `SeveralParts` for several runs."""
    found: Iterator[LoadTest]
    if file.text.lstrip()[:1] in "{[":
        found = _json_runs(file)
    elif is_genai_perf_table(file.text):
        found = iter([LoadTest(figures_of_metrics(metrics_of_table(file.text)), 1)])
    elif _HEADING in file.text:
        found = _printed_runs(file)
    else:
        tables = metrics_of_printed_tables(lines_of(file.unpainted))
        found = (LoadTest(figures_of_metrics(each), line) for each, line in tables)
    with_figures = (run for run in found if run.has_figures)  # a page may show the form without figures
    runs = list(islice(with_figures, MOST_RUNS + 1))
    _refuse_many(len(runs))
    if not runs:
        raise FormatError("holds no result of a load test with its numbers of requests and tokens")
    shown = "; ".join(_description_text(run) for run in runs[:12]) + ("; …" if len(runs) > 12 else "")
    run = chosen_part(runs, file.part, plural(len(runs), "run"), f"holds {len(runs)} runs ({shown})")
    builder = ImportBuilder(LOAD_TEST, file.name)
    _record_run(run, builder)
    return builder.reading()


def _description_text(run: LoadTest) -> str:
    limit, rate = run.number("max_concurrency"), run.number("request_rate")
    load = [f"{rate:g} requests/s"] if rate else []
    load += [f"at most {limit:g} in flight"] if limit else []
    return f"line {run.line}: {', '.join(load) or 'all at once'}"


def _refuse_many(runs: int) -> None:
    if runs > MOST_RUNS:
        raise FormatError(f"holds more than {MOST_RUNS:,} runs")


def _json_runs(file: InputFile) -> Iterator[LoadTest]:
    """The runs of a JSON object, a list of them, or lines of one object each. Infinity is a number of Python's JSON."""
    file.refuse_oversized("JSON", 32 << 20)
    try:
        value = json.loads(file.text)
        objects = [(each, 1) for each in (value if isinstance(value, list) else [value])]
    except (json.JSONDecodeError, RecursionError):
        lines = [(line, number) for number, line in enumerate(file.text.split("\n"), 1) if line.strip()]
        _refuse_many(len(lines))
        objects = [(_object_of_line(line, number), number) for line, number in lines]
    except ValueError as fault:
        raise FormatError(f"not valid JSON: {excerpt(fault, LIST)}") from None
    _refuse_many(len(objects))
    for each, number in objects:
        if is_genai_perf(each):
            yield LoadTest({"was_cancelled": each.get("was_cancelled"), **figures_of_metrics(each)}, number)
        elif isinstance(each, dict) and set(each) >= _TOTALS:
            yield LoadTest(each, number)


def _object_of_line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise FormatError(f"not JSON: {excerpt(fault)}", number) from None


def _printed_runs(file: InputFile) -> Iterator[LoadTest]:
    """The printed results. The load may be stated before the heading, after the results of the run before."""
    figures: dict[str, Any] = {}
    inside, start = False, 0
    for number, line in enumerate(lines_of(file.unpainted), 1):
        if _HEADING in line:
            inside, start = True, number
        elif inside and re.fullmatch(r"[ \t#>|]*={20,}\s*", line):
            if set(figures) >= _TOTALS:
                yield LoadTest(figures, start)
            inside, figures = False, {}
        elif match := _LABEL.match(line):
            name = _LABELS.get(match[1])
            if latency := _LATENCY.fullmatch(match[1]):
                name = f"{_STATISTICS[latency[1]]}_{_LATENCIES[latency[2]]}_ms"
            if name and (inside or name in {"max_concurrency", "request_rate", "burstiness"}):
                figures[name] = match[2]
        elif model := _MODEL.search(line):
            figures["model_id"] = model[1]
    if inside and set(figures) >= _TOTALS:  # the closing line is cut off
        yield LoadTest(figures, start)


def _record_run(run: LoadTest, builder: ImportBuilder) -> None:
    line = run.line
    builder.set("workload.kind", "serve", line)
    model, server = run.figures.get("model_id"), server_of(run.figures)
    if server is not None:
        set_server(server, builder, line)
    else:
        if isinstance(model, str) and model:
            set_served_model(model, builder, line)
        else:
            builder.unknown("workload.model", "the results do not name it", line)
        why = "the client does not see the engine, its devices and its layout: import the launch"
        builder.unknown("layout", why, line)
    if run.figures.get("was_cancelled") is True:
        builder.unknown("the end of the run", "it was cancelled: the figures are of the requests before", line)
    _record_load(run, builder)
    _list_times(run, builder)
    _record_requests(run, builder)
    for side in ("input", "output"):
        _record_lengths(run, side, builder)
    for name, shown in (
        ("duration", "duration_seconds"),
        ("request_throughput", "requests_per_second"),
        ("output_throughput", "output_tokens_per_second"),
    ):
        if (value := run.number(name)) is not None:
            builder.count(shown, float(f"{value:.6g}"), line)
    for name, shown in _SHOWN.items():
        for statistic in _STATISTICS.values():
            if (value := run.number(f"{statistic}_{name}_ms")) is not None:
                builder.count(f"{statistic}_{shown}_seconds", float(f"{value / 1e3:.6g}"), line)


def _list_times(run: LoadTest, builder: ImportBuilder) -> None:
    """List latencies whose names state no unit: seconds in some programs, milliseconds in others."""
    if found := [name for name in run.figures if _BARE_TIME.fullmatch(str(name))]:
        shown = ", ".join(found[:6]) + (", …" if len(found) > 6 else "")
        builder.unknown(shown, "times whose names state no unit: not imported", run.line)


_BARE_TIME = re.compile(r"(?:mean|median|std|p\d{2,3})_(?:ttft|tpot|itl|e2el|e2e_latency)")


def _record_load(run: LoadTest, builder: ImportBuilder) -> None:
    limit, rate, line = positive_integer_of(run.number("max_concurrency")), run.number("request_rate"), run.line
    if rate and not run.without_rate:
        builder.set("workload.serving.load", "open", line)
        builder.set("workload.serving.request_rate", float(f"{rate:.6g}"), line)
        burstiness = run.number("burstiness")
        if burstiness and burstiness != 1:
            cv = float(f"{burstiness**-0.5:.4g}")  # of a gamma distribution whose shape is the burstiness
            builder.set("workload.serving.arrivals", {"process": "gamma", "cv": cv}, line)
        if limit:
            builder.unknown(f"at most {limit} requests in flight", "a limit of an open load has no key", line)
    elif rate and limit:
        why = f"sends all requests at once: only the {limit} in flight limit them"
        builder.unknown(f"request_rate: {rate:g}", why, line)
        builder.set("workload.serving.load", "closed", line)
        builder.set("workload.serving.concurrency", limit, line)
    elif not run.without_rate and "request_rate" in run.figures:
        builder.unknown("workload.serving.load", "the request rate is not a number", line)
    elif limit:
        builder.set("workload.serving.load", "closed", line)
        builder.set("workload.serving.concurrency", limit, line)
    elif run.without_rate:
        builder.set("workload.serving.load", "offline", line)
    else:
        builder.unknown("workload.serving.load", "neither a request rate nor a limit of requests is stated", line)


def _record_requests(run: LoadTest, builder: ImportBuilder) -> None:
    completed, failed, offered = (
        positive_integer_of(run.number(name)) for name in ("completed", "failed", "num_prompts")
    )
    if offered is None and completed and "failed" in run.figures:
        offered = completed + (failed or 0)
    builder.set("workload.serving.requests", offered, run.line)
    if completed is not None or "completed" in run.figures:
        builder.count("completed_requests", completed or 0, run.line)
    lost = (offered or 0) - (completed or 0)
    if offered and lost > 0:
        builder.unknown(f"{lost} of {offered} requests failed", "the figures are from the other requests", run.line)


def _record_lengths(run: LoadTest, side: str, builder: ImportBuilder) -> None:
    """The lengths of prompts or answers: of all requests if the file has them, else the mean."""
    path, completed = f"workload.serving.{side}_tokens", run.number("completed")
    total, lengths = run.number(f"total_{side}_tokens"), run.figures.get(f"{side}_lens")
    stated = run.number(f"mean_{side}_tokens") or (total / completed if total and completed else 0)
    if not stated or ("completed" in run.figures and not completed):
        builder.unknown(path, "no request completed, or none had tokens", run.line)
        return
    mean = max(1, round(stated))
    value: Value = {"mean": mean}
    spread = run.figures.get(f"{side}_spread")
    if isinstance(lengths, list) and len(lengths) == completed and all(positive_integer_of(each) for each in lengths):
        ordered = sorted(lengths)
        value = {"mean": mean, "p99": ordered[math.ceil(0.99 * len(ordered)) - 1], "max": ordered[-1]}
        value = mean if ordered[0] == ordered[-1] else value
    elif isinstance(spread, dict):
        whole = {"mean": mean, "p99": max(1, round(spread["p99"])), "max": max(1, round(spread["max"]))}
        value = mean if spread["min"] == spread["max"] else whole
    elif completed and total == mean * completed and _fixed_length(run, side) == mean:
        value = mean
    else:
        builder.unknown(
            f"the distribution of {side} tokens", "only their sum is stated: the mean is imported", run.line
        )
    builder.set(path, value, run.line)


def _fixed_length(run: LoadTest, side: str) -> int | None:
    """The length of all prompts or answers of a random data set of SGLang without a range; None for other data."""
    if run.figures.get("dataset_name") != "random" or run.number("random_range_ratio") != 1:
        return None
    return positive_integer_of(run.number(f"random_{side}_len"))
