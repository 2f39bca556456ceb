"""A matrix of `nvidia-smi topo -m` states links, domains and NICs, whatever is left out of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import pytest

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.machines.links import NodeLinks, shape_of
from clusterspec.exchange.machines.nvidia import _header_cells
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

LEGEND = "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"


def matrix(
    count: int, cell: Callable[[int, int], str], nics: int = 0, nic_cell: Callable[[int, int], str] | None = None
) -> str:
    """A matrix as the tool prints it: GPUs whose cells are given, and NICs."""
    names = [f"GPU{n}" for n in range(count)] + [f"NIC{n}" for n in range(nics)]
    lines = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for row, name in enumerate(names):
        cells = []
        for column in range(len(names)):
            if row == column:
                cells.append(" X ")
            elif row < count and column < count:
                cells.append(cell(row, column))
            elif row < count or column < count:
                pair = (row, column - count) if row < count else (column, row - count)
                cells.append(nic_cell(*pair) if nic_cell else "SYS")
            else:
                cells.append("SYS")
        tail = [f"{16 * row}-{16 * row + 15}", str(row * 2 // count), "N/A"] if row < count else []
        lines.append("\t".join([name, *cells, *tail]))
    return "\n".join(lines) + "\n" + LEGEND


CASES = [
    # 8 GPUs on NVSwitches: NV18 is all that a GPU has, not what it has for each peer
    (matrix(8, lambda a, b: "NV18"), "switched", 8, 18, 28),
    # 4 GPUs joined directly: 3 peers × 4 links = 12, which one A100 has
    (matrix(4, lambda a, b: "NV4"), "full-mesh", 4, 12, 6),
    # four on a switch: 3 × 18 = 54 links would be more than any GPU has
    (matrix(4, lambda a, b: "NV18"), "switched", 4, 18, 6),
    # bridges between neighbors: 8 GPUs, 4 pairs
    (matrix(8, lambda a, b: "NV12" if a // 2 == b // 2 else "SYS"), "bridge", 2, 12, 4),
    (matrix(2, lambda a, b: "NV4"), "bridge", 2, 4, 1),
    (matrix(8, lambda a, b: "NODE" if a // 4 == b // 4 else "SYS"), "pcie", 1, 0, 0),
    # 18 links of an H100 reach two peers with 9 each; 10 each would be 20, and so are links of a switch
    (matrix(3, lambda a, b: "NV9"), "full-mesh", 3, 18, 3),
    (matrix(3, lambda a, b: "NV10"), "switched", 3, 10, 3),
    # as many to one peer as an H100 has
    (matrix(2, lambda a, b: "NV18"), "switched", 2, 18, 1),
    (matrix(2, lambda a, b: "NV17"), "bridge", 2, 17, 1),
    # a cube with unequal edges, as of V100: no switch, whatever the sum
    (matrix(4, lambda a, b: "NV12" if a // 2 == b // 2 else "NV8"), "full-mesh", 4, 28, 6),
    # a ring of four in which opposite corners are not joined
    (matrix(4, lambda a, b: "NV2" if (a - b) % 4 in (1, 3) else "PHB"), "partial-mesh", 4, 4, 4),
]


@pytest.mark.parametrize(("text", "topology", "domain", "links", "edges"), CASES)
def test_links_are_counted_as_they_are_joined(text: str, topology: str, domain: int, links: int, edges: int) -> None:
    reading = read(text)
    assert reading.kind == "nvidia-smi-topo"
    assert given(reading)["cluster.scale_up.topology"] == topology
    assert given(reading)["cluster.scale_up.domain"] == domain
    assert counts(reading)["links_per_accelerator"] == links
    assert counts(reading)["edges"] == edges


def torus(*sides: int, first: int = 0) -> dict[int, frozenset[int]]:
    """The neighbors of each place of a torus, numbered row by row."""
    places = list(product(*map(range, sides)))
    number = {place: first + at for at, place in enumerate(places)}
    return {
        number[place]: frozenset(
            number[(*place[:axis], (place[axis] + step) % side, *place[axis + 1 :])]
            for axis, side in enumerate(sides)
            for step in (1, -1)
        )
        for place in places
    }


def test_a_ring_or_torus_is_known_by_the_neighbors_of_its_numbers() -> None:
    for sides in ((3,), (4,), (8,), (4, 4), (3, 5), (2, 4), (4, 4, 4), (3, 4, 5), (2, 2, 3)):
        assert shape_of(torus(*sides)) == sides, sides
    cut = {n: frozenset({n - 1, n + 1} & set(range(4))) for n in range(4)}
    for others in (torus(2), torus(4, first=1), cut, {n: frozenset(range(8)) - {n} for n in range(8)}, {}):
        assert shape_of(others) is None, others


def test_ambiguous_links_of_two_gpus_are_a_question() -> None:
    reading = read(matrix(2, lambda a, b: "NV12"))
    assert "cluster.scale_up.topology" not in given(reading)
    assert "a bridge or a switch" in unknown(reading)


def test_nics_behind_a_switch_of_a_gpu_serve_the_fabric_and_others_stay_unknown() -> None:
    reading = read(matrix(4, lambda a, b: "NV18", 6, lambda gpu, nic: "PXB" if gpu == nic else "NODE"))
    assert counts(reading)["nics"] == 6
    assert given(reading)["cluster.scale_out.nics_per_node"] == 4
    assert "2 NICs (NIC4, NIC5)" in unknown(reading)


def test_the_header_may_be_underlined_and_numa_nodes_are_counted() -> None:
    text = matrix(8, lambda a, b: "NV18")
    first, rest = text.split("\n", 1)
    reading = read(f"\x1b[4m{first}\x1b[0m\n{rest}")
    assert counts(reading)["numa_nodes"] == 2
    assert {each.at.line for each in reading.given} == {1}


def test_a_markdown_table_says_the_same() -> None:
    text = """\
        Some words.
        | CPU Affinity | NUMA Affinity |      | GPU0 | GPU1 | mlx5_0 |
        |--------------|---------------|------|------|------|--------|
        | 0-7          | 0             | GPU0 | X    | NV4  | PXB    |
        | 8-15         | 1             | GPU1 | NV4  | X    | SYS    |
        |              |               | mlx5_0 | PXB | SYS | X      |
        """
    reading = read(text)
    assert counts(reading)["links_per_accelerator"] == 4
    assert given(reading)["cluster.scale_out.nics_per_node"] == 1
    assert counts(reading)["numa_nodes"] == 2


def test_matrices_that_differ_are_a_question_and_equal_ones_are_not() -> None:
    one, other = matrix(8, lambda a, b: "NV18"), matrix(4, lambda a, b: "NV4")
    with pytest.raises(FormatError, match=r"holds 2 matrices that differ, on lines 1 \(8 GPUs\), 16 \(4 GPUs\)"):
        read(one + "\n" + other)
    assert counts(read(one + "\n" + other, part=2))["accelerators"] == 4
    assert counts(read(one + "\n" + one))["accelerators"] == 8


@pytest.mark.parametrize("status", ["OK", "GNS", "CNS", "NS", "DR"])
def test_a_matrix_of_peer_access_states_no_links(status: str) -> None:
    """`nvidia-smi topo -p2p` prints the same header, but whether peers may access each other, also over NVLink."""
    access = matrix(8, lambda a, b: status)
    with pytest.raises(FormatError, match="peer access of `nvidia-smi topo -p2p`, and no links"):
        read(access, "nvidia-smi-topo")
    links = matrix(8, lambda a, b: "NV18")
    for text in (links + "\n" + access, access + "\n" + links):
        assert counts(read(text))["links_per_accelerator"] == 18


@pytest.mark.parametrize("cut", [0.2, 0.4, 0.6])
def test_a_matrix_that_is_cut_off_is_refused(cut: float) -> None:
    text = matrix(8, lambda a, b: "NV18").split("\nLegend")[0]
    with pytest.raises(FormatError, match="truncated"):
        read(text[: int(len(text) * cut)], "nvidia-smi-topo")


def test_rows_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(FormatError, match="do not show the same links"):
        read(matrix(4, lambda a, b: "NV4" if a < b else "NV2"))


PCIE_LEGEND = "Legend:\n\n  X    = Self\n  PIX  = Connection traversing at most a single PCIe bridge\n"


def test_a_matrix_of_pcie_paths_alone_states_no_scale_up() -> None:
    text = matrix(4, lambda a, b: "SYS").removesuffix(LEGEND) + "\n" + PCIE_LEGEND
    reading = read(text)
    assert counts(reading)["accelerators"] == 4
    assert not any(key.startswith("cluster.scale_up") for key in given(reading))
    assert "topo -mp" in unknown(reading)
    whole = read(text + "  NV#  = Connection traversing a bonded set of # NVLinks\n")
    assert given(whole)["cluster.scale_up.topology"] == "pcie"


@each(
    ("line", "cells"),
    [
        ("\tGPU0\tGPU1\tCPU Affinity", 4),  # affinities are two words
        ("GPU0 GPU1 NIC0", 3),
        ("    GPU0  GPU1  mlx5_0  CPU Affinity  NUMA Affinity", 7),
        ("| | GPU0 | GPU1 | CPU Affinity |", 4),
        # a row begins with a GPU as well, and is told by its links
        ("GPU0\t X \tNV18\t0-15\t0\tN/A", 0),
        ("GPU0\tNV18\t X ", 0),
        ("GPU0\t X \tNV18\t0-15\t0", 0),
        ("NIC0\tSYS\tPIX\t X ", 0),
        ("mlx5_0 GPU0 GPU1", 0),  # a header names the GPUs first
        ("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)", 0),
        ("the first of GPU0 and GPU1", 0),
        ("", 0),
    ],
)
def test_a_header_names_devices_and_no_links(line: str, cells: int) -> None:
    assert len(_header_cells(line)) == cells


@pytest.mark.parametrize(
    ("names", "accelerator"),
    [
        (("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"), "h100-sxm-80gb"),
        (("NVIDIA L40S (UUID: GPU-1)",), "l40s"),
        (("NVIDIA H100 80GB HBM3", "NVIDIA L40S"), None),
        ((), None),
    ],
)
def test_a_list_of_gpus_with_a_matrix_names_the_accelerator(names: tuple[str, ...], accelerator: str | None) -> None:
    listed = "".join(f"    GPU {number}: {name}\n" for number, name in enumerate(names))
    text = listed + "\x1b[4m" + matrix(2, lambda a, b: "NV18")
    assert given(read(text)).get("cluster.accelerator") == accelerator


def meshed(size: int, each: int) -> dict[tuple[str, str], int]:
    return dict.fromkeys(combinations("abcdefgh"[:size], 2), each)


@pytest.mark.parametrize(
    ("size", "each", "switched", "topology", "links"),
    [
        (1, 0, False, "pcie", 0),
        (1, 0, True, "switched", 0),
        (2, 4, False, "bridge", 4),
        (2, 12, False, None, 12),  # all links of an A100: a bridge or a switch
        (2, 18, False, "switched", 18),
        (4, 6, False, "full-mesh", 18),  # 3 x 6 links are all that an H100 has
        (4, 7, False, "switched", 7),
        (8, 2, False, "full-mesh", 14),
        (8, 18, False, "switched", 18),
        (8, 1, True, "switched", 1),
    ],
)
def test_links_to_all_peers_beyond_those_of_an_accelerator_end_in_a_switch(
    size: int, each: int, switched: bool, topology: str | None, links: int
) -> None:
    names = tuple("abcdefgh"[:size])
    node = NodeLinks(names, meshed(size, each), switched)
    assert node.domains() == [names]
    assert (node.topology(names), node.per_accelerator("a", names)) == (topology, links)
    assert node.edges == size * (size - 1) / 2


def test_a_group_without_all_links_is_a_partial_mesh_and_one_without_any_apart() -> None:
    links = {("a", "b"): 2, ("c", "b"): 2, ("d", "d"): 1}
    node = NodeLinks(tuple("abcd"), links)
    assert node.domains() == [("a", "b", "c"), ("d",)]
    assert node.topology(("a", "b", "c")) == "partial-mesh"
    assert [node.per_accelerator(one, ("a", "b", "c")) for one in "abc"] == [2, 4, 2]
    assert NodeLinks(tuple("ab"), links, own={"a": 7}).per_accelerator("a", ("a", "b")) == 7
    assert NodeLinks(tuple("ab"), links, own={"a": 7}).per_accelerator("b", ("a", "b")) == 0
