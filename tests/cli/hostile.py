"""Specs as nobody should write them: examples with values, keys, lines and bytes that do not belong."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from clusterspec.document import decode, parse
from clusterspec.document.conforms import Schema, node_at, node_branches
from clusterspec.source import Path as KeyPath
from clusterspec.spec import schema
from tests.cli.conftest import ROOT

FOLDER = ROOT / "examples"
SINGLE = sorted({*FOLDER.glob("*.yaml")} - {*FOLDER.glob("*-fleet.yaml")})
FILES = [*SINGLE, ROOT / "tests" / "spec" / "every_key.yaml"]
"""Specs of one cluster; `tests.studies` has hostile fleets."""
TEXTS = {path.name: path.read_bytes().partition(b"\npools:")[0] + b"\n" for path in FILES}
DOCUMENTS = {name: parse(decode(name, data))[0] for name, data in TEXTS.items()}
VALUES = {name: document.value for name, document in DOCUMENTS.items() if document is not None}
KEYS = sorted({path for document in DOCUMENTS.values() if document for path in document.places if path}, key=str)
"""Every key path that any of the files holds; together they hold every key of a spec of one cluster."""

WHOLE = [0, 1, 2, 3, 5, 7, 8, 13, 64, 97, 1000, 4096, 65_537, 10**6, 10**9, 10**12, 10**18, 10**30, -1, -(10**18)]
BROKEN = [0.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"), -0.0, 1.0000001]
QUANTITIES = [
    *(
        "0 GB/s",
        "900 GB/s",
        "900 GB/s duplex",
        "450 GB/s unidirectional",
        "8 x 400 Gb/s",
        "400 gb/s",
        "1e30 TB/s duplex",
    ),
    *("-3 GB/s duplex", "80 GB", "80 GiB", "1 B", "1e30 PB", "10 kW", "0 W", "1e-30 W", "15T", "1e30", "2 us", "3 h"),
    *("1000 years", "0 s", "989 TFLOP/s dense", "1979 TFLOP/s sparse", "1 FLOP/s dense", "2:1", "0:1", "1:0", "1e9:1"),
    *("inf GB", "nan", "9" * 400, "9" * 400 + " GB/s duplex", "40 %", "infinity s", "1/0", "٣ GB", "４００ Gb/s"),
]
WORDS = [
    "",
    " ",
    "no",
    "on",
    "null",
    "~",
    "true",
    "2026-02-30",
    "../../etc/passwd",
    "/dev/zero",
    "a\0b",
    "\u202e",
    "🚀",
    "*",
    "\x1b[31m\x07\x08",
    "\ufffe\uffff\x7f\x85\u2028",
    "|\n<b>`::error::]]>&\"'",
]
CONTAINERS: list[Any] = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    [{}],
    [None],
    {"": None},
    {"zz": 1},
    [1] * 300,
    [1, "a", None, {}],
]


def choices(node: Schema) -> list[Any]:
    """The words that the schema knows for a key."""
    return [
        word for branch in node_branches(node, schema()) for word in (*branch.get("enum", ()), branch.get("const", 1))
    ]


@st.composite
def changes(draw: st.DrawFn) -> tuple[KeyPath, Any]:
    """A key, and what somebody wrote there."""
    path = draw(st.sampled_from(KEYS))
    known = choices(node_at(schema(), path)) or [1]
    pools = (WHOLE, BROKEN, QUANTITIES, WORDS, CONTAINERS, known, known)
    return path, draw(st.one_of([st.sampled_from(pool) for pool in pools] + [st.integers(), st.text(max_size=20)]))


def changed(tree: Any, path: KeyPath, value: Any) -> None:
    """Writes a value at a path as far as the path goes, and makes the mappings that it lacks."""
    for key, following in pairwise(path):
        if isinstance(tree, list):
            if not isinstance(key, int) or key >= len(tree):
                return
            tree = tree[key]
        elif isinstance(tree, dict):
            tree = tree.setdefault(str(key), [] if isinstance(following, int) else {})
    if isinstance(tree, dict):
        tree[str(path[-1])] = value
    elif isinstance(tree, list) and isinstance(path[-1], int) and path[-1] < len(tree):
        tree[path[-1]] = value


@st.composite
def meant(draw: st.DrawFn) -> bytes:
    """An example with some keys written otherwise: mostly YAML, seldom sense."""
    tree = json.loads(json.dumps(VALUES[draw(st.sampled_from(sorted(VALUES)))]))
    for path, value in draw(st.lists(changes(), min_size=1, max_size=5)):
        changed(tree, path, value)
    text = json.dumps(tree, indent=1).replace("NaN", ".nan").replace("-Infinity", "-.inf").replace("Infinity", ".inf")
    return text.encode("utf-8", "surrogatepass")


BYTES = st.sampled_from(
    [b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\t", b": ", b"- ", b"&a ", b"*a ", b"!!x ", b"{", b"]", b"'"]
)


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """An example whose lines were moved, doubled, shifted or cut, and in which bytes were spilt."""
    lines = TEXTS[draw(st.sampled_from(sorted(TEXTS)))].split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at_line = draw(st.integers(0, len(lines) - 1))
        line = lines[at_line]
        cut = draw(st.integers(0, len(line)))
        outcomes = {
            "doubled": [line, line],
            "gone": [],
            "shifted": [b"  " + line],
            "unshifted": [line.removeprefix(b"  ")],
            "cut": [line[:cut]],
            "broken": [line[:cut], line[cut:]],
            "spilt": [line[:cut] + draw(BYTES | st.binary(max_size=3)) + line[cut:]],
        }
        lines[at_line : at_line + 1] = outcomes[draw(st.sampled_from(sorted(outcomes)))]
        lines = lines or [b""]
    return draw(st.sampled_from([b"\n", b"\n", b"\r\n"])).join(lines)


HOSTILE = st.one_of(meant(), meant(), mangled(), st.binary(max_size=200))
