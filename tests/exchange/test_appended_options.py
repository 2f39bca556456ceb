"""Options that a script appends to a launch where a variable is set, and nodes that launchers of a job state."""

from __future__ import annotations

import pytest

from tests.exchange.imports import given, read, unknown

SERVER = "python -m sglang.launch_server --model-path Qwen/Qwen3-32B"
TEST = 'if [[ -n "${EXTRA:-}" ]]; then\n  {}\nfi\n'


@pytest.mark.parametrize(
    ("append", "use"),
    [
        ("ARGS+=(${EXTRA})", '"${ARGS[@]}"'),
        ("ARGS+=( $EXTRA )", "${ARGS[*]}"),
        ('ARGS="$ARGS $EXTRA"', "$ARGS"),
        ('ARGS+=" ${EXTRA:-}"', "$ARGS"),
    ],
)
def test_a_variable_that_a_branch_appends_leaves_defaults_open(append: str, use: str) -> None:
    found = read(f"#!/bin/bash\n{TEST.replace('{}', append)}{SERVER} {use}\n")
    assert "layout.tp" not in given(found)
    assert "${EXTRA}: options of the launch only where a variable is set" in unknown(found)


@pytest.mark.parametrize(
    "before",
    [
        f"EXTRA=--enable-metrics\n{TEST.replace('{}', 'ARGS+=(${EXTRA})')}",
        TEST.replace("{}", "OTHER+=(${EXTRA})"),
        TEST.replace("{}", "ARGS+=(--port ${EXTRA})"),
        "for file in a b; do\n  ARGS+=($file)\ndone\n",
    ],
)
def test_a_variable_that_is_set_or_used_elsewhere_leaves_the_default(before: str) -> None:
    assert given(read(f'#!/bin/bash\n{before}{SERVER} "${{ARGS[@]}}"\n'))["layout.tp"] == 1


JOB = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:8\nN=${SLURM_NNODES}\nA=3\n{}\n"


@pytest.mark.parametrize(
    ("launch", "nodes"),
    [
        ("srun torchrun --nnodes=4 own.py", 4),
        ("srun torchrun --nnodes=$N own.py", 4),
        ("srun torchrun --nnodes=$SLURM_JOB_NUM_NODES own.py", 4),
        ("srun torchrun --nnodes=1:4 own.py", 4),
        ("srun torchrun --nnodes=2 own.py", None),
        ("srun torchrun --nnodes=$(( A > 2 ? 1 : 4 )) own.py", None),
    ],
)
def test_a_job_whose_launcher_states_other_nodes_states_none(launch: str, nodes: int | None) -> None:
    found = read(JOB.replace("{}", launch), kind="slurm-job")
    assert given(found).get("layout.nodes") == nodes
    assert ("layout.nodes: 4: of the job" in unknown(found)) == (nodes is None)
