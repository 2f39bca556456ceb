"""Numbers of releases, for comparison."""

from __future__ import annotations

import re


def version_numbers(release: str) -> tuple[int, ...]:
    """The numbers of a release, for comparison; a part that is not a number ends it.

    >>> version_numbers("0.15.1"), version_numbers("1.3.0rc1"), version_numbers("2026.1")
    ((0, 15, 1), (1, 3, 0), (2026, 1))
    """
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+-]", release.lower())[0]))
