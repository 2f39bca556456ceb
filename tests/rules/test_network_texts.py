"""Address plans, firewalls and thresholds of tests in descriptions, in many words, each with a sound one."""

# ruff: noqa: E501 (a case is one line of a table)

from __future__ import annotations

import json

from tests.effort import each

from .conftest import Check


def told(check: Check, rule: str, text: str, cluster: str, more: str = "") -> list[tuple[str, str]]:
    """Severity and message of the findings of a rule on a cluster with a description."""
    findings = check(f"clusterspec: 1\ndescription: {json.dumps(text)}\ncluster: {{{cluster}}}\n{more}", rule)
    assert {"unknown-key", "wrong-type", "unknown-choice", "unreadable-yaml"}.isdisjoint(one.rule for one in findings)
    return [(str(one.severity), one.message) for one in findings if one.rule == rule]


ROCE = "platform: mi300x-ubb8, nodes: {nodes}, scale_out: {{technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: rail-optimized, rails: 8}}"
PLANS = [
    # 256 nodes: a rail has 256 NICs; a /24 has 254 hosts, a /23 has 510
    (256, "Every rail is one subnet, 10.64.<rail>.0/24, gateway .254.", "254 host addresses, 253 of them free, but a rail has 256"),
    (256, "Every rail is one subnet, 10.64.<rail>.0/23, gateway .254.", ""),
    (253, "Every rail is one subnet, 10.64.<rail>.0/24, gateway .254.", ""),
    (254, "Every rail is one subnet, 10.64.<rail>.0/24, gateway .254.", "253 of them free, but a rail has 254 NICs"),
    (254, "Every rail is one subnet, 10.64.<rail>.0/24, not routed.", ""),
    (140, "Je Schiene ein Netz: 172.20.x.0/25 für die NICs der Rail x.", "126 host addresses, but a rail has 140 NICs"),
    (120, "Je Schiene ein Netz: 172.20.x.0/25 für die NICs der Rail x.", ""),
    # purposes before and behind the subnet
    (300, "Front end 10.80.0.0/22, BMCs 10.81.0.0/24.", "`10.81.0.0/24` has 254 host addresses, but there are 300 nodes"),
    (300, "Front end 10.80.0.0/22, BMCs 10.81.0.0/23.", ""),
    (300, "10.80.0.0/24 for the front end and 10.81.0.0/23 for IPMI.", "`10.80.0.0/24`"),
    (300, "10.80.0.0/23 for the front end and 10.81.0.0/24 for IPMI.", "`10.81.0.0/24`"),
    (300, "Le réseau de stockage des nœuds : storage 10.9.0.0/24.", "`10.9.0.0/24`"),
    (300, "The BMCs have 10.81.0.0/24 and 10.81.1.0/24.", ""),
    (300, "The BMCs have 10.81.0.0/24 per row.", ""),
    (300, "Each rack has a /26 of its own for the BMCs, 10.81.0.0/26 in the first.", ""),
    (300, "Four /24 networks for the BMCs, 10.81.0.0/24 to 10.81.3.0/24.", ""),
    (300, "The uplink to the campus is 10.0.0.0/30, for the storage gateway.", ""),
    (60, "Management 10.5.0.0/26 for all hosts, the first 10 addresses are reserved for switches.", "52 of them free, but there are 60 nodes"),
    (52, "Management 10.5.0.0/26 for all hosts, the first 10 addresses are reserved for switches.", ""),
    # all NICs in one network: 128 x 8 = 1,024 > 1,022
    (128, "The RDMA network is flat, 10.100.0.0/22.", "1,022 host addresses, but the nodes have 1,024 NICs"),
    (127, "The RDMA network is flat, 10.100.0.0/22.", ""),
    # blocks that are split
    (300, "Pods get 10.244.0.0/16, a /24 per node.", "makes 256 subnets, but there are 300 nodes"),
    (256, "Pods get 10.244.0.0/16, a /24 per node.", ""),
    (300, "The cluster CIDR is 10.244.0.0/16 with a /25 for each node.", ""),
    (520, "A /25 for each node out of 10.244.0.0/16.", "makes 512 subnets, but there are 520 nodes"),
    # pools
    (120, "The DHCP pool of the BMCs is 10.81.0.100-10.81.0.199.", "100 addresses, but there are 120 nodes"),
    (100, "The DHCP pool of the BMCs is 10.81.0.100-10.81.0.199.", ""),
    (120, "DHCP range for the nodes: 10.8.0.10 to 10.8.0.110", "101 addresses"),
    (120, "The range 10.8.0.10 to 10.8.0.20 is for load balancers.", ""),
    (40, "The DHCP pool of the BMCs is 10.81.0.100-10.81.0.138.", "39 addresses, but there are 40 nodes"),
    (39, "The DHCP pool of the BMCs is 10.81.0.100-10.81.0.138.", ""),
    (257, "Pods get 10.244.0.0/16, a /24 per node.", "makes 256 subnets, but there are 257 nodes"),
    # at most sixteen times as many hosts as addresses, else it is of something else
    (254, "The BMCs have 10.81.0.0/24.", ""),
    (255, "The BMCs have 10.81.0.0/24.", "254 host addresses, but there are 255 nodes"),
    (96, "The BMCs have 10.81.0.0/29.", "6 host addresses, but there are 96 nodes"),
    (97, "The BMCs have 10.81.0.0/29.", ""),
    # what cannot be
    (16, "Storage is in VLAN 4200.", "VLAN 4,200 does not exist"),
    (16, "Storage is in VLAN 4094.", ""),
    (16, "Storage is in VLAN 4095.", "VLAN 4,095 does not exist: the largest is 4,094"),
    (16, "BMCs: 10.81.0.0/23, gateway 10.81.1.254.", ""),
    (16, "The front end is 10.80.3.0/24.", ""),
    (16, "The front end is 10.80.3.0/23.", "10.80.3.0 is within 10.80.2.0/23"),
    (16, "Front end 10.80.0.0/23, BMCs 10.80.1.0/24.", "overlap"),
    (16, "Front end 10.80.0.0/24, BMCs 10.80.0.0/24.", "overlap"),
    (16, "Storage is in VLAN 420, its VNI is 10420.", ""),
    (16, "BMCs: 10.81.0.0/23, gateway 10.81.2.1.", "the gateway 10.81.2.1 is not in `10.81.0.0/23`"),
    (16, "BMCs: 10.81.0.0/22, gateway 10.81.2.1.", ""),
    (16, "Front end 10.80.0.0/22, BMCs 10.80.2.0/24.", "overlap"),
    (16, "Front end 10.80.0.0/23, BMCs 10.80.2.0/24.", ""),
    (16, "All of it is in 10.80.0.0/16: front end 10.80.0.0/22, BMCs 10.80.4.0/24.", ""),
    (16, "The front end is 10.80.3.0/22.", "10.80.3.0 is within 10.80.0.0/22"),
    (16, "The front end is 10.80.4.0/22.", ""),
    (16, "The node has 10.80.3.17/22.", ""),
]  # fmt: skip


@each("nodes, text, words", PLANS)
def test_a_subnet_has_an_address_for_each_of_its_hosts(nodes: int, text: str, words: str, check: Check) -> None:
    found = told(check, "subnet-below-hosts", text, ROCE.format(nodes=nodes))
    assert [one for one in found if words and words in one[1]] or (not words and not found), found


@each(
    "text, words",
    [
        ("A subnet 10.0.0.0/27 for the instances.", "32"),  # 32 - 5 = 27 < 30
        ("A subnet 10.0.0.0/26 for the instances.", ""),
    ],
)
def test_a_cloud_keeps_addresses_of_each_subnet(text: str, words: str, check: Check) -> None:
    found = told(check, "subnet-below-hosts", text, "platform: aws-p5-48xlarge, nodes: 30")
    assert bool(found) == bool(words), found


def test_each_cloud_keeps_addresses_of_its_own(check: Check) -> None:
    """A /27 has 32 addresses: without those of the cloud 27, 28 and 29."""
    clouds = ("aws-p5-48xlarge", 27), ("azure-nd-h100-v5", 27), ("gcp-a3-megagpu-8g", 28), ("oci-bm-gpu-h100-8", 29)
    for platform, most in clouds:
        for nodes, told_of in ((most, False), (most + 1, True)):
            text = "A subnet 10.0.0.0/27 for the instances."
            found = told(check, "subnet-below-hosts", text, f"platform: {platform}, nodes: {nodes}")
            assert bool(found) is told_of, (platform, nodes, found)


LEAVES = "platform: mi300x-ubb8, nodes: 128, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: rail-optimized, rails: 8, switch_ports: 128, tiers: 2, leaf_switches: 16, spine_switches: 8}"


@each(
    "text, wrong",
    [
        ("Every leaf has its own ASN, 65101-65112; the spines share 65000.", True),  # 12 for 16 leaves
        ("Every leaf has its own ASN, 65101-65116; the spines share 65000.", False),
        ("Jedes Leaf hat eine eigene AS-Nummer (ASN 4200000001 bis 4200000010).", True),
        ("The private ASNs are 65000-65007, one for each pod and one for all its leaves.", True),
        ("BGP: spines 65000, leaves 65001.", False),
    ],
)
def test_every_leaf_has_a_number(text: str, wrong: bool, check: Check) -> None:
    assert bool(told(check, "subnet-below-hosts", text, LEAVES)) == wrong


EFA = "platform: aws-p5en-48xlarge, nodes: 24"
ROUTED = ROCE.format(nodes=16)
JOB = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 384}\nlayout: {framework: megatron-core, tp: 2}\n"
WALLS = [
    (EFA, "The security group admits from itself TCP 22 and TCP 1024-65535, the same out, and nothing else.", True),
    (EFA, "Security groups: inbound tcp/22 and tcp/1024-65535 from the group, all other traffic is dropped.", True),
    (EFA, "Only TCP passes the security group of the nodes (ports 22 and 10000-60000).", True),
    (EFA, "Die Sicherheitsgruppe lässt nur TCP 22, TCP 988 und TCP 1024-65535 der Gruppe selbst zu.", True),
    (EFA, "Le groupe de sécurité admet TCP 22 et TCP 1024-65535 depuis lui-même, rien d'autre.", True),
    (EFA, "El grupo de seguridad admite TCP 22 y TCP 1024-65535, nada más.", True),
    (EFA, "The security group admits all inbound traffic from itself; outbound is restricted to TCP 443.", True),
    (EFA, "Security group: UDP 53 and TCP 443 outbound, TCP 22 inbound. Everything else is denied.", True),
    (EFA, "The security group admits all traffic from itself and to itself, TCP 22 from the bastion, and nothing else.", False),
    (EFA, "The security group is self-referencing for all protocols; only TCP 22 comes from outside.", False),
    (EFA, "The security group admits everything from itself, out as well, and TCP 22 from the bastion only.", False),
    (EFA, "Die Sicherheitsgruppe erlaubt den gesamten Verkehr in der Gruppe, von außen nur TCP 22.", False),
    (EFA, "The login node's firewall admits TCP 22.", False),
    (EFA, "A firewall protects the campus.", False),
    (EFA, "The security group admits all traffic from itself and to itself; outbound to the internet only TCP 443.", False),
    (ROUTED, "An ACL on the RDMA network admits TCP 22 and ICMP between the servers; everything else is dropped.", True),
    (ROUTED, "The access list of the leaves permits UDP 53 and TCP 179 only.", True),
    (ROUTED, "ACLs on the back end: UDP 4789 and ICMP are permitted, the rest denied.", True),
    (ROUTED, "An ACL on the RDMA network admits UDP 4791, TCP 22 and ICMP; everything else is dropped.", False),
    (ROUTED, "The firewall at the edge of the front end admits TCP 22 and 443 only.", False),
    (ROUTED, "The host firewalls admit TCP 22 and TCP 29500 (rendezvous) between the nodes and nothing else.", True),
    (ROUTED, "nftables on every node: tcp 22, tcp 29500 for torchrun, all other traffic dropped.", True),
    (ROUTED, "nftables on every node: tcp 22, tcp 29500 for torchrun, tcp 32768-60999, all other traffic dropped.", False),
    (ROUTED, "The host firewalls admit all traffic between the nodes, and TCP 22 only from outside; MASTER_PORT is 29500.", False),
]  # fmt: skip


@each("cluster, text, wrong", WALLS)
def test_a_firewall_admits_what_the_fabric_sends(cluster: str, text: str, wrong: bool, check: Check) -> None:
    found = told(check, "firewall-drops-traffic", text, cluster, JOB)
    assert [one[0] for one in found] == ["error"] * wrong, found


B300, B200 = "platform: dgx-b300, nodes: 48", "platform: dgx-b200, nodes: 48"
H100 = "platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}"
TESTS = [
    # 384 x 1.25 = 480 TFLOP/s; 384 x 40 = 15.4 PFLOP/s
    (B300, "HPL in native FP64 on all 48 systems, without emulation and without mixed precision, at least 9.0 PFLOP/s.", "error"),
    (B200, "HPL in native FP64 on all 48 systems, without emulation and without mixed precision, at least 9.0 PFLOP/s.", ""),
    (B300, "Linpack over the 48 nodes: 8 PFLOPS.", "error"),
    (B300, "Linpack over the 48 nodes: 0.3 PFLOPS.", ""),
    (B300, "HPL-MxP of 90 PFLOP/s is asked for.", ""),
    (B300, "FP64 is emulated (Ozaki), 5 PFLOP/s with HPL.", ""),
    (B300, "Each GPU reaches 30 TFLOP/s in double precision.", "error"),
    (B300, "Abnahme: HPL je Knoten mindestens 200 TFLOP/s in doppelter Genauigkeit.", "error"),
    (B200, "Abnahme: HPL je Knoten mindestens 200 TFLOP/s in doppelter Genauigkeit.", ""),
    (B200, "Recette : Linpack, 20 PFLOP/s en double précision sur 48 nœuds.", "error"),
    (B200, "HPL reaches 15 PFLOP/s.", "warning"),  # 15.0 of 15.36
    (B200, "The machine replaces 48 DGX B300. (1) HPL of 16 PFLOP/s; (2) 72 h of GEMM.", "error"),
    (B300, "It replaces a system with HPL of 9 PFLOP/s.", ""),
    (B300, "HPL was 9 PFLOP/s there.", ""),
    (B200, "HPCG of 1.5 PFLOP/s on all nodes.", "error"),  # 384 x 8 TB/s / 4 = 768 TFLOP/s
    (B200, "HPCG of 0.2 PFLOP/s on all nodes.", ""),
    (H100, "ib_write_bw between any two nodes reaches 410 Gb/s on every port.", "error"),
    (H100, "ib_write_bw between any two nodes reaches 390 Gb/s on every port.", ""),
    (H100, "perftest: 3.1 Tb/s per node.", ""),
    (H100, "perftest: 3.4 Tb/s per node.", "error"),
    (H100, "ib_write_bw of 49 GB/s a port.", ""),
    (H100, "ib_write_bw of 55 GB/s a port.", "error"),
    (H100, "BabelStream of 3.6 TB/s per GPU.", "error"),
    (H100, "BabelStream of 3.0 TB/s per GPU.", ""),
]  # fmt: skip


@each("cluster, text, severity", TESTS)
def test_a_test_of_the_text_can_be_passed(cluster: str, text: str, severity: str, check: Check) -> None:
    found = told(check, "text-test-above-ceiling", text, cluster)
    assert [one[0] for one in found] == [severity] * bool(severity), found
