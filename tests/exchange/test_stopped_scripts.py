"""A script that ends before its launch by its own values is no run, and its import says so.

HabanaAI/Megatron-LM, examples/deepseek/pretrain_deepseek.sh: 61 layers by default on 2 stages, and an ``exit`` for
that.
"""

from __future__ import annotations

from tests.effort import each
from tests.exchange.imports import given, read

LAUNCH = (
    "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers $N --hidden-size 64 --num-attention-heads 8\n"
)
DIVIDED = "N=${{HL_NUM_LAYERS:-{}}}\nPP=2\nif [[ $(( N % PP )) -ne 0 ]]; then\n  echo 'not divisible'\n  exit 1\nfi\n"


@each(
    "before, line",
    [
        (DIVIDED.format(61), 5),
        (DIVIDED.format(60), None),
        ('N=8\nif [ -z "$DATA" ]; then exit 1; fi\n', 2),
        ('N=8\nDATA=/data\nif [ -z "$DATA" ]; then exit 1; fi\n', None),
        ('N=8\n[ -n "$DATA" ] || exit 1\n', 2),
        # what the machine or the arguments decide
        ("N=8\nif [ $# -lt 1 ]; then exit 1; fi\n", None),
        ("N=8\nif [ ! -d /data ]; then exit 1; fi\n", None),
        ("N=8\ncd /x || exit 1\n", None),
        ("N=8\ntrap 'exit 1' INT\n", None),
        ("N=8\nusage() { exit 1; }\nwhile getopts h o; do case $o in h) usage;; esac; done\n", None),
        ('N=8\nfor a in "$@"; do case $a in --help) exit 0;; esac; done\n', None),
    ],
)
def test_a_script_that_ends_before_its_launch_says_so(before: str, line: int | None) -> None:
    reading = read(before + LAUNCH)
    found = [part.at.line for part in reading.unknown if part.what == "exit"]
    assert found == ([line] if line else [])
    assert given(reading)["layout.tp"] == 2


def test_an_exit_behind_the_launch_is_its_end() -> None:
    assert not [part for part in read(f"N=8\n{LAUNCH}exit 0\n").unknown if part.what == "exit"]
