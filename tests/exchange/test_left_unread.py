"""Settings of a layout that no reader reports are listed with their lines."""

from __future__ import annotations

import pytest

from clusterspec.exchange.left_unread import settings_of
from tests.exchange.imports import read, unknown

LAUNCH = """\
    {}
    torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
      --tensor-model-parallel-size 4 --micro-batch-size 2 --seq-length 4096 --bf16
    {}
    """


@pytest.mark.parametrize(
    ("before", "after", "listed"),
    [
        ("", "python eval.py --tensor-parallel-size 2", "1 setting: on lines of which nothing was read: "),
        ("", "python eval.py --tensor-parallel-size 4", ""),  # the same as the launch states
        ("", "# python eval.py --tensor-parallel-size 2", ""),
        ("NNODES=16", "", "NNODES 16 (line 1)"),
        ("NNODES=0", "", ""),
        ("MICRO_BATCH_SIZE=2", "", ""),
        ("MICRO_BATCH_SIZE=3", "", "MICRO_BATCH_SIZE 3 (line 1)"),
    ],
)
def test_settings_outside_the_launch_are_listed(before: str, after: str, listed: str) -> None:
    text = unknown(read(LAUNCH.format(before, after)))
    assert listed in text
    assert ("nothing was read" in text) == bool(listed)


def test_settings_have_numbers_and_stand_outside_remarks() -> None:
    text = 'tp_size: 8  # num_nodes: 3\n"gpus_per_node": 4,\n// num_nodes 9\nnum_gpus=$N\nnnodes 1.5\nsl.ep-size=2'
    assert [tuple(each) for each in settings_of(text)] == [
        ("tp_size", 8, 1),
        ("gpus_per_node", 4, 2),
        ("sl.ep-size", 2, 6),
    ]
