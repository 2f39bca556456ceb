"""The requests that a scheduler starts if it keeps space for output that is still to come (SGLang).

A prompt starts where the free cache exceeds the prompt, its own output and a share of the output that running requests
still lack. The share falls with every decode step; it rises again when the cache fills and requests are retracted.

Source: SGLang 0.5.9, package on PyPI: srt/managers/schedule_policy.py (PrefillAdder: rem_total_tokens,
add_one_req), srt/managers/scheduler.py (new_token_ratio), srt/managers/schedule_batch.py (retract_decode),
srt/environ.py.
"""

from __future__ import annotations

from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.quantiles import decoded_tokens
from clusterspec.records import NamedTuple

MOST_OUTPUT = 4096
"""The maximum number of output tokens of one request that have to fit in the free cache
(SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION).
"""
FIRST_SHARE = 0.7
"""The share of the output of running requests for which space is kept at the start (SGLANG_INIT_NEW_TOKEN_RATIO)."""
LEAST_PART = 0.14
"""The part of the first share to which it falls (SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR)."""
FALLING_STEPS = 600
"""The decode steps in which it falls (SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS)."""
RETRACTED_STEPS = 20
"""After a retraction the share is that of the tokens that requests have, and will have after so many steps, in their
output (SGLANG_RETRACT_DECODE_STEPS).
"""
REPLICAS_PART = 0.3
"""The part of all shares with attention replicas (srt/server_args.py, _handle_data_parallelism)."""


class KeptShare(NamedTuple):
    """The share of the output of running requests for which space is kept: ``first`` at the start, ``least`` after
    `FALLING_STEPS` decode steps.
    """

    first: float = 0.0
    least: float = 0.0

    @property
    def fall(self) -> float:
        """The decrease of the share in each decode step."""
        return (self.first - self.least) / FALLING_STEPS

    def after_retraction(self, decoded: float, sequences: int, outputs: float) -> float:
        """The share after a retraction, where ``sequences`` go on that have ``decoded`` of ``outputs`` tokens together.

        >>> KeptShare().after_retraction(100.0, 2, 279.0)
        0.5
        """
        return min(1.0, (decoded + RETRACTED_STEPS * sequences) / (outputs + 1))


def kept_share(replicas: int) -> KeptShare:
    """The share with a number of attention replicas.

    >>> [round(each, 4) for each in (*kept_share(1), *kept_share(8))]
    [0.7, 0.098, 0.21, 0.0294]
    """
    first = FIRST_SHARE * (REPLICAS_PART if replicas > 1 else 1.0)
    return KeptShare(first, LEAST_PART * first)


def started_sequences(load: Serving, tokens: float, share: float) -> float:
    """The sequences that run in a cache of ``tokens`` where more wait, at a constant share: one more than after which
    no further one starts.

    Half of its output remains to a request on average, as much as it has.
    """
    decoded = decoded_tokens(load)
    own = load.input_tokens + min(MOST_OUTPUT, load.output_tokens)
    return 1.0 + max(0.0, tokens - own) / (load.input_tokens + decoded + share * min(MOST_OUTPUT, decoded))
