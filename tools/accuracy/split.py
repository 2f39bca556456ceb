"""Which published rows constants may be fitted to.

A hash of a source's name decides, before its rows are read. Sources that were read before this was declared
(``BEFORE``) keep their older rule: of training runs every fourth of a source is kept to check, and all collectives are
fitted to. ``tools.fit.split`` fits once more as if the hash had decided for all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from hashlib import sha256

from tools.accuracy.cases import published_runs

CHECKED = 4
"""Every fourth training run of an older source is kept to check."""
RATES = ("step_time", "tokens_per_second_per_accelerator", "flops_per_accelerator")
SIDES = ("held out", "fitted side")
BEFORE = frozenset(
    {
        "bloom",
        "dgxc",
        "fms",
        "gaudi",
        "intern",
        "internf",
        "iron",
        "kempner",
        "kor",
        "llama",
        "maxtext",
        "mb",
        "mbcard",
        "mbskill",
        "megascale",
        "mlf",
        "mtnlg",
        "sc",
        "simu",
        "tpur",
        "tt",
        "ttold",
        "vtrainm",
        "vtrains",
    }
)
"""Sources of training runs that were read before the split was declared."""
COLLECTIVES_BEFORE = frozenset(
    {
        "Azure/AI-benchmarking-guide",
        "GoogleCloudPlatform/cluster-toolkit",
        "a public log whose repository was not recorded",
        "aws-samples/awsome-distributed-training",
        "coreweave/nccl-tests",
        "dstackai/dstack",
        "hisohara/ai-scripts",
        "https://github.com/NVIDIA/nccl/issues/1368",
        "oracle-quickstart/oci-hpc-oke",
        "stas00/ml-engineering",
    }
)
"""As ``BEFORE``, for collectives."""


def is_held_out(source: str) -> bool:
    """Whether the hash of a source's name keeps its rows from every fit.

    >>> is_held_out("nemo-rl"), is_held_out("verl")
    (False, True)
    """
    return int(sha256(source.encode()).hexdigest(), 16) % 2 == 1


def side_of(source: str) -> str:
    """The side of a source, one of `SIDES`.

    >>> side_of("nemo-rl"), side_of("verl")
    ('fitted side', 'held out')
    """
    return SIDES[0] if is_held_out(source) else SIDES[1]


def training_source(row: str) -> str:
    """The name of a training run's source: the letters that its id starts with.

    >>> training_source("sc21t1-003")
    'sc'
    """
    found = re.match("[a-z]+", row)
    return found[0] if found else row


def fitted_runs() -> dict[str, bool]:
    """For each training run with a published time, by id: whether constants may be fitted to it."""
    sources: defaultdict[str, list[str]] = defaultdict(list)
    for row in (*published_runs(), *published_runs("small_runs")):
        if any(row[rate] for rate in RATES):
            sources[training_source(row["id"])].append(row["id"])
    return {
        row: index % CHECKED != CHECKED - 1 if source in BEFORE else not is_held_out(source)
        for source, rows in sorted(sources.items())
        for index, row in enumerate(sorted(rows))
    } | {row["id"]: True for row in published_runs("new_runs") if not is_held_out(training_source(row["id"]))}
