"""Causes by facts of tools: what each states, and near texts that do not state it."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, read

REFUSED = "hostname: {} option -- 'I'\nTry 'hostname --help' for more information.\n"
CALLED = "subprocess.CalledProcessError: Command '['hostname', '-I']' returned non-zero exit status 64."
PLACE = (
    "Waiting for creating a placement group of specs for 150 seconds. specs=[{'GPU': 1.0}, {'GPU': 1.0}].\nActive:\n"
)
COUNTED = " 1 node_0123456789abcdef{}\n"
DEMAND = "Total Usage:\n 0.0/{} GPU\nPending Demands:\n {{'GPU': 1.0}} * 2 (PACK): 1+ pending placement groups\n"
FAILED = "Failed: Cuda error /src/custom_all_reduce.cuh:310 'invalid argument'"
LOST = "RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details."
LOGIN = "CalledProcessError: Command '['ssh node-7 hostname -I']' returned non-zero exit status 255."


def first(machine: str, text: str) -> str:
    found = read(machine, text, 8 if machine == H100 else 16)
    return names(found)[0] if found is not None and found.causes else ""


def named(machine: str, text: str, cause: str) -> bool:
    found = read(machine, text, 8 if machine == H100 else 16)
    return found is not None and cause in names(found)


@pytest.mark.parametrize("words", ["invalid", "unrecognized", "illegal"])
def test_an_option_that_a_called_program_lacks_is_of_another_package(words: str) -> None:
    assert first(PAIR, REFUSED.format(words) + CALLED) == "library-release"
    assert first(PAIR, CALLED + "\n" + REFUSED.format(words)) != "library-release"  # it failed before, not by this
    assert first(PAIR, REFUSED.format("another") + CALLED) != "library-release"


@pytest.mark.parametrize(
    ("nodes", "total", "cause"), [(2, "1.0", "missing-accelerator"), (1, "1.0", "absent-ranks"), (2, "2.0", None)]
)
def test_nodes_that_joined_ray_with_too_few_accelerators_lack_them(nodes: int, total: str, cause: str | None) -> None:
    text = PLACE + "".join(map(COUNTED.format, range(nodes))) + DEMAND.format(total)
    if cause:
        assert first(PAIR, text) == cause
    else:
        assert not named(PAIR, text, "missing-accelerator")


@pytest.mark.parametrize(
    ("facts", "old"),
    [
        ("Nvidia driver version: 470.57.02\nCUDA used to build PyTorch: 12.1\n", True),
        (
            "| NVIDIA-SMI 515.65  Driver Version: 515.65.01  CUDA Version: 11.7 |\nNCCL version 2.21.5+cuda12.4\n",
            True,
        ),
        ("Nvidia driver version: 535.104.05\nCUDA used to build PyTorch: 12.6\n", False),  # one major release
        ("Nvidia driver version: 570.86.10\nCUDA runtime version: 13.0.48\n", True),
        ("Nvidia driver version: 470.57.02\nCUDA used to build PyTorch: 11.8\n", False),
        ("Nvidia driver version: Could not collect\nCUDA used to build PyTorch: 12.1\n", False),
        ("Nvidia driver version: 470.57.02\nCUDA used to build PyTorch: None\n", False),
    ],
)
def test_a_driver_before_the_cuda_of_the_program_may_be_the_cause(facts: str, old: bool) -> None:
    assert named(H100, facts + FAILED, "driver-release") is old
    assert (first(H100, facts + FAILED) == "driver-release") is old


def test_a_store_that_closes_on_one_node_is_of_another_job() -> None:
    assert first(H100, f"RuntimeError: Broken pipe\n{LOST}") == "port-in-use"
    assert not named(PAIR, f"RuntimeError: Broken pipe\n{LOST}", "port-in-use")  # the first node may have ended
    assert not named(H100, LOST, "port-in-use")


def test_a_login_by_a_name_that_ssh_cannot_resolve_is_of_the_name() -> None:
    assert (
        first(PAIR, f"ssh: Could not resolve hostname node-7: Name or service not known\n{LOGIN}") == "name-resolution"
    )
    assert first(PAIR, f"root@node-7: Permission denied (publickey).\n{LOGIN}") == "remote-login"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "[/x/gloo/tcp/socket.cc:142] rv != -1. -1 vs -1. connect: Network is unreachable",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL WARN Call to recv from 10.1.2.3<50412> failed : Connection timed out",
            "unreachable-peer",
        ),
    ],
)
def test_an_error_of_the_system_tells_a_route_from_a_connection_that_was_made(line: str, cause: str) -> None:
    assert first(PAIR, f"RuntimeError: {line}") == cause
    assert named(PAIR, f"RuntimeError: {line}", "wrong-interface") is (cause == "wrong-interface")


def test_a_server_without_a_route_is_no_interface_of_ranks() -> None:
    line = "Failed to connect to https://huggingface.co/api/models: Network is unreachable"
    assert first(PAIR, f"RuntimeError: {line}") == "outside-server"


ROCE = (
    "{accelerator: h100-sxm, accelerators_per_node: 8, nodes: 2, scale_up: {topology: switched, domain: 8}, "
    "scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s, nics_per_node: 8, switch_ports: 64}}"
)
UNANSWERED = (
    "h:1:2 [0] NCCL WARN NET/IB : Got completion from peer 10.0.1.2<4> with status=12 opcode=0 vendor err 129\n"
)


@pytest.mark.parametrize(
    ("machine", "lines", "cause"),
    [
        (ROCE, UNANSWERED + "rx_discards_phy: 119233", "packet-loss"),
        (ROCE, UNANSWERED + "rx_discards_phy: 0", "unreachable-peer"),
        (PAIR, UNANSWERED + "rx_discards_phy: 119233", "unreachable-peer"),  # InfiniBand loses none by congestion
    ],
)
def test_requests_without_an_answer_are_lost_where_the_fabric_counts_losses(
    machine: str, lines: str, cause: str
) -> None:
    assert first(machine, lines) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Failed to resolve CUDA function cuMemGetHandleForAddressRange (last error: 0, result: 1)", "driver-release"),
        ("Failed to resolve libgdrapi.so symbol(s): gdr_pin_buffer_v2", "library-release"),
        ("Failed to resolve node-7", "name-resolution"),
    ],
)
def test_a_symbol_that_is_not_resolved_is_no_name_of_a_host(text: str, cause: str) -> None:
    assert first(PAIR, f"h:1:2 [0] nccl_net_ofi_init:9 NCCL WARN NET/OFI {text}") == cause


def test_a_device_of_gdrcopy_that_is_missing_may_be_one_that_the_container_lacks() -> None:
    text = "ls: cannot access '/dev/gdrdrv': No such file or directory"
    assert first(H100, text) == "gpudirect-refused"
    assert named(H100, text, "container-permission")
    assert not named(H100, "crw-rw-rw- 1 root root 230, 0 Sep 14 16:19 /dev/gdrdrv", "container-permission")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Since CUDA.jl v3.8.2 the run fails, with v3.8.1 all works fine.", True),
        ("Worked in 0.26.0, crashes in 0.27.1", True),
        ("With 1.5 GB it works, and with 2.5 GB it fails", False),  # amounts
        ("Rank 0 on 10.0.0.1 works, but 10.0.0.2 hangs", False),  # addresses
        ("It fails with 2.18.1, and with 2.19.3 it fails, too", False),
    ],
)
def test_one_of_two_releases_that_works_is_a_release_with_a_fault(line: str, told: bool) -> None:
    assert (first(H100, f"signal (11): Segmentation fault\n{line}") == "library-release") is told


PINNED = "RuntimeError: Unable to pin host memory with error code: -1\n"


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("$ ulimit -l\n64", True),
        ("root@pod:/# ulimit -l\n8192", True),
        ("bash: ulimit: max locked memory: cannot modify limit: Operation not permitted", True),
        ("$ ulimit -l\nunlimited", False),
        ("$ ulimit -l\n65536000", False),
        ("$ ulimit -n\n1024", False),
    ],
)
def test_a_low_limit_that_a_shell_prints_is_of_locked_memory(limit: str, told: bool) -> None:
    assert (first(H100, f"{PINNED}{limit}\n") == "locked-memory") is told


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        ("ibv_exp_query_device(mlx5_0) returned 38: No space left on device", "library-release"),
        ("ibv_query_device(mlx5_0) returned 38: Function not implemented", "library-release"),
        ("ibv_create_cq(cqe=4096) failed: No space left on device", "nic-limit"),
    ],
)
def test_the_number_that_a_call_returned_tells_more_than_the_text_beside_it(call: str, cause: str) -> None:
    assert first(PAIR, f"[1581627489.21] [h1:195530:0]       ib_verbs.h:84   UCX  ERROR {call}\n") == cause


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("After amdgpu-dkms was installed on the host, the invalid device pointer is gone.", True),
        ("I reinstalled amdgpu-dkms and that did the trick.", True),
        ("Installing nvidia-dkms-570 on the host solved it.", True),
        ("Reinstalled amdgpu-dkms, same error.", False),
    ],
)
def test_a_package_of_a_module_of_the_kernel_is_a_driver(change: str, told: bool) -> None:
    assert (first(H100, f"[rank0]: HIP failure: 'invalid device pointer'\n{change}\n") == "driver-release") is told


def test_the_directory_of_packages_in_a_trace_tells_of_no_release() -> None:
    path = "/usr/local/lib/python3.10/dist-packages/sglang/srt/distributed/pynccl_wrapper.py"
    trace = f'  File "{path}", line 284, in NCCL_CHECK\nRuntimeError: NCCL error: unhandled system error\n'
    assert not named(PAIR, trace, "library-release")
    assert named(PAIR, trace, "shared-memory")
