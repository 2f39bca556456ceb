"""Flows, circuits, fuel, latencies, thresholds, breakout and capacities that a description states, each with a sound one."""

# ruff: noqa: E501 (a case is one line of a table)

from __future__ import annotations

from tests.effort import each

from .conftest import Check
from .test_network_texts import told

LIQUID = "platform: gb200-nvl72, nodes: 144, power: {nodes_per_rack: 18, rack_limit: 140 kW, cooling: liquid, liquid_share: 0.87}"
"""Eight racks of 120 kW: 104.4 kW a rack and 835 kW in all go to the liquid."""
FLOWS = [
    # PG25 takes up 4 kJ for each liter and K, water 4.18: 640 / 60 x 4 x 10 = 427 kW
    ("PG25: supply 30 °C, return 40 °C, 640 L/min in total, which is 80 L/min at the manifold of each rack.", "carry 427 kW, but the nodes give"),
    ("PG25: supply 30 °C, return 40 °C, 1,400 L/min in total, which is 175 L/min at the manifold of each rack.", ""),
    ("PG25: supply 30 °C, return 40 °C, 80 L/min per rack, 640 L/min in all.", "carry 53.3 kW, but a rack gives"),
    ("Supply 30 °C, return 40 °C. The pumps give 640 l/min of PG25.", "carry 427 kW"),
    ("Supply 30 °C, return 40 °C. The pumps give 1,500 l/min of PG25.", ""),
    ("The loop of water has 170 gpm at a rise of 10 K.", "carry 448 kW"),  # 643.5 l/min
    ("The loop of water has 350 gpm at a rise of 10 K.", ""),
    ("At 24 m3/h the water of the loop warms up by 10 K.", "carry 279 kW"),
    ("At 75 m3/h the temperature of the water rises by 10 K.", ""),
    ("Wasser, 12 l/s insgesamt, Spreizung 10 K.", "carry 502 kW"),
    ("Wasser, 24 l/s insgesamt, Spreizung 10 K.", ""),
    ("Wasser, 1.400 l/min insgesamt, Spreizung 10 K.", ""),
    ("De l'eau, 40 m³/h au total, écart de 10 K.", "carry 464 kW"),
    ("De l'eau, 80 m³/h au total, écart de 10 K.", ""),
    # 80 / 60 x 4.18 x 10 = 55.7 kW, and 160 / 60 x 4.18 x 10 = 111 kW
    ("L'écart entre l'entrée et la sortie de la baie est de 10 K. Il faut 80 litres d'eau par minute et par baie.", "carry 55.7 kW, but a rack gives"),
    ("L'écart entre l'entrée et la sortie de la baie est de 10 K. Il faut 160 litres d'eau par minute et par baie.", ""),
    ("Die Spreizung zwischen Vorlauf und Rücklauf beträgt 10 K, je Schrank fließen 80 Liter Wasser pro Minute.", "carry 55.7 kW, but a rack gives"),
    ("El salto entre entrada y salida es de 10 K, con 160 litros de agua por minuto por armario.", ""),
    ("The cold plates get 1.0 l/min per kW of PG25 at a rise of 10 K.", "carry 667 W"),
    ("The cold plates get 1.5 l/min per kW of PG25 at a rise of 10 K.", ""),
    ("Each CDU moves 300 l/min of PG25 at a rise of 10 K.", ""),
    ("The fans of the hall move 20 m3/h of air at a rise of 10 K.", ""),
]  # fmt: skip


@each("text, words", FLOWS)
def test_a_flow_of_coolant_carries_the_heat(text: str, words: str, check: Check) -> None:
    found = told(check, "coolant-flow-below-heat", text, LIQUID)
    assert [one for one in found if words and words in one[1]] or (not words and not found), found


AIR = "platform: dgx-h100, nodes: 16, power: {node: 10.2 kW, nodes_per_rack: 2, cooling: air}"
TEXTS = [
    # 800 CFM = 0.3776 m3/s x 1.2 x 1.005 x 12 = 5.5 kW
    ("airflow-below-heat", "A server gets 800 CFM of air at a rise of 12 K.", "carry 5.46 kW, but a node gives 10.2 kW"),
    ("airflow-below-heat", "A server gets 1,500 CFM of air at a rise of 12 K.", ""),
    ("airflow-below-heat", "Je Schrank 3.000 m³/h Luft bei 12 K Spreizung.", ""),
    ("airflow-below-heat", "Each rack gets 3,000 m3/h of air, delta-T 12 K.", "carry 12.1 kW, but a rack gives 20.4 kW"),
    ("airflow-below-heat", "Each rack gets 5,200 m3/h of air, delta-T 12 K.", ""),
    ("airflow-below-heat", "The fan walls move 20,000 CFM through the hall at a difference of 11 K.", "carry 125 kW"),
    ("airflow-below-heat", "The fan walls move 30,000 CFM through the hall at a difference of 11 K.", ""),
    ("airflow-below-heat", "A CRAH moves 8,000 CFM of air at a rise of 11 K.", ""),
    # 400 x 32 x 1.732 = 22.2 kW; 63 A 43.6; 208 x 60 x 1.732 x 0.8 = 17.3
    ("circuit-power-off-rating", "A rack hangs on a PDU of 400 V and 32 A, three-phase, which carries 38 kW.", "22.2 kW at most"),
    ("circuit-power-off-rating", "A rack hangs on a PDU of 400 V and 63 A, three-phase, which carries 38 kW.", ""),
    ("circuit-power-off-rating", "The breaker of 60 A at 208 V, three-phase, gives 21.6 kW at 80 %.", "17.3 kW"),
    ("circuit-power-off-rating", "The breaker of 60 A at 208 V, three-phase, gives 17.3 kW at 80 %.", ""),
    ("circuit-power-off-rating", "Ein Stromkreis mit 230 V und 16 A, einphasig, liefert 11 kW.", "3.68 kW"),
    ("circuit-power-off-rating", "Ein Stromkreis mit 230 V und 16 A, dreiphasig, liefert 11 kW.", ""),
    ("circuit-power-off-rating", "The feed of 415 V, 63 A gives 45 kVA.", ""),
    ("circuit-power-off-rating", "The feed of 415 V, 63 A gives 78 kVA.", "45.3 kW"),
    ("circuit-power-off-rating", "Two PDUs of 400 V and 32 A carry 44 kW.", ""),
    ("circuit-power-off-rating", "A rack draws 44 kW on a feed of 400 V and 32 A.", ""),
    ("generator-fuel-short", "The generator burns 280 l/h, and its tank of 5,000 l lasts 24 h.", "last 17.9 h"),
    ("generator-fuel-short", "The generator burns 280 l/h, and its tank of 7,000 l lasts 24 h.", ""),
    ("generator-fuel-short", "Tank 4.000 l, Verbrauch 100 l pro Stunde, Laufzeit 72 h.", "last 40.0 h"),
    ("generator-fuel-short", "Tank 9.000 l, Verbrauch 100 l pro Stunde, Laufzeit 72 h.", ""),
    ("generator-fuel-short", "At this load the set burns 300 L an hour. 9,000 L of fuel last 48 hours.", "last 30.0 h"),
    ("generator-fuel-short", "At this load the set burns 300 L an hour. 15,000 L of fuel last 48 hours.", ""),
    ("generator-fuel-short", "It burns 300 L/h. The tank has 9,000 L. A delivery takes 48 hours.", ""),
    ("generator-fuel-short", "The UPS batteries of 200 kWh carry 1.2 MW for 15 minutes.", "for 10 minutes"),
    ("generator-fuel-short", "The UPS batteries of 300 kWh carry 1.2 MW for 15 minutes.", ""),
    ("generator-fuel-short", "USV: 50 kWh, 300 kW für 10 Minuten.", ""),
    ("generator-fuel-short", "USV: 50 kWh, 300 kW für 20 Minuten.", "for 10 minutes"),
    # light: 4.87 us for a kilometer
    ("latency-below-light", "The halls are 40 km of fiber apart, with a round trip of 100 µs.", "light takes 390"),
    ("latency-below-light", "The halls are 40 km of fiber apart, with a round trip of 0.42 ms.", ""),
    ("latency-below-light", "One-way latency is 50 us over 12 km.", "58.4"),
    ("latency-below-light", "One-way latency is 65 us over 12 km.", ""),
    ("latency-below-light", "Latence aller-retour de 0,3 ms sur 80 km de fibre.", "779"),
    ("latency-below-light", "Laufzeit 500 µs auf 90 km Glasfaser.", ""),
    ("latency-below-light", "The DCI of 40 km adds 3 µs of switch latency.", ""),
    # 64 x 800 = 51,200 = 128 x 400
    ("breakout-off-rate", "The leaf has 64 ports of 800G, broken out to 256 x 400G.", "51,200 Gb/s, but 256 of 400 Gb/s are 102,400"),
    ("breakout-off-rate", "The leaf has 64 ports of 800G, broken out to 128 x 400G.", ""),
    ("breakout-off-rate", "Each 400G port splits into 4 x 200G.", "no lanes for 4 of 200 Gb/s"),
    ("breakout-off-rate", "Each 400G port splits into 4 x 100G.", ""),
    ("breakout-off-rate", "32 x 400GbE ports, split into 128 x 200GbE.", "12,800"),
    ("breakout-off-rate", "32 x 400GbE ports, split into 128 x 100GbE.", ""),
    ("usable-above-raw", "The store has 10 PB raw, with 8+2 erasure coding 9 PB usable.", "leave 8 PB"),
    ("usable-above-raw", "The store has 10 PB raw, with 8+2 erasure coding 7.6 PB usable.", ""),
    ("usable-above-raw", "Brutto 3,6 PB, RAID 6 (8+2), nutzbar 3,2 PB.", "leave 2.88 PB"),
    ("usable-above-raw", "Brutto 3,6 PB, RAID 6 (8+2), nutzbar 2,8 PB.", ""),
    ("usable-above-raw", "6 PB bruts avec trois copies, 3 PB utiles.", "leave 2 PB"),
    ("usable-above-raw", "6 PB raw in RAID 10, 3 PB usable.", ""),
    ("usable-above-raw", "6 PB raw in RAID 10, 4 PB usable.", "leave 3 PB"),
    ("usable-above-raw", "6 PB raw, 8+2, with compression 9 PB effective.", ""),
    ("usable-above-raw", "3,600 TB raw, RAID 6 (8+2), 3.2 PB usable.", "3.6 PB raw leave 2.88 PB"),
    ("usable-above-raw", "3.6 PB raw, RAID 6 (8+2), 2,800 TB usable.", ""),
    ("arithmetic-does-not-close", "A rack has 4 x 10.2 kW = 44.8 kW.", "the left side is 40.8 kW"),
    ("arithmetic-does-not-close", "A rack has 4 x 10.2 kW = 40.8 kW.", ""),
    ("arithmetic-does-not-close", "16 leaves x 32 ports = 448 ports.", "512"),
    ("arithmetic-does-not-close", "Optics: 2 x 512 + 64 = 1,088 modules.", ""),
    ("arithmetic-does-not-close", "1.2 MW / 48 racks = 30 kW.", "25 kW"),
    ("arithmetic-does-not-close", "1.2 MW / 40 racks = 30 kW.", ""),
    ("arithmetic-does-not-close", "24 ports x 200 Gb/s = 4.6 Tb/s.", "4.8 Tb"),
    ("arithmetic-does-not-close", "24 ports x 200 Gb/s = 4.8 Tb/s.", ""),
    ("arithmetic-does-not-close", "8 ports x 400 Gb/s = 400 GB/s, and 18 links x 50 GB/s = 1.8 TB/s.", ""),
    ("arithmetic-does-not-close", "24 trays x 32 fibers = 448 packages, 8 cards x 2 = 32 ports.", "768"),
    ("arithmetic-does-not-close", "8 cards x 2 = 32 ports; 64 x 5,000 tokens are 22.5 GB.", ""),
    ("arithmetic-does-not-close", "8+2 parity = 80 % of 4 PB.", ""),
    ("arithmetic-does-not-close", "32 x 10.2 + 12 switches = 347 kW.", ""),
    ("arithmetic-does-not-close", "6 x 32 dies = 96 packages.", ""),
    ("arithmetic-does-not-close", "6.5 kW of switches and 4 x 2.4 = 16.1 kW.", ""),
    ("arithmetic-does-not-close", "54 x 185,000 + 4 x 330,000 = 11.3 million.", ""),
]  # fmt: skip


@each("rule, text, words", TEXTS)
def test_figures_of_one_sentence_agree(rule: str, text: str, words: str, check: Check) -> None:
    found = told(check, rule, text, AIR)
    assert [one for one in found if words and words in one[1]] or (not words and not found), found


ROCE = "platform: mi300x-ubb8, nodes: 16, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}"


@each(
    "text, severity",
    [
        ("ECN on queue 3 has Kmin 2000 KB and Kmax 500 KB.", "error"),
        ("ECN on queue 3 has Kmin 500 KB and Kmax 2000 KB.", ""),
        ("WRED: K_min=1.5 MB, K_max=1 MB, 5 % of the packets.", "error"),
        ("ECN from Kmin 1 MB to Kmax 2 MB; xoff of PFC is 400 KB.", "warning"),
        ("ECN from Kmin 1 MB to Kmax 2 MB; xoff of PFC is 3 MB.", ""),
        # 2 x 300 m x 4.87 ns x 50 GB/s = 146 kB
        ("PFC headroom of 100 KB for 300 m of fiber.", "error"),
        ("PFC headroom of 200 KB for 300 m of fiber.", ""),
        ("Ports have a headroom of 1 MB for the 10 km to hall B at 100 Gb/s.", "error"),  # 1.2 MB
        ("Ports have a headroom of 2 MB for the 10 km to hall B at 100 Gb/s.", ""),
        ("Hosts have an MTU of 9000, switches an MTU of 4200.", "error"),
        ("Hosts have an MTU of 9000, switches an MTU of 9216.", ""),
        ("With VXLAN, hosts have MTU 9216 and leaves MTU 9216.", "error"),
        ("Hosts have MTU 9216 and leaves MTU 9216.", ""),
        ("MTU 9000 on all hosts, and MTU 1500 on the front end.", ""),
    ],
)
def test_thresholds_leave_room_for_each_other(text: str, severity: str, check: Check) -> None:
    found = told(check, "flow-thresholds-unfit", text, ROCE)
    assert [one[0] for one in found] == [severity] * bool(severity), found


@each(
    "text, severity",
    [
        ("A node runs on at full load when feed A is taken out for maintenance.", "error"),
        ("After the loss of a feed every node keeps its full power.", "error"),
        ("Fällt eine Einspeisung aus, laufen die Knoten unter Volllast weiter; ein Ausfall der Einspeisung drosselt nicht.", "error"),
        ("Sans throttling : pleine charge en cas de perte d'une alimentation.", "error"),
        ("If a PDU fails the nodes run throttled until it is back.", "note"),
        ("At full load a feed carries 20 kW.", "note"),
        ("Two feeds.", "note"),
    ],
)  # fmt: skip
def test_full_load_without_a_feed_is_a_demand(text: str, severity: str, check: Check) -> None:
    # six supplies of 3.3 kW: three of them give 9.9 kW for 10.2
    found = told(check, "feed-loss-throttles-nodes", text, "platform: dgx-h100, nodes: 16, power: {feeds: 2N}")
    assert [one[0] for one in found] == [severity], found
