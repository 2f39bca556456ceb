"""``clusterspec catalog check`` and ``catalog new``: the catalog folders of a company."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from clusterspec import analysis
from clusterspec.catalog import Catalog
from clusterspec.catalog.company import checked_files, skeleton
from clusterspec.catalog.library import FOLDER_OF_KIND
from clusterspec.cli import FOUND, OK, UsageFault, output
from clusterspec.cli.choices import chosen_config, current_date
from clusterspec.cli.output import refuse_input_as_output, refuse_output_in_folders, write_whole
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.results import Input
from clusterspec.studies.study import Checked, Settings

_ID = re.compile("[a-z0-9]+([.-][a-z0-9]+)*")
LONGEST = 64
"""Characters of an id."""


def check(args: argparse.Namespace) -> int:
    """Print the faults of the catalog folders of the call or the configuration. The exit status is 1 if there are any.

    Raises `UsageFault` if no folder is given, or one cannot be read.
    """
    pairs = output.format_pairs(args)
    config = chosen_config(args, Path.cwd())
    named = [Path(name) for name in args.folders]
    folders = named or [*config.catalog, *(Path(name) for name in args.catalog)]
    if not folders:
        raise UsageFault("no catalog folder to check: name one, or set `catalog` in the configuration")
    try:
        found = [
            Checked(Input(one.source.name), one.findings, {one.source.name: one.source})
            for one in checked_files([_relative_folder(folder) for folder in folders])
        ]
    except OSError as fault:
        reason = f"the catalog folder {fault.filename}: {fault.strerror}" if fault.filename else str(fault)
        raise UsageFault(reason) from None
    for target in args.output:
        refuse_input_as_output(args, "--output", target, [], config)
        refuse_output_in_folders("--output", target, folders)
    report = analysis.check(found, Settings(Catalog.open(), config, current_date(args)))
    for pair in pairs:
        output.write_report(report, pair, args, output.Options(day=current_date(args)))
    return FOUND if report.findings else OK


def new(args: argparse.Namespace) -> int:
    """Print the commented template of an entry, or write it into a catalog folder. An absent folder is created.

    Raises `UsageFault` for an invalid kind or id, and if the file exists.
    """
    kinds = {word: kind for kind, place in FOLDER_OF_KIND.items() for word in (kind, place)}
    if args.kind not in kinds:
        raise UsageFault(f"no kind is called {args.kind!r}; there are {', '.join(FOLDER_OF_KIND)}")
    kind = kinds[args.kind]
    id_ = args.id or f"my-{kind}"
    if len(id_) > LONGEST or not _ID.fullmatch(id_):
        raise UsageFault(f"{id_!r} is not an id; write lower-case letters and digits, parts joined by `-` or `.`")
    text = skeleton(kind, id_, current_date(args), FOLDER_OF_KIND[kind])
    if not args.into:
        print_text(text, exact=True)
        return OK
    target = Path(args.into) / FOLDER_OF_KIND[kind] / f"{id_}.yaml"
    if target.exists() or target.is_symlink():
        raise UsageFault(f"{target}: exists")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageFault(f"{target.parent}: {fault.strerror}") from None
    write_whole(target, text.encode())
    print_error(f"wrote {target}")
    return OK


def _relative_folder(folder: Path) -> Path:
    """A folder relative to the current folder, if it is inside."""
    whole, here = folder.resolve(), Path.cwd().resolve()
    return whole.relative_to(here) if whole.is_relative_to(here) else folder
