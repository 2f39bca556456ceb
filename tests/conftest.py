"""Property tests have no deadline, since machines differ and are shared."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.effort import FUZZING, examples

settings.register_profile(
    "ours",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow] if FUZZING else [],
)
settings.load_profile("ours")
