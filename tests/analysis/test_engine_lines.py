"""Lines of TensorRT-LLM, XLA, Kubernetes and mounts; names of statuses; a NIC that alone fails toward many peers."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling

_PEER = "unreachable-peer"
LINES = (
    ("[TensorRT-LLM][ERROR] Assertion failed: d == a + length (gptAttentionCommon.cpp:320)", "library-release"),
    ("[TensorRT-LLM][ERROR] Assertion failed: sizeof(T) <= remaining_buffer_size (x.h:6)", "library-release"),
    ("Expected length (8) != real length (9). This is often caused by using different TensorRT-LLM version to build "
     "engine and run engine.", "library-release"),
    ("[TRT] [E] The engine plan file is not compatible with this version of TensorRT, expecting 9", "library-release"),
    ("[TensorRT-LLM][ERROR] Assertion failed: Failed to deserialize cuda engine.", "library-release"),
    ("[TRT] [E] The engine plan file is generated on an incompatible device, expecting 9.0", "unsupported-accelerator"),
    ("[TensorRT-LLM][ERROR] Assertion failed: Can't allocate new blocks. No free blocks left.", "kv-cache-full"),
    ("FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above.", "memory-full"),
    ("XlaRuntimeError: INTERNAL: ptxas exited with non-zero error code 65280", "library-release"),
    ("jax.errors.JaxRuntimeError: INTERNAL: Mosaic failed to compile TPU kernel", "unsupported-accelerator"),
    ("ABORTED: /job:jax_worker/task:3 reports a different incarnation than before", "peer-ended"),
    ("NRTD response code 'NERR_RESOURCE_NC' (9) There were insufficent NCs", "missing-accelerator"),
    ("nvidia-container-cli: detection error: nvml error: unknown error", "accelerator-fault"),
    ("nvidia-container-cli: initialization error: nvml error: insufficient permissions", "container-permission"),
    ("Network plugin returns error: cni plugin not initialized", "stopped-service"),
    ("Pod ephemeral local storage usage exceeds the total limit of containers 2Gi.", "storage-full"),
    ('Usage of EmptyDir volume "dshm" exceeds the limit "1Gi".', "storage-full"),
    ("Error: couldn't find key token in Secret default/hf", "invalid-setting"),
    ("Liveness probe failed: HTTP probe failed with statuscode: 500", "invalid-setting"),
    ("Startup probe failed: WAITING_FOR_PEERS", "fabric-manager"),
    ("  Warning  Unhealthy  2m (x90 over 17m)  kubelet  Startup probe failed: NOT READY", "fabric-manager"),
    ("Startup probe failed: NOT READY after 20 s", "invalid-setting"),
    ("TopologyAffinityError: Resources cannot be allocated with Topology locality", "invalid-setting"),
    ("Allocate failed due to requested number of devices unavailable for nvidia.com/gpu.", "missing-accelerator"),
    ("ray.exceptions.ObjectStoreFullError: Failed to put object", "host-memory-full"),
    ('The autoscaler could not find a node type to satisfy the request: [{"GPU": 8.0}]', "missing-accelerator"),
    ("RuntimeError: Failed to get TPU metadata (tpu-env) from instance metadata", "stopped-service"),
    ("mount.nfs: access denied by server while mounting 10.0.0.1:/x", "storage-fault"),
    ("mount.lustre: mount 10.0.0.1@tcp:/fs at /mnt/x failed: Device or resource busy", "storage-fault"),
    ("##[error]NFS drive is not mounted; build machine not properly provisioned.", "storage-fault"),
    ("kernel: SQUASHFS error: zlib_inflate error, data probably corrupt", "storage-fault"),
    ("Exception: No node info found matching attributes: {'node_ip_address': '10.0.0.1'}", "wrong-interface"),
    # statuses by their names and texts
    ("E x.cc:7] kernel launch failed: cudaErrorLaunchTimeout", "program-fault"),
    ("CUDA driver call failed: CUDA_ERROR_DEVICE_UNAVAILABLE", "shared-accelerator"),
    ("failed to query: NVML_ERROR_RESET_REQUIRED", "accelerator-fault"),
    ("NVRM: rpcRmApiControl failed: [NV_ERR_NVLINK_FABRIC_NOT_READY] (0x81)", "fabric-manager"),
    ("Request completed with error. RC: 113. Error: Unreachable remote - never received a response", _PEER),
    ("Request completed with error. RC: 5. Error: Memory registration limit exceeded", "nic-limit"),
    ("nrt_execute status=1005 NRT_EXEC_NC_BUSY", "shared-accelerator"),
    ("synStatus=synDeviceAlreadyAcquired", "shared-accelerator"),
    ("level zero call failed: ZE_RESULT_ERROR_DEVICE_LOST", "accelerator-fault"),
)  # fmt: skip


@telling(2)
@pytest.mark.parametrize(("line", "cause"), LINES)
def test_a_line_names_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:1] == [cause]


@pytest.mark.parametrize("name", ["NVML_ERROR_IN_USER_MODE", "MY_NVML_ERROR_IN_USE", "cudaErrorLaunchTimeoutHandler"])
def test_a_name_that_contains_that_of_a_status_is_none(name: str) -> None:
    compared = read(PAIR, f"loaded the handler {name}", 16)
    assert compared is None or not compared.causes


def _failed(host: str, nic: str, peer: int, status: str = "IBV_WC_RETRY_EXC_ERR(12)") -> str:
    return (
        f"{host}:77:88 [3] NCCL WARN NET/IB: Got completion from peer 10.0.0.{peer}<5{peer}> with status={status} "
        f"opcode=SEND(0) vendor_err=129  localGid ::ffff:10.0.0.1 remoteGids::ffff:10.0.0.{peer} hca {nic}"
    )


def _named(lines: list[str]) -> list[str]:
    compared = read(PAIR, "\n".join(lines), 16)
    assert compared is not None
    return names(compared)


def test_lost_packets_of_one_nic_toward_many_peers_are_of_its_port() -> None:
    assert _named([_failed("n1", "mlx5_3", peer) for peer in (2, 3, 4)]) == [
        *("unstable-link", "nic-fault", "unreachable-peer")
    ]


def test_errors_that_one_nic_reports_of_itself_are_of_the_device() -> None:
    lines = [_failed("n1", "mlx5_3", peer, "IBV_WC_LOC_PROT_ERR(4)") for peer in (2, 3, 4)]
    assert _named(lines)[0] == "nic-fault"


@pytest.mark.parametrize(
    "lines",
    [
        [_failed("n1", "mlx5_3", peer) for peer in (2, 3)],
        [_failed("n1", nic, peer) for peer in (2, 3, 4) for nic in ("mlx5_1", "mlx5_2")],
        [_failed(host, "mlx5_3", peer) for peer in (2, 3, 4) for host in ("n1", "n5")],
        [_failed("n1", "mlx5_3", peer, "IBV_WC_WR_FLUSH_ERR(5)") for peer in (2, 3, 4)] + [_failed("n1", "mlx5_3", 2)],
    ],
    ids=["two peers", "two NICs of a host", "one NIC of two hosts", "requests that were dropped"],
)
def test_failures_of_few_peers_of_several_nics_or_of_several_hosts_are_of_no_nic(lines: list[str]) -> None:
    assert not {"nic-fault", "unstable-link"} & set(_named(lines))


def test_a_nic_of_mooncake_that_fails_toward_many_peers_is_named() -> None:
    lines = [
        f"E0619 02:47:42.4 15 worker_pool.cpp:654] Worker: Process failed for slice (opcode: 1, source_addr: 0x1, "
        f"length: 65536, dest_addr: 0x2, local_nic: mlx5_1, peer_nic: 10.0.0.{peer}:1@mlx5_1, dest_rkey: 7, "
        f"retry_cnt: 0, max_retry_cnt: 9): transport retry counter exceeded"
        for peer in (2, 3, 4)
    ]
    assert _named(lines)[0] == "unstable-link"
