"""Lines with words of errors that report no error: faults that a program survives, sentences about errors, starts of
hosts.
"""

from __future__ import annotations

import re

_QUIET = re.compile(
    r"(?<![\w./-])(?:DEBUG|INFO|WARN(?:ING)?)(?![\w./-])"
    r"|\.py:[0-9]{1,6}: \w{0,40}Warning: "  # Python's module `warnings`, after which a program goes on
    r"|\bW[0-9]{4} [0-9:]{8}\.[0-9]{3,6} {1,8}[0-9]{1,9} "
    r"|\b(?:[Nn]o errors?|[Nn]o (?:\w{2,20} ){1,2}errors|0 errors?|[Cc]orrect(?:able|ed))\b"
    r"|\b[Ee]rrors?[:= ]{1,3}0\b|\berrors="
)
"""Words of a line that reports no failure, or a failure that the program survives."""
_OUTLIVED = re.compile(
    r"Failed to open lib|auto balancing|Missing \"|[Nn]o plugin|Could(?: not|n't) find: |may be hanging"
    r"|\b[Rr]etry(?:ing)?\b|\b[Dd]eprecated\b|MSCCL|will be ignored|[Ff]alling back|[Dd]isabling"
)
"""Words of their warnings that a run outlives."""
_HINT = re.compile(
    r"\b(?:may|might|could) (?:encounter|occur|happen|see|cause)\b|\b[Ii]f (?:this|it|that) (?:happens|occurs)\b"
    r"|\b(?:[Tt]he|[Aa]n?) error (?:log|occurs|message|is logged)\b"
)
"""Words of a sentence about an error that did not happen, or that a text describes."""
_RECOVERED = re.compile(r"\b[Ff]alling back to\b")
"""What a program does instead, after something failed."""
_CERTAIN = re.compile(r"\w(?:Error|Exception)\b|\bERROR\b|\bFATAL\b")
"""Names that show that a line reports an error that did happen."""
_HARMLESS = re.compile(
    r"\befa .{1,60}Failed to process command DEREG_MR\b.{0,60}err -22\b|module verification failed: signature"
    r"|_OSC evaluation|\bDOE: \[|[Hh]ardware error from APEI|Unable to register cu\w{2,6} factory"
    r"|Failed to dlopen libze_loader\.so|Failed to initialize hmem iface FI_HMEM_(?:ZE|NEURON|SYNAPSEAI)"
    r"|failed to find checkpoint \S{1,400} in wandb|Failed to inspect checkpoint in \S{1,400}: "
    r"|^libfabric:\S{1,120}<warn> .{0,80}\bnot supported\s{0,8}$"
    r"|Error retrieving safetensors: '\S{1,400} is not a safetensors repo"
    r"|: Could not collect\s{0,8}$"
    r"|nthreads cannot be larger than environment variable \"NUMEXPR_MAX_THREADS\""
)
"""Errors that their own documents call harmless, or that a host or a program prints at each start. They are about
memory of a process that ended and is returned twice (aws-neuron-sdk, `nrt-troubleshoot.rst`), a module that is not
signed (kernel/module/signing.c), features that the firmware does not offer, and the heading above the severity of an
event (drivers/acpi/apei/ghes.c). Others are about libraries that are already registered in TensorFlow (xla,
stream_executor), kinds of memory for which a host has no library (libfabric, `src/hmem.c`), and features that a
provider does not offer. The rest are about a checkpoint that is only on disk or does not exist before the first start
(Megatron-LM, `wandb_utils.py`, `megatron/post_training/checkpointing.py`), a format of weights that a hub does not have
(vLLM, `transformers_utils`), facts that a host has no tool for (PyTorch, `collect_env.py`), and
more threads than a limit, which then applies (pydata/numexpr, `numexpr/utils.py`).
"""


_RAISES = re.compile(r"^(?:.{0,120}?\s)?raise \w[\w.]{1,60}\(f[\"'][^{]{0,400}\{\w")
"""A line of source that raises an exception with values to fill in: the exception itself is printed with them."""


def is_outlived(line: str) -> bool:
    """Whether a run survives the fault in a library's warning.

    >>> is_outlived("NCCL WARN Call to connect failed, retrying"), is_outlived("NCCL WARN Call to connect failed")
    (True, False)
    """
    return _OUTLIVED.search(line) is not None


def is_harmless(line: str) -> bool:
    """Whether a line reports an error that the program's own documents call harmless.

    >>> is_harmless("nvidia: module verification failed: signature and/or required key missing")
    True
    """
    return _HARMLESS.search(line) is not None


def is_quiet(line: str) -> bool:
    """Whether a line with a word of an error reports no error, or one that a program survives.

    >>> is_quiet("INFO: 0 errors"), is_quiet("you may encounter an out-of-memory error"), is_quiet("OSError: disk")
    (True, True, False)
    >>> is_quiet('    raise ValueError(f"size={size} must be divisible by world_size")')
    True
    """
    if (_RECOVERED.search(line) or _HINT.search(line)) and not _CERTAIN.search(line):
        return True
    if _RAISES.search(line):
        return True
    return _QUIET.search(line) is not None or is_harmless(line)
