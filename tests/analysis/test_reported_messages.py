"""Messages of training programs, engines, launchers, tools and drivers: the cause that each group names first."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling

TORCH = (
    ("torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed.", "peer-ended"),
    ("torch.distributed.DistNetworkError: failed to recv, got 0 bytes", "peer-ended"),
    ("[PG 0 Rank 1] Observed flight recorder dump signal from another rank via TCPStore.", "ranks-diverge"),
    ("[PG 0 Rank 1] Received a dump signal due to a collective timeout from rank 7 and we will", "ranks-diverge"),
    ("ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in", "ranks-diverge"),
    ("CollectiveFingerPrint(), but Rank 1 is running collective: CollectiveFingerPrint(Seq", "ranks-diverge"),
    ("W0102 api.py:7] Received Signals.SIGTERM death signal, shutting down workers", "job-ended"),
    ("W0102 api.py:8] Sending process 12 closing signal SIGTERM", "peer-ended"),
    ("torch.distributed.elastic.rendezvous.api.RendezvousClosedError", "peer-ended"),
    ("The rendezvous 'job7' is closed, terminating pending rendezvous.", "peer-ended"),
    (
        "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
        "operations might run on corrupted/incomplete data.",
        "ranks-diverge",
    ),
    ("ProcessExitedException: process 0 terminated with signal SIGKILL", "host-memory-full"),
    ("ProcessExitedException: process 0 terminated with signal SIGSEGV", "program-fault"),
    ("ProcessExitedException: process 0 terminated with signal SIGBUS", "shared-memory"),
    ("ProcessExitedException: process 0 terminated with signal SIGTERM", "job-ended"),
    ("[WARNING] Terminating process 11979 via signal SIGTERM", "peer-ended"),
    ("This may indicate a possible application crash on rank 0 or a network set up issue.", "peer-ended"),
    ("RuntimeError: Distributed package doesn't have NCCL built in", "library-release"),
    ("AssertionError: Torch not compiled with CUDA enabled", "library-release"),
    ("ROCk module is NOT loaded, possibly no GPU devices", "missing-accelerator"),
)
TRAINING = (
    ("Exception: Current loss scale already at minimum - cannot decrease scale anymore.", "non-finite-values"),
    ("Unexpected result nan (message='found NaN in local forward loss calculation')", "non-finite-values"),
    ("found Inf in local grad norm for bucket #3 in backward pass before", "non-finite-values"),
    (" iteration 9/ 20 | number of skipped iterations: 0 | number of nan iterations:   2 |", "non-finite-values"),
    ("Loss is nan, stopping training", "non-finite-values"),  # pytorch/vision issue 1631
    ("Rank 3, node n1, device 3, iteration 17: Possible transient error!", "accelerator-fault"),
    ("Rank 3, node n1, device 3, iteration 17: Possible persistent error!", "accelerator-fault"),
    ("ValueError: No slot '8' specified on host 'n2'", "invalid-setting"),
    ("CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.4 does not", "library-release"),
    ("The following tasks are unhealthy (stopped sending heartbeats):\n/job:jax_worker/task:3", "peer-ended"),
    ("E0926 coordination_service_agent.cc:3] Polled an error from coordination service (", "peer-ended"),
)
ENGINES = (
    ("RuntimeError: Engine core initialization failed. See root cause above.", "peer-ended"),
    ("EngineDeadError: EngineCore encountered an issue. See stack trace (above)", "peer-ended"),
    ("Exception: WorkerProc initialization failed due to an exception in a background process.", "peer-ended"),
    ("TimeoutError: RPC call to execute_model timed out.", "ranks-diverge"),
    ("RuntimeError: NIXL is not available", "library-release"),
    ("E nixl_plugin_manager.cpp:115] Plugin API version mismatch for /x.so: expected 1, got 2", "library-release"),
    ("nixlRemoteDisconnectError: NIXL_ERR_REMOTE_DISCONNECT", "peer-ended"),
    ("P2P backend could not connect to IP 10.0.0.2 and port 8888", "unreachable-peer"),
    ("KVTransferError: Request 9 timed out after 300.0s in KVPoll.Bootstrapping", "unreachable-peer"),
    ("Lost connection with prefill instance (bootstrap_addr: 10.0.0.2:8998), 3 requests affected", "peer-ended"),
    ("KVTransferError(bootstrap_room=16): Failed due to an unknown reason from another rank", "peer-ended"),
    ("TimeoutError: Timed out waiting for engine core processes to start.", "absent-ranks"),
    ("RuntimeError: Failed to infer device type, please set", "missing-accelerator"),
    ("RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied", "shared-accelerator"),
    ("RuntimeError: Decode out of memory. Try to lower your batch size.", "kv-cache-full"),
)
LAUNCHERS = (
    ("mpirun noticed that process rank 3 with PID 7 on node n2 exited on\nsignal 9 (Killed).", "host-memory-full"),
    ("prun noticed that process rank 3 with PID 7 on node n2 exited on\nsignal 11 (Segmentation", "program-fault"),
    ("prun noticed that process rank 3 with PID 7 on node n2 exited on\nsignal 15 (Terminated).", "job-ended"),
    ("prun noticed that process rank 3 with PID 7 on node n2 exited on\nsignal 7 (Bus error).", "shared-memory"),
    ("WARNING: An invalid value was given for btl_tcp_if_include.  This", "wrong-interface"),
    ("No usable network interfaces were found on this host, so no TCP", "wrong-interface"),
    ("slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***", "job-ended"),
    ("error: *** JOB 12 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE to SIGNAL Terminated ***", "job-ended"),
    ("error: *** STEP 12.0 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TASK FAILURE ***", "peer-ended"),
    (
        "srun: error: Task launch for StepId=12.0 failed on node n1: Communication connection failure",
        "unreachable-peer",
    ),
    ("slurmstepd: error: couldn't chdir to `/a/b': No such file or directory: going to /tmp instead", "unshared-files"),
    ("MPI_ERR_TRUNCATE: message truncated", "ranks-diverge"),
    ("PRTE was unable to reliably start one or more daemons.", "remote-login"),
)
DEVICES = (
    ("Detected 2 volatile double-bit ECC error(s) in GPU 3.", "accelerator-fault"),
    ("GPU 3's NvLink link 7 is currently down", "accelerator-fault"),
    ("Detected 12 replay NvLink errors on GPU 3's NVLink (should be 0)", "accelerator-fault"),
    ("GPU 3 had uncorrectable memory errors and row remapping failed.", "accelerator-fault"),
    ("Detected clocks event due to thermal violation in GPU 3.", "throttled-clocks"),
    ("GPU 3 is running at PCI link width 8X, which is below the minimum", "wrong-pcie-generation"),
    ("[9.1] mlx5_core 0000:1a:00.0: Port module event: module 0, Cable unplugged", "unstable-link"),
    ("[9.1] mlx5_core 0000:1a:00.0: health_care:350:(pid 9): handling bad device here", "nic-fault"),
    ("     rx_prio3_buf_discard: 4711", "packet-loss"),
    ("     link_down_events_phy: 4", "unstable-link"),
    ("     rx_crc_errors_phy: 4711", "unstable-link"),
)


@telling(2)
@pytest.mark.parametrize(("line", "cause"), (*TORCH, *TRAINING, *ENGINES, *LAUNCHERS, *DEVICES))
def test_a_message_names_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == cause, [(each.name, each.weight) for each in compared.causes]


@pytest.mark.parametrize(
    "line",
    [
        " iteration 9/ 20 | number of skipped iterations: 0 | number of nan iterations:   0 |",
        "[9.1] mlx5_core 0000:1a:00.0: Port module event: module 0, Cable plugged",
        "     link_down_events_phy: 0",
        "     rx_prio3_buf_discard: 0",
        "     rx_prio3_pause: 99999",
        "     np_cnp_sent: 99999",
        "[PG 0 Rank 1] ProcessGroupNCCL initialization options: size: 16, timeout(ms): 600000",
        "INFO NIXL is available",
        "INFO Loaded plugin UCX, API version 1",
    ],
)
def test_a_healthy_line_states_nothing(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not compared.causes


ENDS = (
    "torch.distributed.DistNetworkError: failed to recv, got 0 bytes",
    "RuntimeError: Engine core initialization failed. See root cause above.",
    "W0102 api.py:8] Sending process 12 closing signal SIGTERM",
    "error: *** STEP 12.0 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TASK FAILURE ***",
)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("before", "cause"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total", "memory-full"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "accelerator-fault"),
        ("OSError: [Errno 28] No space left on device", "storage-full"),
    ],
)
def test_a_reported_end_never_hides_the_error_before_it(before: str, cause: str, end: str) -> None:
    compared = read(PAIR, f"{before}\n{end}", 16)
    assert compared is not None
    assert names(compared)[0] == cause


@pytest.mark.parametrize("end", ENDS)
def test_an_error_before_a_reported_end_is_named_where_its_cause_is_unknown(end: str) -> None:
    compared = read(PAIR, f"KeyError: 'foo'\n{end}", 16)
    assert compared is not None
    assert compared.causes == () and compared.error == "line 1: KeyError: 'foo'"


@pytest.mark.parametrize("end", ENDS)
def test_an_error_after_a_reported_end_is_no_cause_of_it(end: str) -> None:
    compared = read(PAIR, f"{end}\nKeyError: 'foo'", 16)
    assert compared is not None
    assert names(compared)[0] == "peer-ended" and not compared.error
