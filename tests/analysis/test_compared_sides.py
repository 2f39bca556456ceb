"""The comparison of two designs, from figures of the test's own: what differs, within which ranges, worked by hand."""

from __future__ import annotations

from typing import Any

from clusterspec.analysis.comparison import Side, compare
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.results import Input, Tool
from clusterspec.results.decision import PRICE, DiffReport
from clusterspec.source import Path, Position, Span
from clusterspec.units import percent
from tests.effort import each

BILL: dict[str, Any] = {"items": [], "fabric": {}}


def side(estimate: dict[str, Any] | None = None, bill: dict[str, Any] | None = None, **more: Any) -> Side:
    value = more.pop("value", {})
    return Side(Input("a.yaml"), value, estimate or {}, bill or BILL, more.pop("findings", ()), **more)


def compared(old: Side, new: Side) -> DiffReport:
    return compare(Tool("1", "1"), old, new)


def effects(old: Side, new: Side) -> dict[str, tuple[float | None, float | None, bool | None]]:
    return {one.name: (one.old, one.new, one.within_band) for one in compared(old, new).effects}


def step(seconds: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"step_time": seconds, "range": {"step_time": [low, high]}} | more


@each(
    ("old", "new", "within"),
    [
        ((10.0, 9.0, 11.0), (12.0, 11.5, 13.0), False),
        ((10.0, 9.0, 11.0), (12.0, 11.0, 13.0), True),  # ranges that meet overlap
        ((12.0, 11.0, 13.0), (10.0, 9.0, 11.0), True),
        ((12.0, 11.5, 13.0), (10.0, 9.0, 11.0), False),
        ((10.0, 8.0, 14.0), (11.0, 10.0, 12.0), True),
    ],
)
def test_a_difference_within_both_ranges_is_told(old: Any, new: Any, within: bool) -> None:
    assert effects(side(step(*old)), side(step(*new))) == {"step time": (old[0], new[0], within)}


def test_the_range_of_a_rate_is_the_inverse_of_that_of_the_time() -> None:
    """At 100/s with 10 s in 8 to 20 s, the rate is from 50 to 125/s; MFU likewise from 0.2 to 0.5 at 0.4."""
    rate = "tokens_per_second_per_accelerator"
    old = side(step(10.0, 8.0, 20.0, mfu=0.4, **{rate: 100.0}))
    for value, within in ((124.0, True), (126.0, False), (51.0, True), (49.0, False)):
        found = effects(old, side(step(10.0, 10.0, 10.0, mfu=0.4, **{rate: value})))
        assert found == {"tokens per second of an accelerator": (100.0, value, within)}
    for value, within in ((0.49, True), (0.51, False), (0.21, True), (0.19, False)):
        found = effects(old, side(step(10.0, 10.0, 10.0, mfu=value, **{rate: 100.0})))
        assert found == {"MFU": (0.4, value, within)}


def test_the_range_of_an_accelerator_is_its_share_of_the_whole() -> None:
    """1,000/s in 800 to 1,200/s of four accelerators: 250/s in 200 to 300/s of each."""
    whole, own = "output_tokens_per_second", "output_tokens_per_second_per_accelerator"
    old = side({"serving": {whole: 1000.0, own: 250.0, "range": {whole: [800.0, 1200.0]}}})
    for value, within in ((301.0, False), (299.0, True), (199.0, False), (201.0, True)):
        new = side({"serving": {whole: value, own: value, "range": {whole: [value, value]}}})
        assert effects(old, new)["output tokens per second of an accelerator"] == (250.0, value, within)


@each(
    ("field", "name", "band"),
    [
        (("serving", "ttft"), "time to first token", ("serving", "range", "ttft")),
        (("serving", "tpot"), "time per output token", ("serving", "range", "tpot")),
        (("serving", "max_concurrency"), "concurrency at which the targets break", None),
        (("memory", "total"), "memory of the fullest accelerator", ("range", "memory")),
        (("power", "busy"), "power at work", ("power", "range", "busy")),
        (("power", "peak"), "power, nameplates", ("power", "range", "peak")),
        (("energy", "per_token"), "energy per token", ("energy", "range", "per_token")),
        (("time_to_train",), "time to train", None),
        (("storage", "checkpoint", "seconds"), "checkpoint, time to write", None),
        (("storage", "restore", "seconds"), "checkpoint, time to read after a failure", None),
        (("storage", "load", "seconds"), "model, time to load", None),
        (("power", "supply", "all_feeds"), "power, all feeds", None),
        (("cluster", "accelerators"), "accelerators", None),
        (("cluster", "scale_up", "bandwidth"), "scale-up bandwidth of an accelerator, per direction", None),
        (("cluster", "scale_out", "oversubscription"), "oversubscription", None),
    ],
)
def test_each_figure_is_compared_in_its_own_range(
    field: tuple[str, ...], name: str, band: tuple[str, ...] | None
) -> None:
    def nested(value: float, ends: list[float]) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for path, leaf in ((field, value), *([(band, ends)] if band else [])):
            place = tree
            for key in path[:-1]:
                place = place.setdefault(key, {})
            place[path[-1]] = leaf
        return tree

    for new, within in ((11.0, True), (14.0, False)):
        found = effects(side(nested(10.0, [8.0, 12.0])), side(nested(new, [new - 1, new + 1])))
        assert found == {name: (10.0, new, within if band else None)}


def test_the_headroom_is_what_memory_leaves_of_the_capacity() -> None:
    """80 − 60 = 20 in 80 − 70 = 10 to 80 − 50 = 30; 141 − 100 = 41 in 31 to 51."""

    def memory(capacity: float, total: float, low: float, high: float) -> Side:
        return side({"memory": {"capacity": capacity, "total": total}, "range": {"memory": [low, high]}})

    found = effects(memory(80.0, 60.0, 50.0, 70.0), memory(141.0, 100.0, 90.0, 110.0))
    assert found["memory headroom"] == (20.0, 41.0, False)
    assert effects(memory(80.0, 60.0, 50.0, 70.0), memory(80.0, 60.0, 50.0, 70.0)) == {}
    near = effects(memory(80.0, 60.0, 50.0, 70.0), memory(80.0, 45.0, 40.0, 50.0))
    assert near["memory headroom"] == (20.0, 35.0, True)


def test_the_bisection_is_that_of_half_the_accelerators() -> None:
    """Of 64 accelerators with 50 GB/s half send to the other half: 1.6 TB/s, and half of that behind 2:1."""

    def fabric(taper: float | None) -> Side:
        out = {"bandwidth_per_accelerator": 50e9, "oversubscription": taper}
        return side({"cluster": {"accelerators": 64, "scale_out": out}})

    found = effects(fabric(1.0), fabric(2.0))
    assert found["bisection bandwidth"] == (1.6e12, 0.8e12, None)
    assert effects(fabric(1.0), fabric(None))["bisection bandwidth"] == (1.6e12, None, None)


def test_a_step_of_reinforcement_learning_is_that_of_all_roles() -> None:
    def roles(seconds: float, low: float, high: float) -> Side:
        estimate = step(seconds / 2, low / 2, high / 2) | {"rl": step(seconds, low, high)}
        return side(estimate, value={"workload": {"kind": "rl"}})

    assert effects(roles(100.0, 80.0, 120.0), roles(130.0, 110.0, 150.0)) == {
        "step time of all roles": (100.0, 130.0, True),
        "update of a minibatch": (50.0, 65.0, True),
    }


def item(kind: str, quantity: int, price: Any = None) -> dict[str, Any]:
    return {"kind": kind, "quantity": quantity, "price": price}


def test_parts_and_prices_are_summed_by_kind_and_ranges_count_with_their_middle() -> None:
    total = {"currency": "EUR"}
    old = {"items": [item("node", 4, 100), item("leaf_switch", 2, [10, 30])], "fabric": {}, "total": total}
    new = {"items": [item("node", 4, 100), item("node", 1, 40), item("nic", 8)], "fabric": {}, "total": total}
    assert effects(side(bill=old), side(bill=new)) == {
        "node count": (4.0, 5.0, None),
        "leaf switch count": (2.0, 0.0, None),
        "nic count": (0.0, 8.0, None),
        PRICE: (120.0, 140.0, None),
    }


def test_prices_of_two_currencies_are_told_apart() -> None:
    def priced(currency: str | None, price: float | None) -> Side:
        return side(bill={"items": [item("node", 1, price)], "fabric": {}, "total": price and {"currency": currency}})

    found = compared(priced("EUR", 10), priced("USD", 12))
    assert [(one.unit, one.old, one.new) for one in found.effects] == [("EUR", 10.0, None), ("USD", None, 12.0)]
    assert found.caution.startswith("Prices are in EUR in the old design and in USD in the new one")
    assert "in no stated currency" in compared(priced(None, 10), priced("USD", 12)).caution
    alone = compared(priced("EUR", 10), priced("USD", None))
    assert (alone.caution, [(one.unit, one.old, one.new) for one in alone.effects]) == ("", [("EUR", 10.0, None)])


@each(
    ("nodes", "spares", "price"),
    [(2, 0, None), (1, 1, None), (1, 0, 7.0)],
)
def test_a_bill_without_its_fabric_has_no_comparable_price(nodes: int, spares: int, price: float | None) -> None:
    """One node needs no fabric."""
    lacking = {"items": [item("node", nodes, 7), item("spare_node", spares)], "fabric": None}
    whole = {"items": [item("node", nodes, 7), item("spare_node", spares), item("leaf_switch", 1, 3)], "fabric": {}}
    found = effects(side(bill=lacking), side(bill=whole))
    assert found[PRICE] == (price, 10.0, None)
    assert found["leaf switch count"] == (None if price is None else 0.0, 1.0, None)


@each(
    ("old", "new", "changes"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [(("a", "c"), 2, 3)]),
        ({"a": 1}, {"b": 1}, [(("a",), 1, None), (("b",), None, 1)]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [(("a",), [1, 2], [1, 3])]),
        ({"a": 1}, {"a": True}, [(("a",), 1, True)]),  # equal in Python
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": float("nan")}, {"a": float("nan")}, []),
        ({"a": {"b": 1}}, {"a": 1}, [(("a",), {"b": 1}, 1)]),
    ],
)
def test_keys_that_differ_are_changes(old: Any, new: Any, changes: list[Any]) -> None:
    found = compared(side(value=old), side(value=new)).changes
    assert [(one.path, one.old, one.new) for one in found] == changes


def drafted(tokens: Any, acceptance: float | None, serving: bool = True) -> Side:
    speculative = {"tokens": tokens, "acceptance": acceptance}
    value = {"workload": {"serving": {"speculative": speculative}}}
    return side({"serving": {}} if serving else {}, value=value)


def test_speculative_figures_hold_for_their_acceptance() -> None:
    found = compared(drafted(3, 0.7), drafted(0, None)).caution
    assert found.startswith(
        f"Speculative decoding differs: 3 draft tokens at {percent(0.7, 2)} in the old design, none in the new"
    )
    assert compared(drafted(1, 0.7), drafted(1, 0.7)).caution == ""
    assert f"1 draft token at {percent(0.7, 2)}" in compared(drafted(1, 0.7), drafted(1, 0.8)).caution
    assert compared(drafted(3, 0.7), drafted(0, None, serving=False)).caution == ""


SPAN = Span("a.yaml", Position(1, 1), Position(1, 2))


def finding(rule: str, path: Path, message: str = "m") -> Finding:
    return Finding(rule, Severity.ERROR, Confidence.CERTAIN, message, "", SPAN, path)


A, B, MOVED = finding("a", ("jobs", 0)), finding("b", ("layout", "tp")), finding("a", ("jobs", 1))


@each(
    ("old", "new", "value", "found", "fixed", "unchecked"),
    [
        ([A], [], {"jobs": [1], "layout": {}}, [], [A], []),
        ([], [A], {"jobs": [1], "layout": {}}, [A], [], []),
        ([A], [MOVED], {"jobs": [1], "layout": {}}, [], [], []),  # the same words at another key
        ([A], [finding("a", ("jobs", 0), "other words")], {"jobs": [1], "layout": {}}, [], [], []),
        ([A, MOVED], [A], {"jobs": [1], "layout": {}}, [], [MOVED], []),
        ([A], [A, MOVED], {"jobs": [1], "layout": {}}, [MOVED], [], []),
        ([A, B], [], {"layout": {}}, [], [B], [A]),  # the section is gone
        ([A, B], [], {"jobs": [1]}, [], [A], [B]),
    ],
)
def test_a_finding_is_new_fixed_or_no_longer_checked(
    old: list[Finding], new: list[Finding], value: Any, found: Any, fixed: Any, unchecked: Any
) -> None:
    whole = {"jobs": [1], "layout": {"tp": 1}}
    report = compared(side(findings=old, value=whole), side(findings=new, value=value))
    assert ([*report.found], [*report.fixed], [*report.unchecked]) == (found, fixed, unchecked)


def test_a_finding_of_a_rule_that_does_not_run_is_not_fixed() -> None:
    value = {"jobs": [1], "layout": {"tp": 1}}
    report = compared(side(findings=[A, B], value=value), side(value=value, unchecked=frozenset({"a"})))
    assert ([*report.fixed], [*report.unchecked]) == ([B], [A])


def test_the_goodput_of_both_is_compared() -> None:
    found = effects(side(goodput=0.9), side(goodput=0.8))
    assert found == {"goodput, with failures and checkpoints": (0.9, 0.8, None)}
