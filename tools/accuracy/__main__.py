"""``python -m tools.accuracy``."""

from __future__ import annotations

from tools.accuracy.page import build

if __name__ == "__main__":
    build()
    print("wrote docs/accuracy.md, docs/constants.md, docs/board.md and docs/reality.md")
