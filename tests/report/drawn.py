"""What a chart draws, as short texts: one for each kind of shape, in the order of drawing."""

from __future__ import annotations

import re

from tests.report.test_charts import number, shapes


def places(shape: dict[str, str], *pairs: tuple[str, str]) -> str:
    """The coordinates of a shape, as pairs."""
    return " ".join(f"{number(shape, x):g},{number(shape, y):g}" for x, y in pairs)


def width(shape: dict[str, str]) -> str:
    """The width of a line where it is not 1."""
    return "" if shape.get("stroke-width", "1") == "1" else f" w{shape['stroke-width']}"


def outline(path: str) -> str:
    """The extent of a hatch and the number of its lines; another path as it is."""
    lines = [tuple(map(float, each)) for each in re.findall(r"M(\S+) (\S+?)L(\S+) ([\d.]+)", path)]
    if not lines:
        return path
    x, y = [at for line in lines for at in line[::2]], [at for line in lines for at in line[1::2]]
    return f"{min(x):g},{min(y):g} {max(x):g},{max(y):g} {len(lines)} lines"


def drawn_shapes(chart: str) -> dict[str, str]:
    """The height of a chart and its shapes by kind, rounded to 0.1: texts with size and place, lines with their ends,
    boxes with their left upper corner and size, dots with middle and radius, points of curves and polygons,
    extents of hatches.
    """
    found = re.search(r'viewBox="0 0 440 (\S+)"', chart)
    assert found
    kinds = {
        "texts": [f"{each['text']} {each['font-size']} {places(each, ('x', 'y'))}" for each in shapes(chart, "text")],
        "lines": [f"{places(each, ('x1', 'y1'), ('x2', 'y2'))}{width(each)}" for each in shapes(chart, "line")],
        "boxes": [f"{places(each, ('x', 'y'), ('width', 'height'))}{width(each)}" for each in shapes(chart, "rect")],
        "dots": [f"{places(each, ('cx', 'cy'))} r{each['r']}{width(each)}" for each in shapes(chart, "circle")],
        "curves": [each["points"].replace(".0", "") + width(each) for each in shapes(chart, "polyline")],
        "paths": [outline(each["d"]) for each in shapes(chart, "path")],
        "shapes": [each["points"].replace(".0", "") for each in shapes(chart, "polygon")],
    }
    return {"height": found[1]} | {kind: "; ".join(rows) for kind, rows in kinds.items() if rows}
