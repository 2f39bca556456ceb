"""Results of GenAI-Perf and AIPerf: the load and the figures of one run, in the units that the file states."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

SERVING = "workload.serving"


def metric(unit: str, mean: float, *spread: float) -> dict[str, object]:
    """A metric with its mean and, if given, its least value, 99th percentile and largest value."""
    return {"unit": unit, "avg": mean, **dict(zip(("min", "p99", "max"), spread, strict=False))}


# 40 requests of 1024 tokens with 96 to 160 answer tokens, 8 at once, in 20 s: 2 requests/s and 256 tokens/s
AIPERF = {
    "request_throughput": metric("requests/sec", 2.0),
    "request_count": metric("requests", 40.0),
    "error_request_count": metric("requests", 3.0),
    "request_latency": metric("ms", 3900.0),
    "time_to_first_token": metric("ms", 90.0) | {"p50": 80.0, "p99": 120.0},
    "inter_token_latency": metric("ms", 30.0),
    "output_token_throughput": metric("tokens/sec", 256.0),
    "output_sequence_length": metric("tokens", 128.0, 96.0, 158.0, 160.0),
    "input_sequence_length": metric("tokens", 1024.0, 1024.0, 1024.0, 1024.0),
    "benchmark_duration": metric("sec", 20.0),
    "input_config": {"endpoint": {"model_names": ["openai/gpt-oss-120b"]}, "loadgen": {"concurrency": 8}},
    "was_cancelled": False,
}


def test_a_result_in_json_states_its_load_and_its_figures() -> None:
    reading = read(json.dumps(AIPERF, indent=1))
    assert given(reading) == {
        "workload.kind": "serve",
        "workload.model": "gpt-oss-120b",
        f"{SERVING}.load": "closed",
        f"{SERVING}.concurrency": 8,
        f"{SERVING}.requests": 43,
        f"{SERVING}.input_tokens": 1024,
        f"{SERVING}.output_tokens": {"mean": 128, "p99": 158, "max": 160},
    }
    stated = counts(reading)
    assert (stated["duration_seconds"], stated["requests_per_second"], stated["completed_requests"]) == (20, 2, 40)
    assert (stated["mean_ttft_seconds"], stated["median_ttft_seconds"], stated["p99_ttft_seconds"]) == (
        0.09,
        0.08,
        0.12,
    )
    assert stated["mean_tpot_seconds"] == 0.03, "the inter-token latency of a request is its time per output token"
    assert "mean_itl_seconds" not in stated
    assert "3 of 43 requests failed" in unknown(reading)


def test_units_are_those_of_the_file() -> None:
    def seconds(unit: str) -> object:
        return counts(read(json.dumps(AIPERF | {"time_to_first_token": metric(unit, 90.0)}))).get("mean_ttft_seconds")

    assert [seconds(unit) for unit in ("ms", "us", "ns", "sec")] == [0.09, 9e-5, 9e-8, 90.0]
    assert seconds("fortnights") is None
    assert seconds("") is None


@pytest.mark.parametrize(
    "config",
    [
        {"model": ["m"], "perf_analyzer": {"stimulus": {"request_rate": 2.5}}},
        {"model": "m", "request_rate": 2.5, "concurrency": None},
    ],
)
def test_the_configurations_of_genai_perf_state_an_open_load(config: dict[str, object]) -> None:
    reading = read(json.dumps(AIPERF | {"input_config": config}))
    assert given(reading)[f"{SERVING}.load"] == "open"
    assert given(reading)[f"{SERVING}.request_rate"] == 2.5
    assert f"{SERVING}.concurrency" not in given(reading)


def test_what_the_configuration_leaves_open_is_unknown() -> None:
    reading = read(json.dumps({key: value for key, value in AIPERF.items() if key != "input_config"}))
    assert not {f"{SERVING}.load", "workload.model"} & set(given(reading))
    assert "workload.model: the results do not name it" in unknown(reading)
    assert "it was cancelled" in unknown(read(json.dumps(AIPERF | {"was_cancelled": True})))
    two = {"endpoint": {"model_names": ["a/b", "c/d"]}}
    assert "workload.model" not in given(read(json.dumps(AIPERF | {"input_config": two})))


TABLE = """\
Metric,avg,min,max,p99,p50
Time To First Token (ms),"1,200.50",80.00,"3,000.00","2,900.00",640.00
Inter Token Latency (ms),25.00,20.00,30.00,30.00,25.00
Output Sequence Length (tokens),200.00,200.00,200.00,200.00,200.00
Input Sequence Length (tokens),"3,000.25","2,999.00","3,001.00","3,001.00","3,000.00"

Metric,Value
Output Token Throughput (per sec),300.00
Request Throughput (per sec),1.50
Request Count (count),40.00
"""


def test_a_result_as_csv_states_the_same_figures_and_no_load() -> None:
    reading = read(TABLE)
    assert given(reading) == {
        "workload.kind": "serve",
        f"{SERVING}.input_tokens": {"mean": 3000, "p99": 3001, "max": 3001},
        f"{SERVING}.output_tokens": 200,
    }
    stated = counts(reading)
    assert (stated["mean_ttft_seconds"], stated["mean_tpot_seconds"]) == (1.2005, 0.025)
    assert (stated["requests_per_second"], stated["output_tokens_per_second"]) == (1.5, 300)
    assert "duration_seconds" not in stated
    assert f"{SERVING}.load" in unknown(reading)


def test_several_results_are_chosen_from_and_a_form_without_figures_is_none() -> None:
    with pytest.raises(SeveralParts, match="holds 2 runs"):
        read(json.dumps(AIPERF) + "\n" + json.dumps(AIPERF))
    with pytest.raises(FormatError, match="no result"):
        read(TABLE[: TABLE.index("Metric,Value")], "load-test")


# rows as rich draws them: figures at the right, a long name on two rows
ROWS = (
    ("Time to first token (ms)", "90.00", "60.00", "120.00", "118.00"),
    ("Inter token latency (ms)", "30.00", "20.00", "40.00", "39.00"),
    ("Request latency (ms)", "3,900.00", "3,000.00", "5,000.00", "4,900.00"),
    ("Output sequence length", "128.00", "96.00", "160.00", "158.00"),
    ("Input sequence length", "1,024.00", "1,024.00", "1,024.00", "1,024.00"),
    ("Output token throughput", "256.00", "N/A", "N/A", "N/A"),
    ("(per sec)", "", "", "", ""),
    ("Request throughput (per sec)", "2.00", "N/A", "N/A", "N/A"),
)
HEADS = ("avg", "min", "max", "p99")


def printed(rows: tuple[tuple[str, ...], ...] = ROWS, first: str = "Statistic") -> str:
    """A table as the programs print it, within a page."""
    drawn = "".join(f"│ {' │ '.join(row)} │\n" for row in rows)
    return f"# a page\n┏━━━━┳━━━━┓\n┃ {' ┃ '.join((first, *HEADS))} ┃\n┡━━━━╇━━━━┩\n{drawn}└────┴────┘\n"


@pytest.mark.parametrize("first", ["Statistic", "Metric"])
def test_a_printed_table_states_lengths_and_figures(first: str) -> None:
    reading = read(printed(first=first))
    assert given(reading) == {
        "workload.kind": "serve",
        f"{SERVING}.input_tokens": 1024,
        f"{SERVING}.output_tokens": {"mean": 128, "p99": 158, "max": 160},
    }
    stated = counts(reading)
    assert (stated["output_tokens_per_second"], stated["requests_per_second"]) == (256, 2)
    assert (stated["mean_ttft_seconds"], stated["p99_end_to_end_seconds"]) == (0.09, 4.9)
    assert "completed_requests" not in stated, "older releases do not count them"
    counted = (*ROWS, ("Request count (count)", "40.00", "N/A", "N/A", "N/A"))
    assert counts(read(printed(counted)))["completed_requests"] == 40
    cut = printed().partition("└")[0]
    assert given(read(cut)) == given(reading)


def test_several_printed_tables_are_several_runs_and_one_without_answers_is_none() -> None:
    rankings = printed((ROWS[2], ROWS[-1]))
    with pytest.raises(SeveralParts, match="holds 2 runs"):
        read(printed() + printed() + rankings)
    with pytest.raises(FormatError, match="no result of a load test"):
        read(rankings)


@pytest.mark.parametrize(
    ("names", "model"),
    [
        (["openai/gpt-oss-120b"], "gpt-oss-120b"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        (["openai/gpt-oss-120b", "openai/gpt-oss-20b"], None),
        ([], None),
        ("", None),
        (120, None),
    ],
)
def test_a_model_is_stated_where_exactly_one_name_is_given(names: object, model: str | None) -> None:
    value = AIPERF | {"input_config": {"endpoint": {"model_names": names}, "loadgen": {"concurrency": 8}}}
    assert given(read(json.dumps(value, indent=1))).get("workload.model") == model
