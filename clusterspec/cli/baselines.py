"""``--baseline`` and ``--write-baseline``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import rules
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import StudyReader
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import print_error
from clusterspec.document.derived import Fault, fault_of
from clusterspec.document.files import real_path
from clusterspec.finding import Finding
from clusterspec.report import findings_machines
from clusterspec.report.findings_machines import Baseline
from clusterspec.results import CheckReport
from clusterspec.units import plural

LARGEST = 4 << 20
"""Bytes of a baseline that are read; a finding takes some 170."""


def report_with_baseline(args: argparse.Namespace, reader: StudyReader, report: CheckReport) -> CheckReport:
    """The report without the findings in the baselines that are read and written.

    Raises `UsageFault` for a baseline that cannot be read, or that names a rule which does not exist.
    """
    if args.write_baseline:
        text = findings_machines.baseline_as_text(report)
        write_whole(Path(args.write_baseline), text.encode())
        print_error(
            f"wrote {plural(len(findings_machines.baseline_entries(report)), 'finding')} to {args.write_baseline}"
        )
        return findings_machines.report_beyond_baseline(report, findings_machines.read(text))
    if not args.baseline:
        return report
    path = Path(args.baseline)
    try:
        read = findings_machines.read(_baseline_bytes(path, args.trust).decode("utf-8"))
    except UnicodeDecodeError:
        raise UsageFault(f"--baseline {path}: not a clusterspec baseline") from None
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--baseline {path}: {getattr(fault, 'strerror', None) or fault}") from None
    refuse_unknown_rules(path, read, reader, report)
    return findings_machines.report_beyond_baseline(report, read, Inheritance(reader, report))


def refuse_unknown_rules(path: Path, read: Baseline, reader: StudyReader, report: CheckReport) -> None:
    """Raises `UsageFault` for an entry of a rule that does not exist, among company rules for its file."""
    files = {report.names[one.name].project: one.name for one in report.inputs if one.name in report.names}
    for entry in sorted(read.known):
        own = [rule.name for rule in reader.settings_of(files[entry.file]).own_rules] if entry.file in files else []
        if not rules.exists(entry.rule, own):
            meant = rules.nearest(entry.rule, limit=1, others=own)
            advice = f"did you mean {meant[0]}?" if meant else "`clusterspec explain` lists the rules"
            raise UsageFault(f"--baseline {path}: no rule is called {entry.rule[:60]!r}; {advice}")


class Inheritance:
    """Tells whether the base of a finding at an ``extends`` has the finding itself. Each base is checked once."""

    def __init__(self, reader: StudyReader, report: CheckReport) -> None:
        self.reader = reader
        self.inputs = {real_path(one.name) for one in report.inputs}
        self.faults: dict[str, set[Fault]] = {}

    def __call__(self, finding: Finding) -> bool:
        base = finding.base.file if finding.base else ""
        if not base or real_path(base) in self.inputs:
            return False
        if base not in self.faults:
            self.faults[base] = {fault_of(one) for one in self.reader.checked(base).findings}
        return fault_of(finding) in self.faults[base]


def _baseline_bytes(path: Path, trust: str) -> bytes:
    """The bytes of a baseline; with ``--trust base``, from the base revision."""
    if trust == "base":
        from clusterspec.cli.git import bytes_at_base

        found = bytes_at_base(path)
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
