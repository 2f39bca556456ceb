"""Completion scripts of a small command line, line by line."""

from __future__ import annotations

from clusterspec.cli.completions import bash_script, fish_script, zsh_script

WORDS = {
    "check": [("--fix", "Write the fixes"), ("-q", "Say less"), ("stdin", "The spec's text"), ("all", "")],
    "catalog": [("show", ""), ("list", ""), ("--json", "")],
    "catalog show": [("--json", "As JSON")],
}
VALUES = {"check": {"--fix": ["safe", "unsafe"]}, "catalog": {}, "catalog show": {}}
SUMMARIES = {"check": "Check a spec", "catalog": "What is known"}
CHECK = "complete -c clusterspec -n '__fish_seen_subcommand_from check; and not __fish_seen_subcommand_from catalog'"
CATALOG = "complete -c clusterspec -n '__fish_seen_subcommand_from catalog; and not __fish_seen_subcommand_from show'"
SHOW = "complete -c clusterspec -n '__fish_seen_subcommand_from catalog; and __fish_seen_subcommand_from show'"


def test_fish_offers_options_by_their_length_and_plain_words_together() -> None:
    assert fish_script(WORDS, VALUES, SUMMARIES).splitlines() == [
        "complete -c clusterspec -n __fish_use_subcommand -f -a check -d 'Check a spec'",
        "complete -c clusterspec -n __fish_use_subcommand -f -a catalog -d 'What is known'",
        f"{CHECK} -a 'all'",
        f"{CHECK} -l fix -x -a 'safe unsafe' -d 'Write the fixes'",
        f"{CHECK} -s q -d 'Say less'",
        f"{CHECK} -a stdin -d 'The spec’s text'",
        f"{CATALOG} -a 'show list'",
        f"{CATALOG} -l json -d ''",
        f"{SHOW} -l json -d 'As JSON'",
    ]


def test_bash_and_zsh_offer_the_words_of_each_command_and_the_values_of_each_option() -> None:
    bash, zsh = bash_script(WORDS, VALUES, SUMMARIES), zsh_script(WORDS, VALUES, SUMMARIES)
    for line in (
        '    "check") words="--fix -q stdin all" ;;',
        '    "catalog show") words="--json" ;;',
        '    "check --fix") COMPREPLY=($(compgen -W "safe unsafe" -- "$current")); return ;;',
    ):
        assert line in bash.splitlines()
    assert 'case "$command" in catalog)' in bash and 'words="check catalog --help --version"' in bash
    for line in (
        "    'check:Check a spec'",
        "    'catalog show') offered=('--json:As JSON') ;;",
        "    'check --fix') compadd -- safe unsafe; return ;;",
    ):
        assert line in zsh.splitlines()
