"""Causes that an event of a host, a device or a scheduler explains, and reasons of the system in messages."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.error_reasons import cause_of_reason
from clusterspec.analysis.diagnosis.explained_causes import EXPLAINED, with_explained_last
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STRONG, WEAK
from clusterspec.results.diagnosis import Cause
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read

UNANSWERED = (
    "n7:1:2 [3] transport/net_ib.cc:2360 NCCL WARN NET/IB: Got completion from peer 10.0.0.3<5> with status=12 "
    "opcode=1 len=0 vendor err 129 (Send) hca mlx5_3"
)
LIMIT = "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***"


def _cause(name: str, line: int, weight: float) -> Cause:
    return Cause(name, f"line {line} of the log: said", "", weight)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize(
    ("event", "cause"),
    [
        ("[ 9.1] mlx5_core 0000:5e:00.0 ibp94s0: Link down", "unstable-link"),
        ("[ 9.1] mlx5_core 0000:5e:00.0: print_health_info:424: synd 0x1: firmware internal error", "nic-fault"),
        ("[ 9.1] NVRM: Xid (PCI:0000:9d:00): 79, pid=1, GPU has fallen off the bus.", "accelerator-fault"),
        ("[ 9.1] EDAC MC3: 1 UE memory read error on CPU_SrcID#1", "host-fault"),
        ("[ 9.1] Out of memory: Killed process 4242 (python) total-vm:1kB, anon-rss:2kB", "host-memory-full"),
        ("[ 9.1] nfs: server 10.1.1.1 not responding, timed out", "storage-fault"),
        ("slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***", "job-ended"),
    ],
)
def test_an_event_precedes_what_its_peers_report(event: str, cause: str, in_order: bool) -> None:
    lines = (event, UNANSWERED) if in_order else (UNANSWERED, event)
    compared = read(PAIR, "\n".join(lines), 16)
    assert compared is not None and names(compared)[0] == cause
    reported = [each.weight for each in compared.causes if each.name == "unreachable-peer"]
    assert all(weight <= GIVEN for weight in reported)


def test_a_device_that_another_process_holds_explains_that_none_is_found() -> None:
    """Published: jax-ml/jax issue 22070."""
    found = "A Google TPU may be present on this machine, but either a TPU-enabled jaxlib or libtpu is not installed."
    held = "Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 7."
    compared = read(PAIR, f"{held}\n{found}", 16)
    assert compared is not None and names(compared)[0] == "shared-accelerator"
    compared = read(PAIR, found, 16)
    assert compared is not None and names(compared)[0] == "missing-accelerator"


def test_without_an_event_the_report_of_a_peer_is_the_cause() -> None:
    compared = read(PAIR, UNANSWERED, 16)
    assert compared is not None and names(compared)[0] == "unreachable-peer"


@pytest.mark.parametrize(
    ("event", "reported", "weight"),
    [
        (_cause("unstable-link", 1, STRONG), _cause("unreachable-peer", 2, STATED), GIVEN),
        (_cause("unstable-link", 1, GIVEN), _cause("unreachable-peer", 2, STATED), STATED),  # not stated itself
        (_cause("unstable-link", 2, STATED), _cause("unreachable-peer", 2, STATED), STATED),  # two readings of a line
        (_cause("unstable-link", 1, STATED), _cause("memory-full", 2, STATED), STATED),
        (_cause("library-release", 1, STATED), _cause("unreachable-peer", 2, STATED), STATED),
        (_cause("host-fault", 1, STATED), _cause("peer-ended", 2, WEAK), WEAK),
    ],
)
def test_only_a_stated_event_on_a_line_of_its_own_explains(event: Cause, reported: Cause, weight: float) -> None:
    for found in ((event, reported), (reported, event)):
        by_name = {each.name: each.weight for each in with_explained_last(found)}
        assert by_name == {event.name: event.weight, reported.name: weight}


def test_no_two_events_explain_each_other() -> None:
    assert not any(name in EXPLAINED.get(other, ()) for name, others in EXPLAINED.items() for other in others)


@pytest.mark.parametrize(
    ("end", "cause"),
    [("exitcode  : -6 (pid: 9)", "program-fault"), ("  exitcode  : -9 (pid: 9)", "host-memory-full")],
)
def test_ends_after_the_scheduler_ended_the_job_follow_from_it(end: str, cause: str) -> None:
    report = f"[0]:\n  rank      : 2 (local_rank: 2)\n{end}\n"
    after, before = read(PAIR, f"{LIMIT}\n{report}", 16), read(PAIR, f"{report}{LIMIT}", 16)
    assert after is not None and before is not None
    assert names(after)[0] == "job-ended"
    assert names(before)[0] == cause


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "slurmstepd: error: couldn't chdir to `/home/a/run': Permission denied: going to /tmp instead",
            "file-permission",
        ),
        (
            "slurmstepd: error: couldn't chdir to `/data/run': No such file or directory: going to /tmp",
            "unshared-files",
        ),
        (
            "slurmstepd: error: pyxis: [ERROR] mkdir: cannot create directory '/run/enroot': No space left",
            "invalid-setting",
        ),
        (
            "slurmstepd: error: pyxis: [ERROR] mkdir: cannot create directory '/run/enroot': No space left on device",
            "storage-full",
        ),
        ("botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: x", "outside-server"),
        (
            "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries "
            "exceeded with url: /x (Caused by NewConnectionError: [Errno 101] Network is unreachable)",
            "outside-server",
        ),
    ],
)
def test_the_reason_of_the_system_tells_the_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None and names(compared)[0] == cause


@pytest.mark.parametrize(
    ("cause", "tells", "text"),
    [
        ("accelerator-fault", "may", "cannot read the fault: Permission denied"),  # an object of its own
        ("invalid-setting", "states", "cannot open the file: Permission denied"),
        ("invalid-setting", "may", "cannot open /dev/nvidia0: Permission denied"),
        ("invalid-setting", "may", "cannot open /dev/shm/a: No space left on device"),
        ("invalid-setting", "may", "cannot open the file"),
    ],
)
def test_other_messages_keep_their_cause(cause: str, tells: str, text: str) -> None:
    assert cause_of_reason(cause, tells, text) == ""
