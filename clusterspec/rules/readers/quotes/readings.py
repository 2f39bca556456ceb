"""Alternative readings of a quote: whether ambiguous lines add up to the number that a design needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from clusterspec.cluster.fleet import Fleet
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem, Severity
from clusterspec.procurement.offered import Offered, is_service, lines_of_pools, offered_lines
from clusterspec.procurement.part_names import ANY_SWITCH, CABLING, WHOLE_NETWORK, plain_part
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.records import replace
from clusterspec.rules.words import and_list
from clusterspec.spec.model import QuoteLine
from clusterspec.standard import pattern


def lines_of_quote(quote: Sequence[QuoteLine], cluster: Cluster | None, fleet: Fleet | None) -> list[Offered]:
    """The lines of a quote as read for one machine, else for all pools of a fleet; empty if no machine is known."""
    if cluster is not None:
        return [*offered_lines(quote, cluster)]
    machines = [pool.cluster for pool in fleet.pools.values() if pool.cluster is not None] if fleet is not None else []
    return lines_of_pools(quote, machines) if machines else []


ABOVE = 1.10
"""Multiple of the need up to which a surplus counts as spares."""
MOST_SUMS = 4096
"""Largest number of sums of lines that are tried; with more sums, a match is likely to be a coincidence."""


_COUNT = pattern(
    r"(?<![\w.,/+-])([2-9]|[1-9]\d{1,2})(?![\d.,/-]?\d|[\w/+-]| ?(?:[x×]|mm?|[gt]b?(?:e|it)?|[mk]?[wv]|va|a|u|he|%|°)\b|"
    r" ?(?:years?|months?|days?|weeks?|hours?|ports?|lanes?|rails?|jahre?n?|monate?n?|ans?|années|mois|años?|mes(?:es)?|anni)\b)"
)
"""Pattern of a number in a description that may count the pieces of one unit; it is not a rate, size or time."""

_BY_THE_PACK = pattern(
    r"\b(?:per|each|por|je|pro|par|a|al|per) (?:box|pack|kit|set|caja|caixa|karton|packung|boîte|conf\w*|doos|förpackning|pakning|opakowanie)\b"
)
"""Pattern of words for a price per pack; the quantity then counts packs."""


def numbers_of_line(line: Offered) -> set[float]:
    """The numbers of parts that a line may offer.

    A quantity of packs may count packs or pieces, unless the price is per pack. A number in the text of cables and
    modules may count the pieces of one unit.
    """
    quantity = line.quantity if line.quantity is not None else line.line.quantity
    if quantity is not None and line.units > 1 and _BY_THE_PACK.search(plain_part(line.line)) is not None:
        return {quantity}
    numbers = {number for number in (quantity, line.line.quantity) if number is not None}
    return numbers | ({quantity * pieces for pieces in counts_in_text(line)} if quantity is not None else set())


def counts_in_text(line: Offered) -> set[int]:
    """The numbers in the text of cables or modules that may count the pieces of one unit."""
    return {int(count) for count in _COUNT.findall(plain_part(line.line))} if line.kind in CABLING else set()


def unread_lines(lines: Iterable[Offered]) -> list[Offered]:
    """The lines of an unrecognized part; each may offer a part of the bill."""
    return [
        line
        for line in lines
        if line.kind == "other" and line.line.quantity and line.site_kind is None and not is_service(line.line)
    ]


def lines_that_fill(needed: int, lines: Sequence[Offered], unread: Sequence[Offered]) -> list[Offered]:
    """The unread lines, and the lines with several readings, that make up the needed number of parts (or up to a tenth
    more); empty if no combination does. The lines of the kind offer too few without them.
    """
    reached: dict[float, tuple[Offered, ...]] = {0.0: ()}
    for line in lines:
        reached = {
            total + number: used if number == line.quantity else (*used, line)
            for total, used in reached.items()
            for number in sorted(numbers_of_line(line) or {0.0})
        }
        if len(reached) > MOST_SUMS:
            return []
    for line in unread:
        added = {
            total + number: (*used, line)
            for total, used in reached.items()
            for number in numbers_of_line(line)
            if total + number <= ABOVE * needed
        }
        reached = added | reached
        if len(reached) > MOST_SUMS:
            return []
    found = [used for total, used in reached.items() if needed <= total <= ABOVE * needed and used]
    by_length = {len(used): used for used in found}
    return list(by_length[min(by_length)]) if found else []


def is_sum_of_some(needed: int, lines: Sequence[Offered]) -> bool:
    """Whether some lines of a kind add up to exactly the needed number, in any of their readings; the other lines may
    be for something else.
    """
    totals = {0.0}
    for line in lines:
        totals |= {total + number for total in totals for number in numbers_of_line(line)}
        if len(totals) > MOST_SUMS:
            return False
    return needed in totals


def doubt_about(needed: int, lines: Sequence[Offered], every: Iterable[Offered]) -> str:
    """Why the number of quoted parts is uncertain, as the end of a message: other lines may offer missing parts, or
    lines of the kind may be for something else. Empty if there is no doubt.
    """
    total = offered_quantity(lines)
    if total < needed:
        filling = lines_that_fill(needed, lines, unread_lines(every))
        names = and_list(f"`{line.line.part}`" for line in filling)
        return f"; {names} may offer them" if filling else ""
    if total > ABOVE * needed and is_sum_of_some(needed, lines):
        return f"; some of the lines have {needed:,} together, so others may be for something else"
    return ""


def doubt_about_cabling(kinds: Collection[str], lines: Iterable[Offered]) -> str:
    """Why cables and modules of some kinds may not be missing, as the end of a message: a line for a service names cabling, and
    its price may include the material. Empty without such a line, and for other kinds of part.
    """
    services = [f"`{line.line.part}`" for line in lines if line.kind == "other" and line.described_cabling]
    return f"; {and_list(services)} may include them" if services and {*kinds} <= {*CABLING} else ""


def doubted_problems(
    problems: Iterable[Problem], needed: int, lines: Sequence[Offered], every: Sequence[Offered]
) -> Iterator[Problem]:
    """The problems of a number of parts; they become notes if the lines of the quote can be read in another way."""
    for problem in problems:
        yield with_doubt(problem, doubt_about(needed, lines, every))


def with_doubt(problem: Problem, doubt: str) -> Problem:
    """The problem as a note that ends with the doubt; unchanged if there is no doubt."""
    return replace(problem, message=problem.message + doubt, severity=Severity.NOTE) if doubt else problem


OF_ENDPOINT = {"cable": 1, "transceiver": 2}
"""Number of parts of each kind that the cabling of one endpoint needs."""


def with_own_cables(problems: Iterable[Problem], missing: float, of_others: int) -> Iterator[Problem]:
    """The problems of a number of cables or modules, as notes if extra endpoints may bring the missing ones."""
    for problem in problems:
        if 0 < missing <= of_others:
            message = f"{problem.message}; storage and hosts under `extra_endpoints` may come with their own"
            yield replace(problem, message=message, severity=Severity.NOTE)
        else:
            yield problem


def links_of(cables: Sequence[Offered], rate: float) -> float:
    """The number of links of ``rate`` bytes/s per direction that lines of cables carry.

    A divided cable carries several, and so does one of twice the rate, between cages of two ports each.
    """
    lines = [line for line in cables if not line.is_spare]
    return float(sum((line.quantity or 0) * max(line.ways, line.links_of_rate(rate)) for line in lines))


def names_every_part(lines: Sequence[Offered]) -> bool:
    """Whether a quote lists switches, and every line names a known part or a service, so that nothing else can hide in
    a line.
    """
    return any(line.kind in ANY_SWITCH for line in lines) and all(
        line.covered_kinds != WHOLE_NETWORK and (line.kind != "other" or is_service(line.line)) for line in lines
    )
