"""Causes of long logs of several ranks, and of threads that were drawn and judged before the program read them.

Of 33 of the first draw (2026-11-25; 17 whole logs), 18 causes were named first, and five named, before anything was
changed; of 36 of a second draw (14 whole logs), 26 first, and one named. `RUNS` has what was missed at first, in the
form that ranks print it; `KNOWN` whole logs and threads that were right at once.
"""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import read_log, with_whole_characters
from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.logs.told_lines import states_success, text_without_labels
from tests.analysis.test_diagnosis import names
from tests.analysis.test_drawn_threads import Thread
from tests.analysis.test_program_lines import PAIR, read

LAUNCHED = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "
RUNS = (
    # labels of srun before every line
    Thread(
        "bigyanghimire/deepspeed-experiments, pytorch-compression/slurm_logs/grouped-ulysses-1355.err",
        "0: [rank0]: Traceback (most recent call last):\n"
        '0: [rank0]:   File "/home/u/train.py", line 9, in <module>\n'
        "0: [rank0]: KeyError: 'a'\n"
        f"1: {LAUNCHED}\nsrun: error: node1: task 1: Exited with exit code 1",
        "program-error",
    ),
    # an exception that Python ignores at the end, behind the one that ended the run
    Thread(
        "bigyanghimire/deepspeed-experiments, final_experiments/a100/default_exp/ulysses_zerorun_32768_batch_2.log",
        "0: Exception ignored in atexit callback: <function update at 0x7>\n"
        "0: Traceback (most recent call last):\n"
        '0:   File "/home/u/matmul.py", line 3, in update\n'
        "0: FileNotFoundError: [Errno 2] No such file or directory: '/home/u/.triton/a.pickle.tmp'\n"
        "0: requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://hub.example/a\n"
        "srun: error: node1: task 0: Exited with exit code 1",
        "outside-server",
    ),
    # ends of tasks that follow from a canceled job
    Thread(
        "NERSC/sc22-canopie-hpc-benchmarks, pynamic/2022-08-scale-benchmarks/scale-podman-shared-16384-2.out",
        "slurmstepd: error: *** STEP 7.0 ON nid1 CANCELLED AT 2022-08-19T10:00:00 ***\n"
        "srun: error: nid2: tasks 1-9: Killed\nsrun: error: nid3: task 10: Terminated",
        "job-ended",
    ),
    Thread("openpmix/prrte/issues/1493", "kex_exchange_identification: read: Connection reset by peer", "remote-login"),
    Thread(
        "open-mpi.org/community/lists/users/2006/03/0753.php",
        "tcsh: orted: Command not found.\n[h1:7] ERROR: A daemon on node h2 failed to start as expected.",
        "remote-login",
    ),
    Thread(
        "openucx/ucx/issues/9383",
        "$ srun -w h0,h1 -n 2 osu_bcast\n[1.0] [h1:7 :0] sock.c:323 UCX  ERROR   connect(fd=43, "
        "dest_addr=172.17.0.1:60657) failed: Connection refused",
        "wrong-interface",
    ),
    Thread(
        "ROCm/rocm-systems/issues/2805",
        ":0:/src/hipamd/src/hip_platform.cpp:110 : 7 us:\nCannot retrieve Static function, error: 218\nAborted",
        "unsupported-accelerator",
    ),
)
KNOWN = (
    Thread(
        "NVIDIA/nccl/issues/1488",
        "h:1:2 [2] transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'",
        "fabric-manager",
    ),
    Thread(
        "NVIDIA/nccl-tests/issues/276",
        "h:1:2 [1] transport/nvls.cc:223 NCCL WARN Cuda failure 999 'unknown e'",
        "fabric-manager",
    ),
    Thread(
        "xljh0520/JOTR/issues/4",
        "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running inconsistent collective: "
        "CollectiveFingerPrint(OpType=ALLGATHER, TensorShape=[41, 8])",
        "ranks-diverge",
    ),
    Thread("open-mpi/ompi/issues/599", "bash: orted: command not found", "remote-login"),
    Thread(
        "bigyanghimire/deepspeed-experiments, step_time_analysis/logs/20260213_131652/baseline.log",
        f"{LAUNCHED}\nerror: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed.",
        "host-memory-full",
    ),
    Thread(
        "GuangyanS/LLaMA-Estate, bin/estate-33703190-slurm.err",
        "89%|#| 9/10 [10:53:02<1:14, 3.07s/it]slurmstepd: error: *** JOB 7 ON h CANCELLED AT 2024-05-11T00:19:26 "
        "DUE TO TIME LIMIT ***",
        "job-ended",
    ),
)


@pytest.mark.parametrize("thread", RUNS + KNOWN, ids=lambda each: each.address)
def test_the_cause_of_a_run_is_named_first(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 2 if "srun -w" in thread.lines else 16)
    assert compared is not None
    assert names(compared)[0] == thread.cause


@pytest.mark.parametrize(("status", "cause"), [(11, "invalid-setting"), (13, "peer-ended"), (12, "unreachable-peer")])
def test_a_status_that_perftest_prints_as_a_number_names_its_cause(status: int, cause: str) -> None:
    """Options that differ between both ends, or their MTU: notes on perftest with Soft-RoCE and between its tests."""
    compared = read(PAIR, f" Completion with error at client\n Failed status {status}: wr_id 0 syndrom 0x0", 2)
    assert compared is not None and names(compared)[0] == cause


def test_labels_are_left_out_and_lines_keep_their_numbers() -> None:
    text = "0: a\n1: [rank1]: ValueError: b\n0: c\nsrun: error: d"
    assert text_without_labels(text) == "a\n[rank1]: ValueError: b\nc\nsrun: error: d"
    assert text_without_labels("12:30: a\n12:31: b\n12:32: c") == "12:30: a\n12:31: b\n12:32: c", "times of the day"


def test_an_ignored_exception_of_one_process_hides_no_line_of_another() -> None:
    text = (
        "[rank0]: Exception ignored in: <function a at 0x1>\n[rank0]: Traceback (most recent call last):\n"
        "[rank1]: ValueError: b\n[rank0]: KeyError: 'c'\n[rank0]: KeyError: 'd'"
    )
    assert text_without_labels(text) == "\n\n[rank1]: ValueError: b\n\n[rank0]: KeyError: 'd'"


def test_a_run_that_states_its_success_has_nothing_to_diagnose() -> None:
    stop = ':::MLLOG {"key": "run_stop", "value": null, "metadata": {"status": "%s"}}\n'
    stop += "torch.OutOfMemoryError: CUDA out of memory\n"
    assert states_success(stop % "success") and not states_success(stop % "aborted")
    assert not states_success(stop % "success" + ':::MLLOG {"key": "run_start", "value": null}'), "another began"
    assert read_unfinished(stop % "success") is None
    assert read_unfinished(stop % "aborted") is not None


def test_lines_that_ranks_cut_within_a_character_are_read() -> None:
    whole = b"0: 50%|" + "█".encode()[:1] + b"\n1: ok\n" + b"\x96\x88| 7/9\n" + b"." * 999
    error = b"\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4 GiB"
    log = read_log("a.log", whole + error, unfinished=True)
    assert any(each.name == "out-of-memory" for each in log.evidence)
    assert with_whole_characters(b"\xe9" * 9) == b"\xe9" * 9, "no log in UTF-8"


def test_a_job_of_ray_ends_as_its_command_line_says() -> None:
    line = "ValueError: a\n2026-02-27 05:11:57,609 SUCC cli.py:66 -- Job 'raysubmit_Ab1' %s\n-----\n"
    assert states_success(line % "succeeded") and not states_success(line % "failed")
    assert not states_success(line % "succeeded" + "x\n" * 2_000), "other lines follow"


def test_an_exception_that_a_worker_of_ray_ignores_is_left_out() -> None:
    worker = "\x1b[36m(Worker pid=7, ip=10.0.0.1)\x1b[0m "
    lines = (
        "Exception ignored in: <function A.__del__ at 0x7f>",
        "Traceback (most recent call last):",
        "  a",
        "KeyError: 'b'",
    )
    text = "\n".join([*(worker + line for line in lines), worker + "ValueError: c"])
    assert text_without_labels(text) == "\n" * len(lines) + worker + "ValueError: c"
