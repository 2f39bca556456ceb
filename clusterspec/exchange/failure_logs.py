"""Logs of failures: tables (CSV, JSON), `sacct`, `sinfo -R`, and kernel logs with Xid errors.

A line counts as the failure of a part only if it says which part failed. Undecided lines are listed with their numbers.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from clusterspec.exchange.fabrics.graph import expanded_hosts
from clusterspec.exchange.import_result import FormatError, InputFile, excerpt
from clusterspec.logs.statements.catalogued_messages import hardware_xids
from clusterspec.records import dataclass

PARTS: Mapping[str, str] = {
    "accelerator": r"gpus?|accelerators?|hbm\d?\w?|xid|ecc|nvlinks?|row.?remap\w*|tpus?|npus?|hpus?|gsp|cuda error",
    "nic": r"nics?|hcas?|rnics?|mlx5\w*|connectx\S*|network (?:card|adapter|interface)s?",
    "optic": r"optics?|optical modules?|transceivers?|osfp|qsfp\S*",
    "cable": r"cables?|links?|aocs?|dacs?",
    "leaf": r"leaf|leaves|tor|leaf.switch(?:es)?|top.of.rack(?:.switch)?",
    "spine": r"spines?|spine.switch(?:es)?",
    "core": r"core.switch(?:es)?",
    "switch": r"switch(?:es)?",
    "tray": r"nv.?link.switch(?:es)?(?:.trays?)?|switch.trays?|scale.up.switch(?:es)?",
    "domain": r"scale.up domain|nvlink domain|nvl\d+",
    "rack": r"racks?",
    "feed": r"pdus?|power feeds?|feeds?|breakers?|busways?|busbars?|ups",
    "cdu": r"cdus?|coolant|cooling(?: distribution unit)?|leaks?|leakage",
    "store": r"stor(?:e|age)(?: systems?)?|lustre|gpfs|weka|nfs|file.?systems?",
    "software": r"software|nccl\w*|time.?outs?|hangs?|framework|python|out of memory|oom",
    "node": r"nodes?|hosts?|servers?|cpus?|processors?|dimms?|drams?|psus?|power suppl(?:y|ies)|fans?|disks?|ssds?"
    r"|drives?|nvme\w*|mother ?boards?|main ?boards?|system boards?|chassis|bmc|kernel panic",
}
"""The parts of `operations.failures`, and words by which logs name them."""
_WORDS = {part: re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])") for part, words in PARTS.items()}
_PLACES: Mapping[str, frozenset[str]] = {
    "node": frozenset(PARTS),
    "rack": frozenset(PARTS),
    "switch": frozenset({"leaf", "spine", "core", "tray"}),
    "accelerator": frozenset({"tray"}),
}
"""Parts whose names may also occur in a text as the place or the kind of other parts."""
_NOT_FAILURES = re.compile(
    r"(?<![a-z])(?:maintenance|planned|scheduled|upgrades?|reserved|test(?:ing)?|user.?cancel\w*)(?![a-z])"
)
_COLUMNS = {
    "time": "time timestamp date datetime start_time failed_at failure_time event_time detected occurred when start "
    "started",
    "part": "part component kind category failure_type type cause root_cause subsystem device reason description "
    "message event",
    "node": "node host hostname node_name nodename machine server node_id nodelist",
    "one": "gpu gpu_id gpu_index slot port serial device_id part_id",
}
"""Names of columns, preferred names first."""


@dataclass(frozen=True)
class FailureEvent:
    """A failure at ``time``, in seconds since 1970 or on the log's own clock. ``node`` and ``one`` distinguish equal
    parts; empty if the log does not state them.
    """

    time: float
    part: str
    node: str
    one: str
    line: int


@dataclass(frozen=True)
class FailureLog:
    """The failures of a log, the first and last time in it, and undecided entries with their lines.

    ``covers`` says that the log also has lines without failures, so its times bound the observed time. ``nodes`` are
    the nodes that the log names; ``notes`` explain entries that are counted differently than expected.
    """

    kind: str
    events: tuple[FailureEvent, ...]
    first: float
    last: float
    covers: bool
    undecided: tuple[tuple[int, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes on which failures occurred."""
        return frozenset(event.node for event in self.events if event.node)


@dataclass(frozen=True)
class _Row:
    """A line of a log with its time. ``part`` is None if nothing failed or if the failed part is undecided; ``why`` is
    the reason.
    """

    time: float
    part: str | None
    node: str = ""
    one: str = ""
    line: int = 0
    why: str = ""


def part_of(text: str) -> str | None:
    """The part of `operations.failures` that a text names; None for none or several. For a part in a node it is the
    part, not the node.

    >>> part_of("GPU 3 ECC error on node"), part_of("leaf switch"), part_of("switch or cable"), part_of("HBM3 memory")
    ('accelerator', 'leaf', None, 'accelerator')
    >>> part_of("NVLink switch tray 4 down"), part_of("tray"), part_of("NVLink error")
    ('tray', 'tray', 'accelerator')
    """
    lowered = text.strip().lower().replace("_", " ")
    if lowered in PARTS:
        return lowered
    found = {part for part, words in _WORDS.items() if words.search(lowered)}
    for place, others in _PLACES.items():
        if found & (others - {place}):
            found.discard(place)
    return found.pop() if len(found) == 1 else None


def time_of(text: str) -> float | None:
    """The seconds of a time as logs print it: ISO 8601, also with slashes, or seconds since 1970; None for another
    text.

    >>> time_of("2026-01-02T00:00:00Z") == time_of("2026/01/02") == time_of("1767312000")
    True
    """
    text = text.strip().removesuffix(" UTC")
    if re.fullmatch(r"\d{9,10}(\.\d+)?", text):
        return float(text)
    if re.fullmatch(r"\d{13}", text):
        return float(text) / 1000
    try:
        found = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def read_failure_log(file: InputFile) -> FailureLog:
    """The failures in a file, read in the format that it looks like. Raises `FormatError` if it looks like none."""
    head = file.head
    if re.search(r"^JobID(?:Raw)?\||^[^\n]*\|State\|", head, re.MULTILINE):
        return _accounting_log(file)
    if re.search(r"^REASON\s+USER\s+TIMESTAMP\s+NODELIST", head, re.MULTILINE):
        return _log_of("sinfo", list(_drained_rows(file)), covers=False, notes=(_SINFO,))
    if head.lstrip()[:1] in "[{" and not re.match(r"\s*\[ *\d+\.\d+\]|\s*\[[A-Z][a-z]{2} ", head):
        return _log_of("json", list(_rows_of_objects(_json_objects(file))), covers=False)
    if re.search(r"NVRM: Xid|^[ \t]*\[ *\d+\.\d+\]|\bkernel: ", head, re.MULTILINE):
        return _log_of("kernel", list(_kernel_rows(file)), covers=True)
    return _log_of("csv", list(_rows_of_objects(_table_objects(file))), covers=False)


_SINFO = "sinfo lists nodes that are out now: those repaired in the period are missing, and the rates are too low"


def _log_of(kind: str, rows: Sequence[_Row], *, covers: bool, notes: tuple[str, ...] = ()) -> FailureLog:
    """The log from the given rows. Raises `FormatError` if no row has a time."""
    if not rows:
        raise FormatError("holds no line with the time of a failure")
    events = tuple(FailureEvent(row.time, row.part, row.node, row.one, row.line) for row in rows if row.part)
    undecided = tuple((row.line, row.why) for row in rows if row.why)
    times = [row.time for row in rows]
    return FailureLog(kind, events, min(times), max(times), covers, undecided, notes)


# Tables with a header, and JSON objects


def _table_objects(file: InputFile) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a table with a header. Raises `FormatError` if it has no columns of time and part."""
    lines = [(number, line) for number, line in enumerate(file.lines, 1) if line.strip() and not line.startswith("#")]
    head = lines[0][1] if lines else ""
    delimiter = max(",;\t|", key=head.count)
    names = [_column_name(each) for each in next(csv.reader([head], delimiter=delimiter), [])]
    columns = {_column_role(each, names) for each in names}
    if not {"time", "part"} <= columns:
        raise FormatError("is no log of failures: a table has a header with columns `time` and `part` (and `node`)", 1)
    for number, line in lines[1:]:
        yield number, dict(zip(names, next(csv.reader([line], delimiter=delimiter)), strict=False))


def _json_objects(file: InputFile) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a JSON list, or of lines of one object each. Raises `FormatError` for another document."""
    if file.text.lstrip().startswith("["):
        values = [(0, each) for each in file.json]
    else:
        values = [(number, _object_of_line(line, number)) for number, line in enumerate(file.lines, 1) if line.strip()]
    for number, value in values:
        if not isinstance(value, dict):
            raise FormatError("is no log of failures: each entry is an object with `time` and `part`", number)
        yield number, {_column_name(str(name)): each for name, each in value.items()}


def _object_of_line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise FormatError(f"not JSON: {excerpt(fault)}", number) from None


def _column_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.strip().lower()).strip("_")


def _column_role(name: str, names: Sequence[str]) -> str | None:
    """The role of a column; None if the table also has a column with a preferred name for that role."""
    for role, known in _COLUMNS.items():
        if next((each for each in known.split() if each in names), None) == name:
            return role
    return None


def _rows_of_objects(objects: Iterator[tuple[int, Mapping[str, Any]]]) -> Iterator[_Row]:
    """The rows of named values. Raises `FormatError` if a time cannot be read."""
    for number, values in objects:
        roles = {role: str(values[name]) for name in values if (role := _column_role(name, tuple(values)))}
        if "time" not in roles or "part" not in roles:
            raise FormatError("an entry lacks `time` or `part`", number)
        time = time_of(roles["time"])
        if time is None:
            raise FormatError(
                f"cannot read the time `{excerpt(roles['time'])}`: write it as 2026-01-31T12:00:00Z", number
            )
        yield _named_row(time, roles["part"], roles.get("node", ""), roles.get("one", ""), number)


def _named_row(time: float, text: str, node: str, one: str, number: int) -> _Row:
    """A failure of the part that a text names; undecided if it names none or several."""
    if _NOT_FAILURES.search(text.lower()):
        return _Row(time, None, node, one, number, f"`{excerpt(text)}` is no failure")
    part = part_of(text)
    why = "" if part else f"`{excerpt(text)}` names no part of `operations.failures`, or several"
    return _Row(time, part, node, one, number, why)


# Slurm: accounting of jobs, and the reasons of drained nodes

_OVER = ("COMPLETED", "CANCELLED", "TIMEOUT", "PREEMPTED", "RUNNING", "PENDING", "REQUEUED", "DEADLINE")


def _accounting_log(file: InputFile) -> FailureLog:
    """Jobs of ``sacct -X --parsable2 -o JobID,State,Start,End,NodeList``. Raises `FormatError` without a column."""
    reader = csv.DictReader(file.lines, delimiter="|")
    names = reader.fieldnames or ()
    ended = next((each for each in ("End", "Start") if each in names), None)
    if ended is None or "State" not in names:
        raise FormatError("sacct: take `sacct -a -X --parsable2 -o JobID,State,Start,End,NodeList`", 1)
    rows = list[_Row]()
    for number, values in enumerate(reader, 2):
        if "." in (values.get("JobID") or values.get("JobIDRaw") or ""):
            continue  # a step of a job
        times = [time_of(values.get(name) or "") for name in ("Start", ended)]
        known = [each for each in times if each is not None]
        if known:
            rows.append(_job_row(values, known[-1], number))
            rows += [_Row(known[0], None)]
    note = "Slurm does not say which part of a node failed: NODE_FAIL counts as `node`"
    return _log_of("sacct", rows, covers=True, notes=(note,))


def _job_row(values: Mapping[str, str | None], time: float, number: int) -> _Row:
    state = (values.get("State") or "").split(" ")[0]
    if state == "NODE_FAIL":
        hosts = expanded_hosts(values.get("NodeList") or "", number)
        return _Row(time, "node", hosts[0] if len(hosts) == 1 else "", "", number)
    why = "" if state in _OVER else f"{state} does not say whether a part or the program failed"
    return _Row(time, None, "", "", number, why)


def _drained_rows(file: InputFile) -> Iterator[_Row]:
    """The nodes of ``sinfo -R``, each drained for the reason on its line."""
    for number, line in enumerate(file.lines, 1):
        columns = line.rsplit(None, 3)  # the reason comes first, and has spaces
        time = time_of(columns[2]) if len(columns) == 4 else None
        if time is not None:
            for host in expanded_hosts(columns[3], number):
                yield _named_row(time, columns[0].strip(), host, "", number)


# Kernel logs

_XID = re.compile(r"NVRM: Xid \(([^)]{1,40})\): (\d{1,4})\b")
_LINE_KINDS = (
    (re.compile(r"amdgpu.{0,80}uncorrectable hardware errors? detected"), "accelerator"),
    (re.compile(r"mlx5_core.{0,80}(?:health compromised|device's health|fatal error)"), "nic"),
)
_STAMP = re.compile(
    r"\s*(?:\[ *(?P<uptime>\d+\.\d+)\]|\[(?P<long>[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [\d:]+ \d{4})\]"
    r"|(?P<iso>\d{4}-\d\d-\d\d[T ][\d:]+\S*) (?P<host>\S+)?|(?P<old>[A-Z][a-z]{2} +\d+ [\d:]{8}) (?P<named>\S+)?)"
)


def _kernel_rows(file: InputFile) -> Iterator[_Row]:
    """The lines of ``dmesg`` or a system log that have a time. A missing year is derived from the order of the lines.

    Raises `FormatError` if times of different clocks are mixed.
    """
    year, before, clocks = 2000, 0.0, set[bool]()
    for number, line in enumerate(file.lines, 1):
        match = _STAMP.match(line)
        if match is None:
            continue
        time = _stamp_seconds(match, year)
        if time is None:
            continue
        clocks.add(match["uptime"] is not None)
        if len(clocks) > 1:
            raise FormatError(
                "has seconds since the start of a node and also dates: take `dmesg -T` throughout", number
            )
        if match["old"] and time < before - 180 * 86_400:
            year, time = year + 1, _stamp_seconds(match, year + 1) or time
        before = time
        yield _kernel_row(time, line, match["host"] or match["named"] or "", number)


def _stamp_seconds(match: re.Match[str], year: int) -> float | None:
    if match["uptime"]:
        return float(match["uptime"])
    if match["iso"]:
        return time_of(match["iso"].replace(" ", "T"))
    form, text = ("%a %b %d %H:%M:%S %Y", match["long"]) if match["long"] else ("%Y %b %d %H:%M:%S", match["old"])
    try:
        return datetime.strptime(text if match["long"] else f"{year} {text}", form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _kernel_row(time: float, line: str, host: str, number: int) -> _Row:
    if xid := _XID.search(line):
        if xid[2] in hardware_xids():
            return _Row(time, "accelerator", host, xid[1], number)
        return _Row(time, None, host, "", number, f"Xid {xid[2]} may be an error of the application")
    part = next((part for form, part in _LINE_KINDS if form.search(line)), None)
    return _Row(time, part, host, "", number)
