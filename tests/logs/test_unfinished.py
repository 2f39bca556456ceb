"""Texts without a result: which are of a run that stopped, on how many ranks, and whether a table is empty."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.logs.text_lines import lines_of

HEADING = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw"
)
UNITS = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
DEVICES = "\n".join(
    f"#  Rank {rank} Group  0 Pid 1 on host{rank // 4} device {rank % 4} [0x0{rank}] NVIDIA L4" for rank in range(8)
)
STARTED = f"# Using devices\n{DEVICES}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{STARTED}\n{HEADING}\n", 10),
        (f"{STARTED}\n{HEADING}\n{UNITS}\n\n", 10),
        (f"{STARTED}\n{HEADING}\n{UNITS}\n  8  2  float  sum  -1  9.0  0.0  0.0  0\n", None),
        (f"{STARTED}\n", None),
    ],
)
def test_a_heading_as_the_last_line_is_an_empty_table(text: str, line: int | None) -> None:
    found = read_unfinished(text)
    assert found is not None
    assert [each.line for each in found.evidence if each.name == "empty-table"] == ([line] if line else [])


def test_the_ranks_of_a_run_are_those_of_its_devices_on_their_hosts() -> None:
    found = read_unfinished(STARTED)
    assert found is not None and not found.series[0].points
    assert (found.series[0].ranks, found.series[0].nodes) == (8, 2)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>", True),
        ("RuntimeError: Too many open files", True),
        ("[0]: NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.", True),
        ("epoch 3: loss 2.1", False),
        ("", False),
    ],
)
def test_a_text_of_no_library_that_states_no_cause_is_no_log(text: str, read: bool) -> None:
    assert (read_unfinished(text) is not None) is read


@pytest.mark.parametrize(
    "line",
    [
        "a:1:2 [0] NCCL INFO Bootstrap : Using eth0",
        "RCCL WARN x",
        "CCOM WARN x",
        "a: Test CUDA failure common.cu:1",
        "a: Test HIP failure common.cpp:1",
        "ncclInvalidUsage",
        "# Using devices",
        "x Gloo connectFullMesh failed",
        "Watchdog caught collective operation timeout",
        "[0] misc/socket.cc:12 WARN x",
        "an uncorrectable NVLink error",
        "NVRM: Xid 1",
    ],
)
def test_a_line_of_a_library_or_driver_makes_a_text_one_of_a_run(line: str) -> None:
    assert read_unfinished(f"step 1\n{line}\n") is not None
    assert read_unfinished("step 1\nstep 2\n") is None


def test_a_word_that_many_lines_have_is_searched_on_the_first_of_them_alone() -> None:
    different = ("".join(chr(97 + (number >> 4 * place) % 16) for place in range(4)) for number in range(12_000))
    lines = [f"h:1:2 [0] NCCL WARN {word} failed with error" for word in different]
    first = "h:1:2 [0] NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000"
    found = read_unfinished("\n".join([first, *lines]))
    assert found is not None
    assert [each.line for each in found.evidence if each.name == "shared-accelerator"] == [1]


def test_lines_are_those_that_a_split_lists() -> None:
    for text in ("", "a", "a\n", "\n\na\r\n b\n\n", "a\x0bb\u2028c\n"):
        assert list(lines_of(text)) == text.split("\n")


DRAINED = "[2026-08-02 00:17:43] SIGTERM received. signum=None frame=None. Draining requests and shutting down...\n"
DONE = "INFO:     Application shutdown complete.\n"
ENDED = "[2026-08-02 00:17:44] Subprocess detokenizer (pid=31379) crashed with exit code -15. SIGQUIT\nKilled\n"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (DRAINED + ENDED, False),
        (DONE + ENDED, False),
        (ENDED, True),
        (ENDED + DRAINED, True),  # a process ended before anyone asked for it
        (DRAINED + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n" + ENDED, True),
        (DRAINED.replace("Draining requests and ", ""), False),
    ],
)
def test_processes_that_end_after_a_service_was_stopped_are_no_fault(text: str, read: bool) -> None:
    assert (read_unfinished(f"step 1\n{text}") is not None) is read


BUILD = "(Worker_TP0 pid=1) [aiter] start build [module_moe_sorting] under /home/u/aiter/jit/build/module_moe_sorting\n"
WAIT = "(Worker_TP1 pid=2) [aiter] waiting for baton release at /home/u/aiter/jit/build/lock_{}\n"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (BUILD + WAIT.format("module_moe_sorting"), False),
        (BUILD + WAIT.format("module_rmsnorm"), True),  # a lock that no process of the log holds
        (WAIT.format("module_moe_sorting"), True),
    ],
)
def test_a_wait_for_a_module_that_another_rank_builds_is_no_hang(text: str, read: bool) -> None:
    found = read_unfinished(f"NCCL INFO comm 0x1 rank 0 nranks 2\n{text}")
    assert found is not None
    assert any(each.name == "family locking" for each in found.evidence) is read


@pytest.mark.parametrize(("items", "read"), [(30, False), (9, True)])
def test_a_list_of_changes_is_no_log(items: int, read: bool) -> None:
    """Its items tell of errors that were mended; nine items among forty lines of a run are messages of the run."""
    item = "* slurmd - Fix a regression where a task ended with a segmentation fault (core dumped)\n"
    error = "slurmd: error: Segmentation fault (core dumped)\n"
    text = item * items + (error + "step 1\n" * 31 if items < 10 else error)
    assert (read_unfinished(text) is not None) is read


_STEPS = "\n".join(f"step:{number}/9 val_loss:{4 - number}" for number in range(3))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"WARNING: no board (ModuleNotFoundError: No module named 'tensorboard'); another\n{_STEPS}", False),
        ("WARNING: no board (ModuleNotFoundError: No module named 'tensorboard'); another\n", True),
        (f"[W610 23:17:09.8 socket.cpp:767] [c10d] network addresses of (a, 9) cannot be retrieved\n{_STEPS}", False),
        (f"{_STEPS}\n[W610 23:17:09.8 socket.cpp:767] [c10d] network addresses of (a, 9) cannot be retrieved", True),
        (f"ModuleNotFoundError: No module named 'a'\n{_STEPS}", True),
        ('{"status": 200, "text": "I call it: ValueError: no record", "finish_reason": "stop"}', False),
        ('{"status": 500, "text": "I call it: ValueError: no record"}', True),
        ("Exception ignored while calling deallocator <f>:\nTraceback\n  a\nPythonFinalizationError: join", False),
        ("libfabric:1:2::core:core:ze_hmem_dl_init():524<warn> Failed to dlopen libze_loader.so", False),
        ("  failed to find checkpoint /c/iter_0000080/mp_rank_01/model_optim_rng.pt in wandb", False),
        ("[shutdown] EngineCore: start mode=abort\nERROR [async_llm.py:704] EngineDeadError: a", False),
        ("ERROR [async_llm.py:704] EngineDeadError: a", True),
    ],
)
def test_what_a_run_outlived_and_what_models_answer_are_no_fault(text: str, read: bool) -> None:
    """Seen in logs of KellerJordan/modded-nanogpt, jiangyu67/MindSpeed-LLM and torchtitan on Python 3.14."""
    assert (read_unfinished(text) is not None) is read


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n", ["out-of-memory"]),
        ("n:1:9 [0] NCCL WARN Net : Connect to 10.0.0.1 failed : Connection refused\n", ["unreachable"]),
        ("ValueError: the ring was not allowed\n", ["suggests storage-full"]),
    ],
)
def test_general_words_count_only_where_no_line_states_a_cause(text: str, names: list[str]) -> None:
    found = read_unfinished(f"{text}RuntimeError: storage quota exceeded on /scratch\n")
    assert found is not None
    assert [each.name for each in found.evidence] == names
