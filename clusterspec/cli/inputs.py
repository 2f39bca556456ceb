"""Inputs of commands: specs from files or standard input, with the settings of their folders."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from clusterspec import document as documents
from clusterspec.catalog import Catalog
from clusterspec.cli import FOUND, OK, InternalError, UsageFault, fault_line
from clusterspec.cli.choices import chosen_config, config_with_options, current_date, opened_catalog
from clusterspec.cli.terminal import print_error
from clusterspec.config import Config
from clusterspec.document import Document
from clusterspec.document.files import TEXTS
from clusterspec.finding import Problem, Severity
from clusterspec.records import replace
from clusterspec.report import location_text
from clusterspec.results import Input
from clusterspec.source import Position, Source, Span
from clusterspec.studies import CheckedFile, Settings, Study, as_written, study
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.rules.policy import CompanyRule

STDIN = "-"


class StudyReader:
    """Resolves specs; settings of a folder and catalogs are read once."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.asked = args
        self._settings: dict[Path, Settings] = {}
        self._configs: dict[Path, Config] = {}
        self._catalogs: dict[tuple[Path, ...], Catalog] = {}
        self._stdin: bytes | None = None
        self._folders: dict[str, tuple[Path, bool]] = {}

    def settings(self, folder: Path) -> Settings:
        """The settings of a folder, with the options of the call.

        Raises `UsageFault` for a configuration or a catalog folder that cannot be read.
        """
        if folder not in self._settings:
            config = chosen_config(self.asked, folder, self._configs)
            if config.catalog not in self._catalogs:
                self._catalogs[config.catalog] = opened_catalog(self.asked, config)
            own = company_rules(config)
            chosen = config_with_options(config, self.asked, [rule.name for rule in own])
            self._settings[folder] = Settings(
                self._catalogs[config.catalog], chosen, current_date(self.asked), waiver_filter(self.asked), own
            )
        return self._settings[folder]

    def settings_of(self, name: str) -> Settings:
        """The settings of a file: the settings of its folder, with the configuration's overrides for the file."""
        return self._settings_in(name, self._file_folder(name)[0])

    def _settings_in(self, name: str, folder: Path) -> Settings:
        settings = self.settings(folder)
        if not settings.config.overrides:
            return settings
        return replace(settings, config=settings.config.for_path(shown_name(self.asked, name)))

    def study(self, name: str) -> Study:
        """A study of a spec file, or of standard input for ``-``."""
        return self._study_of(name, self.read(name))

    def changed_study(self, name: str, text: str) -> Study:
        """A study of a changed text of a spec, read as if the file held it."""
        return self._study_of(name, text.encode("utf-8", "surrogateescape"))

    def _study_of(self, name: str, data: bytes) -> Study:
        folder, _ = self._file_folder(name)
        return study(
            documents.decode(shown_name(self.asked, name), data), data, self._settings_in(name, folder), folder
        )

    def _file_folder(self, name: str) -> tuple[Path, bool]:
        """The folder of a file with symlinks resolved, and whether the path has no symlink."""
        given = os.path.dirname(name)  # noqa: PTH120
        if name == STDIN or os.path.islink(name):  # noqa: PTH114
            return folder_of(name), False
        if given not in self._folders:
            folder = os.path.realpath(given)
            self._folders[given] = Path(folder), folder == os.path.abspath(given)  # noqa: PTH100
        return self._folders[given]

    def study_at(self, path: Path, folder: Path) -> Study:
        """A study of a copied file, with the settings of ``folder``."""
        data = documents.read_bytes(path)
        return study(documents.decode(str(path), data), data, self.settings(folder.resolve()), path.parent)

    def read(self, name: str) -> bytes:
        """The bytes of a file, or of standard input, which is read once. Raises `UsageFault`."""
        caller = getattr(self.asked, "caller", None)
        if caller is not None and name in caller.texts:
            return bytes(caller.texts[name])[: documents.LARGEST + 1]  # as of a file
        if name != STDIN:
            return read_bytes(name, direct=self._file_folder(name)[1])
        if self._stdin is None:
            self._stdin = read_bytes(STDIN)
        return self._stdin

    def stdin_text(self) -> str:
        """The text of standard input, with its byte order mark."""
        return documents.decode(STDIN, self.read(STDIN)).text

    def replace_stdin(self, text: str) -> None:
        """Replace the text of standard input."""
        self._stdin = text.encode("utf-8", "surrogateescape")

    def checked_file(self, name: str) -> CheckedFile:
        """The findings of a file: a spec, or running text by its suffix."""
        if why := getattr(self.asked, "unreadable", {}).get(name):
            return unread_file(name, why)
        if not shown_name(self.asked, name).lower().endswith(TEXTS):
            return self.study(name).checked
        data = self.read(name)
        if len(data) > documents.LARGEST:
            raise UsageFault(f"{name}: more than {documents.LARGEST >> 20} MiB of text")
        from clusterspec.studies.prose_files import checked_prose

        return checked_prose(documents.decode(shown_name(self.asked, name), data), data, self.settings_of(name))


def waiver_filter(args: argparse.Namespace) -> Callable[[Document], Document]:
    """A function that removes waivers that do not apply under ``--trust``."""
    trust = getattr(args, "trust", "spec")
    if trust == "base":
        from clusterspec.cli.git import document_with_base_waivers

        return document_with_base_waivers
    return document_without_comments if trust == "none" else as_written


def company_rules(config: Config) -> tuple[CompanyRule, ...]:
    """The company rules of a configuration. Raises `UsageFault` for an invalid rule."""
    if not config.rules:
        return ()
    from clusterspec.rules.policy import PolicyFault, load

    try:
        return load(config.rules)
    except (PolicyFault, OSError) as fault:
        raise UsageFault(str(fault)) from None


def document_without_comments(document: Document) -> Document:
    """The document without comments, and so without waivers."""
    return replace(document, comments=())


def unread_file(name: str, why: str) -> CheckedFile:
    """The finding about a file of a folder that may be a spec but cannot be read."""
    top = Position(1, 1)
    message, advice = f"the file cannot be read: {why.lower()}", "make it readable, or exclude it in the configuration"
    problem = Problem("unreadable-yaml", (), message, advice, span=Span(name, top, top))
    source = Source(name, "")
    return CheckedFile(Input(name), (documents.to_finding(problem, None, source),), {name: source})


def folder_of(name: str) -> Path:
    """The folder where the search for the configuration of a file starts."""
    return Path.cwd() if name == STDIN else Path(os.path.dirname(os.path.realpath(name)))  # noqa: PTH120


def shown_name(args: argparse.Namespace, name: str) -> str:
    """The name of a file in findings."""
    return (args.stdin_filename or STDIN) if name == STDIN else name


def read_bytes(name: str, most: int = documents.LARGEST, *, direct: bool = False) -> bytes:
    """The first ``most`` + 1 bytes of a file, or of standard input for ``-``.

    ``direct`` means that no symlink is on the way to the file. Raises `UsageFault` when there is no such file or it
    cannot be read.
    """
    try:
        if name != STDIN:
            if not direct:
                _refuse_link_out(name)
            return documents.read_bytes(name, most)
        if sys.stdin is None:
            raise UsageFault("standard input is closed")
        return sys.stdin.buffer.read(most + 1)
    except (OSError, ValueError) as fault:
        raise UsageFault(f"{name}: {getattr(fault, 'strerror', None) or fault}") from None


def _refuse_link_out(name: str) -> None:
    """Raises `UsageFault` for a file of the project behind a symlink that leads out of it."""
    place = os.path.realpath(name)
    if place == os.path.abspath(name):  # noqa: PTH100 - links are not to be followed here
        return
    from clusterspec.cli.output import leads_out_of_project  # few files are behind a link

    if leads_out_of_project(Path(name), Path(place)):
        raise UsageFault(f"{name} is a symbolic link that leads out of the project; name the file itself")


def study_of(args: argparse.Namespace, name: str) -> Study:
    """The study of a command's spec; for a fleet, the study of the chosen job or pool. Raises `UsageFault`."""
    return chosen_part(args, StudyReader(args).study(name))


def chosen_part(args: argparse.Namespace, whole: Study) -> Study:
    """The study of the job or pool that a call names; for a spec of one cluster or one job, the only study.

    Raises `UsageFault` if a fleet has several jobs and the call names none, and for an unknown name.
    """
    job, pool, name = getattr(args, "job", None), getattr(args, "pool", None), whole.source.name
    if whole.document is None:
        return whole
    if whole.fleet is None:
        if job or pool:
            raise UsageFault(f"{name} describes one cluster: --job and --pool choose a part of a fleet")
        return whole
    jobs, pools = whole.fleet.jobs, whole.fleet.pools
    if job or pool:
        return _named_part("pool" if pool else "job", str(job or pool), pools if pool else jobs)
    if len(jobs) == 1 and len(pools) == 1:
        return next(iter(jobs.values()))
    if not hasattr(args, "job"):
        raise UsageFault(f"{name} is a fleet, and `{args.command}` takes a spec of one cluster")
    raise UsageFault(f"{name} is a fleet, and this command needs one design: choose with {_choices_text(args, whole)}")


def _choices_text(args: argparse.Namespace, whole: Study) -> str:
    """The jobs and pools of a fleet that a command accepts, and the option for all of them if the command has one."""
    jobs, pools = (whole.fleet.jobs, whole.fleet.pools) if whole.fleet is not None else ({}, {})
    if args.command == "simulate":
        serving = [
            name for name, job in jobs.items() if job.spec.workload and job.spec.workload.implied_kind == "serve"
        ]
        return f"--job ({', '.join(serving) or 'no job of this fleet serves'})"
    named = f"--job ({', '.join(jobs) or 'none that can be resolved'})"
    if args.command == "search":
        return f"{named}, or all of them with --fleet"
    if args.command == "sensitivity":
        return named
    return f"{named} or --pool ({', '.join(pools) or 'none that can be resolved'})"


def fleet_or_study(args: argparse.Namespace, name: str) -> Study:
    """The study of a whole fleet if a call chooses no part of it, else the result of `study_of`."""
    return fleet_or_part(args, StudyReader(args).study(name))


def fleet_or_part(args: argparse.Namespace, whole: Study) -> Study:
    """The whole fleet if the call selects no part of it, else the result of `chosen_part`. A fleet with one job and one
    pool counts as a whole for JSON output only.
    """
    several = whole.fleet is not None and (len(whole.fleet.jobs), len(whole.fleet.pools)) != (1, 1)
    several = several or any(pool.phases for pool in (whole.spec.pools or {}).values())
    several = several or (whole.fleet is not None and getattr(args, "format", None) == "json")
    return whole if several and not (args.job or args.pool) else chosen_part(args, whole)


def _named_part(kind: str, name: str, parts: Mapping[str, Study]) -> Study:
    """The study of a part by its name. Raises `UsageFault` with the known names."""
    if name not in parts:
        raise UsageFault(f"no {kind} is called {name!r}; there are {', '.join(parts) or 'none that can be resolved'}")
    return parts[name]


MOST_NAMED = 20
"""Maximum number of errors that are printed before the figures."""


def study_with_errors_named(args: argparse.Namespace, name: str) -> Study:
    """A study of a command's spec. Its errors are printed on standard error, since all figures depend on them."""
    return with_errors_named(args, study_of(args, name), name)


def with_errors_named(args: argparse.Namespace, study: Study, name: str) -> Study:
    """The study, after its errors were printed on standard error."""
    errors = [finding for finding in study.checked.findings if finding.severity is Severity.ERROR]
    for finding in errors[:MOST_NAMED]:
        print_error(f"{location_text(finding.span)}: {finding.severity}[{finding.rule}] {finding.message}")
    if errors:
        from clusterspec.analysis.verdict import omitted_values  # only for a spec with errors

        them = "this error is" if len(errors) == 1 else f"these {len(errors)} errors are"
        left_out = omitted_values(errors)
        without = f" leave out {left_out}, and" if left_out else ""
        print_error(f"clusterspec: figures of {shown_name(args, name)}{without} are conditional until {them} corrected")
    return study


def status_of(study: Study, *, printed: bool = False, name: str = "") -> int:
    """The exit status: 1 if a spec has errors, else 0. The reason is printed on standard error unless the output
    already has it (``printed``).

    ``name`` is the caller's name of the spec, where the study read a copy.

    Raises the exception of a failed rule, or `InternalError` for a failed part of a result, so it is called after
    printing.
    """
    if study.checked.fault is not None:
        raise study.checked.fault
    if study.failures:
        (name, fault), *others = study.failures
        more = f" (and {len(others)} more)" if others else ""
        raise InternalError(f"{name}: {fault_line(fault)}{more}") from fault
    errors = [finding for finding in study.checked.findings if finding.severity is Severity.ERROR]
    if not errors:
        return OK
    if not printed:
        line, rule = errors[0].span.start.line, errors[0].rule
        number = f"{plural(len(errors), 'error')}, the first on line {line} [{rule}]"
        print_error(
            f"clusterspec: {name or study.source.name}: {number}; the exit status is 1; `clusterspec check` lists them"
        )
    return FOUND
