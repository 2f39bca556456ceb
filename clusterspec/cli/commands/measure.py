"""``clusterspec measure``: kernels of the accelerator at hand, timed with PyTorch, as a kernel table of the catalog."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from clusterspec import resources
from clusterspec.catalog import BrokenEntry, UnknownEntry
from clusterspec.catalog.entries import Accelerator
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.choices import chosen_config, current_date, opened_catalog
from clusterspec.cli.inputs import read_bytes
from clusterspec.cli.options import path
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.exchange.import_result import LARGEST, FormatError
from clusterspec.exchange.microbenchmarks.samples import WIDEST, Samples, points, read_samples, table_text


def describe_measure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `measure` to its parser."""
    parser.add_argument(
        "accelerator",
        metavar="ACCELERATOR",
        nargs="?",
        help="the accelerator at hand, by its id in the catalog (default: that of its product name)",
    )
    parser.add_argument(
        "--from",
        dest="read",
        metavar="FILE",
        type=path,
        help="read the samples of an earlier run instead of the device",
    )
    parser.add_argument("--samples", metavar="FILE", type=path, help="also write the time of every call, as JSON")
    parser.add_argument(
        "--into", metavar="FOLDER", type=path, help="write the table to this catalog folder instead of printing it"
    )


def run_measure(args: argparse.Namespace) -> int:
    """Print or write the kernel table. Raises `UsageFault` where nothing can be measured or the samples do not fit."""
    chip = _measured_accelerator(args, args.accelerator) if args.accelerator else None
    shipped = _kernel_table(chip) if chip else None
    text = _samples_text(args)
    try:
        samples = read_samples(text)
        if chip is None or shipped is None:
            chip = _measured_accelerator(args, _id_of_device(samples.device))
            shipped = _kernel_table(chip)
        table = table_text(shipped.read_text("utf-8"), samples, points(samples, chip))
    except FormatError as why:
        raise UsageFault(f"{args.read or 'the samples'}: {why}") from None
    if args.samples:
        write_whole(Path(args.samples), text.encode())
    if args.into:
        target = Path(args.into) / "kernels" / f"{chip.kernels}.yaml"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, table.encode())
        print_text(f"{target}\n")
    else:
        print_text(table)
    _print_unmeasured_kernels(samples, chip)
    return OK


def _id_of_device(device: str) -> str:
    """The id of an accelerator by the product name of its driver. Raises `UsageFault` for an unknown name."""
    from clusterspec.exchange.machines.links import accelerator_of_product

    found = accelerator_of_product(device)
    if found is None:
        raise UsageFault(f"no accelerator of the catalog has the product name {device!r}: name its id")
    return found


def _kernel_table(chip: Accelerator) -> Path:
    """The shipped kernel table of an accelerator. Raises `UsageFault` if there is none."""
    shipped = resources.catalog() / "kernels" / f"{chip.kernels}.yaml"
    if chip.kernels is None or not shipped.is_file():
        raise UsageFault(f"the catalog has no kernel table for {chip.id} whose figures could be replaced")
    return shipped


def _measured_accelerator(args: argparse.Namespace, id_: str) -> Accelerator:
    catalog = opened_catalog(args, chosen_config(args, Path.cwd()))
    try:
        entry = catalog.get("accelerator", id_)
    except (UnknownEntry, BrokenEntry) as fault:
        raise UsageFault(str(fault)) from None
    assert isinstance(entry, Accelerator)
    return entry


def _samples_text(args: argparse.Namespace) -> str:
    if args.read:
        return read_bytes(args.read, LARGEST).decode("utf-8", "replace")
    from clusterspec.exchange.microbenchmarks.probe import NoDeviceError, samples_of_device

    try:
        return json.dumps(samples_of_device(current_date(args)), indent=1) + "\n"
    except NoDeviceError as why:
        raise UsageFault(str(why)) from None


def _print_unmeasured_kernels(samples: Samples, chip: Accelerator) -> None:
    """List samples that no kernel table holds: copy bandwidth, launch time, and kinds whose calls differ."""
    copies = [each for each in samples.kinds if each.kernel == "copy"]
    if copies and chip.memory_bandwidth is not None:
        rate = max(2 * each.sizes["bytes"] / each.seconds for each in copies)
        share = rate / chip.memory_bandwidth.value
        print_error(f"clusterspec: copies reach {rate / 1e9:,.0f} GB/s, {share:.0%} of the memory bandwidth")
    for each in samples.kinds:
        if each.kernel == "launch":
            print_error(f"clusterspec: the host takes {1e6 * each.seconds:.2f} us for each launch")
    for each in samples.uneven:
        print_error(f"clusterspec: calls of {each} differ by {each.spread:.0%}, more than {WIDEST:.0%}; measure again")
