"""The terms of a report, each in one sentence."""

from __future__ import annotations

GLOSSARY = (
    ("accelerator", "a package as sold: one GPU, TPU chip or Trainium device"),
    ("activation recomputation", "running part of the forward pass again in the backward pass, to store less"),
    ("algbw, busbw", "algorithm bandwidth is bytes over time; bus bandwidth scales it to what each link carries"),
    ("bubble", "time in which a pipeline stage waits for its first or after its last micro-batch"),
    ("capacity", "memory of one accelerator as the driver reports it"),
    ("cp, dp, ep, pp, tp", "context, data, expert, pipeline and tensor parallelism, counted in ranks"),
    ("domain", "the accelerators that reach each other over the scale-up interconnect"),
    ("duplex", "both directions of a link added; half of it goes each way"),
    ("exposed communication", "the part of communication that no computation hides"),
    ("goodput", "the share of time that ends in training steps that are kept"),
    ("MFU, HFU", "model (hardware) FLOPs utilization: FLOPs without (with) recomputation over the dense peak"),
    ("oversubscription", "the bandwidth into a switch level over the bandwidth out of it"),
    ("rail", "the leaf switches that connect the NICs of one position in every node"),
    ("range", "the interval that holds most published runs of this kind"),
    ("rank", "one process; an accelerator holds one or more"),
    ("scale-up, scale-out", "the interconnect inside a domain, and the network between nodes"),
)
"""Term and meaning, in alphabetical order."""
