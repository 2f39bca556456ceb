"""Runs that fine-tune a model instead of training it from the start."""

from __future__ import annotations

from clusterspec.cluster.model import Workload
from clusterspec.cost.parameters import model_weights

TUNED = 0.5
"""Tokens per active parameter below which a run is fine-tuning; the lowest published value for pre-training is 0.51
(MT-NLG 530B).
"""


def is_fine_tuning(training: Workload) -> bool:
    """Whether a run trains adapters or has too few tokens for pre-training; False without `tokens`, unless it trains
    adapters.
    """
    if training.trainable is not None:
        return True
    return training.tokens is not None and training.tokens < TUNED * model_weights(training.model).active_weights
