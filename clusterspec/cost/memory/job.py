"""What all ranks of one training job share, as the numbers that memory follows."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Design, Layout, Workload
from clusterspec.cost.memory import families
from clusterspec.cost.memory.given import Given
from clusterspec.cost.memory.habits import Habits
from clusterspec.cost.memory.spread import Spread
from clusterspec.precision import NARROW, activation_width, operand_width

ACTIVATION = 2.0
"""Bytes of an activation or a weight that is gathered: 16 bits."""


@dataclass(frozen=True, slots=True)
class Job:
    """One training job. Tokens are those of one micro-batch on one rank."""

    model: Model
    workload: Workload
    layout: Layout
    habits: Habits
    given: Given
    gradients_said: bool

    @classmethod
    def of(cls, design: Design, workload: Workload, layout: Layout) -> Job:
        said = design.spec.workload
        vendor = design.cluster.accelerator.vendor if design.cluster else ""
        return cls(
            model=workload.model,
            workload=workload,
            layout=layout,
            habits=families.of(layout.framework, layout.software_year, layout.sharding, vendor),
            given=Given(design),
            gradients_said=said is not None and said.gradient_precision is not None,
        )

    @property
    def tokens(self) -> float:
        return self.layout.micro_batch * self.workload.sequence_length / self.layout.cp

    @property
    def micro_batches(self) -> int:
        return self.layout.micro_batches or 1

    @property
    def matrices(self) -> int:
        """Matrices of a feed-forward network."""
        return self.model.ffn_matrices

    @property
    def residual_ranks(self) -> int:
        """Ranks that cut the residual stream."""
        return self.layout.tp if self.layout.sequence_parallel or self.habits.hidden_cut else 1

    @property
    def width(self) -> float:
        """Bytes of one activation."""
        return activation_width(self.workload.precision)

    @property
    def kept(self) -> float:
        """Bytes of one number that a matrix product keeps as its input."""
        precision = self.workload.precision
        return operand_width(precision) if self.habits.quantized_inputs and precision in NARROW else self.width

    @property
    def hidden_ranks(self) -> int:
        """Ranks that cut even what sequence parallelism gathers before a product."""
        return self.layout.tp if self.habits.hidden_cut else 1

    @property
    def quantized_gradients(self) -> Spread | None:
        """What is taken for the bytes of a gradient because products run in fp8 or fp4."""
        return (
            self.habits.quantized_gradients if self.workload.precision in NARROW and not self.gradients_said else None
        )

    @property
    def leaves_gathered(self) -> bool:
        """Whether FSDP leaves weights gathered from forward to backward: as ZeRO-2, and in pipelines."""
        if not self.habits.sharded_master or self.shards == 1:
            return False
        fully = self.layout.sharding in {"fsdp", "hsdp"}
        return self.layout.sharding == "zero2" or (fully and self.layout.pp > 1)

    @property
    def shards_weights(self) -> bool:
        """Whether a rank keeps only its part of the weights."""
        return self.layout.sharding in {"fsdp", "hsdp"} or self.leaves_gathered

    @property
    def gathers_units(self) -> bool:
        """Whether weights are gathered layer by layer."""
        return self.layout.sharding in {"fsdp", "hsdp"} and self.shards > 1 and not self.leaves_gathered

    @property
    def shards(self) -> int:
        """Ranks over which the sharded state of weights outside experts is cut."""
        return self.layout.shard_group

    @property
    def expert_shards(self) -> float:
        """The same for experts, which have fewer copies of them to shard over."""
        replicas = self.layout.dp * self.layout.cp / self.layout.shard_group
        return max(1.0, self.layout.expert_dp / replicas) if self.layout.sharding != "none" else 1.0
