"""Lines of programs that end without a reason: starts that are counted, and plugins that some hosts lack."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.host_lines import unlike_links
from clusterspec.logs.statements.progress import store_wait
from clusterspec.logs.statements.raising_frames import family_of_frame
from clusterspec.logs.statements.statement_search import log_evidence
from clusterspec.logs.statements.suggestions import stated_families, suggested_causes
from clusterspec.logs.told_lines import text_without_passed
from tests.effort import each

MEMBER = "initializing ddp: GLOBAL_RANK: {}, MEMBER: {}/{}"


def starts(*ranks: int, of: int = 4) -> str:
    return "\n".join(MEMBER.format(rank - 1, rank, of) for rank in ranks)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (starts(1), [("members", "1 of 4 ranks started", 1)]),
        (starts(1, 3, 2), [("members", "3 of 4 ranks started", 3)]),
        (starts(1, 3, 3, 1), [("members", "2 of 4 ranks started", 4)]),
        (f"{starts(1, 2, of=2)}\n{starts(1)}", [("members", "1 of 4 ranks started", 3)]),
        (f"{starts(1, 2)}\nepoch 1", []),
    ],
)
def test_ranks_that_started_are_counted_once_and_by_their_world(text: str, found: list[tuple[str, str, int]]) -> None:
    assert list(stated_families(text)) == found


def test_a_start_of_all_ranks_as_the_last_line_is_a_start_without_what_follows() -> None:
    ((family, line, number),) = stated_families(starts(1, 2, 4, 3))
    assert (family, number) == ("start", 4) and line.startswith("initializing ddp: GLOBAL_RANK: 2, MEMBER: 3/4")


def test_a_host_without_the_plugin_that_another_loads_is_named_with_its_line() -> None:
    lines = (
        "a:1:1 [0] NCCL INFO NET/Plugin: Loaded net plugin AWS Libfabric (v8)",
        "b:1:1 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
        "b:1:1 [1] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
    )
    assert list(stated_families("\n".join(lines)))[:1] == [
        ("plugins", "b finds no plugin of the network, and a loads one", 2)
    ]
    for all_alike in (lines[0], "\n".join(lines[1:])):
        assert "plugins" not in [family for family, _, _ in stated_families(all_alike)]


def test_each_cause_is_suggested_once_by_its_first_line() -> None:
    error = "RuntimeError: [{}] CUDA out of memory. Tried to allocate {} GiB"
    found = list(suggested_causes("\n".join(["step 1", error.format(0, 2), error.format(1, 3), "step 2"])))
    assert [number for _, _, number in found] == [2]


@each(
    "word",
    [
        *("error", "Errors", "ERROR", "ValueError", "fail", "Failed", "failure", "FAILED", "fatal", "Fatal", "FATAL"),
        *("abort", "Aborting", "panic", "Panic", "Exiting", "undefined", "Undefined"),
    ],
)
def test_a_line_with_a_word_of_errors_suggests_its_cause(word: str) -> None:
    (found,) = suggested_causes(f"step 1\n{word}: no space left on the device\n")
    assert (found[0], found[2]) == ("storage-full", 2)
    assert list(suggested_causes("step 1\nremark: no space left on the device\n")) == []


def test_a_variable_that_the_environment_lacks_is_a_setting_and_another_key_is_not() -> None:
    frames = ['  File "a.py", line 7, in main', '  File "/usr/lib/python3.11/os.py", line 679, in __getitem__']
    assert family_of_frame([*frames, "    raise KeyError(key) from None", "KeyError: 'RANK'"], 4) == "settings"
    assert family_of_frame([frames[0], "    a = table['RANK']", "KeyError: 'RANK'"], 3) == "program"


@pytest.mark.parametrize(
    ("code", "raised", "family"),
    [
        ("norm = te.pytorch.LayerNorm(", "TypeError: LayerNorm.__init__() missing 1 required argument", "installed"),
        ("norm = te.pytorch.LayerNorm(", "TypeError: unsupported operand type(s) for +", "program"),
        ("norm = self.parts.LayerNorm(", "TypeError: LayerNorm.__init__() missing 1 required argument", "program"),
        ("norm = LayerNorm(", "TypeError: LayerNorm.__init__() missing 1 required argument", "program"),
    ],
)
def test_arguments_that_a_function_of_a_package_does_not_take_are_of_its_release(
    code: str, raised: str, family: str
) -> None:
    """Published: NVIDIA/Megatron-LM issue 1280."""
    assert family_of_frame(['  File "/a/train.py", line 7, in main', f"    {code}", raised], 3) == family


def test_a_line_of_source_that_raises_suggests_nothing() -> None:
    line = '        raise ValueError(f"reshape[0]={n} must be divisible by world_size")'
    assert not list(suggested_causes(line))
    assert [cause for cause, _, _ in suggested_causes("ValueError: 7 must be divisible by world_size")]


def test_what_a_program_does_in_place_of_what_failed_is_no_error() -> None:
    line = "[2026-08-01 23:37:38] Failed to get GPU memory capacity from nvidia-smi. Falling back to torch.cuda"
    assert not list(suggested_causes(line))
    assert list(suggested_causes(f"RuntimeError: CUDA out of memory. {line}"))


WATCHDOG = "[rank1]: Watchdog caught collective operation timeout"


@pytest.mark.parametrize(
    ("before", "families"),
    [
        ("saving checkpoint at iteration 5", ["timeout", "saving"]),
        ("> compiling and loading fused kernels ...\n", ["timeout", "locking"]),
        ("saving checkpoint at iteration 5\nstep 6", ["timeout"]),
    ],
)
def test_the_last_line_before_a_timeout_tells_the_phase(before: str, families: list[str]) -> None:
    found = list(stated_families(f"{before}\n{WATCHDOG}\nframe #0: a"))
    assert [family for family, _, _ in found] == families
    assert [number for _, _, number in found[1:]] == [1] * (len(families) - 1)


def listing(*active: int, links: int = 4) -> str:
    gpus = ("\n".join(f"\t Link {n}: {'25.7 GB/s' if n < of else '<inactive>'}" for n in range(links)) for of in active)
    return "\n".join(f"GPU {index}: NVIDIA V100 (UUID: a)\n{each}" for index, each in enumerate(gpus))


@pytest.mark.parametrize(
    ("active", "found"),
    [
        ((4, 4, 3), ("GPU 2 has 3 active links, another one 4", 11)),
        ((3,), ("GPU 0 has 3 active links, it has 4", 1)),
        ((3, 3), None),  # a board may leave one link of each without a connection
        ((4,), None),
        ((0, 0), None),
    ],
)
def test_links_that_one_accelerator_lacks_and_another_has_are_told(
    active: tuple[int, ...], found: tuple[str, int] | None
) -> None:
    assert unlike_links(listing(*active)) == found


def test_a_store_that_was_reached_waits_for_a_rank_and_one_of_a_start_does_not() -> None:
    frames = 'Traceback (most recent call last):\n  File "a.py", line 7, in {}\nRuntimeError: Socket Timeout\n'
    assert store_wait(frames.format("evaluate")) == ("RuntimeError: Socket Timeout", 3)
    assert store_wait(frames.format("init_process_group")) is None
    assert store_wait("RuntimeError: Socket Timeout") is None


def test_a_warning_at_the_start_of_a_library_is_passed_once_training_went_on() -> None:
    warning = "h:1:2 [0] src/graph/topo.cc:1550 NCCL WARN Could not find any local path from gpu 3 to net."
    during = "h:1:2 [0] transport/net_ib.cc:9 NCCL WARN NET/IB : Got async event : port error"
    steps = [f"step: {number} loss: 2" for number in range(3)]
    assert text_without_passed("\n".join([warning, during, *steps])).splitlines()[:2] == ["", during]
    assert text_without_passed("\n".join([warning, *steps[:2]])).startswith(warning)


@each(
    ("line", "causes"),
    [
        ("node1: UCX  ERROR no space left on the device", ["storage-full"]),
        ("node1: UCX  ERROR no space left on the device, retrying", []),  # the run outlives it
        ("node1: UCX  DEBUG no space left on the device", []),
        ("node1:1:2 [0] NCCL WARN no space left on the device", ["storage-full"]),
        ("node1:1:2 [0] NCCL WARN no space left on the device, retrying", []),
        ("OSError: no space left on the device, retrying", ["storage-full"]),  # a program says that it failed
        ("WARN no space left on the device", []),
    ],
)
def test_what_a_library_retries_suggests_nothing_and_its_loud_warnings_do(line: str, causes: list[str]) -> None:
    assert [cause for cause, _, _ in suggested_causes(f"{line}\n")] == causes


KERNEL = "[12345.678901] "


@pytest.mark.parametrize(
    ("line", "causes"),
    [
        (f"{KERNEL}nvme nvme0: I/O 12 QID 3 timeout, reset controller", ["storage-fault"]),
        (f"{KERNEL}mlx5_core 0000:1a:00.0: wait_func:1144: MODIFY_QP(0x502) timeout. Will cause a leak", ["nic-fault"]),
        (f"Nov 20 10:00:00 n1 kernel: {KERNEL}nvme nvme0: not responding", ["storage-fault"]),
        ("nvme nvme0: I/O 12 QID 3 timeout, reset controller", []),  # not of the kernel
        (f"{KERNEL}usb 1-1: device not responding", []),  # of no part of the machine
        (f"{KERNEL}nvme nvme0: 64/0/0 default/read/poll queues", []),  # it answers
    ],
)
def test_lines_of_the_kernel_tell_of_parts_that_do_not_answer(line: str, causes: list[str]) -> None:
    assert [cause for cause, _, _ in suggested_causes(line)] == causes


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ((105, 151, 175), "message accelerator-fault may"),  # of no list
        ((79, 143), "message accelerator-fault states"),
        ((108,), "message program-fault may"),
        ((14, 45, 106, 107, *range(144, 151), 162, 163, 174), None),  # they tell no cause by their number
    ],
)
def test_an_xid_that_no_table_lists_may_be_of_the_accelerator_unless_it_tells_nothing(
    numbers: tuple[int, ...], name: str | None
) -> None:
    for number in numbers:
        found = log_evidence(f"[1.0] NVRM: Xid (PCI:0000:01:00): {number}, pid=1, name=a, x")
        assert [each.name for each in found] == ([name] if name else []), number
