"""The model, the workload, the layout and the framework's use of memory, common to all ranks of a job.

Degrees and counts of the layout may be columns; precisions, sharding, schedule and similar settings are words.
"""

from __future__ import annotations

from clusterspec.catalog.entries import FULLY, Model
from clusterspec.catalog.framework_memory import FrameworkMemory
from clusterspec.cluster.model import Design, Layout, Workload
from clusterspec.cost.formulas.elementwise import chosen, larger
from clusterspec.precision import NARROW, activation_width, operand_width
from clusterspec.records import dataclass, field

GATHERED = 2.0
"""Bytes per gathered weight and per gradient in a buffer: 16 bits."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job. Tokens are those of one micro-batch on one rank; widths are bytes per number."""

    model: Model
    workload: Workload
    layout: Layout
    framework: FrameworkMemory
    vendor: str = ""
    selective: str = field(default="core-attention")

    @classmethod
    def of(cls, design: Design, workload: Workload, layout: Layout) -> Job:
        """The job of a design; without a known software release, framework memory is not included."""
        return cls.on(design.cluster.accelerator.vendor if design.cluster else "", workload, layout)

    @classmethod
    def on(cls, vendor: str, workload: Workload, layout: Layout) -> Job:
        """The job on accelerators of a vendor."""
        stack = layout.stack
        if stack is None:
            return cls(workload.model, workload, layout, FrameworkMemory(), vendor)
        return cls(workload.model, workload, layout, stack.memory_of(layout.sharding), vendor, stack.selective)

    @property
    def tokens(self) -> float:
        """Tokens of one micro-batch on one rank."""
        return self.layout.micro_batch * self.workload.sequence_length / self.layout.cp

    @property
    def micro_batches(self) -> float:
        """Micro-batches per step and replica."""
        return 1 if self.layout.micro_batches is None else self.layout.micro_batches

    @property
    def matrices(self) -> int:
        """Matrices of a feed-forward network."""
        return self.model.ffn_matrices

    @property
    def residual_ranks(self) -> float:
        """Ranks that shard the residual stream."""
        return self.layout.tp if self.layout.sequence_parallel or self.framework.cuts_residual else 1

    @property
    def hidden_ranks(self) -> float:
        """Ranks that shard tensors which sequence parallelism gathers before a GEMM."""
        return self.layout.tp if self.framework.cuts_residual else 1

    @property
    def width(self) -> float:
        """Bytes of one activation."""
        return activation_width(self.workload.precision)

    @property
    def kept(self) -> float:
        """Bytes per number of the inputs that a GEMM stores."""
        work = self.workload.precision
        return operand_width(work) if self.framework.quantized_inputs and work in NARROW else self.width

    @property
    def shards(self) -> float:
        """Ranks that shard the states of weights outside experts."""
        return self.layout.shard_group

    @property
    def expert_shards(self) -> float:
        """Ranks that shard the states of experts, which have fewer replicas."""
        if self.layout.sharding == "none":
            return 1.0
        replicas = self.layout.dp * self.layout.cp / self.layout.shard_group
        return larger(1.0, self.layout.expert_dp / replicas)

    @property
    def sharded_fully(self) -> bool:
        """Whether the layout shards weights: fsdp and hsdp."""
        return self.layout.sharding in FULLY

    @property
    def keeps_gathered(self) -> float:
        """1 where FSDP keeps weights gathered from forward to backward pass (as ZeRO-2, and in pipelines), else 0."""
        if not self.framework.sharded_master or not (self.sharded_fully or self.layout.sharding == "zero2"):
            return 0.0
        if self.layout.sharding == "zero2":
            return chosen(self.shards > 1, 1.0, 0.0)
        return chosen(self.layout.pp > 1, 1.0, 0.0) * chosen(self.shards > 1, 1.0, 0.0)

    @property
    def gathers_layers(self) -> float:
        """1 where weights are gathered layer by layer, else 0."""
        if not self.sharded_fully:
            return 0.0
        return chosen(self.shards > 1, 1.0, 0.0) * (1.0 - self.keeps_gathered)
