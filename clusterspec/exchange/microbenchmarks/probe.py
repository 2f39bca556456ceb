"""Timed calls on the local accelerator, with PyTorch if installed: matrix products, attention, copies.

The module has not run on a device yet. It outputs samples as data, which `samples` reads.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any

from clusterspec.exchange.microbenchmarks.samples import VERSION

ROWS = (1, 16, 64, 256, 512, 1024, 2048, 4096, 8192)
"""Rows of the GEMMs: tokens of one call."""
SHAPES = ((4096, 4096), (8192, 8192), (16384, 4096), (4096, 16384))
"""Columns and depth of the products, as in layers of models with 7 to 70 billion parameters."""
PROMPTS = (512, 1024, 2048, 4096, 8192, 16384)
HEADS, WIDTH = 32, 128
COPIES = (2**26, 2**28, 2**30)
WARM_UP, REPEATS = 5, 20
LAUNCHES = 1000


class NoDeviceError(Exception):
    """Raised, with the reason, if nothing can be measured here."""


def samples_of_device(today: date) -> dict[str, Any]:
    """The samples of the first accelerator that PyTorch finds. Raises `NoDeviceError`."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise NoDeviceError("PyTorch is not installed in this environment; `--from FILE` reads samples") from None
    if not torch.cuda.is_available():
        raise NoDeviceError("PyTorch finds no accelerator; `--from FILE` reads samples of another machine")
    device = torch.device("cuda", 0)
    runtime = torch.version.cuda or torch.version.hip or ""
    return {
        "clusterspec_samples": VERSION,
        "device": torch.cuda.get_device_name(device),
        "software": {"torch": torch.__version__, "runtime": runtime},
        "date": today.isoformat(),
        "samples": list(_samples(torch, device)),
    }


def _samples(torch: Any, device: Any) -> Iterator[dict[str, Any]]:
    for columns, depth in SHAPES:
        for rows in ROWS:
            left = torch.randn(rows, depth, device=device, dtype=torch.bfloat16)
            right = torch.randn(depth, columns, device=device, dtype=torch.bfloat16)
            seconds = _call_seconds(torch, partial(torch.matmul, left, right))
            yield {"kernel": "gemm", "precision": "bf16", "m": rows, "n": columns, "k": depth, "seconds": seconds}
    attend = torch.nn.functional.scaled_dot_product_attention
    for tokens in PROMPTS:
        each = torch.randn(1, HEADS, tokens, WIDTH, device=device, dtype=torch.bfloat16)
        seconds = _call_seconds(torch, partial(attend, each, each, each, is_causal=True))
        yield {"kernel": "attention", "tokens": tokens, "heads": HEADS, "width": WIDTH, "seconds": seconds}
    for size in COPIES:
        source = torch.empty(size, dtype=torch.uint8, device=device)
        target = torch.empty_like(source)
        seconds = _call_seconds(torch, partial(target.copy_, source))
        yield {"kernel": "copy", "bytes": size, "seconds": seconds}
    yield {"kernel": "launch", "seconds": [_launch_seconds(torch, device) for _ in range(REPEATS)]}


def _call_seconds(torch: Any, call: Callable[[], Any]) -> list[float]:
    """Seconds of each call on the device, measured between events, after some calls that are not timed."""
    for _ in range(WARM_UP):
        call()
    pairs = []
    for _ in range(REPEATS):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        pairs.append((first, last))
    torch.cuda.synchronize()
    return [first.elapsed_time(last) / 1e3 for first, last in pairs]


def _launch_seconds(torch: Any, device: Any) -> float:
    """Seconds of the host per call of a kernel that does almost nothing."""
    one = torch.zeros(1, device=device)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        one.add_(1)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / LAUNCHES
