"""The gates of the quote and of the budget."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.analysis.purchase.risks import rounded_amount
from clusterspec.finding import Finding, Severity
from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text, terms_text, total_of_lines
from clusterspec.procurement.items import kind_words
from clusterspec.procurement.quotes import QuotedPart
from clusterspec.results.verdict import Gate, GateStatus
from clusterspec.spec.model import ProcurementSpec

Amounts = tuple[Money | None, Money | None]
"""The quoted and the expected amount, both in the terms of the quote (discount and tax)."""
OF_LACKING = frozenset({"quote-off-bill", "fleet-quote-off-bill"})
"""Rules about parts that a quote lacks."""


def quote_gate(
    parts: tuple[QuotedPart, ...],
    buying: ProcurementSpec,
    amounts: Amounts,
    findings: Sequence[Finding],
    *,
    rents: bool,
) -> Gate:
    """The gate of the quote. Missing parts fail the gate only if the check reports them as an error or a warning; a
    note means that another supplier, or the described site, may provide them.
    """
    quoted, expected = amounts
    if not parts:
        if rents and quoted is None:
            return Gate("quote", GateStatus.NOT_NEEDED, "rented")
        return Gate(
            "quote",
            GateStatus.OPEN,
            "no quote is entered (`procurement.quote`)",
            "ask suppliers to fill in the price sheet",
        )
    lacking = [part for part in parts if part.has_too_few]
    if lacking:
        objects = any(one.rule in OF_LACKING and one.severity is not Severity.NOTE for one in findings)
        status, ask = GateStatus.FAILED if objects else GateStatus.OPEN, "ask the supplier for these lines"
        ask += "" if objects else ", or say who delivers the parts"
        return Gate("quote", status, f"the quote lacks {_lacking_text(lacking, buying)}", ask)
    if any(part.state == "in place" for part in parts):
        text = (
            "the quote extends a machine; according to the description its other parts exist, and they are not compared"
        )
        return Gate("quote", GateStatus.OPEN, text, "compare the quote with the bill before and after")
    open_ = [kind_words(part.kind) for part in parts if part.state in {"no quantity", "elsewhere"}]
    if open_:
        text = f"no quantity, or no line, for {', '.join(dict.fromkeys(open_))}"
        return Gate("quote", GateStatus.OPEN, text, "ask who delivers them, and how many")
    expected_cost = ""
    if expected and quoted:
        expected_cost = f"; the design costs {rounded_amount(expected)} at the prices of the spec{terms_text(buying)}"
    return Gate("quote", GateStatus.MET, f"each part that the design needs is quoted{expected_cost}")


def _lacking_text(missing: Sequence[QuotedPart], buying: ProcurementSpec) -> str:
    """The units that a quote lacks, with their value where a price is known."""
    texts = []
    for part in missing:
        units = (part.needed or 0) - (part.quoted or 0.0)
        value = f" ({rounded_text(part.missing)})" if part.missing else ""
        texts.append(f"{units:,.0f} × {kind_words(part.kind)}{value}")
    return ", ".join(texts) + (terms_text(buying) if any(part.missing for part in missing) else "")


def budget_gate(
    buying: ProcurementSpec, amounts: Amounts, parts: tuple[QuotedPart, ...], currency: str, quote: Gate
) -> Gate:
    """The gate of the budget: the quoted amount plus the value of missing parts. It is open if the gate of the
    ``quote`` leaves parts uncertain, and if the total is below the sum of the lines.
    """
    if buying.budget is None:
        return Gate("budget", GateStatus.NOT_NEEDED, "no budget is stated")
    quoted, expected = amounts
    limit, amount = Money.of(float(buying.budget), currency), quoted or expected
    if amount is None:
        return Gate("budget", GateStatus.OPEN, f"{limit}, and nothing has a price", "ask for prices")
    terms = terms_text(buying)
    said, sure = f"{amount}" if quoted else f"{rounded_amount(amount)}{terms}{',' if terms else ''}", amount
    if missing := [part.missing for part in parts if quoted is not None and part.missing]:
        lacking = Money.total(missing)
        amount = Money.total([amount, lacking])
        sure = amount if quote.status is GateStatus.FAILED else sure
        said = f"{rounded_text(amount)}, with {rounded_text(lacking)} for parts without a quote{terms_text(buying)},"
    if sure.low > limit.high:
        return Gate("budget", GateStatus.FAILED, f"{said} exceeds the budget of {limit}", "raise it, or buy less")
    if amount.low > limit.high:
        text = f"{said} would exceed the budget of {limit}"
        return Gate("budget", GateStatus.OPEN, text, "ask who delivers these parts, and from which budget")
    lines = total_of_lines(buying) if quoted is not None else None
    if lines is not None and lines > limit.high:
        text = f"{said} of {limit}, and the lines of the quote sum to {rounded_text(Money.of(lines, currency))}"
        return Gate("budget", GateStatus.OPEN, text, "ask which of the sums is right")
    status = GateStatus.OPEN if amount.high > limit.high else GateStatus.MET
    ask = "" if status is GateStatus.MET else "have the upper price excluded"
    return Gate("budget", status, f"{said} of {limit}", ask)
