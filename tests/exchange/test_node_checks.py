"""Checks of nodes, run by a shell on a stand-in for the driver and the kernel's files: a node of the design passes."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from clusterspec.exchange.exporters.registry import NotExportable, exporter_of
from tests.exchange.test_site_checks import H100, MI300X, content, source

CAPPED = H100.replace("}", ", power: {accelerator_cap: 600 W}}")


def node(
    folder: Path, *, accelerators: int, ports: int, rate: str = "400 Gb/sec (4X NDR)", watts: str = "600.00"
) -> Path:
    """A folder with the commands and files of a node, for either vendor."""
    listing = "".join(f"echo 'GPU {n}: NVIDIA H100'\n" for n in range(accelerators))
    limits = f"echo {watts}\n" * accelerators
    tool = folder / "nvidia-smi"
    tool.write_text(f'#!/bin/sh\nif [ "$1" = -L ]; then :\n{listing}else :\n{limits}fi\n')
    tool.chmod(0o755)
    for n in range(ports + 1):  # one more is down
        port = folder / "sys/class/infiniband" / f"mlx5_{n}" / "ports/1"
        port.mkdir(parents=True)
        (port / "state").write_text("4: ACTIVE\n" if n < ports else "1: DOWN\n")
        (port / "rate").write_text(f"{rate}\n")
    for n in range(accelerators + 2):  # two are processors
        place = folder / "sys/class/kfd/kfd/topology/nodes" / str(n)
        place.mkdir(parents=True)
        (place / "gpu_id").write_text(f"{n * 7 if n > 1 else 0}\n")
    return folder


def failed(text: str, folder: Path) -> list[str]:
    """The conditions of a monitor that are a problem on a node."""
    found = []
    for rule in json.loads(text)["rules"]:
        script = rule["args"][1].replace("/sys/", f"{folder}/sys/")
        path = {"PATH": f"{folder}:/usr/bin:/bin"}
        done = subprocess.run([rule["path"], "-c", script], env=path, check=False, capture_output=True, text=True)
        if done.returncode:
            assert done.returncode == 1 and done.stdout.startswith("by design: ") and not done.stderr
            found.append(rule["condition"])
    return found


@pytest.mark.parametrize(
    ("cluster", "given", "problems"),
    [
        (CAPPED, {"accelerators": 8, "ports": 8}, []),
        (CAPPED, {"accelerators": 7, "ports": 8}, ["AcceleratorsMissing"]),
        (CAPPED, {"accelerators": 8, "ports": 7}, ["PortsBelowRate"]),
        (CAPPED, {"accelerators": 8, "ports": 8, "rate": "200 Gb/sec (4X HDR)"}, ["PortsBelowRate"]),
        (CAPPED, {"accelerators": 8, "ports": 8, "watts": "700.00"}, ["AcceleratorPowerLimit"]),
        (MI300X, {"accelerators": 8, "ports": 8}, []),
        (MI300X, {"accelerators": 7, "ports": 8}, ["AcceleratorsMissing"]),
    ],
)
def test_a_node_passes_that_has_what_the_design_states(
    cluster: str, given: dict[str, object], problems: list[str], tmp_path: Path
) -> None:
    folder = node(tmp_path, **given)  # type: ignore[arg-type]
    assert failed(content("node-problem-detector", source(cluster)), folder) == problems


def test_a_monitor_has_the_keys_that_the_detector_validates() -> None:
    monitor = json.loads(content("npd", source(CAPPED)))
    assert monitor["plugin"] == "custom"
    assert {each["type"] for each in monitor["conditions"]} == {each["condition"] for each in monitor["rules"]}
    assert all(each["timeout"] == monitor["pluginConfig"]["timeout"] for each in monitor["rules"])


def test_the_health_check_of_slurm_runs_the_same_tests() -> None:
    rules = json.loads(content("npd", source(CAPPED)))["rules"]
    lines = [line for line in content("nhc", source(CAPPED)).splitlines() if not line.startswith("#")]
    for line, rule in zip(lines, rules, strict=True):
        target, _, check = line.partition("||")
        words = shlex.split(check)
        assert target.strip() == "*" and words[:7] == ["check_cmd_status", "-t", "20", "-r", "0", "sh", "-c"]
        assert rule["args"][1].startswith(f"{words[7]} || ") and len(words) == 8


def test_ports_are_checked_where_the_kernel_lists_them_by_rate() -> None:
    """Eight ports of 400 Gb/s; with two planes a NIC of 800 Gb/s has two of 400; EFA and machines without a fabric
    have none."""
    planes = "{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4, scale_out: {technology: infiniband-ndr, "
    for cluster, said in (
        (H100, "8 active ports of 400 Gb/s or more"),
        (planes + "nics_per_node: 4, nic_bandwidth: 800 Gb/s, planes: 2}}", "8 active ports of 400 Gb/s or more"),
        ("{platform: aws-p5-48xlarge, nodes: 4}", None),
        ("{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1}", None),
    ):
        conditions = {each["condition"]: each for each in json.loads(content("npd", source(cluster)))["rules"]}
        assert ("PortsBelowRate" in conditions) == (said is not None), cluster
        assert said is None or said in str(conditions["PortsBelowRate"])


def test_machines_without_a_command_that_counts_them_are_refused() -> None:
    with pytest.raises(NotExportable, match="no command is known"):
        exporter_of("nhc").write(source("{platform: gaudi3-hls, nodes: 2}"))
