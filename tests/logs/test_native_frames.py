"""The part of a crash, by the frames that a debugger prints next to it."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.native_frames import NEAREST, crashed_part

ADDRESS = "0x00007fefc64b890f in"


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        (f"{ADDRESS} nccl_p2p_ib_init (num_devs=0x7f) at p2p_plugin.c:315", "net-plugin"),
        (f"{ADDRESS} mlx5_create_qp () from /lib/x86_64-linux-gnu/libmlx5.so.1", "rdma-library"),
        (f"{ADDRESS} ncclNetInit (comm=0x55) at net.cc:351", "communication-library"),
        (f"{ADDRESS} ?? () from /usr/lib/x86_64-linux-gnu/libcuda.so.1", "accelerator-driver"),
        (f"{ADDRESS} main (argc=1) at main.c:3", None),
    ],
)
def test_the_nearest_frame_names_the_part_of_a_crash(frame: str, part: str | None) -> None:
    found = crashed_part(f"Segmentation fault (core dumped)\n#0  0x0000000000000000 in ?? ()\n#1  {frame}")
    assert (found and (found[0], found[2])) == (part and (f"stack {part}", 3))


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        ("[h:7] [ 1] /usr/lib/libnccl.so.2(+0x3533c)[0x7f8e]", "communication-library"),
        ("[h:7] [ 2] /lib/libmlx5.so.1(mlx5_create_qp+0x12)[0x7f8e]", "rdma-library"),
        (" 1 0x000000000008170d ncclGroupEnd()  ???:0", "communication-library"),
        ("[h:7:0:7]  2 0x000000000004d2b0 nccl_p2p_ib_init()  /w/p2p_plugin.c:315", "net-plugin"),
        (" 1 0x000000000008170d main()  /w/main.c:3", None),
    ],
)
def test_handlers_of_open_mpi_and_ucx_print_frames_in_their_own_forms(frame: str, part: str | None) -> None:
    first = "[h:7] [ 0] /lib64/libpthread.so.0(+0x115d0)[0x7f8e]"
    found = crashed_part(f"Signal: Segmentation fault (11)\n{first}\n{frame}")
    assert (found and (found[0], found[2])) == (part and (f"handled {part}", 3))


def test_a_bus_error_in_the_communication_library_is_of_memory_that_it_maps() -> None:
    found = crashed_part("Signal: Bus error (7)\n[h:7] [ 1] /usr/lib/libnccl.so.2(+0x3533c)[0x7f8e]")
    assert found == ("stack mapped-memory", "/usr/lib/libnccl.so.2", 2)


def test_a_stack_of_a_process_that_waits_is_of_no_crash() -> None:
    assert crashed_part(f"It waits here:\n#0  {ADDRESS} ncclNetInit (comm=0x55) at net.cc:351") is None


def test_frames_far_from_the_crash_name_no_part() -> None:
    frames = [f"#{each}  {ADDRESS} main (argc=1) at main.c:3" for each in range(NEAREST)]
    assert crashed_part("\n".join(["SIGSEGV", *frames, f"#{NEAREST}  {ADDRESS} ncclNetInit (c=1) at net.cc:1"])) is None
