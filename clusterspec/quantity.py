"""Quantities as written, figures with a unit and an origin, and the number formats that bytes and peaks count in.

A `Quantity` is a value as written, converted to SI on input. A `Figure` is a number used by the
cluster and cost models. Bandwidths are figures in bytes per second per direction, peaks are figures
in dense FLOP/s; both require a statement of how the source counted. Values that count differently neither add nor
compare.
"""

from __future__ import annotations

from collections.abc import Container
from enum import StrEnum

from clusterspec.records import dataclass
from clusterspec.source import Computed, Origin

HOUR = 3_600.0
DAY = 24 * HOUR
YEAR = 365.25 * DAY
"""Seconds of an hour, of a day, and of a year as the unit `year` of a spec counts it."""


class Direction(StrEnum):
    """How a written bandwidth counts: one direction, or both summed."""

    ONE_WAY = "unidirectional"
    DUPLEX = "duplex"


class Basis(StrEnum):
    """What the bytes of a bandwidth count: all bytes on a link, the payload of a collective, or the payload scaled to
    bus bandwidth.
    """

    LINE = "line rate"
    ALGORITHM = "algbw"
    BUS = "busbw"


class Sparsity(StrEnum):
    """How a written peak counts: dense, or with 2:4 structured sparsity."""

    DENSE = "dense"
    SPARSE = "sparse"


class UnlikeQuantities(ValueError):
    """Raised if values are added or compared that differ in unit, direction, sparsity or basis (the bytes counted)."""


@dataclass(frozen=True)
class Quantity:
    """A quantity as written, with its value in SI units.

    ``value`` is in ``unit`` (``B/s``, ``B``, ``FLOP/s``, ``W``, ``s``, ``1``) as counted by the
    author: a duplex bandwidth is the sum of both directions. ``written`` is the text, ``symbol`` its
    normalized unit (``Gb/s`` for ``Gbps``), ``bits`` says whether that counts bits.
    """

    value: float
    unit: str
    written: str
    symbol: str = ""
    bits: bool = False
    direction: Direction | None = None
    sparsity: Sparsity | None = None

    @property
    def per_direction(self) -> float:
        """Bytes per second per direction; a quantity without a direction is per direction."""
        return self.value / 2 if self.direction is Direction.DUPLEX else self.value

    @property
    def dense(self) -> float:
        """FLOP/s without structured sparsity; a quantity without a sparsity is dense."""
        return self.value / 2 if self.sparsity is Sparsity.SPARSE else self.value

    @property
    def counting(self) -> tuple[str, ...]:
        """Properties that quantities must share to be added or compared; a quantity without a direction counts per
        direction.
        """
        return self.unit, self.direction or Direction.ONE_WAY, self.sparsity or Sparsity.DENSE

    def __add__(self, other: Quantity) -> Quantity:
        _refuse_unlike(self, other)
        written = f"{self.written} + {other.written}"
        return Quantity(self.value + other.value, self.unit, written, "", False, self.direction, self.sparsity)

    def __lt__(self, other: Quantity) -> bool:
        """Whether the value is below the other's. Raises `UnlikeQuantities`."""
        _refuse_unlike(self, other)
        return self.value < other.value


@dataclass(frozen=True)
class Figure:
    """A number with its SI unit and its origin."""

    value: float
    unit: str
    origin: Origin

    @property
    def counting(self) -> tuple[str, ...]:
        """Properties that figures must share to be added or compared."""
        return (self.unit,)

    def __lt__(self, other: Figure) -> bool:
        """Whether the value is below the other's. Raises `UnlikeQuantities`."""
        _refuse_unlike(self, other)
        return self.value < other.value


RATE = "B/s"
"""The unit of every bandwidth."""


@dataclass(frozen=True)
class Bandwidth(Figure):
    """Bytes per second in one direction. Build it with `one_way`, `duplex`, `line_rate` or `of`.

    Raises `ValueError` for any other unit.
    """

    basis: Basis = Basis.LINE

    def __post_init__(self) -> None:
        if self.unit != RATE:
            raise ValueError(f"a bandwidth is in {RATE}, not in {self.unit or 'no unit'}")

    @classmethod
    def one_way(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """A bandwidth from a figure per direction."""
        return cls(bytes_per_second, RATE, origin)

    @classmethod
    def duplex(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """A bandwidth from a figure that sums both directions."""
        return cls(bytes_per_second / 2, RATE, origin)

    @classmethod
    def line_rate(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """A bandwidth from the line rate of a port, which is per direction."""
        return cls(bytes_per_second, RATE, origin)

    @classmethod
    def of(cls, quantity: Quantity, origin: Origin, basis: Basis = Basis.LINE) -> Bandwidth:
        """A bandwidth from a written quantity and its direction; per direction if none is written."""
        return cls(quantity.per_direction, quantity.unit, origin, basis)

    @property
    def counting(self) -> tuple[str, ...]:
        """Properties that bandwidths must share to be added or compared."""
        return self.unit, Direction.ONE_WAY, self.basis

    def on_bus(self, factor: float) -> Bandwidth:
        """The bus bandwidth of a collective from its algorithm bandwidth and the factor of nccl-tests.

        Raises `UnlikeQuantities` for a line rate.

        >>> from clusterspec.source import Assumed
        >>> Bandwidth(200e9, "B/s", Assumed("algbw", "example"), Basis.ALGORITHM).on_bus(1.75).value
        350000000000.0
        """
        if self.basis is Basis.BUS:
            return self
        if self.basis is Basis.LINE:
            raise UnlikeQuantities("a line rate is not the bandwidth of a collective")
        return Bandwidth(self.value * factor, RATE, self.origin, Basis.BUS)

    def __add__(self, other: Bandwidth) -> Bandwidth:
        _refuse_unlike(self, other)
        return Bandwidth(self.value + other.value, RATE, Computed("the sum of two bandwidths"), self.basis)


def bus_factor(collective: str, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth of a collective on a number of ranks, as nccl-tests defines it.

    >>> bus_factor("all-reduce", 8), bus_factor("all-gather", 8), bus_factor("send-recv", 2)
    (1.75, 0.875, 1.0)
    """
    if collective == "all-reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in {"all-gather", "reduce-scatter", "all-to-all"} else 1.0


@dataclass(frozen=True)
class Peak(Figure):
    """Dense FLOP/s of one accelerator. Build it with `dense` or `sparse`."""

    @classmethod
    def dense(cls, flops: float, origin: Origin) -> Peak:
        """A peak from a dense figure."""
        return cls(flops, "FLOP/s", origin)

    @classmethod
    def sparse(cls, flops: float, origin: Origin) -> Peak:
        """A peak from a figure with 2:4 structured sparsity, which is twice the dense one."""
        return cls(flops / 2, "FLOP/s", origin)


def _refuse_unlike(one: Quantity | Figure, other: Quantity | Figure) -> None:
    if one.counting != other.counting:
        left, right = (" ".join(word for word in value.counting if word) or "no unit" for value in (one, other))
        raise UnlikeQuantities(f"values in {left} and in {right} neither add nor compare")


# Number formats: bytes per number, and the peak rates of their products. This is the only table of precisions, used for
# memory, traffic, optimizer states and rates. An unknown name raises `KeyError`; there is no default width.
#
# Sources: OCP Microscaling Formats (MX) Specification 1.0 for mxfp8 and mxfp4 (one 8-bit scale for each 32 elements);
# NVIDIA, "Introducing NVFP4" for nvfp4 (one 8-bit scale for each 16 elements); Lin et al., AWQ, arXiv 2306.00978, for
# int4 (one 16-bit scale for each group of 128 weights); Dettmers et al., QLoRA, arXiv 2305.14314, section 3, for nf4
# (one 8-bit scale for each 64 weights, and one 32-bit scale for each 256 of those scales). fp8, int8 and fp4 without a
# block format have one scale for a tensor or a channel, which is not counted.


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
    """The only vendor whose parts execute the format; empty for formats of several vendors."""

    @property
    def bytes(self) -> float:
        """The bytes of one number, including its share of the block scale.

        >>> PRECISIONS["bf16"].bytes, PRECISIONS["mxfp4"].bytes, PRECISIONS["nvfp4"].bytes
        (2.0, 0.53125, 0.5625)
        """
        return (self.bits + self.scale_bits / self.block) / 8


WIDE = ("bf16", "fp16", "tf32", "fp32")
"""Formats whose peak applies, in order, if the accelerator has no peak at the precision of the operands."""
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
"""Weight formats for which engines round activations to the same format and multiply at the first of the format's
rates.

Checkpoints in int4 and int8, and mxfp4 checkpoints not from AMD, may leave activations in 16 bits.
"""
WIDTHS = {name: one.bytes for name, one in PRECISIONS.items()}
"""The bytes of one number in each format."""
OPERANDS = {"fp8": "mxfp8", "fp4": "nvfp4", "int8": "int8"}
"""The format in which operands of a narrow precision are stored: block formats of Transformer Engine."""
NARROW = frozenset(OPERANDS)
"""Precisions of matrix products for which activations between products stay in 16 bits."""


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
    """The bytes of one number of the embedding and the output head if weights are served in precision ``stored``.

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
