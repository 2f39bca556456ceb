"""Fabrics: what `ibnetdiscover`, `ibstat`, NetQ, schedulers and InfraGraph state of nodes, switches and links."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

import pytest

from clusterspec.exchange.fabrics.graph import FabricGraph, describe_graph, expanded_hosts
from clusterspec.exchange.fabrics.infragraph import _device_shape, _name_and_slice, _slice_range
from clusterspec.exchange.import_result import FormatError, ImportBuilder
from clusterspec.exchange.machines.links import set_rate
from tests.exchange.imports import counts, given, read, unknown


def fabric(leaves: int, spines: int, hosts: int, uplinks: int, *, missing: int = 0, aggregation: bool = False) -> str:
    """ibnetdiscover of a two-tier tree; ``uplinks`` from each leaf to each spine, the first leaf lacks some."""
    records: dict[str, list[str]] = {}
    names: dict[str, str] = {}

    def join(one: str, port: int, other: str, back: int) -> None:
        for a, p, b, q in ((one, port, other, back), (other, back, one, port)):
            records.setdefault(a, []).append(f'[{p}]\t"{b}"[{q}]\t\t# "{names[b]}" lid 7 4xNDR')

    for n in range(leaves):
        names[f"S-l{n}"] = f"MF0;leaf{n}:MQM9700/U1"
    for n in range(spines):
        names[f"S-s{n}"] = f"MF0;spine{n}:MQM9700/U1"
    for leaf in range(leaves):
        for host in range(hosts):
            names[f"H-{leaf}-{host}"] = f"node{host} mlx5_{leaf}"
            join(f"S-l{leaf}", host + 1, f"H-{leaf}-{host}", 1)
        for spine in range(spines):
            for k in range(uplinks - (missing if leaf == 0 and spine == 0 else 0)):
                join(f"S-l{leaf}", 33 + spine * uplinks + k, f"S-s{spine}", 1 + leaf * uplinks + k)
        if aggregation:
            names[f"H-an{leaf}"] = "Mellanox Technologies Aggregation Node"
            join(f"S-l{leaf}", 65, f"H-an{leaf}", 1)
    out = ["# Topology file", "vendid=0x2c9", "switchguid=0x1"]
    for guid, ports in sorted(records.items(), key=lambda record: record[0][0] != "S"):
        kind, count = ("Switch", 65 if aggregation else 64) if guid.startswith("S-") else ("Ca", 1)
        out += [f'{kind}\t{count} "{guid}"\t\t# "{names[guid]}" enhanced port 0 lid 3 lmc 0', *ports, ""]
    return "\n".join(out) + "\n"


def test_switches_are_leaves_where_adapters_are_and_spines_above() -> None:
    reading = read(fabric(4, 2, 8, 4))
    keys = given(reading)
    assert (keys["cluster.nodes"], keys["cluster.scale_out.nics_per_node"]) == (8, 4)
    assert (keys["cluster.scale_out.leaf_switches"], keys["cluster.scale_out.spine_switches"]) == (4, 2)
    assert keys["cluster.scale_out.links.node_leaf"] == 32
    assert keys["cluster.scale_out.links.leaf_spine"] == 4 * 2 * 4
    assert keys["cluster.scale_out.technology"] == "infiniband-ndr"
    assert keys["cluster.scale_out.nic_bandwidth"] == "400 Gb/s"
    assert keys["cluster.scale_out.switch"] == "quantum-2-qm9700"
    assert counts(reading)["uplinks_per_leaf"] == 8
    assert keys["cluster.scale_out.switch_ports"] == 64


def graph_of(leaves: Sequence[Sequence[str]], spines: int, manager: str = "") -> FabricGraph:
    """Leaves whose adapters have these names, each of a host of its own, and a link from each leaf to each spine."""
    graph = FabricGraph()
    graph.switches = {f"s{n}": 64 for n in range(spines)}
    for number, names in enumerate(leaves):
        leaf = f"l{number}"
        graph.switches[leaf] = 64
        for at, name in enumerate(names):
            end = f"h{number}-{at}"
            graph.hosts[end], graph.rails[end] = f"host{at}", name
            graph.join(end, leaf)
        for n in range(spines):
            graph.join(leaf, f"s{n}", 2)
    if manager:
        graph.hosts["m"], graph.rails["m"] = "manager", manager
        graph.others = {"m"}
        graph.join("m", "l0")
    return graph


RAILS: list[tuple[FabricGraph, str | None]] = [
    (graph_of(("aa", "bb"), 1), "rail-optimized"),
    (graph_of(("aa", "bb"), 0), "rail-only"),
    (graph_of(("ab", "ab"), 1), "fat-tree"),
    (graph_of(("ab", "ab"), 0), None),
    (graph_of(("ab", "bb"), 1), None),
    (graph_of(("aa", "aa"), 1), None),
    (graph_of(("ab",), 1), None),
    (graph_of(("aa", "bb"), 1, manager="c"), "rail-optimized"),  # a manager is no adapter of a node
]


@pytest.mark.parametrize(("graph", "topology"), RAILS)
def test_rails_are_the_names_of_adapters_that_leaves_do_not_share(graph: FabricGraph, topology: str | None) -> None:
    builder = ImportBuilder("graph", "given.txt")
    describe_graph(graph, builder, 1)
    assert given(builder.reading()).get("cluster.scale_out.topology") == topology


def test_missing_uplinks_are_found() -> None:
    reading = read(fabric(4, 2, 8, 4, missing=3))
    assert counts(reading)["links_leaf_spine"] == 32 - 3
    assert "1 leaves with 5, 3 leaves with 8; 3 fewer than 8 on every leaf" in unknown(reading)


def test_aggregation_nodes_are_not_endpoints() -> None:
    reading = read(fabric(2, 1, 4, 4, aggregation=True))
    assert given(reading)["cluster.nodes"] == 4
    assert "cluster.scale_out.switch_ports" not in given(reading)  # a leaf has a port of its unit, and the spine none
    assert counts(reading)["endpoints"] == 8
    assert counts(reading)["aggregation_nodes"] == 2


def test_every_link_is_counted_once_whichever_end_prints_it() -> None:
    whole = fabric(2, 1, 4, 4)
    switches_only = whole[: whole.index("Ca\t")]
    reading = read(switches_only)
    assert given(reading)["cluster.nodes"] == 4
    assert counts(reading)["links"] == counts(read(whole))["links"] == 8 + 8
    assert "8 adapters: only ports of switches name them" in unknown(reading)


def test_a_discovery_that_ends_among_its_switches_is_refused() -> None:
    text = fabric(4, 2, 8, 4)
    cut = text.index('Switch\t64 "S-l2"')
    with pytest.raises(FormatError, match="have no record"):
        read(text[:cut])


IBSTAT = """\
    CA 'mlx5_{0}'
    \tCA type: MT4129
    \tNumber of ports: 1
    \tPort 1:
    \t\tState: {1}
    \t\tPhysical state: LinkUp
    \t\tRate: {2}
    \t\tLink layer: {3}
    """


def test_active_infiniband_ports_are_the_fabric() -> None:
    text = "".join(IBSTAT.format(n, "Active", 400, "InfiniBand") for n in range(8))
    text += IBSTAT.format(8, "Active", 100, "Ethernet") + IBSTAT.format(9, "Down", 40, "InfiniBand")
    reading = read(text)
    assert counts(reading)["nics"] == 10
    assert given(reading) == {
        "cluster.scale_out.nics_per_node": 8,
        "cluster.scale_out.nic_bandwidth": "400 Gb/s",
        "cluster.scale_out.technology": "infiniband-ndr",
        "cluster.scale_out.nic": "connectx-7",
    }
    assert "it is Down" in unknown(reading)


def test_port_guids_by_host_are_counted() -> None:
    text = "".join(f"VM_hostname node{n}\n0ff08c4321664e9{n}\n0x0ff08c4321664f9{n}\n" for n in range(5))
    assert given(read(text)) == {"cluster.nodes": 5, "cluster.scale_out.nics_per_node": 2}


def test_netq_counts_the_links_in_every_bundle() -> None:
    def bundle(one: str, other: str, size: int) -> dict[str, object]:
        ports = [
            {"interfaces": [{"node": one, "interface": f"swp{n}{other}"}, {"node": other, "interface": f"eth{n}{one}"}]}
            for n in range(size)
        ]
        return {"compounded_links": ports, "size": size, "src": one, "target": other}

    links = [bundle("l0", f"h{n}", 4) for n in range(6)] + [bundle("s0", "l0", 12)]
    nodes = [
        {
            "node_type": "tier",
            "compounded_nodes": [{"id": x, "device_type": "switch", "name": x} for x in ("l0", "s0")],
        },
        {
            "node_type": "tier",
            "compounded_nodes": [{"id": f"h{n}", "device_type": "lldp", "name": f"gpu{n}"} for n in range(6)],
        },
    ]
    reading = read(json.dumps([{"links": links, "nodes": nodes}]))
    assert given(reading)["cluster.nodes"] == 6
    assert given(reading)["cluster.scale_out.nics_per_node"] == 4
    assert given(reading)["cluster.scale_out.links.leaf_spine"] == 12
    assert (counts(reading)["leaf_switches"], counts(reading)["spine_switches"]) == (1, 1)


CONF = """\
    # racks
    SwitchName=rack1 Nodes=gpu[001-016]
    SwitchName=rack2 Nodes=gpu[017-030,032-033]
    SwitchName=top Switches=rack[1-2]
    """
TREE = """\
    - topology: racks
      cluster_default: true
      tree:
        switches:
          - switch: top
            children: rack[1-2]
          - switch: rack1
            nodes: gpu[001-016]
          - switch: rack2
            nodes: gpu[017-030,032-033]
    """


@pytest.mark.parametrize("text", [CONF, TREE])
def test_both_formats_of_slurm_say_the_same(text: str) -> None:
    reading = read(text)
    assert given(reading) == {"cluster.nodes": 32}
    assert (counts(reading)["switches_at_level_1"], counts(reading)["switches_at_level_2"]) == (2, 1)
    assert counts(reading)["nodes_per_leaf"] == 16


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "is its own descendant"),
        ("SwitchName=a Switches=b\n", "which is not described"),
        ("SwitchName=a Nodes=n[1-\n", "not closed"),
        ("SwitchName=a Nodes=n[9-1]\n", "runs backward"),
        ("SwitchName=a Nodes=n[0-999999999]\n", "too long"),
        ("SwitchName=a Nodes=n[0-999]m[0-999]\n", "more than 200,000 names"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "already described on line 1"),
    ],
)
def test_an_inconsistent_topology_is_refused(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(text)


def test_host_lists_keep_their_zeros() -> None:
    assert expanded_hosts("a[08-10],b,c[1-2]d[3,5]") == ["a08", "a09", "a10", "b", "c1d3", "c1d5", "c2d3", "c2d5"]
    assert len(expanded_hosts("r[1-400]n[1-500]")) == 200_000
    with pytest.raises(FormatError, match="more than 200,000 names"):
        expanded_hosts("r[1-401]n[1-500]")


@pytest.mark.parametrize("text", ["n[1", "n1]", "n[1]m[2", "n[1]m]", "n[1]m[2]o[3", "n[1]m[2]o]", "n[[1]", "n[1]]"])
def test_a_bracket_of_a_host_list_is_closed_wherever_it_stands(text: str) -> None:
    with pytest.raises(FormatError, match="not closed"):
        expanded_hosts(text)
    assert expanded_hosts("n[1]m[2]o[3-4]p") == ["n1m2o3p", "n1m2o4p"]


def test_blocks_are_counted() -> None:
    text = "BlockName=b1 Nodes=n[01-18]\nBlockName=b2 Nodes=n[19-36]\nBlockSizes=18,36\n"
    reading = read(text)
    assert given(reading) == {"cluster.nodes": 36}
    assert (counts(reading)["blocks"], counts(reading)["nodes_per_block"]) == (2, 18)


def test_a_topograph_model_counts_nodes_switches_and_domains() -> None:
    text = """\
        switches:
          core:
            switches: [spine-1]
          spine-1:
            switches: [leaf-1, leaf-2, leaf-9]
        blocks:
        - switch: leaf-1
          nodes: ["n[101-109]"]
          annotations: {accelerator.topology.test/domain: d1}
        - switch: leaf-2
          nodes: ["n[201-209]"]
          annotations: {accelerator.topology.test/domain: d2}
        """
    reading = read(text)
    assert given(reading) == {"cluster.nodes": 18}
    assert (counts(reading)["switches"], counts(reading)["domains"], counts(reading)["nodes_per_domain"]) == (4, 2, 9)
    assert [line for line in unknown(reading).splitlines() if line.startswith("switch ")] == [
        "switch leaf-9: listed under spine-1, but not described"
    ]


MPIJOB = """\
    apiVersion: kubeflow.org/v2beta1
    kind: MPIJob
    spec:
      slotsPerWorker: 8
      mpiReplicaSpecs:
        Launcher:
          replicas: 1
          template:
            spec:
              containers:
                - name: launcher
                  # -x NCCL_ALGO=TREE
                  args: ["mpirun -np 32 -x NCCL_ALGO=RING all_reduce_perf -b 1G -e 8G"]
        Worker:
          replicas: 4
          template:
            spec:
              containers:
                - name: worker
                  resources:
                    limits: {nvidia.com/gpu: 8, rdma/ib: 1}
    """


def test_an_mpi_job_states_nodes_and_accelerators() -> None:
    reading = read(MPIJOB)
    assert given(reading) == {"layout.nodes": 4, "cluster.accelerators_per_node": 8}
    assert (counts(reading)["ranks"], counts(reading)["accelerators"]) == (32, 32)
    assert counts(reading)["NCCL_ALGO"] == "RING"
    for setting, reduces in (("NCCL_COLLNET_ENABLE=1", True), ("NCCL_COLLNET_ENABLE=0 -x SHARP_COLL_LOG=3", None)):
        text = MPIJOB.replace("NCCL_ALGO=RING", setting)
        assert given(read(text)).get("cluster.scale_out.in_network_reduction") is reduces, setting


def test_the_type_of_the_nodes_of_a_job_has_the_line_of_its_affinity() -> None:
    text = (
        MPIJOB.rstrip() + "\n              nodeSelectorTerms:\n                values:\n                - p5.48xlarge\n"
    )
    reading = read("# a comment\n---\n" + textwrap.dedent(text))
    (found,) = (each for each in reading.counts if each.name == "node_type")
    assert (found.value, found.at.line) == ("p5.48xlarge", 2 + len(text.splitlines()) - 1)


@pytest.mark.parametrize(
    ("changes", "expected", "accelerators"),
    [
        ({"gpu: 8, rdma": "gpu: many, rdma"}, {"layout.nodes": 4}, None),
        ({"replicas: 4": "replicas: true"}, {"cluster.accelerators_per_node": 8}, 8),
        ({"replicas: 4": "replicas: four"}, {"cluster.accelerators_per_node": 8}, 8),
        ({"gpu: 8, rdma": "gpu: '4', rdma"}, {"layout.nodes": 4, "cluster.accelerators_per_node": 4}, 16),
        ({"nvidia.com/gpu: 8": "cpu: 8"}, {"layout.nodes": 4}, None),
    ],
)
def test_a_count_of_a_job_that_is_no_number_is_not_stated(
    changes: dict[str, str], expected: dict[str, object], accelerators: int | None
) -> None:
    text = MPIJOB.replace("slotsPerWorker: 8\n", "runPolicy: {}\n")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    reading = read(text)
    assert given(reading) == expected and counts(reading).get("accelerators") == accelerators


def test_a_kueue_topology_names_levels_and_no_nodes() -> None:
    text = """\
        apiVersion: kueue.x-k8s.io/v1beta1
        kind: Topology
        spec:
          levels:
          - nodeLabel: example.com/block
          - nodeLabel: example.com/rack
          - nodeLabel: kubernetes.io/hostname
        """
    reading = read(text)
    assert (counts(reading)["levels"], counts(reading)["levels_above_nodes"]) == (3, 2)
    assert not given(reading)


INFRAGRAPH = """\
    name: clos
    devices:
    - name: server
      components:
      - {choice: xpu, count: 4, name: xpu}
      - {choice: nic, count: 2, name: nic}
    - name: switch
      components:
      - {choice: cpu, count: 1, name: asic}
      - {choice: port, count: 16, name: port}
    instances:
    - {name: host, device: server, count: 4}
    - {name: leaf, device: switch, count: 2}
    - {name: spine, device: switch, count: 1}
    links:
    - {name: down, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 200}}}
    - {name: up, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}}}
    edges:
    - ep1: {instance: "host[0:4]", component: "nic[0]"}
      ep2: {instance: "leaf[0]", component: "port[0:4]"}
      scheme: one2one
      link: down
    - ep1: {instance: "host[0:4]", component: "nic[1]"}
      ep2: {instance: "leaf[1]", component: "port[0:4]"}
      scheme: one2one
      link: down
    - ep1: {instance: "leaf[0:2]", component: "port[8]"}
      ep2: {instance: "spine[0]", component: "port[0:2]"}
      scheme: one2one
      link: up
    """


def test_an_infragraph_states_what_its_edges_join() -> None:
    reading = read(INFRAGRAPH, "infragraph")
    keys = given(reading)
    assert (keys["cluster.nodes"], keys["cluster.accelerators_per_node"]) == (4, 4)
    assert keys["cluster.scale_out.nics_per_node"] == 2
    assert (keys["cluster.scale_out.leaf_switches"], keys["cluster.scale_out.spine_switches"]) == (2, 1)
    assert (keys["cluster.scale_out.links.node_leaf"], keys["cluster.scale_out.links.leaf_spine"]) == (8, 2)
    assert keys["cluster.scale_out.nic_bandwidth"] == "200 Gb/s"
    assert keys["cluster.scale_out.switch_ports"] == 16


@pytest.mark.parametrize("processors", [1, 4, 5])
def test_a_device_with_more_than_four_processors_is_no_node(processors: int) -> None:
    text = f"""\
        name: rack
        components:
        - {{choice: xpu, count: 8, name: xpu}}
        - {{choice: nic, count: 2, name: nic}}
        - {{choice: cpu, count: {processors}, name: cpu}}
        """
    reading = read(text, "infragraph")
    node = {"cluster.accelerators_per_node": 8, "cluster.scale_out.nics_per_node": 2}
    assert given(reading) == (node if processors <= 4 else {})
    assert counts(reading) == {"accelerators": 8, "nics": 2}
    assert (f"has {processors} processors" in unknown(reading)) is (processors > 4)


SPARE = "    - {name: spare, device: server, count: 1}\n"


@pytest.mark.parametrize(
    ("text", "nodes", "spares"),
    [
        (INFRAGRAPH, 4, None),
        (INFRAGRAPH.replace("    - {name: leaf", f"{SPARE}    - {{name: leaf", 1), 4, 1),  # no edge joins the spare one
        (
            INFRAGRAPH.rstrip(" ").replace("    - {name: leaf", f"{SPARE}    - {{name: leaf", 1)
            + """\
    - ep1: {instance: "spare[0]", component: "nic[0]"}
      ep2: {instance: "leaf[0]", component: "port[4]"}
      link: down
    - ep1: {instance: "spare[0]", component: "nic[1]"}
      ep2: {instance: "leaf[1]", component: "port[4]"}
      link: down
""",
            4,
            1,
        ),
    ],
)
def test_hosts_that_are_named_spare_are_spare_nodes(text: str, nodes: int, spares: int | None) -> None:
    keys = given(read(text, "infragraph"))
    assert (keys["cluster.nodes"], keys.get("cluster.spare_nodes")) == (nodes, spares)


ADAPTERS = [
    # a component by choice, name and description, and whether its two are adapters of the fabric
    ("nic", "port", "", True),
    ("device", "cx7", "", True),
    ("device", "slot", "ConnectX-7", True),
    ("device", "drive", "", False),
    ("port", "nic", "", False),
    ("nic", "bmc", "", False),
    ("device", "nic", "frontend", False),
]


def test_an_infragraph_counts_the_adapters_of_the_fabric() -> None:
    for choice, name, description, adapter in ADAPTERS:
        part = {"choice": choice, "name": name, "count": 2, "description": description}
        accelerators = {"choice": "xpu", "name": "xpu", "count": 4}
        shape = _device_shape({"name": "server", "components": [accelerators, part]})
        assert (shape.accelerators, shape.nics) == (4, 2 * adapter), part


def test_an_infragraph_that_asks_for_too_much_is_refused() -> None:
    with pytest.raises(FormatError, match="more than"):
        read(INFRAGRAPH.replace("count: 4}", "count: 900000000}"), "infragraph")


NESTED = """\
    devices:
    - name: cx5
      components: [{choice: port, name: port, count: 2}]
      links: [{name: pcie}]
      edges: []
    - name: host
      components:
      - {choice: xpu, name: xpu, count: 8, description: NVIDIA H100 / H200 SXM5}
      - {choice: device, name: cx5, count: 4}
      - {choice: nic, name: lom, count: 2, description: LOM 1GbE x2}
      links: [{name: pcie}]
      edges: []
    - name: switch
      components: [{choice: port, name: port, count: 16}]
      links: []
      edges: []
    instances: [{name: host, device: host, count: 2}, {name: leaf, device: switch, count: 2}]
    links: [{name: down, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}}}]
    edges:
    - {ep1: {instance: "host[:]", component: "cx5[0:2].port[0]"}, ep2: {instance: "leaf[0]", component: "port[0:4]"},
       scheme: one2one, link: down}
    - {ep1: {instance: "host", component: "cx5[-2:].port[0]"}, ep2: {instance: "leaf[-1]", component: "port[::2]"},
       scheme: one2one, link: down}
    """


def test_an_infragraph_of_composed_devices_takes_slices_as_python_does() -> None:
    reading = read(NESTED, "infragraph")
    keys = given(reading)
    assert (keys["cluster.nodes"], keys["cluster.scale_out.nics_per_node"]) == (2, 4)
    assert keys["cluster.scale_out.links.node_leaf"] == 8
    assert "cluster.accelerator" not in keys  # H100 or H200
    ring = NESTED.replace("scheme: one2one", "scheme: ring", 1)
    with pytest.raises(FormatError, match="scheme 'ring'"):
        read(ring, "infragraph")
    ends = 'ep1: {instance: "leaf[0]", component: "port[8]"}, ep2: {instance: "leaf[1]", component: "port[9]"}'
    tangled = read(f"{NESTED.rstrip()}\n    - {{{ends}, scheme: one2one, link: down}}\n", "infragraph")
    assert "between switches of one level" in unknown(tangled)
    assert "cluster.scale_out.tiers" not in given(tangled)


@pytest.mark.parametrize(
    ("text", "count", "numbers"),
    [
        ("leaf", 3, [0, 1, 2]),
        ("leaf[0]", 3, [0]),
        ("leaf[2]", 3, [2]),
        ("leaf[-3]", 3, [0]),
        ("leaf[1:]", 3, [1, 2]),
        ("leaf[:2]", 4, [0, 1]),
        ("leaf[::2]", 5, [0, 2, 4]),
        ("leaf[4]", None, [4]),
        ("leaf[1:3]", None, [1, 2]),
        ("leaf[3]", 3, "outside of the 3"),
        ("leaf[-4]", 3, "outside of the 3"),
        ("leaf[::0]", 3, "step of 0"),
        ("leaf[1:]", None, "needs the count"),
        ("leaf[-1]", None, "needs the count"),
        ("leaf", None, "needs the count"),
    ],
)
def test_a_slice_of_an_infragraph_has_the_numbers_of_python(
    text: str, count: int | None, numbers: list[int] | str
) -> None:
    _, match = _name_and_slice(text)
    if isinstance(numbers, str):
        with pytest.raises(FormatError, match=numbers):
            _slice_range(match, count)
    else:
        assert list(_slice_range(match, count)) == numbers


@pytest.mark.parametrize(
    ("width", "technology", "rate"),
    [
        # Gb/s of a lane, as InfiniBand Trade Association counts them: 2.5, 5, 10, 10.3125, 14.0625, 25, 50, 100, 200
        ("4xSDR", "infiniband-sdr", "10 Gb/s"),
        ("4xDDR", "infiniband-ddr", "20 Gb/s"),
        ("4xQDR", "infiniband-qdr", "40 Gb/s"),
        ("4xFDR10", "infiniband-fdr10", "41.25 Gb/s"),
        ("4xFDR", "infiniband-fdr", "56.25 Gb/s"),
        ("4xEDR", "infiniband-edr", "100 Gb/s"),
        ("2xHDR", "infiniband-hdr", "100 Gb/s"),
        ("4xHDR", "infiniband-hdr", "200 Gb/s"),
        ("4xNDR", "infiniband-ndr", "400 Gb/s"),
        ("4xXDR", "infiniband-xdr", "800 Gb/s"),
        ("4xGDR", None, None),
    ],
)
def test_a_link_has_the_rate_of_its_lanes(width: str, technology: str | None, rate: str | None) -> None:
    keys = given(read(fabric(1, 0, 2, 0).replace("4xNDR", width)))
    assert keys.get("cluster.scale_out.technology") == technology
    assert keys.get("cluster.scale_out.nic_bandwidth") == rate


@pytest.mark.parametrize(
    ("rate", "family", "expected"),
    [
        (400.0, "infiniband", ("400 Gb/s", "infiniband-ndr")),
        (99.9, "infiniband", ("99.9 Gb/s", "infiniband-edr")),
        (150.0, "infiniband", ("150 Gb/s", None)),
        (3200.0, "roce", ("3200 Gb/s", "roce-v2")),
        (3200.1, "roce", (None, "roce-v2")),
        (0.0, "slingshot", (None, "slingshot-11")),
        (100.0, "efa-efa1", ("100 Gb/s", "efa-v2")),
        (None, "efa-efa3", (None, "efa-v4")),
        (800.0, "", ("800 Gb/s", None)),
    ],
)
def test_a_rate_is_one_of_a_port_and_tells_its_technology(
    rate: float | None, family: str, expected: tuple[str | None, str | None]
) -> None:
    builder = ImportBuilder("ibstat", "a.txt")
    set_rate(rate, family, builder, 7)
    keys = given(builder.reading())
    assert (keys.get("cluster.scale_out.nic_bandwidth"), keys.get("cluster.scale_out.technology")) == expected
    assert ("no port is that fast" in unknown(builder.reading())) == (rate is not None and expected[0] is None)


def test_blocks_of_a_topology_are_a_list_of_mappings() -> None:
    block = "- topology: t\n  block:\n    block_sizes: [2]\n    blocks: {}\n"
    reading = read(block.format('[{block: b1, nodes: "n[1-4]"}, {block: b2, nodes: "n[5-8]"}]'))
    assert given(reading) == {"cluster.nodes": 8} and counts(reading)["blocks"] == 2
    for blocks in ("3", '[{block: b1, nodes: "n[1-4]"}, b2]', "{block: b1}", "[b1]"):
        with pytest.raises(FormatError, match="a block topology without a list of blocks"):
            read(block.format(blocks))
