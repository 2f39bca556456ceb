"""Tests of a host or of one link that no collective of a spec describes: perftest latencies, iperf3 and fio.

Their figures are listed with their units. None is a bandwidth between accelerators, so none becomes a measurement.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.logs.benchmarks.benchmark import Benchmark, ListedFigure
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, NotALogError
from clusterspec.logs.benchmarks.perftest import LATENCY_HEAD
from clusterspec.logs.text_lines import line_at, lines_of
from clusterspec.records import replace

# Latencies of perftest (``ib_write_lat``, ``ib_read_lat``, ``ib_send_lat``): linux-rdma/perftest 00b55b66,
# src/perftest_parameters.h, line 209, ``RESULT_FMT_LAT`` and ``RESULT_FMT_LAT_DUR``. Server
# and client of one test print the same rows

LATENCY_TOOL = "perftest-latency"
_COLUMN = re.compile(r"(t_\w{2,12})\[usec\]|(99(?:\.9)?%)(?: percentile)?\[usec\]")
_LATENCY_ROW = re.compile(r"\s*([0-9]{1,12})\s+[0-9]{1,12}((?:\s+[0-9]{1,12}(?:\.[0-9]{1,6})?){1,9})\s*$")
_SHOWN = {"t_typical": "typical", "t_avg": "mean", "99%": "99th percentile"}


def is_latency_test(head: str) -> bool:
    return bool(LATENCY_HEAD.search(head))


def read_latency_test(text: str) -> Benchmark:
    """The latencies by size in one direction of each test. Raises `NotALogError` if there is no row."""
    tests = _latency_tests(text)
    if not tests:
        raise NotALogError("there is no row of bytes, iterations and latencies as perftest prints them")
    listed = [
        each if len(tests) == 1 else replace(each, name=f"{each.name} in test {number}")
        for number, test in enumerate(tests, 1)
        for each in test
    ]
    why = "latencies of one direction between two ports: `measured:` takes bandwidths"
    return Benchmark(LATENCY_TOOL, listed=tuple(listed), remarks=((why, listed[0].line),))


def _latency_tests(text: str) -> list[list[ListedFigure]]:
    """The latencies under each heading with rows; once where both sides of a test print the same."""
    found: dict[tuple[tuple[str, str], ...], list[ListedFigure]] = {}
    columns, listed, rows = list[str](), list[ListedFigure](), 0
    for number, line in enumerate(lines_of(text), 1):
        if head := LATENCY_HEAD.search(line[:400]):
            found.setdefault(tuple((each.name, each.text) for each in listed), listed)
            columns, listed = [match[1] or match[2] for match in _COLUMN.finditer(head[1])], []
        elif columns and (match := _LATENCY_ROW.match(line[:400])):
            rows += 1
            if rows > MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            figures = zip(columns, match[2].split(), strict=False)
            listed += [
                ListedFigure(f"{_SHOWN[name]} latency of {match[1]} B", f"{float(figure):g} us", number)
                for name, figure in figures
                if name in _SHOWN
            ]
    found.setdefault(tuple((each.name, each.text) for each in listed), listed)
    return [test for test in found.values() if test]


# iperf3 -J: esnet/iperf c9b74229, src/iperf_api.c, line 927 (``test_start``) and ``iperf_print_results`` (``sum_sent``,
# ``sum_received``, ``sum``, and with ``_bidir_reverse``), src/iperf_error.c (``error``); read 2026-11-25

IPERF_TOOL = "iperf3"


def is_iperf(head: str) -> bool:
    return head.lstrip()[:1] == "{" and '"test_start"' in head and '"num_streams"' in head


def read_iperf(text: str) -> Benchmark:
    """The rates of a test as the receiver counts them. Raises `NotALogError` for a test that failed or has none."""
    value = _json_object(text)
    if isinstance(fault := value.get("error"), str) and fault:
        raise NotALogError(f"the test of iperf3 failed: {fault[:120]}")
    end, start = _mapping_within(value, "end"), _mapping_within(_mapping_within(value, "start"), "test_start")
    listed: list[ListedFigure] = []
    for key, shown in (
        ("sum_received", "received"),
        ("sum_received_bidir_reverse", "received the other way"),
        ("sum", "sum of UDP"),
    ):
        rate = _finite_number(_mapping_within(end, key).get("bits_per_second"))
        if rate and not (key == "sum" and listed):
            listed.append(ListedFigure(shown, f"{rate / 1e9:.6g} Gb/s", _line_of_word(text, f'"{key}"')))
    if not listed:
        raise NotALogError("states no rate at its end (end.sum_received.bits_per_second)")
    for key, shown in (("protocol", "protocol"), ("num_streams", "streams"), ("duration", "seconds")):
        stated = start.get(key)
        if isinstance(stated, str | int) and not isinstance(stated, bool):
            listed.append(ListedFigure(shown, str(stated)[:40], _line_of_word(text, f'"{key}"')))
    if retransmits := _finite_number(_mapping_within(end, "sum_sent").get("retransmits")):
        listed.append(ListedFigure("retransmits", f"{retransmits:.0f}", _line_of_word(text, '"retransmits"')))
    why = "sockets between two hosts: not a bandwidth of RDMA or of accelerators, so not for `measured:`"
    return Benchmark(IPERF_TOOL, listed=tuple(listed), remarks=((why, listed[0].line),))


# fio --output-format=json: axboe/fio f5344384, stat.c, lines 1515 to 1543, ``add_ddir_status_json`` (``bw_bytes`` in
# bytes per second, ``bw`` in KiB/s; ``mixed`` in place of reads and writes with unified_rw_reporting; fio may print
# lines before the object); read 2026-11-25

FIO_TOOL = "fio"
MOST_JOBS = 1_000


def is_fio(head: str) -> bool:
    return '"fio version"' in head and '"jobs"' in head


def read_fio(text: str) -> Benchmark:
    """The read and write rates of each job. Raises `NotALogError` if there are none, or a job failed."""
    value = _json_object(text[max(text.find("{"), 0) :])
    jobs = value.get("jobs")
    listed: list[ListedFigure] = []
    for number, job in enumerate(jobs if isinstance(jobs, list) else [], 1):
        if number > MOST_JOBS:
            raise NotALogError(f"more than {MOST_JOBS:,} jobs")
        if isinstance(job, dict):
            listed += _job_rates(job, text, number if len(jobs or []) > 1 else 0)
    if not listed:
        raise NotALogError("holds no job of fio that read or wrote")
    why = "of one host: state the total that the storage system sustains (cluster.networks.storage)"
    return Benchmark(FIO_TOOL, listed=tuple(listed), remarks=((why, listed[0].line),))


def _job_rates(job: Mapping[str, Any], text: str, number: int) -> Iterator[ListedFigure]:
    name = str(job.get("jobname") or "")[:40]
    line = _line_of_word(text, f'"jobname" : {json.dumps(name)}') if name else 1
    if _finite_number(job.get("error")):
        raise NotALogError(f"the job {name or number} of fio failed with error {job['error']}", line)
    of = f" of job {number}" if number else ""
    for direction in ("read", "write", "mixed"):
        part = _mapping_within(job, direction)
        rate = _finite_number(part.get("bw_bytes"))
        if rate is None and (kibibytes := _finite_number(part.get("bw"))) is not None:
            rate = kibibytes * 1024
        if rate:
            yield ListedFigure(f"{direction} rate{of}", f"{rate / 1e9:.6g} GB/s", line)
            if operations := _finite_number(part.get("iops")):
                yield ListedFigure(f"{direction} operations per second{of}", f"{operations:.6g}", line)


def _json_object(text: str) -> Mapping[str, Any]:
    """The first JSON object of a text; text after it is passed over. Raises `NotALogError` if there is none."""
    try:
        value, _ = json.JSONDecoder(parse_constant=_refused_constant).raw_decode(text.lstrip())
    except (ValueError, RecursionError) as fault:
        raise NotALogError(f"not valid JSON: {str(fault)[:60]}") from None
    if not isinstance(value, dict):
        raise NotALogError("holds no JSON object")
    return value


def _refused_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _mapping_within(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping within a mapping; empty if it is absent or another value."""
    held = value.get(name)
    return held if isinstance(held, dict) else {}


def _finite_number(value: object) -> float | None:
    """A finite number that is not negative; None for another value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e18:
        return None
    return float(value) if math.isfinite(value) else None


def _line_of_word(text: str, word: str) -> int:
    at = text.find(word)
    return line_at(text, at) if at >= 0 else 1
