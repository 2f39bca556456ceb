"""What sentences report of a part of the ranks that the others do not do."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.unlike_ranks import uneven_statements

TOLD = {
    "data": (
        "It hangs since some ranks have fewer batches than the others.",
        "There is no data for that GPU in the last step.",
        "The job stops when one worker runs out of samples.",
    ),
    "start": (
        "The machines are started at different times and the first one gives up.",
        "One pod comes up minutes after the others and the run fails.",
        "我们的不同机器启动时间不一样",
    ),
    "limit": ("Compilation takes longer than the timeout of the heartbeat.",),
    "time": ("Loading the weights takes longer on some ranks.",),
    "call": (
        "One rank skips the backward pass and leaves the loop, the job hangs.",
        "The other ranks timed out in their broadcast.",
        "Some ranks enter the first branch, others the second.",
    ),
    "reading": (
        "One task was still reading its checkpoint.",
        "Rank 0 loads the index for an hour and the rest is blocked at a barrier.",
    ),
}
NOT_TOLD = (
    "Can some ranks have fewer batches?",
    "If one rank has fewer batches, use the join context.",
    "All ranks have the same number of batches.",
    "Make sure that no rank skips the backward pass of a step.",
    "All nodes are started at once.",
    "The model takes longer to load than before.",
)


@pytest.mark.parametrize("kind", TOLD)
def test_a_sentence_reports_what_a_part_of_the_ranks_does(kind: str) -> None:
    for sentence in TOLD[kind]:
        assert [name for name, _, _ in uneven_statements(sentence)] == [f"uneven {kind}"], sentence


def test_questions_conditions_advice_and_what_all_ranks_do_report_nothing() -> None:
    for sentence in NOT_TOLD:
        assert not list(uneven_statements(sentence)), sentence
