"""Near misses of the symptoms of `stated_causes.csv`, and exceptions by the file that raises them."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read

SETTINGS_FRAME = (
    'Traceback (most recent call last):\n  File "/x/{}.py", line 3, in f\n    raise E\nValueError: no row {}'
)


@pytest.mark.parametrize(
    ("file", "cause"),
    [
        ("vllm/config/parallel", "invalid-setting"),
        ("vllm/engine/arg_utils", "invalid-setting"),
        ("sglang/srt/server_args", "invalid-setting"),
        ("sglang/srt/arg_groups/validation_hook", "invalid-setting"),
        ("megatron/training/arguments", "invalid-setting"),
        ("transformers/training_args", "invalid-setting"),
        ("train", "program-error"),
        ("reconfigure", "program-error"),
        ("vllm/v1/core/sched", "program-error"),
        ("lib/python3.11/site-packages/accelerate/accelerator", "invalid-setting"),
        ("lib/python3/dist-packages/deepspeed/runtime/engine", "invalid-setting"),
    ],
)
def test_an_exception_of_a_file_that_checks_settings_is_of_a_setting(file: str, cause: str) -> None:
    compared = read(PAIR, SETTINGS_FRAME.format(file, 7), 16)
    assert compared is not None
    assert names(compared)[0] == cause
    assert names(compared)[1:] in ([], ["program-error"])


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "h:1:2 [0] NCCL WARN socketStartConnect: Connect to 172.21.0.7<5> failed : Connection refused",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL WARN socketStartConnect: Connect to 172.16.0.1<5> failed : Connection refused",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/RoCE ; OOB eth0:10.0.0.1<0>",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/IB ; OOB eth0:10.0.0.1<0>\n"
            "h:1:2 [0] NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
            "wrong-interface",
        ),
        ("[LinkDownedCounter == 0]\nUCX  ERROR Transport retry count exceeded on mlx5_0:1/IB", "unstable-link"),
        ("Got completion from peer 10.0.0.2<1> with status=19 opcode=0", "unreachable-peer"),
        ("pyxis: imported docker image after 401 layers", "outside-server"),
        ("srun: error: n3: task 3: Exited with exit code 1", "invalid-setting"),
        ("ValueError: at most 4 values may follow", "invalid-setting"),
        ("ucp_context_0 intra-node cfg#2 am(tcp/lo) ka(tcp/lo)", "socket-fall-back"),
        ("ucp_context_0 inter-node cfg#2 rma_am(rc_mlx5/mlx5_0:1) am(tcp/eth1)", "socket-fall-back"),
        ("ucp_context_0 inter-node cfg#2 am(tcp/eth1) rma_am(rc_mlx5/mlx5_0:1)", "socket-fall-back"),
        ("libnuma: Warning: /sys not mounted or invalid. Assuming one node", "invalid-setting"),
        ("a binding that would result in binding no more processes than cpus", "invalid-setting"),
        ("Nrt::BuildGlobalComm on NeuronCores 0-1(2) took 3 s", "invalid-setting"),
        ("amdgpu 0000:29:00.0: GPU is not throttled, as expected", "throttled-clocks"),
        ("sufficient NCs for the requested operation", "shared-accelerator"),
    ],
)
def test_a_near_miss_of_a_stated_symptom_does_not_name_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or names(compared)[:1] != [cause]


def test_queue_pairs_that_find_no_memory_reach_a_limit_of_the_nic_first() -> None:
    line = "h:1:2 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Cannot allocate memory"
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:2] == ["nic-limit", "locked-memory"]
