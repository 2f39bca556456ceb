"""Terms: their labels, their sums and their order."""

from __future__ import annotations

from clusterspec.cost.term import Term
from tests.effort import each


@each(
    ("name", "label"),
    [
        ("forward_expert_layer_ep_combine_all_to_all", "forward, expert layer: ep combine (all-to-all)"),
        ("backward_dense_layer_tp_feed_forward_all_gather", "backward, dense layer: tp feed forward (all-gather)"),
        ("recomputation_dense_layer_cp_send_recv", "recomputation, dense layer: cp send-recv"),
        ("forward_expert_layer_expert_tp_all_reduce_2", "forward, expert layer: expert_tp all-reduce 2"),
        ("forward_embedding_tp_reduce_scatter_12", "forward, embedding: tp reduce-scatter 12"),
        # no pass, no collective, no axis, nothing before the axis
        ("gradients_dense_layer_tp_all_reduce", "gradients dense layer tp all reduce"),
        ("forward_dense_layer_tp", "forward dense layer tp"),
        ("forward_dense_layer_dp_all_reduce", "forward dense layer dp all reduce"),
        ("forward_tp_all_reduce", "forward tp all reduce"),
        ("step_time", "step time"),
    ],
)
def test_a_transfer_is_labeled_by_its_pass_its_part_and_what_is_sent(name: str, label: str) -> None:
    assert Term(name, 1.0, "s", "").label == label


def test_a_total_is_the_sum_of_its_parts_and_names_them() -> None:
    one, other = Term("one", 1.5, "s", ""), Term("other", 2.5, "s", "")
    whole = Term.total("whole", (one, other))
    assert (whole.value, whole.unit, whole.formula) == (4.0, "s", "one + other")
    assert [*whole.walk()] == [whole, one, other]
    assert Term.total("none", ()).formula == "0" and Term.total("none", ()).value == 0
    assert Term.total("bytes", (one,), "B", "one * 1").formula == "one * 1"
