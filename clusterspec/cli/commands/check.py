"""``clusterspec check``: options, and the run with fixes, baselines and outputs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from clusterspec import analysis
from clusterspec.cli import FOUND, OK, UsageFault, choices, files
from clusterspec.cli.choices import current_date
from clusterspec.cli.inputs import STDIN, StudyReader, shown_name
from clusterspec.cli.options import FORMATS, nonempty_name, path, positive_integer, stdin_filename
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.finding import Severity
from clusterspec.report import PLAIN, findings_text
from clusterspec.results import NOTHING_CHECKED, CheckReport
from clusterspec.studies import CheckedFile, Settings
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cli.fixes import Changes


# Options of ``clusterspec check``


def describe_check(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check` to its parser."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=path,
        nargs="*",
        default=["."],
        help="specs, folders to search for them, or running text (.md, .txt, .rst); - reads standard input "
        "(default: the current folder)",
    )
    for group in (_add_output_options, _add_rule_options, _add_fix_options, _add_baseline_options, _add_run_options):
        group(parser)
    stdin_filename(parser)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        action="append",
        default=[],
        help="output format (default: text; in GitHub Actions and GitLab their formats; for a file the one of its "
        "suffix); the nth --format applies to the nth --output",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="output file instead of standard output (repeatable, in pairs with --format)",
    )


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--select",
        metavar="RULE",
        action="append",
        default=[],
        help="run only these rules (repeatable, or comma-separated)",
    )
    parser.add_argument("--ignore", metavar="RULE", action="append", default=[], help="do not run these rules")
    parser.add_argument("--error", metavar="RULE", action="append", default=[], help="raise these rules to errors")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "note"), help="exit with 1 from this severity up (default: error)"
    )


def _add_fix_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="apply safe fixes to the files, keeping their formatting")
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="also show the changes of suggestions: names of hardware, models and topologies, and design changes; "
        "--fix writes them",
    )
    parser.add_argument("--diff", action="store_true", help="show the changes of --fix without applying them")


def _add_baseline_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        type=path,
        help="report only findings that this file does not have",
    )
    parser.add_argument(
        "--write-baseline", metavar="FILE", type=path, help="write the findings to a baseline, and report nothing"
    )
    parser.add_argument(
        "--trust",
        choices=("spec", "base", "none"),
        default="spec",
        help="the waivers, baseline, configuration, catalog and rules that apply: those of the current files, those of "
        "the base revision (for pull requests), or none (default: spec)",
    )
    parser.add_argument(
        "--base-revision",
        metavar="REV",
        type=nonempty_name,
        help="the base revision (default: the target branch in CI)",
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--statistics", action="store_true", help="count the findings of each rule instead of printing them"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print the configuration of each file")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=positive_integer,
        help="number of processes (default: one per core if there are many files)",
    )
    parser.add_argument(
        "--only-specs",
        action="store_true",
        help="skip files that are not specs, even if given explicitly: for hooks that pass all YAML files",
    )
    parser.add_argument(
        "--watch", action="store_true", help="check again whenever a file changes, until Ctrl+C ends it"
    )
    parser.add_argument("--no-cache", action="store_true", help="accepted for hooks that pass it: nothing is cached")


# ``clusterspec check PATH…``


def run_check(args: argparse.Namespace) -> int:
    """Check all paths, apply the requested fixes, and print the findings; with ``--watch`` again after each change.

    Raises `InternalError` after printing if a rule failed.
    """
    if not args.watch:
        return check_once(args)[0]
    from clusterspec.cli.watch import watch

    for option in ("fix", "write_baseline", "output"):
        if getattr(args, option):
            raise UsageFault(f"--watch only prints: leave --{option.replace('_', '-')} out")
    if STDIN in args.paths:
        raise UsageFault("--watch needs files; standard input cannot be read again")
    if absent := [path for path in args.paths if not Path(path).exists()]:
        raise UsageFault(f"--watch: {absent[0]}: No such file or directory")
    return watch(lambda: check_once(args), args.paths)


def check_once(args: argparse.Namespace) -> tuple[int, set[str]]:
    """The exit status of one check, and the files read. Raises the errors of `run_check`."""
    pairs = choices.format_pairs(args)
    apply_trust(args)
    reader = StudyReader(args)
    names = files.named_files(args, reader)
    shared = reader.settings(Path(names[0]).resolve().parent if names else Path.cwd())
    if args.verbose:
        announce_files(args, reader, names)
    found = files.checked_files(args, reader, names)
    refuse_overwriting(args, names, found, shared)
    changes: Changes = {}
    if args.diff or args.fix or args.unsafe_fixes:
        changes = changes_of(args, reader, names, found)
    if args.diff:
        print_difference(changes, args)
        return (FOUND if changes else OK), {*names}
    if args.fix:
        found = apply_changes(args, reader, names, found, changes)
    report = analysis.check(found, shared)
    if args.baseline or args.write_baseline:
        from clusterspec.cli.fixes import report_with_baseline

        report = report_with_baseline(args, reader, report)
    threshold = Severity(args.fail_on or shared.config.fail_on)
    for pair in pairs:
        print_report(args, report, pair, threshold, fixed_input=STDIN in names and args.fix)
    if args.unsafe_fixes and not args.fix:
        preview_changes(changes)
    tell_nothing_checked(args, report, pairs)
    if fault := files.fault_of(found):
        raise fault
    read = {name for one in found for name in (*one.sources, *one.logs)}
    return (FOUND if report.reaches(threshold) else OK), {*names, *read}


def announce_files(args: argparse.Namespace, reader: StudyReader, names: Sequence[str]) -> None:
    """Print each file with its configuration and catalog on standard error."""
    for name in names:
        settings = reader.settings_of(name)
        by = settings.config.file or "no configuration"
        print_error(f"clusterspec: {shown_name(args, name)}: {by}, catalog {settings.catalog.version}")


def apply_trust(args: argparse.Namespace) -> None:
    """Apply ``--trust``. Raises `UsageFault` for options that contradict it."""
    for option in ("config", "baseline"):
        if args.trust == "none" and getattr(args, option):
            raise UsageFault(f"--{option} contradicts --trust none, which ignores configurations and baselines")
    if args.trust == "base" and args.config:
        raise UsageFault("--config contradicts --trust base, which uses the configuration of the base revision")
    if args.trust == "base" or args.base_revision:
        from clusterspec.cli.git import choose_base

        choose_base(args)


def refuse_overwriting(
    args: argparse.Namespace, names: Sequence[str], checked: Sequence[CheckedFile], shared: Settings
) -> None:
    """Raises `UsageFault` if an input would be overwritten."""
    sources = [name for one in checked for name in (*one.sources, *one.logs)]
    read = [*names, *sources]
    written = [("--output", target) for target in args.output]
    for option, target in [*written, ("--write-baseline", args.write_baseline)]:
        if target:
            baseline = [args.baseline] if args.baseline and option == "--output" else []
            from clusterspec.cli.output import refuse_input_as_output

            refuse_input_as_output(args, option, target, [*read, *baseline], shared.config)


def changes_of(
    args: argparse.Namespace, reader: StudyReader, names: Sequence[str], checked: Sequence[CheckedFile]
) -> Changes:
    """The changes of the requested fixes. Fixes that are not applied are printed."""
    from clusterspec.cli import fixes

    given = {shown_name(args, STDIN): reader.stdin_text()} if STDIN in names else {}
    made = fixes.fixed_files(reader, checked, args.unsafe_fixes, given)
    for line in made.refused:
        print_error(line)
    return made.changes


def preview_changes(changes: Changes) -> None:
    """Print, on standard error, the changes that ``--unsafe-fixes`` would make with ``--fix``."""
    from clusterspec.cli import fixes

    for line in fixes.unified_diff(changes).splitlines():
        print_error(line)
    if changes:
        print_error(f"nothing is written without --fix: {plural(len(changes), 'file')} would change")


def print_difference(changes: Changes, args: argparse.Namespace) -> None:
    """Print the changes of the fixes as a diff."""
    from clusterspec.cli import fixes

    text = fixes.unified_diff(changes)
    if args.output:
        from clusterspec.cli.output import write_whole

        write_whole(Path(args.output[0]), text.encode("utf-8", "backslashreplace"))
    else:
        print_text(text)


def apply_changes(
    args: argparse.Namespace,
    reader: StudyReader,
    names: Sequence[str],
    checked: Sequence[CheckedFile],
    changes: Changes,
) -> list[CheckedFile]:
    """Write the changes, print each with its line, and return the findings afterwards.

    The fixed text of standard input is written to standard output.
    """
    from clusterspec.cli import fixes

    typed = shown_name(args, STDIN) if STDIN in names else None
    fixes.write_changes({name: change for name, change in changes.items() if name != typed})
    if not args.quiet:
        for change in changes.values():
            for line in change.lines():
                print_error(line)
        print_error(f"fixed {plural(len(changes), 'file')}")
    if typed is not None:
        text = changes[typed].after if typed in changes else reader.stdin_text()
        reader.replace_stdin(text)
        print_text(text, exact=True)
    return files.rechecked_files(reader, names, checked, {*changes})


def print_report(
    args: argparse.Namespace, report: CheckReport, pair: choices.Pair, threshold: Severity, *, fixed_input: bool
) -> None:
    """Print the report in a format; on standard error if standard output has the fixed text."""
    form, target = pair
    options = files.Options(threshold, current_date(args), quiet=args.quiet, statistics=args.statistics)
    if fixed_input and not target:
        for line in files.rendered_report(report, form, PLAIN, options).splitlines():
            print_error(line)
    else:
        files.write_report(report, pair, args, options)
    if form != "text" and not args.quiet:
        for line in findings_text.baseline_lines(report):
            print_error(f"clusterspec: {line}")


def tell_nothing_checked(args: argparse.Namespace, report: CheckReport, pairs: Sequence[choices.Pair]) -> None:
    """Print on standard error that nothing was checked, unless a format for people says it on standard output."""
    said = {form for form, target in pairs if not target}
    if args.quiet and not args.statistics:
        said.discard("text")
    if not report.inputs and said.isdisjoint({"text", "markdown", "github"}):
        print_error(f"clusterspec: {NOTHING_CHECKED}")
