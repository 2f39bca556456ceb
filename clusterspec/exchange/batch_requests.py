"""Nodes and accelerators that a script requests from a scheduler other than Slurm.

Sources: PBS and Torque, `pbs_requests`; Grid Engine, `grid_engine_requests`; steps of ``jsrun``, `jsrun_steps`. IBM
Spectrum LSF 10.1, "Submitting jobs that require GPU resources" (``-gpu num=N`` counts those of a host unless ``/task``
follows) and "Span string" (``span[ptile=N]``: N tasks on each host, fewer on the last); ``-nnodes`` of jobs with
``jsrun``; the legacy resources ``ngpus_physical`` and others of ``rusage[]``, which a site reserves for each host or
each task (lsb.resources, RESOURCE_RESERVE_PER_TASK). Flux (flux-framework/flux-core 4a5e79f5),
``src/bindings/python/flux/cli/base.py`` and ``flux/job/directives.py``. OAR 2.5.9, its page oarsub: a hierarchy of
properties, the later within the earlier. User guide of Fugaku 1.49, options of pjsub: ``-L node=``, also a box of
nodes. ALCF, Cobalt Job Control: ``-n`` counts nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod

from clusterspec.exchange.grid_engine_requests import grid_engine_request
from clusterspec.exchange.jsrun_steps import request_of_steps
from clusterspec.exchange.pbs_requests import CountedLine, JobRequest, pbs_request

BATCH_DIRECTIVE = re.compile(
    r"^#(?:PBS|MSUB|BSUB|OAR|PJM|COBALT|\$|[ \t]{0,2}(?:flux|FLUX):)[ \t]{0,9}-(?=[A-Za-z-])", re.MULTILINE
)
_TITLES = {
    "PBS": "PBS",
    "MSUB": "Moab",
    "BSUB": "LSF",
    "OAR": "OAR",
    "PJM": "Fujitsu's batch system",
    "COBALT": "Cobalt",
    "FLUX": "Flux",
    "$": "Grid Engine",
}
MOST_LINES = 200


def scheduler_of(text: str) -> str:
    """The key of the scheduler whose directives a script has first; empty without any.

    >>> scheduler_of("#!/bin/bash\\n# flux: -N 2"), scheduler_of("#SBATCH -N 2")
    ('FLUX', '')
    """
    match = BATCH_DIRECTIVE.search(text)
    return match[0].strip("#-: \t").upper() if match else ""


def title_of(scheduler: str) -> str:
    """The name of a scheduler by its key."""
    return _TITLES[scheduler]


def request_of(text: str) -> JobRequest:
    """What the directives of a script request.

    >>> request_of("#BSUB -nnodes 4\\n#BSUB -gpu num=6:mode=shared")[:2]
    (CountedLine(number=4, line=1), CountedLine(number=6, line=2))
    >>> request_of("echo no directives")
    JobRequest(nodes=None, accelerators=None, total=None, open=())
    """
    scheduler = scheduler_of(text)
    return _READERS[scheduler](text) if scheduler else JobRequest()


def _options(text: str, prefix: str) -> Iterator[tuple[str, int]]:
    """The options of the directives of one scheduler, each line with its number, without comments."""
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(rf"#[ \t]{{0,2}}{prefix}(?=[ \t-])(?P<rest>.{{0,2000}})", line, re.IGNORECASE):
            yield match["rest"].split(" #", 1)[0], number


def _last_match(text: str, prefix: str, pattern: str) -> tuple[re.Match[str], int] | None:
    """The last match of a pattern among the options of a scheduler, with its line; the last of two options applies."""
    found = [(match, line) for rest, line in _options(text, prefix) for match in re.finditer(pattern, rest)]
    return found[-1] if found else None


def _lsf_request(text: str) -> JobRequest:
    """The request of a job of LSF.

    >>> request_of("#BSUB -n 16\\n#BSUB -R 'span[ptile=8]'\\n#BSUB -gpu num=1/task")[:2]
    (CountedLine(number=2, line=2), CountedLine(number=8, line=3))
    >>> request_of("#BSUB -n 4\\n#BSUB -gpu num=2:mode=exclusive_process").open[0][:1]
    ('num=2:mode=exclusive_process',)
    """
    nodes = _lsf_nodes(text)
    if reserved := _last_match(text, "BSUB", _RESERVED):
        return _with_reserved(text, nodes, *reserved)
    asked = _last_match(text, "BSUB", r"(?<=[ \t])-gpu[ \t]{1,4}[\"']?(?P<words>[^\"'\s]{1,200})")
    if asked is None or not (
        number := re.search(r"(?:^|:)num=(?P<count>[0-9]{1,4})(?P<task>/task)?", asked[0]["words"])
    ):
        return request_of_steps(text, nodes)
    count, line, words = int(number["count"]), asked[1], asked[0]["words"]
    if not number["task"]:
        return _by_host(nodes, CountedLine(count, line), words)
    tasks = _stated_number(text, r"(?<=[ \t])-n[ \t]{0,4}(?P<count>[0-9]{1,6})(?![\d,])")
    if tasks is None:
        return JobRequest(nodes, open=((words, "of a task, whose number is not stated", line),))
    total = CountedLine(count * tasks.number, line)
    even = nodes and total.number % nodes.number == 0
    return JobRequest(nodes, CountedLine(total.number // nodes.number, line) if nodes and even else None, total)


_RESERVED = r"rusage\[[^\]]{0,200}?\b(?P<name>ngpus(?:_\w{1,12})?)=(?P<count>[0-9]{1,4})\b"


def _with_reserved(text: str, nodes: CountedLine | None, match: re.Match[str], line: int) -> JobRequest:
    """A request with accelerators that a job reserves: for each host or each task, which are the same for one task."""
    tasks = _stated_number(text, r"(?<=[ \t])-n[ \t]{0,4}(?P<count>[0-9]{1,6})(?![\d,])")
    found = CountedLine(int(match["count"]), line)
    if tasks and tasks.number == 1 and found.number:
        return JobRequest(CountedLine(1, tasks.line), found, found)
    why = "of each host or of each task: the site decides"
    return JobRequest(nodes, open=((f"{match['name']}={match['count']}", why, line),))


def _by_host(nodes: CountedLine | None, accelerators: CountedLine, words: str) -> JobRequest:
    """A request for accelerators of each host of a job."""
    if nodes:
        return JobRequest(nodes, accelerators, CountedLine(nodes.number * accelerators.number, accelerators.line))
    why = "of each host: on how many hosts the tasks are the script does not say (span[hosts=1], span[ptile=N])"
    return JobRequest(accelerators=accelerators, open=((words, why, accelerators.line),))


def _lsf_nodes(text: str) -> CountedLine | None:
    """The hosts of a job of LSF, if its directives decide them."""
    if stated := _stated_number(text, r"(?<=[ \t])-nnodes[ \t]{1,4}(?P<count>[0-9]{1,6})(?!\d)"):
        return stated
    tasks = _stated_number(text, r"(?<=[ \t])-n[ \t]{0,4}(?P<count>[0-9]{1,6})(?![\d,])")
    if alone := _last_match(text, "BSUB", r"span\[[^\]]{0,60}\bhosts=1\b"):
        return CountedLine(1, alone[1])
    tile = _stated_number(text, r"span\[[^\]]{0,60}\bptile=(?P<count>[0-9]{1,4})\b")
    if tasks and tile and tile.number:
        return CountedLine(-(-tasks.number // tile.number), tile.line)
    return CountedLine(1, tasks.line) if tasks and tasks.number == 1 else None


def _stated_number(text: str, pattern: str, prefix: str = "BSUB") -> CountedLine | None:
    """The last number that an option states, with its line."""
    found = _last_match(text, prefix, pattern)
    return CountedLine(int(found[0]["count"]), found[1]) if found and int(found[0]["count"]) else None


def _flux_request(text: str) -> JobRequest:
    """What a job of Flux requests: slots, or tasks, are spread evenly over its nodes.

    >>> request_of("#flux: -N2 -n 8\\n#flux: -g 1")[:2]
    (CountedLine(number=2, line=1), CountedLine(number=4, line=2))
    >>> request_of("# flux: --nodes=2\\n# flux: --gpus-per-node=8")[:2]
    (CountedLine(number=2, line=1), CountedLine(number=8, line=2))
    """
    nodes, slots = _flux_number(text, "N", "nodes"), _flux_number(text, "n", "nslots|ntasks")
    of_node, of_slot = _flux_number(text, "", "gpus-per-node"), _flux_number(text, "g", "gpus-per-slot|gpus-per-task")
    if nodes and of_node:
        return JobRequest(nodes, of_node, CountedLine(nodes.number * of_node.number, of_node.line))
    if of_slot is None:
        return JobRequest(nodes)
    if slots is None:
        why = "of a slot: the nodes are the job's alone, and may have more"
        return JobRequest(nodes, open=((f"{of_slot.number} accelerators", why, of_slot.line),))
    total = CountedLine(slots.number * of_slot.number, of_slot.line)
    if nodes and slots.number % nodes.number == 0:
        return JobRequest(nodes, CountedLine(total.number // nodes.number, of_slot.line), total)
    one = CountedLine(1, slots.line) if slots.number == 1 and nodes is None else nodes
    return JobRequest(one, CountedLine(total.number, of_slot.line) if one and slots.number == 1 else None, total)


def _flux_number(text: str, short: str, long: str) -> CountedLine | None:
    """The number of an option of Flux by its letter or names."""
    letter = rf"(?<![\w-])-{short}[ \t=]{{0,4}}|" if short else ""
    return _stated_number(text, rf"(?:{letter}--(?:{long})(?:=|[ \t]{{1,4}}))(?P<count>[0-9]{{1,6}})(?![\w-])", "flux:")


def _oar_request(text: str) -> JobRequest:
    """What a job of OAR requests: a hierarchy of resources.

    >>> request_of("#OAR -l /nodes=2/gpu=4,walltime=1:00:00")[:2]
    (CountedLine(number=2, line=1), CountedLine(number=4, line=1))
    """
    found = _last_match(
        text, "OAR", r"(?<=[ \t])-l[ \t]{1,4}[\"']?(?:\{[^}\n]{0,200}\})?(?P<words>[^\s\"'+]{1,200})(?!\S*\+)"
    )
    if found is None:
        return JobRequest()
    levels = re.findall(r"(?:^|/)([A-Za-z_]{1,30})=([0-9]{1,6})(?=/|,|$)", found[0]["words"].split(",", 1)[0])
    nodes = next((int(count) for name, count in levels if name in {"nodes", "host", "network_address"}), None)
    each = next((int(count) for name, count in levels if name.startswith("gpu")), None)
    if nodes is None:
        total = CountedLine(each, found[1]) if each and len(levels) == 1 else None
        return JobRequest(total=total)
    at = CountedLine(nodes, found[1])
    return JobRequest(at, CountedLine(each, found[1]), CountedLine(nodes * each, found[1])) if each else JobRequest(at)


def _fujitsu_request(text: str) -> JobRequest:
    """What a job of pjsub requests: nodes, or the sides of a box of nodes.

    >>> request_of('#PJM -L "node=4x6x16"').nodes
    CountedLine(number=384, line=1)
    """
    found = _last_match(text, "PJM", r"\bnode=(?P<sides>[0-9]{1,5}(?:x[0-9]{1,5}){0,2})(?![\w(])")
    nodes = CountedLine(prod(map(int, found[0]["sides"].split("x"))), found[1]) if found else None
    shared = _last_match(text, "PJM", r"\bgpu=[0-9]{1,4}\b")
    why = "a share of a node, or of each node: the directives do not say"
    return JobRequest(nodes, open=((shared[0][0], why, shared[1]),) if shared else ())


def _cobalt_request(text: str) -> JobRequest:
    """What a job of Cobalt requests; in a queue of single accelerators, ``-n`` counts these."""
    if shared := _last_match(text, "COBALT", r"-q[ \t]{1,4}(?P<queue>\S{0,40}single-gpu\S{0,40})"):
        why = "a queue whose nodes are accelerators"
        return JobRequest(open=((shared[0]["queue"], why, shared[1]),))
    return JobRequest(_stated_number(text, r"(?<=[ \t])-n[ \t]{1,4}(?P<count>[0-9]{1,6})(?!\d)", "COBALT"))


_READERS: dict[str, Callable[[str], JobRequest]] = {
    "PBS": pbs_request,
    "MSUB": pbs_request,
    "BSUB": _lsf_request,
    "FLUX": _flux_request,
    "OAR": _oar_request,
    "PJM": _fujitsu_request,
    "$": grid_engine_request,
    "COBALT": _cobalt_request,
}
