"""Causes suspected from the words of a report, if nothing in the input decides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clusterspec.analysis.diagnosis.hangs import NEXT_STEPS
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import NEXT_OF_REASONS, NOT_ON_ONE_NODE
from clusterspec.analysis.diagnosis.service_causes import UNSAID
from clusterspec.logs.benchmarks.benchmark import Evidence
from clusterspec.logs.reports.report_sentences import is_written
from clusterspec.logs.reports.stated_reasons import REASON
from clusterspec.logs.reports.trials import TRIAL
from clusterspec.logs.reports.worded_causes import HINTED, OF_A_REPORT, SUSPECTED
from clusterspec.results.diagnosis import Cause

LEADING = 0.44
"""The weight of the first suspicion of a report: above sentences that are only compatible with a cause, and below
likely causes, even if the place of the fault supports it.
"""
FOLLOWING = 0.22
"""The weight of the first suspicion if lines of programs have possible causes, which come before suspected causes."""
HINT = 0.25
"""The weight of a first suspicion by few words, which possible causes of lines come before."""
STEP = 0.01
"""The factor of the weight of each further suspicion."""
_STEPS = {
    "network-inside-domain": (
        "check that NCCL_DEBUG=INFO … 2>&1 | grep ' via ' shows P2P within a domain; give the containers of a node "
        "one /dev/shm, and use IMEX between nodes"
    ),
    "fine-grain-off": "run once with HSA_FORCE_FINE_GRAIN_PCIE=1 for every rank",
    "small-messages": "use larger transfers (pages or blocks of a cache, buckets), or several at once",
    "latency-protocol": "unset NCCL_PROTO and NCCL_ALGO, and run again",
}


_OF_FABRICS = NOT_ON_ONE_NODE | {"shared-paths", "oversubscribed-level", "packet-loss", "bonded-ports", "unstable-link"}
"""Causes that only a machine of several nodes has."""
_OF_LINKS = frozenset({"no-direct-links", "no-nvls", "fabric-manager", "network-inside-domain"})
"""Causes that only accelerators with direct links have."""


_GENERAL = frozenset({"library-release", "driver-release", "invalid-setting"})
"""Causes for which a trial shows only that a release or a setting is at fault."""
_HOW = (
    "suspected by wording, nothing in the input decides",
    "suspected by few words, nothing in the input decides",
)
_AGAINST: tuple[tuple[tuple[str, ...], tuple[str, ...], frozenset[str]], ...] = (
    (("gdr",), ("no-gdr", "registration", "no-region"), frozenset({"gpudirect-off", "gpudirect-refused"})),
    (("ofi",), ("no-plugin",), frozenset({"plugin-missing"})),
    (("hcas",), ("socket",), frozenset({"socket-fall-back"})),
    (("direct-paths",), (), frozenset({"no-direct-links"})),
    (("p2p-direct",), (), frozenset({"peer-access-off"})),
    (
        ("channels",),
        (),
        frozenset({"absent-ranks", "name-resolution", "remote-login", "missing-accelerator", "separate-jobs"}),
    ),
)
"""Statements of a log that contradict causes, those with which they do not, and the causes. A library that prints the
number of channels has connected all ranks of a communicator.
"""


def suspicions(run: PlacedRun, causes: Sequence[Cause]) -> Iterator[Cause]:
    """The causes that the words of a report suggest; none if a found cause is likely, other than any fault of a
    release, or if no sentence of a person in the text reports a fault: causes that program lines leave open stay open.
    """
    reported = any(each.name == OF_A_REPORT for each in run.benchmark.evidence)
    told = {each.line for each in run.benchmark.evidence if each.name.startswith((TRIAL, REASON))}
    likely = [each for each in causes if each.is_likely]
    if not reported or not all(_is_of_any_release(each, told) for each in likely):
        return
    leading = LEADING if not likely and all(_is_of_a_sentence(each, told) for each in causes) else FOLLOWING
    excluded = excluded_causes(run)
    worded = [each for each in run.benchmark.evidence if each.name.startswith((SUSPECTED, HINTED))]
    for place, each in enumerate(each for each in worded if _cause_of(each) not in excluded):
        weight = leading if each.name.startswith(SUSPECTED) else min(leading, HINT)
        evidence = f"line {each.line} of the log: {_HOW[each.name.startswith(HINTED)]}: {each.text}"
        yield Cause(_cause_of(each), evidence, next_step(_cause_of(each)), round(weight - STEP * place, 3))


def excluded_causes(run: PlacedRun) -> frozenset[str]:
    """The causes that the machine of a run cannot have, or that lines of the log contradict."""
    return _impossible_causes(run) | _contradicted_causes(run)


def _cause_of(worded: Evidence) -> str:
    """The cause that a statement suspects."""
    return worded.name.partition(" ")[2]


def _contradicted_causes(run: PlacedRun) -> frozenset[str]:
    """The causes that lines of the log contradict."""
    return frozenset(
        cause
        for shown, without, causes in _AGAINST
        if run.log_lines(*shown) and not run.log_lines(*without)
        for cause in causes
    )


def _impossible_causes(run: PlacedRun) -> frozenset[str]:
    """The causes that the machine of a run cannot have."""
    up = run.cluster.scale_up
    unlinked = up.topology in {"pcie", "bridge"} or up.domain == 1
    fabric = run.cluster.scale_out
    built_in = fabric is not None and fabric.technology.family in {"infiniband", "roce"}
    return frozenset().union(
        _OF_LINKS if unlinked else (),
        _OF_FABRICS if run.cluster.nodes == 1 else (),
        {"plugin-missing"} if built_in else (),
    )


def _is_of_any_release(cause: Cause, lines: Collection[int]) -> bool:
    """Whether a sentence of a person only shows that another release or setting has no such fault, and not which."""
    return cause.name in _GENERAL and _line_of(cause) in lines


def _line_of(cause: Cause) -> int | None:
    """The number of the line of the evidence of a cause; None if it is not of a line."""
    number = cause.evidence.partition(": ")[0].removeprefix("line ").partition(" ")[0]
    return int(number) if number.isdecimal() else None


def _is_of_a_sentence(cause: Cause, lines: Collection[int]) -> bool:
    """Whether the evidence of a cause is only a sentence of a person, without a trial or a reason (these are on lines
    ``lines``): it is compatible with other causes, too.
    """
    sentence = cause.evidence.partition(": ")[2]
    of_outcome = _line_of(cause) in lines
    return cause.weight < LEADING and not of_outcome and (UNSAID in cause.evidence or is_written(sentence))


def next_step(name: str) -> str:
    """The check that decides whether a suspected cause is the one."""
    return _STEPS.get(name) or NEXT_OF_REASONS.get(name) or NEXT_STEPS[name]
