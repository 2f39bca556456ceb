"""How full the pages of PDF reports are: `python -m tools.looks FILE.pdf …`.

A page counts as mostly empty where nothing is printed on its lower half. Needs pdftoppm (Debian: poppler-utils).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

RESOLUTION = 24
"""Pixels per inch; a line of text is then two pixels high."""
FOOTER = 0.94
"""The share of the height above the page number."""
TOP = 0.055
"""The share of the height that is margin at the top."""


def page_fills(pdf: Path) -> Iterator[float]:
    """For each page, the share of its height between the margins that is above the end of the print."""
    command = ["pdftoppm", "-gray", "-r", str(RESOLUTION), str(pdf)]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    at = 0
    while at < len(data):
        kind, size, depth, rest = data[at:].split(b"\n", 3)
        if kind != b"P5" or depth != b"255":
            raise ValueError(f"pdftoppm wrote {kind!r} with {depth!r} levels, not gray pictures with 255")
        width, height = (int(number) for number in size.split())
        pixels = rest[: width * height]
        at = len(data) - len(rest) + width * height
        dark = [row for row in range(int(height * FOOTER)) if min(pixels[row * width : (row + 1) * width]) < 200]
        yield (max(dark, default=0) / height - TOP) / (FOOTER - TOP)


def main(arguments: list[str]) -> int:
    """Print the pages whose lower half is empty; return 1 where they are a tenth of all pages or more."""
    pages = empty = 0
    for name in arguments:
        fills = list(page_fills(Path(name)))
        low = [number + 1 for number, fill in enumerate(fills) if fill < 0.5]
        pages, empty = pages + len(fills), empty + len(low)
        print(f"{name}: {len(fills)} pages, mean fill {sum(fills) / len(fills):.0%}, mostly empty: {low or 'none'}")
    print(f"{empty} of {pages} pages mostly empty ({empty / max(1, pages):.1%})")
    return int(empty * 10 >= pages > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
