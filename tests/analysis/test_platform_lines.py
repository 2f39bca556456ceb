"""Lines of containers, device services, kernels and communication libraries: what each states first."""

from __future__ import annotations

import re

import pytest

from clusterspec.analysis.diagnosis import hangs
from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.logs.statements.catalogued_messages import WEIGHTS, Message, Xid, messages, sxids, xids
from clusterspec.report.measurement_text import diagnosis_text
from clusterspec.results import Input
from clusterspec.results.diagnosis import DiagnosisReport
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import each, sampled, telling, thorough
from tests.settings import SETTINGS

LINES = (
    # containers: NVIDIA/nvidia-container-toolkit, uxlfoundation/oneCCL issue 217, intel/ipex-llm issue 12990
    ("2026:01:01-00:00:00:(7) |CCL_WARN| pidfd is not supported, falls back to drmfd", "container-permission"),
    ("RuntimeError: oneCCL: init_device_fds: opendir failed: could not open device directory", "container-permission"),
    ("set_mempolicy: Operation not permitted", "container-permission"),
    ("Failed to initialize NVML: Insufficient Permissions", "container-permission"),
    ("n1:7:9 [0] misc/alt_rsmi.cc:9 NCCL WARN Failed to open topo/nodes directory", "container-permission"),
    ("OCI runtime create failed: unresolvable CDI devices nvidia.com/gpu=9", "missing-accelerator"),
    ("kubelet: requested number of devices unavailable for nvidia.com/gpu", "missing-accelerator"),
    ("  No devices were found", "missing-accelerator"),
    ("RuntimeError: UNAVAILABLE: No TPU Platform available", "missing-accelerator"),
    ("The TPU is already in use by process 12", "shared-accelerator"),
    ("nvidia-container-cli: mount error: mount operation failed: /a: operation not permitted", "container-permission"),
    ("nvidia-container-cli: device error: GPU-1: unknown device", "missing-accelerator"),
    ("nvidia-container-cli: ldcache error: open failed: /sbin/ldconfig.real: no such file", "library-release"),
    ("docker: Error response from daemon: unknown or invalid runtime name: nvidia.", "library-release"),
    ("nvidia-container-cli: container error: cgroup subsystem devices not found", "library-release"),
    ("Failed to initialize NVML: Driver Not Loaded", "missing-accelerator"),
    ("RuntimeError: TPU initialization failed: open(/dev/accel0): Operation not permitted", "container-permission"),
    # the runtime of Neuron; JAX and XLA
    ("ERROR NRT:nrt_init Unable to determine Neuron Driver version. Check aws-neuronx-dkms", "driver-release"),
    ("ERROR NRT:nrt_allocate_neuron_cores NeuronCore(s) not available - Requested:32", "shared-accelerator"),
    ('nrt_load status=9, error message="Not enough NC"', "missing-accelerator"),
    ("nrt_load status=10, version of the NEFF", "library-release"),
    ("nrt_init status=11", "host-memory-full"),
    ('Failed to load neff, status=4 message="Allocation Failure"', "memory-full"),
    ("ERROR nrt_execute failed with NRT_EXEC_OOB", "program-fault"),
    ('nrt_execute status=1202 message="Uncorrectable NC error"', "accelerator-fault"),
    ("ERROR nrt_execute returned NRT_TIMEOUT", "peer-ended"),
    ("XlaRuntimeError: INTERNAL: this slice has unhealthy TPU chips", "accelerator-fault"),
    ("Terminating process because the coordinator detected missing heartbeats. Another task died", "peer-ended"),
    ("F external/a.cc:82] Expected 8 threads to join the rendezvous, but only 7 of them arrived", "ranks-diverge"),
    # runtimes of devices
    (":0:rocdevice.cpp:9: Aborting with error : HSA_STATUS_ERROR_INVALID_ISA: code: 0x100f", "unsupported-accelerator"),
    ("HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: address", "program-fault"),
    ("level_zero backend failed with error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)", "memory-full"),
    ("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling cublasCreate", "memory-full"),
    ("Native API failed. Native API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)", "memory-full"),
    ("RuntimeError: PT_BRIDGE Exception: Device memory allocation failed", "memory-full"),
    ("[ERROR] EE9999: rtMalloc execute failed, reason=[driver error:out of memory]", "memory-full"),
    ("[9.1] i915 0000:4d:00.0: [drm] GPU HANG: ecode 12:1:84dffffb", "accelerator-fault"),
    ("CUDA error: too many resources requested for launch", "program-error"),
    ("CUDA error: operation not permitted when stream is capturing", "program-error"),
    ("ValueError: Default process group has not been initialized, please make sure", "program-error"),
    ("CUDA error: the launch timed out and was terminated", "program-fault"),
    ("CUDA error: MPS client terminated without warning", "invalid-setting"),
    ("ChildFailedError: exitcode : -11 (pid: 9)", "program-fault"),
    # servers outside, networks and storage
    ("ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded", "outside-server"),
    ('Back-off pulling image "a/b:1"', "outside-server"),
    ("[9.1] ib0: multicast join failed for ff12:401b:ffff::1, status -22", "unreachable-peer"),
    ("UCX  WARN  transport 'rc' is not available, please use one or more of: cma, tcp", "invalid-setting"),
    ("libfabric:1:1:efa:a:b():1<warn> Unable to open device rdmap1. The process may not have", "container-permission"),
    ("PMIX ERROR: UNREACHABLE in file a.c at line 1", "unreachable-peer"),
    ("nvidia-imex: node 3 status DISCONNECTED", "fabric-manager"),
    ("srun: error: Unable to create step for job 1: Memory required by task is not available", "invalid-setting"),
    ("LustreError: 11-0: fs-OST0001-osc: operation ost_write failed with -110", "storage-fault"),
    # services of devices: NVIDIA/nvshmem issue 40, NVIDIA/gpu-operator issue 1595
    ("[8.1] NVRM: Check failed: NVLink fabric state cached by the driver is out of sync", "fabric-manager"),
    ("fabric manager interface version 550.54 don't match with driver version 550.90", "fabric-manager"),
    ("NVIDIA Fabric Manager Start Script", "fabric-manager"),
    ("nvidia-fabricmanager.service: Failed with result 'exit-code'.", "fabric-manager"),
    # Mellanox/k8s-rdma-shared-dev-plugin issue 94
    ('error creating new device: "missing RDMA device spec for device 0000:01:00.0"', "invalid-setting"),
    # the kernel and the driver
    ("[8.1] NVRM: API mismatch: the client has the version 1.2, but this kernel module has 1.3", "driver-release"),
    ("[8.1] nvidia 0000:3b:00.0: Unable to change power state from D3cold to D0", "accelerator-fault"),
    ("    Remapping Failure Occurred   : Yes", "accelerator-fault"),
    ("ERROR NRT_EXEC_HW_ERR_HBM_UE", "accelerator-fault"),
    ("[8.1] mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7", "host-fault"),
    ("[8.1] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0", "host-fault"),
    ("[8.1] NVRM: BAR1 is 0M @ 0x0 (PCI:0000:3b:00.0)", "missing-accelerator"),
    ("[8.1] mlx5_core 0000:5e:00.0: High temperature on sensors with bit set 0 1", "nic-fault"),
    ("[8.1] habanalabs hl3: port 9 is down", "unstable-link"),
    ("link_downed: 12", "unstable-link"),
    ("out_of_sequence: 123456", "packet-loss"),
    # programs and libraries: ROCm/rocm-systems issue 5229, k8snetworkplumbingwg/sriov-cni issue 348
    ("HIP error: hipErrorInvalidKernelFile", "unsupported-accelerator"),
    ("rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat", "unsupported-accelerator"),
    ("RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED", "program-fault"),
    ("ERROR NRT_RESOURCE: allocation failure", "memory-full"),
    ("ibgda.cpp:3: mlx5dv_devx_umem_reg failed", "gpudirect-refused"),  # deepseek-ai/DeepEP issue 36
    ("Failed to initialize GDRCopy: no device", "gpudirect-refused"),
    ("NVSHMEM provided an incompatible version of the transport interface", "library-release"),
    ("srun: error: Couldn't find the specified plugin name for mpi/pmix", "library-release"),
    ("x.cpp:3: Unable to initialize any transports. returning error.", "wrong-interface"),
    ("munge: decode failed: Rewound credential", "clock-skew"),
    ("kinit: Clock skew too great while getting initial credentials", "clock-skew"),
    ("HEALTH_WARN clock skew detected on mon.b, mon.c", "clock-skew"),
    ("ClientError: An error occurred (RequestTimeTooSkewed) when calling the PutObject operation: a", "clock-skew"),
    ("x509: certificate has expired or is not yet valid: current time 2026-01-01 is before 2026-02-01", "clock-skew"),
    ("rafthttp: the clock difference against peer 8211f1d0 is too high [1.5s > 1s]", "clock-skew"),
    ("rm: cannot remove '/home/u/.cache/.nfs01': Device or resource busy", "storage-fault"),
    ("OSError: [Errno 16] Device or resource busy: '/dev/accel0'", "shared-accelerator"),
    ("a3 | 06/01/2026 | 10:11:12 | Memory #0x53 | Uncorrectable ECC | Asserted", "host-fault"),
    ("1c:00.0 3D controller: NVIDIA Corporation Device 2335 (rev ff)", "accelerator-fault"),
    ("5e:00.0 Ethernet controller: Mellanox Technologies MT2892 Family (rev ff)", "nic-fault"),
    ("n1 start-worker: the metadata service says termination is imminent", "job-ended"),
    ("AttributeError: 'pkg.store.Table' object has no attribute 'drop'", "library-release"),
    ("[1] _job_complete: JobId=7 WTERMSIG 9", "host-memory-full"),
    ("ssh: connect to host n2 port 22: Connection refused", "remote-login"),
    ("java.net.UnknownHostException: n2", "name-resolution"),
    ("RuntimeError: unexpected pos 704 vs 598", "storage-full"),  # awslabs/awsome-distributed-ai pull 1225
    ("[8.1] LustreError: 11-0: scratch-OST0003: operation ost_connect failed: rc = -108", "storage-fault"),
    ("h:1:2 [0] NCCL WARN Unrecoverable error detected: malloc(size=3) returned null.", "host-memory-full"),
    # messages of the catalog
    ("h:1:2 [0] NCCL WARN Trying to send to self without a matching recv", "program-error"),
    ("h:1:2 [0] NCCL WARN Elastic GIN: rank 1 segment 0 size 3 differs from rank 0 segment 0 size 4", "ranks-diverge"),
    ("h:1:2 [0] NCCL WARN NET/OFI Failed to open NCCL topology file using file descriptor", "wrong-topology"),
    ("h:1:2 [0] NCCL WARN Error: network Foo not found.", "plugin-missing"),
    ("h:1:2 [0] NCCL WARN NET/OFI Couldn't enable endpoint. RC: -12", "locked-memory"),
)  # fmt: skip


@telling(2)
@each(("line", "cause"), LINES)
def test_a_line_names_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == cause, [(each.name, each.weight) for each in compared.causes]


@pytest.mark.parametrize(
    "line",
    [
        "link_downed: 0",
        "out_of_sequence: 0",
        "    Remapping Failure Occurred   : No",
        "NVIDIA Fabric Manager 570.86 started successfully",
        "[8.1] mce: CPU0: Thermal monitoring enabled",
        "[8.1] EDAC MC0: Giving out device to module skx_edac",
        "[8.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01",
        "Map: 100%|####| 500/500 [00:01<00:00, 400 examples/s]",
        "make[2]: warning:  Clock skew detected.  Your build may be incomplete.",
        "1c:00.0 3D controller: NVIDIA Corporation Device 2335 (rev a1)",
        "[1] _job_complete: JobId=7 WEXITSTATUS 0",
    ],
)
def test_a_healthy_line_states_nothing(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not compared.causes


TIMEOUT = (
    "[E ProcessGroupNCCL.cpp:475] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType="
)


@pytest.mark.parametrize(
    ("before", "weight"),
    [
        ("Running tokenizer on dataset:  88%|####8 | 383700/433643 [29:55<03:25, 2432.70 examples/s]\n", 0.7),
        ("Generating train split: 2230000 examples [29:59, 1466.92 examples/s]", 0.7),  # on one line with the timeout
        ("Grouping texts in chunks of 2049:   8%|# | 726000/9672101 [02:32<30:38, 4866.01 examples/s]", 0.7),
        ("iteration 12/100 | 3.2 it/s\n", 0.3),
        ("", 0.3),
    ],
)
def test_data_that_some_ranks_prepare_while_others_wait_is_likely(before: str, weight: float) -> None:
    """Published: huggingface/nanotron issue 204, huggingface/alignment-handbook 190, hiyouga/LlamaFactory 360."""
    compared = read(PAIR, f"{before}{TIMEOUT}ALLREDUCE, NumelIn=1", 16)
    assert compared is not None
    found = {each.name: each.weight for each in compared.causes}
    assert found["ranks-diverge"] == weight


@pytest.mark.parametrize(
    ("host", "address", "named"),
    [("[fake-host]", "192.168.1.99", True), ("[10.0.0.4]", "10.0.0.4", False), ("[n1]", "n1", False)],
)
def test_an_address_that_is_reached_by_another_name_is_one_of_the_name_service(
    host: str, address: str, named: bool
) -> None:
    """Published: pytorch/pytorch issue 85300."""
    lines = (
        f"[W socket.cpp:558] [c10d] The client socket has failed to connect to {host}:1234 (errno: 113 - No route).\n"
        f"[E socket.cpp:610] [c10d] The client socket has failed to connect to any network address of ({address}, 1234)"
    )
    compared = read(PAIR, lines, 16)
    assert compared is not None
    assert (names(compared)[0] == "name-resolution") is named


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: INVALID_ARGUMENT: NEFF is invalid",  # aws-neuron/aws-neuron-sdk issue 742
        "ERROR 01-02 03:04:05 worker_base.py:574] KeyError: 'foo'",
        "[16.1] [n1:1:0] ucp_worker.c:1 UCX  ERROR something else",
        "[rank0]: ValueError: The size of tensor a (64) must match the size of tensor b (32)",
        "srun: error: something else",
        "E0102 03:04:05.678901 12 main.cc:9] something else",
    ],
)
def test_an_error_of_no_known_cause_is_answered_and_named(line: str) -> None:
    compared = read(PAIR, f"step 1\n{line}", 16)
    assert compared is not None and compared.causes == ()
    assert compared.error == f"line 2: {line}"
    text = diagnosis_text(DiagnosisReport(SETTINGS.tool, Input("a.yaml", None), (compared,), ()))
    assert "has none of the known causes" in " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "A plan.\nerror = 3\n",
        "# error: a comment\n",
        "errors: 0\n",
        "the error went from 4 to 3\n",
        "> error: quoted\n",
    ],
)
def test_a_text_without_an_error_of_a_program_is_no_log(text: str) -> None:
    assert read(PAIR, text, 16) is None


RELEASED = r"https://pypi\.org/project/[a-z0-9-]+/[0-9.]+/"
"""The address of a release whose messages are those of the library itself (`strings libnccl.so.2`)."""


def test_every_message_of_the_catalog_has_a_known_cause_a_weight_an_address_and_a_next_step() -> None:
    for one in messages():
        assert one.cause in MEANINGS and one.weight in WEIGHTS
        lines = one.source.startswith("https://github.com/") and "#L" in one.source
        assert lines or re.fullmatch(RELEASED, one.source)
        assert hangs.NEXT_STEPS[one.cause]


@telling(2)
@each("xid", xids())
def test_an_xid_of_the_catalog_is_found_with_its_cause(xid: Xid) -> None:
    assert xid.cause in MEANINGS and xid.weight in WEIGHTS and xid.source.startswith("https://docs.nvidia.com/")
    compared = read(PAIR, f"[9.1] NVRM: Xid (PCI:0000:1b:00): {xid.code}, pid=1, name=p, {xid.name}", 16)
    assert compared is not None
    assert names(compared)[0] == xid.cause


@telling(2)
@each("sxid", sxids())
def test_an_sxid_of_the_catalog_is_found_with_its_cause(sxid: Xid) -> None:
    assert sxid.cause in MEANINGS and sxid.weight in WEIGHTS and sxid.source.startswith("https://github.com/NVIDIA/")
    compared = read(PAIR, f"[9.1] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {sxid.code}, Non-fatal, Link 24 a", 16)
    assert compared is not None
    assert names(compared)[0] == sxid.cause


@pytest.mark.parametrize(("code", "first"), [("11004", "fabric-manager"), ("12345", "accelerator-fault")])
def test_a_fault_of_a_switch_is_of_its_hardware_unless_its_number_is_of_the_tables(code: str, first: str) -> None:
    compared = read(PAIR, f"[9.1] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): {code}, Non-fatal, Link 3 a", 16)
    assert compared is not None and names(compared)[0] == first
    fatal = read(PAIR, f"[9.1] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): {code}, Fatal, Link 3 a", 16)
    assert fatal is not None and names(fatal)[0] == "accelerator-fault"


def test_xids_that_differ_by_their_number_alone_are_all_read() -> None:
    lines = (f"[9.1] NVRM: Xid (PCI:0000:1b:00): {code}, pid=1, name=p" for code in (45, 31, 79))
    compared = read(PAIR, "\n".join(lines), 16)
    assert compared is not None
    assert names(compared)[0] == "accelerator-fault"


@thorough
@each("message", sampled(messages(), len(messages()) // 4))
def test_a_message_of_the_catalog_is_found_with_its_cause(message: Message) -> None:
    compared = read(PAIR, f"h:1:2 [0] NCCL WARN {message.words.replace('*', ' 7 ')} 7", 16)
    assert compared is not None
    assert message.cause in names(compared)
