"""Property tests have no deadline, since machines differ and are shared.

`make test` looks at the same examples every time, so that what is green stays green; `make fuzz` looks at new ones.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.effort import FUZZING, examples

settings.register_profile(
    "ours",
    deadline=None,
    derandomize=not FUZZING,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ours")
