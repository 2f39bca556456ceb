"""Subjects of demands on money, power, jobs, services and the fabric: sentences that bound them, and near misses."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.rules.readers.demands.answer_subjects import ANSWER_SUBJECTS
from clusterspec.rules.readers.demands.bill_subjects import BILL_SUBJECTS
from clusterspec.rules.readers.demands.fabric_subjects import FABRIC_SUBJECTS
from clusterspec.rules.readers.demands.job_subjects import JOB_SUBJECTS
from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.demands.site_subjects import SITE_SUBJECTS
from tests.rules.conftest import Check
from tests.rules.test_demand_quantities import findings_of_demands

NAMES = {each.name for each in (*BILL_SUBJECTS, *SITE_SUBJECTS, *JOB_SUBJECTS, *ANSWER_SUBJECTS, *FABRIC_SUBJECTS)}
ROWS = [
    tuple(line.split("|"))
    for line in Path(__file__).with_name("bounded_quantities.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
MACHINE = """clusterspec: 1
description: "{text}"
cluster:
  platform: dgx-h100
  nodes: 64
  spare_nodes: 2
  power: {{node: 10 kW, switch: 1.5 kW, rack_overhead: 0.5 kW, nodes_per_rack: 3, rack_limit: 34 kW, budget: 800 kW}}
  floor: {{racks_per_row: 11}}
  scale_out: {{technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized}}
  networks: {{storage: {{bandwidth: 200 GB/s, read: 300 GB/s, capacity: 2 PB, per_client: 20 GB/s}}}}
workload:
  {{kind: train, model: llama-3.1-70b, sequence_length: 8192, global_batch: 1024, tokens: 1T, dataset_tokens: 500B}}
layout: {{framework: megatron-core, tp: 4, pp: 4, sharding: zero1, micro_batch: 1}}
operations:
  node_mtbf: 20000 h
  restart_time: 15 min
  detection_time: 5 min
  checkpoint: {{interval: 30 min, pause: 10 s, keep: 100}}
procurement:
  currency: EUR
  as_of: "2026-11-01"
  term: 4 years
  prices:
    {{node: 300000, leaf_switch: 30000, spine_switch: 30000, cable: 500, transceiver: 1000, storage: 1500000,
      support_per_year: 400000, rack_per_month: 2000}}
  budget: 28000000
  discount: 0.05
  tax: 0.19
  payment: {{order: 0.3, delivery: 0.5, acceptance: 0.2}}
  delivery: {{weeks: 20}}
"""
SUPPORT, PRICES, PAYMENT = "procurement.prices.support_per_year", "procurement.prices", "procurement.payment"
TWINS = [
    # a sentence, a figure that the design breaks, one that it keeps, and the key
    # 66 nodes of 10 kW, 40 switches of 1.5 kW and 22 racks of 0.5 kW are 731 kW: 69 of 800 kW stay free
    ("At least {} of the agreed power must stay free.", "75 kW", "65 kW", "cluster.power.budget"),
    # 22 racks, 11 in a row; three nodes and 0.5 kW are 30.5 kW of 34 kW
    ("We rent {} rows in the hall and get no more.", "1", "2", "cluster.floor.racks_per_row"),
    ("A rack keeps a headroom of at least {}.", "4 kW", "3 kW", "cluster.power.rack_limit"),
    # 24 leaves and 16 spines; 66 x 8 cables to leaves, 24 x 32 to spines, one module for each cage
    ("The vendor ships at most {} leaf switches.", "23", "24", "cluster.scale_out"),
    ("Our license covers at most {} switches.", "39", "40", "cluster.scale_out"),
    ("We have {} transceivers in stock, which have to suffice.", "1,250", "1,300", "cluster.scale_out"),
    # 22 x 2,000 a month, less 5 %, without and with tax: 41,800 to 49,742
    ("The rent of the racks may be at most {} a month.", "41,000 EUR", "42,000 EUR", f"{PRICES}.rack_per_month"),
    # 66 x 300,000 + 40 x 30,000 + 1,296 x (500 + 1,000) + 1,500,000 = 24,444,000; 30 % less 5 % with tax are 8,290,183
    ("The bank releases at most {} with the order, with tax.", "8,200,000 EUR", "8,300,000 EUR", f"{PAYMENT}.order"),
    # 28,000,000 - 24,444,000 x 0.95 x 1.19 = 366,058
    ("The budget keeps a reserve of at least {}.", "400,000 EUR", "350,000 EUR", "procurement.budget"),
    # 5 % of 24,444,000
    ("The discount has to save at least {}.", "1,300,000 EUR", "1,200,000 EUR", "procurement.discount"),
    # 4 x 400,000 less 5 %
    ("Support over the whole term together may cost at most {}.", "1,500,000 EUR", "1,550,000 EUR", SUPPORT),
    # 100 checkpoints of 70.6B x 14 bytes are 98.8 TB
    ("The kept checkpoints may occupy at most {}.", "95 TB", "100 TB", "operations.checkpoint.keep"),
    ("A checkpoint may have at most {}.", "950 GB", "1 TB", "workload.model"),
    # 2 PB less 98.8 TB and 2 TB
    ("At least {} of the store must remain free.", "1.95 PB", "1.85 PB", "cluster.networks.storage.capacity"),
    # half of 30 min, 15 min and 5 min are 35 min; 20,000 h / 64 nodes are 13 days
    ("On average, a crash may cost at most {}.", "30 min", "40 min", "operations.restart_time"),
    ("The mean time between interruptions must be at least {}.", "15 days", "12 days", "operations"),
    # 20 weeks after 2026-11-01 are 2027-03-21
    ("All hardware must be delivered by {}.", "15 March 2027", "25 March 2027", "procurement.delivery.weeks"),
    ("Towards the store, a node needs at least {}.", "25 GB/s", "20 GB/s", "cluster.networks.storage"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "hurts", "text"), ROWS)
def test_a_sentence_bounds_its_quantity_alone(subject: str, hurts: str, text: str) -> None:
    found = [(each.subject.name, each.hurts) for each in demands_in(text) if each.subject.name in NAMES]
    assert found == ([] if subject == "none" else [(subject, hurts)])


@pytest.mark.parametrize(("text", "broken", "kept", "key"), TWINS)
def test_a_quantity_beyond_its_bound_is_reported(check: Check, text: str, broken: str, kept: str, key: str) -> None:
    found = findings_of_demands(check, MACHINE.format(text=text.format(broken)))
    assert [".".join(map(str, each.path)) for each in found] == [key], [each.message for each in found]
    assert not findings_of_demands(check, MACHINE.format(text=text.format(kept)))
