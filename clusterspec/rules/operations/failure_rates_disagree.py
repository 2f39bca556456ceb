"""The times between failures of a node and of the job contradict each other.

## What it finds

`node_mtbf` over the nodes of the job against `mean_time_between_failures`: a warning where they differ by a third, and
an error by a factor of three. The same limits apply to an `afr` and an `mtbf` of the same kind of part. Failures that
the description counts (`8 stops in 72,000 node-hours`) give the time of one node: a stated one, or that of the job
times its nodes, that differs by a quarter is an error. So are failures of all accelerators, NICs or transceivers in a
year that a text states, and that are not their number times `afr`. A stated mean number of nodes in repair is an error
where it differs by more than a factor of 1.6 from the repair time over the time between failures of the machine.

A `mean_time_between_failures` is a warning where it is more than a third longer than what the stated rates of accelerators
and nodes alone give for the nodes of the job. Other causes only make it shorter.

## Why it matters

Both describe the same failures. Checkpoint interval, spares and goodput follow from one of them, and are wrong if the
other is right.

## What to do

Keep the figure that was measured, and remove the other.

## When to ignore it

Ignore it where most failures of the job have causes outside the nodes, such as software; name them in the reason of the
waiver.

## Fires

```yaml operations.mean_time_between_failures
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 4}
operations: {node_mtbf: 365 days, mean_time_between_failures: 30 days}
```

```yaml operations.failures.accelerator.afr
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, spare_nodes: 1}
operations: {failures: {accelerator: {afr: 0.05, mtbf: 1000 h}}}
```

```yaml description
clusterspec: 1
description: The 128 GPUs fail 1.2 times a year.
cluster: {platform: dgx-h100, nodes: 16}
operations: {failures: {accelerator: {afr: 0.09}}}
```

```yaml description
clusterspec: 1
description: An RMA takes ten days. The 128 nodes see one failure in 156 h. On average 0.15 nodes are therefore away.
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 2}
operations: {node_mtbf: 19968 h}
```

```yaml operations.mean_time_between_failures
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 512}
operations: {mean_time_between_failures: 48 h, failures: {accelerator: {afr: 0.09}, node: {afr: 0.12}}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 4}
operations: {node_mtbf: 365 days, mean_time_between_failures: 2.9 days}
```

```yaml
clusterspec: 1
description: An RMA takes ten days. The 128 nodes see one failure in 156 h. On average 1.5 nodes are therefore away.
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 2}
operations: {node_mtbf: 19968 h}
```

## Sources

- Failures of independent nodes add up: https://arxiv.org/abs/2410.21680
- Units in a system are their rate of arrival times their time in it (Little's law): https://en.wikipedia.org/wiki/Little%27s_law
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.failures import stated_rate
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.records import fields
from clusterspec.rules.knowledge.failures import PART_WORDS, stated_part_failures
from clusterspec.rules.knowledge.purchases import plural_of_kind
from clusterspec.rules.readers.amounts import COUNT, SHARE, TIME, amounts_in
from clusterspec.rules.readers.clauses import clauses_of, planned_text
from clusterspec.rules.readers.quantities import SECOND, sentence_quantities
from clusterspec.rules.readers.units import MONTH, TIME_WORDS
from clusterspec.rules.readers.written_numbers import (
    amount_in_text,
    number_in_text,
    sentences_of,
    unambiguous_setting,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import FailureRateSpec, FailuresSpec, OperationsSpec, Spec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "error")
LEAST, FAR = 4 / 3, 3.0


_COUNTED = pattern(
    r"(?i)(?<![\w.,])(\d{1,4}) (?:stops?|failures?|interruptions?|crashes|faults|incidents|restarts|node failures|hardware failures)\b[^.;\d]{0,40}?\b(?:in|over|within|during|across)\b "
    r"(?<![\w.,])(\d{1,3}(?:[,.' ]\d{3})+|\d{3,8}) node[- ]hours\b"
)
"""Pattern of a number of node failures over a number of node-hours."""
_CUES = ("node hours", "node-hours")
_FAILS = pattern(
    r"(?i)\b(?:fails?|failing|failures?|failed(?= \w+ (?:a|per|each|every) )|los(?:es?|ing)|breaks?|dies?|defect\w*|mtbf|ausfall\w*|ausfäll\w*|fällt|fallen|defekt\w*|pannes?|tombe\w*|fall[oa]\w*)\b"
)
_FAILURE_CUES = (
    "fail",
    "lose",
    "losing",
    "lost",
    "break",
    "die",
    "defect",
    "mtbf",
    "ausf",
    "fällt",
    "fallen",
    "defekt",
    "panne",
    "tombe",
    "fallo",
    "falla",
)
_PERIODS = {
    **dict.fromkeys(("annually", "yearly", "jährlich"), YEAR),
    **dict.fromkeys(("quarter", "quarterly", "quartal", "trimestre"), YEAR / 4),
    **dict.fromkeys(("monthly", "monatlich"), MONTH),
    **dict.fromkeys(("weekly", "wöchentlich"), 7 * DAY),
    **{word: seconds for word, seconds in TIME_WORDS.items() if seconds >= DAY and len(word) > 1},
}
_ONE = pattern(
    r"(?i)\b(?:each|every one|per (?:node|module|gpu|part)|one of them|a (?:single )?(?:node|gpu|module|card)|one gpu (?:fails|breaks|dies)|rate of|burn-in|spares?|on site|kept|enough|probability|covered|contract|warranty|first|vendor|stock|shelf)\b|\bje(?:de[rs]?)?\b"
)
"""Pattern of words in a clause about one part, or about something other than failures in operation."""
_BOUND = pattern(r"(?i)\b(?:at most|up to|no more than|less than|below|höchstens|au plus|como máximo)\b")
CLEAR = 1.6
"""Smallest factor at which rounding does not explain a different number of failures per year."""
SAME_RATE = 1.25
"""Ratio up to which a time between failures agrees with the counted failures."""


_AWAY = pattern(
    r"(?i)(?<![\w.,])(\d{1,3}(?:[.,]\d{1,2})?) (?:nodes?|servers?|hosts?|machines?|knoten|n(?:œ|oe)uds?|serveurs?) (?:(?:are|is|will be|would be|sind|ist|sont|est) )?(?:therefore |thus |then |so |also |daher |donc |at any time |away |always ){0,2}"
    r"(?:away|in repair|under repair|in rma|missing|out(?= (?:for|of)|[.,;]|$)|down|in reparatur|ausgefallen|weg|en réparation|absents?)\b"
)
"""Pattern of a number of nodes that are in repair."""
_MEAN = pattern(r"(?i)\b(?:on average|in the mean|average|mean|im mittel|im schnitt|durchschnittlich|en moyenne)\b")
_REPAIR = pattern(
    r"(?i)\b(?:rma|repairs?|repaired|replacements?|replaced|mttr|turn-?around|reparatur\w*|austausch\w*|tausch|réparation|remplacement)\b"
)
_FAILURE = pattern(
    r"(?i)\b(?:one|a|1|eine[nr]?|une) (?:node )?(?:failure|fault|ausfall|panne) (?:in|every|per|each|alle|pro|par|tous les|toutes les)\b|\bfails? (?:once )?(?:every|in)\b|\bfällt alle\b"
)
_OF_ONE = pattern(
    r"(?i)\b(?:each|per node|a (?:single )?node|one node|gpus?|nics?|je(?:de[rs]?)?|pro knoten|par nœud)\b"
)
_AWAY_CUES = ("average", "mean", "mittel", "schnitt", "moyenne")


def check(
    operations: OperationsSpec, cluster: Cluster | None, spec: Spec, job_nodes: int | None, own_remarks: str | None
) -> Iterator[Problem]:
    yield from _away_problem(operations, own_remarks or "")
    if operations.failures is None and operations.node_mtbf is None and operations.mean_time_between_failures is None:
        return
    yield from _part_rate_problems(operations)
    yield from _counted_problem(operations, job_nodes, own_remarks or "")
    if cluster is not None and job_nodes:
        yield from _beyond_parts_problem(operations, cluster, job_nodes)
    if cluster is not None and operations.failures is not None and own_remarks:
        yield from _yearly_problem(operations, cluster, spec, own_remarks)
    whole, node = operations.mean_time_between_failures, operations.node_mtbf
    if whole is None or node is None or not job_nodes or not whole.value or not node.value:
        return
    expected = node.value / job_nodes
    ratio = whole.value / expected
    if 1 / LEAST <= ratio <= LEAST:
        return
    than = f"{plain(ratio if ratio > 1 else 1 / ratio, 2)} times as {'long' if ratio > 1 else 'short'}"
    message = f"{plural(job_nodes, 'node')} that each fail every {node.written} fail every {display(expected, 's')} together; {whole.written} is {than}"
    severity = "error" if not 1 / FAR < ratio < FAR else "warning"
    yield RULE.problem(
        "operations.mean_time_between_failures",
        message,
        "keep the figure that was measured",
        severity=severity,
        related=[("operations.node_mtbf", "the time of one node")],
    )


def _beyond_parts_problem(operations: OperationsSpec, cluster: Cluster, job_nodes: int) -> Iterator[Problem]:
    """The problem of a job that is to fail less often than its accelerators and nodes at their stated rates."""
    whole, failures = operations.mean_time_between_failures, operations.failures
    if whole is None or failures is None:
        return
    stated = {each: getattr(failures, each) for each in ("accelerator", "node")}
    rates = {each: stated_rate(each, one) for each, one in stated.items() if one and None in (one.afr, one.mtbf)}
    numbers = {"accelerator": job_nodes * cluster.accelerators // cluster.nodes, "node": job_nodes}
    known = {each: rate.yearly for each, rate in rates.items() if rate is not None}
    yearly = sum_of(numbers[each] * rate for each, rate in known.items())
    if not yearly or whole.value * yearly <= LEAST * YEAR:
        return
    parts = " and ".join(
        f"{plural(numbers[each], each)} with {rate:.3g} failures a year each" for each, rate in known.items()
    )
    message = f"{parts} fail every {display(YEAR / yearly, 's')} together; {whole.written} is {plain(whole.value * yearly / YEAR, 2)} times as long"
    help_ = (
        f"write `mean_time_between_failures: {display(YEAR / yearly, 's')}` at most, or correct the rates of the parts"
    )
    yield RULE.problem(
        "operations.mean_time_between_failures",
        message,
        help_,
        severity="warning",
        related=[(f"operations.failures.{each}", "the rate of one part") for each in known],
    )


def _away_problem(operations: OperationsSpec, remarks: str) -> Iterator[Problem]:
    """The problem of a mean number of nodes in repair that is not the repair time divided by the machine's time between
    failures.
    """
    if not any(each in remarks.lower() for each in _AWAY_CUES):
        return
    sentences = sentences_of(" ".join(remarks.split()))
    away = {number_in_text(each[1]) for one in sentences if _MEAN.search(one) for each in _AWAY.finditer(one)}
    repair = _only_time(one for one in sentences if _REPAIR.search(one) and not _FAILURE.search(one))
    between = _only_time(
        one for one in sentences if _FAILURE.search(one) and not _REPAIR.search(one) and not _OF_ONE.search(one)
    )
    repair = repair or (operations.repair_time.value if operations.repair_time is not None else 0.0)
    whole = operations.mean_time_between_failures
    between = between or (whole.value if whole is not None else 0.0)
    if len(away) != 1 or not repair or not between:
        return
    (stated,), expected = away, repair / between
    if stated and not 1 / CLEAR <= stated / expected <= CLEAR:
        message = f"a repair takes {display(repair, 's')} and a node fails every {display(between, 's')}, so {plain(expected, 2)} nodes are in repair on average, but the text counts {stated:g}"
        yield RULE.problem(
            "description", message, "divide the time of a repair by that between failures", confidence="likely"
        )


def _only_time(sentences: Iterable[str]) -> float:
    """The only time in some sentences, in seconds; 0 if there is none or several."""
    found = {
        each.value for one in sentences for _, some in sentence_quantities(one) for each in some if each.unit == SECOND
    }
    return found.pop() if len(found) == 1 else 0.0


def _counted_problem(operations: OperationsSpec, job_nodes: int | None, remarks: str) -> Iterator[Problem]:
    """The problem of a stated time between failures, of a node or of the job, that contradicts the failures that the
    text counts.
    """
    counted = unambiguous_setting(_COUNTED, remarks, _CUES)
    if counted is None or not int(counted[1]):
        return
    node = amount_in_text(counted[2]) / int(counted[1]) * HOUR
    for key, stated, nodes in (
        ("node_mtbf", operations.node_mtbf, 1),
        ("mean_time_between_failures", operations.mean_time_between_failures, job_nodes or 0),
    ):
        ratio = stated.value * nodes / node if stated is not None else 0.0
        if stated is not None and ratio and not 1 / SAME_RATE <= ratio <= SAME_RATE:
            of_job = "" if nodes == 1 else f", {display(node / nodes, 's')} for {plural(nodes, 'node')}"
            message = f"`{counted[0]}` are {display(node, 's')} between failures of a node{of_job}, but `{key}` is {stated.written}"
            yield RULE.problem(
                f"operations.{key}",
                message,
                "state the time of one node as `node_mtbf`, that of the job as `mean_time_between_failures`",
                confidence="likely",
            )


def _yearly_problem(operations: OperationsSpec, cluster: Cluster, spec: Spec, remarks: str) -> Iterator[Problem]:
    """The problem of yearly failures of one kind of part that are not the number of parts times the stated rate."""
    assert operations.failures is not None
    if not any(each in remarks.lower() for each in _FAILURE_CUES):
        return
    rates = list(stated_part_failures(operations.failures, cluster, spec.cluster))
    for sentence in sentences_of(" ".join(remarks.split())) if rates else ():
        kinds = [each for each in rates if PART_WORDS[each[0]].search(sentence) is not None] or rates
        if len(kinds) != 1 or _FAILS.search(sentence) is None:
            continue
        kind, number, yearly = kinds[0]
        stated = _failures_a_year(sentence, number, cluster.nodes)
        if stated > number * yearly and _BOUND.search(sentence) is not None:
            continue
        if stated and not 1 / CLEAR <= number * yearly / stated <= CLEAR:
            message = f"`{sentence.strip()[:80]}`: {number:,} {plural_of_kind(kind)} with {yearly:g} failures a year each fail {plain(number * yearly, 3)} times a year, but the text counts {plain(stated, 3)}"
            yield RULE.problem("description", message, "multiply their number by the rate of one", confidence="likely")
            return


def _failures_a_year(sentence: str, parts: int, nodes: int) -> float:
    """The yearly failures of all parts of one kind, or of all nodes, that a sentence states; 0 without a clear
    statement.

    >>> [round(_failures_a_year(text, 128, 16), 1) for text in ("The 128 GPUs fail 1.2 times a year", "One of 128 GPUs fails every six months")]
    [1.2, 2.0]
    """
    planned = planned_text(sentence)
    clauses = [planned[start:end] for start, end in clauses_of(planned)]
    whole = [
        each for each in clauses if any(one.value in (parts, nodes) for one in amounts_in(each) if one.kind == COUNT)
    ]
    total = [each for each in clauses if each not in whole and _ONE.search(each) is None] if whole else []
    found = {
        round(value, 6)
        for each in (*whole, *total)
        if _ONE.search(each) is None and (value := _rate_in(each, (parts, nodes)))
    }
    return found.pop() if len(found) == 1 else 0.0


def _rate_in(clause: str, wholes: tuple[int, ...]) -> float:
    """Failures per year in a clause that states their number and a period, or the time between two failures; 0 if it
    states neither.
    """
    amounts = [each for each in amounts_in(clause) if not (each.kind == COUNT and each.value in wholes)]
    if any(each.kind == SHARE for each in amounts):
        return 0.0
    times = [each for each in amounts if each.kind == TIME and each.value >= DAY]
    counts = [each for each in amounts if each.kind == COUNT]
    if len(times) == 1 and times[0].value:
        number = counts[0].value if counts and counts[0].start < times[0].start else 1.0
        return number * YEAR / times[0].value
    words = [each.strip(".,") for each in clause.lower().split()]
    periods = {_PERIODS[each] for each in words if each in _PERIODS}
    if "once" in words or "einmal" in words:
        return YEAR / periods.pop() if len(periods) == 1 else 0.0
    return counts[0].value * YEAR / periods.pop() if len(counts) == 1 and len(periods) == 1 else 0.0


def _part_rate_problems(operations: OperationsSpec) -> Iterator[Problem]:
    """Problems of a part whose stated failures per year and time between failures contradict each other."""
    if operations.failures is None:
        return
    for each in fields(FailuresSpec):
        part: FailureRateSpec | None = getattr(operations.failures, each.name)
        if part is None or part.afr is None or part.mtbf is None or not part.mtbf.value or not part.afr:
            continue
        ratio = YEAR / part.mtbf.value / part.afr
        if not 1 / LEAST <= ratio <= LEAST:
            message = f"a part that fails every {part.mtbf.written} fails {plain(YEAR / part.mtbf.value, 2)} times in a year, but `afr` says {part.afr:g}"
            severity = "error" if not 1 / FAR < ratio < FAR else "warning"
            yield RULE.problem(
                ("operations", "failures", each.name, "afr"), message, "keep one of the two", severity=severity
            )
