"""Terms of a purchase and its parts, worked out by hand, each with a change that makes it sound."""

from __future__ import annotations

from tests.effort import each

from .conftest import Check

PURCHASE = """clusterspec: 1
description: "{remarks}"
cluster:
  platform: hgx-h200
  nodes: 8
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic: connectx-7
    nic_bandwidth: 400 Gb/s
    topology: single-switch
    switch: quantum-2-qm9700
    leaf_switches: 1
    cables: {{node_leaf: 64}}
    links_per_cable: {{node_leaf: 1}}
    distance: {{node_leaf: 18 m, leaf_spine: 18 m}}
    optics: {{node_leaf: [mms4x00-ns400, mms4x00-ns]}}
procurement:
  currency: KRW
  as_of: 2026-11-02
  term: 3 years
  discount: {discount}
  quoted_total: {total}
{terms}
  quote:
{lines}
"""
SERVER = '    - {part: "HGX H200 server", quantity: 8, unit_price: 1000, price: 8000}'


def line(part: str, quantity: int = 1, unit_price: float = 100) -> str:
    """A line of a quote with the product of its numbers."""
    price = quantity * unit_price
    return f'    - {{part: "{part}", quantity: {quantity}, unit_price: {unit_price}, price: {price}}}'


def purchase(*lines: str, remarks: str = "x", discount: float = 0, total: float = 0, **terms: str) -> str:
    written = "\n".join(f"  {key}: {value}" for key, value in terms.items())
    quote = "\n".join((SERVER, *lines))
    return PURCHASE.format(remarks=remarks, discount=discount, total=total, lines=quote, terms=written)


MODULES = "twin-port 800G transceiver"
SUPPORTED = 'HGX H200 server, incl. 1 year of support"'
COPY = '{{milestones: ["copy of 380 TB starts on 2027-07-03 over a 10 Gb/s circuit", "file system deleted on {}"]}}'
SHORT_REPAIR = "operations: {repair_time: 4 h}\n"
RENT = "space in racks, 4 racks x 36 months"


@each(
    ("text", "rule", "words"),
    [
        # a price that is net of 12 %, from which 12 % are taken: 8,000 x 0.88 is counted twice
        (
            purchase(line("rails, net price after 12 % discount"), discount=0.12),
            "quote-condition-unmet",
            "net of 12 %, but",
        ),
        (purchase(line("rails, net price after 12 % discount"), discount=0.05), "quote-condition-unmet", ""),
        (purchase(line("rails, less the 12 % discount"), discount=0.12), "quote-condition-unmet", "net of 12 %, but"),
        (purchase(line("rails, incl. 12.5 % rebate"), discount=0.12), "quote-condition-unmet", ""),
        # (8,000 + 1,000) x 0.9 = 8,100; on equipment alone 8,000 x 0.9 + 1,000 = 8,200
        (
            purchase(
                line("installation", 1, 1000),
                remarks="The discount of 10 % is only for equipment.",
                discount=0.1,
                total=8100,
            ),
            "quote-condition-unmet",
            "8,200 KRW without",
        ),
        (
            purchase(
                line("installation", 1, 1000),
                remarks="The discount of 10 % is for equipment and services.",
                discount=0.1,
                total=8100,
            ),
            "quote-condition-unmet",
            "",
        ),
        # 144 months x 100 = 14,400; with 4 % twice (1 + 1.04 + 1.0816) / 3 = 1.04053, 584 more
        (
            purchase(line(RENT, 144), remarks="All rents rise by 4 % each year.", total=22400),
            "quote-condition-unmet",
            "584 KRW are missing before tax",
        ),
        (
            purchase(line(RENT, 144), remarks="All rents are fixed and rise by 0 % each year.", total=22400),
            "quote-condition-unmet",
            "",
        ),
        # 64 modules at the nodes; 64 ports of the switch, two to a module: 32
        (
            purchase(line(f"{MODULES}, flat top", 32), line(f"{MODULES}, finned", 64)),
            "quote-cabling-unfit",
            "offers 32 modules for the nodes, but the design needs 64",
        ),
        (purchase(line(f"{MODULES}, flat top", 64), line(f"{MODULES}, finned", 32)), "quote-cabling-unfit", ""),
        # a line of its own sells the support of all three years
        (purchase(total=8000).replace('HGX H200 server"', SUPPORTED), "quote-text-off-design", "states 1 year, but"),
        (
            purchase(line("support 24x7 of the servers, 3 years", 1, 500), total=8500).replace(
                'HGX H200 server"', SUPPORTED
            ),
            "quote-text-off-design",
            "",
        ),
        # a switch of 64 ports in cages that nobody states needs 32 modules or 64
        (
            purchase(line(f"{MODULES}, flat top", 32), line(f"{MODULES}, finned", 96)).replace(
                "switch: quantum-2-qm9700", "switch_ports: 64"
            ),
            "quote-cabling-unfit",
            "",
        ),
        # breakout cables lead to the nodes, whose longest run has 18 m
        (
            purchase(line("AOC 800G to 2x 400G, 15 m", 32), line("AOC 800G, 30 m", 8)),
            "quote-text-off-design",
            "states 15 m, but",
        ),
        (purchase(line("AOC 800G to 2x 400G, 20 m", 32), line("AOC 800G, 30 m", 8)), "quote-text-off-design", ""),
        # 12 x 30 days are 360: 8 nodes x 5 days x 24 h = 960 hours are missing
        (
            purchase(line("node-hours, 8 VMs x 12 months x 30 days x 24 h", 69120)),
            "quote-unit-miscounted",
            "960 hours are missing",
        ),
        (purchase(line("node-hours, 8 VMs x 365 days x 24 h", 70080)), "quote-unit-miscounted", ""),
        (
            purchase(line("spare module (unit price USD)", 7), total=8700),
            "quote-arithmetic",
            "is priced in USD, but the quote",
        ),
        (purchase(line("spare module (unit price KRW)", 7), total=8700), "quote-arithmetic", ""),
        (
            purchase(remarks="The offer binds 21 days, until 3 December 2026. Order on 14 December 2026."),
            "offer-expires-before-order",
            "valid until 2026-12-03, but the order follows on 2026-12-14",
        ),
        (
            purchase(remarks="The offer binds 45 days, until 27 December 2026. Order on 14 December 2026."),
            "offer-expires-before-order",
            "",
        ),
        # 8,000 + 500 + 300 with both kinds of support; one of them is bought
        (
            purchase(
                line("support 24x7", 1, 500), line("Alternative to the line above: support NBD", 1, 300), total=8800
            ),
            "quote-pays-twice",
            "the price of both: 300 KRW before discount and tax",
        ),
        (
            purchase(
                line("support 24x7", 1, 500), line("Alternative to the line above: support NBD", 1, 300), total=8500
            ),
            "quote-pays-twice",
            "",
        ),
        # 8 nodes x 8 NICs are 64, and the server brings its own 8; cards for storage are others
        (
            purchase(line("server, 8 x ConnectX-7 NIC included", 8, 1000), line("ConnectX-7 NIC 400G", 64, 10)),
            "quote-pays-twice",
            "which includes 8 NICs of each node",
        ),
        (
            purchase(line("server, 8 x ConnectX-7 NIC included", 8, 1000), line("ConnectX-7 NIC 400G", 16, 10)),
            "quote-pays-twice",
            "",
        ),
        (
            purchase(line("rack, with two PDUs", 2, 10), line("rack PDU 32 A", 4, 5)),
            "quote-pays-twice",
            "includes power",
        ),
        (purchase(line("rack, without PDUs", 2, 10), line("rack PDU 32 A", 4, 5)), "quote-pays-twice", ""),
        # 3 years are 1,096 days (1,095.75), of which the file system has half
        (
            purchase(line("HGX H200 server rent, per day", 1096), line("file system, per day", 548)),
            "rental-shorter-than-term",
            "is rented for 548 days",
        ),
        (
            purchase(line("HGX H200 server rent, per day", 1096), line("file system, per day", 1096)),
            "rental-shorter-than-term",
            "",
        ),
        # 142 x 1.03 = 146.26, x 1.03 = 150.65; 155.17 would be a third rise
        (
            purchase(
                line("power, months 1-12, kW-months", 10, 142),
                line("power, months 13-24, kW-months", 10, 146.26),
                line("power, months 25-36, kW-months", 10, 155.17),
                remarks="The rate rises by 3 % in months 13 and 25.",
            ),
            "price-off-text",
            "from month 25 the price is 150.65 KRW",
        ),
        (
            purchase(
                line("power, months 1-12, kW-months", 10, 142),
                line("power, months 13-24, kW-months", 10, 146.26),
                line("power, months 25-36, kW-months", 10, 150.65),
                remarks="The rate rises by 3 % in months 13 and 25.",
            ),
            "price-off-text",
            "",
        ),
        # cabinets with the power stay flat
        (
            purchase(
                line("power, months 1-12, kW-months", 10, 142),
                line("cabinets, months 1-12, cabinet-months", 10, 480),
                line("power, months 13-24, kW-months", 10, 146.26),
                line("cabinets, months 13-24, cabinet-months", 10, 480),
                remarks="The kW rate rises by 3 % in month 13.",
            ),
            "price-off-text",
            "",
        ),
        (
            purchase(remarks="Nabídka platí do 31. 12. 2026, rada schválí a podepíše objednávku 8. 1. 2027."),
            "offer-expires-before-order",
            "valid until 2026-12-31, but the order follows on 2027-01-08",
        ),
        (
            purchase(remarks="Nabídka platí do 15. ledna 2027, rada podepíše objednávku 8. 1. 2027."),
            "offer-expires-before-order",
            "",
        ),
        # 12 servers of a code of 23+1 with two fragments on each: one server lost takes both
        (
            purchase(
                line("storage server, 24 x 15.36 TB NVMe", 12),
                remarks="Erasure coding 23+1, two fragments on each server.",
            ),
            "quoted-store-unfit",
            "a code of 23+1 places 2 fragments on one node",
        ),
        (
            purchase(
                line("storage server, 24 x 15.36 TB NVMe", 12),
                remarks="Erasure coding 22+2, two fragments on each server.",
            ),
            "quoted-store-unfit",
            "",
        ),
        # the runs have 18 m; the length is in the order code
        (purchase(line("MFP7E30-N015 fibre, DGX to leaf", 64)), "quote-text-off-design", "states 15 m, but"),
        (purchase(line("MFP7E30-N020 fibre, DGX to leaf", 64)), "quote-text-off-design", ""),
        # the design has 8 servers
        (
            purchase(delivery='{milestones: ["4 DGX in week 8", "2 DGX in week 12"]}'),
            "milestones-out-of-order",
            "deliver 6 servers",
        ),
        (purchase(delivery='{milestones: ["4 DGX in week 8", "4 DGX in week 12"]}'), "milestones-out-of-order", ""),
        # 380 TB take 84 h at 10 Gb/s; the first and the last day are two
        (
            purchase(delivery=COPY.format("2027-07-04")),
            "migration-exceeds-window",
            "has 2 days, but 380 TB take 3.5 days",
        ),
        (purchase(delivery=COPY.format("2027-07-06")), "migration-exceeds-window", ""),
        (
            purchase(line("storage", 1, 30e6), line("Fragt, transportforsikring, højst 12 mio. kr.")),
            "insured-below-value",
            "insured for 12,000,000 KRW",
        ),
        (
            purchase(line("storage", 1, 30e6), line("Fragt, transportforsikring, højst 33 mio. kr.")),
            "insured-below-value",
            "",
        ),
        (
            purchase(remarks="The 21 % btw is reverse-charged; geen recht op aftrek.", budget="9000", total=8000),
            "funding-short-of-quote",
            "9,680 KRW in all, above the budget of 9,000 KRW",
        ),
        (
            purchase(remarks="The 21 % btw is reverse-charged; geen recht op aftrek.", budget="9700", total=8000),
            "funding-short-of-quote",
            "",
        ),
        # a response of 72 h and a repair within 4 h, without and with parts on site
        (
            purchase(support="{term: 3 years, response: 72 h}") + SHORT_REPAIR,
            "support-slower-than-repair",
            "within 72 h",
        ),
        (
            purchase(remarks="Two nodes are on the shelf of the depot.", support="{term: 3 years, response: 72 h}")
            + SHORT_REPAIR,
            "support-slower-than-repair",
            "",
        ),
        (
            purchase(support="{term: 3 years, response: 72 h}")
            + SHORT_REPAIR.replace("}", ", stock: {percentile: 0.95}}"),
            "support-slower-than-repair",
            "",
        ),
        # spare accelerators are no machine whose fabric is missing
        (
            purchase(line("spare H200 module", 4)).replace(SERVER + "\n", ""),
            "quote-off-bill",
            "",
        ),
        (purchase(delivery="{weeks: 3}"), "short-lead-time", "3 weeks for 64 H200"),
        (purchase(remarks="Don d'un partenaire industriel.", delivery="{weeks: 3}"), "short-lead-time", ""),
        (purchase(remarks="We don't wait.", delivery="{weeks: 3}"), "short-lead-time", "3 weeks for 64 H200"),
        (
            purchase(line("H200 node hours, eu-north1"), line("shared file system 400 TB, eu-west1, one day")),
            "quote-for-another-region",
            "is for eu-west1, but the machine is in eu-north1",
        ),
        (
            purchase(line("H200 node hours, eu-north1"), line("shared file system 400 TB, eu-north1, one day")),
            "quote-for-another-region",
            "",
        ),
    ],
)
def test_a_term_of_a_purchase_is_judged_by_its_numbers(text: str, rule: str, words: str, check: Check) -> None:
    found = [one for one in check(text, rule) if one.rule == rule and one.severity != "note"]
    assert [one.message for one in found if words and words in one.message] or (not words and not found), found


FRONTEND = "  networks: {frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}}\nprocurement:"
STORE = "  networks: {storage: {systems: 3, capacity: 700 TB, bandwidth: 20 GB/s}}\nprocurement:"
WEEKS = "{weeks: 20}"  # 140 days after 2026-11-02: 2027-03-22
LEASED = "Price 110,000 with tax, 100,000 without; rate 1.82 %."
QUEBEC = "TPS 5 % and TVQ 9.975 %"
NODE_DAYS = "HGX H200 node-days, reserved"


@each(
    ("text", "rule", "words"),
    [
        (
            purchase(remarks="The grant expires on 2027-03-21.", delivery=WEEKS),
            "lapses-before-needed",
            "ends on 2027-03-21, 1 day before the soonest acceptance on 2027-03-22",
        ),
        (purchase(remarks="The grant expires on 2027-03-22.", delivery=WEEKS), "lapses-before-needed", ""),
        (
            purchase(remarks="予算は 2027-03-21 までに検収を終えなければ失効する。発注 2026-11-02。", delivery=WEEKS),
            "lapses-before-needed",
            "ends on 2027-03-21, 1 day before the soonest acceptance on 2027-03-22",
        ),
        # the order of the text, 2026-12-01, and 20 weeks: 2027-04-20
        (
            purchase(remarks="La subvention expire le 31 mars 2027. Commande le 1 décembre 2026.", delivery=WEEKS),
            "lapses-before-needed",
            "20 days before the soonest acceptance on 2027-04-20",
        ),
        (
            purchase(
                remarks="The old store is returned on 2027-01-10.", delivery='{milestones: ["migration week 11"]}'
            ),
            "lapses-before-needed",
            "8 days before the end of the migration on 2027-01-18",
        ),
        (
            purchase(
                remarks="The old store is returned on 2027-01-18.", delivery='{milestones: ["migration week 11"]}'
            ),
            "lapses-before-needed",
            "",
        ),
        (
            purchase(
                line("Transport insurance until 2027-02-28"),
                remarks="x",
                delivery='{milestones: ["servers 2027-03-15"]}',
            ),
            "lapses-before-needed",
            "the insurance of the transport ends on 2027-02-28, 15 days before the last delivery",
        ),
        (
            purchase(remarks="Power is reserved until 2026-11-30. Order on 2026-12-04.", delivery=WEEKS),
            "lapses-before-needed",
            "the reservation ends on 2026-11-30, 4 days before the order",
        ),
        # 5,000 less 12 % is 4,400
        (purchase(line("gateway, list price 5,000 less 12 %", 2, 4500)), "price-off-text", "which leaves 4,400 KRW"),
        (purchase(line("gateway, list price 5,000 less 12 %", 2, 4400)), "price-off-text", ""),
        (purchase(line("gateway, list price 5,000 less 12 %, less 400: 4,000 each", 2, 4000)), "price-off-text", ""),
        (purchase(line("Year-end special price reduction", 1, 70)), "price-off-text", "price of 70 KRW is added"),
        (purchase(line("Year-end special price reduction", 1, -70)), "price-off-text", ""),
        # 8,000 x 1.1 = 8,800: the prices have the tax already
        (
            purchase(remarks="Alle Preise brutto, inkl. 10 % MwSt.", total=8800, tax="0.1"),
            "price-off-text",
            "`tax: 0.1` is added to them",
        ),
        (purchase(remarks="Alle Preise netto, zzgl. 10 % MwSt.", total=8800, tax="0.1"), "price-off-text", ""),
        # 1.05 x 1.09975 = 1.1547375, and 0.05 + 0.09975 = 0.14975
        (purchase(remarks=QUEBEC, tax="0.1547375"), "price-off-text", "14.975 % together"),
        (purchase(remarks=QUEBEC, tax="0.14975"), "price-off-text", ""),
        (
            purchase(
                delivery='{milestones: ["50 % with the order"]}', payment="{order: 0.2, delivery: 0.5, acceptance: 0.3}"
            ),
            "payment-before-acceptance",
            "50 % of the price are due with the order, but `payment.order` is 0.2",
        ),
        (
            purchase(
                delivery='{milestones: ["záloha 20 % při objednávce"]}',
                payment="{order: 0.2, delivery: 0.5, acceptance: 0.3}",
            ),
            "payment-before-acceptance",
            "",
        ),
        (
            purchase(line("Freight DAP Busan port"), total=8100),
            "delivery-ends-before-site",
            "`DAP Busan port` ends the delivery at a port",
        ),
        (purchase(line("Freight DAP Busan port"), line("Inland transport")), "delivery-ends-before-site", ""),
        # a term of 1,095 days
        (
            purchase(line("HGX racks, colocation, per month", 36), line("storage, 400 TB, per month", 30)),
            "rental-shorter-than-term",
            "rented for 30 months, but the term is 3 years: 6 months are missing",
        ),
        (
            purchase(line("HGX racks, colocation, per month", 36), line("storage, 400 TB, per month", 36)),
            "rental-shorter-than-term",
            "",
        ),
        (
            purchase(line("storage 400 TB, with 48 months support"), line("Support for the storage, 48 months")),
            "quote-pays-twice",
            "which includes support",
        ),
        (purchase(line("storage 400 TB"), line("Support for the storage, 48 months")), "quote-pays-twice", ""),
        # 100 x (1 + 1.05 + 1.1025) = 315.25
        (
            purchase(line("Suporte por ano, reajuste de 5 % ao ano", 3), total=8300),
            "quote-arithmetic",
            "3 years are 315 KRW, not 300 KRW",
        ),
        (purchase(line("Suporte por ano, sem reajuste", 3), total=8300), "quote-arithmetic", ""),
        # 8 x 2 ports of 100G, four to a cable: four cables
        (
            purchase(line("Frontend AOC 400G to 4x 100G", 3)).replace("procurement:", FRONTEND),
            "quoted-part-unusable",
            "has 12 ends for the nodes, but their frontend takes 16",
        ),
        (
            purchase(line("Frontend AOC 400G to 4x 100G", 4)).replace("procurement:", FRONTEND),
            "quoted-part-unusable",
            "",
        ),
        (
            purchase(line("ConnectX-7 NIC with QSFP112 cage", 64)),
            "quoted-part-unusable",
            "has cards with cages for QSFP112, but",
        ),
        (purchase(line("ConnectX-7 NIC with OSFP cage", 64)), "quoted-part-unusable", ""),
        (
            purchase(line("NVMe store of 2 appliances, 800 TB")).replace("procurement:", STORE),
            "quoted-store-unfit",
            "offers 2 appliances, but `networks.storage.systems` is 3",
        ),
        (
            purchase(line("NVMe store of 3 appliances, 800 TB")).replace("procurement:", STORE),
            "quoted-store-unfit",
            "",
        ),
        # 8 + 2 = 10 fragments
        (
            purchase(line("storage node, 12 x 15 TB NVMe", 9), remarks="Code 8+2, each fragment on another node."),
            "quoted-store-unfit",
            "is quoted for 9 nodes, but a code of 8+2 with each fragment on another node needs 10 nodes",
        ),
        (
            purchase(line("storage node, 12 x 15 TB NVMe", 10), remarks="Code 8+2, each fragment on another node."),
            "quoted-store-unfit",
            "",
        ),
        # 2026-11-02 and 20 weeks are 2027-03-22
        (
            purchase(remarks="Change freeze from 2027-03-15 to 2027-06-10.", delivery=WEEKS),
            "delivery-misses-date",
            "the last delivery is on 2027-03-22, but according to the text the site takes none",
        ),
        (
            purchase(remarks="Change freeze from 2027-03-23 to 2027-06-10.", delivery=WEEKS),
            "delivery-misses-date",
            "",
        ),
        # 12 nodes, of which 8 are quoted: 4 are in place
        (
            purchase(line("trade-in credit, 4 H200 servers", 4, -50)).replace("nodes: 8", "nodes: 12"),
            "quote-pays-twice",
            "the 12 nodes of the design are 8 of the quote and 4 that are in place",
        ),
        (
            purchase(line("trade-in credit, 4 A100 servers", 4, -50)).replace("nodes: 8", "nodes: 12"),
            "quote-pays-twice",
            "",
        ),
        # 1.82 % of 110,000 is 2,002; of 100,000, without 10 % of tax, 1,820
        (
            purchase(line("lease, monthly", 60, 2002), remarks=LEASED, tax="0.1"),
            "lease-off-formula",
            "is computed from the price with tax, but `tax: 0.1` is added to it again: 1,820",
        ),
        (purchase(line("lease, monthly", 60, 1820), remarks=LEASED, tax="0.1"), "lease-off-formula", ""),
        # 8 + 2 on 6 nodes: two fragments on some, so that one node may fail
        (
            purchase(line("storage node, 12 x 15 TB", 6), remarks="Code 8+2 across nodes; survives two nodes."),
            "quoted-store-unfit",
            "it survives the loss of 1 node, not of 2",
        ),
        (
            purchase(line("storage node, 12 x 15 TB", 10), remarks="Code 8+2 across nodes; survives two nodes."),
            "quoted-store-unfit",
            "",
        ),
        (
            purchase(
                remarks="The goods lift carries 1,000 kg.",
                delivery='{milestones: ["racks of 1,480 kg each in week 22"]}',
            ),
            "piece-above-load-limit",
            "weighs 1,480 kg, but the lift carries 1,000 kg",
        ),
        (
            purchase(
                remarks="The goods lift carries 1,500 kg.",
                delivery='{milestones: ["racks of 1,480 kg each in week 22"]}',
            ),
            "piece-above-load-limit",
            "",
        ),
        (
            purchase(
                remarks="Option à affermir dans le mois qui suit la notification (2027-03-01), vote le 2027-05-03."
            ),
            "lapses-before-needed",
            "the option ends on 2027-04-01, 32 days before its exercise on 2027-05-03",
        ),
        # acceptance of 14 days: 2027-03-22 and 14 days are 2027-04-05
        (
            purchase(remarks="Abnahme 2 Wochen.", delivery=WEEKS, needed_by="2027-04-04"),
            "delivery-misses-date",
            "with 14 days of acceptance, are 1 day after 2027-04-04",
        ),
        (purchase(remarks="Abnahme 2 Wochen.", delivery=WEEKS, needed_by="2027-04-05"), "delivery-misses-date", ""),
        (
            purchase(delivery='{milestones: ["servers leave the factory week 18", "export license by week 20"]}'),
            "milestones-out-of-order",
            "sent 2 weeks before the license of their export",
        ),
        (
            purchase(delivery='{milestones: ["servers leave the factory week 20", "export license by week 20"]}'),
            "milestones-out-of-order",
            "",
        ),
        (
            purchase(
                remarks="Acht kasten in colocatie tot en met 2031-02-28.",
                delivery='{milestones: ["leeghalen kasten 2031-03-03 tot 2031-03-14"]}',
            ),
            "lapses-before-needed",
            "the space ends on 2031-02-28, 14 days before it is cleared on 2031-03-14",
        ),
        (
            purchase(line("cluster manager, license server in the vendor's cloud"), remarks="The site is air-gapped."),
            "quoted-part-unusable",
            "needs the cloud of its vendor",
        ),
    ],
)
def test_a_date_or_a_price_of_a_text_is_that_of_the_plan(text: str, rule: str, words: str, check: Check) -> None:
    found = [one for one in check(text, rule) if one.rule == rule and one.severity != "note"]
    assert [one.message for one in found if words and words in one.message] or (not words and not found), found


@each(
    ("platform", "term", "prices", "severity"),
    [
        # H100 is sold for up to 40,000 USD: four times as much over 43,830 h is 29.2 USD an hour for eight
        ("aws-p5-48xlarge", "5 years", "node_hour: {}", {29: "", 30: "note", 82: "note", 83: "warning", 276: ""}),
        # and rented for up to 6.88 USD: 1.5 times as much for eight is 82.56, five times 275.2; 241,240 over 4,383 h
        ("dgx-h100", "6 months", "node: {}", {241_000: "", 242_000: "warning"}),
        ("dgx-h100", "6 months", "node: {}, node_hour: 25", {242_000: ""}),
    ],
)
def test_the_low_end_of_a_price_is_held_against_rents_and_purchases(
    platform: str, term: str, prices: str, severity: dict[int, str], check: Check
) -> None:
    for price, wanted in severity.items():
        for written in (f"{price}", f"[{price}, {4 * price}]"):
            text = f"clusterspec: 1\ncluster: {{platform: {platform}, nodes: 16}}\nprocurement: {{currency: USD, "
            text += f"as_of: 2026-11-01, term: {term}, prices: {{{prices.format(written)}}}}}\n"
            found = [
                str(one.severity)
                for one in check(text, "purchase-dearer-than-rent")
                if one.rule == "purchase-dearer-than-rent"
            ]
            assert found == ([wanted] if wanted else []), written


@each(
    "text, needed",
    [
        ("The 640 TB are in the cellar. They are copied over 2 Gb/s in the two weeks before the start.", "30 days"),
        ("The 640 TB are in the cellar. They are copied over 10 Gb/s in the two weeks before the start.", ""),
        ("Die 900 TB werden in den drei Wochen vor der Abnahme über 2 Gb/s übertragen.", "42 days"),
        ("Die 300 TB werden in den drei Wochen vor der Abnahme über 2 Gb/s übertragen.", ""),
        ("2 PB go by drives; the last 20 TB are copied over 1 Gb/s in 4 days.", ""),
        ("The store holds 500 TB. Delivery takes two weeks.", ""),
    ],
)
def test_a_copy_of_the_description_fits_its_window(text: str, needed: str, check: Check) -> None:
    # 640e12 B × 8 / 2e9 / 86,400 = 29.6; 900e12 × 8 / 2e9 / 86,400 = 41.7
    spec = f"clusterspec: 1\ndescription: {text}\ncluster: {{platform: dgx-h100, nodes: 4}}\n"
    spec += "procurement: {currency: EUR, term: 1 year}\n"
    found = [one.message for one in check(spec, "migration-exceeds-window") if one.rule == "migration-exceeds-window"]
    assert [needed in one for one in found] == [True] * bool(needed), found
