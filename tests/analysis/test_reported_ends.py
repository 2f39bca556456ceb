"""How runtimes, shells, services and schedulers report an end, and what near lines do not say."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling

ENDS = (
    ("free(): invalid pointer", "program-fault"),
    ("python: malloc(): unsorted double linked list corrupted", "program-fault"),
    ("malloc(): invalid size (unsorted)", "program-fault"),
    ("double free or corruption (!prev)", "program-fault"),
    ("corrupted size vs. prev_size", "program-fault"),
    ("*** stack smashing detected ***: terminated", "program-fault"),
    ("[n1:9] Signal: Segmentation fault (11)", "program-fault"),
    ("[n1:9] Signal: Bus error (7)", "shared-memory"),
    ("*** SIGSEGV (@0x0) received by PID 9 (TID 0x7f) from PID 0; stack trace: ***", "program-fault"),
    ("traps: python[4242] trap invalid opcode ip:7f sp:7f error:0", "program-fault"),
    (
        "/var/spool/slurmd/job1/slurm_script: line 15: 157728 Killed                  python train.py",
        "host-memory-full",
    ),
    ("run.sh: line 15: 157728 Segmentation fault      (core dumped) python train.py", "program-fault"),
    ("vllm.service: Main process exited, code=killed, status=9/KILL", "host-memory-full"),
    ("vllm.service: Main process exited, code=dumped, status=11/SEGV", "program-fault"),
    ("vllm.service: Failed with result 'oom-kill'.", "host-memory-full"),
    ("Pod was terminated in response to imminent node shutdown.", "job-ended"),
    ("Evicted to accommodate a workload (UID: a) due to prioritization in the ClusterQueue", "job-ended"),
    (
        "(scheduler) Warning: The following resource request cannot be scheduled right now: {'GPU': 1.0}.",
        "absent-ranks",
    ),
    ("3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending", "absent-ranks"),
    (
        "couldn't assign flavors: insufficient unused quota for nvidia.com/gpu in flavor default, 8 more needed",
        "absent-ranks",
    ),
    ("g++: fatal error: Killed signal terminated program cc1plus", "host-memory-full"),
    ("/usr/bin/ld: cannot find -lcuda: No such file or directory", "library-release"),
    ("gcc: error: unrecognized command line option '-std=c++20'", "library-release"),
    ("HW Exception by GPU node-3 (Agent handle: 0x55) reason :GPU Hang", "accelerator-fault"),
    ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.15.0", "driver-release"),
    ("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", "driver-release"),
    ("RuntimeError: FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1073741824 (1024)MB", "memory-full"),
    (
        "[F137] neuronx-cc was forcibly killed - This most commonly occurs due to insufficient memory",
        "host-memory-full",
    ),
    ("WARNING spot interruption notice received: instance i-0ab will be terminated", "job-ended"),
    ("RuntimeError: CUDA error: external device is not ready", "fabric-manager"),
    ("RuntimeError: CUDA error: shared object symbol not found", "library-release"),
    ("GPU 4's NvLink link 3 is currently down", "accelerator-fault"),
    ('"errorCode":["DCGM_FR_UNCONTAINED_ERROR"]', "accelerator-fault"),
    ("NPU function error: aclrtSynchronizeDevice, error code is 507018", "program-fault"),
    ("open device 100 failed, runtime result = 107001.", "missing-accelerator"),
    ("pynvml.NVMLError_GpuIsLost: GPU is lost", "accelerator-fault"),
    ("python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", "host-memory-full"),
    ("XFS (dm-3): Corruption detected. Unmount and run xfs_repair", "storage-fault"),
    ("AssertionError: Rank 0: found NaN in local grad norm in backward pass", "non-finite-values"),
)
QUIET = (
    "free(): 12 blocks in 3 ms",
    "Signal: 11 channels",
    "run.sh: line 15: 157728 Done                    python train.py",
    "vllm.service: Main process exited, code=exited, status=0/SUCCESS",
    "0 tasks in gang waiting",
    "quota for nvidia.com/gpu: 8",
    "insmod: nvidia module is loaded",
    "spot instance started",
    "all NvLink links are up",
    "error code is 0",
    "TypeError",
    "no shapes to check",
)


@telling(2)
@pytest.mark.parametrize(("line", "cause"), ENDS)
def test_a_reported_end_names_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == cause


@pytest.mark.parametrize("line", QUIET)
def test_near_lines_state_no_cause(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not names(compared)


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x768 and 1024x10)",
        "RuntimeError: Tensor on device cuda:0 is not on the expected device meta!",
        "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
    ],
)
def test_misuse_of_arrays_is_of_the_program_without_a_traceback(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None and names(compared)[0] == "program-error"
    assert not compared.is_decided


def test_evidence_shows_where_a_line_is_cut() -> None:
    compared = read(PAIR, f"ValueError: {'a' * 300}", 16)
    assert compared is not None and compared.error.endswith("a…")
    part = read(PAIR, f"RuntimeError: CUDA error: external device is not readyy{'b' * 60} end", 16)
    assert part is not None and part.causes[0].evidence.endswith("b…")
