"""Lines of compilers and of what they lack, exit codes of processes, and exceptions that others were raised from."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.exit_lines import EXIT_PATTERNS
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read

BUILDS = (
    (
        "RuntimeError: `ptxas` was searched in TRITON_PTXAS_PATH, but a working version could not be found.",
        "library-release",
    ),
    (
        "torch._dynamo.exc.BackendCompilerFailed: _compile_fn raised RuntimeError: `ptxas` was searched in "
        "TRITON_PTXAS_PATH, /usr/local/cuda/bin/ or PATH but a working version could not be found.",
        "library-release",
    ),
    ("make: *** [modules] Error 2", "driver-release"),
    ("make[1]: *** [_module_/usr/src/nvidia-418.40.04/kernel] Error 2", "driver-release"),
    ("/a/python_headers.h:12:10: fatal error: Python.h: No such file or directory", "library-release"),
    ("CMake Error at CMakeLists.txt:479 (file):", "library-release"),
    ("RuntimeError: Cannot find ptxas.exe", "library-release"),
    ("a.MissingCUDAException: CUDA_HOME does not exist, unable to compile CUDA op(s)", "library-release"),
    ("ptxas a.ptx, line 5; fatal   : Unsupported .version 8.6; current version is '8.5'", "library-release"),
    ("RuntimeError: PassManager::run failed", "unsupported-accelerator"),
    ("slurmstepd: error: execve(): torchrun: No such file or directory", "library-release"),
    ("/var/spool/slurmd/job1/slurm_script: line 12: torchrun: command not found", "library-release"),
    ("ValueError: vllm version 0.8.5.post1 not supported. Currently supported versions are 0.6.3.", "library-release"),
    ("srun: error: task 0 launch failed: Plugin initialization failed", "library-release"),
    ("[2026-01-02T03:04:05.678] error: Node n1 appears to have a different slurm.conf than this", "invalid-setting"),
    ("ioctl(GNI_IOC_MEM_REGISTER) returned error - No space left on device", "nic-limit"),
    ("RuntimeError: unable to write to file </torch_1_2>", "shared-memory"),
    ("ValueError: Unsupported GPU architecture: sm_70", "unsupported-accelerator"),
    ("Unable to open /dev/kfd read-write: Operation not permitted", "container-permission"),
)


@pytest.mark.parametrize(("line", "cause"), BUILDS)
def test_a_line_of_a_compiler_or_of_an_absent_part_names_its_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:1] == [cause]


CODES = (
    ("srun: error: n1: task 3: Exited with exit code 137", "host-memory-full"),
    ("  Exit Code: 137", "host-memory-full"),
    ("srun: error: n1: task 3: Exited with exit code 139", "program-fault"),
    ("mpirun: non-zero exit code 134", "program-fault"),
    ("container a exited with code 135", "shared-memory"),
    ("srun: error: n1: task 3: Exited with exit code 143", "job-ended"),
    ("E0102 api.py:869] failed (exitcode: -15) local_rank: 0", "job-ended"),
    ("srun: error: n1: task 3: Exited with exit code 127", "library-release"),
    ("srun: error: n1: task 3: Exited with exit code 126", "file-permission"),
)


@pytest.mark.parametrize(("line", "cause"), CODES)
def test_an_exit_code_names_what_a_shell_or_a_signal_means_by_it(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:1] == [cause]
    assert compared.causes[0].weight < 1  # an end leaves its cause to other lines


@pytest.mark.parametrize("code", ["0", "1", "2", "125", "128", "1370", "13.7", "-1", "-90"])
def test_a_code_of_the_program_itself_tells_no_cause(code: str) -> None:
    line = f"srun: error: n1: task 3: Exited with exit code {code}"
    assert not [name for name, pattern in EXIT_PATTERNS if pattern.search(line)]


def test_the_exit_code_of_a_rank_is_behind_the_error_that_it_printed() -> None:
    text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3\nsrun: error: n1: task 3: "
    compared = read(PAIR, f"{text}Exited with exit code 127", 16)
    assert compared is not None
    assert names(compared)[0] == "memory-full"


FRAME = 'Traceback (most recent call last):\n  File "{}/a.py", line 3, in f\n{}\n'
FROM = "\nThe above exception was the direct cause of the following exception:\n\n"
USER, INSTALLED = "/home/u", "/opt/lib/python3.12/site-packages/b"


@pytest.mark.parametrize(
    ("frames", "causes"),
    [
        ([(INSTALLED, "RuntimeError: b")], ["library-release", "program-error", "invalid-setting"]),
        ([(INSTALLED, "IndexError: b")], ["program-error", "library-release", "invalid-setting"]),
        ([(USER, "RuntimeError: b")], ["program-error"]),
        ([(INSTALLED, "AssertionError: b")], ["invalid-setting", "program-error"]),
    ],
)
def test_an_exception_is_of_the_program_the_library_or_its_arguments(
    frames: list[tuple[str, str]], causes: list[str]
) -> None:
    compared = read(PAIR, "".join(FRAME.format(*each) for each in frames), 16)
    assert compared is not None
    assert names(compared) == causes


def _first_evidence(text: str) -> str:
    compared = read(PAIR, text, 16)
    assert compared is not None
    return compared.causes[0].evidence


def test_an_exception_that_was_raised_from_another_one_is_explained_by_that() -> None:
    root, then = FRAME.format(INSTALLED, "AssertionError: a"), FRAME.format(USER, "RuntimeError: b")
    assert "AssertionError: a" in _first_evidence(f"{root}{FROM}{then}")
    assert "RuntimeError: b" in _first_evidence(f"{root}{then}")


@pytest.mark.parametrize(
    ("report", "named"),
    [
        ("RuntimeError: Worker failed, please check the stack trace above", "RuntimeError: a"),
        ("RuntimeError: Engine core initialization failed. See root cause above.", "RuntimeError: a"),
        ("RuntimeError: Worker failed", "RuntimeError: Worker failed"),
    ],
)
def test_a_report_of_another_exception_is_explained_by_the_one_above_it(report: str, named: str) -> None:
    root = FRAME.format(USER, "RuntimeError: a")
    assert named in _first_evidence(f"{root}{FRAME.format(USER, report)}")


def test_a_failed_assertion_is_of_the_program_or_of_its_release() -> None:
    compared = read(PAIR, "a.cc:7: void f(): Assertion `x == y' failed.", 16)
    assert compared is not None
    assert names(compared) == ["program-error", "library-release"]
    assert all("does not say why" in each.evidence for each in compared.causes)
