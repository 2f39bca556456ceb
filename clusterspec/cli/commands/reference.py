"""Rule pages, quantities and settings; and what editors and shells need: schema, completion, a first spec, a server."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, BinaryIO, cast

from clusterspec import __version__, resources, units
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.choices import chosen_config, config_with_options, headed_document, opened_catalog
from clusterspec.cli.options import format_option, nonempty_name, path, positive_integer
from clusterspec.cli.terminal import ink_of, print_error, print_json, print_text
from clusterspec.config import Config, schema
from clusterspec.finding import current_name
from clusterspec.report import TextStyle, plain_line, readings_text, shell_word, text_table
from clusterspec.report.page_text import page_text
from clusterspec.results import Input, Tool, common_fields
from clusterspec.units import plural
from clusterspec.units.readings import readings

# ``clusterspec explain``, ``convert`` and ``config``: pages of rules, quantities, settings

# Options of ``clusterspec explain``


def describe_explain(parser: argparse.ArgumentParser) -> None:
    """Add the options of `explain` to its parser."""
    parser.add_argument(
        "rule",
        metavar="NAME",
        nargs="?",
        help="a rule, a key of a spec such as layout.tp, or a term of reports; without it, all rules are listed",
    )
    format_option(parser, "text", "json")


# Options of ``clusterspec convert``


def describe_convert(parser: argparse.ArgumentParser) -> None:
    """Add the options of `convert` to its parser."""
    parser.add_argument("quantity", metavar="QUANTITY", help='such as "900 GB/s duplex"')
    format_option(parser, "text", "json")


# Options of ``clusterspec config``


def describe_config(parser: argparse.ArgumentParser) -> None:
    """Add the options of `config` to its parser."""
    parser.add_argument(
        "path",
        metavar="PATH",
        type=path,
        nargs="?",
        default=".",
        help="a file or folder (default: the current folder)",
    )
    format_option(parser, "text", "json")


# ``clusterspec explain NAME``


def run_explain(args: argparse.Namespace) -> int:
    """Print the page of a rule or of a key, or the list of all rules."""
    if args.rule is None:
        text, body = rule_list(ink_of(args).width)
    else:
        from clusterspec.rules import OWN  # `convert` needs none

        own = args.rule.startswith(OWN) or args.rule == OWN.rstrip("/")
        text, body = page_of_company_rule(args) if own else named_page(args.rule, ink_of(args))
    if args.format == "json":
        print_json(headed_document(args, body))
    else:
        print_text(text)
    return OK


def named_page(name: str, paint: TextStyle) -> tuple[str, dict[str, object]]:
    """The page of a key, of a term, or of a rule of this program, as text and as JSON."""
    return key_page(name, paint) or term_page(name, paint) or rule_page(name, paint)


def page_of_company_rule(args: argparse.Namespace) -> tuple[str, dict[str, object]]:
    """The page of a company rule of the configuration, as text and as JSON. Raises `UsageFault` for an unknown one."""
    from clusterspec.cli.inputs import company_rules

    known = {rule.name: rule for rule in company_rules(chosen_config(args, Path.cwd()))}
    if args.rule not in known:
        there = f"there are {', '.join(known)}" if known else "the configuration of this folder names no rules"
        what = f"no company rule is called {args.rule!r}" if "/" in args.rule else "`own` is the group of company rules"
        raise UsageFault(f"{what}; {there}")
    page = known[args.rule].page
    return page_text(page, ink_of(args)), {"rule": args.rule, "page": page}


def term_page(name: str, paint: TextStyle) -> tuple[str, dict[str, object]] | None:
    """The meaning of a term of reports, as text and as JSON; None for other names, and for names of rules."""
    from clusterspec import rules
    from clusterspec.results.full import GLOSSARY, OF_SERVING

    if rules.is_rule_name(name) or rules.rules_of_group(name):
        return None
    terms = {term.lower(): pair for pair in (*GLOSSARY, *OF_SERVING) for term in (pair[0], *pair[0].split(", "))}
    if name.lower() not in terms:
        return None
    term, meaning = terms[name.lower()]
    more = "docs/glossary.md defines all terms."
    return page_text(f"# {term}\n\n{meaning}\n\n{more}\n", paint), {"term": term, "meaning": meaning}


def rule_list(columns: int) -> tuple[str, dict[str, object]]:
    """The list of rules, as text of some columns and as JSON."""
    from clusterspec import rules  # `convert` needs none

    listing = rules.rule_rows()
    return rules.listing_text(listing, columns) + "\n", {"rules": [row.to_json() for row in listing]}


def key_page(name: str, paint: TextStyle) -> tuple[str, dict[str, object]] | None:
    """The meaning and the possible values of a key, as text and as JSON; None for rule names and unknown names.

    Raises `UsageFault` for the last part of several keys, and for a path that no key has.
    """
    from clusterspec import rules
    from clusterspec.document.schema import near_words
    from clusterspec.spec import schema
    from clusterspec.spec.keys import key_rows, keys_with_name, rows_of_key

    if rules.is_rule_name(name):
        return None
    rows = rows_of_key(schema(), name)
    paths = [] if rows else keys_with_name(schema(), name)
    if len(paths) > 1:
        raise UsageFault(f"{name!r} is a key in several places: {', '.join(paths)}; name one of them")
    if not rows and not paths:
        if "." not in name:
            return None
        near = near_words(name, dict.fromkeys(row.path for row in key_rows(schema())))
        advice = f"did you mean {', '.join(near)}?" if near else "docs/spec.md lists all keys"
        raise UsageFault(f"a spec has no key {name!r}; {advice}")
    found, *inside = rows or rows_of_key(schema(), paths[0])
    kind = schema()["$defs"][found.quantity]["description"] if found.quantity else ""
    parts = [f"# {found.path}", found.meaning, f"Takes: {found.takes}.", kind]
    parts += ["## Keys", "\n".join(f"- `{row.path}`: {row.takes}. {row.meaning}" for row in inside)] if inside else []
    members = rules.rules_of_group(name)
    parts.append(f"Rules about it: {', '.join(members)}." if members else "")
    keys = [{"key": row.path, "takes": row.takes, "meaning": row.meaning} for row in (found, *inside)]
    body: dict[str, object] = {**keys[0], "values": kind or None, "keys": keys[1:], "rules": list(members)}
    return page_text("\n\n".join(part for part in parts if part), paint), body


def rule_page(name: str, paint: TextStyle) -> tuple[str, dict[str, object]]:
    """The page of a rule, as text and as JSON. Raises `UsageFault` for an unknown name."""
    from clusterspec import rules

    if members := rules.rules_of_group(name):
        raise UsageFault(f"{name!r} is a group of rules; each has a page: {', '.join(members)}")
    if not rules.is_rule_name(name):
        near = rules.nearest_rules(name, others=rules.groups())
        raise UsageFault(
            f"no rule is called {name!r}"
            + (
                f"; did you mean {', '.join(near)}?"
                if near
                else "; `clusterspec explain` lists the rules, docs/glossary.md"
            )
            + (
                ""
                if near
                else f" the terms, and `clusterspec estimate SPEC --explain {shell_word(name)}` explains a figure"
            )
        )
    page = rules.page_markdown(name)
    return page_text(page, paint), {"rule": current_name(name), "page": page}


# ``clusterspec convert "900 GB/s duplex"``


def run_convert(args: argparse.Namespace) -> int:
    """Print a quantity in all units and directions."""
    try:
        found = readings(args.quantity)
    except units.UnitFault as fault:
        raise UsageFault(str(fault)) from None
    if args.format == "json":
        print_json(headed_document(args, found.to_json()))
    else:
        print_text(readings_text(found, ink_of(args)))
    return OK


# ``clusterspec config PATH``: the settings of a file and their origin


def run_config(args: argparse.Namespace) -> int:
    """Print all configuration keys with value and origin. Raises `UsageFault` for a configuration that is refused."""
    from clusterspec.cli.inputs import company_rules

    path = Path(args.path)
    if not path.exists():
        raise UsageFault(f"{path}: No such file or directory")
    config = chosen_config(args, (path if path.is_dir() else path.parent).resolve())
    catalog = opened_catalog(args, config)
    config_with_options(config, args, [rule.name for rule in company_rules(config)])  # refuses what `check` refuses
    rows = [(key, *value_and_origin(config, key, args.path)) for key in schema()["properties"] if key != "overrides"]
    if args.format == "json":
        keys = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        print_json(common_fields(Tool(__version__, catalog.version), Input(args.path)) | {"keys": keys})
    else:
        shown = [(key, plain_line(toml_text(value)), plain_line(origin)) for key, value, origin in rows]
        print_text(
            f"for {plain_line(args.path)}, catalog {catalog.version}\n\n"
            + text_table(("key", "value", "from"), shown, style=ink_of(args))
        )
    return OK


def value_and_origin(config: Config, key: str, path: str) -> tuple[Any, str]:
    """The value of a key for a path, and its origin."""
    name = key.replace("-", "_")
    value, own = getattr(config.for_path(path), name), getattr(config, name)
    if value != own:
        return json_value(value), f"{config.file}, overrides"
    default = getattr(Config(), name)
    return json_value(own), "default" if own == default or config.file is None else str(config.file)


def toml_text(value: Any) -> str:
    """A configuration value in the syntax of the file; "not set" for none.

    >>> toml_text({"tight-memory": "note"}), toml_text(["few-spines"]), toml_text(True), toml_text(None)
    ('{tight-memory = "note"}', '["few-spines"]', 'true', 'not set')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {toml_text(item)}' for key, item in value.items())}}}"
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def json_value(value: Any) -> Any:
    """A configuration value as JSON."""
    if isinstance(value, tuple):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | float) else str(value)


# Options of ``clusterspec schema``


def describe_schema(parser: argparse.ArgumentParser) -> None:
    """Add the options of `schema` to its parser."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--editor",
        action="store_true",
        help="draft 7 with the units of quantities and the ids of the catalog and of company folders (default)",
    )
    what.add_argument(
        "--annotated",
        action="store_true",
        help="the schema that the program reads: draft 2020-12 with the kinds of quantities as annotations",
    )


# Options of ``clusterspec completion``


def describe_completion(parser: argparse.ArgumentParser) -> None:
    """Add the options of `completion` to its parser."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for `source <(clusterspec completion bash)`")


# Options of ``clusterspec init``


def describe_init(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser. Without options, the command prints the shipped starting spec."""
    default_text = "(default with another option: {})"
    parser.add_argument(
        "--platform",
        metavar="ID",
        type=nonempty_name,
        help=f"a platform of the catalog {default_text.format('dgx-h100')}",
    )
    parser.add_argument(
        "--model",
        metavar="ID",
        type=nonempty_name,
        help=f"a model of the catalog {default_text.format('llama-3.1-8b')}",
    )
    fewest = "the fewest of 1, 2, 4, 8 … nodes, or of units of sale, on which the model runs"
    parser.add_argument(
        "--nodes", metavar="N", type=positive_integer, help=f"the number of nodes {default_text.format(fewest)}"
    )
    parser.add_argument("--for", dest="kind", choices=("train", "serve"), help="the kind of workload (default: train)")


# Options of ``clusterspec lsp``


def describe_lsp(parser: argparse.ArgumentParser) -> None:
    """Add the options that editors pass; the server always uses standard input and output."""
    parser.add_argument("--stdio", action="store_true", help="accepted for editors that pass it")


# ``clusterspec schema``


def run_schema(args: argparse.Namespace) -> int:
    """Print the JSON Schema for editors, or the one that the program reads.

    Raises `UsageFault` for a catalog folder that cannot be read.
    """
    from clusterspec.cli.choices import chosen_config, opened_catalog

    config = chosen_config(args, Path.cwd())
    own = args.catalog or config.catalog
    if args.annotated or not own:
        name = "spec.schema.json" if args.annotated else "editor.schema.json"
        print_text((resources.schemas() / name).read_text("utf-8"), exact=True)
        return OK
    from clusterspec.cli.completions import editor_schema

    print_text(editor_schema(opened_catalog(args, config)), exact=True)
    return OK


# ``clusterspec completion SHELL``


def run_completion(args: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    from clusterspec.cli.completions import shell_script  # it loads the rules

    print_text(shell_script(args.shell), exact=True)
    return OK


# ``clusterspec init``


def run_init(args: argparse.Namespace) -> int:
    """Print a starting spec: the shipped one, or one for a platform and a model."""
    if not (args.platform or args.model or args.kind or args.nodes):
        print_text((resources.templates() / "starter.yaml").read_text("utf-8"))
        return OK
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.cli.starting import starting_spec
    from clusterspec.spec import schema

    settings = StudyReader(args).settings(Path.cwd())
    platform, model, kind = args.platform or "dgx-h100", args.model or "llama-3.1-8b", args.kind or "train"
    most = schema()["properties"]["cluster"]["properties"]["nodes"]["maximum"]
    if args.nodes and args.nodes > most:
        raise UsageFault(f"--nodes {args.nodes}: a spec has at most {most:,} nodes")
    where = _machine_text(platform, args.nodes)
    found = starting_spec(settings, platform, model, kind, args.nodes)
    if not found.text:
        advice = "omit --nodes to get a number that fits" if args.nodes else "write a spec with a layout of your own"
        raise UsageFault(f"no common layout of {model} divides over {where} and fits; {advice}")
    print_text(found.text)
    if found.errors:
        print_error(f"clusterspec: `check` reports of this template: {'; '.join(found.errors)}")
    elif not found.sound:
        print_error(f"clusterspec: No layout of {model} runs on {where}; this template has errors.")
    return OK


def _machine_text(platform: str, nodes: int | None) -> str:
    return f"{plural(nodes, 'node')} of {platform}" if nodes else platform


# ``clusterspec lsp``: the language server on standard input and output


def run_lsp(args: argparse.Namespace) -> int:
    """Serve an editor until it disconnects. Raises `UsageFault` if pygls is not installed."""
    try:
        from clusterspec.cli.language_server.server import Messages, server
    except ImportError:
        raise UsageFault("the language server needs pygls: pip install 'clusterspec[lsp]'") from None
    server(args).start_io(cast("BinaryIO", Messages(sys.stdin.buffer)))  # pygls calls `readline` and `read` alone
    return OK
