"""Logs without a result of a collective: runs that hung or stopped, engines, training programs, kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence, Series, largest_communicator
from clusterspec.logs.benchmarks.launch_lines import nodes_launched
from clusterspec.logs.benchmarks.nccl_rows import hosts_of_lines, ranks_and_nodes, separate_jobs
from clusterspec.logs.reports.outcomes import HELPED
from clusterspec.logs.reports.report_sentences import has_steps, reported_hang
from clusterspec.logs.reports.slow_symptoms import SYMPTOM
from clusterspec.logs.reports.stated_reasons import REASON
from clusterspec.logs.reports.told_rates import SHARE
from clusterspec.logs.reports.told_releases import fault_statements
from clusterspec.logs.reports.told_work import work_statement
from clusterspec.logs.reports.trials import TRIAL
from clusterspec.logs.reports.unlike_hosts import ALIKE, UNLIKE
from clusterspec.logs.reports.unlike_ranks import UNEVEN
from clusterspec.logs.reports.worded_causes import suspected_statements
from clusterspec.logs.statements.catalogued_messages import MESSAGE, WEIGHTS
from clusterspec.logs.statements.device_names import device_statements
from clusterspec.logs.statements.error_lines import first_error
from clusterspec.logs.statements.first_failures import (
    CONSEQUENCE,
    ENDS,
    OF_THE_END,
    OWN_EXCEPTION,
    LocatedStatements,
    ending_of,
    failure_statements,
    first_failures,
)
from clusterspec.logs.statements.native_frames import STACK
from clusterspec.logs.statements.program_lines import OF_DEVICES, STATING
from clusterspec.logs.statements.refused_calls import CALL
from clusterspec.logs.statements.statement_search import log_evidence
from clusterspec.logs.statements.suggestions import OF_EXCEPTIONS, stated_families, suggested_causes
from clusterspec.logs.statements.waiting_frames import WAITS
from clusterspec.logs.text_lines import searched_part
from clusterspec.logs.told_lines import (
    lists_changes,
    states_success,
    text_with_whole_exceptions,
    text_without_labels,
    text_without_passed,
    text_without_stop,
)

_MARK = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|error)|\bCCOM WARN|\bTest (?:CUDA|HIP|NCCL) failure|^ncclInvalidUsage"
    r"|^# Using devices|\bGloo connectFullMesh failed|Watchdog caught collective operat"
    r"|\] \S{1,80}\.(?:cu|cc|h):[0-9]{1,5} WARN |\bNCCL failure \S{1,80}:[0-9]"
    r"|\buncorrectable (?:ECC|NVLink) error|\bNVRM: Xid",
    re.MULTILINE,
)
_OF_MARKS = (
    *("NCCL", "RCCL", "CCOM", "ncclInvalidUsage", "Test CUDA failure", "Test HIP failure", "Using devices", "Gloo"),
    *("Watchdog", "WARN", "uncorrectable", "NVRM"),
)
"""Words; a text with a matching line has at least one of them, and a search for words is faster."""
_HEADING = re.compile(r"^#.{1,200}\balgbw\b.{1,200}$")
_DEVICE = re.compile(r"^#\s+Rank\s+[0-9]{1,7}\s.{1,200}\bdevice\b")
_UNITS = re.compile(r"^#\s+\(B\)\s")
TOOL = "a run without a result"
_TOLD = STATING | {OWN_EXCEPTION}
_TELLING = ("suggests ", "family ", MESSAGE, f"{TRIAL}{HELPED} ")
"""Prefixes of the names of other statements that say what an error may concern."""
_REPORTED_ENDS = frozenset(f"{MESSAGE}{cause} may" for cause in ("peer-ended", "job-ended", "program-fault"))
"""Names of catalogued messages by which a program reports that another process ended."""


def read_unfinished(text: str) -> Benchmark | None:
    """What a run printed before it hung or stopped: a series without sizes.

    None if the run states its success, or if no collective library wrote the text and no line reports an error. An
    error with none of the known causes is kept as `error`.

    The ranks come from the list of devices, else from the largest communicator.
    """
    if states_success(text) or lists_changes(text):
        return None
    text, left_out = searched_part(text)
    text = text_without_stop(text_without_passed(text_with_whole_exceptions(text_without_labels(text))))
    evidence = log_evidence(text)
    decides = any(_states_a_cause(each) for each in evidence)
    found = _with_published_faults(text, evidence) if decides else _evidence_without_decision(text, evidence)
    if found is None:
        return None
    evidence, failures = found
    ranks, nodes = ranks_and_nodes(text)
    jobs = separate_jobs(text)
    nodes = 1 if jobs > 1 else nodes
    if ranks is None:
        ranks, nodes = largest_communicator(evidence)
    ending = ending_of(text, [(each.name, each.text, each.line) for each in evidence], failures)
    series = Series(None, ranks, nodes, (), jobs=jobs, hosts=hosts_of_lines(text) or nodes_launched(text))
    work = work_statement(text)
    evidence = (*evidence, *_empty_table(text), *([Evidence(*work)] if work else []))
    devices = tuple(device_statements(text))
    return Benchmark(TOOL, (series,), evidence=evidence, ending=ending, left_out=left_out, devices=devices)


def _with_published_faults(text: str, evidence: tuple[Evidence, ...]) -> tuple[tuple[Evidence, ...], LocatedStatements]:
    """The evidence of a text of which a line states a cause, and published faults."""
    evidence, failures = _with_consequences_last(text, evidence)
    return (*evidence, *_published_faults(text)), failures


def _evidence_without_decision(
    text: str, evidence: tuple[Evidence, ...]
) -> tuple[tuple[Evidence, ...], LocatedStatements] | None:
    """What a text of which no line states a cause suggests and reports; None if it tells of no failure."""
    family = "midway" if has_steps(text) else "silent"
    hang = [Evidence(f"family {family}", *found)] if (found := reported_hang(text)) else []
    suggested = (Evidence(f"suggests {cause}", shown, line) for cause, shown, line in suggested_causes(text))
    stated = (Evidence(f"family {family}", shown, line) for family, shown, line in stated_families(text))
    evidence = (*evidence, *suggested, *stated, *hang)
    evidence, failures = _with_consequences_last(text, evidence)
    told = any(
        each.name in _TOLD or (each.name.startswith(_TELLING) and each.name not in _REPORTED_ENDS) for each in evidence
    )
    error = first_error(text) if not told else None
    ended = min((each.line for each in evidence if each.name in _REPORTED_ENDS), default=None)
    if error is not None and (ended is None or error[1] < ended):  # an end is reported after what caused it
        evidence = (*(each for each in evidence if each.name not in _REPORTED_ENDS), Evidence("error", *error))
    elif ended is not None and any(each.name in OF_EXCEPTIONS and each.line < ended for each in evidence):
        evidence = tuple(each for each in evidence if each.name not in _REPORTED_ENDS)
    of_devices = any(each.name in OF_DEVICES for each in evidence)
    reported = any(each.name.startswith((REASON, STACK, UNLIKE, ALIKE, WAITS)) for each in evidence)
    suspected = tuple(Evidence(*each) for each in suspected_statements(text))
    published = tuple(_published_faults(text))
    known = (
        suspected[1:]
        or published
        or any(each.name.startswith(("pcie-paths", UNEVEN, SHARE, SYMPTOM)) for each in evidence)
    )
    reported = reported or bool(suspected and known) or any(each.name.startswith(SYMPTOM) for each in evidence)
    if not (told or error or ended or of_devices or reported) and not _is_marked(text):
        return None
    return (*evidence, *suspected, *published), failures


def _published_faults(text: str) -> Iterator[Evidence]:
    """Published faults of releases that a text names, whose symptoms it tells."""
    return (Evidence(*each) for each in fault_statements(text))


def _with_consequences_last(
    text: str, evidence: tuple[Evidence, ...]
) -> tuple[tuple[Evidence, ...], LocatedStatements]:
    """The statements, with those that follow from the failure of another rank last and the evidence for each of these;
    and the same statements with the ranks and times of their lines.
    """
    stated = [(each.name, each.text, each.line) for each in evidence]
    told = failure_statements(text, stated)
    order = tuple(Evidence(*each) for each in first_failures(text, stated, told))
    following = {each.line for each in order if each.name == CONSEQUENCE}
    return (*sorted(evidence, key=lambda each: each.line in following), *order), told


def _states_a_cause(each: Evidence) -> bool:
    """Whether a statement is of a cause, rather than of an end, or of a message that may have it, which leave it to
    other lines.
    """
    if each.name.startswith(MESSAGE) and each.name.endswith(f" {WEIGHTS[-1]}"):
        return False
    return each.name in STATING - ENDS - OF_THE_END or each.name.startswith((CALL, MESSAGE))


def _is_marked(text: str) -> bool:
    """Whether a collective library, or the driver, wrote a line of the text."""
    return any(word in text for word in _OF_MARKS) and _MARK.search(text) is not None


def _empty_table(text: str) -> Iterator[Evidence]:
    """The heading of the results, if it is the last line of a log: the benchmark never returned from its first size; or
    the list of devices, which precedes the communicators (NVIDIA/nccl-tests, `src/common.cu`).
    """
    before = text.rstrip()
    while _UNITS.match(last := before[before.rfind("\n") + 1 :]):
        before = before[: -len(last)].rstrip()
    if _HEADING.match(last):
        yield Evidence("empty-table", "the heading of the results", before.count("\n") + 1)
    elif _DEVICE.match(last):
        yield Evidence("family connecting", "the list of devices is the last line", before.count("\n") + 1)
