"""docs/board.md, from the recorded lines of the board alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from tools.accuracy.board import PEERS, Line, read, releases
from tools.accuracy.cases import FILES, published_runs, table
from tools.accuracy.figures import Regret, ranking, score
from tools.fit import split
from tools.peers.__main__ import not_run, peers, recorded_prediction

HEAD = """# Accuracy board

Every published figure in `tests/accuracy`, with what this release and other estimators predict for it on the same
inputs. Written by `make board`; tests compare it with the recorded lines (`tests/accuracy/board.csv`), and those with
predictions made anew. Errors are |predicted ÷ published − 1|; *inside* is the share of published figures within the
predicted band. Rows of all areas come from the sources named in [docs/accuracy.md](accuracy.md) and in the files of
`tests/accuracy`.
"""
SIDES = """## By area, and by side of the split

*fitted*: constants of this release may have been fitted to the row. *held out*: they were not. For sources that were
entered since the split was declared, a hash of the source's name decides before its rows are read; of training
sources read before, every fourth run is held out, and all of their collectives and serving plans are fitted to.
*counted*: nothing is fitted. The table
after this one and [docs/accuracy.md](accuracy.md) show what a fit to one side of the sources alone predicts for the
other.
"""
SPLIT = """### Fitted to one side of the sources alone

Training steps with constants fitted only to the sources that the hash puts on the fitted side, older ones included
(`python -m tools.fit.split`). The other side was never seen.
"""
PEERS_HEAD = """## Peers

Peers on registries run in environments of their own at the pinned version; the others were run from their repository at
the stated commit, and their predictions recorded. Inputs are those of the row, as the program resolves them; the
adapters in `tools/peers/adapters` say what was mapped to what. A peer is never asked for what it has no terms for.
*ours* is the error of this release on the same rows. Constants of this release were fitted to many of these rows, and
those of SimuMax to its own; the tables above say what rows come to that no constant has seen.
"""
REGRETS = """## Regret of the chosen layout

The regret says by how much the layout predicted fastest ran slower than the fastest published layout. It is computed
where a source publishes three or more layouts of one model on one machine, and for a peer where it predicts them all.
"""
CANNOT = """## What peers cannot express

Rows by the first reason; *failed* are rows that the peer accepted and then did not predict.
"""
RELEASES = """## Releases

Hashes of what was published and predicted, for each release of the program: they change with the figures, so that an
improvement can be told from a change of the rows.
"""
ROWS = """## Every figure, worst first
"""
TRAINING = "training step"


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_sides(), *_peers(), *_regrets(), *_unexpressed_table(), *_releases(), *_rows()]) + "\n"


def _sides() -> Iterator[str]:
    yield SIDES
    yield "| area | side | figures | median | mean | p90 | bias | inside |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for area in _areas():
        found = [line for line in read() if line.area == area]
        sides = sorted({line.side for line in found})
        for side in (*sides, *(("all",) if len(sides) > 1 else ())):
            yield _score(f"{area} | {side}", [line for line in found if side in {"all", line.side}])
    yield ""
    yield SPLIT
    yield split_table()


def split_table() -> str:
    """Errors of both sides under constants fitted to one."""
    rows = ["| side | models | runs | median error | mean error | 90th percentile |", "|---|---|---:|---:|---:|---:|"]
    found = split.read()
    for side, kinds in found["sides"].items():
        for kind, one in kinds.items():
            shares = (_percent(one[name]) for name in ("median", "mean", "p90"))
            rows.append(f"| {side} | {kind} | {one['runs']} | {' | '.join(shares)} |")
    rows += ["", *(f"- {side}: {', '.join(found['sources'][side])}" for side in found["sides"])]
    return "\n".join(rows) + "\n"


@cache
def _areas() -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.area for line in read()))


def _score(name: str, lines: Sequence[Line]) -> str:
    one = score(name, [line.case for line in lines])
    inside = "–" if one.inside is None else _percent(one.inside)
    cells = (str(one.cases), *map(_percent, (one.median, one.mean, one.p90)), f"{100 * one.bias:+.1f} %", inside)
    return f"| {name} | {' | '.join(cells)} |"


def _peers() -> Iterator[str]:
    yield PEERS_HEAD
    yield "| peer | how | what | expressed | median | mean | p90 | ours: median | mean | p90 |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, peer in peers().items():
        how = f"ran, {peer['package']}" if "package" in peer else f"recorded, commit {peer['commit'][:7]}"
        for what, found in _lines_by_question(peer["kind"]):
            both = [line for line in found if name in line.peers and line.predicted]
            if both:
                theirs, ours = _errors(line.error_of(name) or 0.0 for line in both), _errors(_own_errors(both))
                cells = (
                    f"[{peer['title']}]({peer['address']})",
                    how,
                    what,
                    f"{len(both)} of {len(found)}",
                    *theirs,
                    *ours,
                )
                yield f"| {' | '.join(cells)} |"
    yield ""
    yield from (f"- {peer['title']}: {peer['note']}." for peer in peers().values() if "note" in peer)
    yield from (f"- {name} does not run here: {why}." for name, why in not_run().items())
    yield ""


def _own_errors(lines: Sequence[Line]) -> Iterator[float]:
    return (line.case.error for line in lines)


def _lines_by_question(kind: str) -> Iterator[tuple[str, list[Line]]]:
    areas = [area for area in _areas() if area.startswith(kind)]
    for area in areas:
        found = [line for line in read() if line.area == area]
        if kind == "serving":
            for quantity in ("tpot", "ttft", "throughput"):
                yield f"serving, {quantity}", [line for line in found if line.group.startswith(quantity)]
        else:
            yield area, found


def _errors(errors: Iterator[float]) -> tuple[str, str, str]:
    sizes = sorted(map(abs, errors))
    values = (sizes[len(sizes) // 2], sum(sizes) / len(sizes), sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))])
    return _percent(values[0]), _percent(values[1]), _percent(values[2])


def _regrets() -> Iterator[str]:
    steps = [line for line in read() if line.area.startswith(TRAINING)]
    by_peer = {name: _regrets_of([line for line in steps if name in line.peers], name) for name in PEERS}
    ours = _regrets_of(steps)
    asked = [name for name in PEERS if by_peer[name]]
    yield REGRETS
    yield f"| {' | '.join(('set', 'layouts', 'ours', *(peers()[name]['title'] for name in asked)))} |"
    yield "|---|---:|---:|" + "---:|" * len(asked)
    for name, one in ours.items():
        theirs = (by_peer[peer].get(name) for peer in asked)
        cells = (_percent(each.regret) if each and each.layouts == one.layouts else "" for each in theirs)
        yield f"| {' | '.join((name, str(one.layouts), _percent(one.regret), *cells))} |"
    yield f"| **mean** | | **{_percent(sum(one.regret for one in ours.values()) / len(ours))}** |" + " |" * len(asked)
    yield ""


def _regrets_of(lines: Sequence[Line], peer: str | None = None) -> dict[str, Regret]:
    cases = (replace(line.case, predicted=line.peers[peer]) if peer else line.case for line in lines)
    return {one.name: one for one in ranking(list(cases))}


def _unexpressed_table() -> Iterator[str]:
    yield CANNOT
    yield "| peer | rows | predicted | cannot express | failed |"
    yield "|---|---:|---:|---|---|"
    for name, peer in peers().items():
        answers = recorded_prediction(name)["answers"].values()
        reasons = Counter(one["cannot"] for one in answers if "cannot" in one)
        failed = Counter(one["failed"].split(":")[0] for one in answers if "failed" in one)
        counts = ("; ".join(f"{why} {count}" for why, count in each.most_common()) for each in (reasons, failed))
        predicted = sum("figures" in one for one in answers)
        yield f"| {peer['title']} | {len(answers)} | {predicted} | {' | '.join(text or '–' for text in counts)} |"
    yield ""


def _releases() -> Iterator[str]:
    yield RELEASES
    yield "| release | figures | published | predicted | peers | median error by area |"
    yield "|---|---:|---|---|---|---|"
    for row in releases():
        hashes = (f"`{row[name]}`" for name in ("published", "predicted", "peers"))
        yield f"| {row['release']} | {row['figures']} | {' | '.join(hashes)} | {row['medians']} |"
    yield ""


MOST_ROWS = 800
"""Rows of a table from which on it has a section for each side of the split: each section is a page of the site."""


def _sections() -> Iterator[tuple[str, list[Line]]]:
    """The titles of the tables and their lines, the worst first."""
    for area in _areas():
        found = sorted((line for line in read() if line.area == area), key=lambda line: -abs(line.case.error))
        title, sides = f"{area[0].upper()}{area[1:]}", sorted({line.side for line in found})
        if len(found) <= MOST_ROWS or len(sides) == 1:
            yield title, found
            continue
        for side in sides:
            yield f"{title}: {side}", [line for line in found if line.side == side]


def _rows() -> Iterator[str]:
    yield ROWS
    for title, found in _sections():
        asked = [name for name in PEERS if any(name in line.peers for line in found)]
        yield f"### {title}\n"
        titles = [peers()[name]["title"] for name in asked]
        yield f"| {' | '.join(('figure', 'group', 'side', 'published', 'predicted', 'error', 'inside', *titles))} |"
        yield "|---|---|---|---:|---:|---:|---|" + "---:|" * len(asked)
        for line in found:
            inside = {None: "–", True: "yes", False: "no"}[line.case.inside]
            predicted = f"{line.predicted:.3g}" if line.predicted is not None else "none"
            numbers = (f"{line.published:.3g} {line.unit}", predicted, f"{100 * line.case.error:+.1f} %", inside)
            theirs = (_signed_text(line.error_of(name)) for name in asked)
            yield f"| {' | '.join((line.id, _group(line), line.side, *numbers, *theirs))} |"
        yield ""


def _group(line: Line) -> str:
    return f"{_models().get(line.id, '')}, {line.group}" if line.id in _models() else line.group


@cache
def _models() -> dict[str, str]:
    """The models of training runs, by their ids."""
    runs = [run for name in FILES for run in published_runs(name)]
    return {run["id"]: run["model"] for run in runs} | {row["id"]: row["model"] for row in table("rl.csv")}


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


def _signed_text(error: float | None) -> str:
    return "" if error is None else f"{100 * error:+.0f} %"
