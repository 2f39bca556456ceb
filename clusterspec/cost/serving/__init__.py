"""Serving: the seconds of decode and prefill steps, and the latency and throughput of requests."""
