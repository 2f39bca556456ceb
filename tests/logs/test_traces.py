"""Traces of requests in a few numbers, and specs that leave their load and their lengths to one."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.logs.traces import TraceFault, TraceLengths, trace_arrivals, trace_path, trace_summary
from clusterspec.studies.study import Study, study_text
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
