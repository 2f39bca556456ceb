"""Diagnosis and acceptance in ``docs/exchange.md``: what logs of a machine show, with examples that are run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.cli import run

DIAGNOSE = """## Diagnose

`clusterspec diagnose SPEC LOG…` compares logs of collectives with the design, size by size, and ranks the causes of
low bandwidth. A cause that a log line states comes first, with the line. Then follow the faults for which the cost
model predicts about the measured bandwidth. `--collective` and `--ranks` state what a log omits. `--write` stores the
largest size of each log in `measured:`. From then on that measurement replaces the efficiencies of the catalog, and
the output shows the step time with and without it. Exit status 1 means that a collective is slower than the predicted
range.

A training run calibrates the estimate, too. `measured: [{{step_log: train.log}}]` (Megatron-LM, torchtitan, MaxText) or
`{{step_time: 12.4 s}}` states a step of the workload and layout of the spec, after the first steps. clusterspec then
sets the rate of GEMMs and attention so that the prediction equals the measurement, between a quarter and twice the
rate of the catalog; communication, memory traffic and host time stay as predicted or measured by their own logs.
`estimate` prints the rate as a share of the catalog rate, and `search` and all other commands use it for other
layouts. A log with another batch, other degrees or other ranks than the spec is an error.

The range of a measured job is that of its measurements: 3 %, or the largest deviation of several steps from their
median. A measured step does not improve the estimate of other layouts and sizes, so their range is wider (`--constants`
states it). In pairs of published runs of one source and accelerator, one run as the measured step of the other, the
median error is 5.5 % instead of 3.7 %, and 11.6 % instead of 9.4 % in sources that fitted no constant.

A load test calibrates engines. `measured: [{{load_test: bench.json}}]` (`vllm bench serve`, `sglang.bench_serving`) or
`{{tpot: 24 ms}}` states the mean time per output token of the engines of the spec at its load. clusterspec sets the
rate of all kernels so that the prediction equals the measurement, between a quarter and twice the rate of the catalog;
collectives and host time stay as predicted. A test with another concurrency, request rate or mean length than the spec
is an error. The range at the measured load comes from the measurements; other loads keep their range. In pairs of
published rows of one engine at two loads, one row as the measured time of the other, the median error is 9 % with and
without the measurement in sources that the constants fit (28 pairs), 6 % instead of 5 % in sources that no constant was
fitted to (18 pairs), and 25 % instead of 45 % in other sources, whose engines are slower than predicted (141 pairs).

A fault is called possible, not likely, if only the cost model supports it and many bandwidths would. Where no cause is
likely, the output says that none of the known causes explains the difference.

`tests/analysis/test_published_causes.py` has {cases} published threads with the cause that each states, and 10 threads
whose cause no log shows. Each row below is the first score of one draw of threads, before any change for it: the logs,
those whose stated cause came first (or that were rightly left without one), those that named it at all, those that were
refused, and those with another cause in first place (from draw 31 on, with certainty). After each draw the missing
causes were added, so only the scores of new draws say how good the diagnosis is. A dash means that the figure was not
recorded.

| draw | logs | first | named | refused | wrong | not known before |
| --- | --- | --- | --- | --- | --- | --- |
| 1 | 9 | 7 | 9 | 0 | 0 | |
| 2 | 4 | 0 | 0 | 0 | 0 | bonded ports; ranks of one node that use only the network |
| 3 | 10 | 7 | 8 | 0 | 0 | sockets between ranks of one node; Ethernet without flow control |
| 4 | 14 | 12 | 12 | 0 | 0 | ports that lose their link; sockets in the words of an older release |
| 5 | 13 | 4 | 4 | – | – | runs that hang or stop |
| 6 | 13 | 5 | 5 | – | – | errors of a connection or of its first transfer |
| 7 | 13 | 4 | 4 | – | – | shared and locked memory, interfaces, ranks of several releases |
| 8 | 11 | 1 | 1 | – | – | the fabric manager, ranks that share an accelerator, refused peer access |
| 9 | 8 | 8 | 8 | 0 | 0 | |
| 10 | 23 | 7 | 7 | – | – | limits, drivers, hidden accelerators, copies of a benchmark that MPI did not join |
| 11 | 9 | 4 | 4 | – | – | faults of an accelerator, full memory, ranks in different collectives |
| 12, engines and training programs | 20 | 3 | 3 | – | 2 | most of them |
| 13 | 10 | 6 | 6 | 0 | 0 | a missing network of libfabric, a full cache, a rendezvous, errors of amdgpu |
| 14 | 8 | 3 | 3 | 0 | 0 | full storage, the service of JAX that joins workers, libfabric's words |
| 15 | 8 | 0 | 0 | 0 | 0 | words of PyTorch, Ray and the CUDA runtime for known causes |
| 16, of 2026-11-23 | 24 | 9 | 9 | 0 | 0 | errors of HCCL, launchers without a login, names of CUDA and HIP errors |
| 17 | 14 | 5 | 5 | 0 | 2 | system errors by number, barriers of JAX, old forms of NCCL and UCX |
| 18 | 19 | 8 | 8 | 0 | 1 | peer access in TensorRT-LLM, /dev/shm in Open MPI, timeouts of Gloo |
| 19 | 11 | 5 | 6 | 0 | 0 | missing programs, daemons and signals of launchers, missing kernels |
| 20 | 23 | 15 | 15 | 0 | 4 | the error of a failed system call; releases with published faults |
| 21 | 18 | 8 | 9 | – | – | |
| 22 | 15 | 3 | 4 | – | – | words of the CUDA runtime, drivers of NICs that do not start |
| 23 | 17 | 7 | 9 | – | – | topologies, messages that Open MPI wraps |
| 24 | 19 | 10 | 10 | – | – | modules of another kernel |
| 25 | 6 | 4 | 5 | – | – | |
| 26, of 2026-11-24 | 40 | 26 | 26 | 8 | 6 | |
| 27 | 23 | 15 | 16 | 1 | – | containers, the runtime of Neuron, JAX, sizes that differ between ranks |
| 28, of 2026-11-25 | 31 | 18 | 19 | 8 | 1 | messages of Neuron, Slingshot, Slurm and clouds |
| 29 | 25 | 11 | 11 | 8 | – | containers of Slurm, Megascale, JobSet |
| 30 | 22 | 19 | 19 | – | – | a flag of libtpu, a refused step of Slurm, an error of NIXL |
| 31, three of 2026-11-26 | 52 | 27 | 29 | 4 | 6 | |
| 32 | 21 | 14 | 18 | 0 | 0 | |
| 33 | 22 | 16 | 18 | 0 | 2 | |
| 34 | 10 | 4 | 6 | 2 | 1 | |
| 35, five of 2026-11-27 | 57 | 40 | 44 | – | 0 | |
| 36, seven | 106 | 77 | 85 | – | 0 | |
| 37, three | 22 | 18 | 18 | – | 0 | |
| 38, three, of users of clusters | 34 | 18 | 20 | 4 | – | differing clocks, preemption, links of one device, keys of a
store |
| 39, two | 47 | 32 | 36 | 8 | – | waits for data, bindings to foreign processors, clocks lowered by AMD's driver |
| 40, two | 45 | 29 | 30 | 3 | 1 | evictions by Lustre, missing firmware, builds for another device |
| 41, three of 2026-11-28 | 46 | 34 | 34 | 3 | 0 | namespaces, IMEX, builds of kernel modules, clouds without capacity |
| 42, two, communication only | 25 | 13 | 16 | 2 | 2 | keys of Slingshot, errors by number, the abort of a watchdog |
| 43, three, communication only | 39 | 18 | 21 | 6 | 1 | messages of PSM2, PSM3, OpenSM, NIXL, UCX, operators |
| 44, three | 39 | 27 | 29 | – | – | limits of locked memory by name, held devices, the crash of a compiler |
| 45, three | 50 | 31 | 35 | 4 | – | reports that two processes interleave, filters of submissions |

Logs without a fault should have no cause. The draws had 4 of 8, 3 of 3, 28 of 30, 7 of 10, 26 of 31, 21 of 24, 18 of
18 and 30 of 32 such logs without one; one of them had a wrong cause with certainty. Of 165 logs in public repositories,
twelve have a cause.

Of 88 in four draws of 2026-11-29, of schedulers, containers, networks of pods, accelerators of every vendor and
engines, 55 came first before any change and 63 were named: twelve first of the first 18, nine first and ten named of
the next 15, 22 first and 26 named of the 35 after them, twelve first and 15 named of the last 20, each drawn after the
ones before were mended; three were refused. Sockets of a local service that takes no more connections, mounts that
a path refuses, lines that a terminal wraps, transfers of a cache between engines (taken for an
image that is pulled), virtual functions and timeouts of PyTorch's store by the socket were not known.

A log without a result comes from a run of any program with `NCCL_DEBUG=INFO` that hung, or stopped before its first
size. `diagnose` judges it by its lines alone. The output of an engine, a training program or a kernel is judged
likewise: a line may state evicted requests, full memory or storage, errors of an accelerator or refused connections
(`--ranks` states its ranks). If no line states a cause, the list has, with little evidence,

- causes that the common words of an error suggest, or the source file or driver that reports it;
- behind them, the crash that follows;
- for a line without a reason (`unhandled system error`, a timeout, a start that never ended), each cause that it may
  have, with the measurement that decides;
- last, what only slows a run.

A log that ends at a line of an NCCL or RCCL communicator, at the benchmark's list of devices, or at a progress bar
before the first step is reported as a run that hung. Its possible causes depend on the links: between nodes, an
unreachable peer, a wrong interface, or absent or diverging ranks; over PCIe, access control or the IOMMU; over scale-up
switches, their reductions; and everywhere a release that is published to hang in such a run. No line decides about
relays through other accelerators (PXN), firmware of NICs, or hosts with one identity. Where no cause is likely, the
output says that the log does not decide it (`decided` in JSON). If a person reports a slow run, what they
observe (since when, on which part, at which sizes, with which utilization) orders the possible causes by assumed
weights (`catalog/slow-symptoms.csv`), and the output has the check that decides between the first of them
(`deciding_check`). The verdict of such a log is `unfinished`, with exit
status 1; `accept` and `import` refuse it.

`diagnose` searches the first and the last 0.5 MB of a log of more than 1.5 MB in full. Between them it reads up to 3 MB
of lines that repeat others (digits aside), 0.5 MB of other lines, and another 0.25 MB of lines with a word for an
error. The output says how many different lines it did not search (`lines_left_out` in JSON); logs of real runs repeat
their lines, so it is usually none.

`diagnose` compares the device names in a log (the list of nccl-tests and rccl-tests, `nvidia-smi -L`, configuration
files that an engine looks for) with the accelerator of the spec. If all of them are other products of the catalog, the
output names the line and the link bandwidths of both products (`other_devices` in JSON). It is the first cause if the
run is slower than expected and the links differ in bandwidth, else a warning. `--write` skips such a measurement, and
`accept` does not count it. Names without an entry, and accelerators of a company's own catalog, are not compared.

A launcher writes a log for every rank. `diagnose SPEC LOG…` takes all of them, or a folder with its subfolders: up to
1,024 files of 32 MiB in total. It skips links, hidden files and empty files, and lists files that are not logs. The log
whose rank failed first comes first: by time if every log with a failure has times, else by name. A log that reports
only the end of other ranks (timeouts, closed connections) comes last and counts little, unless it reported that more
than 5 s before any failure. The order of the files changes neither causes nor weights.
"""
ACCEPT = """## Accept

`clusterspec accept SPEC LOG…` compares logs with the tests under `acceptance:` of the spec. If the spec states none, it
proposes a test for each tier, with the low end of the predicted range as the threshold. A test passes if the required
number of runs reaches the figure at its size without wrong values; runs at another size or on other ranks do not count.
Exit status 0 means that every test passes.

`--against LOG…` names the logs of an earlier acceptance. Each test then shows its change since, which distinguishes a
machine that degrades from one that was always slow. The output marks a change above 5.7 % (`beyond_repeats` in JSON):
two runs of one machine, each within 4 % of it, differ by less.

`--write` stores the measurements of a passed acceptance in `measured:`, as `diagnose --write` does. Each measurement
sets the achieved share of the link that limits it. Predictions with it have the range of shares measured on one machine
(4 % of the time to send). In a simulation with runs that vary by 2 %, 96 % of the true values are in that range.
"""
SPEC = """\
clusterspec: 1
name: pod
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {tp: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
"""
LOG = """\
h1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
all_reduce_perf -b 4G -e 8G -f 2 -g 1
# Rank 31 Group 0 Pid 1 on h4 device 7 [0x01] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  4294967296    1073741824     float     sum      -1   173400   24.77   47.99      0   173400   24.77   47.99      0
  8589934592    2147483648     float     sum      -1   346700   24.78   48.00      0   346700   24.78   48.00      0
"""


def parts() -> list[str]:
    """The sections on diagnosis and acceptance."""
    return [
        DIAGNOSE.format(cases=_published_cases()),
        table(("cause", "meaning"), ((f"`{name}`", meaning) for name, meaning in MEANINGS.items())),
        *example({"pod.yaml": SPEC, "nccl.log": LOG}, ("diagnose", "pod.yaml", "nccl.log")),
        ACCEPT,
        *example({"pod.yaml": SPEC, "nccl.log": LOG}, ("accept", "pod.yaml", "nccl.log")),
    ]


def _published_cases() -> int:
    """The number of published threads among the tests of causes."""
    text = (Path(__file__).parents[2] / "tests/analysis/test_published_causes.py").read_text("utf-8")
    return len(re.findall(r"^ +Case\(", text, re.MULTILINE))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def example(files: dict[str, str], words: Sequence[str]) -> Iterator[str]:
    """A command and what it prints in a folder with some files."""
    out = io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            for name, text in files.items():
                Path(name).write_text(text, "utf-8")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                run([*words, "--color", "never"])
        finally:
            os.chdir(before)
    yield f"```console\n$ clusterspec {' '.join(words)}\n{out.getvalue().rstrip()}\n```\n"
