"""Options of a Slurm job in its script: ``#SBATCH`` lines.

Grammar: sbatch(1), https://slurm.schedmd.com/sbatch.html; the options apply unless ``sbatch`` itself is called with
others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.text_lines import line_at

_LINE = re.compile(r"^#SBATCH[ \t]+\S")
_OPTION = re.compile(
    r"(?<=[ \t])(?:--(?P<name>nodes|ntasks|n?tasks-per-node|gpus-per-node|gpus-per-task|gpus|gres)|-(?P<short>[NnG]))"
    r"(?:[ \t]*=[ \t]*|[ \t]*)[\"']?"
    r"(?:(?!gpu:)[A-Za-z][\w.-]{0,40}(?::[\w.-]{1,40}){0,2},){0,8}"
    r"(?:gpu:)?(?:(?P<kind>(?:[A-Za-z]|[1-9]g\.)[\w.-]{0,40}):)?(?P<count>[0-9]{1,6})(?=[ \t,\"']|$)",
    re.MULTILINE,
)
_OF_OTHERS = frozenset({"dcu", "npu", "mlu", "hpu", "gaudi", "gcu"})
"""Names under which sites count accelerators of Hygon, Huawei, Cambricon, Intel and Enflame in ``--gres``: the site
chooses the name of a resource (gres.conf(5)). Example: ``dcu`` in Beilong-Tang/laura_gpt_se_dm.
"""

_SHORT = {"N": "nodes", "n": "ntasks", "G": "gpus"}
_OTHER_NAMES = {"tasks-per-node": "ntasks-per-node"}
"""Options under another name (SchedMD/slurm 284c3b95, src/common/slurm_opt.c, line 3852)."""


def directives(text: str, offset: int = 0) -> dict[str, tuple[str, int]]:
    """Counts of a job by the long names of their options, each with its line; ``offset`` lines precede the text.

    >>> directives("#SBATCH -N 4\\n#SBATCH --gres=gpu:h100:8")
    {'nodes': ('4', 1), 'gres': ('8', 2)}
    >>> directives("#SBATCH <OPTIONS> --nodes=128 --exclusive --ntasks-per-node=8")
    {'nodes': ('128', 1), 'ntasks-per-node': ('8', 1)}
    >>> directives("#SBATCH --tasks-per-node 4")
    {'ntasks-per-node': ('4', 1)}
    >>> directives("#SBATCH --gres=gpu"), directives("#SBATCH --gres=gpu:a100"), directives("#SBATCH --gres=gpu:COUNT")
    ({'gres': ('1', 1)}, {'gres': ('1', 1)}, {})
    >>> directives("#SBATCH --gres=dcu:4"), directives("#SBATCH --gres=craynetwork:1")
    ({'gres': ('4', 1)}, {})

    A job that states neither nodes nor tasks has the hosts that it lists.

    >>> directives("#SBATCH --nodelist=gpu[01-03],a\\n#SBATCH --gres=gpu:8")
    {'gres': ('8', 2), 'nodes': ('4', 1)}
    >>> directives("#SBATCH -w gpu[01-03]\\n#SBATCH --ntasks=8")
    {'ntasks': ('8', 2)}
    """
    stated = ((match["name"] or _SHORT[match["short"]], match, line) for line, match in _directives(text))
    found = {_OTHER_NAMES.get(name, name): (match["count"], line + offset) for name, match, line in stated}
    if {"nodes", "ntasks"}.isdisjoint(found) and (listed := _HOSTS.search(text)) and not open_counts(text):
        found |= _count_of_hosts(listed["hosts"], line_at(text, listed.start()) + offset)
    return found


_HOSTS = re.compile(
    r"^#SBATCH[ \t](?:[^#\n]{0,400}?[ \t])?(?:--nodelist(?:=|[ \t]{1,4})|-w[ \t]{0,4})[\"']?"
    r"(?P<hosts>[\w.\[\],-]{1,2000})[\"']?(?=[ \t]|$)",
    re.MULTILINE,
)
"""Option with the hosts of a job: "The job will contain all of these hosts and possibly additional hosts as needed"
(sbatch(1)).
"""


def _count_of_hosts(listed: str, line: int) -> dict[str, tuple[str, int]]:
    """The number of nodes in a list of hosts; empty if it is not a list of hosts."""
    from clusterspec.exchange.fabrics.graph import expanded_hosts  # only for jobs that list hosts
    from clusterspec.exchange.import_result import FormatError

    try:
        hosts = set(expanded_hosts(listed))
    except FormatError:
        return {}
    return {"nodes": (str(len(hosts)), line)}


_OPEN = re.compile(
    r"(?<=[ \t])--(?P<name>nodes|n?tasks-per-node|gpus-per-node|gpus-per-task|gpus|gres)[ \t=]+(?:gpu:)?"
    r"(?P<value>[{$<@%]\S{1,60})"
)
"""A count that is a placeholder, to be replaced by another program or by the reader: Slurm expands no variables in
directives.
"""


def open_counts(text: str) -> list[tuple[str, str, int]]:
    """The counts of a job that are placeholders in its script, by option and text, each with its line.

    >>> open_counts("#SBATCH --nodes={nodes}\\n#SBATCH --gres=gpu:4\\n#SBATCH --gpus=$N")
    [('nodes', '{nodes}', 1), ('gpus', '$N', 3)]
    """
    lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if _LINE.match(line))
    found = [(match, number) for number, line in lines for match in _OPEN.finditer(line[:400])]
    return [(match["name"], match["value"], number) for match, number in found]


def accelerators_of_node(text: str) -> tuple[int, int] | None:
    """The accelerators per node on which all directives of a text agree, with the first line; None if they differ.

    Accelerators of a job (``--gpus``) count for its node if it has only one node.

    >>> accelerators_of_node("#SBATCH --gres=gpu:8\\n"), accelerators_of_node("#SBATCH -G 8\\n")
    ((8, 1), None)
    >>> accelerators_of_node("#SBATCH -N 1 -n 2\\n#SBATCH --gpus-per-task=4\\n")
    (8, 2)
    >>> accelerators_of_node("#SBATCH -N 1\\n#SBATCH --gpus=4\\n"), accelerators_of_node("#SBATCH -N 2 --gpus=8\\n")
    ((4, 2), None)
    """
    if requested_accelerator_parts(text):
        return None
    asked = _counts_of_node(text)
    found = directives(text)
    if not asked and (of_task := _accelerators_of_tasks(found)):
        return of_task
    if not asked and "gpus" in found and found.get("nodes", ("",))[0] == "1":
        return int(found["gpus"][0]), found["gpus"][1]
    return asked[0] if len({count for count, _ in asked}) == 1 and asked[0][0] else None


def _counts_of_node(text: str) -> list[tuple[int, int]]:
    """The accelerators per node from each directive of a text, with its line."""
    return [
        (int(match["count"]), line) for line, match in _directives(text) if match["name"] in {"gpus-per-node", "gres"}
    ]


def differing_counts(text: str) -> list[tuple[int, int]]:
    """The different accelerators per node in the directives of a text, each with its first line; empty if all agree.

    >>> differing_counts("#SBATCH --gres=gpu:2\\n#SBATCH --gpus-per-node=1"), differing_counts("#SBATCH --gres=gpu:2")
    ([(2, 1), (1, 2)], [])
    """
    first: dict[int, int] = {}
    for count, line in _counts_of_node(text):
        first.setdefault(count, line)
    return list(first.items()) if len(first) > 1 else []


def _accelerators_of_tasks(found: dict[str, tuple[str, int]]) -> tuple[int, int] | None:
    """The accelerators per node if each task requests some, with the line; None if the number of tasks per node is
    unknown.

    A job that states no tasks has one on each node, and one task is on one node; several tasks on several nodes may lie
    on them unevenly.

    >>> _accelerators_of_tasks({"gpus-per-task": ("8", 2), "ntasks": ("1", 1)})
    (8, 2)
    >>> _accelerators_of_tasks({"gpus-per-task": ("8", 2), "ntasks": ("2", 1)})
    """
    if "gpus-per-task" not in found:
        return None
    each, line = int(found["gpus-per-task"][0]), found["gpus-per-task"][1]
    tasks, nodes, on_node = (int(found.get(name, ("0", 0))[0]) for name in ("ntasks", "nodes", "ntasks-per-node"))
    if not on_node:
        on_node = tasks if nodes == 1 and tasks else 1 if tasks in {0, 1, nodes} else 0
    return (each * on_node, line) if each and on_node else None


_SLICE = re.compile(r"(?:^|[_.-])[1-9]g\.[0-9]{1,3}gb")
_DIE = re.compile(r"(?:^|[_.-])mi250x?(?:$|[_.-])", re.IGNORECASE)
"""A product whose two dies are separate devices (``ranks_per_accelerator`` in the catalog)."""


def is_slice(kind: str) -> bool:
    """Whether a type of accelerator is a slice (MIG)."""
    return bool(_SLICE.search(kind))


def requested_accelerator_parts(text: str) -> list[tuple[str, int]]:
    """The parts of accelerators that directives request, slices (MIG) or dies, each with its line.

    >>> requested_accelerator_parts("#SBATCH --gres=gpu:a100_3g.20gb:2")
    [('a100_3g.20gb', 1)]
    >>> requested_accelerator_parts("#SBATCH --gres=gpu:a100:2")
    []
    >>> requested_accelerator_parts("#SBATCH --gpus-per-node=mi250:8")
    [('mi250', 1)]
    """
    return [(kind, line) for kind, line in accelerator_kinds(text) if is_slice(kind) or _DIE.search(kind)]


def accelerator_kinds(text: str) -> list[tuple[str, int]]:
    """The types of accelerators that directives name, each with its line.

    >>> accelerator_kinds("#SBATCH -N 4\\n#SBATCH --gres=gpu:h100:8")
    [('h100', 2)]
    """
    return [(match["kind"], line) for line, match in _directives(text) if match["kind"]]


_FEATURES = re.compile(
    r"^#SBATCH[ \t][^#\n]{0,400}?(?<=[ \t])(?:--(?:constraint|partition)[= \t]{1,4}|-[Cp][ \t]{0,4})[\"']?"
    r"(?P<words>[\w,&|*()\[\]-]{1,200})",
    re.MULTILINE,
)


def accelerator_features(text: str) -> list[tuple[str, int]]:
    """Names of accelerators among the features and partitions that directives request, each with its line.

    >>> accelerator_features("#SBATCH -N 1\\n#SBATCH --constraint=h100&ib\\n#SBATCH -p gpu_a800,long")
    [('h100', 2), ('a800', 3)]
    """
    from clusterspec.catalog.names import ids_of_name  # only for jobs that name some

    found: dict[str, int] = {}
    for match in _FEATURES.finditer(text):
        for word in re.split(r"[^A-Za-z0-9]+", match["words"]):
            if word and ids_of_name("accelerator", word):
                found.setdefault(word, line_at(text, match.start("words")))
    return list(found.items())


_UNCOUNTED = re.compile(r"(?<=--gres[= ])gpu(?::(?=[A-Za-z_-]{0,20}\d)[A-Za-z][\w.-]{0,40})?(?=[ \t,\"']|$)")
"""Accelerators without a count, which is one then ("Where the count is not specified, the default is 1", sbatch(1)); a
word without a digit may be a placeholder.
"""


def _directives(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The directives with a count, each with its line. Generic resources other than accelerators are left out."""
    for line, words in enumerate(text.split("\n"), 1):
        stated = _UNCOUNTED.sub(r"\g<0>:1", words.split(" #", 1)[0][:2_000]) if _LINE.match(words) else ""
        for match in _OPTION.finditer(stated):
            if match["name"] != "gres" or "gpu:" in match[0] or (match["kind"] or "").lower() in _OF_OTHERS:
                yield line, match


_ON_NODE = "SLURM_GPUS_ON_NODE"
_VARIABLES = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS",),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "gpus-per-node": ("SLURM_GPUS_PER_NODE", _ON_NODE),
    "gpus-per-task": ("SLURM_GPUS_PER_TASK",),
    "gres": (_ON_NODE,),
    "gpus": ("SLURM_GPUS",),
}
"""The variables that Slurm sets from a job's options: https://slurm.schedmd.com/sbatch.html, output variables."""
OF_A_JOB = re.compile(r"(?:SLURM|PBS|LSB|PJM|OMPI|PMI|PMIX|FLUX|COBALT|SGE|PET)_|(?:LOCAL_)?RANK$|WORLD_SIZE$")
"""Variables that a scheduler or launcher sets. A test for such a variable depends on how the script is started."""


def job_variables(text: str, offset: int) -> dict[str, tuple[str, int]]:
    """The variables of a job whose values follow from the directives of its script, each with its value and line."""
    found = directives(text, offset)
    given = {name: counted for option, counted in found.items() for name in _VARIABLES[option]}
    if _ON_NODE not in given and (of_tasks := _accelerators_of_tasks(found)):
        given[_ON_NODE] = (str(of_tasks[0]), of_tasks[1])
    return given
