"""Laws of importers: pairs in either order, texts nested to the limit, and what a table of pairs measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from clusterspec.exchange.fabrics.infragraph import _device_shape
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.machines.links import NodeLinks
from clusterspec.exchange.microbenchmarks import probe
from clusterspec.exchange.purchasing.hcl import DEEPEST, attributes_of, blocks_of
from tests.exchange.imports import read

NAMES = ("a", "b", "c", "d")
PAIRS = st.dictionaries(st.sampled_from([(one, other) for one in NAMES for other in NAMES if one < other]), st.just(2))


@drawn(PAIRS, st.booleans())
def test_links_of_a_pair_are_the_same_in_either_order(pairs: dict[tuple[str, str], int], turned: bool) -> None:
    links = NodeLinks(NAMES, {(pair[::-1] if turned else pair): count for pair, count in pairs.items()})
    for one in NAMES:
        for other in NAMES:
            expected = pairs.get((one, other), 0) or pairs.get((other, one), 0)
            assert links.link_count_between(one, other) == links.link_count_between(other, one) == expected
    assert links.edges == len(pairs)
    assert sorted(name for group in links.domains() for name in group) == list(NAMES)
    for group in links.domains():
        inside = [pair for pair in pairs if pair[0] in group and pair[1] in group]
        assert links.complete(group) == (len(inside) == len(group) * (len(group) - 1) // 2)


NESTED: dict[str, Callable[[int], str]] = {
    "list": lambda depth: "a = " + "[" * depth + "]" * depth,
    "object": lambda depth: "a = " + "{b = " * depth + "1" + "}" * depth,
    "block": lambda depth: "b {\n" * depth + "}\n" * depth,
}


@pytest.mark.parametrize("kind", NESTED)
def test_each_level_of_a_text_counts_once_up_to_the_limit(kind: str) -> None:
    """A file of values is inside braces of its own, and the value of an object is one level deeper than the object."""
    text, inner = NESTED[kind], int(kind == "object")
    for read_text, most in ((attributes_of, DEEPEST - inner), (blocks_of, DEEPEST + 1 - inner)):
        read_text(text(most))
        with pytest.raises(FormatError, match=f"nested deeper than {DEEPEST} levels"):
            read_text(text(most + 1))


@pytest.mark.parametrize(
    ("title", "rate", "busbw"),
    [("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", 370.5, "370.5 GB/s")],
)
@pytest.mark.parametrize("accelerators", [2, 4])
def test_a_table_of_pairs_measures_two_ranks_of_one_node(
    title: str, rate: float, busbw: str, accelerators: int
) -> None:
    rows = "".join(
        f"     {row} " + " ".join(f"{2000.0 if row == column else rate}" for column in range(accelerators)) + "\n"
        for row in range(accelerators)
    )
    text = f"{title}\n   D\\D " + " ".join(map(str, range(accelerators))) + f"\n{rows}"
    (entry,) = (each.value for each in read(text, "p2p").given)
    assert isinstance(entry, Mapping) and dict(entry) == {
        "collective": "send-recv",
        "nodes": 1,
        "ranks": 2,
        "busbw": busbw,
    }


@pytest.mark.parametrize("choice", ["xpu", "npu"])
@pytest.mark.parametrize("other", ["cpu", "nic", "switch", "memory"])
def test_the_product_of_a_device_is_that_of_its_accelerators(choice: str, other: str) -> None:
    """Another component that is called like a product comes first and names nothing."""
    parts: list[dict[str, Any]] = [
        {"choice": other, "name": "b200", "count": 1},
        {"choice": choice, "name": "h100", "count": 8, "description": "NVIDIA H100 SXM 80GB"},
    ]
    shape = _device_shape({"name": "server", "components": parts})
    assert (shape.product, shape.accelerators, shape.processors) == ("h100-sxm-80gb", 8, int(other == "cpu"))
    assert _device_shape({"name": "server", "components": parts[:1]}).product is None


def test_products_are_timed_from_one_row_on_and_sizes_grow() -> None:
    """One row is one sequence that decodes; a rate over lengths needs each size once, in order."""
    assert probe.ROWS[0] == 1
    for sizes in (probe.ROWS, probe.PROMPTS, probe.COPIES):
        assert list(sizes) == sorted(set(sizes)) and all(size & (size - 1) == 0 for size in sizes)
