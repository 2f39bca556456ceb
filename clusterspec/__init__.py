"""clusterspec checks, estimates and reports on AI cluster designs.

The library says what the commands say: each function takes the path of a spec and returns a typed
value with `to_json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterspec.pipeline import Study
    from clusterspec.results import BillReport, CheckReport, CollectiveReport, EstimateReport

__version__ = "0.1.0"
__all__ = ["bill", "check", "collective", "estimate", "study"]


def study(path: str | Path) -> Study:
    """One spec taken as far up the stairs as it goes, with the configuration of its folder.

    Raises `OSError` when the file cannot be read.
    """
    from clusterspec import pipeline

    return pipeline.study_file(Path(path))


def check(path: str | Path) -> CheckReport:
    """What is wrong with a spec, where, and what to do. Raises `OSError`."""
    from clusterspec import pipeline

    one = study(path)
    return pipeline.check([one], one.settings)


def estimate(path: str | Path) -> EstimateReport:
    """Memory, step time, MFU and communication of a spec, term by term. Raises `OSError`."""
    from clusterspec import pipeline

    return pipeline.estimate(study(path))


def collective(
    path: str | Path, name: str, ranks: int, sizes: list[float], algorithm: str | None = None
) -> CollectiveReport:
    """Time and bus bandwidth of a collective over some sizes, in bytes as nccl-tests counts them. Raises `OSError`."""
    from clusterspec import pipeline

    return pipeline.collective(study(path), name, ranks, sizes, algorithm)


def bill(path: str | Path) -> BillReport:
    """What has to be bought, with derivations. Raises `OSError`."""
    from clusterspec import pipeline

    return pipeline.bill(study(path))
