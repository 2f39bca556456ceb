"""Tests of a host or of one link: their figures are listed with units and lines, and measure no collective."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.perftest import read_perftest
from clusterspec.logs.benchmarks.readers import read_benchmark

LATENCY = """\
 local address: LID 0x04 QPN 0x020f PSN 0x17e736
 #bytes #iterations    t_min[usec]   t_max[usec]  t_typical[usec]  t_avg[usec]  t_stdev[usec]   99% percentile[usec]
Conflicting CPU frequency values detected: 2400.000000 != 1873.463000. CPU Frequency is not max.
 2       1000          1.76           6.12         1.79                1.80             0.06            1.88
 4096    1000          2.90           7.00         3.01                3.05             0.06            3.50
"""


def listed(text: str) -> dict[str, tuple[str, int]]:
    found = read_benchmark(text)
    assert not found.series, "no bandwidth between accelerators"
    assert found.remarks
    return {each.name: (each.text, each.line) for each in found.listed}


def test_latencies_of_perftest_are_listed_by_size_and_column() -> None:
    assert listed(LATENCY) == {
        "typical latency of 2 B": ("1.79 us", 4),
        "mean latency of 2 B": ("1.8 us", 4),
        "99th percentile latency of 2 B": ("1.88 us", 4),
        "typical latency of 4096 B": ("3.01 us", 5),
        "mean latency of 4096 B": ("3.05 us", 5),
        "99th percentile latency of 4096 B": ("3.5 us", 5),
    }
    timed = " #bytes        #iterations       t_avg[usec]    tps average\n 2  5000000  1.25  400000.00\n"
    assert listed(timed) == {"mean latency of 2 B": ("1.25 us", 2)}
    assert listed(LATENCY + LATENCY) == listed(LATENCY), "both sides print the same rows"
    with pytest.raises(NotALogError, match="no row"):
        read_benchmark(LATENCY[: LATENCY.index(" 2  ")])


def test_latencies_of_several_tests_are_kept_apart() -> None:
    """A second test of the same size, before and after a change; a percentile may leave out its name."""
    second = LATENCY.replace("1.79", "1.70").replace("99% percentile[usec]", "99%[usec]")
    both = listed(LATENCY + second)
    assert both["typical latency of 2 B in test 1"] == ("1.79 us", 4)
    assert both["typical latency of 2 B in test 2"] == ("1.7 us", 9)
    assert both["99th percentile latency of 4096 B in test 2"] == ("3.5 us", 10)
    assert len(both) == 12


def test_rows_of_latencies_are_no_bandwidths() -> None:
    """A page with both tests: the rows below the heading of latencies belong to no test of a bandwidth."""
    rate = (
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        " 65536      5000             392.00             391.00              0.7458\n"
    )
    (series,) = read_perftest(rate + LATENCY).series
    assert [(point.size, point.line) for point in series.points] == [(65536, 2)]
    (series,) = read_perftest(LATENCY + rate).series
    assert [(point.size, point.line) for point in series.points] == [(65536, 7)]


def iperf(end: Mapping[str, object], **other: object) -> str:
    start = {"test_start": {"protocol": "TCP", "num_streams": 8, "duration": 10}}
    return json.dumps({"start": start, "end": end, **other}, indent=1)


def test_iperf3_states_what_was_received() -> None:
    sent = {"bits_per_second": 9.2e10, "retransmits": 3}
    stated = listed(iperf({"sum_sent": sent, "sum_received": {"bits_per_second": 9.1e10}}))
    assert {name: text for name, (text, _) in stated.items()} == {
        "received": "91 Gb/s",
        "protocol": "TCP",
        "streams": "8",
        "seconds": "10",
        "retransmits": "3",
    }
    both = {"sum_received": {"bits_per_second": 1e9}, "sum_received_bidir_reverse": {"bits_per_second": 2e9}}
    assert listed(iperf(both))["received the other way"][0] == "2 Gb/s"
    assert listed(iperf({"sum": {"bits_per_second": 5e8}}))["sum of UDP"][0] == "0.5 Gb/s"
    # iperf 3.12 states all three for UDP: jmrzn/EITN30 a00aff05, iperf_results.json (2.06 kb/s received of 2.16 kb/s)
    udp = {"sum": {"bits_per_second": 2157}, "sum_sent": {"bits_per_second": 2157}}
    assert listed(iperf(udp | {"sum_received": {"bits_per_second": 2060}}))["received"][0] == "2.06e-06 Gb/s"
    for text, why in (
        (iperf({}), "no rate at its end"),
        (iperf({}, error="unable to connect to server"), "failed: unable to connect"),
        (iperf({"sum_received": {"bits_per_second": True}}), "no rate at its end"),
    ):
        with pytest.raises(NotALogError, match=why):
            read_benchmark(text)


def fio(*jobs: Mapping[str, object], before: str = "") -> str:
    return before + json.dumps({"fio version": "fio-3.35", "jobs": list(jobs)}, indent=1, separators=(",", " : "))


def test_fio_states_the_rates_of_each_job() -> None:
    write: dict[str, object] = {
        "jobname": "ckpt",
        "error": 0,
        "read": {"bw_bytes": 0},
        "write": {"bw_bytes": 2_000_000_000, "iops": 1900.5},
    }
    stated = listed(fio(write))
    assert {name: text for name, (text, _) in stated.items()} == {
        "write rate": "2 GB/s",
        "write operations per second": "1900.5",
    }
    assert stated["write rate"][1] == 5, "the line of the job"
    older = {"jobname": "load", "read": {"bw": 1_000_000}}  # KiB/s, before fio 3
    assert listed(fio(write, older, before="fio: a note\n"))["read rate of job 2"][0] == "1.024 GB/s"
    assert listed(fio({"jobname": "both", "mixed": {"bw_bytes": 3_000_000_000}}))["mixed rate"][0] == "3 GB/s"
    for text, why in (
        (fio(), "no job of fio"),
        (fio(write | {"error": 28}), "the job ckpt of fio failed with error 28"),
        (fio(write)[:60] + '"jobs"', "not valid JSON"),
    ):
        with pytest.raises(NotALogError, match=why):
            read_benchmark(text)


def test_a_log_without_series_says_what_it_measures() -> None:
    assert read_benchmark(LATENCY).reason_without_series == "it measures a host or a link, not a collective"
    assert Benchmark("p2p").reason_without_series == "it measures pairs of accelerators, not a collective"
