"""Output files, written atomically and never over an input, and the formats of `check`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import islice
from pathlib import Path

from clusterspec import resources, rules
from clusterspec.cli import UsageFault
from clusterspec.cli.terminal import ink_of, print_text
from clusterspec.document import marked_root, project_root
from clusterspec.finding import Severity
from clusterspec.records import dataclass
from clusterspec.report import PLAIN, Ink, findings_text
from clusterspec.results import CheckReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.config import Config
    from clusterspec.report.findings_sarif import RuleText
    from clusterspec.studies import Study


MOST_LINKS = 40
"""Symlinks on the way to a file, as many as Linux follows."""


def write_whole(target: Path, data: bytes) -> None:
    """Write a file atomically: a reader sees either the old or the new content.

    A symlink inside the project is kept, as are the mode and owner of a file; a device or pipe is written directly.
    Raises `UsageFault` if the target cannot be written or is a symlink out of the project.
    """
    place = writable_place(target)
    try:
        if place.exists() and not place.is_file():
            _write_into(place, data)
        else:
            _replace_file(place, data)
    except OSError as fault:
        raise UsageFault(f"{target}: {fault.strerror or fault}") from None


def writable_place(target: Path) -> Path:
    """The file that a path leads to, which can be written. A slow command asks before it computes.

    Raises `UsageFault` if the target is a folder, has no folder, leads out of the project or is write-protected.
    """
    try:
        if target.is_dir():
            raise UsageFault(f"{target}: is a folder; name a file in it")
        if not target.parent.is_dir():
            raise UsageFault(f"{target}: the folder {target.parent} does not exist")
        place = target.resolve()
        if leads_out_of_project(target, place):
            raise UsageFault(f"{target}: is a symbolic link to {place}, outside the project; name that file itself")
        if place.exists() and not os.access(place, os.W_OK):
            raise UsageFault(f"{target}: may not be written")
    except (OSError, RuntimeError) as fault:  # RuntimeError: a cycle of symlinks before Python 3.13
        raise UsageFault(f"{target}: {getattr(fault, 'strerror', None) or fault}") from None
    return place


def leads_out_of_project(target: Path, place: Path) -> bool:
    """Whether a symlink, of the file or of a folder on its path, leads from the project to the outside.

    The link and the working folder each define a project. Outside of any project, a symlink to a file may only
    lead into its own folder. System devices (`/dev/stdout`) are exempt.
    """
    whole = Path(os.path.abspath(target))  # noqa: PTH100 - links are not to be followed here
    if whole.parts[1:2] in {("dev",), ("proc",)}:
        return False
    here, there = Path.cwd(), Path(os.path.abspath(place))  # noqa: PTH100
    if whole.is_symlink() and not there.is_relative_to(project_root(whole.parent)):
        return True
    followed = islice(_followed_links(Path.cwd() / target), MOST_LINKS)
    if any((root := marked_root(link.parent)) and not there.is_relative_to(root) for link in followed):
        return True
    return whole.is_relative_to(here) and not there.is_relative_to(project_root(here.resolve()))


def _followed_links(path: Path) -> Iterator[Path]:
    """The symlinks that the system follows on an absolute path, in order. Circular links yield forever."""
    place, left = Path(path.anchor), [*reversed(path.parts[1:])]
    while left:
        part = left.pop()
        place = place.parent if part == ".." else place / part
        if place.is_symlink():
            yield place
            goal = place.readlink()
            left += reversed(goal.parts[1:] if goal.is_absolute() else goal.parts)
            place = Path(goal.anchor) if goal.is_absolute() else place.parent


def _write_into(place: Path, data: bytes) -> None:
    """Write to a device or a pipe. Raises `UsageFault` for a pipe without a reader, instead of blocking."""
    try:
        descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as fault:
        if fault.errno == errno.ENXIO:
            raise UsageFault(f"{place}: is a pipe without a reader") from None
        raise
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _replace_file(place: Path, data: bytes) -> None:
    """Write a temporary file in the same folder, flush it to disk, and rename it."""
    import tempfile

    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name[:32]}.", delete=False) as file:
            name = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _copy_mode_and_owner(Path(name), place)
        Path(name).replace(place)
    except BaseException:
        if name:
            Path(name).unlink(missing_ok=True)
        raise


def _copy_mode_and_owner(made: Path, place: Path) -> None:
    """Give a new file the mode and owner of the file it replaces, else the defaults."""
    if not place.exists():
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o666 & ~mask)
        return
    before = place.stat()
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(made, before.st_uid, before.st_gid)
    made.chmod(stat.S_IMODE(before.st_mode) & 0o777)


def refuse_input_as_output(
    args: argparse.Namespace, option: str, target: str, read: Iterable[str | os.PathLike[str]], *configs: Config
) -> None:
    """Raises `UsageFault` if an output is an input of the call.

    Inputs are the files that the call ``read``, its configurations, and all files in folders of catalogs and rules: the
    folders that the configurations and the call name, and the shipped catalog.
    """
    refuse_listed_as_output(option, target, [*read, *filter(None, [args.config, *(config.file for config in configs)])])
    own = [folder for config in configs for folder in (*config.catalog, *config.rules)]
    refuse_output_in_folders(option, target, [*own, *map(Path, args.catalog), resources.catalog()])


def refuse_study_as_output(args: argparse.Namespace, option: str, target: str, study: Study) -> None:
    """Raises `UsageFault` if an output is an input of a study (see `refuse_input_as_output`)."""
    refuse_input_as_output(args, option, target, [*study.sources, *study.logs], study.settings.config)


def refuse_listed_as_output(option: str, target: str, names: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `UsageFault` if an output is one of the inputs."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            if Path(name).samefile(target):
                raise UsageFault(f"{option} {target}: is an input file; name another one")


def refuse_output_in_folders(option: str, target: str, folders: Iterable[Path]) -> None:
    """Raises `UsageFault` if an output is in a folder of a catalog or of rules that is read."""
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if Path(target).resolve().is_relative_to(folder.resolve()):
                raise UsageFault(f"{option} {target}: is in the folder {folder}, an input; name another file")


# The formats of `check` and their outputs: `--format` and `--output` in pairs, or the format of the CI service

MACHINES = ("json", "sarif", "junit", "gitlab")
"""Formats that a program reads."""
OF_SUFFIX = {".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "markdown", ".txt": "text"}
"""The format of a file by its suffix, where the call names no format."""
OF_SUFFIX_IN_GITLAB = OF_SUFFIX | {".json": "gitlab"}


Pair = tuple[str, str | None]
"""A format, and the file that it goes to (None: standard output)."""


def format_pairs(args: argparse.Namespace) -> list[Pair]:
    """Pairs of format and output: the nth ``--format`` goes to the nth ``--output``, the last one to standard output.

    Raises `UsageFault` if two formats would share standard output, or outputs have no format.
    """
    formats, outputs = list(args.format), list(args.output)
    if not formats and len(outputs) < 2:
        return automatic_pairs(outputs[0] if outputs else None)
    if not formats:
        formats = [form for name in outputs if (form := OF_SUFFIX.get(Path(name).suffix.lower()))]
    if len(outputs) > len(formats) or len(formats) - len(outputs) > 1:
        raise UsageFault(
            f"--format is given {len(args.format)} times and --output {len(args.output)} times; "
            "give them in pairs, and at most one format without a file"
        )
    return list(zip(formats, [*outputs, None], strict=False))


def automatic_pairs(output: str | None) -> list[Pair]:
    """The default formats.

    GitHub Actions reads annotations from the log and SARIF from a file; GitLab reads its code quality report from a
    file, also from redirected standard output. Otherwise the suffix of a file determines its format.
    """
    github, gitlab = os.environ.get("GITHUB_ACTIONS") == "true", os.environ.get("GITLAB_CI") == "true"
    log = "github" if github else "gitlab" if gitlab and is_redirected() else "text"
    if output is None:
        return [(log, None)]
    suffix = Path(output).suffix.lower()
    if github:
        return [(OF_SUFFIX.get(suffix, "sarif"), output), (log, None)]
    if gitlab:
        return [(OF_SUFFIX_IN_GITLAB.get(suffix, "gitlab"), output), ("text", None)]
    return [(OF_SUFFIX.get(suffix, "text"), output)]


def is_redirected() -> bool:
    """Whether standard output is a file on disk rather than a terminal, pipe or device."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False


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


def rendered_report(report: CheckReport, form: str, paint: Ink, options: Options) -> str:
    """The text of a report in a format."""
    if options.statistics and form in ("text", "concise"):
        return findings_text.rule_statistics(report)
    if form in PLAIN_FORMATS:
        return PLAIN_FORMATS[form](report, paint, options)
    from clusterspec.report import findings_machines, findings_sarif

    writers: dict[str, Callable[[], str]] = {
        "json": lambda: findings_machines.json_text(report.to_json()),
        "sarif": lambda: findings_machines.json_text(findings_sarif.findings_as_sarif(report, rule_description)),
        "junit": lambda: findings_machines.findings_as_junit(report, options.fail_on, options.day),
        "gitlab": lambda: findings_machines.json_text(findings_machines.findings_as_gitlab(report)),
        "markdown": lambda: findings_machines.findings_as_markdown(report),
    }
    return writers[form]()


PLAIN_FORMATS: dict[str, Callable[[CheckReport, Ink, Options], str]] = {
    "text": lambda report, paint, options: findings_text.findings_as_text(report, paint, quiet=options.quiet),
    "concise": lambda report, paint, _: findings_text.findings_as_lines(report, paint),
    "github": lambda report, _, __: findings_text.findings_as_github(report),
}
"""The formats for people, whose writers load nothing else."""
