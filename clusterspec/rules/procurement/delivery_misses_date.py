"""The delivery does not fit the dates of the procurement.

## What it finds

- `as_of`, or a later order date in the description, plus `delivery.weeks`, the burn-in and the longest acceptance test after
  it, is after `needed_by`: an error, and a warning if it is after that day only because the test has several runs (`pass:
  10 of 10`), each of its `duration`, or because tests that load the whole machine run one after another;
- `needed_by` is after the day on which the machine must work according to the text, which is the limit where `needed_by` is absent;
- a milestone of a delivery is in a week after `delivery.weeks`, or on a date (or in a week, without `delivery.weeks`)
  after `needed_by`, unless it is about an option, a later phase or the end of the contract, or says who comes, pays, tests or decides;
- a line of the quote has a lead time beyond `delivery.weeks`;
- a milestone of a collective is in a week before the switches or modules arrive;
- the last delivery falls into a freeze or closure of the site; the description must state both of its dates.

A report counts the weeks from its own date where that is later than `as_of`; findings do not depend on the date of the
check.

## Why it matters

The machine is needed before it can arrive, and a job, a lease or a grant waits. A milestone after the last delivery
means that the supplier's dates contradict each other, so the contract does not settle who pays for a delay.

## What to do

Order earlier, agree on partial delivery, or move the date.

## When to ignore it

Ignore it where `as_of` is not the date of the order.

## Fires

```yaml procurement.delivery.weeks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, needed_by: 2027-01-15, delivery: {weeks: 20}}
```

```yaml procurement.delivery.milestones[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, delivery: {weeks: 8, milestones: ["first rack in week 12"]}}
```

```yaml procurement.delivery.milestones[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, needed_by: 2027-06-01, delivery: {milestones: ["2027-09-30: power in the hall"]}}
```

```yaml procurement.delivery.weeks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
acceptance: [{collective: all-reduce, nodes: 64, size: 8 GiB, busbw: 300 GB/s, duration: 24 h, pass: 10 of 10}]
operations: {burn_in: 72 h}
procurement: {currency: USD, as_of: 2026-11-01, needed_by: 2027-04-01, delivery: {weeks: 20}}
```

```yaml procurement.needed_by
clusterspec: 1
description: The new machine must be in operation on 1 March 2027, the first day of the campaign.
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, needed_by: 2027-06-01, delivery: {weeks: 12}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, needed_by: 2027-06-01, delivery: {weeks: 20, milestones: ["first rack in week 12"]}}
```

## Sources

- Terms of delivery in contracts: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from math import inf

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.purchases import DATE, date_of_text, dates_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.days import day_in_words
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.purchases.timeline import Timeline
from clusterspec.rules.readers.written_numbers import time_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import AcceptanceSpec, DeliverySpec, OperationsSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import display, plain
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error")
_WEEKS = r"(?:weeks?|wochen?|semaines?|semanas?|settiman[ae]|vecka|uke|uge|tygodni\w*|tydzień)"
_WEEK = pattern(rf"\b{_WEEKS} (\d{{1,4}})\b")
_DATE = pattern(DATE)
_AFTER_DELIVERY = pattern(
    r"(?i)\b(?:accept\w*|(?:dauer|last|funktions|probe|abnahme|stress|ende)?-?(?:tests?|lauf|betrieb)|testing|rodage|essais?|pruebas?|prove|provas?|próby?|testy|commission\w*|install\w*|burn-?in|hand-?over|training|go-live|live|off|(?:change|cut|switch)-?over|migrat\w*|copy\w*|sign\w*|collect\w*|pick-?up|"
    r"take-?back|dispos\w*|abnahme\w*|inbetriebnahme|recette|mise en \w+|recepci[oó]n\w*|puesta en \w+|collaudo|aceptaci[oó]n|"
    r"acta|aceite\w*|odbi[oó]r\w*|\w*godkännand\w*|acceptatie|oplevering|hyväksym\w*|prøvedrift|provdrift|godkän\w*|\w{0,20}prov|zkouš\w*|předán\w*|převzet\w*|přejím\w*|odbior\w*|rozruch\w*|uruchom\w*|kabul\w*|devreye\w*|átvétel\w*|testaus\w*|käyttöönot\w*)\b"
)
"""Pattern of words in a milestone for work after the delivery."""
_OF_OTHERS = pattern(
    r"(?i)\b(?:visit\w*|inspect\w*|audit\w*|pays?|paid|payments?|invoic\w*|decid\w*|decision\w*|votes?|meets?|meeting|reports?|reads? back|verif\w*|certif\w*|training course|"
    r"besuch\w*|besichtig\w*|prüf\w*|prüfer\w*|zahl(?:t|en|ung\w*)|\w{0,6}gezahlt|bezahl\w*|geprüft|beschlossen|entschieden|rechnung\w*|entscheid\w*|beschließ\w*|stimmt ab|bericht\w*|begutacht\w*|gutachter\w*|schulung\w*|"
    r"visite\w*|contrôl\w*|paie(?:nt|ment\w*)?|facture\w*|décid\w*|décision\w*|vérifi\w*|rapport\w*|réunion\w*|formation|experts?|"
    r"visita\w*|auditor\w*|inspec\w*|pag[ao]\w*|factura\w*|decid\w*|decisión|comprueb\w*|informe\w*|reunión|formación|"
    r"ispe\w*|verific\w*|fattur\w*|decision\w*|revisor\w*|riunione|relazione|"
    r"bezoek\w*|keur\w*|keuring\w*|controle\w*|betaal\w*|betaling\w*|factu\w*|beslis\w*|gecontroleerd|besluit\w*|rapport\w*|vergadering|opleiding|"
    r"inspe\w*|fatura\w*|decisão|relatório\w*|reunião|"
    r"wizyt\w*|audyt\w*|kontrol\w*|płat\w*|płaci|faktur\w*|decyz\w*|decyduj\w*|raport\w*|szkoleni\w*)\b"
)
"""Pattern of words for what somebody else does: come, test, pay, decide or report."""
_ARRIVES = pattern(
    r"(?i)\b(?:deliver\w*|arriv\w*|ship\w*|liefer\w*|geliefert|eintreff\w*|treffen ein|livr\w*|entreg\w*|lleg\w*|consegn\w*|arriva\w*|lever\w*|geleverd|aankom\w*|cheg\w*|dostaw\w*|dostarcz\w*)\b"
)
"""Pattern of words for a delivery."""
_ITEM_END = pattern(r"[.;](?=\s|$)")


def _is_of_others(milestone: str, last: str) -> bool:
    """Whether the part of a milestone with its last week or day says what somebody else does, and names no delivery.

    >>> _is_of_others("Nodes in week 16. The auditor visits in week 25.", "25"), _is_of_others("Nodes arrive in week 25, then the bank pays.", "25")
    (True, False)
    """
    parts = [each for each in _ITEM_END.split(milestone) if last and last in each]
    part = parts[-1] if parts else milestone
    return _OF_OTHERS.search(part) is not None and _ARRIVES.search(part) is None


YEARS_LATER = 365
"""Number of days after which a milestone is not a part of a delivery, but a notice, a return or a contract's end."""
_LATER = pattern(
    r"(?i)\b(?:options?|optional|phase|stage|later|second|third|returns?|end|expir\w*|warranty|support|final|last|payment|review|retire\w*|delet\w*|eras\w*|gelöscht|supprim\w*|effac\w*)\b"
)
"""Pattern of words in a milestone for what follows the start of operation."""


def check(
    procurement: ProcurementSpec,
    operations: OperationsSpec | None,
    acceptance: tuple[AcceptanceSpec, ...] | None,
    cluster: Cluster | None,
    texts: PurchaseTexts,
) -> Iterator[Problem]:
    delivery = procurement.delivery
    if procurement.needed_by is not None and texts.remarks:
        yield from _two_days_problem(procurement, texts)
    yield from _late_line_problem(procurement, delivery.weeks if delivery is not None else None)
    if delivery is None:
        return
    yield from _dated_milestones_problem(delivery, procurement)
    yield from _frozen_problem(texts)
    if delivery.weeks is None:
        return
    ordered, needed = date_of_text(procurement.as_of), date_of_text(procurement.needed_by)
    needed = needed or (Timeline.of(texts).needed if texts.remarks else None)
    if ordered is not None and needed is not None:
        ordered = max(ordered, _stated_order(texts.description) or ordered)
        tests = _test_times(acceptance or (), cluster, texts.description)
        yield from _late_problem((ordered, delivery.weeks, needed), operations, tests)
    yield from _test_before_network_problem(delivery)
    for index, (milestone, text) in enumerate(zip(delivery.milestones or (), texts.milestones, strict=True)):
        week = _last_week(milestone)
        if (
            week > delivery.weeks
            and _AFTER_DELIVERY.search(f"{milestone} {text}") is None
            and not _is_of_others(milestone, f"{week}")
        ):
            message = f"the milestone is in week {week}, but all parts arrive within {delivery.weeks:g} weeks"
            at = ("procurement", "delivery", "milestones", index)
            yield RULE.problem(at, message, "correct one of the two")


LATER = 7
"""Days by which `needed_by` may lie after the day of the text."""


def _two_days_problem(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a machine that must work on an earlier day by the text than by `needed_by`."""
    needed = date_of_text(procurement.needed_by)
    stated = Timeline.of(texts).needed
    if needed is not None and stated is not None and (needed - stated).days > LATER:
        later = plural((needed - stated).days, "day")
        message = (
            f"according to the text, the machine must work on {stated}, but `needed_by` is {needed}, {later} later"
        )
        yield RULE.problem("procurement.needed_by", message, "correct one of the two", confidence="likely")


def _late_problem(
    dates: tuple[date, float, date], operations: OperationsSpec | None, times: tuple[float, float]
) -> Iterator[Problem]:
    """The problem of a machine that is accepted after the day on which it is needed. ``dates`` are the day of the order,
    the weeks from it to the last delivery, and the day of need; ``times`` the seconds of the longest test and of all.
    """
    ordered, weeks, needed = dates
    burn_in = operations.burn_in.value if operations and operations.burn_in else 0.0
    longest, tests = times
    early, late = (
        ordered.toordinal() + 7 * weeks + (burn_in + each) / DAY - needed.toordinal() for each in (longest, tests)
    )
    if late <= 0:
        return
    parts = [f"{display(burn_in, 's')} of burn-in"] * (burn_in > 0) + [f"{display(tests, 's')} of acceptance"] * (
        tests > 0
    )
    steps = f", with {' and '.join(parts)}," if parts else ""
    message = f"{weeks:g} weeks after {ordered}{steps} are {plain(late, 2)} {'day' if late == 1 else 'days'} after {needed}, when the machine is needed"
    help_ = "order earlier, or move the date"
    if early > 0:
        yield RULE.problem("procurement.delivery.weeks", message, help_)
    else:
        help_ = (
            f"{help_}; if tests run at the same time, or the runs of a test share its duration, state that of one run"
        )
        yield RULE.problem("procurement.delivery.weeks", message, help_, severity="warning", confidence="likely")


def _test_times(tests: tuple[AcceptanceSpec, ...], cluster: Cluster | None, description: str) -> tuple[float, float]:
    """Seconds of the longest test with one run each, and of all runs of all tests that load the whole machine, which
    cannot run at the same time; a time of acceptance in the ``description`` is the least of both.
    """
    found = [each for form in (_ACCEPTED, _TIME_OF_TESTS) for each in form.findall(with_digits(description))]
    stated = max((time_in_text(number, unit) for number, unit in found), default=0.0)
    nodes = cluster.nodes if cluster is not None else inf
    whole = sum(_seconds_of_runs(test) for test in tests if test.scope is not None or (test.nodes or 0) >= nodes)
    return (
        max([stated, *(_seconds_of_runs(test, 1) for test in tests)]),
        max([stated, whole, *map(_seconds_of_runs, tests)]),
    )


def _seconds_of_runs(test: AcceptanceSpec, runs: int | None = None) -> float:
    """The time of ``runs`` runs of a test, by default of all that it demands; 0 without a stated duration."""
    demanded = test.required_runs[1] if test.required_runs is not None else 1
    return test.duration.value * (demanded if runs is None else runs) if test.duration is not None else 0.0


_ORDERED = pattern(
    rf"\b(?:(?:purchase )?orders?|ordered|order (?:is )?placed|bestell\w*|commandes?|pedidos?|ordine|beställ\w*|zamówieni\w*)\b[^.;,\d]{{0,20}}?{DATE}"
)
"""Pattern of the day of the order in a description."""


def _stated_order(description: str) -> date | None:
    """The day of the order that a description states; None unless it states exactly one.

    >>> _stated_order("offer valid until 2027-04-30, order on 2027-03-29 after approval"), _stated_order("order later")
    (datetime.date(2027, 3, 29), None)
    """
    days = {*_ORDERED.findall(description)}
    return date_of_text(days.pop()) if len(days) == 1 else None


_ACCEPTED = pattern(
    r"\bacceptance (?:(?:test|tests|period|phase|takes|lasts|of|in|dauert|dauern|dure|durent|dura|duran|durano|duurt|duren|duram|trwa|:) ){0,3}?(\d{1,3}) ?(days?|weeks?)\b"
)
"""Pattern of the time of the acceptance in an English text."""
_TIME_OF_TESTS = pattern(
    r"(?<![\d.,-])(?<!within )(?<!at most )(?<!up to )(?<!max\. )(\d{1,2}) (?:full |whole |further |more |clear |volle |weitere |entières |completas |intere |hele )?(days?|weeks?) (?:of |for |d'|de |di |van |der |für die |pour la |para la |per il )?(?:the |site |die |la |il |het |on-site )?(?:acceptance|commissioning|burn-in|soak tests?|trial operation|probebetrieb|mise en service|puesta en marcha|proefbedrijf)\b(?! (?:before|earlier|notice|payment))"
)
"""Pattern of the time of tests after the delivery, before their name."""
_FREEZE = pattern(
    r"\b(?:freeze|frozen|black-?out|moratorium|closed|closure|shut-?down|no (?:works?|deliver\w*|access)|change stop|gesperrt|sperre|betriebsruhe|fermeture|fermé\w*|gel des|cerrad[oa]|cierre|"
    r"fechad[oa]|encerrad[oa]|chius\w*|gesloten|sluiting|stängt|lukket|stengt|zamknięt\w+|geschlossen|schließung|werksferien|betriebsferien)\b"
)
"""Pattern of words for a time in which the site accepts no deliveries."""


def _frozen_problem(texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a last delivery between two dates in which, by the text, the site accepts none."""
    for sentence in texts.sentences:
        days = dates_in(sentence) if _FREEZE.search(sentence) is not None else []
        delivery = Timeline.of(texts).delivery if len(days) == 2 else None
        if delivery is not None and days[0] <= delivery <= days[1]:
            message = f"the last delivery is on {delivery}, but according to the text the site takes none from {days[0]} to {days[1]}"
            yield RULE.problem("procurement.delivery.weeks", message, "deliver before or after", confidence="likely")
            return


_TEST = pattern(r"(?i)\ball-?reduce\b|\ball-?gather\b|\bnccl\b|\brccl\b|\bcollectives?\b|\bfabric test")
_NETWORK = pattern(
    r"(?i)\b(?:switch\w*|conmutador\w*|commutateur\w*|optics|transceivers?|transceptor\w*|fabric|backend network)\b"
)


def _test_before_network_problem(delivery: DeliverySpec) -> Iterator[Problem]:
    """The problem of a milestone for a collective test before the week in which the switches or modules arrive."""
    weeks = [(index, text, _last_week(text)) for index, text in enumerate(delivery.milestones or ())]
    arrivals = [week for _, text, week in weeks if week and _NETWORK.search(text) and _TEST.search(text) is None]
    for index, text, week in weeks:
        if week and arrivals and _TEST.search(text) is not None and week < max(arrivals):
            message = f"a collective over the fabric is to run in week {week}, but parts of the network arrive in week {max(arrivals)}"
            at = ("procurement", "delivery", "milestones", index)
            yield RULE.problem(at, message, "deliver the network first, or move the test", confidence="likely")


_LEAD_TIME = pattern(
    r"\blead[- ]?time\D{0,20}?(\d{1,3}) ?(?:weeks|wks?)\b|\b(\d{1,3}) ?(?:weeks|wks?) (?:lead[- ]?time|after (?:the |receipt of )?order|aro)\b|"
    r"\blieferzeit\D{0,20}?(\d{1,3}) ?wochen\b|\bdélai\D{0,30}?(\d{1,3}) ?semaines\b|\bplazo\D{0,30}?(\d{1,3}) ?semanas\b|納期 ?(\d{1,3}) ?週"
)
"""Pattern of the weeks from the order to the arrival of a line's part."""


def _late_line_problem(procurement: ProcurementSpec, weeks: float | None) -> Iterator[Problem]:
    """The problem of a line that arrives later than all parts should by `weeks`, or after the day on which the machine
    is needed.
    """
    ordered, needed = date_of_text(procurement.as_of), date_of_text(procurement.needed_by)
    for index, line in enumerate(procurement.quote or ()):
        found = _LEAD_TIME.search((line.part or "").lower())
        if found is None:
            continue
        lead, at = int(next(filter(None, found.groups()))), quote_path(index, "part")
        if weeks is not None and lead > weeks:
            message = f"`{name_of_part(line.part)}` arrives {lead} weeks after the order, but all parts arrive within {weeks:g} weeks"
            yield RULE.problem(at, message, "correct one of the two, or order this part earlier", confidence="likely")
        elif weeks is None and ordered and needed and ordered.toordinal() + 7 * lead > needed.toordinal():
            message = f"`{name_of_part(line.part)}` arrives {lead} weeks after {ordered}, but the machine is needed on {needed}"
            yield RULE.problem(at, message, "order this part earlier, or move the date", confidence="likely")


_LABEL = pattern(
    rf"^\W*(?:(?:in|ab|bis|by|en|à la|in der|op) )?{_WEEKS} (\d{{1,4}})(?: ?(?:-|–|to|bis|à|a|tot|do) ?(\d{{1,4}}))? ?[:,—–]"
)
"""Pattern of the week with which a milestone, or a part of it, begins."""


def _last_week(milestone: str) -> int:
    """The last week in a milestone; 0 if it states none. Where it begins with a week, other sentences are remarks unless
    they begin with one, too.

    >>> _last_week("Week 9: all cabling. The other variant was offered for week 17."), _last_week("Week 9: four nodes; week 12: the rest.")
    (9, 12)
    >>> _last_week("Eight nodes arrive in week 9 and eight in week 12")
    12
    """
    text = milestone.lower().strip()
    if _LABEL.match(text) is None:
        return max(map(int, _WEEK.findall(text)), default=0)
    labels = filter(None, (_LABEL.match(part.strip()) for part in _ITEM_END.split(text)))
    return max(int(week) for each in labels for week in each.groups() if week)


def _dated_milestones_problem(delivery: DeliverySpec, procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of the first milestone after the day on which the machine is needed; weeks count from `as_of`."""
    needed, ordered = date_of_text(procurement.needed_by), date_of_text(procurement.as_of)
    for index, milestone in enumerate(delivery.milestones or ()):
        first = _DATE.search(milestone)
        due = date_of_text(first[1]) if first is not None else day_in_words(milestone)
        week = _last_week(milestone) if delivery.weeks is None else 0
        if due is None and ordered is not None and week:
            due = date.fromordinal(min(ordered.toordinal() + 7 * week, date.max.toordinal()))
        late = (due - needed).days if needed is not None and due is not None else 0
        day = first[0] if first is not None else f"{week}" if week else ""
        if 0 < late <= YEARS_LATER and _LATER.search(milestone) is None and not _is_of_others(milestone, day):
            message = (
                f"the milestone is due on {due}, but the machine is needed on {needed}, {plural(late, 'day')} before"
            )
            at = ("procurement", "delivery", "milestones", index)
            yield RULE.problem(at, message, "bring the milestone forward, or move `needed_by`")
            return
