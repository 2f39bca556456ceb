"""The board: every published figure with the predictions of this release and its peers, and the hash that locks a
release.

``tests/accuracy/board.csv`` holds one line for each figure in SI units; ``board_releases.csv`` one for each release
of the program, whose hashes say which figures were published and what was predicted at that time. ``docs/board.md``
is written from these files alone.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import clusterspec
from clusterspec.records import dataclass
from tools.accuracy import cases as published
from tools.accuracy import power_cases, rl_cases, serving_cases
from tools.accuracy.cases import Case, table
from tools.accuracy.collective_folds import repository
from tools.accuracy.split import COLLECTIVES_BEFORE, fitted_runs, is_held_out, training_source
from tools.peers.__main__ import peers, recorded_prediction

DATA = Path(__file__).resolve().parents[2] / "tests" / "accuracy"
BOARD, RELEASES = DATA / "board.csv", DATA / "board_releases.csv"
PEERS = tuple(sorted(peers()))
COLUMNS = ("area", "id", "group", "unit", "side", "published", "predicted", "low", "high", *PEERS)
NEW = "training step, new sources"
NEW_MEMORY = "training memory, new sources"
QUANTITIES = {
    "training step": "step_time",
    "training step, small models": "step_time",
    NEW: "step_time",
    "training memory": "memory",
    NEW_MEMORY: "memory",
}
DIGITS = 5


@dataclass(frozen=True)
class Line:
    """One published figure, its prediction, and the prediction of each peer, all in ``unit``.

    ``side`` says whether constants may be fitted to its source. A figure without a prediction has None.
    """

    area: str
    id: str
    group: str
    unit: str
    side: str
    published: float
    predicted: float | None
    low: float | None
    high: float | None
    peers: dict[str, float]

    @property
    def case(self) -> Case:
        """The line as a case of this release."""
        return Case(self.id, self.group, self.published, self.predicted, self.low, self.high)

    def error_of(self, peer: str) -> float | None:
        """The relative error of a peer's prediction (predicted over published, minus 1); None without a prediction."""
        return self.peers[peer] / self.published - 1 if peer in self.peers else None


def lines(
    runs: Iterable[Case], new: Iterable[Case], memory: Iterable[Case], collectives: Iterable[Case]
) -> Iterator[Line]:
    """Every published figure, with predictions made now and those recorded of peers."""
    sets: list[tuple[str, str, Iterable[Case]]] = [
        ("training step", "s", runs),
        ("training step, small models", "s", published.small_runs()),
        (NEW, "s", new),
        ("training memory", "B", memory),
        (NEW_MEMORY, "B", published.new_memory()),
        ("collective", "s", collectives),
        ("fabric", "count", published.fabrics()),
        ("serving", "", serving_cases.cases()),
        ("reinforcement learning", "s", rl_cases.steps(rl_cases.cases())),
        ("power of a node", "W", power_cases.cases()),
    ]
    for area, unit, found in sets:
        for case in found:
            yield _line(area, unit, case)


def _line(area: str, unit: str, case: Case) -> Line:
    quantity = QUANTITIES.get(area, case.group.split(",")[0].replace("throughput", "output_tokens_per_second"))
    answers = {
        peer: recorded_prediction(peer)["answers"].get(case.id, {}).get("figures", {}).get(quantity) for peer in PEERS
    }
    return Line(
        area,
        f"{case.id} {case.group.split(',')[0]}" if area == "serving" else case.id,
        case.group,
        unit or ("tok/s" if quantity == "output_tokens_per_second" else "s"),
        _side(area, case),
        _rounded_figure(case.published) or 0.0,
        _rounded_figure(case.predicted),
        _rounded_figure(case.low),
        _rounded_figure(case.high),
        {peer: rounded for peer, value in answers.items() if (rounded := _rounded_figure(value)) is not None},
    )


def _side(area: str, case: Case) -> str:
    """Whether constants of the release were fitted to a row, or could have been."""
    if area == "fabric":
        return "counted"
    if area == "power of a node":
        return next(row["side"] for row in table("power.csv") if case.id.startswith(f"{row['case']} "))
    if area in (NEW, NEW_MEMORY):
        return "held out" if is_held_out(training_source(case.id)) else "fitted"
    if area.startswith("training"):
        return "fitted" if fitted_runs().get(case.id, True) else "held out"
    if area == "reinforcement learning":
        return "held out" if is_held_out(case.source) else "fitted"
    source = repository(case.source) if area == "collective" else case.id.rsplit("-", 1)[0]
    before = source in COLLECTIVES_BEFORE or area == "serving"
    return "fitted" if before or not is_held_out(source) else "held out"


def _rounded_figure(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def write(lines: Iterable[Line]) -> None:
    """Writes the lines, and the hashes of this release in place of what was there for it."""
    with BOARD.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(map(_cells, lines))
    read.cache_clear()
    others = [row for row in releases() if row["release"] != clusterspec.__version__]
    with RELEASES.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, RELEASE_COLUMNS, lineterminator="\n")
        rows.writeheader()
        rows.writerows([*others, summary()])


RELEASE_COLUMNS = ("release", "figures", "published", "predicted", "peers", "medians")


def summary() -> dict[str, str]:
    """This release: how many figures, the hashes of what was published and predicted, and the median error by area."""
    found = read()
    areas = dict.fromkeys(line.area for line in found)
    medians = {area: _median([line for line in found if line.area == area]) for area in areas}
    return {
        "release": clusterspec.__version__,
        "figures": str(len(found)),
        "published": _hash(f"{line.area},{line.id},{line.published}" for line in found),
        "predicted": _hash(f"{line.area},{line.id},{line.predicted},{line.low},{line.high}" for line in found),
        "peers": _hash(f"{line.area},{line.id},{sorted(line.peers.items())}" for line in found),
        "medians": "; ".join(f"{area} {100 * value:.1f} %" for area, value in medians.items()),
    }


def _median(lines: Sequence[Line]) -> float:
    errors = sorted(abs(line.case.error) for line in lines)
    return errors[len(errors) // 2]


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()[:16]


def releases() -> list[dict[str, str]]:
    """The locked releases, oldest first."""
    if not RELEASES.exists():
        return []
    return list(csv.DictReader(RELEASES.read_text("utf-8").splitlines()))


@cache
def read() -> tuple[Line, ...]:
    """The lines as they were written."""
    return tuple(map(_line_from_cells, csv.DictReader(BOARD.read_text("utf-8").splitlines())))


def _cells(line: Line) -> list[str]:
    numbers = (line.published, line.predicted, line.low, line.high, *(line.peers.get(peer) for peer in PEERS))
    return [line.area, line.id, line.group, line.unit, line.side, *("" if n is None else f"{n:g}" for n in numbers)]


def _line_from_cells(row: dict[str, str]) -> Line:
    def number(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    return Line(
        row["area"],
        row["id"],
        row["group"],
        row["unit"],
        row["side"],
        float(row["published"]),
        number("predicted"),
        number("low"),
        number("high"),
        {peer: float(row[peer]) for peer in PEERS if row.get(peer)},
    )
