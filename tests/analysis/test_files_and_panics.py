"""Files that a checkpoint or a container lacks, errors of files by number, panics of programs, averages of waits for
data, links of further NICs, and cancels of jobs that hang.
"""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import read

ONE = "{platform: dgx-h100, nodes: 1}"
TWO = "{platform: dgx-h100, nodes: 2}"


def _first(machine: str, text: str) -> str:
    found = read(machine, text, 8 if machine == ONE else 16)
    return names(found)[0] if found is not None and found.causes else ""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("exec /opt/venv/bin/python3: no such file or directory", "library-release"),
        ("/bin/bash: line 4: /opt/venv/bin/activate: No such file or directory", "library-release"),
        ("/bin/sh: 1: /opt/start.sh: not found", "library-release"),
        ("/tmp/slurmd/job8/slurm_script: line 37: /opt/k/bin/activate: No such file or directory", "library-release"),
        ("./launch.sh: line 3: /opt/k/bin/activate: No such file or directory", "library-release"),
        ("the paper: line 3: /opt/k/bin/activate: No such file or directory", ""),
        ("+ exec /opt/venv/bin/python3 -m engine", ""),
        ("the shell script on line 4: /opt/venv/bin/activate is read", ""),
    ],
)
def test_a_program_that_a_container_or_a_shell_does_not_find_is_missing(text: str, cause: str) -> None:
    assert _first(ONE, text) == cause


ABSENT = "FileNotFoundError: [Errno 2] No such file or directory: '/data/{}'"


@pytest.mark.parametrize(
    ("machine", "path", "order"),
    [
        (ONE, "run/iter_0000010/common.pt", ["checkpoint-mismatch", "invalid-setting"]),
        (TWO, "run/iter_0000010/common.pt", ["unshared-files", "checkpoint-mismatch"]),
        (ONE, "run/checkpoint-500/rng_state_3.pth", ["checkpoint-mismatch", "invalid-setting"]),
        (ONE, "words/part-7.json", ["invalid-setting", "unshared-files"]),
        (TWO, "words/part-7.json", ["unshared-files", "invalid-setting"]),
    ],
)
def test_a_file_that_is_missing_on_one_node_is_not_unshared(machine: str, path: str, order: list[str]) -> None:
    found = read(machine, ABSENT.format(path), 8 if machine == ONE else 16)
    assert found is not None and names(found)[:2] == order


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("OSError: [Errno 14] Bad address", True),
        ("OSError: [Errno 61] No data available", True),
        ("OSError: [Errno 121] Remote I/O error: '/lustre/a.bin'", True),
        ("OSError: [Errno 99] Cannot assign requested address", False),
        ("NCCL WARN Call to ibv_reg_mr failed with error Bad address", False),
    ],
)
def test_numbers_of_errors_of_files_are_of_the_storage(text: str, told: bool) -> None:
    assert (_first(TWO, text) == "storage-fault") is told


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("thread 'tokio-runtime-worker' panicked at src/a.rs:10:5:", "program-error"),
        ("thread 'main' (4711) panicked at src/a.rs:10:5:", "program-error"),
        ("panic: runtime error: index out of range [8] with length 8", "program-error"),
        (
            "thread 'main' panicked at src/a.rs:1:5:\nkind: AddrInUse, message: \"Address already in use\"",
            "port-in-use",
        ),
        (
            "thread 'main' panicked at src/stream/unfold.rs:1:2:\nUnfold must not be polled\nDynamo 0.9.0",
            "release-fault",
        ),
        (
            "thread 'main' panicked at src/stream/unfold.rs:1:2:\nUnfold must not be polled\nDynamo 1.0.0",
            "program-error",
        ),
        ("[1] torch._dynamo 0.9.0\nthread 'main' panicked at a.rs:1:2:\nUnfold must not be polled", "program-error"),
    ],
)
def test_a_panic_is_of_the_program_unless_another_line_tells_more(text: str, cause: str) -> None:
    assert _first(ONE, text) == cause


REFUSED = '  File "/x/nixl/_api.py", line 2, in {}\nnixl._bindings.nixlBackendError: NIXL_ERR_BACKEND'


@pytest.mark.parametrize(
    ("function", "cause"), [("register_memory", "gpudirect-refused"), ("transfer", "unreachable-peer")]
)
def test_memory_that_nixl_does_not_register_is_of_gpudirect_or_the_container(function: str, cause: str) -> None:
    found = read(TWO, REFUSED.format(function), 16)
    assert found is not None and names(found)[0] == cause
    assert ("container-permission" in names(found)) is (cause == "gpudirect-refused")


FAILED = "RuntimeError: NCCL error in: a.cpp:2, unhandled system error\n"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("After libibverbs-dev and rdmacm-utils were installed the test runs.", True),
        ("After libibverbs-dev was installed the test still fails.", False),
        ("After lunch the test runs.", False),
    ],
)
def test_packages_of_a_library_are_a_release_of_it(said: str, told: bool) -> None:
    assert (_first(TWO, FAILED + said) == "library-release") is told


STEP = "Train: 0 [{0}/2502] Loss: 6.9 (6.9) Time: 0.198s, 2585/s ({1:.3f}s, 1939/s) LR: 5e-2 Data: 0.003 ({2:.3f})\n"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (((0.264, 0.069), (0.270, 0.075), (0.266, 0.071)), True),
        (((0.264, 0.069), (0.270, 0.075)), False),  # too few steps
        (((0.264, 0.041), (0.270, 0.042), (0.266, 0.041)), False),  # little of each step
        (((1.200, 0.990), (0.700, 0.495), (0.533, 0.330)), False),  # the wait of the first step alone
    ],
)
def test_an_average_wait_that_lasts_is_reported(steps: tuple[tuple[float, float], ...], told: bool) -> None:
    text = "".join(STEP.format(place, step, wait) for place, (step, wait) in enumerate(steps))
    assert (_first(ONE, text) == "data-loading") is told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Sep 09 07:56:47 a kernel: r8127: enP7s7: link down", True),
        ("[12.3] igb 0000:41:00.0 ens1f0: igb: ens1f0 NIC Link is Down", True),
        ("[12.3] r8127: enP7s7: link up", False),
    ],
)
def test_links_of_further_drivers_are_read(line: str, told: bool) -> None:
    assert (_first(TWO, line) == "unstable-link") is told


TIMEOUT = (
    "[rank1]: torch.distributed.DistBackendError: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL("
    "SeqNum=2, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800321 milliseconds\n"
)
CANCEL = "slurmstepd: error: *** STEP 6053.0 ON node20 CANCELLED AT 2024-04-23T12:18:08 ***\n"


@pytest.mark.parametrize(("text", "ended"), [(TIMEOUT + CANCEL, False), (CANCEL + TIMEOUT, True), (CANCEL, True)])
def test_a_job_that_is_canceled_after_a_timeout_hung_before(text: str, ended: bool) -> None:
    assert (_first(TWO, text) == "job-ended") is ended
