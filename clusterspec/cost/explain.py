"""A step as terms: each part of its time with its formula and figures.

Terms are created only here, from the record of a step. The parts of a sum add up to it, and each leaf, evaluated from
its inputs, gives its value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterspec.cost.communication import seconds_of
from clusterspec.cost.compute.kernels import WEIGHT_SHARE, Kernel
from clusterspec.cost.compute.rates import MEMORY
from clusterspec.cost.formulas import compute, parameters, pipeline
from clusterspec.cost.formulas import pipeline as overlap
from clusterspec.cost.record import PHASES, PartTime, PhaseTime, ReplicaTransfers, StepRecord, TransferTime
from clusterspec.cost.term import Argument, Expanded, Inputs, Repeats, Term, computed, identifier, leaf
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.summation import sum_of

KINDS = ("matrix_products", "attention", "memory_bound")
TRAFFIC = {"tensor_parallel_traffic": ("tp", "expert_tp"), "context_parallel_traffic": ("cp",)}
TRAFFIC |= {"expert_parallel_traffic": ("ep",)}
"""Axes whose transfers run inside the passes, by the name of their term."""


def explained(record: StepRecord, band: tuple[float, float] | None = None) -> Term:
    """The terms of a step; ``band`` is its range."""
    teller = _StepExplanation(record)
    parts = (
        *(teller.phase(name) for name in PHASES),
        *(teller.traffic(name, axes) for name, axes in TRAFFIC.items()),
        teller.sends(),
        teller.bubble(),
        Term.total("data_parallel_traffic", tuple(teller.replicas())),
        teller.optimizer(),
        *teller.rest(),
    )
    whole = Term.total("step", parts)
    return replace(whole, low=band[0], high=band[1]) if band else whole


class _StepExplanation:
    """The record of one step, and the figures that its leaves share."""

    def __init__(self, record: StepRecord) -> None:
        self.record, self.inputs, self.choices = record, record.inputs, record.choices
        self.counted = computed(self.inputs.micro_batches, "global_batch / (dp * micro_batch)")
        self.interference = self._of_software("interference")
        self._rates: dict[str, Expanded] = {}
        self.bandwidth = self._rate(MEMORY)

    def _of_software(self, name: str, unit: str = "1", otherwise: float = 0.0) -> Figure:
        """A figure of the stack; ``otherwise`` where its entry lacks it."""
        stack = self.record.software.stack
        return stack.achievable.get(name) or computed(otherwise, f"{stack.id} has no such figure", unit)

    def _rate(self, name: str) -> Expanded:
        """A rate of one rank as the product of its figures."""
        if name not in self._rates:
            self._rates[name] = self._product(name)
        return self._rates[name]

    def _product(self, name: str) -> Expanded:
        rates = self.record.rates
        value = rates.speed.bandwidth if name == MEMORY else rates.speed.rates[name]
        expression, inputs = " * ".join(key for key, _ in rates.factors[name]), rates.factors[name]
        if rates.ranks > 1:
            ranks = computed(rates.ranks, "ranks of one accelerator")
            return Expanded(value, f"{expression} / ranks_per_accelerator", (*inputs, ("ranks_per_accelerator", ranks)))
        return Expanded(value, expression, inputs)

    def _repeats(self, part: PartTime, count: int) -> Repeats:
        """The number of passes of a micro-batch through a part of the slowest stage in one step."""
        repeats: Repeats = (("micro_batches", self.counted),)
        if count > 1 or part.name.endswith("layer"):
            repeats += (("layers", computed(count, f"parts of the slowest stage: {part.name.replace('_', ' ')}")),)
        if self.record.chunk_share != 1.0:
            repeats += (("chunk_share", computed(self.record.chunk_share, "a chunk of DualPipe runs half of them")),)
        return repeats

    def phase(self, name: str) -> Term:
        """The computation of one pass, by kind of kernel."""
        kinds: dict[str, list[Term]] = {kind: [] for kind in (*KINDS, "launching")}
        for part, count in self.record.parts:
            phase, repeats = getattr(part, name), self._repeats(part, count)
            for kernel, same in Counter(kernel for kernel, _ in phase.kernels).items():
                kinds[_kind(kernel)].append(self._kernel(name, part, kernel, same, repeats))
            if phase.launch:
                kinds["launching"].append(self._launching(name, part, phase, repeats))
        parts = (Term.total(f"{name}_{kind}", _distinct(found)) for kind, found in kinds.items() if found)
        return Term.total(name, tuple(parts))

    def _kernel(self, phase: str, part: PartTime, kernel: Kernel, same: int, repeats: Repeats) -> Term:
        name = f"{phase}_{part.name}_{identifier(kernel.name)}"
        if same > 1:
            repeats = (*repeats, ("kernels", computed(same, "kernels of this shape")))
        traffic = computed(kernel.traffic, "bytes that it reads and writes", "B")
        if not kernel.rate:
            return leaf(name, compute.streaming, {"traffic": traffic, "bandwidth": self.bandwidth}, repeats)
        arguments: dict[str, Argument] = {
            "flops": computed(kernel.flops, _shape(kernel), "FLOP"),
            "rate": self._filled(kernel),
            "traffic": traffic,
            "bandwidth": self.bandwidth,
        }
        return leaf(name, compute.roofline, arguments, repeats)

    def _filled(self, kernel: Kernel) -> Expanded:
        """The rate of a kernel: that of its kind times the share that its shape allows."""
        best, fill = self._rate(kernel.rate), self.record.rates.speed.fill(kernel)
        why = "length of the sequence" if kernel.rate.startswith("attention") else "tile and wave quantization, depth"
        inputs: Inputs = (*best.inputs, ("fill", computed(fill, why)))
        return Expanded(best.value * fill, f"{best.expression} * fill", inputs)

    def _launching(self, phase: str, part: PartTime, time: PhaseTime, repeats: Repeats) -> Term:
        arguments: dict[str, Argument] = {
            "launches": computed(time.launches, "kernels and collectives that the host launches"),
            "device": computed(time.device + time.exposed, "kernels and exposed communication", "s"),
            "gap": self._of_software("launch.gap", "s"),
            "interval": self._of_software("launch.interval", "s"),
            "expert_launches": computed(time.expert_launches, "experts of grouped products"),
            "expert_interval": self._of_software("launch.expert", "s"),
        }
        return leaf(f"{phase}_{part.name}_launching", compute.launching, arguments, repeats)

    def traffic(self, name: str, axes: tuple[str, ...]) -> Term:
        """The exposed transfers of some axes that run inside the passes."""
        found = [
            self._transfer(f"{phase_name}_{part.name}", one, self._repeats(part, count))
            for part, count in self.record.parts
            for phase_name, phase in part.phases
            for one in phase.transfers
            if one.transfer.axis in axes and one.seconds
        ]
        return Term.total(name, _distinct(found))

    def _transfer(self, where: str, transfer: TransferTime, repeats: Repeats) -> Term:
        sent = transfer.transfer
        arguments: dict[str, Argument] = {
            "calls": computed(sent.calls, "of one layer and micro-batch"),
            "seconds": seconds_of(transfer.cost),
            "overlap_window": computed(transfer.overlap_window, "computation that may overlap with each call", "s"),
            "interference": self.interference,
            "pipelined": computed(transfer.pipelined, "share that runs inside the adjacent GEMMs"),
        }
        return leaf(f"{where}_{sent.axis}_{identifier(sent.collective)}", overlap.exposed_calls, arguments, repeats)

    def sends(self) -> Term:
        """Sends between stages that nothing overlaps."""
        if self.choices.hides_sends or not self.record.sends:
            return Term.total("pipeline_sends", ())
        fixed = {"micro_batches": self.counted, "virtual_stages": self._virtual_stages}
        found = (
            leaf(
                f"{one.transfer.axis}_{identifier(one.transfer.collective)}_between_stages",
                pipeline.sends,
                {**fixed, "send": seconds_of(one.cost)},
            )
            for one in self.record.sends
        )
        return Term.total("pipeline_sends", tuple(found))

    @property
    def _virtual_stages(self) -> Figure:
        return computed(self.inputs.virtual_stages, "chunks that a rank holds")

    def bubble(self) -> Term:
        """The idle time of the slowest stage, and the sends of the first and the last micro-batch."""
        stages = computed(self.inputs.stages, "pp")
        if self.inputs.stages == 1:
            return Term.total("pipeline_bubble", ())
        send = computed(self.inputs.send, "one micro-batch from stage to stage", "s")
        parts = (self._idle(stages), leaf("bubble_sends", pipeline.fill_sends, {"stages": stages, "send": send}))
        return Term.total("pipeline_bubble", parts)

    def _idle(self, stages: Figure) -> Term:
        stage = self.inputs.stage

        def figure(seconds: float, why: str) -> Figure:
            return computed(seconds, f"{why} of one micro-batch on the slowest stage", "s")

        forward, both = figure(stage.forward, "forward pass"), figure(stage.total, "all passes")
        back, weight = figure(stage.return_time, "recomputation and backward pass"), WEIGHT_SHARE * stage.backward
        weights = figure(weight, "weight gradients")
        if self.choices.schedule == "zero-bubble":
            inputs = figure(stage.return_time - weight, "recomputation and input gradients")
            arguments = {"stages": stages, "forward": forward, "backward_input": inputs, "backward_weight": weights}
            return leaf("idle_stages", pipeline.zero_bubble, arguments)
        if self.choices.schedule == "dualpipe":
            arguments = {"stages": stages, "both": both, "backward": back, "backward_weight": weights}
            return leaf("idle_stages", pipeline.dualpipe, arguments)
        total = computed(self.inputs.every, "one micro-batch on every stage, summed", "s")
        arguments = {"total": total, "slowest": both, "virtual_stages": self._virtual_stages}
        return leaf("idle_stages", pipeline.fill_and_drain, arguments)

    def replicas(self) -> Iterator[Term]:
        """The exposed traffic of data parallelism, by the computation it overlaps with."""
        for group in self.record.replicas:
            one = group.exposure
            arguments: dict[str, Argument] = {
                "communication": self._together(group),
                "overlap_window": computed(one.overlap_window, "computation that may overlap with it", "s"),
                "interference": self.interference,
                "bucket": computed(one.bucket, "share that starts after the last computation"),
            }
            times = (("repeats", computed(one.repeats, "of a step")),) if one.repeats != 1 else ()
            yield leaf(f"data_parallel_{one.name}", overlap.exposed_at_least, arguments, times)

    def _together(self, group: ReplicaTransfers) -> Expanded:
        """The seconds of transfers that run one after another."""
        each = [
            seconds_of(cost, f"{sent.axis}_{identifier(sent.collective)}_")
            for sent, cost in zip(group.transfers, group.costs, strict=True)
            if cost.queued
        ]
        expression = " + ".join(f"({one.expression})" for one in each)
        inputs = tuple(pair for one in each for pair in one.inputs)
        value = sum_of(one.value for one in each)
        if group.gather == 1.0:
            return Expanded(value, expression, inputs)
        rate = self._of_software("gather", otherwise=1.0)
        return Expanded(value / group.gather, f"({expression}) / gather", (*inputs, ("gather", rate)))

    def optimizer(self) -> Term:
        """The update of the weights whose states this rank holds."""
        choices = self.choices
        weights = computed(self.inputs.weights, "weights whose optimizer states this rank holds")
        offloaded = computed(choices.offloaded, "offload.optimizer")
        here: dict[str, Argument] = {
            "weights": weights,
            "bytes_each": computed(choices.bytes_each, "read and written for each weight", "B"),
            "bandwidth": self.bandwidth,
            "offloaded": offloaded,
        }
        there: dict[str, Argument] = {
            "weights": weights,
            "gradient_bytes": computed(choices.gradient_bytes, "gradient_precision", "B"),
            "host_bandwidth": computed(choices.host_bandwidth, "a slot of 16 lanes, shared by the ranks of it", "B/s"),
            "offloaded": offloaded,
        }
        parts: tuple[Term, ...] = (leaf("update_in_memory", parameters.update_time, here),)
        if choices.offloaded:
            parts += (leaf("update_in_host_memory", parameters.offload_time, there),)
        return Term.total("optimizer", parts)

    def rest(self) -> Iterator[Term]:
        """Time outside passes, communication and the optimizer."""
        times = self.record.times
        loading = computed(times.data_loading, "workload.data_loading", "s")
        yield Term("data_loading", times.data_loading, "s", "data_loading", (("data_loading", loading),))
        step = self._of_software("step", "s")
        yield Term("step_overhead", times.overhead, "s", "step", (("step", step),))
        late = {
            "jitter": self._of_software("jitter"),
            "longest": computed(overlap.expected_longest(self.inputs.nodes), f"ln(nodes), {self.inputs.nodes:g} nodes"),
            "rest": computed(times.total - times.straggling, "everything else in the step", "s"),
        }
        yield leaf("stragglers", overlap.waiting, late)


def _kind(kernel: Kernel) -> str:
    if not kernel.rate:
        return "memory_bound"
    return "attention" if kernel.rate.startswith("attention") else "matrix_products"


def _shape(kernel: Kernel) -> str:
    if kernel.shape is None:
        return "operations"
    m, k, n, batch, _ = kernel.shape
    return f"operations of {batch:g} products of ({m:g} × {k:g}) by ({k:g} × {n:g})"


def _distinct(terms: list[Term]) -> tuple[Term, ...]:
    """The terms with unique names."""
    seen: Counter[str] = Counter()
    found = []
    for term in terms:
        seen[term.name] += 1
        found.append(replace(term, name=f"{term.name}_{seen[term.name]}") if seen[term.name] > 1 else term)
    return tuple(found)
