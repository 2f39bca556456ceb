"""Writing of fitted constants to the catalog, with a description of the fit."""

from __future__ import annotations

import re
from pathlib import Path

from clusterspec import resources
from tools.fit.constants import Constant, accelerators_of_same_chip
from tools.fit.runs import Values

FOLDERS = {"accelerator": "accelerators", "stack": "stacks"}
SCALES = {"us": 1e6, "ms": 1e3, "": 1.0, "B": 1.0}
KEPT = "not fitted: a fit does not improve the prediction of held-out runs"
UNSHOWN = "by judgment, as no published run shows it"
STORY = re.compile(rf"(?:fitted to [^\"]*?\(spread \d+ %\)|{UNSHOWN}|by count|{KEPT})")


def write(values: Values, counts: dict[Constant, int]) -> list[Path]:
    """The files that changed."""
    texts: dict[Path, str] = {}
    for constant, value in values.items():
        for kind, name in (*constant.owners, *_same_chip(constant)):
            file = resources.catalog() / FOLDERS[kind] / f"{name}.yaml"
            text = texts.get(file) or file.read_text("utf-8")
            texts[file] = _with_new_value(text, constant, value, counts[constant], _peak_share(name, constant, text))
    changed = [file for file, text in texts.items() if text != file.read_text("utf-8")]
    for file in changed:
        file.write_text(texts[file], "utf-8")
    return changed


def _same_chip(constant: Constant) -> list[tuple[str, str]]:
    return [
        ("accelerator", copy)
        for copy, of in accelerators_of_same_chip().items()
        if ("accelerator", of) in constant.owners
    ]


def _peak_share(name: str, constant: Constant, text: str) -> float:
    """A copy without a best product or a constant of its own is given its model's, as a share of the peak."""
    precision = constant.fact.removeprefix("sustained.")
    own = ("accelerator", name) in constant.owners or name not in accelerators_of_same_chip()
    if own or precision == constant.fact or f"  matmul.{precision}:" in text:
        return 1.0
    model = (resources.catalog() / "accelerators" / f"{accelerators_of_same_chip()[name]}.yaml").read_text("utf-8")
    found = re.search(rf"^  matmul\.{precision}: {{is: ([\d.]+)", model, re.MULTILINE)
    return float(found[1]) if found else 1.0


def _with_new_value(text: str, constant: Constant, value: float, count: int, nominal: float) -> str:
    line = re.compile(rf"^  {re.escape(constant.fact)}: {{is: ([\d.e-]+) ?(us|ms|B)?.*$", re.MULTILINE)

    def rewritten(match: re.Match[str]) -> str:
        unit = match[2] or ""
        figure = f"{float(f'{value * nominal * SCALES[unit]:.{2 if unit else 3}g}'):g}"
        return STORY.sub(_reason_text(constant, count, unit), match[0].replace(f"is: {match[1]}", f"is: {figure}", 1))

    before, achievable, after = text.partition("\nachievable:\n")
    return before + achievable + line.sub(rewritten, after)


def _reason_text(constant: Constant, count: int, unit: str) -> str:
    if not constant.spread:
        return "by count" if constant.fact == "accumulation" else KEPT
    if not count:
        return UNSHOWN
    word = "on" if constant.owners[0][0] == "accelerator" else "with"
    family = f" {word} {constant.group}" if len(constant.owners) > 1 else ""
    drawn = f"{constant.prior * SCALES[unit]:.3g}{' ' + unit if unit else ''}"
    many = "1 published run" if count == 1 else f"{count} published runs"
    return f"fitted to {many}{family}, with a prior of {drawn} (spread {100 * constant.spread:.0f} %)"
