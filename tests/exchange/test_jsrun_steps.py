"""Accelerators of jobs of LSF whose steps ``jsrun`` starts."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read

JOB = "#!/bin/bash\n#BSUB -nnodes {}\nSETS=12\n{}\n"


@pytest.mark.parametrize(
    ("nodes", "steps", "of_node"),
    [
        (4, "jsrun -n4 -r1 -a6 -c42 -g6 $SMPIARGS --bind packed:7 python3 own.py", 6),
        (2, "jsrun -n $SETS -r 6 -c 7 -g 1 python own.py -g 5", 6),
        (2, "jsrun --nrs=ALL_HOSTS --gpu_per_rs 4 ./own", 4),
        (1, "jsrun -n 3 -g 2 ./own", 6),
        (2, "jsrun -n 2 -r 1 -g 6 ./one\njsrun -n 2 -r 1 -g 6 ./two", 6),
        (2, "#jsrun -n 2 -r 1 -g 1 ./one\njsrun -n 2 -r 1 -g 6 ./two", 6),
    ],
)
def test_the_sets_of_a_node_state_its_accelerators(nodes: int, steps: str, of_node: int) -> None:
    found = given(read(JOB.format(nodes, steps)))
    assert (found["layout.nodes"], found["cluster.accelerators_per_node"]) == (nodes, of_node)


def test_sets_that_may_lie_on_any_node_state_only_their_sum() -> None:
    found = read(JOB.format(2, "jsrun -n 4 -g 1 ./own"))
    assert counts(found)["accelerators"] == 4
    assert "cluster.accelerators_per_node" not in given(found)


@pytest.mark.parametrize(
    "steps", ["jsrun -n 2 -r 1 -g 6 ./one\njsrun -n 1 -r 1 -g 2 ./two", "jsrun -n 2 -a 4 ./own -g 3", "./own -g 6"]
)
def test_steps_that_differ_or_use_no_accelerators_are_refused(steps: str) -> None:
    with pytest.raises(FormatError):
        read(JOB.format(2, steps))
