"""Number formats: bytes per number, and the peak rates of their products.

This is the only table of precisions, used for memory, traffic, optimizer states and rates. An
unknown name raises `KeyError`; there is no default width.

Sources: OCP Microscaling Formats (MX) Specification 1.0 for mxfp8 and mxfp4 (one 8-bit scale for
each 32 elements); NVIDIA, "Introducing NVFP4" for nvfp4 (one 8-bit scale for each 16 elements); Lin
et al., AWQ, arXiv 2306.00978, for int4 (one 16-bit scale for each group of 128 weights); Dettmers et
al., QLoRA, arXiv 2305.14314, section 3, for nf4 (one 8-bit scale for each 64 weights, and one 32-bit
scale for each 256 of those scales). fp8, int8 and fp4 without a block format have one scale for a
tensor or a channel, which is not counted.
"""

from __future__ import annotations

from collections.abc import Container

from clusterspec.records import dataclass


@dataclass(frozen=True)
class Precision:
    """A number format: ``bits`` per element, and a scale of ``scale_bits`` per ``block`` elements.

    ``rates`` are the precisions whose peaks apply to products of such numbers, narrowest first: an accelerator without
    the first uses the next, after widening the operands.
    """

    name: str
    bits: int
    rates: tuple[str, ...] = ()
    scale_bits: float = 0
    block: int = 1
    vendor: str = ""
    """The vendor whose parts alone multiply the format; empty for formats that several vendors execute."""

    @property
    def bytes(self) -> float:
        """The bytes of one number, including its share of the block scale.

        >>> PRECISIONS["bf16"].bytes, PRECISIONS["mxfp4"].bytes, PRECISIONS["nvfp4"].bytes
        (2.0, 0.53125, 0.5625)
        """
        return (self.bits + self.scale_bits / self.block) / 8


WIDE = ("bf16", "fp16", "tf32", "fp32")
"""Peaks that operands are widened to, in order, where the accelerator has no narrower one."""
PRECISIONS = {
    one.name: one
    for one in (
        Precision("none", 0),
        Precision("fp64", 64, ("fp64",)),
        Precision("fp32", 32, ("fp32",)),
        Precision("tf32", 32, ("tf32",)),
        Precision("bf16", 16, ("bf16",)),
        Precision("fp16", 16, ("fp16", "bf16")),
        Precision("fp8", 8, ("fp8", *WIDE)),
        Precision("mxfp8", 8, ("fp8", *WIDE), 8, 32),
        Precision("int8", 8, ("int8", *WIDE)),
        Precision("fp4", 4, ("fp4", "fp8", *WIDE)),
        Precision("mxfp4", 4, ("fp4", "fp8", *WIDE), 8, 32),
        Precision("nvfp4", 4, ("fp4", "fp8", *WIDE), 8, 16, "NVIDIA"),
        Precision("int4", 4, ("int4", "int8", *WIDE), 16, 128),
        Precision("nf4", 4, WIDE, 8 + 32 / 256, 64),
    )
}
"""All formats by name. tf32 is how products round fp32 numbers; they are stored in 32 bits."""
ROUNDED = frozenset({"fp8", "mxfp8", "fp4", "nvfp4"})
"""Weight formats that engines multiply at the first of their rates, with activations rounded to the same format.

Checkpoints in int4 and int8, and mxfp4 checkpoints not from AMD, may leave activations in 16 bits.
"""
WIDTHS = {name: one.bytes for name, one in PRECISIONS.items()}
"""The bytes of one number in each format."""
OPERANDS = {"fp8": "mxfp8", "fp4": "nvfp4", "int8": "int8"}
"""The format in which products of a narrow precision keep their operands: block formats of Transformer Engine."""
NARROW = frozenset(OPERANDS)
"""Precisions of the matrix work whose activations stay in 16 bits between the products."""


def precision_width(name: str) -> float:
    """The bytes of one number in a precision, including scales. Raises `KeyError` for an unknown name.

    >>> precision_width("fp32"), precision_width("fp8"), precision_width("none")
    (4.0, 1.0, 0.0)
    """
    return WIDTHS[name]


def activation_width(work: str) -> float:
    """The bytes of an activation between products of precision ``work``: 16 bits, or 32 for wider products.

    >>> activation_width("fp8"), activation_width("bf16"), activation_width("tf32")
    (2.0, 2.0, 4.0)
    """
    return 2.0 if work in NARROW else precision_width(work)


def table_width(stored: str) -> float:
    """The bytes of a number of the embedding and of the output head where weights are served in precision ``stored``.

    Quantization leaves both in 16 bits: the recipes of vLLM's llm-compressor ignore ``lm_head`` and quantize linear
    layers only, and ModelOpt excludes ``lm_head`` and ``model.embed_tokens`` (vLLM documentation, "FP8 W8A8").

    >>> table_width("fp8"), table_width("bf16"), table_width("fp32")
    (2.0, 2.0, 4.0)
    """
    return max(2.0, precision_width(stored))


def operand_width(work: str) -> float:
    """The bytes of one number of the saved input of a product of precision ``work``, in its block format.

    >>> operand_width("fp8"), operand_width("fp4"), operand_width("bf16")
    (1.03125, 0.5625, 2.0)
    """
    return precision_width(OPERANDS.get(work, work))


def peak_name(name: str, peaks: Container[str]) -> str | None:
    """The peak at which an accelerator with ``peaks`` multiplies numbers of a precision.

    None if it has no peak that is at least as wide.

    >>> peak_name("mxfp4", {"bf16", "fp8"}), peak_name("int4", {"bf16"}), peak_name("fp32", {"bf16"})
    ('fp8', 'bf16', None)
    """
    return next((one for one in PRECISIONS[name].rates if one in peaks), None)
