"""``make fuzz``: whole designs of the blind rounds with keys removed, added, exchanged or set to odd values, and with
numbers of texts written another way.

`tools.fuzz` draws specs from a grammar; these begin with designs of people, which fill sections that no grammar
combines: measured steps, sessions, fleets, reinforcement learning. A command that ends with an internal error is
printed with its spec.
"""

from __future__ import annotations

import contextlib
import copy
import io
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from clusterspec.cli import run

ROOT = Path(__file__).resolve().parents[1]
DESIGNS = (ROOT / "tests" / "review" / "designs", ROOT / "examples")
COMMANDS = (
    ("check",),
    ("estimate",),
    ("bom", "--format", "json"),
    ("cost",),
    ("faults",),
    ("sensitivity",),
    ("simulate",),
    ("search",),
    ("report", "-o", "out.html"),
    ("report", "--kind", "procurement", "-o", "out.html"),
)
ODD: tuple[Any, ...] = (0, 1, 3, -1, 10**6, 10**12, 0.5, "x", None, True, [], {}, "100 Gb/s per direction", "0 s", [1])
"""Values that a key may take by mistake."""
SEPARATORS = (" ", "\u00a0", "\u202f", "'", "\u2019", ",", ".", "_", "")
"""Signs between thousands, as texts of many countries write them."""
DECIMALS = ("", ".", ",", "\u00b7", "\u066b")
BEHIND = (
    *[""] * 4,
    "k",
    "M",
    " Mio.",
    "e6",
    "e400",
    "%",
    "\u00bd",
    "-",
    "/7",
    ":30",
    " x",
    "\u00d7",
    ".",
    "\u00b2",
    "\u0663",
)
"""What may stand behind a number."""
CHANGED_SHARE = 0.25
"""Share of the numbers of a text that are written another way."""
TEXT_SHARE = 0.4
"""Share of the designs of which only texts change."""
Place = tuple[str | int, ...]
INTERNAL_ERROR = 3


def places(node: Any, at: Place = ()) -> Iterator[Place]:
    """The places of all values in a document."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield (*at, key)
        yield from places(value, (*at, key))


def value_at(node: Any, place: Place) -> Any:
    for key in place:
        node = node[key]
    return node


def designs() -> list[dict[str, Any]]:
    """The documents of all files; some of the rounds are no YAML on purpose."""
    read: list[Any] = []
    for path in (path for folder in DESIGNS for path in sorted(folder.rglob("*.yaml"))):
        with contextlib.suppress(yaml.YAMLError):
            read += yaml.load_all(path.read_bytes(), yaml.CSafeLoader)
    return [each for each in read if isinstance(each, dict) and "clusterspec" in each]


def renumbered(text: str, draw: random.Random) -> str:
    """A text with a quarter of its numbers of other sizes, in the number formats of other countries or in none."""

    def other(match: re.Match[str]) -> str:
        if draw.random() > CHANGED_SHARE:
            return match[0]
        whole = f"{draw.randrange(10 ** draw.choice((2, 4, 7, 10))):,}".replace(",", draw.choice(SEPARATORS))
        mark = draw.choice(DECIMALS)
        decimals = f"{mark}{draw.randrange(10 ** draw.randint(1, 5))}" if mark else ""
        return f"{whole}{decimals}{draw.choice(BEHIND)}"

    return re.sub(r"\d[\d.,]*\d|\d", other, text)


def changed_texts(node: Any, draw: random.Random) -> Any:
    """A document whose texts of several words have numbers written another way."""
    if isinstance(node, dict):
        return {key: changed_texts(value, draw) for key, value in node.items()}
    if isinstance(node, list):
        return [changed_texts(each, draw) for each in node]
    return renumbered(node, draw) if isinstance(node, str) and node.count(" ") > 1 else node


def changed_design(design: dict[str, Any], others: list[dict[str, Any]], draw: random.Random) -> dict[str, Any]:
    """A design with one to three changes; values come from the same keys of other designs."""
    made = copy.deepcopy(design)
    if draw.random() < TEXT_SHARE:
        return dict(changed_texts(made, draw))
    for _ in range(draw.choice((1, 1, 2, 3))):
        own = list(places(made))
        place = draw.choice(own) if own else ()
        if not place:
            break
        parent, kind = value_at(made, place[:-1]), draw.random()
        donor = draw.choice(others)
        if kind < 0.35:
            del parent[place[-1]]
        elif kind < 0.5:
            parent[place[-1]] = copy.deepcopy(draw.choice(ODD))
        elif kind < 0.75 and isinstance(value_at(donor, place[:1]) if place[0] in donor else None, dict):
            made[str(place[0])] = copy.deepcopy(donor[str(place[0])])
        else:
            section = draw.choice([key for key in donor if key != "clusterspec"])
            made.setdefault(section, copy.deepcopy(donor[section]))
    return made


def failures(seed: int, seconds: float) -> Iterator[str]:
    """A line for each command that ends with an internal error."""
    draw, read, end = random.Random(seed), designs(), time.monotonic() + seconds
    while time.monotonic() < end:
        text = yaml.safe_dump(changed_design(draw.choice(read), read, draw), sort_keys=False, allow_unicode=True)
        Path("spec.yaml").write_text(text, "utf-8")
        for command, *words in (COMMANDS[0], draw.choice(COMMANDS[1:])):
            told = io.StringIO()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
                status = run([command, "spec.yaml", *words])
            if status == INTERNAL_ERROR:
                yield f"{command}: {told.getvalue().strip().splitlines()[-1]}\n{text}"


if __name__ == "__main__":
    seed, seconds = (int(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = list(failures(seed, seconds))
    print("\n".join(found) or f"no internal error in {seconds} s")
    sys.exit(bool(found))
