"""Results of GenAI-Perf and AIPerf, as the figures that `vllm bench serve` has.

Formats: ai-dynamo/aiperf db4f6397, aiperf/exporters/json_exporter.py and csv_exporter.py; GenAI-Perf,
triton-inference-server/perf_analyzer 263c5f6e, genai-perf/genai_perf/metrics and export_data; read 2026-11-25. Both
have the same names of metrics. Their inter-token latency is that of a request, (latency - time to first token) /
(tokens - 1) (inter_token_latency_metric.py; llm_profile_data_parser.py, line 189), which vLLM calls the time per output
token. ``request_count`` counts the requests that succeeded. Units are those that the file states; a time without a
known unit is left out.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clusterspec.exchange.import_result import TITLE, FormatError, excerpt

_LATENCIES = {"time_to_first_token": "ttft", "inter_token_latency": "tpot", "request_latency": "e2el"}
_STATISTICS = {"avg": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
_MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3}
_TOKENS = {"input": "input_sequence_length", "output": "output_sequence_length"}
_HEAD = re.compile(r"\s*Metric,(avg|Value)\b[^\n]{0,200}\r?\n")
_PRINTED_HEAD = re.compile(r"┃\s{0,100}(?:Statistic|Metric)\s{0,100}┃\s{0,40}avg\s{0,40}┃")
_NAME = re.compile(r"([A-Za-z][A-Za-z -]{0,60}?)\s*(?:\(([^()]{1,20})\))?")
MOST_METRICS = 1_000
LONGEST_ROW = 1_000
"""Characters of the longest row of a printed table; one has some 120."""
LARGEST_TABLE = 1 << 20
"""Characters of the largest CSV file read; one has some 30 rows."""


def is_genai_perf(value: object) -> bool:
    """Whether a JSON value is such a result: metrics with statistics of requests and of their tokens."""
    if not isinstance(value, dict):
        return False
    stated = all(isinstance(value.get(name), dict) for name in ("request_throughput", "output_sequence_length"))
    return stated and any(isinstance(value.get(name), dict) for name in _LATENCIES)


def is_genai_perf_table(text: str) -> bool:
    """Whether a text is a result of genai-perf as CSV."""
    return bool(_HEAD.match(text)) and "Output Sequence Length" in text


def metrics_of_table(text: str) -> dict[str, dict[str, Any]]:
    """The metrics of a CSV file by their names in JSON. Raises `FormatError` for more than `MOST_METRICS` rows or
    `LARGEST_TABLE` characters.
    """
    if len(text) > LARGEST_TABLE:
        raise FormatError("has more than 1 MiB, the maximum for results of GenAI-Perf as CSV")
    heads: list[str] = []
    metrics: dict[str, dict[str, Any]] = {}
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text, newline="")), 1):
            if number > MOST_METRICS:
                raise FormatError(f"has more than {MOST_METRICS:,} rows")
            if row[:1] == ["Metric"]:
                heads = ["avg" if head == "Value" else head for head in row]
            elif row:
                _add_metric(metrics, heads, row)
    except csv.Error as fault:
        raise FormatError(f"is no CSV: {excerpt(fault)}") from None
    return metrics


def _number_in_cell(cell: str) -> float | None:
    plain = cell.replace(",", "")
    return float(plain) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,12})?", plain) else None


def has_printed_table(text: str) -> bool:
    """Whether a text holds the table that either program prints at its end."""
    return "┃" in text and bool(_PRINTED_HEAD.search(text))


def metrics_of_printed_tables(lines: Iterable[str]) -> Iterator[tuple[dict[str, dict[str, Any]], int]]:
    """The metrics of each printed table of a run by their names in JSON, and the line of its heading. A long name
    continues on a row without figures.
    """
    heads: list[str] = []
    rows: list[list[str]] = []
    start = 0
    for number, line in enumerate(lines, 1):
        if len(line) <= LONGEST_ROW and _PRINTED_HEAD.search(line):
            heads, rows, start = _cells(line, "┃"), [], number
        elif heads and "│" in line and len(line) <= LONGEST_ROW and len(rows) <= MOST_METRICS:
            cells = _cells(line, "│")
            if rows and not any(cells[1:]):
                rows[-1][0] = excerpt(f"{rows[-1][0]} {cells[0]}", TITLE)
            else:
                rows.append(cells)
        elif heads and "┡" not in line:
            yield from _metrics_of_rows(heads, rows, start)
            heads = []
    if heads:  # the closing line is cut off
        yield from _metrics_of_rows(heads, rows, start)


def _cells(line: str, border: str) -> list[str]:
    return [cell.strip() for cell in line.split(border)[1:-1]]


def _metrics_of_rows(
    heads: list[str], rows: list[list[str]], start: int
) -> Iterator[tuple[dict[str, dict[str, Any]], int]]:
    metrics: dict[str, dict[str, Any]] = {}
    for row in rows:
        _add_metric(metrics, heads, row)
    if is_genai_perf(metrics):
        yield metrics, start


def _add_metric(metrics: dict[str, dict[str, Any]], heads: list[str], row: list[str]) -> None:
    if match := _NAME.fullmatch(row[0][:100]):
        cells = {name: _number_in_cell(cell) for name, cell in zip(heads[1:], row[1:], strict=False)}
        name = re.sub(r"[ -]+", "_", match[1].strip()).lower()
        metrics.setdefault(name, {"unit": match[2] or "", **cells})


def figures_of_metrics(value: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a result by their names in the results of vLLM. What a result lacks is absent."""
    completed = _metric_statistic(value, "request_count", "avg")
    figures: dict[str, Any] = {
        "completed": completed,
        "failed": _metric_statistic(value, "error_request_count", "avg"),
        "request_throughput": _metric_statistic(value, "request_throughput", "avg"),
        "output_throughput": _metric_statistic(value, "output_token_throughput", "avg"),
        "duration": _run_seconds(value),
        **_input_settings(value.get("input_config")),
    }
    for side, name in _TOKENS.items():
        mean = _metric_statistic(value, name, "avg")
        figures[f"mean_{side}_tokens"] = mean
        ends = {end: _metric_statistic(value, name, end) for end in ("min", "p99", "max")}
        if None not in ends.values():
            figures[f"{side}_spread"] = ends
    for name, short in _LATENCIES.items():
        factor = _MILLISECONDS.get(str(_mapping_within(value, name).get("unit")).lower())
        for statistic, shown in _STATISTICS.items():
            if factor and (seen := _metric_statistic(value, name, statistic)) is not None:
                figures[f"{shown}_{short}_ms"] = seen * factor
    return {name: figure for name, figure in figures.items() if figure is not None}


def _metric_statistic(value: Mapping[str, Any], metric: str, name: str) -> float | None:
    """A statistic of a metric; None if it is absent, or no finite number of zero or more."""
    seen = _mapping_within(value, metric).get(name)
    if isinstance(seen, bool) or not isinstance(seen, int | float) or abs(seen) > 1e15 or not math.isfinite(seen):
        return None
    return float(seen) if seen >= 0 else None


def _run_seconds(value: Mapping[str, Any]) -> float | None:
    """Seconds of the run, which GenAI-Perf does not state."""
    stated = _metric_statistic(value, "benchmark_duration", "avg")
    factor = _MILLISECONDS.get(str(_mapping_within(value, "benchmark_duration").get("unit")).lower())
    return None if stated is None or factor is None else stated * factor / 1e3


def _input_settings(config: object) -> dict[str, Any]:
    """The model, the concurrency and the request rate of the configuration that a JSON result repeats."""
    held = config if isinstance(config, dict) else {}
    found: dict[str, Any] = {}
    for part in (held, _mapping_within(held, "endpoint")):
        names = part.get("model_names", part.get("model"))
        only = names[0] if isinstance(names, list) and len(names) == 1 else names
        if isinstance(only, str) and only:
            found["model_id"] = only
    for part in (
        held,
        _mapping_within(held, "loadgen"),
        _mapping_within(_mapping_within(held, "perf_analyzer"), "stimulus"),
    ):
        for key, name in (("concurrency", "max_concurrency"), ("request_rate", "request_rate")):
            if isinstance(part.get(key), int | float) and not isinstance(part.get(key), bool):
                found[name] = part[key]
    return found


def _mapping_within(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping within a mapping; empty if it is absent or another value."""
    held = value.get(name)
    return held if isinstance(held, dict) else {}
