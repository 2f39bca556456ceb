"""Completion scripts for bash, zsh and fish, generated from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cli.parser import documented, parser
from clusterspec.rules.index import RULES

Words = dict[str, list[tuple[str, str]]]
"""For each command its options and choices, each with a description."""


Values = dict[str, dict[str, list[str]]]
"""For each command the values that an option takes."""


def script(shell: str) -> str:
    """The script of a shell, with the rules and the ids of the shipped catalog."""
    top = documented(parser())
    rules, catalog = sorted(RULES), Catalog.open()
    words = {name: list(_words(one)) for name, one in top}
    words["explain"] += [(rule, "") for rule in rules]
    values = {name: dict(_values(one, rules)) for name, one in top}
    values["init"] |= {"--platform": [*catalog.ids("platform")], "--model": [*catalog.ids("model")]}
    summaries = {name: " ".join((one.description or "").split()) for name, one in top}
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell](words, values, summaries)


def _values(one: argparse.ArgumentParser, rules: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The options of a command whose values are known, each with them."""
    for action in one._actions:
        known = [str(choice) for choice in action.choices or ()] or (rules if action.metavar == "RULE" else [])
        for option in action.option_strings if known else ():
            yield option, known


def _words(one: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((name, "") for name in action.choices)
        for option in action.option_strings:
            yield option, " ".join((action.help or "").replace("%%", "%").split())
        if not action.option_strings and action.choices and not isinstance(action, argparse._SubParsersAction):
            yield from ((str(choice), "") for choice in action.choices)


def _held(values: Values) -> Iterator[tuple[str, str]]:
    """Each command with an option, and the values of that option."""
    for name, options in values.items():
        for option, held in options.items():
            yield f"{name} {option}", " ".join(held)


def bash(words: Words, values: Values, summaries: dict[str, str]) -> str:
    """The bash script, for ``source <(clusterspec completion bash)``."""
    cases = "\n".join(f'    {name}) words="{" ".join(word for word, _ in words[name])}" ;;' for name in words)
    known = "\n".join(
        f'    "{option}") COMPREPLY=($(compgen -W "{held}" -- "$current")); return ;;' for option, held in _held(values)
    )
    return f"""\
_clusterspec() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words="{" ".join(summaries)} --help --version"
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{known}
  esac
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    case "$current" in
      -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
      *) COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current")) ;;
    esac
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o filenames -F _clusterspec clusterspec
"""


def zsh(words: Words, values: Values, summaries: dict[str, str]) -> str:
    """The zsh script, for a file ``_clusterspec`` in ``$fpath``."""
    commands = "\n".join(f"    {_quoted(f'{name}:{description}')}" for name, description in summaries.items())
    offered = {name: " ".join(_quoted(f"{word}:{description}") for word, description in words[name]) for name in words}
    cases = "\n".join(f"    {name}) offered=({offered[name]}) ;;" for name in words)
    known = "\n".join(f"    '{option}') compadd -- {held}; return ;;" for option, held in _held(values))
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
  case "${{words[2]}} ${{words[CURRENT-1]}}" in
{known}
  esac
  case "${{words[2]}}" in
{cases}
  esac
  _describe option offered
  _files
}}
if [ "$funcstack[1]" = _clusterspec ]; then _clusterspec "$@"; else compdef _clusterspec clusterspec; fi
"""


def fish(words: Words, values: Values, summaries: dict[str, str]) -> str:
    """The fish script, for ``clusterspec completion fish | source``."""
    lines = [
        f"complete -c clusterspec -n __fish_use_subcommand -f -a {name} -d {_quoted(description)}"
        for name, description in summaries.items()
    ]
    for name, options in words.items():
        condition = f"'__fish_seen_subcommand_from {name}'"
        for word, description in options:
            flag = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" if word[0] == "-" else f"-a {word}"
            if held := values[name].get(word):
                flag += f" -x -a {_quoted(' '.join(held))}"
            lines.append(f"complete -c clusterspec -n {condition} {flag} -d {_quoted(description)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text quoted for the shell."""
    return "'" + text.replace("\\", "").replace("'", "’").replace("\n", " ") + "'"
