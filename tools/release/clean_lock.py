"""Takes out of a lock file what belongs to one machine: addresses of indexes, and the project itself as a path."""

from __future__ import annotations

import re
import sys
from pathlib import Path

OPTIONS = ("--index-url", "--extra-index-url", "--find-links", "--trusted-host")
SELF = re.compile(r"(?:^# (?:WARNING|Consider)[^\n]*\n)*^clusterspec @ [^\n]*\n(?:    #[^\n]*\n)*", re.MULTILINE)


def lock_for_all_machines(text: str) -> str:
    """The text of a lock file for every machine."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(OPTIONS)]
    return SELF.sub("", "".join(lines))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(lock_for_all_machines(Path(name).read_text("utf-8")), "utf-8")
