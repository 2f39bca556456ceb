"""Programs whose training steps a text prints, by the form of one line."""

from __future__ import annotations

import re

FORMS = {
    "Megatron-LM": ("elapsed time per iteration (ms):", r"\biteration\s{1,12}[0-9]{1,9}\s{0,3}/"),
    "Megatron-Bridge": ("s GPU utilization: ", r"\bStep Time : [0-9.]{1,16}s GPU utilization: "),
    "NeMo": (
        "train_step_timing in s",
        r"\bglobal_step[:=].{0,600}\btrain_step_timing in s[:=]|:::MLLOG .{0,300}\btrain_step_timing in s\":",
    ),
    "MaxText": ("completed step:", r"\bcompleted step:\s{0,3}[0-9]{1,9}, seconds:"),
    "verl": ("timing_s/step:", r"\bstep:[0-9]{1,9} - .{0,4000}\btiming_s/step:[0-9.]{1,16}"),  # verl/utils/tracking.py
    "torchtitan": ("tps:", r"\bstep:\s{1,8}[0-9]{1,9}\s.{0,300}?\btps:"),
    "DeepSpeed": ("SamplesPerSec=", r"\bstep=[0-9]{1,9},|RunningAvgSamplesPerSec="),
    "Transformers": ("'loss':", r"\{'loss': '?[0-9.e+-]{1,20}'?, .{0,300}'epoch': "),
}
"""What a line of a step contains and the pattern of the line, by the program that prints it."""
LONGEST = 6_000
"""Largest number of characters of a line that is read."""


def step_program(text: str) -> str | None:
    """The program whose steps a text prints; None if it prints none.

    >>> step_program("(TaskRunner pid=7) step:3 - actor/entropy:0.4 - timing_s/step:120.5 - perf/mfu/actor:0.3")
    'verl'
    >>> step_program("step 3 of the plan")
    """
    for program, (word, form) in FORMS.items():
        at = text.find(word)
        if at >= 0:
            start = text.rfind("\n", 0, at) + 1
            if re.search(form, text[start : start + LONGEST].partition("\n")[0]):
                return program
    return None
