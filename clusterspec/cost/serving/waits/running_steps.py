"""The step that runs when a prompt comes, and how far the host is ahead of the device. Times in seconds."""

from __future__ import annotations

MOST_STEPS = 16
"""Largest number of steps counted one by one that end before a prompt arrives."""


def rest_after(mixed: float, plain: float, longer: float, late: tuple[float, float]) -> float:
    """Mean seconds of the rest of the step that runs some time after the end of another: at any moment between both
    of ``late``, in seconds, as likely. Of the steps the share ``mixed`` takes ``longer`` seconds, the others ``plain``.

    Steps without prompts that have ended by then are followed by others. After a longer one, or after many, any moment
    of the steps is as likely.

    Source: the renewal equation (Cox, Renewal Theory, 1962, chapters 4 and 5).

    >>> found = [rest_after(0.5, 0.02, 0.1, (late, late)) for late in (0.0, 0.03, 9.0)]
    >>> [round(each, 6) for each in found]  # 0.5 0.12; 0.5 0.07 + 0.25 (0.09 + 0.01); 0.0052 / 0.12
    [0.06, 0.06, 0.043333]
    >>> round(rest_after(0.0, 0.02, 0.1, (0.01, 0.03)), 6)  # half of the time 0.005, and half 0.015
    0.01
    """
    least, most = late
    if most <= least:
        return _rest_until(mixed, plain, longer, least)[1]
    before, after = (_rest_until(mixed, plain, longer, each)[0] for each in late)
    return (after - before) / (most - least)


def _rest_until(mixed: float, plain: float, longer: float, late: float) -> tuple[float, float]:
    """The integral of the mean rest over all moments until ``late``, in square seconds, and the rest at ``late``."""
    square = (1 - mixed) * plain * plain + mixed * longer * longer
    later = square / (2 * ((1 - mixed) * plain + mixed * longer))
    found, rest, reached = 0.0, 0.0, 1.0
    for _ in range(MOST_STEPS):
        within = min(late, longer)
        found += reached * mixed * (within * (longer - within / 2) + (late - within) * later)
        rest += reached * mixed * (longer - late if longer > late else later)
        reached *= 1 - mixed
        within = min(late, plain)
        found += reached * within * (plain - within / 2)
        if plain > late:
            return found, rest + reached * (plain - late)
        late -= plain
    return found + reached * late * later, rest + reached * later


def lead_of_launch(mixed: float, plain: float, longer: float, launching: float) -> float:
    """Mean seconds for which the launch of a step precedes its start on the device, where the host forms and launches
    each step while the one before it runs.

    Of the steps the share ``mixed`` holds prompts: each takes ``longer`` seconds, and the host ``launching`` seconds to
    launch it. The others take ``plain`` seconds and are launched as whole graphs. The host is free for the next step
    once it has launched the running one, which it did up to a lead x before that step started, so that
    x = (1 - mixed) plain + mixed max(0, longer - max(0, launching - x)).

    Source: arithmetic, with the mean lead for that of each step.

    >>> lead_of_launch(0.5, 0.02, 0.06, 0.03), lead_of_launch(1.0, 0.02, 0.03, 0.05)  # a step; launched one by one
    (0.04, 0.0)
    >>> round(lead_of_launch(0.5, 0.02, 0.04, 0.045), 6)  # x = 0.01 + 0.5 (x - 0.005)
    0.015
    """
    whole = (1 - mixed) * plain + mixed * longer
    if whole >= launching:
        return whole
    least = (1 - mixed) * plain
    return max(least, plain + mixed * (longer - launching) / (1 - mixed)) if mixed < 1 else least
