"""Common to all adapters: the rows that they get, and the answers that they give."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


class Inexpressible(Exception):
    """The peer has no terms for this row."""


def answer(predict: Callable[[Row], dict[str, float]]) -> None:
    """Reads rows from standard input and writes, for each, its figures in SI units or the reason why there are none.

    What a peer prints itself is dropped.
    """
    found: dict[str, Any] = {}
    rows = json.load(sys.stdin)
    with open(os.devnull, "w", encoding="utf-8") as silence, contextlib.redirect_stdout(silence):  # noqa: PTH123
        for row in rows:
            try:
                found[row["id"]] = {"figures": predict(row)}
            except Inexpressible as reason:
                found[row["id"]] = {"cannot": str(reason)}
            except Exception as fault:  # a peer may fail in any way
                found[row["id"]] = {"failed": f"{type(fault).__name__}: {str(fault).strip().splitlines()[:1]}"[:160]}
    json.dump(found, sys.stdout)


def require(holds: bool, reason: str) -> None:
    """Refuses a row unless the peer can express it."""
    if not holds:
        raise Inexpressible(reason)
