"""Completion scripts for bash, zsh and fish, made from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from clusterspec.cli.parser import documented, parser

Words = dict[str, list[tuple[str, str]]]
"""For each command its options and choices, each with a description."""


def script(shell: str) -> str:
    """The script of a shell."""
    top = documented(parser())
    words = {name: list(_words(one)) for name, one in top}
    summaries = {name: " ".join((one.description or "").split()) for name, one in top}
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell](words, summaries)


def _words(one: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((name, "") for name in action.choices)
        for option in action.option_strings:
            yield option, " ".join((action.help or "").replace("%%", "%").split())
        if not action.option_strings and action.choices and not isinstance(action, argparse._SubParsersAction):
            yield from ((str(choice), "") for choice in action.choices)


def bash(words: Words, summaries: dict[str, str]) -> str:
    """For ``source <(clusterspec completion bash)``."""
    cases = "\n".join(f'    {name}) words="{" ".join(word for word, _ in words[name])}" ;;' for name in words)
    return f"""\
_clusterspec() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words="{" ".join(summaries)} --help --version"
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


def zsh(words: Words, summaries: dict[str, str]) -> str:
    """For a file ``_clusterspec`` in ``$fpath``."""
    commands = "\n".join(f"    {_quoted(f'{name}:{said}')}" for name, said in summaries.items())
    offered = {name: " ".join(_quoted(f"{word}:{said}") for word, said in words[name]) for name in words}
    cases = "\n".join(f"    {name}) offered=({offered[name]}) ;;" for name in words)
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
  case "${{words[2]}}" in
{cases}
  esac
  _describe option offered
  _files
}}
compdef _clusterspec clusterspec
"""


def fish(words: Words, summaries: dict[str, str]) -> str:
    """For ``clusterspec completion fish | source``."""
    lines = [
        f"complete -c clusterspec -n __fish_use_subcommand -f -a {name} -d {_quoted(said)}"
        for name, said in summaries.items()
    ]
    for name, options in words.items():
        condition = f"'__fish_seen_subcommand_from {name}'"
        for word, said in options:
            flag = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" if word[0] == "-" else f"-a {word}"
            lines.append(f"complete -c clusterspec -n {condition} {flag} -d {_quoted(said)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A word of a shell script, whatever is in it."""
    return "'" + text.replace("\\", "").replace("'", "’").replace("\n", " ") + "'"
