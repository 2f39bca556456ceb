"""``docs/notebook.ipynb``: a design in a notebook, with what each cell shows. The cells run when the page is made."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

STEPS: tuple[str | tuple[str, str], ...] = (
    (
        "# A design in a notebook",
        "A result prints as one line, and a notebook shows its figures and tables. It is made by `make docs`.",
    ),
    """import clusterspec

design = clusterspec.load(
    {
        "clusterspec": 1,
        "name": "llama-70b",
        "cluster": {"platform": "dgx-h100", "nodes": 32},
        "workload": {"model": "llama-3.1-70b", "sequence_length": 8192, "global_batch": 256, "tokens": "2T"},
        "layout": {"framework": "megatron-core", "tp": 8, "pp": 2},
    },
    today="2026-11-20",
)
design""",
    ("## What the design will do", "Times in seconds, sizes in bytes, shares of one."),
    "design.estimate()",
    """f"{design.plan.step_time.value:.3g} s a step, {design.plan.mfu:.1%} MFU\"""",
    ("## How it looks", "The drawings of the report; `design.figures()` has those of all sections."),
    'design.figures("memory")',
    ("## Which change pays", "A changed design is a new one; `diff` compares both."),
    """smaller_groups = design.with_layout(tp=4)
design.diff(smaller_groups)""",
    ("## Many designs", "Plain Python, and pandas where a table is wanted: `design.estimate().frames()`."),
    """{nodes: round(design.with_cluster(nodes=nodes).plan.step_time.value, 2) for nodes in (16, 32, 64)}""",
)
"""Texts (heading, paragraph) and cells of code."""


def page() -> str:
    """The notebook, format 4.5."""
    cells: list[dict[str, object]] = []
    run = 0
    names: dict[str, object] = {}
    for number, step in enumerate(STEPS, 1):
        cell: dict[str, object] = {"id": f"cell-{number}", "metadata": {}}
        if isinstance(step, tuple):
            cell |= {"cell_type": "markdown", "source": _lines("\n\n".join(step))}
        else:
            run += 1
            outputs = [_output(value, run) for value in _run(step, names)]
            cell |= {"cell_type": "code", "source": _lines(step), "execution_count": run, "outputs": outputs}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _run(code: str, names: dict[str, object]) -> Iterator[object]:
    """Run a cell; yields the value of its last line, where that is an expression with a value."""
    parsed = ast.parse(code)
    *before, last = parsed.body
    if not isinstance(last, ast.Expr):
        exec(compile(parsed, "cell", "exec"), names)
        return
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    if value is not None:
        yield value


def _output(value: object, run: int) -> dict[str, object]:
    """The output of a notebook for a value: its text, and its HTML if it has one."""
    data = {"text/plain": _lines(repr(value))}
    html = getattr(value, "_repr_html_", None)
    if html is not None:
        data["text/html"] = _lines(html())
    return {"output_type": "execute_result", "execution_count": run, "metadata": {}, "data": data}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
