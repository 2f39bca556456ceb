"""Lines of hosts: what a healthy one prints, and the same words where they tell of a run.

Of 25 logs of training, inference, tests and traces that a seed drew from 22 public repositories (2911270302), all were
silent; of 30 with words of errors (2911270303) 24; of ten of healthy hosts (`dmesg`, the journal, `ibstat`,
`nvidia-smi`, `lspci`, a deployment) three, before lines of hosts were told apart, and nine after it. Of 18 logs of
engines and benchmarks, drawn after that, 15 were silent.
"""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.unfinished import read_unfinished
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling

HEALTHY = (
    # kernels
    "[    3.731124] EXT4-fs (nvme0n1p2): re-mounted. Opts: errors=remount-ro",
    "[    4.952994] mlx5_core: module verification failed: signature and/or required key missing - tainting kernel",
    "[    1.223407] GHES: APEI firmware first mode is enabled by APEI bit.",
    "[    2.082231] {1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 2561\n"
    "[    2.082265] {1}[Hardware Error]: It has been corrected by h/w and requires no further action\n"
    "[    2.082284] {1}[Hardware Error]: event severity: corrected",
    "[    2.298939] pci 0000:e1:00.0: DOE: [2c8] failed to reset mailbox with abort command : -5",
    "[    4.010397] thermal thermal_zone0: failed to read out thermal zone (-61)",
    "[    0.266545] pci 0000:01:00.0: 32.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x16 link at "
    "0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)",
    "[   48.598977] traps: worker[6646] trap int3 ip:55 sp:7f error:0 in chrome[55+5f]",
    # services of a host
    "[    5.281884] systemd-sysctl[250]: Couldn't write '0' to 'net/ipv4/conf/all/mc_forwarding': Permission denied",
    "Dec 10 06:55:48 n1 sshd[24200]: error: maximum authentication attempts exceeded for root from 10.9.9.9 [preauth]",
    "Dec 10 06:55:48 n1 sshd[24200]: Too many authentication failures for root [preauth]",
    "Dec 10 06:55:48 n1 sshd[1761]: error: Bind to port 22 on 0.0.0.0 failed: Address already in use.",
    'Sep 24 08:20:45 n1 gdm-x-session[1861]: (II) Module nvidia: vendor="NVIDIA Corporation"',
    "Sep 24 08:21:03 n1 applet.desktop[6574]: ImportError: This is not an X11 screen",
    # programs
    "When using more than one image per GPU you may encounter an out-of-memory (OOM) error if memory is short.",
    "E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:467] Unable to register cuFFT factory: it is registered",
    "n1:7:9 [0] NCCL INFO TOPO/NET : Importing network plugins to topology",
    "n1:7:9 [0] NCCL INFO TOPO/NET : Made vNic 4",
    "# Out of bounds values : 0 OK\nn1:7:9 [0] NCCL INFO RAS thread terminating",
)


@pytest.mark.parametrize("lines", HEALTHY)
def test_a_healthy_host_or_run_has_no_cause(lines: str) -> None:
    found = read(PAIR, lines, 16) if read_unfinished(lines) else None
    assert found is None or not (found.causes or found.error)


@pytest.mark.parametrize(
    ("lines", "causes"),
    [
        # the same words where they tell of a fault
        ("[    3.731124] EXT4-fs error (device sda1): ext4_find_entry:1455: reading directory", ["storage-fault"]),
        ("[    2.082284] {1}[Hardware Error]: event severity: fatal", ["host-fault"]),
        (
            "[    0.266545] pci 0000:01:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x8 link "
            "at 0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)",
            ["wrong-pcie-generation"],
        ),
        (
            "[    9.266545] mlx5_core 0000:01:00.0: 32.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x16 "
            "link at 0000:00:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
            ["wrong-pcie-generation"],
        ),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.15.0", ["driver-release"]),
        ("[   48.598977] traps: python[4242] general protection fault ip:7f sp:7f error:0", ["program-fault"]),
        (
            "[93794.806781] BUG: kernel NULL pointer dereference, address: 0000000000000008",
            ["driver-release", "host-fault"],
        ),
        ("srun: error: a.sh: Permission denied", ["file-permission"]),
        (
            "Feb 02 09:52:07 n1 slurmd[9]: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory",
            ["missing-accelerator", "container-permission"],
        ),
        ("RuntimeError: it may encounter an out-of-memory (OOM) error", ["host-memory-full"]),
        # what a query of a device states
        (
            "    Fabric\n        State                             : Completed\n"
            "        Status                            : Insufficient Resources",
            ["fabric-manager", "accelerator-fault"],
        ),
        ("            DRAM Uncorrectable            : 3", ["accelerator-fault"]),
        ("        Remapping Failure Occurred        : Yes", ["accelerator-fault"]),
        # memory that a NIC does not register, and a device that hangs, are of several causes
        (
            "n1:1:2 [0] NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
            ["locked-memory", "gpudirect-refused", "driver-release", "nic-limit", "host-memory-full"],
        ),
        (
            "HW Exception by GPU node-3 (Agent handle: 0x55) reason :GPU Hang",
            ["accelerator-fault", "program-fault", "driver-release"],
        ),
        # a device that the kernel knows by other calls than the library: openucx/ucx issue 5469
        (
            "[1.2] [h:7:0] ib_verbs.h:8 UCX ERROR ibv_query_device(mlx5_0) returned 38: Inappropriate ioctl for device",
            ["library-release", "driver-release", "nic-fault"],
        ),
        (
            "n1:1:2 [0] NCCL WARN Call to ibv_query_gid failed with error Invalid argument errno 22",
            ["invalid-setting", "wrong-interface", "unreachable-peer"],
        ),
    ],
)
def test_a_fault_of_a_host_is_named(lines: str, causes: list[str]) -> None:
    found = read(PAIR, lines, 16)
    assert found is not None
    assert names(found) == causes


@pytest.mark.parametrize(
    "lines",
    [
        "HW Exception by GPU node-3 (Agent handle: 0x55) reason :GPU Hang",
        "n1:1:2 [0] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
        "Failed to register memory 0x7f00: Cannot allocate memory",
        "Killed",
        "**Killed**",
        "ERROR: error code -9",
        "RuntimeError: synStatus=26 [Generic failure] Something failed. Heartbeat monitor timed out! a",
    ],
)
def test_a_line_of_several_causes_decides_none_with_certainty(lines: str) -> None:
    found = read(PAIR, lines, 16)
    assert found is not None
    assert found.causes
    assert all(cause.weight < 0.5 for cause in found.causes)


def test_a_loopback_address_is_of_no_other_host() -> None:
    line = "The client socket has timed out after 600000ms while trying to connect to ({}, 41234)."
    there = read(PAIR, line.format("10.0.0.1"), 16)
    own = read(PAIR, line.format("127.0.0.1"), 16)
    assert there is not None
    assert own is not None
    assert names(there)[0] == "unreachable-peer"
    assert names(own)[0] == "wrong-interface"


def test_a_crash_precedes_what_only_slows_a_run() -> None:
    lines = (
        "n1:4:4 [0] NCCL INFO NCCL_IB_HCA set to mlx5_0\n"
        "n1:4:4 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.4<0>\n"
        "[n1:4 :0:4] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))\n"
    )
    found = read(PAIR, lines, 16)
    assert found is not None
    assert names(found)[:2] == ["program-fault", "few-nics"]


def test_a_traceback_in_the_report_of_torchrun_is_the_failure() -> None:
    lines = (
        "W0420 08:33:44.9 136108 torch/distributed/elastic/multiprocessing/api.py:1012] Sending process 7 closing "
        "signal SIGTERM\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-04-20_08:33:44\n  host      : n1\n"
        "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 6)\n  error_file: /tmp/error.json\n"
        "  traceback : Traceback (most recent call last):\n"
        '    File "/a/torch/autograd/graph.py", line 869, in _engine_run_backward\n      return run_backward()\n'
        "  RuntimeError: Trying to backward through the graph a second time\n"
    )
    found = read(PAIR, lines, 16)
    assert found is not None
    assert names(found)[0] == "program-error"
    assert found.causes[0].weight > 0.5


@telling(2)
@pytest.mark.parametrize(
    ("line", "cause"),
    [
        # readers of shards and archives, arrays of checkpoints
        ("pyarrow.lib.ArrowInvalid: Not an Arrow file", "storage-fault"),
        ("tarfile.ReadError: unexpected end of data", "storage-fault"),
        ("_pickle.UnpicklingError: pickle data was truncated", "storage-fault"),
        (
            'ValueError: NOT_FOUND: Error opening "zarr" driver: Metadata at "gs://a/.zarray" is absent',
            "checkpoint-mismatch",
        ),
        ("ValueError: Requested shape: (8, 4) is not compatible with the stored shape: (4, 2).", "checkpoint-mismatch"),
        ('  Unexpected key(s) in state_dict: "decoder.layers.0.core_attention._extra_state"', "checkpoint-mismatch"),
        # compilers
        (
            "[NeuronAssert] assertion failure: too many instructions after unroll! [NCC_EVRF007]",
            "unsupported-accelerator",
        ),
        ("InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx", "library-release"),
        (
            "RuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile error. Ran out of memory in memory space vmem.",
            "memory-full",
        ),
        ("LINK : fatal error LNK1181: cannot open input file 'aio.lib'", "library-release"),
        ("collect2: fatal error: cannot find 'ld'", "library-release"),
        (
            "F ./tensorflow/core/tpu/a_fns.inc:100] TpuX_Y not available in this library.",
            "library-release",
        ),
        ("ValueError: 'a2' is already used by a Transformers config, pick another name.", "library-release"),
        # file systems, power and links
        ("[ 1234.123456] wekafsgw: client blade disconnected, IO suspended", "storage-fault"),
        ("Jan 01 00:00:00 n1 ipmievd: Power Supply sensor PS2 Status - Power Supply AC lost", "throttled-clocks"),
        ("\t Link 1: <inactive>", "accelerator-fault"),
        (
            "[  12.345678] NVRM: The NVIDIA GPU 0000:17:00.0 is not supported by open nvidia.ko because",
            "driver-release",
        ),
        ("FATAL: container creation failed: fuse: device not found, try 'modprobe fuse' first", "container-permission"),
        # ends of ranks
        (
            "[F ProcessGroupNCCL.cpp:1554] Terminating the process, due to ProcessGroupNCCL watchdog hang.",
            "ranks-diverge",
        ),
        ("torch.distributed.DistStoreError: Socket Timeout", "ranks-diverge"),
        ("(Actor pid=4993) Fatal Python error: Aborted", "program-fault"),
        ("*** SIGABRT received by PID 31 (TID 31) on cpu 47 from PID 31; stack trace: ***", "program-fault"),
        ("src/tcmalloc.cc:332] Attempt to free invalid pointer 0x7ffdb8479460", "program-fault"),
        ("train.sh: line 34:   894 Bus error               (core dumped) python train.py", "shared-memory"),
        ("RuntimeError: Failed to execute the model status=5 message=Timeout Exceeded", "ranks-diverge"),
        # settings
        ("10.1.2.3: fabric manager config file item: FABRIC_NODE_CONFIG_FILE has an invalid value", "invalid-setting"),
        ('level=error msg="failed" error="get runtime: no runtime for \\"nvidia\\" is configured"', "invalid-setting"),
        ("ValueError: User-specified max_model_len (9) is greater than the derived one (4).", "invalid-setting"),
        (
            "sacctmgr: error: open: failed to open persistent connection to slurmdbd:6819: Connection refused",
            "stopped-service",
        ),
        ("Could not open the log file '/tmp/tpu_logs/runner.log.INFO.20240806': Permission denied", "file-permission"),
    ],
)
def test_lines_that_no_table_had_are_told_by_their_class(line: str, cause: str) -> None:
    found = read(PAIR, line, 16)
    assert found is not None
    assert names(found)[0] == cause
