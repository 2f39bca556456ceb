"""The glossary of reports, one sentence per term."""

from __future__ import annotations

GLOSSARY = (
    ("accelerator", "a package as sold: one GPU, TPU chip or Trainium device"),
    ("activation recomputation", "repeating part of the forward pass in the backward pass, to store fewer activations"),
    ("algbw, busbw", "algorithm bandwidth is bytes over time; bus bandwidth scales it to what each link carries"),
    ("bubble", "time in which a pipeline stage waits for its first or after its last micro-batch"),
    ("capacity", "memory of one accelerator as the driver reports it"),
    ("cp, dp, ep, pp, tp", "context, data, expert, pipeline and tensor parallelism, counted in ranks"),
    ("domain", "the accelerators that reach each other over the scale-up interconnect"),
    ("duplex", "both directions of a link summed; half of it is available per direction"),
    ("exposed communication", "the part of communication that does not overlap with computation"),
    ("goodput", "the share of time spent on training steps that are not lost to failures"),
    ("MFU, HFU", "model (hardware) FLOPs utilization: FLOPs without (with) recomputation over the dense peak"),
    ("oversubscription", "the bandwidth into a switch level over the bandwidth out of it"),
    ("rail", "the leaf switches that connect the NICs of one position in every node"),
    ("range", "the interval that contains most published runs of this kind"),
    ("rank", "one process; an accelerator holds one or more"),
    ("scale-up, scale-out", "the interconnect inside a domain, and the network between nodes"),
)
"""Term and meaning, in alphabetical order."""
OF_TRAINING = frozenset({"activation recomputation", "bubble", "goodput", "MFU, HFU"})
OF_SERVING = (
    ("aggregated, disaggregated", "prefill and decode on the same engines, or on separate ones"),
    ("attention_dp", "ranks of one engine that attend to different requests and share the experts"),
    ("cache", "the keys and values of the tokens of all requests in flight"),
    ("concurrency", "requests in flight at a time, including queued ones"),
    ("decode", "the steps that make one output token of every request in a batch"),
    ("engine, replica", "the ranks that serve requests together; a plan has one engine or several"),
    ("prefill", "the forward pass over the input of a request"),
    ("TPOT", "time per output token: the mean time between output tokens after the first"),
    ("TTFT", "time to first token: from a request to its first output token"),
)
"""Terms of training alone, and those that a serving plan adds."""


def glossary(*, serving: bool) -> tuple[tuple[str, str], ...]:
    """The terms of a report on training, or on a serving plan."""
    if not serving:
        return GLOSSARY
    kept = [pair for pair in GLOSSARY if pair[0] not in OF_TRAINING]
    return tuple(sorted((*kept, *OF_SERVING), key=lambda pair: pair[0].lower()))
