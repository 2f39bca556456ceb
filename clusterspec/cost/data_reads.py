"""Reads of a data set by a training job: the rate that its steps need, and the rate of the storage system."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Assumption
from clusterspec.cost.plan import Plan
from clusterspec.cost.storage import Transfer, transfer
from clusterspec.cost.term import Term
from clusterspec.origin import Assumed, Computed, Written
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, replace
from clusterspec.spec.model import NetworksSpec, WorkloadSpec

SMALL_VOCABULARY = 65500
"""At this many words or more, ids of tokens no longer fit into two bytes, as Megatron decides it
(`DType.optimal_dtype` in megatron/core/datasets/indexed_dataset.py)."""


class DataReads(NamedTuple):
    """The reads of a training data set. ``needed`` is the rate in bytes per second that the predicted steps consume;
    ``batch`` one global batch read by all nodes, as at the start of the job, with the achieved rate; ``whole`` the data
    set read once, as for a copy to the nodes (None where its size is not stated).
    """

    needed: Term
    batch: Transfer
    whole: Transfer | None
    width: Figure

    @property
    def share(self) -> float:
        """The share of the read rate that training needs; above 1, training waits for data."""
        return self.needed.value / self.batch.rate.value

    @property
    def stall(self) -> float:
        """The share of the time in which training waits for data, with reads overlapping computation."""
        return max(0.0, 1 - 1 / self.share) if self.share else 0.0

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The bytes of a token, unless the spec states them."""
        origin = self.width.origin
        return ((origin.key, self.width, origin.why),) if isinstance(origin, Assumed) else ()

    def to_json(self) -> dict[str, object]:
        """B/s, bytes and seconds."""
        return {
            "needed": self.needed.value,
            "rate": self.batch.rate.value,
            "share": self.share,
            "first_batch_seconds": self.batch.seconds.value,
            "bytes": self.whole.size.value if self.whole else None,
            "whole_seconds": self.whole.seconds.value if self.whole else None,
        }

    @property
    def terms(self) -> dict[str, Term]:
        """The computed terms by the names under which they are printed."""
        named = {"data_needed": self.needed, "data_rate": self.batch.rate, "data_first_batch": self.batch.seconds}
        if self.whole is not None:
            named |= {"data_set": self.whole.size, "data_set_read": self.whole.seconds}
        return {name: replace(term, name=name) for name, term in named.items()}


def token_width(written: WorkloadSpec | None, model: Model) -> Figure:
    """The bytes of a token in the data set: as stated, else those of its id."""
    if written is not None and written.dataset_token_bytes is not None:
        return Figure(float(written.dataset_token_bytes), "B", Written("workload.dataset_token_bytes"))
    wide = model.vocab >= SMALL_VOCABULARY
    why = f"ids of tokens, with a vocabulary of {model.vocab:,} words; images, sound and raw text take more"
    return Figure(4.0 if wide else 2.0, "B", Assumed("workload.dataset_token_bytes", why))


def data_reads(plan: Plan) -> DataReads | None:
    """The reads of the data set of a training job; None where the step has no time, or the spec states no bandwidth of
    the storage system.
    """
    design, work, seconds = plan.design, plan.design.workload, plan.step_seconds
    networks = design.spec.cluster.networks if design.spec.cluster else None
    layout = design.layout
    if work is None or work.kind != "train" or layout is None or not seconds or not _reads(networks):
        return None
    assert networks is not None
    written = design.spec.workload
    width = token_width(written, work.model)
    step = float(work.global_batch * work.sequence_length)
    tokens = ("tokens", Figure(step, "1", Computed("global_batch * sequence_length")))
    size = Term("batch_bytes", step * width.value, "B", "tokens * token_bytes", (tokens, ("token_bytes", width)))
    time = ("step_time", Figure(seconds, "s", Computed("the predicted step")))
    needed = Term("data_needed", size.value / seconds, "B/s", "batch_bytes / step_time", (time,), (size,))
    batch = transfer("batch", networks, size, layout, reads=True)
    whole = None
    if written is not None and written.dataset_tokens is not None:
        held = ("tokens", Figure(written.dataset_tokens.value, "1", Written("workload.dataset_tokens")))
        inputs = (held, ("token_bytes", width))
        everything = Term("data_set", held[1].value * width.value, "B", "tokens * token_bytes", inputs)
        whole = transfer("data_set", networks, everything, layout, reads=True, files=False)
    return DataReads(needed, batch, whole, width)


def _reads(networks: NetworksSpec | None) -> bool:
    """Whether the rate at which the storage system is read is known, and not zero."""
    store = networks.storage if networks is not None else None
    rate = (store.read or store.bandwidth) if store is not None else None
    return rate is not None and rate.per_direction > 0
