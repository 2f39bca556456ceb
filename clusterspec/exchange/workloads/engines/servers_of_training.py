"""Scripts that start a server next to a training run, which asks the server for samples or is measured by it."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import InputFile, SeveralParts
from clusterspec.exchange.workloads.keys import launches_of

_TRAINS = re.compile(r"--(?:tensor-model-parallel-size|per_device_train_batch_size)\b|\bverl\.trainer|openrlhf\.cli")
"""Words of a launch that trains."""
_BY_CONFIGURATION = re.compile(r"^[^#\n]{0,300}\bpython3?[ \t][^\n#]{0,200}\bdeepy\.py[ \t]+train\.py\b", re.MULTILINE)
"""A launch of GPT-NeoX, whose options are in the configuration that it names."""


def refuse_training(file: InputFile) -> None:
    """Raise `SeveralParts` if a file also launches a training run next to the server, which the run may query."""
    lines = [each.command.line for each in launches_of(file, _TRAINS)] if _TRAINS.search(file.text) else []
    if started := _BY_CONFIGURATION.search(file.text):
        lines.append(file.line_at(started.end()))
    if lines:
        raise SeveralParts(f"launches a server, and training on line {lines[0]}: name the KIND instead of auto")
