"""Lines of the kernel and of the services of a host: what they mean for a run.

A log of a healthy host has many words of errors: options that a kernel lacks, units that end, users that cannot log in.
The words of `common_words` are written by programs. In a kernel line they count only if the kernel is their source; in
a line of a service that no run depends on, they do not count.
"""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.logs.text_lines import line_at

_SERVICES = (
    r"slurm\w{0,12}|srun|munged?|kube\S{0,20}|k3s|containerd|crio?|docker\w?|podman|enroot|pyxis|etcd|nvidia\S{0,24}"
    r"|nv-\S{1,24}|dcgm\S{0,16}|rocm\S{0,16}|amdgpu\S{0,8}|habana\S{0,16}|neuron\S{0,16}|opensm|openibd|ibacm"
    r"|rdma\S{0,12}|mlx\S{0,8}|lustre|lnet\S{0,8}|beegfs\S{0,12}|mmfs\S{0,8}|ceph\S{0,12}|gluster\S{0,8}|nfs\S{0,8}"
    r"|rpc\S{0,12}|mount\S{0,12}|multipathd|nvme\S{0,8}|mcelog|rasdaemon|smartd|ipmi\S{0,8}|mpi\S{0,8}|orted|prted"
    r"|ray\S{0,8}|python\S{0,8}|torchrun|vllm\S{0,8}|sglang\S{0,8}|triton\S{0,8}|gpu\S{0,12}|nccl\S{0,8}"
)
"""Services and programs that a run depends on, by the names under which they log."""
_TIME = r"(?:[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+Z-]{8,24}) \S{1,80} "
_BOOT = r"\[\s{0,8}[0-9]{1,8}\.[0-9]{6}\] "
"""How the journal and `dmesg` begin a line."""
_OF_A_SERVICE = re.compile(
    rf"^(?:{_TIME}(?!kernel: |(?:{_SERVICES})(?:\[[0-9]{{1,9}}\])?: )[^\s:\[]{{1,80}}(?:\[[0-9]{{1,9}}\])?: "
    rf"|{_BOOT}(?!(?:{_SERVICES})\[)[^\s:\[]{{1,60}}\[[0-9]{{1,9}}\]: )"
)
"""A line of another service."""
_OF_THE_KERNEL = re.compile(rf"^(?:{_TIME}kernel: |{_BOOT}(?!\[[^\s\]]{{1,80}}:[0-9]{{1,9}}\s{{0,4}}\]))")
"""A line of the kernel; UCX puts a host, a process and a thread after its time."""
OF_KERNELS = frozenset(
    {
        *("host-fault", "host-memory-full", "process-limit", "file-limit", "iommu-translation"),
        *(
            "nic-fault",
            "nic-limit",
            "unstable-link",
            "packet-loss",
            "unreachable-peer",
            "storage-fault",
            "storage-full",
        ),
    }
)
"""Causes that a kernel reports in words of its own."""
OF_DRIVERS = frozenset(
    {
        *("accelerator-fault", "driver-release", "missing-accelerator", "throttled-clocks", "program-fault"),
        *("gpudirect-refused", "peer-access-off", "shared-accelerator", "memory-full"),
    }
)
"""Messages that the driver of accelerators reports in addition to them."""
_DRIVER = re.compile(
    r"\b(?:NVRM|nvidia\S{0,20}|amdgpu|amdkfd|kfd|habanalabs|neuron|i915|xe|davinci|drv_\w{1,20})\b|GPU"
)


def is_of_a_host(line: str) -> bool:
    """Whether the kernel, or a service that no run depends on, wrote a line."""
    return _OF_A_SERVICE.match(line) is not None or _OF_THE_KERNEL.match(line) is not None


def causes_of_writer(line: str, causes: tuple[str, ...]) -> tuple[str, ...]:
    """The given causes that the writer of a line can report, of the causes that its words suggest.

    >>> causes_of_writer("[    5.281884] usb 1-1: Permission denied", ("file-permission",))
    ()
    >>> causes_of_writer("Jul  1 10:00:01 n1 systemd[1]: a.service: Failed", ("stopped-service",))
    ()
    >>> causes_of_writer("srun: error: Permission denied", ("file-permission",))
    ('file-permission',)
    """
    if _OF_A_SERVICE.match(line):
        return ()
    if not _OF_THE_KERNEL.match(line):
        return causes
    told = OF_KERNELS | OF_DRIVERS if _DRIVER.search(line) else OF_KERNELS
    return tuple(cause for cause in causes if cause in told)


_MATRIX_ROW = re.compile(
    r"^[ \t]{0,8}GPU[0-9]{1,3}[ \t]{1,12}((?:(?:X|NV[0-9]{1,3}|XGMI|PCIE|SYS|NODE|PHB|PXB|PIX)[ \t]{1,12}){2,64})",
    re.MULTILINE,
)
"""A row of the matrix of paths that `nvidia-smi topo -m` and `rocm-smi --showtopotype` print."""
_OVER_PCIE = frozenset({"SYS", "NODE", "PHB", "PXB", "PIX", "PCIE"})


def paths_over_pcie(text: str) -> tuple[str, int] | None:
    """The paths between the accelerators of a matrix in which none is a direct link, with the line of its first row.

    >>> paths_over_pcie("\\tGPU0\\tGPU1\\tNIC0\\nGPU0\\t X \\tPHB\\tPIX\\nGPU1\\tPHB\\t X \\tSYS\\n")
    ('PHB', 2)
    >>> paths_over_pcie("GPU0\\t X \\tNV12\\tPIX\\nGPU1\\tNV12\\t X \\tSYS\\n")
    """
    paths, line = _paths_of_matrix(text)
    return (", ".join(sorted(paths)), line) if paths and paths <= _OVER_PCIE else None


def direct_paths(text: str) -> tuple[str, int] | None:
    """The direct links between the accelerators of a matrix that has no other paths, with the line of its first row.

    >>> direct_paths("GPU0\\t X \\tNV12\\tPIX\\nGPU1\\tNV12\\t X \\tSYS\\n")
    ('NV12', 1)
    """
    paths, line = _paths_of_matrix(text)
    return (", ".join(sorted(paths)), line) if paths and paths.isdisjoint(_OVER_PCIE) else None


def _paths_of_matrix(text: str) -> tuple[set[str], int]:
    """The paths between the accelerators of a matrix, and the line of its first row; none of a single row."""
    rows = list(islice(_MATRIX_ROW.finditer(text) if "GPU1" in text else (), MOST_LISTED))
    if len(rows) < FEWEST_ROWS:
        return set(), 0
    paths = {cell for row in rows for cell in row[1].split()[: len(rows)]} - {"X"}
    return paths, line_at(text, rows[0].start())


FEWEST_ROWS = 2
"""Smallest number of rows of a matrix that shows how accelerators are connected."""
_LISTED_GPU = re.compile(r"^GPU [0-9]{1,3}: .{1,120}\n(?:[ \t]{1,40}Link [0-9]{1,3}: .{1,40}\n?){1,64}", re.MULTILINE)
_LISTED_LINK = re.compile(r"Link [0-9]{1,3}: (<inactive>|[0-9.]{1,9} GB/s)")
MOST_LISTED = 1_000
"""Largest number of accelerators of a listing that are compared."""


def unlike_links(text: str) -> tuple[str, int] | None:
    """An accelerator of `nvidia-smi nvlink -s` with fewer active links than another one, with its line; also a single
    one with active and inactive links. None where all have as many: boards leave links without a connection.

    Thread: Azure/azhpc-diagnostics issue 73.
    """
    listed: list[tuple[int, int, int]] = []
    for match in islice(_LISTED_GPU.finditer(text) if ": <inactive>" in text else (), MOST_LISTED):
        links = _LISTED_LINK.findall(match[0])
        listed.append((len(links) - links.count("<inactive>"), len(links), match.start()))
    most = max((each[0] for each in listed), default=0)
    active, number, start = min(listed, default=(0, 0, 0))
    if not most or active == (number if len(listed) == 1 else most):
        return None
    name = text[start : text.find(":", start)]
    compared = f"another one {most}" if len(listed) > 1 else f"it has {number}"
    return f"{name} has {active} active links, {compared}", line_at(text, start)
