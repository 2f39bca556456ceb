"""Figures that show a host as the limit of a run: decoding steps of which it launches every kernel, the governor of its
clocks, and copies between its memory and accelerators that are slow or unlike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from clusterspec.logs.text_lines import line_at, lines_of
from clusterspec.standard import DECIMAL, median

LONGEST = 1_000
"""Largest number of characters of a line that is read."""
MOST_READ = 100_000
"""Largest number of lines that are read."""
LOST = 1.5
"""The ratio of the rates of one request with and without graphs from which launches limit the steps (assumed: more
requests in a step lower the rate of each by less, as long as the weights limit it).
"""
UNLIKE = 1.5
"""The ratio of two rates of one copy from which these are unlike: links are trained once, and carry one rate."""
_STEP = re.compile(
    r"Decode batch.{0,60}?#running-req: ([0-9]{1,6}),.{0,300}?cuda graph: (True|False), "
    r"gen throughput \(token/s\): " + DECIMAL + r","
)
"""SGLang 0.4.6 to 0.5, python/sglang/srt/managers/scheduler_metrics_mixin.py."""
_ACCEPTED = re.compile(r"accept len: " + DECIMAL)
_GOVERNOR = re.compile(
    r"scaling_governor\b[^\n]{0,80}?(?::|\n)[ \t]{0,8}(powersave|ondemand|conservative)\b"
    r"|[Tt]he governor [\"'](powersave|ondemand|conservative)[\"'] may decide"
)
"""The governor of a processor's clock, as cat(1) and grep(1) of `scaling_governor` print it and cpupower(1)."""
_BOUND = re.compile(
    r"\bnumactl\b[^\n|;&]{0,80}?(?:-N|--cpunodebind[= ]|-m|--membind[= ]) {0,2}([0-9]{1,2})\b[^\n|;&]{0,60}?\s"
    r"\S{0,60}(?:bandwidthTest|nvbandwidth)\b"
)
_DEVICE = re.compile(r"^ ?Device ([0-9]{1,2}): \S", re.MULTILINE)
_MATRIX_ROW = re.compile(r"^[ \t]{0,8}GPU([0-9]{1,2})[ \t][^\n]{1,200}?\s([0-9]{1,4}-[0-9]{1,4}(?:,[0-9-]{1,24})?)\b")
"""A row of `nvidia-smi topo -m` with the processors that are near an accelerator."""
_COPY_TITLE = re.compile(r"^ ?(Host to Device|Device to Host) Bandwidth, 1 Device\(s\)")
_COPY_ROW = re.compile(r"^ {1,8}([0-9]{4,12}) {1,40}([0-9]{1,7}\.[0-9])\s*$")
"""A row of `bandwidthTest` of NVIDIA's samples: bytes and MB/s."""
_COPIES = re.compile(
    r"\b(?:mem)?cop(?:y|ies)\b|\bmemcpy\b|\b[HD]2[HD]\b|\boffload\w{0,4}\b|\b(?:host|CPU)[- ]to[- ](?:device|GPU)\b"
    r"|\b(?:device|GPU)[- ]to[- ](?:host|CPU)\b|\bpinned memory\b",
    re.IGNORECASE,
)
_HOST = re.compile(r"\b(?:host|CPU|pinned|H2D|D2H|offload\w{0,4}|socket|NUMA)\b", re.IGNORECASE)
_RANGE = re.compile(
    r"(?<![\w.])([0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?:GB/s|GBps)?(?: ?(?:-|–|~|to) ?| \S[^.;\n]{0,60}?\b(?:and|but|while"
    r"|against|vs\.?) (?:only )?)([0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?:GB/s|GBps)"
)
"""Two rates of one sentence: a range, or those of two ranks, sockets or runs."""
_VARIES = re.compile(
    r"\b(?:some|other|another|one|local|remote|var(?:y|ies|iance|ied)|between runs|fluctuat\w{1,4}|unstable)\b",
    re.IGNORECASE,
)


def ungraphed_steps(text: str) -> tuple[str, int] | None:
    """The time of decoding steps without CUDA graphs, with the line of the first; None where all have them.

    >>> log = "Decode batch. #running-req: 32, #token: 9, cuda graph: False, gen throughput (token/s): 320.0, #queue"
    >>> ungraphed_steps(log)
    ('a step of 32 requests takes 100 ms without CUDA graphs', 1)
    """
    without, with_graphs = _decoding_steps(text)
    if not without:
        return None
    shown = _shown_step(without)
    return f"{shown} without CUDA graphs{_compared(with_graphs)}", without[0][2]


def lost_graphs(text: str) -> tuple[str, int] | None:
    """The same, where a request is served far more slowly without graphs than with them; None elsewhere.

    >>> line = "Decode batch. #running-req: {}, #token: 9, cuda graph: {}, gen throughput (token/s): {}, #queue"
    >>> lost_graphs(line.format(16, True, 1600.0) + "\\n" + line.format(32, False, 640.0))[0]
    'a step of 32 requests takes 50 ms without CUDA graphs, one of 16 10 ms with them'
    >>> lost_graphs(line.format(16, True, 1600.0) + "\\n" + line.format(32, False, 2900.0))
    """
    without, with_graphs = _decoding_steps(text)
    if not without or not with_graphs or _time(without) < LOST * _time(with_graphs):
        return None
    return ungraphed_steps(text)


Steps = list[tuple[int, float, int]]
"""Requests, seconds and line of steps."""


def _decoding_steps(text: str) -> tuple[Steps, Steps]:
    """The decoding steps of a log without and with graphs. A step gives each request one token, or as many as it
    accepts of a draft.
    """
    found: dict[str, Steps] = {"False": [], "True": []}
    for number, line in enumerate(islice(lines_of(text) if "cuda graph: False" in text else (), MOST_READ), 1):
        match = _STEP.search(line[:LONGEST]) if "Decode batch" in line else None
        if match is None or float(match[3]) <= 0 or match[1] == "0":
            continue
        accepted = _ACCEPTED.search(line[:LONGEST])
        tokens = float(accepted[1]) if accepted else 1.0
        found[match[2]].append((int(match[1]), int(match[1]) * max(tokens, 1.0) / float(match[3]), number))
    return found["False"], found["True"]


def _time(steps: Sequence[tuple[int, float, int]]) -> float:
    """The median time of steps, in seconds."""
    return median(seconds for _, seconds, _ in steps)


def _shown_step(steps: Sequence[tuple[int, float, int]]) -> str:
    """The median time of steps with the requests of one, as text."""
    return (
        f"a step of {median(float(requests) for requests, _, _ in steps):g} requests takes {_time(steps) * 1e3:.3g} ms"
    )


def _compared(steps: Sequence[tuple[int, float, int]]) -> str:
    """The words that compare steps with graphs; empty without any."""
    if not steps:
        return ""
    return f", one of {median(float(requests) for requests, _, _ in steps):g} {_time(steps) * 1e3:.3g} ms with them"


def host_governor(text: str) -> tuple[str, int] | None:
    """A governor that lowers the clocks of processors between bursts of work, with its line; None without one.

    >>> host_governor("$ cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\\npowersave")
    ('scaling_governor powersave', 1)
    >>> host_governor("cpu3/cpufreq/scaling_governor:performance")
    """
    match = _GOVERNOR.search(text) if "governor" in text else None
    return (f"scaling_governor {match[1] or match[2]}", line_at(text, match.start())) if match else None


def far_copies(text: str) -> tuple[str, int] | None:
    """Copies of an accelerator that `numactl` runs on the processors of another NUMA node, with the line of the
    command; None if the matrix of paths does not show it.

    Thread: mpicbg-scicomp/gearshifft pull 82.
    """
    match = _BOUND.search(text) if "numactl" in text else None
    nodes = _nodes_of_devices(text) if match else {}
    if match is None or len(set(nodes.values())) < FEWEST_NODES:
        return None
    device = _DEVICE.search(text, match.end())
    number = int(device[1]) if device else 0
    node = nodes.get(number)
    if node is None or node == int(match[1]):
        return None
    return f"copies of GPU {number}, which is on node {node}, run on node {match[1]}", line_at(text, match.start())


FEWEST_NODES = 2
"""NUMA nodes of a machine on which copies may run on another node."""


def _nodes_of_devices(text: str) -> Mapping[int, int]:
    """The NUMA node of each accelerator of a matrix, by the processors near it: these are numbered node by node."""
    rows = [match for line in islice(lines_of(text), MOST_READ) if (match := _MATRIX_ROW.match(line[:LONGEST]))]
    firsts = sorted({int(match[2].partition("-")[0]) for match in rows})
    return {int(match[1]): firsts.index(int(match[2].partition("-")[0])) for match in rows}


def host_copies(text: str) -> tuple[str, int] | None:
    """The highest rates in GB/s that `bandwidthTest` prints from host to device and back, with the line of the first;
    None without both.

    >>> title, row = " {} Bandwidth, 1 Device(s)\\n", "   33554432                     {}\\n"
    >>> host_copies(title.format("Host to Device") + row.format(3783.4))
    >>> one = title.format("Host to Device") + row.format(3783.4) + title.format("Device to Host") + row.format(2539.2)
    >>> host_copies(one)
    ('3.78 2.54', 2)
    """
    if "Host to Device Bandwidth" not in text:
        return None
    rates: dict[str, float] = {}
    title, first = "", 0
    for number, line in enumerate(islice(lines_of(text), MOST_READ), 1):
        if match := _COPY_TITLE.match(line[:LONGEST]):
            title = match[1]
        elif title and (match := _COPY_ROW.match(line[:LONGEST])):
            rates[title] = max(rates.get(title, 0.0), float(match[2]) / 1e3)
            first = first or number
        elif "Device to Device" in line:
            title = ""
    there, back = rates.get("Host to Device"), rates.get("Device to Host")
    return (f"{there:.3g} {back:.3g}", first) if there and back else None


def unlike_copies(sentences: Sequence[tuple[int, str]]) -> tuple[str, int] | None:
    """Unlike rates at which a sentence tells that data are copied between host and accelerators, with its line.

    >>> unlike_copies([(4, "The memcpy from host to device varies, 4 to 12 GB/s.")])
    ('4 and 12 GB/s', 4)
    >>> unlike_copies([(4, "The memcpy from host to device reaches 24 GB/s.")])
    """
    for number, line in sentences:
        if not (_COPIES.search(line) and _HOST.search(line) and _VARIES.search(line)):
            continue
        for match in _RANGE.finditer(line):
            low, high = sorted((float(match[1]), float(match[2])))
            if low > 0 and high >= UNLIKE * low:
                return f"{low:g} and {high:g} GB/s", number
    return None


_STATISTICS = re.compile(r"^\s{0,8}GPU utili[sz]ation\s{1,8}\[\|{0,60}\s{0,60}([0-9]{1,3})%\]", re.MULTILINE)
"""The use of the accelerators of a job, as `jobstats` of Slurm clusters prints it."""
FEW_USED = 60
"""Percent of the time below which accelerators of a job are idle rather than at work (assumed)."""


def job_statistics(text: str) -> tuple[str, int] | None:
    """The low use of accelerators that the statistics of a job show, with the line; None without them.

    >>> job_statistics("  GPU utilization  [||||||||||||||||                               33%]")
    ('GPU utilization 33 %', 1)
    >>> job_statistics("  GPU utilization  [|||||||||||||||||||||||||||||||||||||||||||    91%]")
    """
    match = _STATISTICS.search(text) if "GPU utili" in text else None
    return (
        (f"GPU utilization {match[1]} %", line_at(text, match.start(1))) if match and int(match[1]) < FEW_USED else None
    )


FIGURES = {
    "ungraphed": ungraphed_steps,
    "lost-graphs": lost_graphs,
    "host-governor": host_governor,
    "far-copies": far_copies,
    "host-copies": host_copies,
}
"""Names of statements, and what reads each from a text."""


def host_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The statements of figures of a host: name, figures and line."""
    return ((name, *stated) for name, read in FIGURES.items() if (stated := read(text)) is not None)
