"""``docs/gallery.md`` and ``docs/gallery.html``: real machines and runs, as published and as predicted.

The specs are in ``examples/gallery``, with their published figures in ``published.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from clusterspec import studies
from clusterspec.catalog import Catalog
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.config import Config
from clusterspec.cost.plan import Plan
from clusterspec.cost.power import drawn_power
from clusterspec.finding import Finding, Severity
from clusterspec.studies import Settings, Study
from clusterspec.units import display, percent
from tools.generate import ROOT
from tools.generate.catalog_tables import sortable

FOLDER = ROOT / "examples" / "gallery"
SETTINGS = Settings(Catalog.open(), Config(), date(2026, 11, 21))
HEAD = """# Gallery

{count} real machines and runs, each a spec in [examples/gallery]({folder}): published facts have their address and
date, and everything else is marked as an assumption. The table compares the program's figures with the published ones
and gives a reason for every finding above a note. This page is made by `make docs`; [gallery.html](gallery.html) sorts
the table by any column.

Each spec was first a blind test of `check`: of {first}, {false} had a warning or an error that an expert would reject,
before the rules were corrected. Now {now} of {count} has one.

"""
COLUMNS = (
    "machine",
    "accelerators",
    "part",
    "time",
    "MFU",
    "memory",
    "power at work",
    "switches",
    "cables",
    "findings",
)
Cell = tuple[str, float | None]
"""The text of a cell, and the number by which it sorts."""


@dataclass(frozen=True)
class Exhibit:
    """One spec of the gallery; a fleet has a part for each job."""

    name: str
    path: Path
    study: Study

    @property
    def parts(self) -> list[tuple[str, Study]]:
        """The designs to show, by name."""
        fleet = self.study.fleet
        return [(f"{self.name}, {job}", one) for job, one in fleet.jobs.items()] if fleet else [(self.name, self.study)]

    @property
    def findings(self) -> list[Finding]:
        return list(self.study.findings)


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """Every spec of the gallery."""
    paths = sorted(FOLDER.glob("*.yaml"))
    return tuple(
        Exhibit(path.stem, path, studies.study_text(path.read_text("utf-8"), SETTINGS, path.name, path.parent))
        for path in paths
    )


@cache
def records() -> Mapping[str, Any]:
    """``published.toml``."""
    read: Mapping[str, Any] = tomllib.loads((FOLDER / "published.toml").read_text("utf-8"))
    return read


def figures(study: Study) -> dict[str, float]:
    """The predicted figures of a design, by the names of ``published.toml``, in SI units."""
    plan, fabric, found = study.plan, _fabric(study), dict[str, float | None]()
    found |= {"step time": _step_seconds(plan), "MFU": plan.mfu, "HFU": plan.hfu}
    found["tokens per second and accelerator"] = _tokens_per_accelerator(plan)
    if plan.serving is not None:
        found["time per output token"] = plan.serving.tpot
        found["input tokens per second of a prefill accelerator"] = _prompt_rate(plan)
    if fabric is not None:
        found["leaf switches"], found["spine switches"] = fabric.leaf_switches, fabric.spine_switches
    return {name: float(value) for name, value in found.items() if value is not None}


def _step_seconds(plan: Plan) -> float | None:
    return plan.rl.step if plan.rl is not None else plan.step_seconds


def _tokens_per_accelerator(plan: Plan) -> float | None:
    design = plan.design
    if plan.step_seconds is None or plan.rl is not None or not (design.workload and design.layout and design.cluster):
        return None
    tokens = design.workload.global_batch * design.workload.sequence_length
    return tokens / plan.step_seconds / (design.layout.nodes * design.cluster.accelerators_per_node)


def _prompt_rate(plan: Plan) -> float | None:
    """Input tokens a second of the engines of prompts, of one of their accelerators."""
    load = plan.design.workload.serving if plan.design.workload else None
    if plan.serving is None or load is None or load.prefill is None or plan.design.cluster is None:
        return None
    engine = load.prefill
    a_second = engine.attention_dp / plan.serving.prompt_time * load.input_tokens
    return a_second / (engine.ranks / plan.design.cluster.ranks_per_accelerator)


def _fabric(study: Study) -> Fabric | None:
    cluster, spec = study.design.cluster, study.design.spec.cluster
    found = fabric_of_cluster(cluster, spec.scale_out if spec else None) if cluster else None
    return found if isinstance(found, Fabric) else None


def row(name: str, study: Study, findings: list[Finding]) -> tuple[Cell, ...]:
    """The cells of one design."""
    plan, cluster, fabric = study.plan, study.design.cluster, _fabric(study)
    known = figures(study)
    seconds = known.get("step time", known.get("time per output token"))
    per = " a token" if plan.serving is not None else " a step"
    drawn = drawn_power(plan, fabric) if cluster and study.design.layout else None
    watts = drawn.busy.value if drawn and drawn.busy else None
    counts = [fabric.leaf_switches, fabric.spine_switches, fabric.core_switches] if fabric else []
    memory = plan.memory_bytes
    above = [each for each in findings if each.severity is not Severity.NOTE]
    said = ", ".join(dict.fromkeys(f"{each.severity} {each.rule}" for each in above)) or "none above a note"
    return (
        (name, None),
        (f"{cluster.accelerators:,}" if cluster else "", cluster.accelerators if cluster else None),
        (cluster.accelerator.name if cluster else "", None),
        (display(seconds, "s") + per if seconds else "", seconds),
        (percent(known["MFU"], 2) if "MFU" in known else "", known.get("MFU")),
        (display(memory, "B") if memory else "", memory),
        (display(watts, "W") if watts else "", watts),
        (" + ".join(f"{count:,}" for count in counts if count), float(sum(counts)) if counts else None),
        (f"{sum(fabric.cables.values()):,}" if fabric else "", float(sum(fabric.cables.values())) if fabric else None),
        (said, None),
    )


@cache
def rows() -> tuple[tuple[Cell, ...], ...]:
    """The table over all designs."""
    return tuple(row(name, study, each.findings) for each in exhibits() for name, study in each.parts)


def page() -> str:
    """The text of ``docs/gallery.md``."""
    first = records()["first"]
    alarms = {each.name for each in exhibits() if any(_is_wrong(each, finding) for finding in _above_note(each))}
    numbers = {"count": len(exhibits()), "first": first["specs"], "false": len(first["false"]), "now": len(alarms)}
    lines = [HEAD.format(folder="../examples/gallery", **numbers), _markdown_row(COLUMNS), "|" + "---|" * len(COLUMNS)]
    lines += [_markdown_row([text for text, _ in cells]) for cells in rows()]
    lines += ["\nSwitches are leaves, spines and cores; cables are counted where the customer builds the fabric.\n"]
    lines += [
        "## Published and predicted\n",
        _markdown_row(("machine", "figure", "published", "predicted", "ratio", "source")),
    ]
    lines += ["|---|---|---|---|---|---|", *comparisons()]
    lines += ["\nRatio: predicted over published. A source is recalled where it was not read again for this page.\n"]
    return "\n".join([*lines, *sections()]) + "\n"


def comparisons() -> Iterator[str]:
    """The rows of published figures; raises `ValueError` for a figure that the program does not predict."""
    by_name = {each.name: each for each in exhibits()}
    for one in records()["published"]:
        found = figures(by_name[one["spec"]].study).get(one["figure"])
        if found is None:
            raise ValueError(f"{one['spec']} has no predicted {one['figure']}")
        write = _writer(one["figure"])
        source = one["source"] + ("" if one["read"] else "; recalled")
        ratio = f"{found / one['value']:.2f}"
        yield _markdown_row((one["spec"], one["figure"], write(one["value"]), write(found), ratio, source))


def _writer(figure: str) -> Callable[[float], str]:
    if figure.endswith(("time", "token")):
        return lambda value: display(value, "s")
    if figure in {"MFU", "HFU"}:
        return lambda value: percent(value, 2)
    return lambda value: f"{value:,.0f}"


def sections() -> Iterator[str]:
    """One section for each spec: its description, its sources, and its findings above a note with their reasons."""
    reasons = {(each["spec"], each["rule"]): each["why"] for each in records()["reason"]}
    for each in exhibits():
        text = each.path.read_text("utf-8")
        yield f"## {each.name}\n\n{_description(text)} [Spec](../examples/gallery/{each.path.name}).\n"
        yield f"{_comment(text)}\n"
        for finding in _above_note(each):
            why = reasons.get((each.name, finding.rule))
            if why is None:
                raise ValueError(f"{each.path}: {finding.severity} {finding.rule} has no reason in published.toml")
            yield f"- {finding.severity} [{finding.rule}](rules/{finding.rule}.md): {finding.message}. {why}\n"


def _above_note(exhibit: Exhibit) -> list[Finding]:
    return [each for each in exhibit.findings if each.severity is not Severity.NOTE]


def _is_wrong(exhibit: Exhibit, finding: Finding) -> bool:
    return any(
        (each["spec"], each["rule"]) == (exhibit.name, finding.rule) and each["why"].startswith("Wrong")
        for each in records()["reason"]
    )


def _description(text: str) -> str:
    found = re.search(r"^description: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def _comment(text: str) -> str:
    """The comment at the head of a spec, with its addresses as links."""
    lines = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    return re.sub(r"(https?://[^\s,;)]*[^\s,;).:])", r"<\1>", " ".join(lines[1:]))


def _markdown_row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def table_page() -> str:
    """The text of ``docs/gallery.html``, whose table can be sorted."""
    intro = (
        "Made by <code>make docs</code> from <code>examples/gallery</code>. A click on a heading sorts by it. "
        'Sources and reasons: <a href="gallery.md">gallery.md</a>.'
    )
    body = "\n".join(f"<tr>{''.join(_html_cell(cell) for cell in cells)}</tr>" for cells in rows())
    return sortable("Gallery", intro, COLUMNS, body)


def _html_cell(cell: Cell) -> str:
    text, number = cell
    return f"<td>{escape(text)}</td>" if number is None else f'<td data-v="{number:.6g}">{escape(text)}</td>'
