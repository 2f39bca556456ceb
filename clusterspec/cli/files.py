"""The files of a check and their findings, computed serially or in parallel, and the report of them in each format."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

from clusterspec import rules
from clusterspec.cli import InternalError, UsageFault, fault_line, is_callers_fault
from clusterspec.cli.choices import MACHINES, Pair
from clusterspec.cli.inputs import STDIN, StudyReader, shown_name
from clusterspec.cli.terminal import Progress, ink_of, print_error, print_text
from clusterspec.document import files
from clusterspec.finding import Severity
from clusterspec.records import dataclass, replace
from clusterspec.report import PLAIN, TextStyle, findings_text
from clusterspec.results import CheckReport, Input
from clusterspec.studies import CheckedFile, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.config.patterns import IgnoredPaths
    from clusterspec.report.findings_sarif import RuleText

WORTHWHILE = 32
"""Minimum number of files per process at which a further process saves time."""
CHUNK = 8
"""Files per task of a process: few enough that processes do not wait long for the last task."""


def named_files(args: argparse.Namespace, reader: StudyReader) -> list[str]:
    """The files of the paths, with folders searched, without duplicates. Raises `UsageFault` for a missing path.

    Unreadable files of a folder that may be specs are included, with the reason in ``asked.unreadable``.
    """
    found: dict[str, None] = {}

    args.unreadable = {}

    def passed_over(fault: OSError) -> None:
        name = str(fault.filename).removeprefix("./")
        found[name] = None
        args.unreadable[name] = fault.strerror or str(fault)

    for path in args.paths:
        try:
            below = files.spec_paths(
                path,
                only_specs=args.only_specs,
                passed_over=passed_over,
                skipped=skipped_paths(reader, path),
                included=_settings_of_search(reader, path).config.includes_text,
                unversioned=_warn_of_unversioned_file,
            )
            found |= dict.fromkeys(name.removeprefix("./") if path == "." else name for name in below)
        except OSError as fault:
            raise UsageFault(f"{path}: {fault.strerror or fault}") from None
    return list(found)


def _warn_of_unversioned_file(name: str) -> None:
    """Reports on standard error that a file with the sections of a spec is not checked, since it lacks the key of
    specs.
    """
    print_error(f"clusterspec: {name} has sections of a spec, and is not checked: `clusterspec: 1` is missing")


def skipped_paths(reader: StudyReader, path: str) -> files.Skipped:
    """The paths skipped in a folder: excluded by the configuration or ignored by git."""
    config = _settings_of_search(reader, path).config
    ignored = _ignored_paths(reader.asked, path) if config.respect_gitignore and Path(path).is_dir() else None

    def skip(name: str, is_folder: bool) -> bool:
        return config.excludes(name, folder=is_folder) or (ignored is not None and ignored(name, folder=is_folder))

    return skip


def _settings_of_search(reader: StudyReader, path: str) -> Settings:
    """The settings of a folder that is searched, or of the folder of a file."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    return reader.settings(folder.resolve())


def _ignored_paths(args: argparse.Namespace, path: str) -> IgnoredPaths | None:
    """The paths below a folder that git ignores, from the ``.gitignore`` files that ``--trust`` allows; None if none
    are used.
    """
    if args.trust == "none":
        return None
    from clusterspec.config.patterns import IgnoredPaths

    if args.trust == "base":
        from clusterspec.cli.git import base_ignores

        folder = Path(path).resolve()
        return IgnoredPaths(str(folder), base_ignores(folder))
    return IgnoredPaths(path)


def checked_files(args: argparse.Namespace, reader: StudyReader, names: Sequence[str]) -> list[CheckedFile]:
    """The findings of all files, in the order of the names, with progress on a terminal."""
    processes = min(args.jobs or core_count(), len(names) // WORTHWHILE)
    several = processes > 1 and STDIN not in names and not args.debug
    progress, found = Progress(), []
    for one in parallel_checks(args, names, processes) if several else sequential_checks(reader, names):
        found.append(one)
        if len(names) > 1:
            progress(f"checked {len(found)} of {len(names)}: {one.input.name}")
    progress.erase()
    return found


def core_count() -> int:
    """The number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sequential_checks(reader: StudyReader, names: Sequence[str]) -> Iterator[CheckedFile]:
    """The findings of the files, one after the other."""
    return (checked_file(reader, name) for name in names)


def parallel_checks(args: argparse.Namespace, names: Sequence[str], processes: int) -> Iterator[CheckedFile]:
    """The findings of the files, computed by several processes in chunks."""
    from concurrent.futures import ProcessPoolExecutor

    handed = argparse.Namespace(**{key: value for key, value in vars(args).items() if key != "run"})
    chunks = [list(names[start : start + CHUNK]) for start in range(0, len(names), CHUNK)]
    with ProcessPoolExecutor(processes, initializer=start_worker, initargs=(handed,)) as pool:
        with interrupts_held_back():
            results = pool.map(checked_chunk, chunks)
        for found in results:
            yield from found


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block, also in processes started in it, which cannot handle it yet."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


WORKER_READER: list[StudyReader] = []
"""The reader of a worker process; a single one, so that configurations and catalog entries are read once."""


def start_worker(args: argparse.Namespace) -> None:
    """Initialize a worker process. It ignores Ctrl-C, which the parent process handles."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if args.trust == "base":
        from clusterspec.cli.git import choose_base

        choose_base(args)  # a process that was not forked has no base revision yet
    WORKER_READER[:] = [StudyReader(args)]


def checked_chunk(names: Sequence[str]) -> list[CheckedFile]:
    """The findings of the given files, in picklable form."""
    found = list(sequential_checks(WORKER_READER[0], names))
    return [replace(one, fault=InternalError(fault_line(one.fault))) if one.fault else one for one in found]


def checked_file(reader: StudyReader, name: str) -> CheckedFile:
    """The findings of a file. An internal error is stored, so that other files are still checked."""
    try:
        return reader.checked_file(name)
    except Exception as fault:
        if reader.asked.debug or is_callers_fault(fault):
            raise
        return CheckedFile(Input(shown_name(reader.asked, name)), (), {}, fault)


def rechecked_files(
    reader: StudyReader, names: Sequence[str], checked: Sequence[CheckedFile], changed: set[str]
) -> list[CheckedFile]:
    """The findings after some files have changed."""
    stale = [not changed.isdisjoint(one.sources) for one in checked]
    return [checked_file(reader, name) if old else one for name, one, old in zip(names, checked, stale, strict=True)]


def fault_of(checked: Sequence[CheckedFile]) -> InternalError | None:
    """The first internal error, with its file; None if there is none."""
    return next((InternalError(f"{one.input.name}: {fault_line(one.fault)}") for one in checked if one.fault), None)


@dataclass(frozen=True)
class Options:
    """Options of the writers of findings: the failing severity, the current day and the amount of output."""

    fail_on: Severity = Severity.ERROR
    day: date = date.min
    quiet: bool = False
    statistics: bool = False


def write_report(report: CheckReport, pair: Pair, args: argparse.Namespace, options: Options) -> None:
    """Write a report in a format to its output."""
    form, target = pair
    text = rendered_report(report, form, PLAIN if target else ink_of(args), options)
    if target:
        from clusterspec.cli.output import write_whole

        write_whole(Path(target), text.encode("utf-8", "backslashreplace"))
    else:
        print_text(text, exact=form in (*MACHINES, "github"))


def rule_description(rule: str) -> RuleText:
    """The SARIF description of a rule."""
    from clusterspec.report import findings_sarif

    if not rules.is_rule_name(rule):
        return findings_sarif.RuleText(rule)
    page = rules.page(rule)
    finds = " ".join(page.sections["What it finds"].split())
    return findings_sarif.RuleText(page.summary, finds, page.text, page.rule.severity)


def rendered_report(report: CheckReport, form: str, paint: TextStyle, options: Options) -> str:
    """The text of a report in a format."""
    if options.statistics and form in ("text", "concise"):
        return findings_text.rule_statistics(report)
    if form in PLAIN_FORMATS:
        return PLAIN_FORMATS[form](report, paint, options)
    from clusterspec.report import findings_machines, findings_sarif
    from clusterspec.report.json_text import json_text

    writers: dict[str, Callable[[], str]] = {
        "json": lambda: json_text(report.to_json()),
        "sarif": lambda: json_text(findings_sarif.findings_as_sarif(report, rule_description)),
        "junit": lambda: findings_machines.findings_as_junit(report, options.fail_on, options.day),
        "gitlab": lambda: json_text(findings_machines.findings_as_gitlab(report)),
        "markdown": lambda: findings_machines.findings_as_markdown(report),
    }
    return writers[form]()


PLAIN_FORMATS: dict[str, Callable[[CheckReport, TextStyle, Options], str]] = {
    "text": lambda report, paint, options: findings_text.findings_as_text(report, paint, quiet=options.quiet),
    "concise": lambda report, paint, _: findings_text.findings_as_lines(report, paint),
    "github": lambda report, _, __: findings_text.findings_as_github(report),
}
"""The formats for people, whose writers load nothing else."""
