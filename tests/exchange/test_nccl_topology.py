"""NCCL and RCCL topology files: plans, dumps, and what is none of them."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.machines.pcie import matches_nccl_topo
from tests.exchange.imports import counts, given, read, unknown

H100 = 'class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16"'
MI300X = 'class="0x120000" vendor="0x1002" device="0x74a1" link_speed="32.0 GT/s PCIe" link_width="16"'
NIC = 'class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16"'


def system(gpus: str, nets: str = "") -> str:
    return f'<system version="1">\n<cpu numaid="0" arch="x86_64">\n{gpus}\n{nets}\n</cpu>\n</system>\n'


def gpu(number: int, kind: str, links: str) -> str:
    return f'<pci busid="0000:{number:02x}:00.0" {kind}>\n<gpu dev="{number}" sm="90" gdr="1">\n{links}\n</gpu>\n</pci>'


def nic(number: int, speed: int, kind: str = NIC) -> str:
    net = f'<net name="mlx5_{number}" dev="{number}" speed="{speed}" port="1" guid="0x1" gdr="1"/>'
    return f'<pci busid="0000:f{number:x}:00.0" {kind}>\n<nic>\n{net}\n</nic>\n</pci>'


def switched(count: int, links: int, switches: int) -> str:
    to = "".join(f'<nvlink target="0000:a{n}:00.0" count="{links}" tclass="0x068000"/>' for n in range(switches))
    return "\n".join(gpu(n, H100, to) for n in range(count))


def meshed(count: int) -> str:
    def links(one: int) -> str:
        return "".join(
            f'<xgmi target="0000:{n:02x}:00.0" count="1" tclass="0x120000"/>' for n in range(count) if n != one
        )

    return "\n".join(gpu(n, MI300X, links(n)) for n in range(count))


def test_links_to_switches_belong_to_their_accelerator() -> None:
    reading = read(system(switched(8, 4, 4), "\n".join(nic(n, 400_000) for n in range(8))))
    assert given(reading) == {
        "cluster.accelerators_per_node": 8,
        "cluster.accelerator": "h100-sxm-80gb",
        "cluster.scale_up.topology": "switched",
        "cluster.scale_up.domain": 8,
        "cluster.scale_out.nics_per_node": 8,
        "cluster.scale_out.gpudirect_rdma": True,
        "cluster.scale_out.nic_bandwidth": "400 Gb/s",
        "cluster.scale_out.technology": "infiniband-ndr",
        "cluster.scale_out.nic": "connectx-7",
    }
    assert counts(reading)["links_per_accelerator"] == 16
    assert (counts(reading)["nvswitches"], counts(reading)["links_to_switches"]) == (4, 32)


def test_a_mesh_of_xgmi_has_a_link_for_every_pair() -> None:
    reading = read(system(meshed(8)))
    assert given(reading)["cluster.accelerator"] == "mi300x"
    assert given(reading)["cluster.scale_up.topology"] == "full-mesh"
    assert (counts(reading)["edges"], counts(reading)["links_per_accelerator"]) == (28, 7)


def test_halves_of_a_package_are_ranks() -> None:
    text = system(meshed(8).replace("0x74a1", "0x7408"))
    assert given(read(text))["cluster.accelerators_per_node"] == 4
    assert given(read(text))["cluster.ranks_per_accelerator"] == 2
    assert given(read(text))["cluster.scale_up.domain"] == 4


def test_a_plan_counts_devices_by_class_and_states_no_links() -> None:
    plan = "\n".join(f'<pci busid="0000:{n:02x}:00.0" {H100}/><pci busid="0000:e{n}:00.0" {NIC}/>' for n in range(4))
    reading = read(system(plan))
    assert (counts(reading)["accelerators"], counts(reading)["nics"]) == (4, 4)
    assert "a plan without links" in unknown(reading)


def test_devices_without_a_class_stay_unknown() -> None:
    reading = read(system("\n".join(f'<pci busid="0000:00:1{n}.0"/>' for n in range(5))))
    assert counts(reading)["pci_devices"] == 5
    assert not given(reading)
    assert "does not state their class" in unknown(reading)


def test_a_link_to_itself_joins_nobody() -> None:
    loop = "\n".join(
        gpu(n, H100, f'<nvlink target="0000:{n:02x}:00.0" count="12" tclass="0x030200"/>') for n in range(4)
    )
    reading = read(system(loop))
    assert (counts(reading)["links_per_accelerator"], counts(reading)["edges"]) == (12, 0)
    assert "every link points to its own accelerator" in unknown(reading)


def test_a_network_is_that_of_the_class_and_the_vendor_of_its_adapters() -> None:
    for kind, other, technology in (
        ("020700", "15b3", "infiniband-ndr"),
        ("020000", "15b3", "roce-v2"),
        ("020000", "14e4", None),  # Ethernet of another vendor: with RDMA or without
        ("020000", "17db", "slingshot-11"),
    ):
        given_kind = NIC.replace("020700", kind).replace("15b3", other)
        speed = 200_000 if other == "17db" else 400_000
        reading = read(system(meshed(4), "\n".join(nic(n, speed, given_kind) for n in range(2))))
        assert given(reading).get("cluster.scale_out.technology") == technology, (kind, other)
    both = nic(0, 400_000) + nic(1, 400_000, NIC.replace("020700", "020000"))
    assert "cluster.scale_out.technology" not in given(read(system(meshed(4), both)))


def test_a_speed_that_no_port_has_is_in_another_unit() -> None:
    reading = read(system(meshed(4), nic(0, 200_000_000)))
    assert "cluster.scale_out.nic_bandwidth" not in given(reading)
    assert "no port is that fast" in unknown(reading)


def test_an_unknown_accelerator_is_listed_and_not_guessed() -> None:
    reading = read(system(meshed(4).replace("0x74a1", "0x74a2")))
    assert "cluster.accelerator" not in given(reading)
    assert "1002:74a2 (MI308X)" in unknown(reading)


BOMB = (
    '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><system><cpu numaid="&b;"/></system>'
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE s SYSTEM "file:///etc/passwd"><system version="1"/>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('<graphs version="1"><graph id="0"/></graphs>', "is an NCCL graph file"),
        (BOMB, "a document type or an entity is declared"),
        (OUTSIDE, "a document type or an entity is declared"),
        (system(switched(2, 2, 1))[:-40], "not XML"),
        ("<system>" + "<pci>" * 200, "nested deeper"),
        ("<topology><system/></topology>", "its root is `topology`"),
        (system(gpu(0, H100, '<nvlink target="x" count="99999999" tclass="0x068000"/>')), "a link whose count is"),
    ],
)
def test_what_is_no_topology_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(text, "nccl-topo")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (system(""), True),
        ("  <graphs version='1'>\n</graphs>\n", True),
        ("<svg><g/></svg>\n", False),
        ("# a note on <system version='1'>\n", False),
        ("<systems/>\n", False),
    ],
)
def test_a_topology_file_is_known_by_its_root(text: str, is_one: bool) -> None:
    assert matches_nccl_topo(InputFile("x", text.encode())) is is_one


def test_an_interface_without_a_device_is_counted_once_though_each_cpu_lists_it() -> None:
    net = '<nic><net name="{0}" dev="{1}" speed="10000" port="0" guid="0x0" gdr="0"/></nic>'
    cpu = '<cpu numaid="{0}" arch="x86_64">\n{1}\n{2}\n</cpu>\n'

    def nics(one: str, other: str) -> object:
        text = cpu.format(0, gpu(1, H100, ""), one) + cpu.format(1, gpu(2, H100, ""), other)
        return given(read(f'<system version="1">\n{text}</system>\n'))["cluster.scale_out.nics_per_node"]

    assert nics(net.format("eth0", 0), net.format("eth0", 0)) == 1
    assert nics(net.format("eth0", 0), net.format("eth1", 1)) == 2
    assert nics(nic(1, 400_000), nic(1, 400_000).replace("f1", "e1")) == 2
