"""Shares of a price, and sums that are insured or guaranteed: on both sides of each limit, by hand."""

from __future__ import annotations

from clusterspec import rules
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

from .test_checks_of_quotes import SPEC, judge

NODES = "DGX H200 node | 8 | 100"
MACHINES = "Server | 8 | 1000000 | 8000000"
GUARANTEE = "The bank guarantee for the advance payment is over 400,000 EUR."


@each(
    ("text", "keys", "words"),
    [
        # a tenth until the acceptance, half with the order at most, and all of it together
        ("x", "payment: {order: 0.3, delivery: 0.6, acceptance: 0.1}", ""),
        ("x", "payment: {order: 0.3, delivery: 0.61, acceptance: 0.09}", "91 % of the price is paid before acceptance"),
        (
            "x",
            "payment: {order: 0.5, delivery: 0.5}",
            "100 % of the price is paid before acceptance: nothing is withheld",
        ),
        ("x", "payment: {order: 0.5, acceptance: 0.5}", ""),
        ("x", "payment: {order: 0.51, acceptance: 0.49}", "51 % of the price is due with the order"),
        ("x", "payment: {order: 0.5, acceptance: 0.504}", ""),
        ("x", "payment: {order: 0.5, acceptance: 0.506}", "the shares of the payment sum to 1.01, not to 1"),
        ("x", "payment: {order: 0.5, acceptance: 0.494}", "sum to 0.994"),
        # what the text says of a step, within half a percent
        ("30 % with the order.", "payment: {order: 0.304, acceptance: 0.696}", ""),
        (
            "30 % with the order.",
            "payment: {order: 0.31, acceptance: 0.69}",
            "30 % of the price are due with the order",
        ),
        ("60 % on delivery.", "payment: {order: 0.3, delivery: 0.5, acceptance: 0.2}", "but `payment.delivery` is 0.5"),
        ("60 % after acceptance.", "payment: {order: 0.3, acceptance: 0.7}", "but `payment.acceptance` is 0.7"),
        ("60 % on delivery.", "payment: {order: 0.3, acceptance: 0.7}", ""),
        ("30 % with the order or 20 % with the order.", "payment: {order: 0.3, acceptance: 0.7}", ""),
        # a rent from the shipment on
        ("The rent is due on shipment.", "", "according to the text, the rent is due before the machine is installed"),
        ("The rent is due on installation.", "", ""),
        ("The rent is due, not on shipment, later.", "", ""),
    ],
)
def test_a_price_is_paid_in_the_shares_that_are_agreed(text: str, keys: str, words: str) -> None:
    judge("payment-before-acceptance", words, NODES, text, keys)


def test_small_goods_need_no_acceptance_and_a_large_advance_needs_a_guarantee() -> None:
    """Below 250,000 USD half and half is usual, below a million goods go back; an advance of four fifths is loud."""
    for price, payment, severity in (
        (26_000, "{order: 0.5, delivery: 0.5}", "note"),
        (32_000, "{order: 0.5, delivery: 0.5}", "warning"),
        (26_000, "{order: 0.6, delivery: 0.4}", "warning"),
        (100_000, "{delivery: 1}", "note"),
        (130_000, "{delivery: 1}", "warning"),
        (100_000, "{order: 0.5, delivery: 0.5}", "warning"),
        (500_000, "{order: 0.79, acceptance: 0.21}", "note"),
        (500_000, "{order: 0.8, acceptance: 0.2}", "warning"),
        (500_000, "{order: 0.9, acceptance: 0.2}", "error"),
    ):
        lines = f'    - {{part: "DGX H200 node", quantity: 8, unit_price: {price}, price: {8 * price}}}'
        spec = SPEC.format(text="x", keys=f"  payment: {payment}", lines=lines)
        found = rules.run_rules(study_text(spec, SETTINGS).facts(), {"payment-before-acceptance"})
        assert [str(problem.severity) for problem in found] == [severity], (price, payment)


@each(
    ("text", "lines", "keys", "words"),
    [
        ("x", f"{MACHINES}; Freight, insured for 8,000,000 | 1 | 5", "", ""),
        (
            "x",
            f"{MACHINES}; Freight, insured for 7,999,000 | 1 | 5",
            "",
            "insured for 7,999,000 EUR, but one line of the",
        ),
        ("x", f"{MACHINES}; Freight, insured for 7.9 million | 1 | 5", "", "insured for 7,900,000 EUR"),
        ("x", f"{MACHINES}; Freight, insured for 7,200,000 | 1 | 5", "discount: 0.1", ""),
        ("x", f"{MACHINES}; Freight, insured for 7,199,000 | 1 | 5", "discount: 0.1", "alone is worth 7,200,000 EUR"),
        ("x", f"{MACHINES}; Freight, insured for 900,000 per shipment | 1 | 5", "", ""),
        ("x", f"{MACHINES}; Freight, insured for 900,000 or 800,000 | 1 | 5", "", ""),
        ("x", f"{MACHINES}; Fire, insured for 900,000 | 1 | 5", "", ""),
        ("x", f"{MACHINES}; Freight for 900,000 | 1 | 5", "", ""),
        # half of the total is due with the order; a hundredth may be missing
        (GUARANTEE, NODES, "quoted_total: 800000; payment: {order: 0.5, delivery: 0.5}", ""),
        (GUARANTEE, NODES, "quoted_total: 808000; payment: {order: 0.5, delivery: 0.5}", ""),
        (
            GUARANTEE,
            NODES,
            "quoted_total: 810000; payment: {order: 0.5, delivery: 0.5}",
            "the guarantee covers 400,000 EUR, but 405,000 EUR are due with the order",
        ),
        (GUARANTEE, NODES, "quoted_total: 810000; payment: {delivery: 1}", ""),
        (GUARANTEE, NODES, "payment: {order: 0.5, delivery: 0.5}", ""),
        (
            "The performance guarantee is over 400,000 EUR.",
            NODES,
            "quoted_total: 900000; payment: {order: 0.5, delivery: 0.5}",
            "",
        ),
    ],
)
def test_a_sum_covers_what_it_is_for(text: str, lines: str, keys: str, words: str) -> None:
    judge("insured-below-value", words, lines, text, keys)
