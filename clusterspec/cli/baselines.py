"""``--baseline`` and ``--write-baseline``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec.cli import UsageFault
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import print_error
from clusterspec.report import baseline
from clusterspec.results import CheckReport
from clusterspec.units import plural

LARGEST = 4 << 20
"""Bytes of a baseline that are read; a finding takes some 170."""


def with_baseline(args: argparse.Namespace, report: CheckReport) -> CheckReport:
    """The report without the findings in the baselines that are read and written.

    Raises `UsageFault` for a baseline that cannot be read.
    """
    if args.write_baseline:
        text = baseline.text(report)
        write_whole(Path(args.write_baseline), text.encode())
        print_error(f"wrote {plural(len(baseline.entries(report)), 'finding')} to {args.write_baseline}")
        return baseline.beyond(report, baseline.read(text))
    if not args.baseline:
        return report
    path = Path(args.baseline)
    try:
        return baseline.beyond(report, baseline.read(_data(path, args.trust).decode("utf-8")))
    except UnicodeDecodeError:
        raise UsageFault(f"--baseline {path}: not a clusterspec baseline") from None
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--baseline {path}: {getattr(fault, 'strerror', None) or fault}") from None


def _data(path: Path, trust: str) -> bytes:
    """The bytes of a baseline; with ``--trust base``, from the base revision."""
    if trust == "base":
        from clusterspec.cli.base_revision import at_base

        found = at_base(path)
        if found is None:
            raise UsageFault(f"--baseline {path}: does not exist in the base revision")
        data = found
    elif not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise UsageFault(f"--baseline {path}: {what}; `--write-baseline FILE` writes one")
    else:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageFault(f"--baseline {path}: larger than {LARGEST >> 20} MiB, the maximum")
    return data
