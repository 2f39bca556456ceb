"""Completions for editors and shells: scripts for bash, zsh and fish, and the JSON Schema of specs for editors."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from clusterspec import resources
from clusterspec.catalog import KINDS, Catalog
from clusterspec.catalog.company import ids_of_key, kind_of_key
from clusterspec.cli.commands import documented_commands, parser
from clusterspec.exchange.exporters.registry import EXPORTERS
from clusterspec.exchange.import_formats import IMPORT_FORMATS
from clusterspec.report.json_text import json_text
from clusterspec.rules.index import RULES
from clusterspec.units.json_schema import quantity_schema

# Completion scripts for bash, zsh and fish, generated from the parser

Words = dict[str, list[tuple[str, str]]]
"""For each command its options and choices, each with a description."""


Values = dict[str, dict[str, list[str]]]
"""For each command the values that an option takes."""


def shell_script(shell: str) -> str:
    """The script of a shell, with the rules and the ids of the shipped catalog."""
    top = documented_commands(parser())
    nested = [(f"{name} {action}", one) for name, of in top for action, one in documented_commands(of)]
    rules, catalog = sorted(RULES), Catalog.open()
    words = {name: list(_command_words(one)) for name, one in [*top, *nested]}
    for name, offered in _positional_values(rules, catalog).items():
        words[name] += [(word, "") for word in offered]
    values = {name: dict(_option_values(one, rules)) for name, one in [*top, *nested]}
    values["init"] |= {"--platform": [*catalog.ids("platform")], "--model": [*catalog.ids("model")]}
    summaries = {name: " ".join((one.description or "").split()) for name, one in top}
    return {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[shell](words, values, summaries)


def _positional_values(rules: list[str], catalog: Catalog) -> dict[str, list[str]]:
    """The values of positional arguments that the parser does not list, by command."""
    ids = sorted({id_ for kind in KINDS for id_ in catalog.ids(kind)})
    return {
        "explain": rules,
        "import": ["auto", *(one.name for one in IMPORT_FORMATS)],
        "export": [one.name for one in EXPORTERS],
        **{f"catalog {action}": ids for action in ("show", "compare", "diff")},
        **{f"catalog {action}": [*KINDS] for action in ("list", "export", "new")},
    }


def _option_values(parser: argparse.ArgumentParser, rules: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The options of a command that have known values, each with the values."""
    for action in parser._actions:
        of_metavar = {"RULE": rules, "KIND": [*KINDS]}.get(str(action.metavar), [])
        known = [str(choice) for choice in action.choices or ()] or of_metavar
        for option in action.option_strings if known else ():
            yield option, known


def _command_words(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((name, "") for name in action.choices)
        for option in action.option_strings:
            yield option, " ".join((action.help or "").replace("%%", "%").split())
        if not action.option_strings and action.choices and not isinstance(action, argparse._SubParsersAction):
            yield from ((str(choice), "") for choice in action.choices)


def _values_by_command(values: Values) -> Iterator[tuple[str, str]]:
    """Each command with an option, and the values of that option."""
    for name, options in values.items():
        for option, held in options.items():
            yield f"{name} {option}", " ".join(held)


def bash_script(words: Words, values: Values, summaries: dict[str, str]) -> str:
    """The bash script, for ``source <(clusterspec completion bash)``."""
    cases = "\n".join(f'    "{name}") words="{" ".join(word for word, _ in words[name])}" ;;' for name in words)
    known = "\n".join(
        f'    "{option}") COMPREPLY=($(compgen -W "{held}" -- "$current")); return ;;'
        for option, held in _values_by_command(values)
    )
    return f"""\
_clusterspec() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words="{" ".join(summaries)} --help --version"
  local command="${{COMP_WORDS[1]}}"
  case "$command" in {_outer_pattern(words)}) [ "$COMP_CWORD" -gt 2 ] && command="$command ${{COMP_WORDS[2]}}" ;; esac
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{known}
  esac
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "$command" in
{cases}
    esac
    case "$current" in
      -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
      *) COMPREPLY=($(compgen -W "$words" -X "-*" -- "$current") $(compgen -f -- "$current")) ;;
    esac
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o filenames -F _clusterspec clusterspec
"""


def zsh_script(words: Words, values: Values, summaries: dict[str, str]) -> str:
    """The zsh script, for a file ``_clusterspec`` in ``$fpath``."""
    commands = "\n".join(f"    {_shell_quoted(f'{name}:{description}')}" for name, description in summaries.items())
    offered = {
        name: " ".join(_shell_quoted(f"{word}:{description}") for word, description in words[name]) for name in words
    }
    cases = "\n".join(f"    '{name}') offered=({offered[name]}) ;;" for name in words)
    known = "\n".join(f"    '{option}') compadd -- {held}; return ;;" for option, held in _values_by_command(values))
    return f"""\
#compdef clusterspec
_clusterspec() {{
  local -a commands offered
  commands=(
{commands}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="${{words[2]}}"
  case "$command" in {_outer_pattern(words)}) (( CURRENT > 3 )) && command="$command ${{words[3]}}" ;; esac
  case "$command ${{words[CURRENT-1]}}" in
{known}
  esac
  case "$command" in
{cases}
  esac
  _describe option offered
  _files
}}
if [ "$funcstack[1]" = _clusterspec ]; then _clusterspec "$@"; else compdef _clusterspec clusterspec; fi
"""


def fish_script(words: Words, values: Values, summaries: dict[str, str]) -> str:
    """The fish script, for ``clusterspec completion fish | source``."""
    lines = [
        f"complete -c clusterspec -n __fish_use_subcommand -f -a {name} -d {_shell_quoted(description)}"
        for name, description in summaries.items()
    ]
    for name, options in words.items():
        condition = f"'{_fish_condition(name, words)}'"
        plain = [word for word, description in options if not description and not word.startswith("-")]
        if plain:
            lines.append(f"complete -c clusterspec -n {condition} -a {_shell_quoted(' '.join(plain))}")
        for word, description in options:
            if word in plain:
                continue
            flag = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" if word[0] == "-" else f"-a {word}"
            if held := values[name].get(word):
                flag += f" -x -a {_shell_quoted(' '.join(held))}"
            lines.append(f"complete -c clusterspec -n {condition} {flag} -d {_shell_quoted(description)}")
    return "\n".join(lines) + "\n"


def _outer_pattern(words: Words) -> str:
    """The commands that have actions, as a pattern of a shell."""
    return "|".join(dict.fromkeys(name.split()[0] for name in words if " " in name))


def _fish_condition(name: str, words: Words) -> str:
    """The condition under which the words of a command are offered. Actions need one because they may have the names of
    commands.
    """
    outer, _, action = name.partition(" ")
    seen = "__fish_seen_subcommand_from"
    if action:
        return f"{seen} {outer}; and {seen} {action}"
    actions = [one.split()[1] for one in words if one.startswith(f"{name} ")]
    if actions:
        return f"{seen} {name}; and not {seen} {' '.join(actions)}"
    return f"{seen} {name}; and not {seen} {_outer_pattern(words).replace('|', ' ')}"


def _shell_quoted(text: str) -> str:
    """A text quoted for the shell."""
    return "'" + text.replace("\\", "").replace("'", "’").replace("\n", " ") + "'"


# The JSON Schema for editors: the spec schema in draft 7, with the units of quantities and the ids of the catalog

Node = dict[str, Any]
VERSION = "clusterspec"
"""The key that a base cannot supply."""
_ABOUT = ("title", "description", "examples", "default")
"""Keywords about a key, which accept any value."""
ADDRESS = "https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json"


def editor_schema(catalog: Catalog) -> str:
    """The text of the schema, with the ids of a catalog."""
    spec: Node = json.loads((resources.schemas() / "spec.schema.json").read_text("utf-8"))
    made = _draft_7_node(spec, catalog, "")
    made["$schema"] = "http://json-schema.org/draft-07/schema#"
    made["$id"] = ADDRESS
    made = {key: value for key, value in made.items() if key not in {"if", "then", "else"}}  # a base may have the keys
    made["anyOf"] = [{"required": keys} for keys in (["cluster"], ["extends"], ["pools", "jobs"])]
    return json_text(made, indent=1)


def _draft_7_node(node: Any, catalog: Catalog, key: str) -> Any:
    """A schema node below a key in draft 7, where keywords next to a reference are ignored."""
    if isinstance(node, list):
        return [_draft_7_node(item, catalog, key) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not key.startswith("x-")}
    if "x-quantity" in node:
        kept = {key: value for key, value in kept.items() if key in _ABOUT} | quantity_schema(node["x-quantity"])
    made: Node = {}
    for word, value in kept.items():
        if word == "properties":
            made[word] = {name: _property_schema((key, name), one, catalog) for name, one in value.items()}
        elif word == "$defs":
            made["definitions"] = {name: _draft_7_node(one, catalog, name) for name, one in value.items()}
        elif word == "$ref":
            reference = {"$ref": value.replace("#/$defs/", "#/definitions/")}
            made |= reference if len(kept) == 1 else {"allOf": [reference]}
        elif word in ("examples", "default", "const", "enum"):
            made[word] = value
        else:
            made[word] = _draft_7_node(value, catalog, key)
    return made


def _property_schema(path: tuple[str, str], node: Node, catalog: Catalog) -> Any:
    """The schema of a key, given with the one above it. It may be null; a text that names a catalog entry must be one
    of the ids of the key.
    """
    name = path[-1]
    made = _draft_7_node(node, catalog, name)
    named = kind_of_key(path) is not None and not node.get("x-unused")
    ids = {"type": "string", "enum": list(ids_of_key(catalog, path))} if named else {}
    if ids and made.get("type") == "string":
        made = {key: value for key, value in made.items() if key in _ABOUT} | ids
    elif ids and "anyOf" in made:
        made["anyOf"] = [ids if one.get("type") == "string" else one for one in made["anyOf"]]
    return made if name == VERSION else _nullable_node(made)


def _nullable_node(node: Node) -> Node:
    """The schema node, changed to accept null as well."""
    texts = {key: node[key] for key in _ABOUT if key in node}
    rest = {key: value for key, value in node.items() if key not in _ABOUT}
    null = {"type": "null"}
    if "anyOf" in rest and len(rest) == 1:
        return texts | {"anyOf": [*rest["anyOf"], null]}
    kinds = rest.get("type")
    if kinds and not {"anyOf", "allOf", "oneOf", "enum", "const", "not", "if"} & rest.keys():
        return texts | rest | {"type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}
    return texts | {"anyOf": [rest, null]}
