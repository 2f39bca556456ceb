"""Causes of threads whose machine decides as much as their lines: drawn and judged before anything was changed.

`threads_with_machines.csv` has, for each thread, the cause that it states, its place among those that the program
names, the machine as far as the thread describes it, the ranks that the caller states, and lines in the form that
programs print them; for a benchmark with a result also the share of the predicted bandwidth that it reached.

- `AA1` (2026-11-29): queries for slow collectives, hangs, interfaces, GPUDirect, access control, plugins, virtual
  machines, RoCE, EFA, AMD and DGX Spark; threads that stand in a table of this repository are left out. Of 20, ten were
  named first and eleven at all before anything was changed; one was refused, five had another cause in certainty. Not
  known were logs that end at a bar of progress or at the list of devices, exceptions of C++ that nothing catches,
  virtual machines that hide PCIe switches, and a second reading of a refused connection. One stays refused: the
  measurements of DeepEP's own test, which chose one NIC.
- `AA2` (2026-11-29): the same, drawn after AA1 was mended. Of 14, eight were named first and nine at all before
  anything was changed; two were refused (what nvidia-smi and lspci print of clocks and links). Not known were hangs of
  the switches' reductions, names of digits, and other accelerators whose links are the same.
- `AA3` (2026-11-29): threads of AA1's and AA2's queries and of two more that need more than their lines, after AA2 was
  mended. Of 8, two were named first and three at all before anything was changed; one was refused. Not known were peer
  access that a setting forces through the CPU, a rank that was ended before its peers wait for it, waits for data of
  one step in several, and small messages whose bandwidth no longer grows (openucx/ucx pull 10955, which no log of a
  collective shows). One stays missed: DeepEP's timeout, which an assignment of NICs mends.
- `AB1` (2026-11-29): threads of training on NVIDIA's accelerators (queries for hangs, rendezvous, access control,
  containers, drivers, storage, plugins and mapping of ranks) with what their posts say in sentences, too; threads of a
  table are left out. Of 15, four were named first and six at all before anything was changed; seven were refused. Not
  known were sentences: what was tried and whether it helped, what failed since an update, and the reason in words; nor
  stacks of crashes, a system that is not ready without switches, memory that other processes hold, and containers
  that a log lists as hosts (NVIDIA/nccl-tests issue 93, tested below).
- `AB2` (2026-11-29): the same queries, drawn after AB1 was mended. Of 15, seven were named first and eight at all
  before anything was changed; one was refused. Not known were remedies told before or after the success ("The solution
  was to use"), data that end at other times, files of devices that a container lacks, and flows that share a path of
  the network. One stays missed (NVIDIA/dgx-spark-playbooks pull 108: a NIC that a power cycle mends).
- `AB3` (2026-11-29): the same, drawn after AB2 was mended. Of 12, seven were named first and nine at all before
  anything was changed; one was refused. Not known were interfaces that a library picks, releases of which one fails and
  another does not, and an old name of a setting. perftest was compared with the time of one message, though it has many
  in flight; what is bound to a distant core stays missed (open-mpi/ompi issue 6888).
- `AD1` to `AD4` (2026-11-29): threads of AMD, EFA, Slingshot, Intel, TPU, engines over several nodes, NVSHMEM, DeepEP,
  NIXL, UCX, Mooncake and IMEX whose cause the thread states, prose in own words; each draw after the one before was
  mended. Before anything was changed, eight of 15 were named first and nine at all (two refused), then four of 14 and
  six (two refused), four of 15 and five (five refused), three of 16 and four (six refused): the later draws have more
  sentences of people and fewer lines of programs. Not known were what people tried and what came of it, releases of
  which one works and another does not, pairs of devices and of NICs, addresses of a launch, and modules that are not
  loaded. Two more are tests of their own (openucx/ucx issue 3984, NVIDIA/nccl issue 2001). Three stay refused and
  four missed: reports without an outcome, two installations of Ray, NCCL's allocator out of step.
- `AE1` and `AE2` (2026-11-29): first posts, half of training on NVIDIA's accelerators and half of other stacks (AMD,
  UCX, NIXL, Mooncake, IMEX, engines), most of them prose without an error of a program, written down in own words
  afterwards. Of 16 of AE1 three were named first and five at all before anything was changed (three refused); of 16 of
  AE2, drawn after causes were ranked by the words of a report, five first and eight at all (four refused), where the
  program without that ranking names four first and six at all (seven refused). The places are of their own words.
- `AE3` (2026-11-29): 8 more of Lightning, NIXL and Slingshot in own words, drawn after AE2 was mended: five were named
  first and six at all before anything was changed (without the ranking two and three, two refused). Since one term is
  enough where no cause has more, vllm-project/vllm issue 8908, which was refused, is suspected of another cause.
- `AF1` (2026-11-29): 24 first posts of NCCL, PyTorch, DeepSpeed, Slurm, perftest, plugins and operators of Kubernetes,
  as they stand, most of them prose: 12 were named first (one of them rightly as of one rank, NVIDIA/nccl-tests issue
  249) and 19 at all before anything was changed. A coin drew the half whose misses were read; of the
  other half six were named first before as after, and ten at all. Not known were Chinese words, single words that
  tell, questions that report, and whole sentences that were denied by the next trial.
- `AF2` (2026-11-29): 12 more, of Kubeflow, data loading, drivers and shared clusters, drawn after AF1 was mended: six
  were named first and eight at all before anything was changed, two refused. Not known were two releases of a driver
  next to another part, usage for utilization, and what is slower than expected. Three stay missed or late: a device
  that is busy since its node is faulty, GPUs of two models, and an error of CUDA without a word of its reason.
- `AF3` (2026-11-29): five of Lightning, vLLM and CUDA, drawn after AF2 was mended: three named first, five at all.
- `AF4` (2026-11-29): seven of containers, operators and launchers after updates and reboots, drawn last: four named
  first and at all. Not known were updates told with more words before them; a missing file of a device tells of no
  driver, and two posts end before their error.

- `AG1` (2026-11-29): 30 first posts as the search shows them, many of containers, Slurm, UCX and the memory of devices:
  21 were named first and 22 at all before anything was changed (NVIDIA/nccl issue 257, which the program cites, is left
  out below). Of the half whose misses were not read, nine were first and ten at all before, and eleven after. Not known
  were memory that other processes hold, by figures and in words, and words that stand in posts of every cause.
- `AG2` (2026-11-29): 15 more of frameworks, checkpoints, ports and images, drawn and written down before the mends of
  AG1 ended: eight were named first and nine at all, by the program before AG1 as by the one after it. Not known were
  answers that no accelerator is seen, unequal accelerators in other words, and "slows"; with these 13 are first.
- `AH1` (2026-11-29): 30 first posts of Slurm's containers, RDMA plugins, Megatron-LM, UCX, Kubeflow, frameworks
  and drivers, most of them prose: 19 were named first and 24 at all before anything was changed (NVIDIA/nccl issue 257,
  which AG1 had, and Mellanox/network-operator issue 738, rightly none then and suspected since, are left out below). Of
  the half whose misses were not read, ten were first and twelve at all before, ten and 14 after. Not known were
  denied verbs, refusals, waits and counts as the fault, and causes whose words stand in several sentences.
- `AH2` (2026-11-29): 15 more, drawn after AH1 was mended: 14 were named first and at all, where the program before AH1
  names twelve. Ten of them quote the message of a program. Of the rows before AH1 eight moved back (five to "named",
  three and two named ones to "missed"), where words speak for another cause, and four moved forward.

- `AI1` (2026-11-30): 30 posts of loaders, adapters in containers, GDRCopy, MSCCL++, UCX and validation, some of them
  comments, as the search shows no first post: 18 were named first and 20 at all before anything was changed. Of the 15
  whose misses were not read, twelve were first and at all before, twelve and 13 after. Five are left out below: one
  that is rightly refused, and four that were known or are of no run. Not known were pauses at intervals, plugins behind
  another release, and remedies behind "until" and "unless".
- `AI2` (2026-11-30): 20 more, drawn last: 13 were named first and 16 at all. Eight of them turned out to be known: of
  the other twelve six were first and nine at all. Three of these were refused or misread, as the search shows a part of
  the post only. Not known was that a run which did steps has connected its ranks.

- `AJ1` (2026-11-30): 24 posts of barriers, builds of GDRCopy, RCCL, NVSHMEM, Slurm and loaders, all of addresses that
  no table had: 15 were named first and 18 at all before anything was changed. Not known were what a part of the ranks
  does and the others do not, a network next to another one, and shared memory that is ample. Three are left out below:
  a release whose error the search does not show, a limit that compilation passes, and a build as of another row.
- `AJ2` (2026-11-30): 24 more of MPI in containers, validation, affinity, EFA and drivers, drawn after AJ1 was mended:
  16 were named first and 19 at all (one was refused for ranks that were stated wrongly). Eight turned out to be known,
  and are left out below: of the other 16 nine were first and eleven at all. Not known were processes that are each
  alone, others that time out, a release that has a fault, and what takes longer on some ranks.
- `AJ3` (2026-11-30): ten more of JAX, reboots, HCCL and two queries of AJ2, drawn after AJ2 was mended: six were named
  first and eight at all. Three were known: of the other seven three were first and five at all. Not known were hosts
  that reboot, in other words than a report of them had.

- `AK1` (2026-11-30): 24 posts of device plugins, drivers, releases, validation, affinity, limits of Slurm and GIDs, all
  of addresses that no table had: 11 were named first and 14 at all before anything was changed (five refused). Not
  known were faults of releases by their symptoms, limits as the kernel lists them, and the cores that PyTorch counts.
  One is left out below, rightly none of the known (a number of a device that another module took).

- `AK2` (2026-11-30): 24 posts by ten other queries, of accelerators other than GPUs, symbols, MPI, Ray, quotas, slow
  data and files on one node, all of addresses that no table had: 17 were named first and 19 at all before anything was
  changed (one refused). Most of them print a message that names the cause, which AK1 seldom has. Seven more posts
  between the two draws, one of them known: five were first and six at all.

- `AL1` (2026-11-30): 29 posts by 25 queries over libraries, engines, launchers, storage and containers, all of
  addresses that no table had: 16 were named first and 17 at all before anything was changed, two had another cause with
  certainty. Not known were builds of kernels, foreign vocabularies, busy hosts and unequal work, which are causes now.
- `AL2` (2026-11-30): 24 posts by eleven other queries, by kinds of causes, after AL1 was mended and 89 faults of
  releases were entered: 15 were named first and 20 at all before anything was changed, one had another with certainty,
  four were refused. No post of either draw has a release with a fault that was entered before it was drawn.

- `AM1` (2026-11-30): 30 posts by 24 queries over all layers, of addresses that no table had, drawn before anything was
  read: 14 were named first and 18 at all, one had another cause with certainty, four were refused. Not known were lines
  of issue forms, titles, limits of stores, memory of one NUMA node, checkpoints of other meshes, and commits.
- `AM2` (2026-11-30): the new words tried on other projects. Of 16 posts of small work, prompts and servers ten were
  first and twelve at all; of 20 of loaders, quantization, operators and caches (five of them known) twelve and 13.
- `AM3` (2026-11-30): 29 posts by eleven other queries, drawn last (28 of new addresses, five of them only a title): 17
  were named first and 19 at all, two had another cause with certainty, seven with a cause were refused; three without a
  fault were rightly refused. Faults that stand in the title alone were not read; they are since. Of the rows before
  AM1 seven moved back (three texts of no person to "unread", one to "named", three to "missed"), two to "first".

- `AN1` (2026-11-30): 25 threads with output of a program and a stated cause, by 27 queries for NCCL, RCCL, EFA, UCX,
  MPI, drivers, IMEX, DeepSpeed, Megatron-LM, engines, Ray, Slurm and containers, all of addresses that no table had, in
  the form of their programs: 13 were named first and 17 at all before anything was changed, none was refused. Not known
  were options that a called program lacks, accelerators that Ray does not count, drivers before the CUDA of a program,
  a store that another job holds, and connections that were made before they failed. One stays missed (a kernel that the
  accelerators are too old for, of which only an Xid tells); JuliaGPU/CUDA.jl issue 1398 has the cause of other rows of
  its kind, a release of a library, rather than a fault of a release as was written down.
- `AN2` (2026-11-30): 15 more by seven other queries (engines on several nodes, Ray, DDP, Slurm, device plugins, HCCL,
  checkpoints), drawn after AN1 was mended: 11 were named first and 12 at all before anything was changed, none was
  refused. Not known were addresses that no rank announces, shards that do not cover a tensor, releases in parentheses,
  and workers of a loader that are created anew.
- `AN3` (2026-11-30): 15 more by eleven other queries (perftest, RCCL, EFA, memory of hosts and locked memory, Slurm,
  UCX, Ray), drawn after AN2 was mended: 11 were named first and 12 at all before anything was changed, none was
  refused. Not known were a limit that a shell prints, packages of modules of the kernel, and the number that a call
  returned beside another text. openucx/ucx issue 4770 was written down as `mixed-releases`, which are those of ranks:
  its library and its module of the kernel are of two. One stays late, whose error says nothing of its reason
  (xorbitsai/inference issue 2945).
- `AO1` (2026-11-30): 25 threads by 27 other queries (causes that pull requests state, engines with divided prefill,
  TPU, Neuron, NVML, checkpoints, slow steps, TensorRT-LLM, Ray), all of addresses that no table had: 13 were named
  first and 16 at all before anything was changed, four were refused. Not known were programs that a container or a
  shell does not find, panics of Rust and Go, the average wait for data, errors of files by number, files that a
  checkpoint lacks, drivers of other NICs, and cancels after a timeout. One is left out below, whose table of
  a benchmark does not say its collective (NVIDIA/nccl issue 1496).
- `AO2` (2026-11-30): 20 more by ten other queries (transfers of KV cache, slow nodes, environments of jobs, JAX,
  illegal accesses, perftest, uneven data, pods of drivers, Ray), drawn after AO1 was mended: 14 were named first and at
  all before anything was changed, two were refused. Five turned out to be known, and are left out below: of the other
  15 nine were first and at all. Not known were files that a script does not find, memory that NIXL does not register,
  packages of libraries, and failed checks as a fault of a release. Two stay missed or refused: a flag that a test does
  not heed (linux-rdma/perftest issue 393), and wrong tokens without an error.
- `AO3` (2026-11-30): ten more by five other queries (interfaces, hangs of training, devices, virtual machines,
  Kubeflow), drawn after AO2 was mended. Two are left out below, whose cause the search does not show; of the other
  eight seven were named first and at all before anything was changed, six of them by a message that names the cause.
  Not known was a release that reaches twice the bandwidth of another one.
- `AO4` (2026-11-30): 19 more of slow runs, by nine other queries (scaling, loaders, threads, affinity, links,
  stragglers), told in sentences that restate their threads, drawn after AO3: 4 were named first and at all before
  anything was changed, 12 were refused. Not known were what people see of a slow run without a word of a reason,
  settings of zero that turn RDMA on again, and memory or threads of a job as its remedy.
- `AO5` (2026-11-30): ten more of slow runs by six other queries (switches, engines, containers, experts, clocks),
  told as those of AO4 and drawn after it was mended: one was named first and at all before anything was changed, eight
  were refused. Not known were a host at its limit beside idle accelerators, quotas of cores, tokens that some ranks
  get, and limits of power. One stays refused: a link below its rate, which `lspci` prints without its own limit.
- `AP1` (2026-12-01): 20 threads by 19 queries (lanes, clocks, checkpoints, jitter, engines, compilation, perftest,
  affinity, containers, networks, releases, memory of jobs), 12 of them of slow runs, with what people see and tried
  rather than the reason: 13 were named first and 14 at all before anything was changed, four were refused. Not known
  were figures of lanes, clocks, cores and disks, runs that get slower, and remedies of slow runs.
- `AP2` (2026-12-01): 20 more by six other queries (hosts, shared devices, pauses, AMD, uneven work, quotas), half of
  them of slow runs, drawn after AP1 was mended: two were named first and five at all before anything was changed, 11
  were refused: nearly all are prose of which no sentence was read as a fault. Not known were conditions behind a
  fault ("hangs if the data differ"), times and rates without a word of slowness, counts of batches in Chinese, and
  programs or processes that share a host or a device.
- `AP3` (2026-12-01): ten more by four other queries (hosts, slots, intermittent nodes, loading of weights), drawn after
  AP2 was mended: two of the nine whose cause is stated were named first and at all before anything was changed, four
  were refused (open-mmlab/mmdetection issue 11880 is left out below, whose cause nobody states). Not known were loads
  that take minutes, rates of file systems, replaced drives, and cards without peer access. Two stay missed: a firmware
  without virtual functions, and links that the machine cannot have.
- `AQ1` (2026-12-01): 20 threads of slow runs by 22 queries (engines, graphs, copies, affinity, loaders, compilation,
  allocators, sharding, NUMA, weights, sockets), told as AO4's: four were named first and seven at all before anything
  was changed, eight were refused. Not known were decoding steps without graphs, governors of clocks, rates of copies,
  retries of the allocator, functions of the kernel that move memory, and observations of cores, shapes and pauses;
  words of topics came before what people see.
- `AQ2` (2026-12-01): 14 more by seven other queries (slots and heat, pods without RDMA, servers of engines, stages,
  bonds, object stores, synchronization), drawn after AQ1 was mended: one was named first and two at all before anything
  was changed, eight were refused. Not known were hosts that wait for accelerators, prepare requests in one thread or
  run in a guest, object stores, lists of times of stages, degrees that leave little work, and figures as the sign of a
  case. Two rows that were refused before (AI2, AL2) are named first since.
- `AQ3` (2026-12-01): 14 more by five other queries (shared nodes, batches, checkpoints, slow ranks, engines over nodes)
  and of hits of AQ1's queries that were not used, drawn after AQ2 was mended: five were named first and at all before
  anything was changed, seven were refused. Not known were pauses at checkpoints, fixed batches, data that are in time,
  adapters without traffic, statistics of jobs, and two times or machines that a sentence compares.

The places of AF1 to AM3 are of their own words, which the posts do not have: six more of AG1 were missed or refused in
them at first (a run that takes longer, a device that is in use by nobody, and two lines of UCX and Open MPI).
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.diagnosis.release_causes import published_faults
from clusterspec.logs.benchmarks.benchmark import Evidence
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.records import replace
from clusterspec.results.diagnosis import ComparedCollective
from tests.analysis.test_diagnosis import cluster, log, names
from tests.analysis.test_program_lines import read
from tests.effort import sampled, telling, thorough
from tests.settings import SETTINGS

with (Path(__file__).parent / "threads_with_machines.csv").open(encoding="utf-8", newline="") as file:
    ROWS = tuple(csv.DictReader(file))


def _compared(row: dict[str, str]) -> ComparedCollective:
    machine = cluster(row["machine"])
    ranks = int(row["ranks"] or machine.nodes * machine.ranks_per_node)
    if row["share"]:
        name = "all-to-all" if "alltoall" in row["lines"] else "all-reduce"
        benchmark = log(machine, ranks, name, before=row["lines"], scale=float(row["share"]))
    else:
        started = read_unfinished(row["lines"])
        assert started is not None
        benchmark = started
    faults = published_faults(machine, SETTINGS.catalog)
    found = diagnosis_of(machine, [("a.log", benchmark)], LogOverrides(None, ranks), faults)
    assert not found.unread
    return found.compared[0]


def _rows(place: str) -> list[dict[str, str]]:
    return [row for row in ROWS if row["place"] == place]


@thorough
@pytest.mark.parametrize("row", sampled(_rows("first"), len(ROWS) // 2), ids=lambda row: row["address"])
def test_the_cause_that_a_thread_states_is_named_first_on_its_machine(row: dict[str, str]) -> None:
    assert names(_compared(row))[0] == row["cause"]


@thorough
@pytest.mark.parametrize("row", _rows("named"), ids=lambda row: row["address"])
def test_the_cause_that_a_thread_states_is_named_on_its_machine(row: dict[str, str]) -> None:
    assert row["cause"] in names(_compared(row))[1:]


@pytest.mark.parametrize("row", _rows("none"), ids=lambda row: row["address"])
def test_a_run_that_its_machine_explains_has_no_cause(row: dict[str, str]) -> None:
    assert not names(_compared(row))


@thorough
@pytest.mark.parametrize("row", _rows("missed"), ids=lambda row: row["address"])
def test_a_cause_that_neither_lines_nor_machine_tell_is_not_named(row: dict[str, str]) -> None:
    assert row["cause"] not in names(_compared(row))


@pytest.mark.parametrize("row", _rows("unread"), ids=lambda row: row["address"])
def test_a_text_that_tells_of_no_error_is_refused(row: dict[str, str]) -> None:
    assert read_unfinished(row["lines"]) is None


CONTAINERS = """# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20
# Using devices
#   Rank  0 Pid   11 on  pod-a device  0 [0x15] Tesla V100-SXM2-32GB
#   Rank  1 Pid   12 on  pod-a device  1 [0x16] Tesla V100-SXM2-32GB
#   Rank  2 Pid   11 on  pod-b device  0 [{0}] Tesla V100-SXM2-32GB
#   Rank  3 Pid   12 on  pod-b device  1 [0x8a] Tesla V100-SXM2-32GB
pod-a:11:31 [0] NCCL INFO Channel 00 : 3[b3000] -> 0[15000] [receive] via NET/Socket/0
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
   134217728      33554432   float     sum  61700.0    2.18    3.26  5e-07  61650.0    2.18    3.26  5e-07
"""
VOLTA = "{accelerator: v100-sxm-32gb, accelerators_per_node: 8, nodes: 1, scale_up: {topology: full-mesh, domain: 8}}"


def test_hosts_whose_bus_addresses_differ_are_containers_of_one_node() -> None:
    """NVIDIA/nccl-tests issue 93. Nodes of one model have the same addresses: they need a spec with two nodes."""
    machine = cluster(VOLTA)
    containers = diagnosis_of(machine, [("a.log", read_benchmark(CONTAINERS.format("0x89")))], LogOverrides())
    assert names(containers.compared[0])[0] == "network-inside-domain"
    nodes = diagnosis_of(machine, [("a.log", read_benchmark(CONTAINERS.format("0x15")))], LogOverrides())
    assert "2 nodes" in nodes.unread[0][1]


STARTED = """h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
h:1:2 [0] NCCL INFO comm 0x2 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 47000 commId 0x4 - Init COMPLETE
INFO 11-01 23:16:33 gpu_executor.py:56] # GPU blocks: 185231, # CPU blocks: 18724
"""
PCIE = "{accelerator: rtx-6000-ada, accelerators_per_node: 2, nodes: 1, scale_up: {topology: pcie, domain: 2}}"


@pytest.mark.parametrize(
    ("last", "hangs"),
    [
        ("Processed prompts:   0%|          | 0/16 [00:00<?, ?it/s, est. speed input: 0.00 toks/s]", True),
        ("Processed prompts:   6%|#         | 1/16 [00:09<02:15,  9.01s/it]", False),  # one step is done
        ("Processed prompts: 100%|##########| 0/0 [00:00<?, ?it/s]", False),  # nothing to do
        ("Evaluating: 10%|#         | 10/100 [00:00<?, ?it/s]", False),
    ],
)
def test_a_bar_before_its_first_step_is_a_hang_once_ranks_are_connected(last: str, hangs: bool) -> None:
    found = read(PCIE, STARTED + last, 2)
    assert ("acs" in names(found) if found is not None else False) is hangs
    assert read(PCIE, last, 2) is None  # no library has connected ranks


@pytest.mark.parametrize(
    ("last", "machine", "causes"),
    [
        ("#   Rank  1 Pid   7412 on  gpu-a device  1 [0x1b] NVIDIA H100", PCIE, ["acs", "iommu-translation"]),
        (
            "#  Rank  1 Pid 741 on gpu-a device  1 [0x1b] NVIDIA H100\ngpu-a: Test CUDA failure a.cu:1 'out of memory'",
            PCIE,
            ["memory-full"],
        ),
        (
            "#  Rank  1 Group  0 Pid 2231 on node2 device  0 [0x04] NVIDIA H100",
            "{platform: dgx-h100, nodes: 2}",
            ["unreachable-peer", "wrong-interface", "absent-ranks"],
        ),
    ],
)
def test_a_log_that_ends_with_the_list_of_devices_is_of_a_start_that_hangs(
    last: str, machine: str, causes: list[str]
) -> None:
    host = "node1" if "node2" in last else "gpu-a"
    first = (
        f"# nThread 1 nGpus 2\n# Using devices\n#  Rank  0 Group  0 Pid 3012 on {host} device  0 [0x04] NVIDIA H100\n"
    )
    found = read(machine, first + last, 2)
    assert found is not None and names(found)[:3] == causes


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("  what():  [/x/gloo/transport/tcp/pair.cc:575] Connect timeout [10.0.4.2]:3", True),
        ("[44]<stderr>:  what():  [/x/gloo/transport/tcp/pair.cc:575] Connect timeout [10.0.4.2]:3", True),
        ("see what() of [/x/gloo/transport/tcp/pair.cc:575] Connect timeout", False),
    ],
)
def test_the_text_of_an_exception_of_cpp_is_an_error(line: str, found: bool) -> None:
    told = read("{platform: dgx-h100, nodes: 2}", line, 16)
    assert ("unreachable-peer" in names(told) if told is not None else False) is found


WARN = "h:1:2 [0] NCCL WARN "
CHOSEN = "h:1:2 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0.\n"


@pytest.mark.parametrize(
    ("text", "cause", "named"),
    [
        (f"{WARN}Net : Connect to 10.3.0.2<3> failed : No route to host", "wrong-interface", True),
        (f"{CHOSEN}{WARN}Net : Connect to 10.3.0.2<3> failed : No route to host", "wrong-interface", False),
        (f"{WARN}Call to ibv_modify_qp failed with 110 Connection timed out", "wrong-interface", False),
        (f"{WARN}Net : Connect to 10.3.0.2<3> failed : Connection refused", "absent-ranks", True),
        (f"{WARN}Net : Connect to 10.3.0.2<3> failed : Connection timed out", "absent-ranks", False),
        (f"{WARN}Net : Connect to 0.104.99.143<3> failed : Connection timed out", "name-resolution", True),
        (f"{WARN}Net : Connect to 0.0.0.0<3> failed : Connection refused", "name-resolution", False),
        (f"{WARN}Net : Connect to 10.104.99.143<3> failed : Connection timed out", "name-resolution", False),
    ],
)
def test_a_connection_over_tcp_leaves_open_what_its_words_leave_open(text: str, cause: str, named: bool) -> None:
    found = read("{platform: dgx-h100, nodes: 2}", text, 16)
    assert found is not None and (cause in names(found)) is named


REDUCED = "h:1:2 [0] NCCL INFO 24 coll channels, 24 collnet channels, {} nvls channels, 32 p2p channels"


@pytest.mark.parametrize(
    ("nodes", "channels", "named"),
    [(1, 16, True), (1, 0, False), (2, 16, False)],
)
def test_switches_that_are_to_reduce_may_hang_a_run_of_one_node(nodes: int, channels: int, named: bool) -> None:
    found = read(f"{{platform: dgx-h100, nodes: {nodes}}}", REDUCED.format(channels), 8 * nodes)
    assert found is not None and ("fabric-manager" in names(found)) is named


FAR = "NCCL INFO GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 8 > 4)"


@pytest.mark.parametrize(
    ("nics", "before", "named"),
    [(8, FAR, True), (4, FAR, False), (8, f"NCCL INFO NCCL_TOPO_FILE set by environment to /a.xml\n{FAR}", False)],
)
def test_a_distant_nic_of_its_own_for_each_accelerator_may_be_a_hidden_switch(
    nics: int, before: str, named: bool
) -> None:
    fabric = f"{{technology: infiniband-ndr, nics_per_node: {nics}, switch_ports: 64}}"
    machine = cluster(f"{{platform: hgx-h100, nodes: 2, scale_out: {fabric}}}")
    found = diagnosis_of(machine, [("a", log(machine, 16, before=before, scale=0.3))], LogOverrides()).compared[0]
    hidden = [each for each in found.causes if each.name == "wrong-topology" and "virtual machine" in each.evidence]
    assert bool(hidden) is named


@pytest.mark.parametrize(("printed", "named"), [("A100-SXM4-40GB", False), ("V100-SXM2-32GB", True)])
def test_other_accelerators_explain_a_slow_run_where_their_links_differ(printed: str, named: bool) -> None:
    machine = cluster("{platform: hgx-a100, nodes: 1}")
    slow = log(machine, 8, scale=0.3)
    benchmark = replace(slow, devices=(Evidence("device", f"8 {printed}", 3),))
    found = diagnosis_of(machine, [("a", benchmark)], LogOverrides(), catalog=SETTINGS.catalog).compared[0]
    assert ("other-accelerators" in names(found)) is named
    assert printed in found.other_devices  # the difference itself is always told


QUERIED = "        SW Power Cap                      : {}\n        HW Slowdown                       : Not Active\n"
SLOT = "LnkSta: Speed 2.5GT/s (downgraded), Width x16 (ok)\n"
FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        (QUERIED.format("Active"), ["throttled-clocks"]),
        (SLOT, ["wrong-pcie-generation"]),
        (FULL + QUERIED.format("Active"), ["memory-full", "throttled-clocks"]),
        (SLOT + FULL, ["memory-full", "wrong-pcie-generation"]),
        (SLOT + "error: unknown thing happened", ["wrong-pcie-generation"]),
    ],
)
def test_what_devices_print_of_themselves_comes_behind_what_stopped_the_run(text: str, causes: list[str]) -> None:
    found = read("{platform: dgx-h100, nodes: 1}", text, 8)
    assert found is not None and [each for each in names(found) if each in causes] == causes
    assert all(each.weight < 0.3 for each in found.causes if each.name in {"throttled-clocks", "wrong-pcie-generation"})
    assert names(found)[0] == causes[0]


def test_clocks_that_nothing_lowers_are_no_log() -> None:
    assert read("{platform: dgx-h100, nodes: 1}", QUERIED.format("Not Active"), 8) is None


SYS = "NCCL INFO NCCL_P2P_LEVEL set by environment to {}\nh:1:2 [0] NCCL INFO Channel 00/1 : 0[0] -> 1[1] via {}"
FOUR = "{accelerator: rtx-4090, accelerators_per_node: 4, nodes: 1, scale_up: {topology: pcie, domain: 4}}"


@pytest.mark.parametrize(
    ("level", "path", "name", "weights"),
    [
        ("SYS", "P2P/direct pointer", "all-to-all", [0.7]),
        ("SYS", "P2P/direct pointer", "all-reduce", [0.4]),
        ("PXB", "P2P/direct pointer", "all-to-all", []),
        ("SYS", "SHM/direct/direct", "all-to-all", []),  # the setting has no effect
    ],
)
def test_peer_access_through_the_cpu_is_slow_where_a_setting_forces_it(
    level: str, path: str, name: str, weights: list[float]
) -> None:
    machine = cluster(FOUR)
    slow = log(machine, 4, name, before=SYS.format(level, path), scale=0.1)
    found = diagnosis_of(machine, [("a", slow)], LogOverrides()).compared[0]
    assert [each.weight for each in found.causes if each.name == "invalid-setting"] == weights


STUCK = "[rank3]:[E801 03:12:41 ProcessGroupNCCL.cpp:1882] ProcessGroupNCCL's watchdog got stuck for 480 seconds\n"
UNANSWERED = (
    "g:7:9 [2] NCCL WARN NET/IB: Got completion from peer 10.1.0.9<3> with status=12 opcode=1 len=0 vendor err 129\n"
)


@pytest.mark.parametrize(
    ("text", "cause"), [(STUCK + UNANSWERED, "ranks-diverge"), (UNANSWERED + STUCK, "unreachable-peer")]
)
def test_a_rank_that_was_ended_answers_none_of_its_peers(text: str, cause: str) -> None:
    found = read("{platform: dgx-h100, nodes: 2}", text, 16)
    assert found is not None and names(found)[0] == cause


@telling(1)
@pytest.mark.parametrize(("flat", "named"), [(True, False), (False, True)])
def test_small_messages_explain_nothing_where_larger_ones_are_no_faster(flat: bool, named: bool) -> None:
    machine = cluster("{platform: dgx-h100, nodes: 2}")
    whole = log(machine, 16, scale=0.3)
    points = [each for each in whole.series[0].points if each.size <= 4 << 20]
    last = points[-1].busbw
    changed = tuple(replace(each, busbw=last if flat else last * each.size / (4 << 20)) for each in points)
    short = replace(whole, series=(replace(whole.series[0], points=changed),))
    found = diagnosis_of(machine, [("a", short)], LogOverrides()).compared[0]
    assert ("small-messages" in names(found)) is named
