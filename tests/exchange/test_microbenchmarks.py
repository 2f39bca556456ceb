"""Samples of micro-benchmarks: what is read, what is refused, and the kernel table that is made of them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import date
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.company import entry_problems
from clusterspec.catalog.entries import Accelerator, Kernels
from clusterspec.cli import run
from clusterspec.document import parse
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.microbenchmarks import probe
from clusterspec.exchange.microbenchmarks.samples import Samples, points, read_samples, table_text
from clusterspec.source import Source


def accelerator(name: str) -> Accelerator:
    entry = Catalog.open().get("accelerator", name)
    assert isinstance(entry, Accelerator)
    return entry


H100 = accelerator("h100-sxm-80gb")
FLOOR, READ, REACHED = 4e-6, 3e12, 0.7 * 989.4e12
"""Seconds of the smallest product, B/s at which products of few rows read, FLOP/s of products of many."""
UNEVEN = (0.98, *18 * (1.0,), 9.0)
"""Calls relative to their median; the last one was disturbed."""


def recorded() -> dict[str, Any]:
    """The samples of a device with these rates, in the form that the probe writes."""
    samples: list[dict[str, Any]] = []
    for m in probe.ROWS:
        for n, k in probe.SHAPES:
            moved = 2 * (m * k + k * n + m * n)
            seconds = FLOOR + moved / READ if m <= 64 else 2 * m * n * k / REACHED
            calls = [seconds * each for each in UNEVEN]
            samples.append({"kernel": "gemm", "precision": "bf16", "m": m, "n": n, "k": k, "seconds": calls})
    attention = {"kernel": "attention", "tokens": 2048, "heads": 32, "width": 128}
    samples.append({**attention, "seconds": [2 * 2048**2 * 32 * 128 / 400e12] * 5})
    samples.append({"kernel": "copy", "bytes": 2**30, "seconds": [2**31 / 2.8e12] * 5})
    samples.append({"kernel": "launch", "seconds": [2e-6, 2e-6, 2e-6, 3e-6, 4e-6]})
    software = {"torch": "2.9.0", "runtime": "12.8"}
    return {
        "clusterspec_samples": 1,
        "device": "NVIDIA H100 80GB HBM3",
        "software": software,
        "date": "2026-11-21",
        "samples": samples,
    }


def read(changed: dict[str, Any] | None = None) -> Samples:
    return read_samples(json.dumps(recorded() | (changed or {})))


def test_figures_of_a_device_are_found_again_from_its_samples() -> None:
    """By hand: 0.7 of the peak; 4 us; 3 of 3.352 TB/s; 400 of 989.4 TFLOP/s. One disturbed call moves no median."""
    found = {each.name: each.value for each in points(read(), H100)}
    peak, memory = H100.peaks["bf16"].value, H100.memory_bandwidth
    assert memory is not None
    assert float(found["matmul.bf16"]) == pytest.approx(REACHED / peak, rel=2e-3)
    assert float(found["gemm.bf16.1024"]) == pytest.approx(REACHED / peak, rel=2e-3)
    assert found["gemm.bf16.floor"] == "4 us"
    assert float(found["gemm.bf16.stream"]) == pytest.approx(READ / memory.value, rel=2e-3)
    assert float(found["attention.prefill.2048"]) == pytest.approx(400e12 / peak, rel=2e-3)
    assert [str(each) for each in read().uneven] == ["launch"]


def test_the_table_is_an_entry_whose_measured_figures_name_this_run(tmp_path: Path) -> None:
    file = tmp_path / "samples.json"
    file.write_text(json.dumps(recorded()), "utf-8")
    assert run(["measure", H100.id, "--from", str(file), "--into", str(tmp_path)]) == 0
    text = (tmp_path / "kernels" / "hopper.yaml").read_text("utf-8")
    document, _ = parse(Source("hopper.yaml", text))
    assert document is not None
    assert entry_problems(document, "kernels", "hopper") == []
    mine, shipped = (each.get("kernels", "hopper") for each in (Catalog.open([tmp_path]), Catalog.open()))
    assert isinstance(mine, Kernels)
    assert isinstance(shipped, Kernels)
    assert "clusterspec measure on NVIDIA H100" in str(mine.achievable["gemm.bf16.1024"].origin)
    assert mine.achievable["gemm.fp8.1024"] == shipped.achievable["gemm.fp8.1024"]
    assert set(mine.achievable) >= set(shipped.achievable)


def test_a_figure_that_the_shipped_table_lacks_is_added() -> None:
    text = table_text("sources:\nsource: aic\nachievable:\n  matmul.bf16: {is: 0.8}\n", read(), points(read(), H100))
    assert text.count("matmul.bf16: ") == 1
    assert "  gemm.bf16.8192: {is: 0.7, of: peak.bf16, source: here" in text


REFUSED = {
    "is not JSON": "{",
    "no file of": "{}",
    "has the date `tomorrow`": json.dumps(recorded() | {"date": "tomorrow"}),
    "sample 1: the kernel is not one of": json.dumps(recorded() | {"samples": [{"kernel": "magic"}]}),
    "sample 1: `bytes` is `0`": json.dumps(recorded() | {"samples": [{"kernel": "copy", "bytes": 0}]}),
    "fewer than 5 `seconds`": json.dumps(recorded() | {"samples": [{"kernel": "launch", "seconds": [1e-6]}]}),
    "not a time above zero": json.dumps(recorded() | {"samples": [{"kernel": "launch", "seconds": [1e-6] * 4 + [-1]}]}),
}


@pytest.mark.parametrize("why", REFUSED)
def test_samples_that_say_nothing_are_refused_with_their_place(why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read_samples(REFUSED[why])


def test_a_device_faster_than_the_named_accelerator_is_another_one() -> None:
    """Up to 1.05 of a peak is clocks and rounding: 1.049 of bf16 is taken, 1.051 is another device."""
    for share in (1.049, 1.051):
        size, peak = 8192, H100.peaks["bf16"].value
        calls = [2 * size**3 / peak / share] * 5
        row = {"kernel": "gemm", "precision": "bf16", "m": size, "n": size, "k": size, "seconds": calls}
        if share < 1.05:
            assert {each.name: each.value for each in points(read({"samples": [row]}), H100)} == {
                "matmul.bf16": "1.05",
                "gemm.bf16.8192": "1.05",
            }
        else:
            with pytest.raises(FormatError, match=r"gemm bf16 8,192 × 8,192 × 8,192 is 1\.05 times as fast"):
                points(read({"samples": [row]}), H100)
    with pytest.raises(FormatError, match="times as fast as a100-sxm-80gb can be"):
        points(read(), accelerator("a100-sxm-80gb"))


def test_without_pytorch_or_an_accelerator_nothing_is_measured() -> None:
    with pytest.raises(probe.NoDeviceError, match="PyTorch"):
        probe.samples_of_device(date(2026, 11, 21))


class Event:
    """A point of a stream of the device, whose clock goes on by 2 ms with each call."""

    def __init__(self, device: Device, *, enable_timing: bool) -> None:
        assert enable_timing
        self.device, self.at = device, -1

    def record(self) -> None:
        self.at = self.device.calls

    def elapsed_time(self, other: Event) -> float:
        assert self.device.calls == self.device.waited_for, "read before the device is done"
        return 2.0 * (other.at - self.at)


class Device:
    """What the probe uses of PyTorch: it counts calls, allocates nothing, and knows the shapes of products."""

    __version__ = "2.9"
    uint8 = bfloat16 = None

    def __init__(self, *, found: bool, hip: str | None = None) -> None:
        self.calls, self.waited_for, self.products = 0, -1, Counter[tuple[int, ...]]()
        self.cuda = SimpleNamespace(
            is_available=lambda: found,
            get_device_name=lambda device: f"part {device}",
            Event=partial(Event, self),
            synchronize=self.wait,
        )
        self.version = SimpleNamespace(cuda=None if hip else "12.9", hip=hip)
        self.nn = SimpleNamespace(functional=SimpleNamespace(scaled_dot_product_attention=self.call))

    def wait(self) -> None:
        self.waited_for = self.calls

    def device(self, kind: str, number: int) -> str:
        return f"{kind}:{number}"

    def randn(self, *sizes: int, **_: object) -> tuple[int, ...]:
        return sizes

    def call(self, *_: object, **__: object) -> None:
        self.calls += 1

    def matmul(self, left: tuple[int, int], right: tuple[int, int]) -> None:
        assert left[1] == right[0]
        self.products[left[0], right[1], left[1]] += 1
        self.call()

    def empty(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(copy_=self.call)

    def empty_like(self, other: SimpleNamespace) -> SimpleNamespace:
        return other

    def zeros(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(add_=self.call)


def test_each_call_is_timed_twenty_times_after_five_that_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Device(found=True)
    monkeypatch.setitem(sys.modules, "torch", torch)
    found = probe.samples_of_device(date(2026, 11, 21))
    assert (found["device"], found["date"]) == ("part cuda:0", "2026-11-21")
    assert found["software"] == {"torch": "2.9", "runtime": "12.9"}
    kernels = Counter(each["kernel"] for each in found["samples"])
    assert kernels == {"gemm": 9 * 4, "attention": 6, "copy": 3, "launch": 1}
    timed = [each["seconds"] for each in found["samples"] if each["kernel"] != "launch"]
    assert timed == [[0.002] * 20] * 45
    assert set(torch.products.values()) == {5 + 20} and (16, 16384, 4096) in torch.products
    (launch,) = [each["seconds"] for each in found["samples"] if each["kernel"] == "launch"]
    assert len(launch) == 20 and torch.calls == 45 * 25 + 20 * 1000
    gemms = [(each["m"], each["n"], each["k"]) for each in found["samples"] if each["kernel"] == "gemm"]
    assert gemms == [*torch.products]


def test_the_runtime_is_that_of_the_build_and_no_device_measures_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for torch in (Device(found=True, hip="7.0"), Device(found=False)):
        monkeypatch.setitem(sys.modules, "torch", torch)
        if torch.cuda.is_available():
            assert probe.samples_of_device(date(2026, 11, 21))["software"]["runtime"] == "7.0"
        else:
            with pytest.raises(probe.NoDeviceError, match="finds no accelerator"):
                probe.samples_of_device(date(2026, 11, 21))


def test_the_product_name_of_the_device_tells_its_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "samples.json"
    file.write_text(json.dumps(recorded()), "utf-8")
    tables = []
    for words in ((), (H100.id,)):
        assert run(["measure", *words, "--from", str(file)]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1] != ""
    file.write_text(json.dumps(recorded() | {"device": "an unknown part"}), "utf-8")
    assert run(["measure", "--from", str(file)]) == 2
    assert "name its id" in capsys.readouterr().err
