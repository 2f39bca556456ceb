"""``clusterspec search SPEC``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec.cli import FOUND, UsageFault
from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.options.search import SERVING, TRAINING
from clusterspec.cli.output import keep_study, write_whole
from clusterspec.cli.progress import Bar
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.exploration.layouts import SearchOptions, search
from clusterspec.exploration.rewrite import with_row
from clusterspec.report import search_text, serving_search_text

WHOLE = ("tp", "cp", "ep", "expert_tp", "pp", "dp", "virtual_stages", "micro_batch", "shard_group", "attention_dp")
WORDS = {
    "sharding": ("none", "zero1", "zero2", "fsdp", "hsdp"),
    "recompute": ("none", "selective", "full"),
    "schedule": ("1f1b", "interleaved", "gpipe", "zero-bubble", "dualpipe"),
    "pools": ("aggregated", "disaggregated"),
}
OF_SERVING = ("tp", "attention_dp", "ep", "pp", "pools")
OF_SERVING_ALONE = ("attention_dp", "pools")
"""Keys that a search of serving plans varies, and those that no training layout has."""


def run(args: argparse.Namespace) -> int:
    """Prints the best layouts of a job; ``--write`` puts the best into a copy of the spec."""
    options = SearchOptions(pins(args.set), args.objective, args.top, args.min_headroom, args.grid, args.explain)
    study = study_with_errors_named(args, args.spec)
    if args.write:
        keep_study(args, "--write", args.write, study)
    serves = study.spec.workload is not None and study.spec.workload.kind == "serve"
    _check_options(options, serves)
    bar = Bar("searching")
    try:
        report = search(study, options, bar)
    finally:
        bar.close()
    if args.format == "json":
        print_json(report.to_json())
    elif serves:
        shown = serving_search_text.search_csv(report) if args.format == "csv" else None
        print_text(shown if shown is not None else serving_search_text.search(report, ink(args)))
    else:
        print_text(search_text.search_csv(report) if args.format == "csv" else search_text.search(report, ink(args)))
    if args.write and report.layouts:
        write_whole(Path(args.write), with_row(study, report.layouts[0]).encode())
    return FOUND if report.incomplete else status_of(study, told=True)


def _check_options(options: SearchOptions, serves: bool) -> None:
    """Raises `UsageFault` for an option that the kind of work does not have: training, or serving."""
    kind, objectives = ("serving", SERVING) if serves else ("training", TRAINING)
    if options.objective and options.objective not in objectives:
        raise UsageFault(f"--objective {options.objective} does not rank {kind}; take one of {', '.join(objectives)}")
    if serves and options.grid:
        raise UsageFault("--grid tabulates layouts of training, not serving plans")
    strange = [key for key in options.pins if (key not in OF_SERVING if serves else key in OF_SERVING_ALONE)]
    if strange:
        raise UsageFault(f"--set {strange[0]} fixes no key that a search varies in {kind}")


def pins(texts: list[str]) -> dict[str, object]:
    """The keys that ``--set`` fixes. Raises `UsageFault` for one that a search does not vary."""
    found: dict[str, object] = {}
    for text in texts:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign or (key not in WHOLE and key not in WORDS):
            known = ", ".join((*WHOLE, *WORDS))
            raise UsageFault(f"--set takes KEY=VALUE with one of the keys {known}, not {text!r}")
        if key in WHOLE:
            if not (value.isascii() and value.isdigit()) or not 0 < len(value) <= 9 or int(value) < 1:
                raise UsageFault(f"--set {key} takes a whole number from 1, not {value!r}")
            found[key] = int(value)
        elif value not in WORDS[key]:
            raise UsageFault(f"--set {key} takes one of {', '.join(WORDS[key])}, not {value!r}")
        else:
            found[key] = value
    return found
