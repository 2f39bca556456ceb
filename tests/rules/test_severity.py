"""Severity follows predicted cost: one function turns a loss and the range of its prediction into a severity."""

from __future__ import annotations

import ast
import inspect

import pytest

from clusterspec.cost.serving.constants import RANGES
from clusterspec.rules.index import RULES
from clusterspec.rules.knowledge.shares import cost_severity, step_severity, target_severity
from clusterspec.rules.pages import module
from tests.effort import each

from .conftest import Check
from .test_verdicts import of

PREDICTED = {"timed", "served", "what_if"}
"""Parts of a design that hold predicted times."""
MECHANISM = {
    "step_severity",
    "cost_severity",
    "target_severity",
    "run_severity",
    "what_if.severity",
    "what_if.idle_severity",
    "gain.severity",
    "found.severity",
}
NO_LOSS = {
    "uneven-pipeline-stages": "has its severity from the work of stages; asks only whether an even split is slower",
    "layers-indivisible-by-pp": "asks for other layouts only to see whether they fit the memory",
    "no-spare-trays": "asks for other layouts only to see whether they run",
    "cache-of-token-off-model": "compares a figure of a text with the model; the text is wrong, not the machine",
    "cold-start-faster-than-storage": "compares a stated time with a lower bound; the figure is wrong, not the machine",
    "hours-of-other-unit": "compares stated hours with the least of the run; the figure is wrong, not the machine",
    "pauses-off-stated-share": "compares a stated share with that of pauses; the figure is wrong, not the machine",
    "saved-off-text": "compares stated shares and intervals with the plan; the figure is wrong, not the machine",
    "single-failure-slows": "compares a degraded step with the limit that the spec states",
    "request-exceeds-cache": "a request that no engine can hold is refused, whatever it costs",
    "requests-queue": "a load above the throughput has no loss: its queue grows without end",
    "optimistic-mfu": "compares a stated figure with the range; the figure is wrong, not the machine",
    "mfu-beyond-published": "says that the prediction itself is beyond what is published",
    "full-precision-gradient-reduction": "a note always: dp-reduction-exposed and fsdp-gather-exposed report the loss",
    "recompute-without-need": "a note always: the free memory may be kept for longer sequences",
    "activations-exceed-memory": "rests on memory; the times stand beside its remedies",
    "states-exceed-memory": "rests on memory; the times stand beside its remedies",
    "weights-leave-no-cache": "rests on memory",
    "concurrency-beyond-cache": "rests on memory: the requests that the cache holds",
    "offload-exceeds-host-memory": "rests on the memory of the host",
    "small-prefill-chunks": "rests on the roofline of the data sheet",
    "no-peer-to-peer": "the transfers are in the predicted times; no design without them is timed",
    "engines-beyond-requests": "names engines that are not needed; no time is lost",
    "target-rests-on-prefix-hits": "a note always: it says what a figure rests on",
    "target-rests-on-speculation": "a note always: it says what a figure rests on",
    "cache-tier-adds-nothing": "names memory that is not needed; no time is lost",
    "cache-tier-beyond-host-memory": "rests on the memory of the host",
    "cache-tier-faster-than-link": "rests on the links of the data sheet",
    "pessimistic-mfu": "compares a stated share with a lower bound; the figure is wrong, not the machine",
    "cache-tier-wears-out": "rests on the endurance of the drives",
}
"""Rules that read a prediction and report no loss of predicted time, with the reason."""


def names(rule: str) -> set[str]:
    """The names and attributes in a rule's code."""
    tree = ast.parse(inspect.getsource(module(rule)))
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)}


TIMED = [rule for rule, (_, needs) in RULES.items() if PREDICTED & {need.removesuffix("?") for need in needs}]


def test_the_rules_on_predicted_time_are_known() -> None:
    assert {"dp-reduction-exposed", "oversubscribed-fabric", "pipeline-bubble", "unbalanced-pools"} <= set(TIMED)
    assert NO_LOSS.keys() <= set(TIMED)


@each("rule", TIMED)
def test_a_rule_on_predicted_time_takes_its_severity_from_the_loss(rule: str) -> None:
    assert bool(names(rule) & MECHANISM) != (rule in NO_LOSS), "use `step_severity`, or say why it reports no loss"


@pytest.mark.parametrize(
    ("loss", "bounds", "severity"),
    [
        # a range of a factor 1.25 either way: the lower half is 1 − 1 / 1.25 = 0.2, the low end of a loss 0.8 of it
        (0.0, (0.8, 1.25), "note"),
        (0.19, (0.8, 1.25), "note"),
        (0.21, (0.8, 1.25), "warning"),
        (0.26, (0.8, 1.25), "warning"),  # 0.26 × 0.8 = 0.208
        (0.31, (0.8, 1.25), "warning"),  # 0.248
        (0.32, (0.8, 1.25), "error"),  # 0.256
        # certain figures have no half-width
        (0.01, (1.0, 1.0), "warning"),
        (0.25, (1.0, 1.0), "error"),
        # a wide range upwards says nothing about its low end
        (0.31, (0.7, 7.3), "warning"),
        (None, (0.8, 1.25), "error"),
    ],
)
def test_a_loss_has_the_severity_of_its_size(loss: float | None, bounds: tuple[float, float], severity: str) -> None:
    assert cost_severity(loss, bounds) == severity


def test_a_larger_loss_is_never_less_severe_and_a_wider_range_never_more() -> None:
    ranks = {"note": 0, "warning": 1, "error": 2}
    losses = [number / 50 for number in range(50)]
    for width in (1.0, 1.1, 1.25, 1.5, 2.0):
        found = [ranks[cost_severity(loss, (1 / width, width))] for loss in losses]
        assert found == sorted(found)
        wider = [ranks[cost_severity(loss, (0.8 / width, 1.25 * width))] for loss in losses]
        assert all(more <= less for more, less in zip(wider, found, strict=True))


def test_a_target_is_surely_missed_where_the_low_end_of_the_range_misses_it() -> None:
    low, high = RANGES["tpot"]
    assert target_severity(0.030, 0.031, (low, high)) == "note"
    assert target_severity(0.030, 0.030 / low - 1e-4, (low, high)) == "note"
    assert target_severity(0.030, 0.030 / low + 1e-4, (low, high)) == "warning"
    assert target_severity(0.030, 0.030 / low * 4 / 3 - 1e-4, (low, high)) == "warning"
    assert target_severity(0.030, 0.030 / low * 4 / 3 + 1e-4, (low, high)) == "error"


SPINES = (
    "cluster: {{platform: dgx-h100, nodes: 64, scale_out: {{technology: infiniband-ndr, topology: fat-tree, "
    "switch: quantum-2-qm9700, levels: [{{name: leaf, nodes: 1, oversubscription: {ratio}:1}}, {{nodes: 64}}]}}}}\n"
    "workload: {{model: llama-3.1-8b, sequence_length: {tokens}, global_batch: 512}}\n"
    "layout: {{tp: 1, sharding: fsdp, recompute: full}}\n"
)


@pytest.mark.parametrize(("tokens", "severity"), [(10240, "note"), (6144, "warning"), (4096, "error")])
def test_the_same_flaw_is_as_severe_as_what_it_costs(tokens: int, severity: str, check: Check) -> None:
    (found,) = of("oversubscribed-fabric", SPINES.format(tokens=tokens, ratio=4), check)
    assert found.severity == severity, found.message


def test_what_a_key_says_is_not_said_again(check: Check) -> None:
    shared = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 8, scale_out: {sharing: shared}}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}\nlayout: {tp: 2}\n"
    )
    assert not [found for found in check(shared) if "sharing" in found.path]


@each(
    ("loss", "bounds", "most", "severity"),
    [
        # the half-width of a factor from 0.75 to 1.5 is 0.375, its lower part 0.25: the smaller one counts
        (0.2499, (0.75, 1.5), "error", "note"),
        (0.25, (0.75, 1.5), "error", "warning"),
        # from 0.5 to 1 the half-width is 0.25, its lower part 0.5
        (0.2499, (0.5, 1.0), "error", "note"),
        (0.25, (0.5, 1.0), "error", "warning"),
        # a low end of 0.5: a quarter is reached at 0.5 exactly
        (0.4999, (0.5, 1.0), "error", "warning"),
        (0.5, (0.5, 1.0), "error", "error"),
        (0.5, (0.5, 1.0), "warning", "warning"),
        (0.4999, (0.5, 1.0), "warning", "warning"),
        (0.2, (0.5, 1.0), "warning", "note"),
        # a low end above the prediction counts as the prediction
        (0.2499, (1.5, 1.5), "error", "warning"),
        (0.25, (1.5, 1.5), "error", "error"),
        (0.2499, (1.0, 1.0), "error", "warning"),
        (0.25, (1.0, 1.0), "warning", "warning"),
    ],
)
def test_the_limits_of_severities_belong_to_the_higher_one(
    loss: float, bounds: tuple[float, float], most: str, severity: str
) -> None:
    assert cost_severity(loss, bounds, most=most) == severity


@each("unknown", ["note", "warning", "error"])
def test_a_loss_that_is_not_known_has_the_severity_that_its_rule_gives_it(unknown: str) -> None:
    assert cost_severity(None, (0.5, 1.0), unknown, "warning") == unknown
    assert step_severity(None, None, unknown) == unknown
    assert step_severity(0.25, None, unknown) == "error"
    assert step_severity(0.25, None, unknown, most="warning") == "warning"


def test_a_target_without_a_value_or_a_time_is_a_note_and_at_most_is_kept() -> None:
    assert target_severity(None, 9.0, (1.0, 1.0)) == target_severity(0.0, 9.0, (1.0, 1.0)) == "note"
    assert target_severity(1.0, 0.0, (1.0, 1.0)) == "note"
    # the low end, 0.5 × 2.68, is a third above the target: 1 − 1 / 1.34 = 0.254
    assert target_severity(1.0, 2.68, (0.5, 1.5)) == "error"
    assert target_severity(1.0, 2.68, (0.5, 1.5), most="warning") == "warning"
    assert target_severity(1.0, 2.64, (0.5, 1.5)) == "warning"
    # 1 − 1 / 1.99 is just below the half-width of 0.5
    assert target_severity(1.0, 1.99, (0.5, 1.5)) == "note"
    assert target_severity(1.0, 2.0, (0.5, 1.5)) == "warning"
    # a low end above the prediction counts as the prediction
    assert target_severity(1.0, 1.32, (2.0, 2.0)) == "warning"
    assert target_severity(1.0, 1.34, (2.0, 2.0)) == "error"


def test_exposed_gathers_are_a_note_below_a_quarter_of_the_step(check: Check) -> None:
    """Six NICs in a node expose 26 % of the step, seven 23 %: both above the half-width of its range, 13 %."""
    severities = {}
    for nics in (6, 7):
        cluster = f"cluster: {{platform: dgx-h100, nodes: 8, scale_out: {{nics_per_node: {nics}}}}}"
        work = "workload: {model: llama-3.1-70b, sequence_length: 2048, global_batch: 192}"
        cut = "layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 1}"
        found = check(f"clusterspec: 1\n{cluster}\n{work}\n{cut}\n")
        severities[nics] = next(str(each.severity) for each in found if each.rule == "fsdp-gather-exposed")
    assert severities == {6: "warning", 7: "note"}
