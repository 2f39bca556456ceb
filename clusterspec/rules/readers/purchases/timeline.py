"""The dates of a purchase in its texts: order, deliveries, acceptance, options, migration, and what lapses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property

from clusterspec.records import dataclass
from clusterspec.rules.knowledge.purchases import DATE, date_of_text, dates_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.clauses import refers_to_before
from clusterspec.rules.readers.units import NUMBER_WORDS, SPELLED_TENS
from clusterspec.source import Path
from clusterspec.standard import pattern

_CLAUSE_END = pattern(r"[.,;()\n](?!\d)")
_UNTIL = r"(?:until|till|to|through|by|the|do|bis|zum|jusqu'au|hasta|el|até|fino|al|tot|en|met|til)"
UNTIL = pattern(rf"(?i)\b(?:{_UNTIL}|before|vor|latest|spätestens) $")
"""Pattern of the end of the text before a date on which something ends."""
_DATE_ALONE = pattern(rf"^\W*(?:{_UNTIL} ){{0,3}}{DATE}\W*$")
"""Pattern of a clause that only adds an end date to the previous clause."""
WEEK = pattern(
    r"\b(?:weeks?|wk|kw)\.? ?(\d{1,3})\b|\b(\d{1,3})(?:st|nd|rd|th|\.)? weeks?\b|第 ?(\d{1,3}) ?[周週]|(\d{1,3}) ?주차?"
)
_SPELLED_WEEK = pattern(r"\bweek ([a-z]{3,9})(?:-([a-z]{3,5}))?\b")
SERVERS = pattern(r"納入|納品|\b(?:servers?|nodes?|dgx\w*|hgx\w*|machines?|compute trays?)\b")
ACCEPTANCE = pattern(r"\b(?:acceptance|accepted|sign-?off)\b")
MIGRATION = pattern(
    r"\bmigrat\w*|\bcop(?:y|ied|ying) (?:of )?(?:the )?(?:data|\d[\d.,]* ?[tp]i?b)\b|\bdata (?:transfer|move)\b"
)
ORDER = pattern(
    r"(?i)\b(?:orders?|ordered|award\w*|sign(?:s|ed|ing|ature)?|deci(?:de|des|sion)|approv\w+|votes?|purchase order|"
    r"bestell\w*|auftrag\w*|beschlu\w*|commandes?|pedidos?|ordine|zamówieni\w*|beslut\w*|podpisani\w*|underskr\w*|allekirjoit\w*|firma\w*|assinatura|imza\w*|podpis\w*|ondertek\w*|unterzeichn\w*|signature)\b|発注|订購|발주"
)
"""Pattern of words for the order and for the decision to order."""
_EXERCISE = pattern(
    r"\b(?:exercis\w*|decid\w*|decision|board|council|conseil|vot\w+|affermi\w*|ausge(?:übt|löst)|abgerufen|abruf|drawn|called|order\w*|"
    r"beschlu\w*|ejerc\w+|exerc\w+|eserc\w+|uitge\w+|avrop\w*)\b|行使"
)
_OPTION = pattern(r"\b(?:option\w*|opci[oó]n\w*|opç\w+|opzion\w+|optie|opsjon\w*|opcj\w+)\b|オプション|옵션")
_CLEARED = pattern(
    r"\b(?:clear(?:ed|ing|ance)?|vacat\w*|emptied|emptying|empty by|moved out|leeghalen|leeggehaald|räumung|geräumt|räumen|évacu\w*|vider|vaciado|vaciar|desocup\w*|sgomber\w*|"
    r"utrymning|rydd\w*|opróżni\w*|vyklizen\w*)\b"
)
ENDS = pattern(
    r"\b(?:laps\w+|tot en met|expir\w*|closes (?:on|at)|schließt am|se clôt|se cierra|si chiude|sluit op|runs? out|ends?|ending|until|till|valid|latest|no later than|forfeit\w*|deadline|spätestens|bis|verfäll\w*|verfall\w*|"
    r"endet|läuft|gültig|jusqu'\w+|au plus tard|caduc\w+|venc\w+|hasta|a más tardar|válid\w+|até|scad\w+|entro|fino al|verloopt|vervalt|uiterlijk|"
    r"geldig|tot|förfaller|senast|giltig\w*|utløper|udløber|senest|gyldig\w*|wygasa\w*|do dnia|ważn\w+|konč\w+|skonč\w+|"
    r"(?:lost|void|withdrawn|perdue?s?|verloren|entfällt|erlischt|pierden?|perde|persi|vervalt|przepada) (?:if|unless|si|wenn|falls|sofern|se|als|tenzij|jeśli)|"
    r"if (?:[a-z-]{1,16} ){1,6}by|returned|handed back|goes back|given back|removed|decommissioned|retired|switched off)\b|失効|期限|まで|까지|截止|有效"
)
"""Pattern of words for an end: something lapses or is withdrawn on the date."""

_MACHINE = r"(?:machines?|clusters?|systems?|(?:super)?computers?|nodes?|servers?|rechner|maschine|anlage|calculateur|ordinateur|máquina|macchina|calcolatore|service|platform|plattform|it|all of it|everything)"
_MUST = r"(?:must|has to|have to|needs? to|shall|muss|müssen|doit|doivent|debe|deben|tiene que|deve|devono|moet|moeten)"
_AT_WORK = r"(?:runs?|running|in (?:service|operation|production|use)|ready|accepted|acceptance|live|working|available|operational|passed|laufen|im betrieb|in betrieb|bereit|abgenommen|en service|opérationnel\w*|prête?s?|en servicio|en marcha|operativ\w*|list[oa]s?|pront[oaie]|in esercizio|klaar|draaien|operationeel)"
_NEEDED = pattern(
    rf"\b{_MACHINE} (?:[^\W\d]+ ){{0,4}}?{_MUST}\b(?=[^.;]{{0,80}}?\b{_AT_WORK}\b)|\b{_MACHINE} (?:is|are) (?:needed|required)\b"
    rf"|\b{_MUST}\b(?=[^.;]{{0,80}}?\b(?:delivered|geliefert|livrée?s?|entregad[oa]s?|consegnat[oaie]|geleverd)\b)"
    r"|\b(?:equipment|hardware|everything|goods|geräte|matériel|equipos?)\b[^.;\d]{0,60}\b(?:delivered|accepted|installed|acceptance|abgenommen|geliefert|livrée?s?|entregad[oa]s?)\b[^.;\d]{0,30}\b(?:by|bis(?: zum)?|avant le|antes del?) (?:the )?20\d\d"
)
"""Pattern of a clause that says when the machine must work."""
_NOT_OF_MACHINE = pattern(
    r"\b(?:hall|rooms?|buildings?|feeds?|transformers?|offers?|bids?|orders?|invoices?|payments?|option\w*|licen[cs]es?|documents?|reports?|old)\b"
)
"""Pattern of words for what else must be done by a day."""


def clauses_of(text: str) -> list[str]:
    """The clauses of a text; a clause that is only a date is joined with the previous one.

    >>> clauses_of("the offer binds for 21 days, until 2026-12-03, net. order 2026-12-14")
    ['the offer binds for 21 days until 2026-12-03', ' net', ' order 2026-12-14']
    """
    found: list[str] = []
    for clause in _CLAUSE_END.split(text):
        if found and _DATE_ALONE.search(clause) is not None:
            found[-1] += clause
        else:
            found.append(clause)
    return found


def weeks_in(text: str) -> list[int]:
    """The numbers of weeks that a milestone states.

    >>> weeks_in("servers in week 17, racks in the 18. week")
    [17, 18]
    >>> weeks_in("racks in week twenty-one, week after the servers"), weeks_in("20 weeks ARO")
    ([21], [20])
    """
    spelled = (
        (SPELLED_TENS | NUMBER_WORDS).get(word, 0) + NUMBER_WORDS.get(unit, 0)
        for word, unit in _SPELLED_WEEK.findall(text)
    )
    return [int(next(filter(None, found))) for found in WEEK.findall(text)] + [each for each in spelled if each]


@dataclass(frozen=True)
class DatedClause:
    """A clause with dates: its key, its text and the sentence around it, in English as far as suppliers' words go."""

    at: Path
    text: str
    sentence: str
    days: Sequence[date]


@dataclass(frozen=True)
class Timeline:
    """The dated clauses of a purchase: of its description, milestones and quote lines.

    `priced` is the date of the prices, and `weeks` the time from the order to the last delivery.
    """

    clauses: Sequence[DatedClause]
    priced: date | None
    weeks: float | None

    @classmethod
    def of(cls, texts: PurchaseTexts) -> Timeline:
        """The timeline of a purchase."""
        delivery = texts.procurement.delivery
        clauses = [
            clause
            for (path, text), before in zip(texts.placed, ("", *(each for _, each in texts.placed)), strict=False)
            for clause in _dated_clauses(path, text, before)
        ]
        priced = date_of_text(texts.procurement.as_of)
        timeline = cls(clauses, priced, delivery.weeks if delivery is not None else None)
        ordered = timeline.order
        if ordered is not None:
            for path, text in texts.placed:
                if path[:2] != ("procurement", "delivery"):
                    continue
                days = [day for week in weeks_in(text) if (day := _weeks_after(ordered, week)) is not None]
                clauses += [DatedClause(path, text, text, days)] if days and not dates_in(text) else []
        return timeline

    @property
    def lapses(self) -> list[DatedClause]:
        """The clauses in which something ends."""
        return [each for each in self.clauses if ENDS.search(each.text) is not None]

    @property
    def order(self) -> date | None:
        """The day of the order by the text, else the date of the prices."""
        found = self._last_day(
            lambda each: ORDER.search(each.text) is not None and _OPTION.search(each.sentence) is None
        )
        return found or self.priced

    @cached_property
    def delivery(self) -> date | None:
        """The last delivery of servers by the milestones, else the day `weeks` after the order."""
        found = self._last_day(
            lambda each: each.at[:2] == ("procurement", "delivery") and SERVERS.search(each.text) is not None
        )
        ordered = self.order
        return found or (_weeks_after(ordered, self.weeks) if ordered is not None and self.weeks is not None else None)

    @property
    def first_delivery(self) -> date | None:
        """The first delivery of servers by the milestones; None if no milestone has a date."""
        found = [
            day
            for each in self.clauses
            if each.at[:2] == ("procurement", "delivery") and SERVERS.search(each.text) is not None
            for day in each.days
        ]
        return min(found, default=None)

    @property
    def states_order(self) -> bool:
        """Whether the description states the day of the order, so that the date of the prices is not used for it."""
        return any(ORDER.search(each.text) is not None for each in self.clauses if each.at == ("description",))

    @property
    def acceptance(self) -> date | None:
        """The last day on which anything is accepted."""
        return self._last_day(lambda each: ACCEPTANCE.search(each.text) is not None)

    @property
    def exercise(self) -> date | None:
        """The last day on which an option is exercised or decided on."""
        return self._last_day(
            lambda each: _OPTION.search(each.sentence) is not None and _EXERCISE.search(each.text) is not None
        )

    @property
    def needed(self) -> date | None:
        """The day on which the machine must work by the description; None unless it states exactly one."""
        found = {
            day
            for each in self.clauses
            if each.at == ("description",)
            and _NEEDED.search(each.text) is not None
            and _NOT_OF_MACHINE.search(each.text) is None
            and len(each.days) == 1
            for day in each.days
        }
        return found.pop() if len(found) == 1 else None

    @property
    def clearance(self) -> date | None:
        """The last day on which a space must be cleared."""
        return self._last_day(lambda each: _CLEARED.search(each.text) is not None)

    @property
    def migration(self) -> date | None:
        """The last day of a migration."""
        return self._last_day(lambda each: MIGRATION.search(each.text) is not None)

    def _last_day(self, is_of: Callable[[DatedClause], bool]) -> date | None:
        """The last day in the clauses of an event; None if there is none. Clauses in which something ends are skipped,
        unless a milestone states a period.
        """
        found = [
            day
            for each in self.clauses
            if is_of(each) and (_is_period(each) or ENDS.search(each.text) is None)
            for day in each.days
        ]
        return max(found, default=None)


def _is_period(clause: DatedClause) -> bool:
    """Whether a milestone states both days of a period, such as `2031-03-03 until 2031-03-14`."""
    return len(clause.days) > 1 and clause.at[:2] == ("procurement", "delivery")


_WITHIN = pattern(
    rf"\b(?:within|dans|innerhalb|inom|inden|entro|binnen|dentro de|em até|w ciągu|do) (?:(?:the|le|les|un|une|uno|einem?|one|a|el|het|en|et) )?(?:(\d{{1,3}}) )?(day|week|month)s?\b[^.;\d]{{0,40}}?{DATE}"
)
"""Pattern of a time span that begins on a date."""
_DAYS_OF = {"day": 1, "week": 7, "month": 31}


def _dated_clauses(at: Path, text: str, before: str) -> Iterator[DatedClause]:
    """The clauses of a text that have dates; a text with one date is one clause. A time span that begins on a date
    counts as its end date. The sentence of a text that begins with a pronoun includes the one ``before``.
    """
    about = f"{before} {text}" if refers_to_before(text) else text
    for number, unit, start in _WITHIN.findall(text):
        day = date_of_text(start)
        if day is not None:
            until = day + timedelta(days=min(int(number or 1) * _DAYS_OF[unit], 3650))
            text = text.replace(start, f"until {until}", 1)
    days = dates_in(text)
    if len(days) == 1:
        yield DatedClause(at, text, about, days)
    elif days:
        yield from (DatedClause(at, each, about, found) for each in clauses_of(text) if (found := dates_in(each)))


def _weeks_after(start: date, weeks: float) -> date | None:
    """The day some weeks after another; None after the last day of the calendar."""
    try:
        return start + timedelta(days=round(7 * weeks))
    except OverflowError:
        return None
