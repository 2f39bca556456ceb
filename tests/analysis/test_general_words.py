"""Errors in words that no known program is listed with: the cause by an object and what happened to it."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.general_words import GENERAL
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling

LINES = (
    ("E1128 10:00:00.123456 1 a.cpp:9] protocol=nvlink requires USE_NVLINK=ON, rebuild it", "library-release"),
    ("RuntimeError: this library was not compiled with that backend", "library-release"),
    ("E1128 10:00:00.123456 1 a.cpp:9] ratio must be between 0.0 and 1.0", "invalid-setting"),
    ("[error] could not start metrics server on port 9400: port is taken", "port-in-use"),
    ("RuntimeError: Failed to open listening socket on port 29500", "port-in-use"),
    ("ERROR: unable to listen on 0.0.0.0:8080", "port-in-use"),
    ("fatal: kernel driver not running", "driver-release"),
    ("RuntimeError: amdgpu driver initialization failed", "driver-release"),
    ("RuntimeError: Failed to allocate 12.5 GiB on GPU 3", "memory-full"),
    ("ERROR: device memory allocation of 1048576 bytes failed", "memory-full"),
    ("hipMalloc failed: not enough memory", "memory-full"),
    ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 64.0 GiB for an array", "host-memory-full"),
    ("MemoryError", "host-memory-full"),
    ("Error: process killed because the container exceeded its memory limit", "host-memory-full"),
    ("RuntimeError: failed to allocate pinned host memory of 4 GB", "host-memory-full"),
    ("ERROR: timed out waiting for 3 of 8 workers to register", "absent-ranks"),
    ("RuntimeError: only 6 of 8 ranks joined the barrier before the timeout", "absent-ranks"),
    ("TimeoutError: waiting for all nodes to connect timed out after 600 s", "absent-ranks"),
    ("EOFError: Ran out of input", "storage-fault"),
    ("pickle.UnpicklingError: invalid load key, '<'.", "storage-fault"),
    ("huggingface_hub.errors.GatedRepoError: 401 Client Error.", "outside-server"),
    ("requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://a/b", "outside-server"),
    ("requests.exceptions.SSLError: HTTPSConnectionPool(host='a', port=443): Max retries exceeded", "outside-server"),
    ("Error: nodes run different versions of the runtime: 2.3.0 and 2.4.1", "mixed-releases"),
    ("ERROR: port 5 of switch sw1 is flapping", "unstable-link"),
    ("ibwarn: [123] link error recovery exceeded threshold on mlx5_0", "unstable-link"),
    ("RuntimeError: loss is NaN at iteration 300", "non-finite-values"),
    ("ERROR: found Inf in gradients of rank 3", "non-finite-values"),
    ("RuntimeError: Detected mismatch between collectives on ranks.", "ranks-diverge"),
    ("ERROR: rank 3 is in all_reduce while rank 0 is in broadcast", "ranks-diverge"),
    ("ERROR: connection to rank 3 at 10.0.0.3 refused", "unreachable-peer"),
    ("Error: could not reach peer 10.0.0.3 over RDMA", "unreachable-peer"),
    ("ERROR: lost connection to worker 3", "peer-ended"),
    ("RuntimeError: expected 8 GPUs but found 7", "missing-accelerator"),
    ("ERROR: GPU 3 is lost", "accelerator-fault"),
    ("ERROR: NPU 2 health check failed", "accelerator-fault"),
    ("RuntimeError: the current device does not support bfloat16.", "unsupported-accelerator"),
    ("ERROR: could not lock memory; check ulimit -l", "locked-memory"),
    ("omegaconf.errors.ConfigAttributeError: Key 'foo' is not in struct", "invalid-setting"),
    ("yaml.scanner.ScannerError: mapping values are not allowed here", "invalid-setting"),
    ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "invalid-setting"),
    ("RuntimeError: no network interface named eth9", "wrong-interface"),
    ("ERROR: interface ib0 has no IP address", "wrong-interface"),
    ("RuntimeError: CUDA error: operation failed due to a previous error during capture", "program-error"),
)
OTHER_WORDS = (
    # what may not be done is no memory that is full
    ("error: insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES envvar", "container-permission"),
    ("ERROR: failed to initialize NVML: Insufficient Permissions", "container-permission"),
    ("ERROR: cannot write /data/a: insufficient permissions", "file-permission"),
    ("RuntimeError: insufficient GPU memory for 4 copies", "memory-full"),
    ("srun: fatal: SLURM_GPUS_PER_TASK is mutually exclusive with --ntasks-per-gpu", "invalid-setting"),
    # programs that a shell does not find, and what a build lacks
    ("sh: 1: nvcc: not found", "library-release"),
    ("./bootstrap: 3: autoreconf: not found", "library-release"),
    ("configure: error: MPI compiler requested, but could not use MPI.", "library-release"),
    # locks of files
    ("filelock._error.Timeout: The file lock '/nfs/c/x.lock' could not be acquired.", "storage-fault"),
    ("lmdb.LockError: mdb_txn_begin: Resource temporarily unavailable", "storage-fault"),
    ("ERROR: could not acquire file lock on /mnt/nfs/hf/.lock: Operation not supported", "storage-fault"),
    ("sqlite3.OperationalError: database is locked", "storage-fault"),
    ("file register error: GPUDirect Storage not supported on current file", "storage-fault"),
    # variables, options and counts
    ("Fatal: SLURM_JOB_NODELIST is not set in the environment", "invalid-setting"),
    ("ERROR NRT:nrt_init Requested 32 NeuronCores but only 2 are there", "missing-accelerator"),
    ("RuntimeError: Triton only support CUDA 10.0 or higher, but got CUDA version: 12.8", "library-release"),
    ("RuntimeError: Found Tesla K80 which is too old for this compiler", "unsupported-accelerator"),
    ("RuntimeError: Error: failed to launch kernel fmha_fwd_hdim128_bf16_sm100a", "unsupported-accelerator"),
    ("ValueError: no cubin for attention kernel mla_decode_sm_90a", "unsupported-accelerator"),
    ("ValueError: optimizer state saved with 8 data-parallel ranks into a run with 6", "checkpoint-mismatch"),
    # parts of libraries, and what they are written in
    ("E0000 00:00:17 1 cuda_dnn.cc:535] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR", "library-release"),
    ("IndexError: _Map_base::at", "library-release"),
    ("RuntimeError: vector::_M_range_check: __n (which is 4) >= this->size()", "library-release"),
    ("RuntimeError: UR error", "library-release"),
    ("runtime: failed to create new OS thread (have 2 already; errno=11)", "process-limit"),
    ("Error: unable to spawn a worker process, see ulimit -u", "process-limit"),
    # devices of RDMA, sockets of services, servers of clouds
    ("E0703 10:11:12.3 77 rdma_helper.cpp:405] Fail to open rdma device", "wrong-interface"),
    ("ibpanic: [77] main: can't open UMAD port ((null):0)", "wrong-interface"),
    ("[ERROR] HCCL(77,python): get device IP failed", "wrong-interface"),
    ("slurmd: error: cannot connect to /run/dbus/system_bus_socket: No such file or directory", "stopped-service"),
    # machines and quotas of clouds; a quota of storage is full
    (
        "botocore.exceptions.ClientError: An error occurred (InsufficientInstanceCapacity) when calling the "
        "RunInstances operation: We currently do not have sufficient p5.48xlarge capacity in the zone",
        "absent-ranks",
    ),
    (
        "Error: googleapi: Error 403: Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally., quotaExceeded",
        "absent-ranks",
    ),
    ("ERROR: ZONE_RESOURCE_POOL_EXHAUSTED: the zone us-central1-a has not enough resources", "absent-ranks"),
    ("(QuotaExceeded) Operation results in exceeding approved standardNDSH100v5Family Cores quota.", "absent-ranks"),
    ("Error: 500-InternalError, Out of host capacity.", "absent-ranks"),
    (
        'Error creating: pods "a-0" is forbidden: exceeded quota: b, requested: requests.nvidia.com/gpu=8, used: '
        "requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8",
        "absent-ranks",
    ),
    (
        'Error: persistentvolumeclaims "a" is forbidden: exceeded quota: b, requested: requests.storage=9Ti, used: '
        "requests.storage=1Ti, limited: requests.storage=8Ti",
        "storage-full",
    ),
    ("OSError: [Errno 122] Disk quota exceeded: '/home/u/x'", "storage-full"),
    # settings of any program, by their form
    ("sbatch: error: --ntasks-per-core (4) can not be bigger than --threads-per-core (2)", "invalid-setting"),
    ("slurmd: error: NodeNames=n1 CoreSpecCount=7 is invalid, reset to 1", "invalid-setting"),
    ("slurmctld: fatal: HealthCheckNodeState=START_ONLY cannot be combined with other options.", "invalid-setting"),
    ("slurmd: error: Invalid Port 'a'", "invalid-setting"),
    # control groups and namespaces of Linux; those of Kubernetes are settings
    ("slurmstepd: error: unable to create cgroup '/sys/fs/cgroup/a' : Permission denied", "container-permission"),
    ("[2026-11-20T10:00:00.001] error: unable to create slurm a xcgroup", "container-permission"),
    ("FATAL:   Failed to create network namespace: Operation not permitted", "container-permission"),
    ("ERROR  : Failed to enter in user namespace: Invalid argument", "container-permission"),
    ("error: namespace ml-team not found", "invalid-setting"),
    ("OSError: [Errno 13] Permission denied: '/sys/fs/a'", "file-permission"),
    # what a daemon writes is not about the daemon
    ("slurmd[77]: error: slurmd is not running", "stopped-service"),
    ("error: unable to reach slurmctld: not running", "stopped-service"),
    ("nats.js.errors.ServiceUnavailableError: nats: ServiceUnavailableError: code=None", "stopped-service"),
    ("nats.errors.NoServersError: nats: no servers available for connection", "stopped-service"),
    ("Error: etcdserver: request timed out", "stopped-service"),
    ("  what():  boost::interprocess::intermodule_singleton initialization failed", "shared-memory"),
    # devices in parts, libraries of drivers, programs that a service does not find
    ("E1120 10:00:00.000001 1 main.go:83] failed to initialize NVML: Unknown Error", "driver-release"),
    ("error: failed to reconfigure MIG mode of two devices: unknown", "missing-accelerator"),
    ("error: failed to refresh CDI cache: unknown", "missing-accelerator"),
    ("error: fork/exec /usr/bin/nvidia-container-runtime: no such file or directory: unknown", "library-release"),
    ("[ERROR] [tid 39] No matching network interface found for any IP addresses in the file", "wrong-interface"),
    ("E1120 fabric manager: connection failed", "fabric-manager"),
    (
        "botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation",
        "outside-server",
    ),
)
"""Lines whose words are of a class of other tables."""


@telling(1)
@pytest.mark.parametrize(("line", "cause"), (*LINES, *OTHER_WORDS))
def test_the_object_and_what_happened_to_it_suggest_a_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:1] == [cause]


@pytest.mark.parametrize(
    "line",
    [
        "interface ens1 has address 10.0.0.1",
        "the driver is loaded",
        "loss 2.31, gradient norm 0.4",
        "listening on port 8000",
        "8 of 8 workers joined",
        "allocated 12 GiB on GPU 3",
        "slurmd: created the cgroup of job 7",
        "IMEX daemon started, 0 errors",
        "quota: 8 of 16 GPUs used",
        "the current device supports bfloat16",
        "I1128 10:00:00.123456 1 a.cpp:9] ratio must be between 0.0 and 1.0",
        "compiled with support of NCCL",
    ],
)
def test_a_line_about_the_object_alone_tells_nothing(line: str) -> None:
    assert read(PAIR, line, 16) is None


def test_every_cause_of_a_pair_of_words_has_a_line() -> None:
    assert {cause for cause, _ in GENERAL} == {cause for _, cause in LINES}


ENDS = (
    ('Traceback (most recent call last):\n  File "/app/t.py", line 3, in f\n    g()\nKeyboardInterrupt', "job-ended"),
    ("[rank3]: SystemExit: 143", "job-ended"),
    ("ERROR shard-manager: Shard process was signaled to shutdown with signal 4 rank=0", "program-fault"),
    ("Worker 3 terminated by signal 9", "host-memory-full"),
    ("DEBUG - filelock - Lock 14 not acquired on /nfs/c/x.lock, waiting 0.05 seconds ...", "storage-fault"),
    (
        'Traceback (most recent call last):\n  File "/v/site-packages/transformer_engine/pytorch/__init__.py", '
        "line 52, in _load_library\n    so_path = next(so_dir.glob(name))\nStopIteration",
        "library-release",
    ),
)


@pytest.mark.parametrize(("text", "cause"), ENDS)
def test_the_end_of_a_program_suggests_a_cause(text: str, cause: str) -> None:
    compared = read(PAIR, text, 16)
    assert compared is not None
    assert names(compared)[:1] == [cause]


RULE = "-" * 74


def test_a_message_between_rules_is_read_as_one_sentence() -> None:
    sentence = "The value of btl_tcp_if_include was set to a nonexistent\nsubnet, which is not a valid\nsetting."
    text = f"{RULE}\n{sentence}\n{RULE}"
    compared = read(PAIR, f"{text}\nlast line", 16)
    assert compared is not None
    assert names(compared)[:1] == ["invalid-setting"]
    assert "line 2 of the log" in compared.causes[0].evidence


def test_a_note_between_rules_tells_no_error() -> None:
    text = f"{RULE}\nNOTE: operators that are not installed are\nbuilt where a program needs them.\n{RULE}\nstep 1"
    assert read(PAIR, text, 16) is None
