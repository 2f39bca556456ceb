"""Traces of requests in a few numbers, and specs that leave their load and their lengths to one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from clusterspec.logs.traces import TraceFault, TraceLengths, trace_arrivals, trace_path, trace_summary
from clusterspec.studies import Study, study_text
from clusterspec.studies.variation import varied_study
from tests.settings import SETTINGS

TRACE = "time,input_tokens,output_tokens\n" + "".join(
    f"{time},{100 * (time + 1)},{10 if time < 9 else 400}\n" for time in range(10)
)
"""Ten requests, one a second, with prompts of 100 to 1,000 tokens."""
SERVED = """clusterspec: 1
name: traced
cluster: {{platform: dgx-h100, nodes: 1}}
workload: {{kind: serve, model: llama-3.1-8b, serving: {{{}}}}}
layout: {{framework: vllm, tp: 1}}
"""


def of(keys: str, folder: Path) -> Study:
    return study_text(SERVED.format(keys), SETTINGS, "serving.yaml", folder)


def test_a_summary_counts_the_rate_between_the_first_and_the_last_request(tmp_path: Path) -> None:
    """Nine gaps of a second in nine seconds; gaps of 1 and 3 s have a mean of 2 and a deviation of 1."""
    file = tmp_path / "trace.csv"
    file.write_text(TRACE)
    found = trace_summary(file)
    assert (found.requests, found.rate, found.variation) == (10, 1.0, 0.1)  # 0, at the limit of a spec
    assert (found.prompts, found.answers) == (TraceLengths(550, 1000, 1000), TraceLengths(49, 400, 400))
    file.write_text("time,input_tokens,output_tokens\n4,7,1\n0,5,1\n1,6,1\n")
    assert trace_summary(file)[:3] == (3, 0.5, 0.5)
    file.write_text("time,input_tokens,output_tokens\n" + "3,7,1\n" * 4)
    assert trace_summary(file)[:3] == (4, None, None)
    file.write_text("output_tokens,other\n" + "".join(f"{each},x\n" for each in range(1, 201)))
    assert trace_summary(file) == (200, None, None, None, TraceLengths(100, 198, 200))


def test_the_bounds_of_a_request_are_one_token_and_a_billion(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    for prompt, answer, allowed in (
        (1, 1, True),
        (10**9, 10**9, True),
        (0, 1, False),
        (1, 0, False),
        (10**9 + 1, 1, False),
    ):
        file.write_text(f"time,input_tokens,output_tokens\n0,{prompt},{answer}\n1,1,1\n")
        if allowed:
            assert trace_arrivals(file)[0][1:3] == (prompt, answer)
        else:
            with pytest.raises(TraceFault, match="at least one token"):
                trace_arrivals(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [("output_tokens\n5\nmany\n", "line 3"), ("output_tokens\n", "no requests"), ("size\n3\n", "no column time")],
)
def test_lengths_that_cannot_be_read_are_refused_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(TraceFault, match=said):
        trace_summary(tmp_path / "bad.csv")
    with pytest.raises(TraceFault, match="outside the folder"):
        trace_path("../bad.csv", tmp_path)


def test_a_load_is_that_of_its_trace_where_the_spec_states_none(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text(TRACE)
    traced = of("arrivals: {trace: trace.csv}", tmp_path)
    assert not traced.problems and traced.design.workload is not None
    load = traced.design.workload.serving
    assert load is not None and (load.load, load.request_rate, load.arrival_cv) == ("open", 1.0, 0.1)
    assert (load.input_tokens, load.output_tokens) == (550, 49)
    assumed = {key: value for key, value, _ in traced.design.assumptions}
    assert assumed["workload.serving.request_rate"] == 1.0 and assumed["workload.serving.input_tokens"] == 550
    wider = varied_study(traced, {("layout", "tp"): 2}).design.workload
    assert wider is not None and wider.serving is not None and wider.serving.request_rate == 1.0
    stated = of("arrivals: {trace: trace.csv}, request_rate: 3, input_tokens: 9, output_tokens: 7", tmp_path)
    written = stated.design.workload and stated.design.workload.serving
    assert written and (written.request_rate, written.input_tokens, written.output_tokens) == (3, 9, 7)


def test_lengths_are_those_of_the_column_with_the_name_of_their_key(tmp_path: Path) -> None:
    (tmp_path / "lengths.csv").write_text("input_tokens,output_tokens\n1000,10\n3000,30\n")
    found = of("input_tokens: {trace: lengths.csv}, output_tokens: {trace: lengths.csv}, concurrency: 4", tmp_path)
    load = found.design.workload and found.design.workload.serving
    assert load and (load.input_tokens, load.output_tokens) == (2000, 20)
    assert load.input_lengths and (load.input_lengths.p99, load.input_lengths.most) == (3000, 3000)
    twice = of("input_tokens: {trace: lengths.csv, mean: 5}, output_tokens: 20, concurrency: 4", tmp_path)
    assert [each.rule for each in twice.problems] == ["keys-disagree"]


def test_a_missing_trace_is_a_note_and_an_unusable_one_an_error(tmp_path: Path) -> None:
    lengths = "input_tokens: 2000, output_tokens: 200"
    found = [
        [(each.rule, str(each.severity)) for each in of(f"arrivals: {{trace: {name}}}, {lengths}", tmp_path).problems]
        for name in ("absent.csv", "../absent.csv")
    ]
    assert found == [[("unreadable-log", "note")], [("unreadable-log", "error")]]
    absent = of("input_tokens: {trace: absent.csv}, output_tokens: 9, concurrency: 4", tmp_path).problems
    assert {(each.rule, str(each.severity)) for each in absent} == {
        ("unreadable-log", "note"),
        ("missing-key", "error"),
    }


def test_a_failed_request_of_burstgpt_has_no_answer_and_faults_have_the_line_of_the_file(tmp_path: Path) -> None:
    file, head = tmp_path / "burst.csv", "Timestamp,Session ID,Request tokens,Response tokens\n"
    file.write_text(f"{head}5, a ,10,3\n\n6,b,10,0\n7,b,10, 0.0\n8,c,12,4\n")
    found = [(each.time, each.prompt, each.output, each.session) for each in trace_arrivals(file)]
    assert found == [(0.0, 10, 3, "a"), (3.0, 12, 4, "c")]
    file.write_text(f"{head}5,a,10,3\n6,b,10\n")
    with pytest.raises(TraceFault, match="line 3: time, input_tokens"):
        trace_arrivals(file)
    file.write_text("time,input_tokens,output_tokens\n0,1,1\n1,1,0\n")  # of this program nothing fails
    with pytest.raises(TraceFault, match="line 3"):
        trace_arrivals(file)


def test_requests_of_azure_have_a_date_and_those_without_a_prompt_or_an_answer_do_not_count(tmp_path: Path) -> None:
    file, head = tmp_path / "azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    file.write_text(f"{head}2023-11-16 23:59:59.5000000,374,44\n2023-11-17 00:00:01.7500000,10,3\n")
    assert [each[:3] for each in trace_arrivals(file)] == [(0.0, 374, 44), (2.25, 10, 3)]
    file.write_text(f"{head}2024-05-10 00:00:00+00:00,0,5\n2024-05-10 00:00:01+00:00,9,0\n2024-05-10 00:00:02,7,2\n")
    assert [each[:3] for each in trace_arrivals(file)] == [(0.0, 7, 2)]
    file.write_text(f"{head}2023-11-16 18:15:46,374,44\n17.5,10,3\n")
    with pytest.raises(TraceFault, match="line 3: TIMESTAMP is a date and a time"):
        trace_arrivals(file)


def test_json_lines_have_milliseconds_and_blocks_whose_last_may_be_short(tmp_path: Path) -> None:
    """Blocks of Mooncake have 512 tokens: 1,100 are 512, 512 and 76; those of ServeGen's batches 16: 20 are 16 and 4.
    A name without tokens is left out."""
    file = tmp_path / "trace.jsonl"
    rows: list[dict[str, object]] = [
        {"timestamp": 3000, "input_length": 600, "output_length": 7},
        {"timestamp": 4000, "input_length": 1024, "output_length": 9, "hash_ids": [1, 2, 3]},
        {"timestamp": 500, "input_length": 1100, "output_length": 5, "hash_ids": [4, "x", 6, 7]},
    ]
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    first, second, third = trace_arrivals(file)
    assert (third.time, third.output, third.blocks) == (3.5, 9, ((1, 512), (2, 512)))
    assert (first.time, first.prompt, first.output, first.blocks) == (0.0, 1100, 5, ((4, 512), ("x", 512), (6, 76)))
    assert (second.time, second.prompt, second.output, second.blocks) == (2.5, 600, 7, ())
    file.write_text(json.dumps({"input_length": 20, "output_length": 5, "hash_ids": [1, 2]}))
    assert [(each.time, each.blocks) for each in trace_arrivals(file)] == [(0.0, ((1, 16), (2, 4)))]
    whole = {"timestamp": 0, "input_length": 8, "output_length": 5}
    for text, why in (
        ("{", "line 2: this is not one JSON object"),
        ("[1]", "line 2: this is not one JSON object"),
        (json.dumps({"input_length": 8}), "line 2: `output_length` is missing"),
        (json.dumps(whole | {"input_length": True}), "line 2: time, input_tokens"),
        (json.dumps(whole | {"timestamp": "1"}), "line 2: time, input_tokens"),
        (json.dumps(whole | {"hash_ids": [1, 2.5]}), "line 2: `hash_ids` is a list of numbers"),
        (json.dumps(whole | {"hash_ids": 4}), "line 2: `hash_ids` is a list of numbers"),
    ):
        file.write_text(f"{json.dumps(whole)}\n{text}\n")
        with pytest.raises(TraceFault, match=why):
            trace_arrivals(file)


def test_a_client_of_servegen_draws_its_gaps_within_its_windows(tmp_path: Path) -> None:
    """Gamma of shape and scale, Weibull of shape and scale, and a window without requests; the last window has 600 s.
    Lengths hold from their time on: those of 0 in the first window, those of 600 from the second on."""
    trace = tmp_path / "chunk-3-trace.csv"
    trace.write_text("0,0.5,1,Gamma,2.0,3.0\n600,0,0,,0,0\n1200,0.5,1,Weibull,1.5,4.0\n")
    lengths = {
        "0": {"input_tokens": "{10: 1.0}", "output_tokens": "{0: 1.0}"},
        "600": {"input_tokens": "{20: 0.5, 21: 0.0}", "output_tokens": "{3: 1.0}"},
        "900": {"input_tokens": "{}", "output_tokens": "{5: 1.0}"},
    }
    beside = tmp_path / "chunk-3-dataset.json"
    beside.write_text(json.dumps(lengths))
    random, times = Random(trace.name), []
    draws: dict[float, Callable[[], float]] = {
        0.0: lambda: random.gammavariate(2.0, 3.0),
        1200.0: lambda: random.weibullvariate(4.0, 1.5),
    }
    for start, draw in draws.items():
        now = start + draw()
        while now < start + 600:
            times.append(now)
            random.choices([1]), random.choices([1])  # the two lengths of a request
            now += draw()
    found = trace_arrivals(trace)
    assert [each.time for each in found] == pytest.approx([time - times[0] for time in times])
    kinds = {(each.time + times[0] >= 600, each.prompt, each.output) for each in found}
    assert kinds == {(False, 10, 1), (True, 20, 3)}  # an answer has one token at least
    for text, why in (
        ("0,1,1,Gamma,0,1", "line 2: the distribution"),
        ("0,1,1,Gamma,1,0", "line 2: the distribution"),
        ("0,1,1,Gamma,1,inf", "line 2: a window|line 2: the distribution"),
        ("0,1,1,Pareto,1,1", "line 2: the distribution"),
        ("0,1,1,Gamma,1", "line 2: a window has"),
    ):
        trace.write_text(f"0,0.5,1,Gamma,2.0,3.0\n{text}\n")
        with pytest.raises(TraceFault, match=why):
            trace_arrivals(trace)
    trace.write_text("0,0.5,1,Gamma,2.0,3.0\n")
    for wrong, why in (
        ({"0": {"input_tokens": "{}", "output_tokens": "{}"}}, "has no distributions"),
        ({"0": {"input_tokens": "{a: 1}", "output_tokens": "{1: 1}"}}, "does not have distributions"),
        ({"0": {"input_tokens": "{1: 0}", "output_tokens": "{1: 1}"}}, "does not have distributions"),
        ([], "does not have distributions"),
    ):
        beside.write_text(json.dumps(wrong))
        with pytest.raises(TraceFault, match=why):
            trace_arrivals(trace)
    trace.rename(tmp_path / "other.csv")
    with pytest.raises(TraceFault, match=r"ends with -trace\.csv"):
        trace_arrivals(tmp_path / "other.csv")
