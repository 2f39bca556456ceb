"""Scripts that end before their launch: tests that their own values decide, with ``exit`` in the branch."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder, InputFile
from clusterspec.exchange.shell import script_of
from clusterspec.exchange.workloads.keys import Keys


def list_stop(file: InputFile, keys: Keys, builder: ImportBuilder) -> None:
    """Record the ``exit`` that a script reaches before its launch, with the values that it states itself."""
    launched = keys.command.line if keys.command.words else 0
    if not launched or "exit" not in file.text:
        return
    ends = (each for each in script_of(file.text).commands if each.words[0].text == "exit" and not each.branch)
    if line := next((each.line for each in ends if each.line < launched), 0):
        why = f"by its own values the script ends here, before the launch on line {launched}: set its variables"
        builder.unknown("exit", why, line)
