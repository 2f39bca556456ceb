"""Fabrics by their ports: iblinkinfo, and ibnetdiscover --ports."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

LEAVES, HOSTS = 2, 4


def linked(local: str, other: str, name: str, rate: str = "106.25") -> str:
    """One line of iblinkinfo: LID and port of both ends, and the name at the other."""
    return f'{local}[  ] ==( 4X      {rate} Gbps Active/  LinkUp)==>  {other}[  ] "{name}" ( )'


def listed(adapters: bool, missing: str = "", down: bool = True) -> str:
    """Two leaves (LIDs 1 and 2) with two hosts each (LIDs 10 to 13), and a spine (LID 3), to which each has a link."""
    lines = []
    for leaf in (1, 2):
        lines.append(f"Switch: 0x00000000000000{leaf:02x} Quantum Mellanox Technologies:")
        for port, host in enumerate((8 + 2 * leaf, 9 + 2 * leaf), 1):
            lines.append("     " + linked(f"{leaf} {port:4}", f"{host} 1", f"node{host} mlx5_0"))
            if adapters:
                lines.insert(0, "      0x00000000000000aa " + linked(f"{host} 1", f"{leaf} {port}", "Quantum"))
        lines.append("     " + linked(f"{leaf} 40", f"3 {leaf}", "MF0;spine:MQM9700/U1"))
        if down:
            lines.append(f'     {leaf} 41[  ] ==(                Down/ Polling)==>             [  ] "" ( )')
    lines.append("Switch: 0x0000000000000003 MF0;spine:MQM9700/U1:")
    lines += ["     " + linked(f"3 {leaf}", f"{leaf} 40", "Quantum Mellanox Technologies") for leaf in (1, 2)]
    return "\n".join(line for line in lines if not missing or missing not in line)


def test_a_link_counts_once_whichever_ends_are_listed() -> None:
    for adapters in (True, False):
        reading = read(listed(adapters))
        assert given(reading) == {
            "cluster.nodes": HOSTS,
            "cluster.scale_out.nics_per_node": 1,
            "cluster.scale_out.leaf_switches": LEAVES,
            "cluster.scale_out.spine_switches": 1,
            "cluster.scale_out.tiers": 2,
            "cluster.scale_out.links.node_leaf": HOSTS,
            "cluster.scale_out.links.leaf_spine": LEAVES,
            "cluster.scale_out.technology": "infiniband-ndr",
            "cluster.scale_out.nic_bandwidth": "400 Gb/s",
        }
        assert ("only lines of switches name them" in unknown(reading)) is not adapters


def test_a_listing_without_one_of_its_switches_is_refused() -> None:
    with pytest.raises(FormatError, match="lead to 1 switches that are not listed, such as LID 3"):
        read(
            "\n".join(
                line
                for line in listed(True).split("\n")
                if not line.lstrip().startswith(("3 ", "Switch: 0x0000000000000003"))
            )
        )
    with pytest.raises(FormatError, match="no active link"):
        read('     1 41[  ] ==(                Down/ Polling)==>             [  ] "" ( )')


def test_two_ports_of_one_name_are_one_adapter() -> None:
    ends = ((10, 1, "a HCA-1"), (11, 2, "a HCA-1"), (12, 1, "b HCA-1"), (13, 2, "b HCA-1"))
    line = "SW     1 {0:2} 0x0000000000000001 4x HDR - CA {1:5} {2:2} 0x00000000000000aa ( 'Quantum' - '{3}' )"
    reading = read("\n".join(line.format(port, *end) for port, end in enumerate(ends, 1)))
    assert given(reading)["cluster.nodes"] == 2
    assert given(reading)["cluster.scale_out.nics_per_node"] == 1
    assert given(reading)["cluster.scale_out.links.node_leaf"] == 4
    assert counts(reading)["links_at_4xHDR"] == 4
