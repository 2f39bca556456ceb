"""``clusterspec catalog`` and the options of its actions."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clusterspec.catalog import FOLDER_OF_KIND, BrokenEntry, Catalog, UnknownEntry, export, lookup
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.choices import chosen_config, current_date, format_pairs, headed_document, opened_catalog
from clusterspec.cli.options import FORMATS, format_option, path, positive_integer, shared_options
from clusterspec.cli.terminal import environment_columns, ink_of, print_error, print_json, print_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.company import NewEntry, Origin

    Actions = argparse._SubParsersAction[argparse.ArgumentParser]

KINDS = ", ".join(FOLDER_OF_KIND)


def describe_catalog(parser: argparse.ArgumentParser) -> None:
    """Add the options of `catalog` to its parser."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    _describe_lookups(actions, shared_options())
    _describe_company_actions(actions, shared_options())


def _describe_lookups(actions: Actions, shared: argparse.ArgumentParser) -> None:
    """Add the actions that show entries."""
    listing = actions.add_parser("list", help="list the entries of a kind, or all", parents=[shared])
    _add_kinds(listing)
    listing.add_argument(
        "--vendor", default="", metavar="TEXT", help="entries of vendors whose name contains this text"
    )
    listing.add_argument(
        "--since", type=positive_integer, metavar="YEAR", help="entries first shipped in this year or later"
    )
    show = actions.add_parser("show", help="one entry, each figure with its source and equivalents", parents=[shared])
    show.add_argument(
        "entry", metavar="ENTRY", help="an id, kind/id, or the name of a product, an instance or a checkpoint"
    )
    search = actions.add_parser("search", help="entries and known parts that mention some words", parents=[shared])
    search.add_argument("words", nargs="+", metavar="WORD")
    compare = actions.add_parser("compare", help="several entries side by side in one convention", parents=[shared])
    compare.add_argument("entries", nargs="+", metavar="ENTRY")
    diff = actions.add_parser("diff", help="two entries side by side, as their sources print them", parents=[shared])
    diff.add_argument("old", metavar="ENTRY")
    diff.add_argument("new", metavar="ENTRY")
    export = actions.add_parser("export", help="every fact with its source, licensed CC BY 4.0", parents=[shared])
    _add_kinds(export)
    file = export.add_mutually_exclusive_group()
    file.add_argument(
        "--sqlite", metavar="FILE", type=path, help="write a SQLite database of entries, facts and rejected readings"
    )
    file.add_argument(
        "--parquet", metavar="FILE", type=path, help="write a Parquet file of the columns of the CSV (extra `parquet`)"
    )
    audit = actions.add_parser(
        "audit", help="check sums, related facts, addresses and dates of all entries", parents=[shared]
    )
    for action in (listing, show, search, compare, diff, audit):
        format_option(action, "text", "json")
    format_option(export, "csv", "json")


def _describe_company_actions(actions: Actions, shared: argparse.ArgumentParser) -> None:
    """Add the actions on catalog folders of a company."""
    check = actions.add_parser("check", help="check company catalog folders", parents=[shared])
    check.add_argument("folders", nargs="*", metavar="FOLDER", type=path, help="default: those of the configuration")
    check.add_argument(
        "--format", choices=FORMATS, action="append", default=[], help="output format, as of `clusterspec check`"
    )
    check.add_argument(
        "--output",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="output file instead of standard output",
    )
    new = actions.add_parser("new", help="print a commented template of an entry", parents=[shared])
    new.add_argument("kind", metavar="KIND", help=KINDS)
    new.add_argument("id", metavar="ID", nargs="?", help="the id of the entry (default: my-KIND)")
    new.add_argument("--into", metavar="FOLDER", type=path, help="write it to this catalog folder instead")
    new.add_argument(
        "--from-file",
        metavar="FILE",
        type=path,
        help="the config.json of a model, or the data sheet of a part as text or HTML, whose figures become the facts",
    )
    new.add_argument("--url", metavar="ADDRESS", help="where the file was found; required with --from-file")
    new.add_argument("--name", metavar="TEXT", help="the name of the model or part (default: its id)")
    new.add_argument("--vendor", metavar="TEXT", help="who published the model, or makes the part (default: ACME)")


def _add_kinds(action: argparse.ArgumentParser) -> None:
    action.add_argument("of", nargs="*", metavar="KIND", help=KINDS)
    action.add_argument("--kind", dest="kinds", action="append", default=[], metavar="KIND", help="as KIND; repeatable")


# ``clusterspec catalog list|show|search|compare|diff|export|audit|check|new``

WHOLE = ("list", "search", "export", "audit")
"""Actions that read all entries and skip a company's invalid ones."""
Answer = tuple[str, dict[str, Any]]
"""The output of an action: text, and the body of a JSON document."""


def run_catalog(args: argparse.Namespace) -> int:
    """Print the result of an action. The exit status is 1 for faults, including invalid company entries.

    Raises `UsageFault` for an unknown name or kind.
    """
    if args.action in ("check", "new"):
        return check_company_folders(args) if args.action == "check" else print_new_entry(args)
    actions = {
        "list": list_answer,
        "show": entry_answer,
        "search": search_answer,
        "compare": comparison_answer,
        "diff": difference_answer,
        "export": export_answer,
        "audit": audit_answer,
    }
    try:
        catalog = opened_catalog(args, chosen_config(args, Path.cwd()))
        catalog, broken = catalog.without_broken_entries() if args.action in WHOLE else (catalog, ())
        text, body = actions[args.action](args, catalog)
    except (UnknownEntry, BrokenEntry, *lookup.MISSED) as fault:
        raise UsageFault(str(fault)) from None
    if broken:
        body = body | {"faults": [*map(str, broken), *body.get("faults", ())]}
    if args.format == "json":
        print_json(headed_document(args, body))
    else:
        print_text(text)
        for one in broken:
            print_error(f"clusterspec: {one}")
    return FOUND if body.get("faults") else OK


def list_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    found = export.catalog_rows(catalog, _kinds_of_call(catalog, [*args.of, *args.kinds]))
    found = export.filtered_rows(found, args.vendor, args.since)
    if (
        args.vendor
        and not found
        and (near := export.nearest_vendors(export.catalog_rows(catalog), args.vendor)) is not None
    ):
        offer = f"did you mean {', '.join(near)}?" if near else "`clusterspec catalog list` shows all entries"
        raise UsageFault(f"no vendor's name contains {args.vendor!r}; {offer}")
    return export.list_text(found, _output_width(args)), {"entries": [row.to_json() for row in found]}


def entry_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    view, others = lookup.entries_named(catalog, args.entry)
    same = f"also with this name: {', '.join(others)}\n" if others else ""
    return export.show_text(view, ink_of(args).measure) + same, {"entry": view.to_json(), "others": list(others)}


def search_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.search import entries_with_words, search_text

    found = entries_with_words(catalog, " ".join(args.words))
    return search_text(found, _output_width(args)), found.to_json()


def comparison_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.views import side_by_side_text

    if len(args.entries) < 2:
        raise UsageFault("compare takes two entries or more")
    found = lookup.compare_all(catalog, args.entries)
    return side_by_side_text(found, _output_width(args)), found.to_json()


def difference_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    comparison = lookup.compare(catalog, args.old, args.new)
    return export.compare_text(comparison, _output_width(args)), comparison.to_json()


def export_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.open_data import ParquetMissing, export_csv, export_json, export_parquet, export_sqlite

    kinds = _kinds_of_call(catalog, [*args.of, *args.kinds])
    if target := args.sqlite or args.parquet:
        from clusterspec.cli.output import write_whole

        try:
            content = export_sqlite(catalog, kinds) if args.sqlite else export_parquet(catalog, kinds)
        except ParquetMissing as fault:
            raise UsageFault(str(fault)) from None
        write_whole(Path(target), content)
        return f"wrote {target}\n", {"file": str(target)}
    return ("", export_json(catalog, kinds)) if args.format == "json" else (export_csv(catalog, kinds), {})


def audit_answer(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.audit import audit, audit_text

    found = audit(catalog, current_date(args))
    return audit_text(found), found.to_json()


def _kinds_of_call(catalog: Catalog, arguments: Sequence[str]) -> tuple[str, ...]:
    """The kinds given by a call, singular or plural, without duplicates. Raises `UsageFault` for an unknown kind."""
    named = {word: kind for kind in catalog.kinds for word in (kind, f"{kind}s", f"{kind}es")}
    for word in arguments:
        if word not in named:
            raise UsageFault(f"unknown kind {word!r} (choose from {', '.join(catalog.kinds)})")
    return tuple(dict.fromkeys(named[word] for word in arguments))


def _output_width(args: argparse.Namespace) -> int:
    """The width of the terminal or of `COLUMNS`; 0 (no limit) where there is neither."""
    limited = environment_columns() or (sys.stdout is not None and sys.stdout.isatty())
    return ink_of(args).width if limited else 0


# ``clusterspec catalog check`` and ``catalog new``: the catalog folders of a company

_ID = re.compile("[a-z0-9]+([.-][a-z0-9]+)*")
LONGEST = 64
"""Largest number of characters of an id."""


def check_company_folders(args: argparse.Namespace) -> int:
    """Print the faults of the catalog folders of the call or the configuration. The exit status is 1 if there are any.

    Raises `UsageFault` if no folder is given, or one cannot be read.
    """
    from clusterspec import analysis
    from clusterspec.catalog.company import checked_files
    from clusterspec.cli import files, output
    from clusterspec.results import Input
    from clusterspec.studies import CheckedFile, Settings

    pairs = format_pairs(args)
    config = chosen_config(args, Path.cwd())
    named = [Path(name) for name in args.folders]
    folders = named or [*config.catalog, *(Path(name) for name in args.catalog)]
    if not folders:
        raise UsageFault("no catalog folder to check: name one, or set `catalog` in the configuration")
    try:
        found = [
            CheckedFile(Input(one.source.name), one.findings, {one.source.name: one.source})
            for one in checked_files([_relative_folder(folder) for folder in folders])
        ]
    except OSError as fault:
        reason = f"the catalog folder {fault.filename}: {fault.strerror}" if fault.filename else str(fault)
        raise UsageFault(reason) from None
    for target in args.output:
        output.refuse_input_as_output(args, "--output", target, [], config)
        output.refuse_output_in_folders("--output", target, folders)
    report = analysis.check(found, Settings(Catalog.open(), config, current_date(args)))
    for pair in pairs:
        files.write_report(report, pair, args, files.Options(day=current_date(args)))
    return FOUND if report.findings else OK


def print_new_entry(args: argparse.Namespace) -> int:
    """Print the commented template of an entry, or write it into a catalog folder. An absent folder is created.

    Raises `UsageFault` for an invalid kind or id, and if the file exists.
    """
    from clusterspec.cli.output import write_whole

    kinds = {word: kind for kind, place in FOLDER_OF_KIND.items() for word in (kind, place)}
    if args.kind not in kinds:
        raise UsageFault(f"unknown kind {args.kind!r} (choose from {', '.join(FOLDER_OF_KIND)})")
    kind = kinds[args.kind]
    id_ = args.id or f"my-{kind}"
    if len(id_) > LONGEST or not _ID.fullmatch(id_):
        raise UsageFault(f"{id_!r} is not an id; write lower-case letters and digits, parts joined by `-` or `.`")
    entry = _new_entry(args, kind, id_)
    if not args.into:
        print_text(entry.text, exact=True)
        _print_open_facts(entry)
        return OK
    target = Path(args.into) / FOLDER_OF_KIND[kind] / f"{id_}.yaml"
    if target.exists() or target.is_symlink():
        raise UsageFault(f"{target}: exists")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageFault(f"{target.parent}: {fault.strerror}") from None
    write_whole(target, entry.text.encode())
    print_error(f"wrote {target}")
    _print_open_facts(entry)
    return OK


def _print_open_facts(entry: NewEntry) -> None:
    """Prints the facts that the program could not decide in a new entry; the entry has the same list."""
    if entry.left_open:
        print_error("left open:")
    for line in entry.left_open:
        print_error(f"  {line}")


def _new_entry(args: argparse.Namespace, kind: str, id_: str) -> NewEntry:
    """The template of an entry, or the entry of the model or part in the file of the call.

    Raises `UsageFault` if the options do not go together, or the file describes nothing that an entry can describe.
    """
    from clusterspec.catalog.company import NewEntry, Origin, entry_template  # `list` reads no company entries

    if not args.from_file:
        for option in ("url", "name", "vendor"):
            if getattr(args, option):
                raise UsageFault(f"--{option} belongs to --from-file, which names the file that is read")
        return NewEntry(entry_template(kind, id_, current_date(args), FOLDER_OF_KIND[kind]))
    if not (args.url or "").startswith(("https://", "http://")):
        raise UsageFault("--from-file needs --url, the address (https://…) where readers find the same file")
    origin = Origin(args.name or id_, args.vendor or "ACME", args.url, current_date(args))
    return _entry_of_model(args, id_, origin) if kind == "model" else _entry_of_sheet(args, kind, id_, origin)


def _entry_of_sheet(args: argparse.Namespace, kind: str, id_: str, origin: Origin) -> NewEntry:
    """The entry of the part whose data sheet is the given file.

    Raises `UsageFault` for a kind without data sheets, a file that is no text, and one without a figure.
    """
    from clusterspec.cli.inputs import read_bytes
    from clusterspec.exchange.data_sheets.entry import EmptySheet, sheet_entry
    from clusterspec.exchange.data_sheets.kinds import SHEET_KINDS
    from clusterspec.exchange.import_result import LARGEST

    if kind not in SHEET_KINDS:
        read = f"the config.json of a model, and data sheets of {', '.join(SHEET_KINDS)}"
        raise UsageFault(f"--from-file cannot read a {kind}, only {read}")
    content = read_bytes(args.from_file, LARGEST)
    if content.startswith(b"%PDF-") or b"\0" in content:
        raise UsageFault(f"{args.from_file} is not text; convert a PDF with `pdftotext -layout`")
    try:
        return sheet_entry(kind, id_, origin, content.decode("utf-8", "replace"))
    except EmptySheet as fault:
        raise UsageFault(f"{args.from_file}: {fault}") from None


def _entry_of_model(args: argparse.Namespace, id_: str, origin: Origin) -> NewEntry:
    """The entry of the model whose config.json is the given file.

    Raises `UsageFault` if the file describes no model that an entry can describe.
    """
    from clusterspec.catalog.company import model_entry
    from clusterspec.cli.inputs import read_bytes
    from clusterspec.cluster.transformer import assumed_gate
    from clusterspec.exchange.import_result import LARGEST, FormatError, InputFile
    from clusterspec.exchange.workloads.model_files.huggingface import read_huggingface

    try:
        reading = read_huggingface(InputFile(Path(args.from_file).name, read_bytes(args.from_file, LARGEST)))
    except FormatError as fault:
        raise UsageFault(f"{args.from_file}: {fault}") from None
    sizes = [each for each in reading.given if each.path[:2] == ("workload", "model")]
    facts: dict[str, Any] = {".".join(map(str, each.path[2:])): each.value for each in sizes}
    if "experts" in facts:
        # NOTE: a spec without `moe_layers` has experts in every layer, an entry without it has none.
        facts.setdefault("moe_layers", facts["layers"])
    if "gated_ffn" not in facts and isinstance(facts.get("ffn_hidden"), int):
        gated, why = assumed_gate(facts["hidden"], facts["ffn_hidden"])
        facts["gated_ffn"] = {"is": gated, "assumed": why}
    counts = {name: reading.number(name) for name in ("parameters", "active_parameters")}
    known = {name: count for name, count in counts.items() if isinstance(count, int)}
    return model_entry(id_, origin, facts, known, tuple(map(str, reading.unknown)))


def _relative_folder(folder: Path) -> Path:
    """A folder relative to the current folder, if it is inside."""
    whole, here = folder.resolve(), Path.cwd().resolve()
    return whole.relative_to(here) if whole.is_relative_to(here) else folder
