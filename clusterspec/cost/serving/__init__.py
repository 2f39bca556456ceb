"""Serving: the time of decoding and prefill steps, and what they come to for requests."""

from __future__ import annotations

from clusterspec.cost.serving.times import ServingTimes, serving

__all__ = ["ServingTimes", "serving"]
