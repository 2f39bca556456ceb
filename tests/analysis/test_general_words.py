"""Errors in words that no known program is listed with: the cause by an object and what happened to it."""

from __future__ import annotations

import pytest

from clusterspec.logs.general_words import GENERAL
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read

LINES = (
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
    ("ERROR: could not lock memory; check ulimit -l", "locked-memory"),
    ("omegaconf.errors.ConfigAttributeError: Key 'foo' is not in struct", "invalid-setting"),
    ("yaml.scanner.ScannerError: mapping values are not allowed here", "invalid-setting"),
    ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "invalid-setting"),
    ("RuntimeError: no network interface named eth9", "wrong-interface"),
    ("ERROR: interface ib0 has no IP address", "wrong-interface"),
    ("RuntimeError: CUDA error: operation failed due to a previous error during capture", "program-error"),
)


@pytest.mark.parametrize(("line", "cause"), LINES)
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
    ],
)
def test_a_line_about_the_object_alone_tells_nothing(line: str) -> None:
    assert read(PAIR, line, 16) is None


def test_every_cause_of_a_pair_of_words_has_a_line() -> None:
    assert {cause for cause, _ in GENERAL} == {cause for _, cause in LINES}
