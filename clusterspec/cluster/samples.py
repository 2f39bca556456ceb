"""The samples of reinforcement learning, and the models that take part."""

from __future__ import annotations

from clusterspec.cluster.requests import Lengths
from clusterspec.records import dataclass


@dataclass(frozen=True)
class Role:
    """A model in addition to the trained one: ``reference``, ``critic`` or ``reward``.

    ``model`` is None if it is the trained model. ``nodes`` is the number of separate nodes; None means the trainer's
    nodes, with ``offload`` to host memory between uses.
    """

    name: str
    model: str | None
    nodes: int | None
    offload: bool
    pool: str | None = None
    """The pool of the spec that has its nodes; None for the cluster of the trainer."""


@dataclass(frozen=True)
class WeightSync:
    """The transfer of new weights to the engines: ``nccl``, ``rdma``, ``disk`` or ``ipc``.

    Sent in ``precision``, ``bucket`` bytes at a time.
    """

    method: str
    precision: str
    bucket: float
    ranks: str = "all"
    """The ranks of the trainer that join a broadcast: ``all``, or ``one``."""
    gather: str = "packed"
    """How the trainer assembles tensors: many in one collective (``packed``); one tensor per collective, with the
    experts at the same index of all ranks together (``single``); or one broadcast for each expert (``every-expert``).
    """
    load: str = "packed"
    """How an engine loads tensors: many in one buffer (``packed``), each by its own handle (``single``), or written in
    place (``in-place``).
    """
    requests: str = "stopped"
    """Whether engines stop their requests while weights change (``stopped``) or continue them (``kept``)."""


@dataclass(frozen=True)
class Rl:
    """Reinforcement learning: the samples of one step, and its roles.

    A sample has a prompt of ``inputs`` tokens and ``outputs`` generated tokens over all its ``turns``, between which
    its environment takes ``environment_time`` seconds. A step has ``minibatches`` optimizer steps for each of
    ``epochs``; rollout may run ``max_staleness`` steps ahead of the weights, and then generates the samples of
    ``batches_in_flight`` steps at once. ``placement`` is ``colocated`` (rollout
    and trainer on the same nodes in turn), ``split`` (rollout on ``rollout_nodes`` of its own), or ``partial``
    (rollout on all nodes, its longest samples on its own). ``trainer_nodes`` belong to the trainer.
    """

    algorithm: str
    prompts: int
    samples_per_prompt: int
    inputs: Lengths
    outputs: Lengths
    turns: int
    environment_time: float
    minibatches: int
    epochs: int
    max_staleness: int
    placement: str
    trainer_nodes: int
    rollout_nodes: int
    roles: tuple[Role, ...]
    sync: WeightSync
    rollout_pool: str | None = None
    """The pool of the spec that has the nodes of rollout; None for the cluster of the trainer."""
    recorded: bool = False
    """Whether the trainer takes the log-probabilities of samples that the engines recorded."""
    batches_in_flight: float = 0.0

    @property
    def samples(self) -> int:
        """Samples of one step."""
        return self.prompts * self.samples_per_prompt

    @property
    def step_tokens(self) -> float:
        """Tokens of one step: the prompts and answers of its samples, each counted once."""
        return self.samples * self.sample_tokens

    @property
    def updates(self) -> int:
        """Optimizer steps of one step."""
        return self.minibatches * self.epochs

    @property
    def own_roles(self) -> tuple[Role, ...]:
        """The roles on separate nodes in the trainer's cluster."""
        return tuple(role for role in self.roles if role.nodes is not None and role.pool is None)

    @property
    def roles_on_separate_nodes(self) -> tuple[Role, ...]:
        """The roles on separate nodes, in the trainer's cluster or on another pool."""
        return tuple(role for role in self.roles if role.nodes is not None)

    @property
    def has_nodes(self) -> bool:
        """Whether the trainer, and rollout apart from it, have a node each; without one, the design has no figures."""
        apart = self.placement != "colocated" and self.rollout_pool is None
        return self.trainer_nodes > 0 and (self.rollout_nodes > 0 or not apart)

    @property
    def nodes(self) -> int:
        """Nodes of the trainer's cluster for all roles."""
        rollout = self.rollout_nodes if self.rollout_pool is None else 0
        return self.trainer_nodes + rollout + sum(role.nodes or 0 for role in self.own_roles)

    @property
    def sample_tokens(self) -> float:
        """Mean tokens of one sample, prompt and output."""
        return float(self.inputs.mean + self.outputs.mean)

    @property
    def longest_sample(self) -> int:
        """Tokens of the longest sample: where prompts and outputs are cut, else their 99th percentiles."""
        return (self.inputs.most or self.inputs.p99) + (self.outputs.most or self.outputs.p99)

    def role(self, name: str) -> Role | None:
        """The role of a name; None if the algorithm has none."""
        return next((role for role in self.roles if role.name == name), None)
