"""clusterspec checks, estimates and reports on AI cluster designs.

The library returns the results of the commands. `load` returns a design, which can be changed, checked and estimated;
the other functions take the path of a spec and return a typed result with `to_json`.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""Set to False here to avoid the import of `typing`, so that `--version` is almost as fast as Python's own start-up."""

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from pathlib import Path
    from typing import Any

    from clusterspec.analysis.searches.studied import SearchOptions
    from clusterspec.library import Catalogs, LoadedDesign
    from clusterspec.results import BillReport, CheckReport, CollectiveReport, EstimateReport
    from clusterspec.results.decision import DiffReport
    from clusterspec.results.diagnosis import AcceptanceReport, DiagnosisReport
    from clusterspec.results.levers import SensitivityReport, SolveReport, SweepRow
    from clusterspec.results.search import SearchReport
    from clusterspec.studies import Study

__version__ = "0.2.0"
__all__ = [
    "accept",
    "bill",
    "check",
    "collective",
    "diagnose",
    "diff",
    "estimate",
    "load",
    "search",
    "sensitivity",
    "solve",
    "study",
    "sweep",
]
# `cost` and `report` are packages, and a function of the same name would be replaced on their import: see `load`.


def load(
    source: str | Path | Mapping[str, Any], *, catalog: Catalogs = (), today: date | str | None = None
) -> LoadedDesign:
    """The design of a spec: a path, YAML text, or a mapping (`clusterspec.library.load`). Raises `OSError`."""
    from clusterspec import library

    return library.load(source, catalog=catalog, today=today)


def study(path: str | Path) -> Study:
    """A spec resolved as far as possible, with the configuration of its folder.

    Raises `OSError` if the file cannot be read.
    """
    from pathlib import Path

    from clusterspec import studies

    return studies.study_file(Path(path))


def check(path: str | Path) -> CheckReport:
    """The findings of a spec. Raises `OSError`."""
    from clusterspec import analysis

    one = study(path)
    return analysis.check([one], one.settings)


def estimate(path: str | Path) -> EstimateReport:
    """Memory, step time, MFU and communication of a spec, term by term. Raises `OSError`."""
    from clusterspec import analysis

    return analysis.estimate(study(path))


def collective(
    path: str | Path, name: str, ranks: int, sizes: list[float], algorithm: str | None = None
) -> CollectiveReport:
    """Time and bus bandwidth of a collective over some sizes, in bytes as nccl-tests counts them. Raises `OSError`."""
    from clusterspec import analysis

    return analysis.collective(study(path), name, ranks, sizes, algorithm)


def bill(path: str | Path) -> BillReport:
    """The bill of materials with derivations. Raises `OSError`."""
    from clusterspec import analysis

    return analysis.bill(study(path))


def search(path: str | Path, options: SearchOptions | None = None) -> SearchReport:
    """The best legal layouts of a spec, each checked by all rules. Raises `OSError`."""
    from clusterspec import analysis
    from clusterspec.analysis.searches.studied import EVERYTHING

    return analysis.search(study(path), options or EVERYTHING)


def solve(path: str | Path, key: str, until: str, *, best_layout: bool = False) -> SolveReport:
    """The smallest or largest value of a key that meets a condition such as ``mfu>=0.4``.

    Raises `OSError`, and `clusterspec.analysis.levers.conditions.ConditionFault` for an invalid condition.
    """
    from clusterspec import analysis

    return analysis.solve(study(path), key, until, best_layout=best_layout)


def sensitivity(path: str | Path) -> SensitivityReport:
    """The effect of each parameter, moved to the next value that is sold. Raises `OSError`."""
    from clusterspec import analysis

    return analysis.sensitivity(study(path))


def sweep(axes: str | Path) -> tuple[SweepRow, ...]:
    """The best layout of every point of a grid, from a file that names the base and the values of its keys.

    Raises `OSError`, and `clusterspec.analysis.searches.sweeps.SweepFault` for an invalid file.
    """
    from pathlib import Path

    from clusterspec import analysis
    from clusterspec.analysis.searches.sweeps import read_axes

    return tuple(analysis.sweep(read_axes(Path(axes))))


def diff(old: str | Path, new: str | Path) -> DiffReport:
    """The difference of two designs: keys, figures, findings. Raises `OSError`."""
    from clusterspec import analysis

    return analysis.diff(study(old), study(new))


def diagnose(
    path: str | Path, logs: Sequence[str | Path], collective: str | None = None, ranks: int | None = None
) -> DiagnosisReport:
    """The causes of low bandwidth in logs of collectives, by comparison with a design. For a folder, all logs in it and
    in its subfolders are read.

    ``collective`` and ``ranks`` apply to logs that do not state them. Raises `OSError`, and the `FormatError` of
    `clusterspec.exchange.import_result` for files that are no logs or do not fit the cluster.
    """
    from clusterspec import analysis
    from clusterspec.analysis.diagnosis.log_folders import logs_of_ranks
    from clusterspec.analysis.diagnosis.placed_runs import LogOverrides

    found = logs_of_ranks(logs)
    return analysis.diagnose(study(path), found.logs, LogOverrides(collective, ranks), found.skipped)[0]


def accept(path: str | Path, logs: Sequence[str | Path]) -> AcceptanceReport:
    """The outcome of the acceptance tests of a spec in some logs: pass, fail, impossible, not run.

    Raises as `diagnose`.
    """
    from clusterspec import analysis
    from clusterspec.analysis.diagnosis.collectives import read_logs

    return analysis.accept(study(path), read_logs(logs))[0]
