"""Lines of messages that documents explain, and those of `stated_causes.csv`: harmless errors, and next steps in the
tools of the vendor that a line names.
"""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.device_steps import STEPS, WORDS
from clusterspec.analysis.diagnosis.stated_causes import STOPS, UNFINISHED_STOPS
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling


def test_an_error_that_its_document_calls_harmless_has_no_cause() -> None:
    line = "[9.1] efa 0000:a0:1a.0 rdmap160s26: Failed to process command {} (opcode 8) comp_status 7 err -22"
    assert read(PAIR, line.format("DEREG_MR"), 16) is None
    compared = read(PAIR, line.format("CREATE_QP"), 16)
    assert compared is not None and names(compared)[0] == "nic-fault"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('Error.  nthreads cannot be larger than environment variable "NUMEXPR_MAX_THREADS" (64)', None),
        ("Failed to inspect checkpoint in /a/checkpoints: /a/checkpoints is not a MLM or NeMo checkpoint", None),
        (
            "/a/import_utils.py:32: UserWarning: Failed to import plugin: ImportError('peft>=0.17 is required')",
            None,
        ),
        ("ImportError: peft>=0.17.0 is required for a normal functioning of this module", "library-release"),
    ],
)
def test_a_warning_of_python_and_what_a_program_goes_on_after_have_no_cause(line: str, cause: str | None) -> None:
    compared = read(PAIR, line, 16)
    assert (names(compared)[0] if compared else None) == cause


@pytest.mark.parametrize(
    ("line", "cause", "tool"),
    [
        ("NeuronCore(s) not available - Requested:nc1-nc1 Available:0", "shared-accelerator", "neuron-ls"),
        ("NRT:nrt_init  Unable to determine Neuron Driver version.", "driver-release", "aws-neuronx-dkms"),
        ("Could not open the nd1", "missing-accelerator", "/dev/neuron*"),
        ("RuntimeError: No HIP GPUs are available", "missing-accelerator", "/dev/kfd"),
        ("RuntimeError: No CUDA GPUs are available", "missing-accelerator", "nvidia-smi -L"),
        ("No TPU Platform available.", "missing-accelerator", "/dev/accel*"),
    ],
)
def test_the_next_step_is_in_the_tools_of_the_vendor_that_the_line_names(line: str, cause: str, tool: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    first = compared.causes[0]
    assert first.name == cause and tool in first.next
    assert "CUDA_VISIBLE_DEVICES" not in first.next


def test_the_next_step_is_in_the_tools_of_the_cluster_where_the_line_names_no_vendor() -> None:
    line = "rank 3 of 16 ranks has already checked in"
    trainium = read("{platform: aws-trn1-32xlarge, nodes: 2}", line, 64)
    assert trainium is not None and "NEURON_RT_VISIBLE_CORES" in trainium.causes[0].next
    nvidia = read(PAIR, line, 16)
    assert nvidia is not None and "CUDA_VISIBLE_DEVICES" in nvidia.causes[0].next


def test_every_step_of_a_vendor_is_of_a_known_vendor_and_cause() -> None:
    vendors = {vendor for vendor, _ in WORDS}
    assert set(STEPS) < vendors
    assert {cause for steps in STEPS.values() for cause in steps} <= {*STOPS, *UNFINISHED_STOPS}


WEBHOOK = 'Error from server (InternalError): failed calling webhook "a.b.io": failed to call webhook'


@telling(2)
@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("Error: cuInit(0) returned 802", "fabric-manager"),
        ("Error: cuInit failed: 803", "driver-release"),
        ("Error: cuInit(0) failed with error code 100", "missing-accelerator"),
        ("Error: cuInit(0) returned after 802 ms", None),
        ("error: inotify_add_watch: no space left on device", "file-limit"),
        ("error: write: no space left on device", "storage-full"),
        (f"{WEBHOOK}: dial tcp 10.0.0.1:443: connect: connection refused", "stopped-service"),
        ("error: dial tcp 10.0.0.1:443: connect: connection refused", "unreachable-peer"),
        (
            "failed to connect to the docker API at unix:///var/run/docker.sock: check if it is running",
            "stopped-service",
        ),
        ('error: connect to "/run/a.socket": Resource temporarily unavailable', "stopped-service"),
        ("error: fork: Resource temporarily unavailable", "process-limit"),
        ('Error from server: admission webhook "a.b.io" denied the request: only one allowed', "invalid-setting"),
        (
            'Failed to pull image "a": code = NotFound desc = failed to resolve reference "a": not found',
            "outside-server",
        ),
        ("error: failed to resolve n1: no such host", "name-resolution"),
        ("Failed to initialize NVML: Driver / library version mismatch", "driver-release"),
        ("ERROR: failed to create directory /a/b: no such file or directory", "unshared-files"),
        ("ERROR: failed to create directory /a/b: File exists", None),
        ("ValueError: --dir must be an absolute path", "invalid-setting"),
        ("e is needed, which is larger than the available KV cache memory (4.25 GiB)", "kv-cache-full"),
        ("ERROR   NRT:nrt_allocate_tensor_set   Incompatible runtime state: NRT_STATE_CHILD", "program-error"),
        ("[2026-01-01 00:00:01] Ray cluster status: 1/2 nodes alive.\nCluster is NOT ready.", "absent-ranks"),
        ("[2026-01-01 00:00:01] Ray cluster status: 2/2 nodes alive.\nCluster is ready.", None),
        ("ERROR pulling kv_caches for ['a'] failed: Timeout waiting for P side ready.", "unreachable-peer"),
        ("ERROR pulling images for ['a'] failed: timed out", "outside-server"),
        ("Warning FailedScheduling 9s scheduler 0/3 nodes are available: 3 Insufficient cpu.", "absent-ranks"),
        ("Warning FailedScheduling 9s scheduler AssumePod failed: pod a is in the cache", "stopped-service"),
        ("error: nvidia-container-cli: ldcache error: process /sbin/ldconfig failed: 1", "library-release"),
        ("RuntimeError: extensions are compiled with a version of Cuda that does not match", "library-release"),
        ("RuntimeError: A is only supported on CUDA 11 and above", "library-release"),
        ("RuntimeError: A is only supported on CUDA tensors", None),
        ("Fatal Python error: Bus error", "shared-memory"),
        ("[rank1]:[W1 a.cpp:9] [c10d] waitForInput: socket SocketImpl(fd=7) timed out after 9ms", "ranks-diverge"),
        ("etcd.EtcdConnectionFailed: No more machines in the cluster", "stopped-service"),
        ("error: Invalid server type (4) requested to generate controller.", "invalid-setting"),
        ('error: LoadConf(): failed to get VF information: "lstat /a/physfn/net"', "invalid-setting"),
    ],
)
def test_what_a_line_says_decides_between_causes_of_the_same_words(line: str, cause: str | None) -> None:
    compared = read(PAIR, line, 16)
    found = names(compared) if compared else []
    assert (found[0] if found else None) == cause
