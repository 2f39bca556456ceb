"""Lengths of the requests of a serving plan."""

from __future__ import annotations

from clusterspec.cluster.requests import Serving


def longest_request(serving: Serving) -> tuple[int, int]:
    """Tokens of the longest prompt (where prompts are cut, else their 99th percentile) and of the longest output (where
    outputs are cut, else their mean).
    """
    prompts, outputs = serving.input_lengths, serving.output_lengths
    prompt = (prompts.most or prompts.p99) if prompts else serving.input_tokens
    return prompt, (outputs.most if outputs else None) or serving.output_tokens
