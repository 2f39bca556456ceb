"""Serving: the time of decode and prefill steps, and the latency and throughput of requests."""

from __future__ import annotations

from clusterspec.cost.serving.times import ServingTimes, serving

__all__ = ["ServingTimes", "serving"]
