"""Traces of requests: CSV files, the JSON lines of Mooncake and of ServeGen's batches, and ServeGen's clients."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, islice, pairwise
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any, TextIO

from clusterspec.logs import path_in_folder
from clusterspec.records import NamedTuple
from clusterspec.standard import recent

MOST_BYTES = 64 * 2**20
"""The largest trace that is read."""
MOST_LINE = 2**20
"""Characters of the longest line."""
MOST_ROW_TOKENS = 10**9
"""Tokens of the longest prompt or answer."""
MOST_SUMMARIZED = 20_000
"""Maximum number of requests, from the start of a trace, that a summary counts; a `check` reads them in 0.1 s."""
VARIATIONS = (0.1, 20.0)
"""The limits of a coefficient of variation in a spec."""
MOST_DRAWN = 1_000_000
"""Largest number of requests that are drawn from the windows of a client."""
MOONCAKE_BLOCK, SERVEGEN_BLOCK = 512, 16
"""Tokens of the blocks whose hashes the traces state (FAST25-release/README.md of Mooncake; data/offline/README.md of
ServeGen).
"""


class Arrival(NamedTuple):
    """One request: seconds since the start, and tokens of its prompt and of its answer.

    ``blocks`` are the named parts of its prompt, which other requests may share, ``left`` the parts of its answer, with
    their tokens; ``session`` names its conversation. ``cached`` prompt tokens are in a cache and take ``loading``
    seconds to read; below zero, the load states the cached share. ``rank`` is the attention rank that holds them, -1
    for any.
    """

    time: float
    prompt: int
    output: int
    blocks: tuple[tuple[Hashable, int], ...] = ()
    left: tuple[tuple[Hashable, int], ...] = ()
    session: str = ""
    cached: float = -1.0
    loading: float = 0.0
    rank: int = -1


class TraceLengths(NamedTuple):
    """The lengths of the prompts or of the answers of a trace in tokens: mean, 99th percentile and largest."""

    mean: int
    p99: int
    most: int


class TraceSummary(NamedTuple):
    """A trace in a few numbers: its requests, their ``rate`` per second, the coefficient of ``variation`` of the times
    between them, and their lengths. Values missing from its columns are None; requests that all arrive at once have no
    rate.
    """

    requests: int
    rate: float | None
    variation: float | None
    prompts: TraceLengths | None
    answers: TraceLengths | None


class TraceFault(Exception):
    """A trace that cannot be read, with the reason."""


class TraceMissing(TraceFault):
    """A trace that is not there."""


class Columns(NamedTuple):
    """The names of the columns of a CSV trace, whose times are seconds, or ``dated``: a date and a time."""

    time: str
    prompt: str
    output: str
    session: str
    dated: bool = False


FORMATS = (
    Columns("time", "input_tokens", "output_tokens", "session"),
    Columns("Timestamp", "Request tokens", "Response tokens", "Session ID"),
    Columns("TIMESTAMP", "ContextTokens", "GeneratedTokens", "", dated=True),
)
"""The columns of this program, of BurstGPT (github.com/HPMLL/BurstGPT), whose failed requests have no answer, and of
Azure's inference traces (github.com/Azure/AzurePublicDataset, AzureLLMInferenceDataset2023.md), some of whose requests
have no prompt.
"""


def trace_path(name: str, folder: Path) -> Path:
    """The file of a trace that a spec names, in the spec's own folder. Raises `TraceFault` for one outside of it."""
    try:
        path = path_in_folder(name, folder)
    except ValueError:
        raise TraceFault(f"the trace {name!r} cannot be opened") from None
    if path is None:
        raise TraceFault(f"the trace {name!r} lies outside the folder of the spec")
    return path


def trace_summary(path: Path) -> TraceSummary:
    """The rate and the lengths of the first `MOST_SUMMARIZED` requests of a trace; a CSV file may have only lengths.

    A file that has not changed is read once. Raises `TraceFault` for a trace that cannot be read.
    """
    with _named_faults(path):
        _check_file(path)
        state = path.stat()
    return _summary_of_file(path, state.st_mtime_ns, state.st_size)


@recent(8)
def _summary_of_file(path: Path, _changed: int, _size: int) -> TraceSummary:
    with _opened_trace(path) as file:
        columns = _columns_of_lengths(path.name, file)
        if columns is not None:
            prompts, answers = columns
            return TraceSummary(max(map(len, columns)), None, None, _lengths(prompts), _lengths(answers))
        file.seek(0)
        rows = sorted(islice(_arrivals(path, iter(file)), MOST_SUMMARIZED), key=lambda each: each.time)
    if not rows:
        raise TraceFault(f"{path.name} has no requests")
    whole = rows[-1].time - rows[0].time
    gaps = [after.time - before.time for before, after in pairwise(rows)]
    rate, variation = None, None
    if whole > 0:
        rate = len(gaps) / whole
        spread = (sum((gap - 1 / rate) ** 2 for gap in gaps) / len(gaps)) ** 0.5 * rate
        variation = min(max(spread, VARIATIONS[0]), VARIATIONS[1])
    lengths = _lengths([each.prompt for each in rows]), _lengths([each.output for each in rows])
    return TraceSummary(len(rows), rate, variation, *lengths)


def _columns_of_lengths(name: str, file: Iterable[str]) -> tuple[list[int], list[int]] | None:
    """The lengths of prompts and answers in a CSV file with some columns of a trace; None for all others."""
    rows = csv.reader(_bounded_lines(name, file))
    head, own = [each.strip() for each in next(rows, [])], FORMATS[0]
    if (own.prompt not in head and own.output not in head) or {*own[:3]} <= {*head}:
        return None
    found: tuple[list[int], list[int]] = ([], [])
    for line, row in enumerate(islice(rows, MOST_SUMMARIZED), 2):
        for column, lengths in zip((own.prompt, own.output), found, strict=True):
            if row and column in head:
                place = head.index(column)
                value = row[place] if place < len(row) else ""
                lengths.append(_checked_arrival(f"{name}, line {line}", [0.0, value, 1]).prompt)
    if not any(found):
        raise TraceFault(f"{name} has no requests")
    return found


def _lengths(tokens: Sequence[int]) -> TraceLengths | None:
    """The mean, rounded, the 99th percentile (nearest rank) and the largest of lengths."""
    if not tokens:
        return None
    ordered = sorted(tokens)
    mean = max(1, round(sum(ordered) / len(ordered)))
    return TraceLengths(mean, ordered[-(-99 * len(ordered) // 100) - 1], ordered[-1])


def trace_arrivals(path: Path) -> list[Arrival]:
    """The requests of a trace, by time from its first one. Raises `TraceFault` for a trace that cannot be read."""
    with _opened_trace(path) as file:
        found = list(_arrivals(path, iter(file)))
    if not found:
        raise TraceFault(f"{path.name} has no requests")
    first = min(each.time for each in found)
    return sorted((each._replace(time=each.time - first) for each in found), key=lambda each: each.time)


@contextmanager
def _opened_trace(path: Path) -> Iterator[TextIO]:
    """The open file of a trace. Faults of the file, and of its text while it is read, become `TraceFault`."""
    with _named_faults(path):
        _check_file(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file


@contextmanager
def _named_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise TraceFault(f"cannot read {path.name}: {fault.strerror or 'no such file'}") from None
    except (UnicodeDecodeError, csv.Error) as fault:
        raise TraceFault(f"{path.name} is not a CSV file in UTF-8: {fault}") from None


def _check_file(path: Path) -> None:
    if not path.exists():
        raise TraceMissing(f"no such file: {path.name}")
    if not path.is_file():
        raise TraceFault(f"{path.name} is not an ordinary file")
    if path.stat().st_size > MOST_BYTES:
        raise TraceFault(f"{path.name} is larger than 64 MiB")


def _arrivals(path: Path, lines: Iterator[str]) -> Iterator[Arrival]:
    """The requests of the lines of a file, in the format that its first line shows."""
    first = next(lines, "")
    whole = _bounded_lines(path.name, chain([first], lines))
    if first.lstrip().startswith("{"):
        return _json_rows(path.name, whole)
    if CLIENT_ROW.fullmatch(first.strip()):
        return _client_rows(path, whole)
    return _csv_rows(path.name, csv.reader(whole))


def _bounded_lines(name: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_LINE:
            raise TraceFault(f"{name}, line {number}: a line has more than {MOST_LINE:,} characters")
        yield line


def _csv_rows(name: str, rows: Iterator[list[str]]) -> Iterator[Arrival]:
    head = [each.strip() for each in next(rows, [])]
    known = next((each for each in FORMATS if {*each[:3]} <= {*head}), None)
    if known is None:
        wanted = FORMATS[0]
        missing = next(each for each in wanted[:3] if each not in head)
        raise TraceFault(f"{name} has no column {missing}; its first line names {', '.join(wanted[:3])}")
    places = [head.index(each) for each in known[:3]]
    session = head.index(known.session) if known.session in head else None
    for line, row in enumerate(rows, 2):
        if row and not (known is not FORMATS[0] and _is_failed(row, places)):
            cells: list[str | float] = [row[each] if each < len(row) else "" for each in places]
            if known.dated:
                cells[0] = _seconds_of_date(f"{name}, line {line}", row[places[0]])
            found = _checked_arrival(f"{name}, line {line}", cells)
            user = row[session] if session is not None and session < len(row) else ""
            yield found._replace(session=user.strip())


def _is_failed(row: Sequence[str], places: Sequence[int]) -> bool:
    """Whether a request of another program's trace has no answer, or no prompt."""
    return any(len(row) > each and row[each].strip() in {"0", "0.0"} for each in places[1:])


def _seconds_of_date(place: str, text: str) -> float:
    """Seconds of a date and a time, of UTC where no zone is stated. Raises `TraceFault` for other text."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise TraceFault(f"{place}: TIMESTAMP is a date and a time, such as 2023-11-16 18:15:46.68") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _checked_arrival(place: str, values: Sequence[Any]) -> Arrival:
    """A request of a time in seconds and two lengths. Raises `TraceFault` for a value that is none, or out of range."""
    try:
        time, prompt, output = (float(each) for each in values)
    except (ValueError, TypeError):
        raise TraceFault(f"{place}: time, input_tokens and output_tokens are numbers, one each") from None
    if not (isfinite(time) and 1 <= prompt <= MOST_ROW_TOKENS and 1 <= output <= MOST_ROW_TOKENS):
        raise TraceFault(f"{place}: the time is finite, and prompt and answer have at least one token")
    if prompt != int(prompt) or output != int(output):
        raise TraceFault(f"{place}: tokens are whole numbers")
    return Arrival(time, int(prompt), int(output))


def _json_rows(name: str, lines: Iterable[str]) -> Iterator[Arrival]:
    """Requests as JSON: `timestamp` in milliseconds, else all at once; `hash_ids` name the blocks of a prompt."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise TraceFault(f"{place}: this is not one JSON object") from None
        if not isinstance(row, dict):
            raise TraceFault(f"{place}: this is not one JSON object")
        if "output_length" not in row:
            raise TraceFault(f"{place}: `output_length` is missing: a trace of prompts alone cannot be simulated")
        time = row.get("timestamp", 0)
        lengths = [_scaled_number(row.get(key)) for key in ("input_length", "output_length")]
        found = _checked_arrival(place, [_scaled_number(time, 1e-3), *lengths])
        yield found._replace(blocks=_prompt_blocks(place, row, found.prompt))


def _scaled_number(value: object, scale: float = 1.0) -> float | None:
    """A JSON number times a scale; None for anything else."""
    return value * scale if isinstance(value, int | float) and not isinstance(value, bool) else None


def _prompt_blocks(place: str, row: dict[str, Any], prompt: int) -> tuple[tuple[object, int], ...]:
    """The blocks of a prompt, each with its tokens; the last block may be short."""
    names = row.get("hash_ids", [])
    if not isinstance(names, list) or not all(isinstance(each, int | str) for each in names):
        raise TraceFault(f"{place}: `hash_ids` is a list of numbers")
    size = MOONCAKE_BLOCK if "timestamp" in row else SERVEGEN_BLOCK
    lengths = (min(size, prompt - number * size) for number in range(len(names)))
    return tuple((name, length) for name, length in zip(names, lengths, strict=True) if length > 0)


# A client of ServeGen: `chunk-N-trace.csv` has windows of time with a rate and a distribution of the times between
# arrivals, `chunk-N-dataset.json` in the same folder the distributions of lengths (servegen/clientpool.py,
# construct.py)

CLIENT_ROW = re.compile(r"\d+,[0-9.e+-]+,[0-9.e+-]+,(Gamma|Weibull|),[0-9.e+-]+,[0-9.e+-]+")
PAIR = re.compile(r"(\d+): ([0-9.e+-]+)")
MOST_BINS = 100_000
Lengths = tuple[list[int], list[float]]
"""Lengths in tokens, and the weights with which they are drawn."""


def _client_rows(path: Path, lines: Iterable[str]) -> Iterator[Arrival]:
    """Requests drawn for each window of a client; the same ones every time."""
    if not path.name.endswith("-trace.csv"):
        raise TraceFault(f"{path.name} has the windows of a ServeGen client, whose name ends with -trace.csv")
    dataset = path.with_name(path.name.removesuffix("-trace.csv") + "-dataset.json")
    lengths = _client_lengths(dataset)
    windows = [
        _client_window(f"{path.name}, line {number}", line) for number, line in enumerate(lines, 1) if line.strip()
    ]
    random, count = Random(path.name), 0
    for (start, gap), (end, _) in zip(windows, [*windows[1:], (windows[-1][0] + 600.0, None)], strict=True):
        now = start
        prompts, answers = lengths[max((each for each in lengths if each <= start), default=min(lengths))]
        while gap is not None:
            now += gap(random)
            if now >= end:
                break
            count += 1
            if count > MOST_DRAWN:
                raise TraceFault(f"{path.name} has more than {MOST_DRAWN:,} requests")
            yield Arrival(now, max(1, *random.choices(*prompts)), max(1, *random.choices(*answers)))


def _client_window(place: str, line: str) -> tuple[float, Callable[[Random], float] | None]:
    """The start of a window in seconds, and a draw of the time to the next request; None without requests."""
    parts = line.strip().split(",")
    try:
        start, _, _, first, second = (float(each) for each in (*parts[:3], *parts[4:]))
    except ValueError:
        raise TraceFault(f"{place}: a window has a time, a rate, a variation, a distribution and two numbers") from None
    kind = parts[3]
    if not kind:
        return start, None
    if not (first > 0 and second > 0 and isfinite(first) and isfinite(second)) or kind not in {"Gamma", "Weibull"}:
        raise TraceFault(f"{place}: the distribution is Gamma or Weibull, with a shape and a scale above zero")
    if kind == "Gamma":
        return start, lambda random: random.gammavariate(first, second)
    return start, lambda random: random.weibullvariate(second, first)


def _client_lengths(path: Path) -> dict[float, tuple[Lengths, Lengths]]:
    """The lengths of prompts and of answers by the time from which they hold."""
    _check_file(path)
    try:
        written = json.loads(path.read_text("utf-8"))
        found = {
            float(start): (_length_distribution(kinds["input_tokens"]), _length_distribution(kinds["output_tokens"]))
            for start, kinds in written.items()
            if kinds["input_tokens"] != "{}" and kinds["output_tokens"] != "{}"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TraceFault(f"{path.name} does not have distributions of input_tokens and output_tokens by time") from None
    if not found:
        raise TraceFault(f"{path.name} has no distributions")
    return found


def _length_distribution(text: str) -> Lengths:
    """The lengths and weights of a distribution, `{224: 0.25, 225: 0.75}`. Raises `ValueError` if it is none."""
    pairs = [PAIR.fullmatch(each) for each in text.removeprefix("{").removesuffix("}").split(", ")]
    if len(pairs) > MOST_BINS:
        raise ValueError
    found = [(int(each[1]), float(each[2])) for each in pairs if each]
    if len(found) != len(pairs) or sum(weight for _, weight in found) <= 0:
        raise ValueError
    return [length for length, _ in found], [weight for _, weight in found]
