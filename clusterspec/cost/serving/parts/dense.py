"""The parts of a serving step that are dense GEMMs: attention and dense networks, and the output head."""

from __future__ import annotations

from clusterspec.cost.formulas.kernels import depth_time
from clusterspec.cost.formulas.serving import roofline_time
from clusterspec.cost.serving.constants import Part, table_origins
from clusterspec.cost.serving.parts.gemm_sizes import has_scaled_blocks
from clusterspec.cost.serving.rates import converts_weights, dense_rate_share
from clusterspec.quantity import precision_width, table_width
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine


def dense_part(engine: Engine, tokens: float) -> Part:
    """Attention and dense networks: reading their weights once, or their GEMMs."""
    weights, name = engine.share.dense + engine.share.replicated, engine.precision
    numbers = {
        "bytes_read": weights * precision_width(engine.workload.parameter_precision),
        "bandwidth": engine.rates.weight_read_rate(name, tokens),
        "flops": 2 * weights * tokens,
        "rate": _dense_rate(engine, tokens),
    }
    table = engine.rates.gemm_table(name, engine.software, has_scaled_blocks(engine.model, name))
    return Part(
        "dense",
        roofline_time,
        numbers,
        table_origins(engine.rates.table, bandwidth=f"gemm.{name}.stream", rate=table),
    )


def depth_parts(engine: Engine, dense: Part) -> tuple[Part, ...]:
    """The time of dense products of few tiles beyond the ``dense`` part: a tile sums along the whole depth of a
    product, one step after another, however few weights it has.
    """
    blocks = has_scaled_blocks(engine.model, engine.precision)
    year = engine.software_year
    along = engine.rates.depth_seconds(engine.precision, engine.software, blocks=blocks, year=year)
    if not along:
        return ()
    each = dense.seconds / (engine.share.dense + engine.share.replicated)
    depth = sum_of(one.number * max(0.0, one.depth - one.weights * each / along) for one in engine.products)
    return (Part("depth", depth_time, {"depth": depth, "along": along}, {}),) if depth else ()


def _dense_rate(engine: Engine, tokens: float) -> float:
    """FLOP/s of dense GEMMs; where they convert weights, the number of tiles lowers it."""
    kept, name = engine.workload.parameter_precision, engine.precision
    if not converts_weights(kept, name):
        blocks = has_scaled_blocks(engine.model, name)
        rate = engine.rates.padded_gemm_rate(name, tokens, engine.peak, engine.software, blocks=blocks)
        return min(engine.peak, rate * engine.sizes)
    rate = engine.rates.gemm_rate(name, tokens, engine.peak)
    return rate * dense_rate_share(kept, engine.cluster.accelerator.architecture, tokens, rate / engine.rates.bandwidth)


def head_part(engine: Engine, sequences: float) -> Part:
    """The output head: reading its weights once, or its GEMM."""
    weights = engine.share.output
    numbers = {
        "bytes_read": weights * table_width(engine.workload.parameter_precision),
        "bandwidth": engine.rates.weight_read_rate("bf16", sequences),
        "flops": 2 * weights * sequences,
        "rate": engine.rates.padded_gemm_rate("bf16", sequences, engine.rates.rate_of_16_bits),
    }
    return Part(
        "head",
        roofline_time,
        numbers,
        table_origins(engine.rates.table, bandwidth="gemm.bf16.stream", rate="gemm.bf16"),
    )
