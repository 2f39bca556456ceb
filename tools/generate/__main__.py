"""``python -m tools.generate write|check``."""

from __future__ import annotations

import os
import sys

from tools.generate import PARTS_OF_PROGRAM, stale_files, write


def main(arguments: list[str]) -> int:
    os.environ.pop("COLUMNS", None)  # pages are as wide everywhere
    if arguments == ["write"]:
        if changed := write(PARTS_OF_PROGRAM):
            print("\n".join(f"wrote {name}" for name in changed), flush=True)
            os.execv(sys.executable, [sys.executable, "-m", "tools.generate", "write"])
        print("\n".join(f"wrote {name}" for name in write()) or "everything is current")
        return 0
    if arguments in ([], ["check"]):
        old = stale_files()
        print("\n".join(f"{name} is stale: run `make docs`" for name in old) or "everything is current")
        return 1 if old else 0
    print("usage: python -m tools.generate write|check", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
