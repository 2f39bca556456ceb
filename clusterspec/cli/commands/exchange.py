"""``clusterspec import`` and ``clusterspec export``."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from clusterspec import document as documents
from clusterspec.cli import OK, SpecFault, UsageFault
from clusterspec.cli.choices import chosen_config
from clusterspec.cli.inputs import STDIN, StudyReader, folder_of, read_bytes, status_of, study_with_errors_named
from clusterspec.cli.options import fleet_options, format_option, path, positive_integer, stdin_filename
from clusterspec.cli.output import refuse_input_as_output, refuse_study_as_output, write_whole
from clusterspec.cli.terminal import ink_of, print_error, print_json, print_text
from clusterspec.document.schema import describes_fleet
from clusterspec.exchange import import_formats, merge
from clusterspec.exchange.documents import comment_text, result_with_known_keys
from clusterspec.exchange.exporters.registry import (
    EXPORTERS,
    ExportedFile,
    ExportInput,
    MissingPart,
    NotExportable,
    exporter_of,
    is_exporter,
)
from clusterspec.exchange.import_result import (
    LARGEST,
    FormatError,
    ImportResult,
    InputFile,
    SeveralParts,
    UnresolvedSpec,
    combined_result,
    shown_value,
    to_json,
)
from clusterspec.report import text_table
from clusterspec.results import Input, common_fields
from clusterspec.source import dotted_path
from clusterspec.units import plural

# Options of ``clusterspec import``


def describe_import(parser: argparse.ArgumentParser) -> None:
    """Add the options of `import` to its parser."""
    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        help="the format (default: auto, the format of each file); --list names all",
    )
    parser.add_argument("files", metavar="FILE", type=path, nargs="*", help="the files to read; - reads standard input")
    parser.add_argument(
        "--into",
        metavar="SPEC",
        type=path,
        help="insert the result into this spec, keeping its formatting and comments; existing values are kept",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="with --into, fill the keys that the spec lacks even if it states another model, batch or layout",
    )
    parser.add_argument(
        "--part", metavar="N", type=positive_integer, help="the number of the table or topology, if a file has several"
    )
    parser.add_argument("--list", action="store_true", help="list the formats that can be imported")
    format_option(parser, "yaml", "json")


# Options of ``clusterspec export``


def describe_export(parser: argparse.ArgumentParser) -> None:
    """Add the options of `export` to its parser."""
    parser.add_argument("kind", metavar="KIND", nargs="?", help="the format; --list names all")
    parser.add_argument("spec", metavar="SPEC", type=path, nargs="?", help="the spec; - reads standard input")
    stdin_filename(parser)
    fleet_options(parser)
    parser.add_argument("-o", "--output", metavar="FILE", type=path, help="output file instead of standard output")
    parser.add_argument("--list", action="store_true", help="list the formats that can be exported")


# ``clusterspec import KIND FILE…``


def run_import(args: argparse.Namespace) -> int:
    """Print the content of the files as a spec, or insert it into one.

    Raises `UsageFault` if a file cannot be read in its format, and `SpecFault` if the files state no fact.
    """
    if args.list:
        print_text(
            text_table(
                ("kind", "of", "reads"),
                [(kind.name, kind.group, kind.title) for kind in import_formats.IMPORT_FORMATS],
                wrap=(1, 2),
                style=ink_of(args),
            )
        )
        return OK
    if args.kind and _is_file_without_kind(args.kind, alone=not args.files):
        args.kind, args.files = "auto", [args.kind, *args.files]
    if args.kind and args.kind != "auto":
        _named_format(args.kind)
    if not args.files:
        only = f"{args.kind} is a kind, and there is no file {args.kind} here: " if args.kind else ""
        raise UsageFault(f"{only}name a FILE; `clusterspec import --list` lists the kinds that may stand before it")
    if args.into:
        refuse_input_as_output(args, "--into", args.into, args.files, chosen_config(args, folder_of(args.into)))
    digest = hashlib.sha256()
    reading = result_with_known_keys(combined_result([_read_file(args, name, digest) for name in args.files]))
    states_fact = bool(reading.given or reading.counts)
    if args.into and states_fact:
        _insert_import(args, reading, digest.hexdigest())
    elif args.format == "json":
        print_json(_import_json(args, reading, digest.hexdigest()))
    elif states_fact:
        print_text(merge.new_spec(reading))
    if not states_fact:
        raise SpecFault(f"{', '.join(args.files)}: {_nothing_text(reading)}")
    return OK


MOST_REASONS = 3
"""Maximum number of parts that the message names which were found and not imported."""


def _nothing_text(reading: ImportResult) -> str:
    """A message that files have neither a key of a spec nor a count: the format, the keys that it has, and the keys
    found instead.
    """
    kinds = [import_formats.format_named(kind) for kind in reading.kind.split(" + ") if import_formats.is_format(kind)]
    looked = "; ".join(f"{kind.name} ({kind.title})" for kind in kinds) or reading.kind
    found = "; ".join(str(each) for each in reading.unknown[:MOST_REASONS])
    more = (
        f"; and {plural(len(reading.unknown) - MOST_REASONS, 'other part')}" if reading.unknown[MOST_REASONS:] else ""
    )
    return f"read as {looked}, states nothing that a spec has{f'; {found}{more}' if found else ''}"


def _is_file_without_kind(text: str, *, alone: bool) -> bool:
    """Whether the first argument is a file to read and not a kind. If it is both, it counts as a file only if it is the
    sole argument (``alone``).
    """
    is_kind = text == "auto" or import_formats.is_format(text)
    return text == "-" or ((alone or not is_kind) and Path(text).is_file())


def _named_format(kind: str) -> import_formats.ImportFormat:
    """The format of a name. Raises `UsageFault` with similar names if there is none."""
    try:
        return import_formats.format_named(kind)
    except FormatError as why:
        missing = f"{kind}: No such file or directory; " if "/" in kind or "." in kind else ""
        raise UsageFault(f"{missing}{why}") from None


def _import_json(args: argparse.Namespace, reading: ImportResult, digest: str) -> dict[str, object]:
    """The import result as JSON; ``digest`` is the hash of the concatenated files."""
    name = ", ".join(args.files)
    tool = StudyReader(args).settings(folder_of(args.into or args.files[0])).tool
    return common_fields(tool, Input(name)) | {"input": {"file": name, "sha256": digest}} | to_json(reading)


def _read_file(args: argparse.Namespace, name: str, digest: hashlib._Hash) -> ImportResult:
    """The content of a file. Raises `SpecFault` if a part must be chosen, `UsageFault` with the line of an error."""
    data = read_bytes(name, LARGEST)
    digest.update(data)
    file = InputFile("-" if name == STDIN else Path(name).name, data, args.part)
    try:
        kind = import_formats.guessed_format(file) if args.kind == "auto" else _named_format(args.kind)
        return kind.read(file)
    except SeveralParts as choices:
        raise SpecFault(f"{name}: {choices}") from None
    except FormatError as why:
        raise UsageFault(f"{name}: {why}") from None


def _insert_import(args: argparse.Namespace, reading: ImportResult, digest: str) -> None:
    """Insert an import result into the spec and print the changes.

    Raises `SpecFault` if the spec cannot be read, and `UsageFault` if the result cannot be inserted.
    """
    data = read_bytes(args.into)
    source = documents.decode(args.into, data)
    document, _ = documents.parse(source)
    if document is not None and describes_fleet(document.value):
        raise UsageFault(f"--into: {args.into} is a fleet; import to standard output, and copy what belongs to a part")
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    try:
        merged = merge.merge(source.text.removeprefix(mark), reading, args.into)
    except UnresolvedSpec as why:
        raise SpecFault(str(why)) from None
    except FormatError as why:
        raise UsageFault(str(why)) from None
    if merged.joins_two_runs and not args.keep:
        raise UsageFault(f"{args.into} states another run than {', '.join(args.files)}: {_conflicts_text(merged)}")
    if merged.written:
        write_whole(Path(args.into), (mark + merged.text).encode("utf-8", "surrogateescape"))
    if args.format == "json":
        print_json(_import_json(args, reading, digest) | {"merged": _merged_json(merged)})
        return
    lines = [_merge_summary(merged, args.into)]
    lines += [f"wrote {dotted_path(each.path)}: {shown_value(each.value)}  ({each.at})" for each in merged.written]
    lines += [f"same  {dotted_path(each.path)}: {shown_value(each.value)}  ({each.at})" for each in merged.same]
    lines += [f"kept  {held}; {each.at} states {shown_value(each.value)}" for each, held in merged.kept]
    lines += map(str, reading.unknown)
    print_text("".join(f"{comment_text(line)}\n" for line in lines))


def _conflicts_text(merged: merge.MergedText) -> str:
    """The first imported values that differ because the spec states another run, and the possible remedies."""
    found = []
    for each, held in merged.other_run:
        inner = dotted_path(each.path).removeprefix(held.partition(" is ")[0]).lstrip(".")
        found.append(f"{held}, and {f'{inner} ' if inner else ''}{shown_value(each.value)} in {each.at}")
    more = f" and {plural(len(found) - MOST_CONFLICTS, 'further value')}" if len(found) > MOST_CONFLICTS else ""
    advice = "use --keep to import only keys that the spec lacks, or omit --into to print a separate spec"
    return f"{'; '.join(found[:MOST_CONFLICTS])}{more}; nothing is written. {advice}"


MOST_CONFLICTS = 3
"""Maximum number of such values in the message."""


def _merge_summary(merged: merge.MergedText, name: str) -> str:
    """The changed and the kept keys of a spec after an import, in one line."""
    total = len(merged.written) + len(merged.same) + len(merged.kept)
    kept = f"kept {plural(len(merged.kept), 'value')} of {name}, since the spec states another" if merged.kept else ""
    same = f"{len(merged.same)} already stated" if merged.same else ""
    new = f"wrote {len(merged.written)} of {plural(total, 'value')}" if merged.written else "nothing new"
    parts = (new, same, kept)
    return ", ".join(part for part in parts if part)


def _merged_json(merged: merge.MergedText) -> dict[str, object]:
    return {
        "written": [dotted_path(each.path) for each in merged.written],
        "same": [dotted_path(each.path) for each in merged.same],
        "kept": [{"path": dotted_path(each.path), "value": each.value, "why": held} for each, held in merged.kept],
    }


# ``clusterspec export KIND SPEC``


def run_export(args: argparse.Namespace) -> int:
    """Write the file, and list on standard error the keys that it omits or states differently from the spec."""
    if args.list:
        print_text(
            text_table(
                ("kind", "writes"), [(each.name, each.title) for each in EXPORTERS], wrap=(1,), style=ink_of(args)
            )
        )
        return OK
    if not args.kind or not args.spec:
        raise UsageFault("name a KIND and a SPEC; `clusterspec export --list` lists the kinds")
    if not is_exporter(args.kind) and is_exporter(args.spec):
        raise UsageFault(f"the kind comes first: `clusterspec export {args.spec} {args.kind}`")
    try:
        exporter = exporter_of(args.kind)
        one = study_with_errors_named(args, args.spec)
        exported = exporter.write(ExportInput(one.design))
    except MissingPart as why:
        raise SpecFault(f"{args.spec}: {why}") from None
    except NotExportable as why:
        raise UsageFault(f"{args.spec}: {why}") from None
    if args.output:
        refuse_study_as_output(args, "--output", args.output, one)
    _write_export(args, exported)
    if exported.omitted:
        print_error(f"clusterspec: missing in the file for {exporter.name}, or different from the spec:")
        for each in exported.omitted:
            print_error(f"  {each}")
    return status_of(one, printed=True)


def _write_export(args: argparse.Namespace, exported: ExportedFile) -> None:
    content = exported.content
    if args.output:
        write_whole(Path(args.output), content if isinstance(content, bytes) else content.encode("utf-8"))
    elif isinstance(content, str):
        print_text(content)
    elif sys.stdout is None or sys.stdout.isatty():
        raise UsageFault("this format is binary: name a file with -o")
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
