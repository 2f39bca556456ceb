"""Causes of messages that were drawn blind from threads and from documents of libraries, each with its address.

Of the 31 of the first draw (2026-11-25), 18 causes were named first and eight logs refused before anything was changed;
of the 25 of the second, drawn after the first was mended, eleven first (one as none of the known) and eight refused.
"""

from __future__ import annotations

import pytest

from clusterspec.analysis.device_steps import STEPS, WORDS
from clusterspec.analysis.stated_causes import STOPS, UNFINISHED_STOPS
from tests.analysis.test_diagnosis import names
from tests.analysis.test_drawn_threads import Thread
from tests.analysis.test_program_lines import PAIR, read

NRT = "aws-neuron/aws-neuron-sdk/blob/81ce03ae/neuron-runtime/nrt-troubleshoot.rst"
HPE = "HewlettPackard/shs-docs/tree/ef07c6c"
GCP = "GoogleCloudPlatform/cluster-toolkit/blob/10470803/docs/slurm-troubleshooting.md"
FIRST = (
    Thread(
        "rapidsai/ucx-py/pull/667",
        "[1.2] [h:3:0] ucp_context.c:9 UCX  ERROR UCX_SOCKADDR_CM_ENABLE is set to yes but none of the available",
        "invalid-setting",
    ),
    Thread(
        "openucx/ucx/issues/8746",
        "[1.2] [h:3:0] ib_log.c:9  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory. Please set max "
        "locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)",
        "locked-memory",
    ),
    Thread(
        "rwth-i6/returnn/issues/1500",
        "[ +0.1] pcieport 0000:00:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:00:03.0",
        "accelerator-fault",
    ),
    Thread(
        "aws-samples/aws-do-eks/pull/54",
        "NET/OFI No eligible providers were found\nNET/Socket : Using [0]e0:10.0.0.1<0> [1]link0:169.254.1.2<0>\n"
        "socketPollConnect: connect to 169.254.1.2<9> returned Connection refused, retrying (1/34)",
        "wrong-interface",
    ),
    Thread(
        "awslabs/awsome-distributed-ai/issues/203",
        "register_rail_mr_buffer:9 NCCL WARN NET/OFI Unable to register memory (type = 2) for device 4. RC: -22, Error",
        "plugin-mismatch",
    ),
    Thread("pytorch/examples/issues/540", "ValueError: host not found: Name or service not known", "name-resolution"),
    Thread("ROCm/rccl-tests/issues/16", "Test HIP failure common.cu:9 'hipErrorInvalidDevice'", "missing-accelerator"),
    Thread(
        "ROCm/legacy-rocm-build/issues/1080",
        "hsa api call failure at: /a/rocminfo/rocminfo.cc:9\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The",
        "missing-accelerator",
    ),
    Thread(
        "aws/aws-parallelcluster/issues/1150",
        "Jun 17 20:18:08 h kernel: INFO: task a.out:7 blocked for more than 120 seconds.",
        "storage-fault",
    ),
    Thread(
        "fgci-org/ansible-role-cuda/issues/3",
        "Jul  8 15:11:23 gpu slurmd[5]: fatal: can't stat gres.conf file /dev//nvidia0: No such file or directory",
        "missing-accelerator",
    ),
    Thread(
        "NVIDIA/Megatron-LM/issues/1355",
        "FileNotFoundError: [Errno 2] No such file or directory: '/a/cache/GPTDataset_indices/6d-train-index.npy'",
        "unshared-files",
    ),
    Thread("NVIDIA/pyxis/issues/47", "no CUDA-capable device is detected", "missing-accelerator"),
    Thread(
        "jax-ml/jax/issues/35905",
        "DEADLINE_EXCEEDED: Deadline Exceeded\nRPC: /tensorflow.CoordinationService/RegisterTask",
        "unreachable-peer",
    ),
    Thread(
        "guilbaults/infiniband-exporter/issues/12",
        "GUID 0x1 port ALL: [LinkDownedCounter == 25 (25.000)] [PortRcvErrors == 26 (26.000)]",
        "unstable-link",
    ),
    Thread(f"{NRT}#L153", "NEFF version mismatch supported: 1.1 received: 2.0", "library-release"),
    Thread(f"{NRT}#L240", "Uncorrectable memory error is detected on Neuron device: 5:1", "accelerator-fault"),
    Thread(f"{NRT}#L283", "Could not open the nd1", "missing-accelerator"),
    Thread(f"{NRT}#L605", "Timeout waiting for RX (waited 120 sec) - retrying", "ranks-diverge"),
    Thread(f"{NRT}#L638", "RX, connection closed by remote peer", "peer-ended"),
    Thread(f"{NRT}#L677", "No interface found in the same subnet as remote address fe80::1<9>", "wrong-interface"),
    Thread(f"{HPE}/failed_to_allocate_LNI.md", "Failed to allocate LNI: Key has been revoked", "invalid-setting"),
    Thread(
        f"{HPE}/Common_CXI_core_error_messages.md",
        "cxi_ss1 0000:41:00.0: cxi0[hsn0]: C_EC_TRNSNT_NS: C1_HNI_PML error: pcs_link_down (48)",
        "unstable-link",
    ),
    # the second draw
    Thread("NVIDIA/pyxis/issues/53", "error: pyxis:     Write failed because No space left on device", "storage-full"),
    Thread(
        "NVIDIA/pyxis/issues/4",
        "[2019-09-24T10:10:06] [321.0] error: pyxis: couldn't mkdir /run/pyxis/1: No such file or directory",
        "invalid-setting",
    ),
    Thread(
        "openucx/ucx/issues/9908",
        "[1.4] [g:1:0] sock.c:3 UCX ERROR connect(fd=8, dest_addr=172.17.0.1:4) failed: Connection refused",
        "wrong-interface",
    ),
    Thread(
        "NVIDIA/TensorRT-LLM/issues/5950",
        "RuntimeError: Executor creation failed due to insufficient GPU memory.",
        "memory-full",
    ),
    Thread(
        "AI-Hypercomputer/maxtext/blob/e591f30c/docs/guides/monitoring_and_debugging/megascale_hang_playbook.md#L37",
        "Megascale detects a hang that is likely caused by inconsistent HLO module compilation across workers. This",
        "ranks-diverge",
    ),
    Thread(
        "AI-Hypercomputer/maxtext/blob/e591f30c/docs/guides/monitoring_and_debugging/megascale_hang_playbook.md#L57",
        "Megascale detects a hang that is likely caused by bad TPU chips on the following hosts.",
        "accelerator-fault",
    ),
    Thread(
        "GiuseppeTT/jobset/blob/073f169/site/content/en/docs/troubleshooting/_index.md#L111",
        'admission webhook "v.kb.io" denied the request: follower pod node selector not set',
        "absent-ranks",
    ),
    Thread(
        "aws-neuron/aws-neuron-sdk/blob/81ce03ae/deploy/troubleshooting.rst#L64",
        "ERROR   NRT:nrt_allocate_neuron_cores               Neuron cores are not contiguous",
        "invalid-setting",
    ),
    Thread(f"{HPE}/Unexpected_event_type.md", "event RC != RC_OK: CANCELED", "unreachable-peer"),
    Thread(f"{HPE}/GPU_libraries.md", "Failed to init GPU lib: Operation not permitted", "library-release"),
    Thread(
        "aws/aws-ofi-nccl/issues/346",
        "libfabric:4:1::efa:cq:efa_rdm_txe_handle_error():7<warn> err: 5, message: Invalid address My EFA addr: fi_a",
        "unreachable-peer",
    ),
    Thread(f"{GCP}#L41", "resume.py ERROR: ... Quota 'C2_CPUS' exceeded. Limit: 300.0 in region e.", "absent-ranks"),
    Thread(f"{GCP}#L65", "bulkInsert operation errors: VM_MIN_COUNT_NOT_REACHED", "absent-ranks"),
)
NAMED = (
    Thread(
        "pytorch/gloo/issues/147",
        "wc->status == IBV_WC_SUCCESS. 5 vs 0. Send for slot 0: Work Request Flushed Error",
        "unreachable-peer",
    ),
)


@pytest.mark.parametrize("thread", FIRST, ids=lambda each: each.address)
def test_the_cause_that_a_document_states_is_named_first(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None
    assert names(compared)[0] == thread.cause


@pytest.mark.parametrize("thread", NAMED, ids=lambda each: each.address)
def test_the_cause_that_a_document_states_is_named(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None
    assert thread.cause in names(compared)


def test_an_error_that_its_document_calls_harmless_has_no_cause() -> None:
    line = "[9.1] efa 0000:a0:1a.0 rdmap160s26: Failed to process command {} (opcode 8) comp_status 7 err -22"
    assert read(PAIR, line.format("DEREG_MR"), 16) is None
    compared = read(PAIR, line.format("CREATE_QP"), 16)
    assert compared is not None and names(compared)[0] == "nic-fault"


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
