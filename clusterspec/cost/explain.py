"""A step as terms: each part of its time with its formula and figures.

This module alone creates terms, from the record of a step. The parts of a sum add up to the sum, and each leaf's
formula gives its value from its inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterspec.cost.collectives.explain import expanded_seconds
from clusterspec.cost.compute import WEIGHT_SHARE, Kernel, Role
from clusterspec.cost.compute.rates import MEMORY
from clusterspec.cost.formulas import EXPRESSIONS, compute, pipeline
from clusterspec.cost.formulas import pipeline as overlap
from clusterspec.cost.layer_tables import FULL_RATE, PHASES, PartTime, PhaseTime, TransferTime
from clusterspec.cost.plan import ReplicaTransfers, StepRecord
from clusterspec.cost.step import HostUpdate, data_parallel_exposures, hidden_copies, paced_stages
from clusterspec.cost.term import (
    Argument,
    ExpandedArgument,
    Inputs,
    Repeats,
    Term,
    computed_figure,
    identifier,
    leaf_term,
)
from clusterspec.cost.traffic import COPY_RATE, FORWARD_RATE, Transfer, call_seconds
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.standard import sum_of
from clusterspec.units import display

KINDS = ("matrix_products", "attention", "memory_bound")
CAPTURED = frozenset(f"launch.{name}" for name in ("interval", "collective", "layer", "matrix", "gap"))
"""Host times of a stack that captured graphs spare."""
TRAFFIC = {"tensor_parallel_traffic": ("tp", "expert_tp"), "context_parallel_traffic": ("cp",)}
TRAFFIC |= {"expert_parallel_traffic": ("ep",)}
"""Axes whose transfers run inside the passes, by the name of their term."""


def step_term(record: StepRecord, band: tuple[float, float] | None = None) -> Term:
    """The terms of a step; ``band`` is its range."""
    explanation = _StepExplanation(record)
    parts = (
        *(explanation.phase_term(name) for name in PHASES),
        *(explanation.traffic_term(name, axes) for name, axes in TRAFFIC.items()),
        explanation.sends_term(),
        explanation.bubble_term(),
        Term.total("data_parallel_traffic", tuple(explanation.replica_terms())),
        explanation.optimizer_term(),
        *explanation.other_terms(),
    )
    whole = Term.total("step", parts)
    return replace(whole, low=band[0], high=band[1]) if band else whole


class _StepExplanation:
    """The record of one step, and the figures that its leaf terms share."""

    def __init__(self, record: StepRecord) -> None:
        self.record, self.inputs, self.choices = record, record.inputs, record.choices
        self.counted = computed_figure(self.inputs.micro_batches, "global_batch / (dp * micro_batch)")
        self.interference = self._software_figure("interference")
        self._rates: dict[str, ExpandedArgument] = {}
        self.bandwidth = self._rate_product(MEMORY)

    def _software_figure(self, name: str, unit: str = "1", otherwise: float = 0.0) -> Figure:
        """A figure of the stack; ``otherwise`` where its entry lacks it."""
        stack = self.record.software.stack
        if stack.captured and name in CAPTURED:
            return computed_figure(0.0, "captured graphs launch the kernels", unit)
        if stack.fused_experts and name == "launch.expert":
            return computed_figure(0.0, "fused products launch all experts at once", unit)
        if stack.fused and name == "launch.gap":
            return computed_figure(0.0, "a compiler or one's own kernels leave few launches", unit)
        return stack.achievable.get(name) or computed_figure(otherwise, f"{stack.id} has no such figure", unit)

    def _rate_product(self, name: str) -> ExpandedArgument:
        """A rate of one rank as the product of its figures."""
        if name not in self._rates:
            self._rates[name] = self._expanded_rate(name)
        return self._rates[name]

    def _expanded_rate(self, name: str) -> ExpandedArgument:
        rates = self.record.rates
        value = rates.speed.bandwidth if name == MEMORY else rates.speed.rates[name]
        expression, inputs = " * ".join(key for key, _ in rates.factors[name]), rates.factors[name]
        if rates.ranks > 1:
            ranks = computed_figure(rates.ranks, "ranks of one accelerator")
            return ExpandedArgument(
                value, f"{expression} / ranks_per_accelerator", (*inputs, ("ranks_per_accelerator", ranks))
            )
        return ExpandedArgument(value, expression, inputs)

    def _part_repeats(self, part: PartTime, count: int) -> Repeats:
        """The number of passes of a micro-batch through a part of the slowest stage in one step."""
        repeats: Repeats = (("micro_batches", self.counted),)
        if count > 1 or part.name.endswith("layer"):
            repeats += (
                ("layers", computed_figure(count, f"parts of the slowest stage: {part.name.replace('_', ' ')}")),
            )
        if self.record.chunk_share != 1.0:
            repeats += (
                ("chunk_share", computed_figure(self.record.chunk_share, "a chunk of DualPipe runs half of them")),
            )
        return repeats

    def phase_term(self, name: str) -> Term:
        """The computation of one pass, by kind of kernel."""
        kinds: dict[str, list[Term]] = {kind: [] for kind in (*KINDS, "launching")}
        for part, count in self.record.parts:
            phase, repeats = getattr(part, name), self._part_repeats(part, count)
            for kernel, same in Counter(kernel for kernel, _ in phase.kernels).items():
                kinds[_kernel_kind(kernel)].append(self._kernel_term(name, part, kernel, same, repeats))
            if phase.launch:
                kinds["launching"].append(self._launch_term(name, part, phase, repeats))
        parts = (Term.total(f"{name}_{kind}", _uniquely_named_terms(found)) for kind, found in kinds.items() if found)
        return Term.total(name, tuple(parts))

    def _kernel_term(self, phase: str, part: PartTime, kernel: Kernel, same: int, repeats: Repeats) -> Term:
        name = f"{phase}_{part.name}_{identifier(kernel.name)}"
        if same > 1:
            repeats = (*repeats, ("kernels", computed_figure(same, "kernels of this shape")))
        traffic = computed_figure(kernel.traffic, "bytes that it reads and writes", "B")
        if not kernel.rate:
            arguments: dict[str, Argument] = {"traffic": traffic, "bandwidth": self._streaming_bandwidth(kernel)}
            return leaf_term(name, compute.streaming_time, arguments, repeats)
        arguments = {
            "flops": computed_figure(kernel.flops, _shape_text(kernel), "FLOP"),
            "rate": self._filled_rate(kernel),
            "traffic": traffic,
            "bandwidth": self._streaming_bandwidth(kernel),
        }
        return leaf_term(name, compute.kernel_time, arguments, repeats)

    def _streaming_bandwidth(self, kernel: Kernel) -> Argument:
        """The bandwidth of a kernel: the memory's, limited to the highest that this kind of kernel reaches."""
        reached = self.record.rates.speed.streaming_bandwidth(kernel)
        if reached == self.record.rates.speed.bandwidth:
            return self.bandwidth
        why = "kernels that pass states, in all units" if kernel.role is Role.SCAN else "one number to a thread"
        return computed_figure(reached, f"most of its kind: {why}", "B/s")

    def _filled_rate(self, kernel: Kernel) -> ExpandedArgument:
        """The rate of a kernel: the base rate of its kind, reduced to the share that its shape allows."""
        best, fill = self._rate_product(kernel.rate), self.record.rates.speed.achieved_share(kernel)
        why = (
            "length of the sequence, width of heads"
            if kernel.rate.startswith("attention")
            else "tile and wave quantization, depth"
        )
        inputs: Inputs = (*best.inputs, ("fill", computed_figure(fill, why)))
        return ExpandedArgument(best.value * fill, f"{best.expression} * fill", inputs)

    def _launch_term(self, phase: str, part: PartTime, time: PhaseTime, repeats: Repeats) -> Term:
        arguments: dict[str, Argument] = {
            "launches": computed_figure(time.launches, "kernels and collectives that the host launches"),
            "device": computed_figure(time.device + time.exposed, "kernels and exposed communication", "s"),
            "host": self._host_time(time),
            "gap": self._software_figure("launch.gap", "s"),
        }
        return leaf_term(f"{phase}_{part.name}_launching", compute.launch_overhead, arguments, repeats)

    def _host_time(self, time: PhaseTime) -> ExpandedArgument:
        """The seconds of the host for the launches of a pass."""
        software = self.record.software
        inputs: Inputs = (
            ("launches", computed_figure(time.launches, "kernels and collectives that the host launches")),
            ("interval", self._software_figure("launch.interval", "s")),
            ("collectives", computed_figure(time.collectives, "collectives outside the products around them")),
            ("collective_interval", self._software_figure("launch.collective", "s", software.interval)),
            ("expert_launches", computed_figure(time.expert_launches, "experts of grouped products")),
            ("expert_interval", self._software_figure("launch.expert", "s")),
            ("shards", computed_figure(time.shards, "gathers of sharded weights, and reductions of their gradients")),
            ("shard_interval", self._software_figure("launch.matrix" if software.by_matrix else "launch.layer", "s")),
        )
        value = software.host_seconds(time.launches, time.collectives, time.expert_launches, time.shards)
        return ExpandedArgument(value, EXPRESSIONS[compute.host_launch_time], inputs)

    def traffic_term(self, name: str, axes: tuple[str, ...]) -> Term:
        """The exposed transfers of the given axes that run inside the passes."""
        found = [
            self._transfer_term(f"{phase_name}_{part.name}", one, self._part_repeats(part, count))
            for part, count in self.record.parts
            for phase_name, phase in part.phases
            for one in phase.transfers
            if one.transfer.axis in axes and one.seconds
        ]
        return Term.total(name, _uniquely_named_terms(found))

    def _transfer_term(self, where: str, transfer: TransferTime, repeats: Repeats) -> Term:
        sent = transfer.transfer
        arguments: dict[str, Argument] = {
            "calls": computed_figure(sent.calls, "of one layer and micro-batch"),
            "seconds": _call_seconds(transfer),
            "overlap_window": computed_figure(
                transfer.overlap_window, "computation that may overlap with each call", "s"
            ),
            "interference": self.interference,
            "pipelined": computed_figure(transfer.pipelined, "share that runs inside the adjacent GEMMs"),
        }
        words = [where, sent.axis, identifier(sent.purpose), identifier(sent.collective)]
        name = "_".join(word for word in words if word)
        return leaf_term(name, overlap.exposed_time_of_calls, arguments, repeats)

    def sends_term(self) -> Term:
        """Sends between stages, unless computation overlaps them."""
        if self.choices.hides_sends or not self.record.sends:
            return Term.total("pipeline_sends", ())
        fixed = {"micro_batches": self.counted, "virtual_stages": self._virtual_stages}
        found = (
            leaf_term(
                identifier(
                    f"{one.transfer.axis} {one.transfer.collective} between stages {one.transfer.purpose}".strip()
                ),
                pipeline.sends_time,
                {**fixed, "send": expanded_seconds(one.cost), "neighbors": _neighboring_stages(one.transfer)},
            )
            for one in self.record.sends
            if one.transfer.calls
        )
        return Term.total("pipeline_sends", tuple(found))

    @property
    def _virtual_stages(self) -> Figure:
        return computed_figure(self.inputs.virtual_stages, "chunks that a rank holds")

    def bubble_term(self) -> Term:
        """The idle time of the slowest stage, and the sends of the first and the last micro-batch."""
        stages = computed_figure(self.inputs.stages, "pp")
        if self.inputs.stages == 1:
            return Term.total("pipeline_bubble", ())
        send = computed_figure(self.inputs.send, "one micro-batch from stage to stage", "s")
        parts = (
            self._idle_term(stages),
            leaf_term("bubble_sends", pipeline.fill_sends_time, {"stages": stages, "send": send}),
        )
        return Term.total("pipeline_bubble", parts)

    def _idle_term(self, stages: Figure) -> Term:
        exposures = data_parallel_exposures(self.inputs, self.choices)
        stage, every = paced_stages(self.inputs, self.choices, exposures)
        waits = ", with the traffic that it exposes" if self.choices.layer_by_layer else ""

        def stage_figure(seconds: float, why: str) -> Figure:
            return computed_figure(seconds, f"{why} of one micro-batch on the slowest stage{waits}", "s")

        forward, both = stage_figure(stage.forward, "forward pass"), stage_figure(stage.total, "all passes")
        back, weight = (
            stage_figure(stage.backward_with_recompute, "recomputation and backward pass"),
            WEIGHT_SHARE * stage.backward,
        )
        weights = stage_figure(weight, "weight gradients")
        if self.choices.schedule == "zero-bubble":
            inputs = stage_figure(stage.backward_with_recompute - weight, "recomputation and input gradients")
            arguments = {"stages": stages, "forward": forward, "backward_input": inputs, "backward_weight": weights}
            return leaf_term("idle_stages", pipeline.zero_bubble_idle, arguments)
        if self.choices.schedule == "dualpipe":
            arguments = {"stages": stages, "both": both, "backward": back, "backward_weight": weights}
            return leaf_term("idle_stages", pipeline.dualpipe_idle, arguments)
        total = computed_figure(every, f"one micro-batch on every stage, summed{waits}", "s")
        arguments = {"total": total, "slowest": both, "virtual_stages": self._virtual_stages}
        return leaf_term("idle_stages", pipeline.fill_and_drain_idle, arguments)

    def _replica_interference(self) -> Figure:
        """The share of the device that data-parallel traffic takes. It is below the usual share between nodes with slow
        NICs.
        """
        taken = self.choices.overlap.interference
        if taken == self.interference.value:
            return self.interference
        return computed_figure(
            taken, f"{self.interference.value:g} on nodes whose NICs carry {display(FULL_RATE, 'B/s')}, less below"
        )

    def replica_terms(self) -> Iterator[Term]:
        """The exposed traffic of data parallelism, by the computation it overlaps with."""
        for group in self.record.replicas:
            one = group.exposure
            arguments: dict[str, Argument] = {
                "communication": self._sequential_transfers(group),
                "overlap_window": computed_figure(one.overlap_window, "computation that may overlap with it", "s"),
                "interference": self._replica_interference(),
                "bucket": computed_figure(one.bucket, "share that starts after the last computation"),
            }
            times = (("repeats", computed_figure(one.repeats, "of a step")),) if one.repeats != 1 else ()
            yield leaf_term(f"data_parallel_{one.name}", overlap.exposed_time_with_bucket, arguments, times)

    def _sequential_transfers(self, group: ReplicaTransfers) -> ExpandedArgument:
        """The seconds of transfers that run one after another."""
        each = [
            expanded_seconds(cost, f"{sent.axis}_{identifier(sent.collective)}_")
            for sent, cost in zip(group.transfers, group.costs, strict=True)
            if cost.device_seconds
        ]
        expression = " + ".join(f"({one.expression})" for one in each)
        inputs = tuple(pair for one in each for pair in one.inputs)
        value = sum_of(one.value for one in each)
        if group.gather == 1.0:
            return ExpandedArgument(value, expression, inputs)
        rate = self._software_figure("gather", otherwise=1.0)
        return ExpandedArgument(value / group.gather, f"({expression}) / gather", (*inputs, ("gather", rate)))

    def optimizer_term(self) -> Term:
        """The update of the weights whose states this rank holds."""
        choices = self.choices
        weights = computed_figure(self.inputs.weights, "weights whose optimizer states this rank holds")
        offloaded = computed_figure(choices.offloaded, "offload.optimizer")
        here: dict[str, Argument] = {
            "weights": weights,
            "bytes_each": computed_figure(choices.bytes_each, "read and written for each weight", "B"),
            "bandwidth": self.bandwidth,
            "offloaded": offloaded,
        }
        parts: tuple[Term, ...] = (leaf_term("update_in_memory", pipeline.update_time, here),)
        if choices.products.flops:
            from clusterspec.cost.orthogonal import products_term  # few designs need it

            parts += (products_term(choices.products, weights, offloaded),)
        if choices.host is not None:
            parts += tuple(self._host_terms(choices.host, weights, offloaded))
        return Term.total("optimizer", parts)

    def _host_terms(self, host: HostUpdate, weights: Figure, offloaded: Figure) -> Iterator[Term]:
        """The update of the offloaded share on the host: gradients are copied to it, weights updated and copied
        back.
        """
        hidden, copies = hidden_copies(self.inputs, host)
        bus = computed_figure(host.bandwidth, "a slot of 16 lanes, shared by the ranks of it", "B/s")
        of_all: dict[str, Argument] = {"weights": weights, "offloaded": offloaded}
        there: dict[str, Argument] = of_all | {
            "bytes_each": computed_figure(host.gradient_bytes, "gradient_precision", "B"),
            "host_bandwidth": bus,
            "hidden": computed_figure(hidden, "backward pass of a micro-batch", "s"),
            "copies": computed_figure(copies, "micro-batches" if host.copies_behind_backward else "of a step"),
        }
        yield leaf_term("gradients_to_host", pipeline.host_copy_time, there)
        update: dict[str, Argument] = of_all | {
            "bytes_each": computed_figure(host.update_bytes, "read and written for each weight", "B"),
            "host_memory": computed_figure(host.memory, "bandwidth of host memory / ranks of a node", "B/s"),
            "share": host.share,
        }
        yield leaf_term("update_in_host_memory", pipeline.host_update_time, update)
        back: dict[str, Argument] = of_all | {
            "bytes_each": computed_figure(host.weight_bytes, "parameter_precision", "B"),
            "host_bandwidth": bus,
            "hidden": computed_figure(0.0, "the next step waits for its weights", "s"),
            "copies": computed_figure(1.0, "of a step"),
        }
        yield leaf_term("weights_from_host", pipeline.host_copy_time, back)

    def other_terms(self) -> Iterator[Term]:
        """Time outside passes, communication and the optimizer."""
        times = self.record.times
        loading = computed_figure(times.data_loading, "workload.data_loading", "s")
        yield Term("data_loading", times.data_loading, "s", "data_loading", (("data_loading", loading),))
        step = self._software_figure("step", "s")
        yield Term("step_overhead", times.overhead, "s", "step", (("step", step),))
        late = {
            "jitter": self._software_figure("jitter"),
            "longest": computed_figure(
                overlap.expected_longest(self.inputs.nodes), f"ln(nodes), {self.inputs.nodes:g} nodes"
            ),
            "rest": computed_figure(times.total - times.straggling, "everything else in the step", "s"),
        }
        yield leaf_term("stragglers", overlap.straggler_wait, late)


def _neighboring_stages(sent: Transfer) -> Figure:
    """The number of neighboring stages with which a stage makes this transfer."""
    return computed_figure(2 * sent.calls, "neighbors of a stage at this distance")


def _call_seconds(one: TransferTime) -> ExpandedArgument:
    """Seconds of one call: the time on its links, or the time of the kernels that send its copies or forward its bytes
    if that is longer.
    """
    wire, copies, forwarded = one.cost.device_seconds, one.transfer.copies, one.transfer.forwarded
    seconds = call_seconds(one.transfer, wire)
    if seconds <= wire:
        return expanded_seconds(one.cost)
    if copies:
        sent = computed_figure(copies, "copies of tokens that the dispatcher's kernels send")
        return ExpandedArgument(seconds, "copies / copy_rate", (("copies", sent), ("copy_rate", COPY_RATE)))
    passed = computed_figure(forwarded, "bytes of tokens that the dispatcher's kernels forward inside a domain", "B")
    rate = ("forward_rate", FORWARD_RATE)
    return ExpandedArgument(seconds, "forwarded / forward_rate", (("forwarded", passed), rate))


def _kernel_kind(kernel: Kernel) -> str:
    if not kernel.rate:
        return "memory_bound"
    return "attention" if kernel.rate.startswith("attention") else "matrix_products"


def _shape_text(kernel: Kernel) -> str:
    if kernel.shape is None:
        return "operations"
    m, k, n, batch, *_ = kernel.shape
    return f"operations of {batch:g} products of ({m:g} × {k:g}) by ({k:g} × {n:g})"


def _uniquely_named_terms(terms: list[Term]) -> tuple[Term, ...]:
    """The terms with unique names."""
    seen: Counter[str] = Counter()
    found = []
    for term in terms:
        seen[term.name] += 1
        found.append(replace(term, name=f"{term.name}_{seen[term.name]}") if seen[term.name] > 1 else term)
    return tuple(found)
