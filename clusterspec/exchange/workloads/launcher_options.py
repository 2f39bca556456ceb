"""Options of launchers under the names that readers take: shortened ones, and the hosts that one includes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from clusterspec.exchange.shell import Command, variables_of
from clusterspec.exchange.shell_words import Word

_OTHER_NODES = re.compile(
    r"n_?nodes|num_?nodes|node_?rank|\bPET_|apiVersion|^#(?:SBATCH|PBS|BSUB)|\b(?:srun|mpirun|mpiexec|pdsh|jsrun)\b|hostfile"
    r"|rdzv_(?:endpoint|id)|SKYPILOT|SLURM_|PADDLE_TRAINERS",
    re.IGNORECASE | re.MULTILINE,
)
"""Words of a text that may start a launch on several nodes. ``PET_NNODES`` replaces the default of ``--nnodes``."""
_SHORTENED = {"nnode": "nnodes", "nproc": "nproc_per_node"}
"""Options of ``torchrun`` as its parser takes them shortened (argparse)."""
_HOST = r"[\w.-]{1,80}:\d{1,3}(?:,\d{1,3}){0,63}"
_INCLUDED = re.compile(rf"{_HOST}(?:@{_HOST}){{0,999}}")


def take_launcher_options(values: dict[str, tuple[Any, int]], words: Sequence[str], placed: bool = False) -> None:
    """Name the options of a launcher as readers take them; ``values`` are changed, ``words`` are the command.
    ``placed`` says that a program around the launch places it, which may set its nodes and ranks otherwise.

    >>> values = {"include": ("a:0,1@b:2,3", 4)}
    >>> take_launcher_options(values, ["deepspeed", "--include", "a:0,1@b:2,3"])
    >>> values
    {'num_nodes': ('2', 4), 'num_gpus': ('2', 4)}
    """
    if any("torchrun" in word or "torch.distributed" in word for word in words):
        for short, name in _SHORTENED.items():
            if short in values and name not in values:
                values[name] = values.pop(short)
    if any(word.rpartition("/")[2] == "deepspeed" for word in words):
        _take_included(values)
    for name in _COUNTED & values.keys() if placed else ():
        del values[name]


def _take_included(values: dict[str, tuple[Any, int]]) -> None:
    """Give hosts and devices that DeepSpeed's launcher includes as counts, unless hosts differ in their devices.

    Form: ``NAME:DEVICE[,DEVICE…][@NAME:…]`` (deepspeedai/DeepSpeed, deepspeed/launcher/runner.py, ``--include``).
    """
    stated, line = values.get("include", (None, 0))
    if not isinstance(stated, str) or not _INCLUDED.fullmatch(stated) or values.keys() & {"num_gpus", "num_nodes"}:
        return
    devices = {each.count(",") + 1 for each in stated.split("@")}
    if len(devices) == 1:
        del values["include"]
        values["num_nodes"] = (str(stated.count("@") + 1), line)
        values["num_gpus"] = (str(devices.pop()), line)


_LAUNCHERS = frozenset(
    {"srun", "sbatch", "mpirun", "mpiexec", "flux", "jsrun", "aprun", "torchrun", "accelerate", "deepspeed"}
)
"""Programs whose own options count the nodes and ranks of the launch after them."""
_PLACES = re.compile(r"--(?:num[-_])?(?:nodes|machines|gpus|replicas|instances|workers)(?:=.{0,40})?")
_COUNTED = frozenset({"num_processes", "num_machines", "nnodes", "nproc_per_node", "num_nodes", "num_gpus", "nodes"})


def launch_within(words: list[Word]) -> tuple[list[Word], Word | None]:
    """The words of the launch that a program places on nodes and devices itself, and that program; all words and None
    without one. A ``--`` is before the launch.

    >>> def launch(text):
    ...     words, placed_by = launch_within([Word(each, 1) for each in text.split()])
    ...     return " ".join(word.text for word in words), placed_by and placed_by.text
    >>> launch("python mason.py --num_nodes 8 --gpus 8 -- accelerate launch train.py")
    ('accelerate launch train.py', 'mason.py')
    >>> launch("srun --nodes=2 -- train.py")
    ('srun --nodes=2 -- train.py', None)
    """
    texts = [word.text for word in words]
    before = texts[: texts.index("--")] if "--" in texts[:-1] else []
    starts = any(text.rpartition("/")[2] in _LAUNCHERS for text in before)
    if starts or not any(_PLACES.fullmatch(text) for text in before):
        return words, None
    program = next((word for word in words[: len(before)] if word.text.endswith(".py")), words[0])
    return words[len(before) + 1 :], program


_RUNNERS = frozenset({"uv", "uvx", "poetry", "pdm", "hatch", "rye", "debugpy-run", "debugpy"})
"""Programs that start an interpreter, and take options of their own before it."""
_STARTED = frozenset({"python", "python3", "torchrun", "accelerate", "deepspeed", "vllm", "trtllm-serve", "-m"})
"""Words with which the command after a runner begins."""


def without_runner_options(words: list[Word]) -> list[Word]:
    """The words of a launch without the options of a program that prepares or observes its interpreter.

    >>> launch = "srun uv run --no-sync python train.py --lr 1"
    >>> " ".join(word.text for word in without_runner_options([Word(each, 1) for each in launch.split()]))
    'srun uv run python train.py --lr 1'
    >>> launch = "debugpy-run -p :5678 -m torch.distributed.run -- train.py"
    >>> " ".join(word.text for word in without_runner_options([Word(each, 1) for each in launch.split()]))
    'debugpy-run -m torch.distributed.run -- train.py'
    """
    texts = [word.text.rpartition("/")[2] for word in words]
    runner = next((n for n, text in enumerate(texts) if text in _RUNNERS), None)
    if runner is None:
        return words
    kept = runner + 2 if texts[runner + 1 : runner + 2] == ["run"] else runner + 1
    started = (n for n, text in enumerate(texts) if n >= kept and (text in _STARTED or text.endswith(".py")))
    start = next(started, kept)
    return words[:kept] + words[start:]


def take_single_node(values: dict[str, tuple[Any, int]], words: Sequence[str], text: str) -> None:
    """State one node for a launch by ``torchrun`` without ``--nnodes``, in a text that names no other node.

    The default is one node: pytorch/pytorch 010929fd, torch/distributed/run.py, ``--nnodes``, ``default="1:1"``.
    ``--standalone`` is for one node, also where the number of its ranks is open: its ranks meet at a port of the node.

    >>> values = {"nproc_per_node": ("4", 2)}
    >>> take_single_node(values, ["torchrun", "--nproc_per_node=4", "a.py"], "torchrun --nproc_per_node=4 a.py")
    >>> values["nnodes"]
    ('1', 2)
    >>> values = {"standalone": (True, 3)}
    >>> take_single_node(values, ["torchrun", "--standalone", "a.py"], "#SBATCH -N 1")
    >>> values["nnodes"]
    ('1', 3)
    """
    started = any(word.rpartition("/")[2] == "torchrun" or word.startswith("torch.distributed.") for word in words)
    if started and "--standalone" in words and "nnodes" not in values:
        values["nnodes"] = ("1", values.get("standalone", ("", 0))[1])
    elif started and "nproc_per_node" in values and "nnodes" not in values and is_of_one_node(text):
        values["nnodes"] = ("1", values["nproc_per_node"][1])


@lru_cache(maxsize=4)  # a text may hold thousands of launches
def is_of_one_node(text: str) -> bool:
    """Whether a text names nothing that may start a launch on several nodes."""
    return not _OTHER_NODES.search(text)


def take_swift_environment(values: dict[str, tuple[Any, int]], command: Command, text: str) -> None:
    """State the ranks that ms-swift passes to ``torchrun`` from variables of its command or of the script
    (swift/cli/main.py passes the variables that are set; for the others, the default of ``--nnodes`` holds). Where
    another file sets the ranks of a node, it may set the nodes as well.
    """
    take_rank_variables(_OF_SWIFT, values, command, text)
    ranks, line = values.get("nproc_per_node", ("", 0))
    if str(ranks).isdecimal() and "nnodes" not in values and is_of_one_node(text):
        values["nnodes"] = ("1", line)


def take_rank_variables(
    names: tuple[str, ...], values: dict[str, tuple[Any, int]], command: Command, text: str
) -> None:
    """State the variables with these names, of a command or of the script before it, that no undecided branch sets."""
    given = {name: word for name, word in variables_of(text).items() if name in names} | dict(command.environment)
    for name in names:
        if (word := given.get(name)) is not None and not word.branch:
            values[name.lower()] = (word.text, word.line)


_OF_SWIFT = ("NNODES", "NPROC_PER_NODE")
