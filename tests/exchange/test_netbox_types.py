"""Device types of NetBox that are written: required keys, ports by rate and form, and what is left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from clusterspec.exchange.exporters.netbox import _device_types
from clusterspec.exchange.exporters.registry import NotExportable, exporter_of
from clusterspec.records import replace
from tests.exchange.imports import counts, given, read
from tests.exchange.test_simulator_systems import POD, RACKS, omitted, source, written

REQUIRED = {"manufacturer", "model", "slug", "u_height", "is_full_depth"}
MESH = "platform: mi300x-ubb8, nodes: 4"


def types(cluster: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(written("netbox", cluster)))


@pytest.mark.parametrize("cluster", [POD, RACKS, MESH, "platform: dgx-b200, nodes: 8"])
def test_a_device_type_has_the_keys_that_its_grammar_requires(cluster: str) -> None:
    for each in types(cluster):
        assert set(each) == REQUIRED | {"interfaces"}
        assert re.fullmatch("[-a-z0-9_]{1,100}", each["slug"])
        assert each["u_height"] > 0
        names = [port["name"] for port in each["interfaces"]]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("cluster", "ports"),
    [
        (POD, [("DGX H100", 8, 8), ("Quantum-2 QM9700", 1, 64)]),
        (RACKS, [("GB200 NVL72 node", 1, 4), ("Quantum-2 QM9700", 1, 64)]),
    ],
)
def test_a_design_has_a_type_for_its_node_and_its_switch(cluster: str, ports: list[tuple[str, int, int]]) -> None:
    found = types(cluster)
    assert [(each["model"], each["u_height"], len(each["interfaces"])) for each in found] == ports
    assert {port["type"] for each in found for port in each["interfaces"]} == {"infiniband-ndr"}


def test_ports_of_ethernet_are_named_by_rate_and_form() -> None:
    """A SN5600 has 64 OSFP cages of 800 Gb/s."""
    switch = types(f"{MESH}, scale_out: {{switch: spectrum-4-sn5600}}")[-1]
    assert {port["type"] for port in switch["interfaces"]} == {"800gbase-x-osfp"}


def test_a_port_of_another_rate_than_its_generation_is_not_named_by_it() -> None:
    half = "platform: dgx-h100, nodes: 32, scale_out: {nic_bandwidth: 200 Gb/s per direction, switch: quantum-2-qm9700}"
    assert {port["type"] for port in types(half)[0]["interfaces"]} == {"other"}
    assert "ports of DGX H100" in omitted("netbox", half)


def test_a_written_switch_is_read_as_that_of_the_catalog() -> None:
    node, switch = written("netbox", POD).split("---\n")[1:]
    reading = read(switch, "netbox")
    assert given(reading) == {"cluster.scale_out.switch": "quantum-2-qm9700"}
    assert (counts(reading)["ports of 400 Gb/s"], counts(reading)["rack_units"]) == (64, 1)
    assert (counts(read(node, "netbox"))["ports of 400 Gb/s"], counts(read(node, "netbox"))["rack_units"]) == (8, 8)


def test_a_device_without_a_known_height_is_left_out() -> None:
    assert "its height in rack units is not known" in omitted("netbox", MESH)
    assert len(types(MESH)) == 1


def test_a_rented_machine_has_no_devices() -> None:
    with pytest.raises(NotExportable, match="rented"):
        exporter_of("netbox").write(source("platform: aws-p5-48xlarge, nodes: 8"))


@pytest.mark.parametrize(
    ("kind", "rate"),
    [
        # data rates of four lanes: with 8 of 10 bits to QDR, then 64 of 66
        ("infiniband-sdr", "8"),
        ("infiniband-ddr", "16"),
        ("infiniband-qdr", "32"),
        ("infiniband-fdr10", "40"),
        ("infiniband-fdr", "56"),
        ("infiniband-edr", "100"),
        ("infiniband-hdr", "200"),
        ("infiniband-ndr", "400"),
        ("infiniband-xdr", "800"),
        ("400gbase-x-osfp", "400"),
        ("2.5gbase-t", "2.5"),
        ("1000base-t", "1"),
        ("100base-tx", "0.1"),
        ("32gfc-sfp28", "32"),
        ("virtual", None),
    ],
)
def test_a_type_of_a_port_names_its_rate(kind: str, rate: str | None) -> None:
    ports = "".join(f"  - {{name: p{number}, type: {kind}}}\n" for number in range(3))
    text = (
        f"manufacturer: J\nmodel: Q\nu_height: 1\ninterfaces:\n{ports}  - {{name: m, type: {kind}, mgmt_only: true}}\n"
    )
    found = {name: count for name, count in counts(read(text)).items() if name.startswith("ports of")}
    assert found == ({f"ports of {rate} Gb/s": 3} if rate else {})


@pytest.mark.parametrize(
    ("without", "models"),
    [
        ("", ["DGX H100", "Quantum-2 QM9700"]),
        ("platform", ["Quantum-2 QM9700"]),
        ("scale_out", []),
    ],
)
def test_a_node_needs_a_platform_and_a_fabric_and_a_switch_a_fabric(without: str, models: list[str]) -> None:
    cluster = source(POD).cluster
    missing: dict[str, Any] = {without: None} if without else {}
    found = _device_types(replace(cluster, **missing))
    assert [each.model for each in found] == models
