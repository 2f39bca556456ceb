"""`nvidia-smi topo -m` and `nvidia-smi nvlink -s`: the links between the GPUs and NICs of a node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from clusterspec.exchange.import_result import (
    LONGEST_LINE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
)
from clusterspec.exchange.machines.links import NodeLinks, record_links, set_product
from clusterspec.records import dataclass, field

# `nvidia-smi topo -m`: the matrix of links between GPUs and NICs, as printed or as a Markdown table.
#
# Grammar (nvidia-smi, "topo --matrix"): a header of device names, then ``CPU Affinity``, ``NUMA Affinity`` and
# ``GPU NUMA ID``; a row for each device; a legend of NIC names. ``NV#`` is a bonded set of # NVLinks

NVIDIA_SMI_TOPO = "nvidia-smi-topo"
_GPU = re.compile(r"GPU[0-9]+")
_NIC = re.compile(
    r"NIC[0-9]+|(mlx|bnxt_re|cxi|efa|hfi1_|irdma|rdmap|ibp|roce|hns_|ionic_|erdma_|hsn|bond|ens|enp|eth)\S{0,40}"
)
_CELL = re.compile(r"X|NV[0-9]{1,3}|SYS|NODE|PHB|PXB|PIX|PSB|SOC|N/A|OK|NS|DIS|DR|GNS|CNS|TNS|U")
_STATUSES = frozenset({"X", "OK", "NS", "GNS", "CNS", "TNS", "DR", "U"})
"""Cells of `nvidia-smi topo -p2p`, whose matrix states whether peers may access each other but not the path."""
_DIAGONAL = re.compile(r"[\s|`*>]{0,40}GPU0[\s|*]{1,40}X(?![A-Za-z])")
"""The first row of a matrix."""
_LINKS = re.compile(r"NV([0-9]{1,3})")
_LEGEND = re.compile(r"\s*(NIC[0-9]+):\s*(\S+)\s*$")
_LISTED = re.compile(r"\s{0,40}GPU \d{1,3}: ((?:NVIDIA|Tesla|Quadro) [^(\n]{2,80}?)(?:\s*\(UUID|$)")
"""A GPU in the output of ``nvidia-smi -L``, which is often printed together with the matrix."""
_UNDERLINE = re.compile(r"(?:\x1b|\ufffd)\[\d{0,3}m")
_PCIE_LEGEND = re.compile(r"^[ \t]{0,20}PIX[ \t]{1,20}= Connection", re.MULTILINE)
_LINK_LEGEND = re.compile(r"^[ \t]{0,20}NV#[ \t]{1,20}= Connection", re.MULTILINE)
"""The entry for NVLinks in a legend, which explains all cells that may occur; `nvidia-smi topo -mp` (PCIe only) does
not print it.
"""
_NO_LINKS = "states the peer access of `nvidia-smi topo -p2p`, and no links: import `nvidia-smi topo -m`"
MOST_MATRICES = 100
NEAR = {"PIX", "PXB", "PSB"}
"""Matrix cells that mean a GPU and a NIC share PCIe switches; such a NIC belongs to the scale-out fabric."""


@dataclass(frozen=True)
class Matrix:
    """A topology matrix: devices, the cell of each pair, the NUMA node of each device, and the line of the header."""

    line: int
    devices: tuple[str, ...]
    cells: dict[tuple[str, str], str]
    numa: dict[str, str]

    @property
    def accelerators(self) -> tuple[str, ...]:
        return tuple(device for device in self.devices if _GPU.fullmatch(device))

    @property
    def states_access_only(self) -> bool:
        return len(self.devices) > 1 and set(self.cells.values()) <= _STATUSES

    @property
    def nics(self) -> tuple[str, ...]:
        return tuple(device for device in self.devices if not _GPU.fullmatch(device))


def matches_nvidia_smi_topo(file: InputFile) -> bool:
    lines = [_UNDERLINE.sub("", line[:LONGEST_LINE]) for line in file.text.split("\n") if "GPU" in line[:LONGEST_LINE]]
    if "between two GPUs" in file.text and not any(_DIAGONAL.match(line) for line in lines):
        return False  # tables of rocm-smi, whose diagonal is zero
    return any(_header_cells(line) for line in lines)


def read_nvidia_smi_topo(file: InputFile) -> ImportResult:
    """The node of a matrix. Raises `FormatError` if there is none, several differ, or one is truncated."""
    matrices = list(_matrices(file.lines))
    if not matrices:
        raise FormatError("has no matrix of GPUs as `nvidia-smi topo -m` prints it")
    matrices = [each for each in matrices if not each.states_access_only]
    if not matrices:
        raise FormatError(_NO_LINKS)
    matrix = _chosen_matrix(matrices, file.part)
    builder = ImportBuilder(NVIDIA_SMI_TOPO, file.name)
    _record_matrix(matrix, builder, _leaves_links_out(file.text))
    for number, line in enumerate(file.lines, 1):
        if (match := _LEGEND.match(line)) and match[1] in matrix.nics:
            builder.count(match[1], match[2], number)
    listed = {match[1].strip(): number for number, line in enumerate(file.lines, 1) if (match := _LISTED.match(line))}
    if len(listed) == 1 and not any(each.path == ("cluster", "accelerator") for each in builder.given):
        ((product, number),) = listed.items()
        set_product(product, builder, number)
    return builder.reading()


def _leaves_links_out(text: str) -> bool:
    """Whether the legends of a file explain paths over PCIe but not NVLink, as `nvidia-smi topo -mp` prints them."""
    return bool(_PCIE_LEGEND.search(text)) and not _LINK_LEGEND.search(text)


def _chosen_matrix(matrices: list[Matrix], part: int | None) -> Matrix:
    first = matrices[0]
    if part is None and all((each.devices, each.cells) == (first.devices, first.cells) for each in matrices):
        return first
    places = ", ".join(f"{each.line} ({len(each.accelerators)} GPUs)" for each in matrices)
    counted = f"{len(matrices)} matrices"
    return chosen_part(matrices, part, counted, f"holds {counted} that differ, on lines {places}")


def _header_cells(line: str) -> list[str]:
    """The cells of a header line; empty if the line is not a header."""
    cells = _line_cells(line)
    devices = [cell for cell in cells if _GPU.fullmatch(cell) or _NIC.fullmatch(cell)]
    if not devices or not _GPU.fullmatch(devices[0]) or (cells and _CELL.fullmatch(cells[-1])):
        return []
    first = next(cell for cell in cells if cell)
    named = first == devices[0] or "Affinity" in line
    return cells if named and not any(_CELL.fullmatch(cell) for cell in cells if cell) else []


def _line_cells(line: str) -> list[str]:
    """The cells of a line, separated by vertical bars in Markdown, else by white space."""
    if line.lstrip().startswith("|"):
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    return line.split()


def _matrices(lines: tuple[str, ...]) -> Iterator[Matrix]:
    number = found = 0
    while number < len(lines):
        header = _header_cells(lines[number]) if "GPU" in lines[number] else []
        number += 1
        if header:
            matrix = _matrix_at(lines, number, header)
            if matrix is not None:
                found += 1
                if found > MOST_MATRICES:
                    raise FormatError(f"has more than {MOST_MATRICES} matrices", number)
                yield matrix


def _matrix_at(lines: tuple[str, ...], start: int, header: list[str]) -> Matrix | None:
    """The matrix whose header is on line ``start``."""
    devices = tuple(cell for cell in header if _GPU.fullmatch(cell) or _NIC.fullmatch(cell))
    cells: dict[tuple[str, str], str] = {}
    numa: dict[str, str] = {}
    left = list(devices)
    for number, line in enumerate(lines[start:], start + 1):
        row = _line_cells(line)
        at = next((k for k, cell in enumerate(row) if cell in left), None)
        if at is None or (at > 0 and not line.lstrip().startswith("|")):
            if row and not set(line) <= set("|-: "):
                break
            continue
        _add_row(row, at, devices, cells, number)
        _add_affinity(row, at, len(devices), header, numa)
        left.remove(row[at])
        if not left:
            break
    if len(left) == len(devices):
        return None
    if left:
        raise FormatError(f"the matrix has no row for {', '.join(left[:4])}: it is truncated", start)
    return Matrix(start, devices + _devices_below(lines[number:], devices, cells), cells, numa)


def _devices_below(
    lines: tuple[str, ...], devices: tuple[str, ...], cells: dict[tuple[str, str], str]
) -> tuple[str, ...]:
    """The NICs with a row below a matrix that lacks the columns of the NICs. Their cells are stored in both orders."""
    found: list[str] = []
    for line in lines:
        row = _line_cells(line)
        values = row[1 : 1 + len(devices)]
        if not row or row[0] in devices or not _NIC.fullmatch(row[0]) or len(values) < len(devices):
            break
        if not all(_CELL.fullmatch(value) for value in values):
            break
        found.append(row[0])
        for other, value in zip(devices, values, strict=True):
            cells[row[0], other] = cells[other, row[0]] = value
    return tuple(found)


def _add_row(row: list[str], at: int, devices: tuple[str, ...], cells: dict[tuple[str, str], str], line: int) -> None:
    values = row[at + 1 : at + 1 + len(devices)]
    if len(values) < len(devices) or not all(_CELL.fullmatch(value) for value in values):
        found = sum(1 for value in values if _CELL.fullmatch(value))
        raise FormatError(
            f"the row of {row[at]} has {found} of {len(devices)} cells: it is truncated or not a matrix", line
        )
    for other, value in zip(devices, values, strict=True):
        cells[row[at], other] = value


def _add_affinity(row: list[str], at: int, width: int, header: list[str], numa: dict[str, str]) -> None:
    """Record the NUMA node of a row: the second column after the matrix, or before it in some tables."""
    affinity = row[at + 1 + width :] if at == 0 or len(row) > at + 1 + width else row[:at]
    if len(affinity) >= 2 and re.fullmatch(r"[0-9]+(-[0-9]+)?", affinity[1]):
        numa[row[at]] = affinity[1]


def _record_matrix(matrix: Matrix, builder: ImportBuilder, pcie_only: bool) -> None:
    accelerators, line = matrix.accelerators, matrix.line
    builder.count("accelerators", len(accelerators), line)
    builder.count("nics", len(matrix.nics), line)
    numbers = [name.removeprefix("GPU") for name in accelerators]
    _set_count(numbers, builder, line)
    pairs = {
        pair: int(match[1])
        for pair, cell in matrix.cells.items()
        if (match := _LINKS.fullmatch(cell)) and pair[0] in accelerators and pair[1] in accelerators
    }
    uneven = next((pair for pair, count in pairs.items() if pairs.get(pair[::-1]) != count), None)
    if uneven:
        raise FormatError(f"{uneven[0]} and {uneven[1]} do not show the same links in both rows", line)
    if pcie_only and not pairs:
        why = "the matrix leaves NVLinks out, as its legend shows (topo -mp): import `nvidia-smi topo -m`"
        builder.unknown("cluster.scale_up", why, line)
    else:
        record_links(NodeLinks(accelerators, pairs), builder, line)
    nodes = {matrix.numa[each] for each in accelerators if each in matrix.numa}
    if nodes:
        builder.count("numa_nodes", len(nodes), line)
    _record_nics(matrix, builder)


def _set_count(numbers: Sequence[str], builder: ImportBuilder, line: int) -> None:
    """Set the number of accelerators per node, unless their numbers show that the list is incomplete."""
    last = max((int(number) for number in numbers if number.isdecimal()), default=0)
    if last < len(numbers):
        builder.set("cluster.accelerators_per_node", len(numbers), line)
    else:
        why = f"GPU {last} is the last of {len(numbers)} listed: others of the node are left out"
        builder.unknown("cluster.accelerators_per_node", why, line)


def _record_nics(matrix: Matrix, builder: ImportBuilder) -> None:
    """Record NICs on the PCIe switch of an accelerator as scale-out NICs. For other NICs the network is unknown."""
    near = [nic for nic in matrix.nics if any(matrix.cells[gpu, nic] in NEAR for gpu in matrix.accelerators)]
    if near:
        builder.count("rail_nics", len(near), matrix.line)
        builder.set("cluster.scale_out.nics_per_node", len(near), matrix.line)
    far = [nic for nic in matrix.nics if nic not in near]
    if far:
        why = "they share no PCIe switch with an accelerator: their network is not stated"
        builder.unknown(f"{len(far)} NICs ({', '.join(far[:8])})", why, matrix.line)


# `nvidia-smi nvlink -s`: the NVLinks of each GPU with their speed, and inactive links.
#
# Speeds are raw signaling of one direction of one link (26.562 GB/s on NVLink 4), not the payload of data sheets

NVIDIA_SMI_NVLINK = "nvidia-smi-nvlink"
_GPU_HEAD = re.compile(r"GPU\s+([0-9]{1,3}):(.*)")
_LINK = re.compile(r"\s*Link\s+([0-9]{1,3}):\s*+(.+)")
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)\s*GB/s")


@dataclass
class Gpu:
    """A GPU with the speed of each active link in GB/s, and the numbers of inactive links."""

    number: int
    name: str
    line: int
    speeds: list[float] = field(default_factory=list)
    inactive: list[str] = field(default_factory=list)


def matches_nvidia_smi_nvlink(file: InputFile) -> bool:
    return bool(
        re.search(r"^GPU\s+[0-9]+:", file.head, re.MULTILINE) and re.search(r"^[ \t]*Link [0-9]+:", file.head, re.M)
    )


def read_nvidia_smi_nvlink(file: InputFile) -> ImportResult:
    """The GPUs and their links. Raises `FormatError` if there are none."""
    builder, gpus = ImportBuilder(NVIDIA_SMI_NVLINK, file.name), list[Gpu]()
    for number, line in enumerate(file.lines, 1):
        if match := _GPU_HEAD.match(line):
            gpus.append(Gpu(int(match[1]), match[2].partition("(UUID:")[0].strip(), number))
        elif (match := _LINK.match(line)) and gpus:
            if speed := _SPEED.search(match[2]):
                gpus[-1].speeds.append(float(speed[1]))
            else:
                gpus[-1].inactive.append(match[1])
    if not gpus:
        raise FormatError("names no GPU with links")
    _record_gpus(gpus, builder)
    return builder.reading()


def _record_gpus(gpus: list[Gpu], builder: ImportBuilder) -> None:
    line = gpus[0].line
    builder.count("accelerators", len(gpus), line)
    _set_count([str(gpu.number) for gpu in gpus], builder, line)
    names = Counter(gpu.name for gpu in gpus)
    if len(names) == 1 and gpus[0].name:
        set_product(gpus[0].name, builder, line)
    counts = {len(gpu.speeds) for gpu in gpus}
    builder.count(
        "links_per_accelerator", counts.pop() if len(counts) == 1 else f"{min(counts)} to {max(counts)}", line
    )
    speeds = {speed for gpu in gpus for speed in gpu.speeds}
    if len(speeds) == 1:
        builder.count("link_signalling_rate_each_way", f"{speeds.pop():g} GB/s", line)
    elif speeds:
        builder.unknown(
            "link speeds", f"links of different speed: {', '.join(f'{each:g}' for each in sorted(speeds))} GB/s"
        )
    for gpu in gpus:
        if gpu.inactive:
            what = f"{len(gpu.inactive)} inactive links of GPU {gpu.number} ({', '.join(gpu.inactive[:18])})"
            builder.unknown(what, "not counted; `nvidia-smi nvlink -e` shows their errors", gpu.line)
