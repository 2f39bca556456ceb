"""Milestones of a delivery in their order: each pair at its limit, in weeks and in days, counted by hand."""

from __future__ import annotations

from clusterspec import rules
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-b200, nodes: 24{keys}}}
operations: {{burn_in: 7 days}}
procurement:
  currency: USD
  as_of: 2026-11-02
  delivery: {{milestones: [{milestones}]}}
"""
RULE = "milestones-out-of-order"
LIQUID = ", power: {cooling: liquid}"


@each(
    ("milestones", "keys", "text", "words"),
    [
        # the last servers three weeks before the first racks
        ("week 3: servers; week 6: racks", "", "x", "the servers arrive 3 weeks before the racks"),
        ("week 4: servers; week 6: racks", "", "x", ""),
        ("servers 2027-03-01; racks 2027-03-22", "", "x", "the servers arrive 21 days before the racks"),
        ("servers 2027-03-02; racks 2027-03-22", "", "x", ""),
        ("week 1: servers; week 4: servers; week 6: racks", "", "x", ""),
        ("week 1: servers; week 4: racks; week 9: racks", "", "x", "the servers arrive 3 weeks before"),
        ("week 1: servers and racks; week 9: racks", "", "x", ""),
        ("week 1: servers; week 9: racks of the servers", "", "x", ""),
        ("week 6: racks", "", "x", ""),
        # a load before the loop of liquid-cooled nodes is filled
        ("week 5: loop filled; week 4: burn-in", LIQUID, "x", "the nodes run under load 1 week before the coolant"),
        ("week 5: loop filled; week 5: burn-in", LIQUID, "x", ""),
        ("week 5: loop filled; week 4: burn-in", "", "x", ""),
        ("week 5: loop filled; week 9: loop filled; week 7: burn-in", LIQUID, "x", ""),
        ("week 9: loop filled; week 7: burn-in; week 8: burn-in", LIQUID, "x", "2 weeks before"),
        ("week 9: loop filled; week 7: loop filled and burn-in", LIQUID, "x", ""),
        ("loop filled 2027-03-09; burn-in 2027-03-05", LIQUID, "x", "4 days before the coolant"),
        ("week 7: burn-in", LIQUID, "x", ""),
        # sent before the license, installed before the customs
        ("week 5: export license; week 4: machines leave", "", "x", "sent 1 week before the license"),
        ("week 5: export license; week 5: machines leave", "", "x", ""),
        ("week 3: export license; week 5: export license; week 4: machines leave", "", "x", "1 week before"),
        ("week 5: export license; week 4: machines leave; week 2: parts sent", "", "x", "3 weeks before"),
        ("week 5: customs; week 4: servers installed", "", "x", "installed 1 week before the customs release"),
        ("week 5: customs; week 5: servers installed", "", "x", ""),
        ("week 5: customs; week 4: racks installed", "", "x", ""),
        ("week 5: customs; week 4: servers installed; week 2: servers installed", "", "x", "3 weeks before"),
        ("week 3: customs; week 5: customs; week 4: servers installed", "", "x", "1 week before"),
        ("week 5: servers installed after customs in week 6; week 9: customs", "", "x", ""),
        # servers in all: 24
        ("16 servers in week 17; 7 servers in week 20", "", "x", "deliver 23 servers, but the design has 24"),
        ("16 servers in week 17; 8 servers in week 20", "", "x", ""),
        ("16 servers in week 17", "", "x", ""),
        ("16 servers in week 17; rest of the servers in week 20; 2 servers in week 21", "", "x", ""),
        ("16 servers in week 17; rest of the cables in week 20; 2 servers in week 21", "", "x", "deliver 18 servers"),
        (
            "servers 1-16 in week 17; servers 17-23 in week 20",
            "",
            "x",
            "servers up to number 23, but the design has 24",
        ),
        ("servers 1-16 in week 17; servers 17-24 in week 20", "", "x", ""),
        ("servers 17-23 in week 20; servers 1-16 in week 17", "", "x", "servers up to number 23"),
        ("servers 1-16 in week 17", "", "x", ""),
        ("servers 1-16 in week 17; servers 17-17 in week 18", "", "x", ""),
        ("servers 1-16 in week 17; servers 17-23 in week 20; the rest in week 22", "", "x", ""),
        # a lease before the last servers
        ("servers 2027-03-15", "", "The lease starts on 2027-03-14.", "starts on 2027-03-14, 1 day before the last"),
        ("servers 2027-03-15", "", "The lease starts on 2027-03-15.", ""),
        ("servers 2027-03-01; servers 2027-03-15", "", "The lease starts on 2027-03-10.", "5 days before the last"),
        ("servers 2027-03-15; lease starts 2027-03-01", "", "x", "starts on 2027-03-01, 14 days before"),
        ("servers 2027-03-15", "", "The lease starts on 2027-03-14, the rental starts on 2027-03-13.", ""),
        ("racks 2027-03-15", "", "The lease starts on 2027-03-14.", ""),
        # the acceptance after a burn-in of seven days, and after the last servers
        ("servers 2027-03-15; acceptance 2027-03-21", "", "x", "the acceptance is 6 days after the last servers"),
        ("servers 2027-03-15; acceptance 2027-03-22", "", "x", ""),
        ("servers 2027-03-15; acceptance 2027-03-15", "", "x", "is 0 days after"),
        ("servers 2027-03-15; acceptance 2027-03-14", "", "x", "in use 1 day before the first servers or racks arrive"),
        ("servers 2027-03-01; servers 2027-03-15; acceptance 2027-03-20", "", "x", "is 5 days after"),
        ("week 5: servers; week 5: acceptance", "", "x", "is 0 weeks after the last servers"),
        ("week 5: servers; week 6: acceptance", "", "x", ""),
        ("servers 2027-03-15; acceptance 2027-03-16; acceptance 2027-03-20", "", "x", ""),
        ("servers 2027-03-15; acceptance of the servers 2027-03-16", "", "x", ""),
        # the acceptance and the use of the machine after the parts that they need
        ("week 10: acceptance; week 18: first rack", "", "x", "8 weeks before the first servers or racks"),
        ("week 18: acceptance; week 18: first rack", "", "x", ""),
        (
            "acceptance in week ten; first rack in week twenty-one",
            "",
            "x",
            "11 weeks before the first servers or racks",
        ),
        ("acceptance 20 weeks ARO; servers 24 weeks ARO", "", "x", "4 weeks before the first servers"),
        ("Abnahme in Woche 10; Server in Woche 18", "", "x", "8 weeks before the first servers"),
        (
            "servers in week 8; acceptance in week 10; spine switches in week 13",
            "",
            "x",
            "3 weeks before the last parts",
        ),
        ("servers in week 8; acceptance in week 10; spare spine switches in week 13", "", "x", ""),
        ("go-live in week 7; servers in week 8", "", "x", "1 week before the first servers"),
        ("first training run in week 7; servers in week 8", "", "x", "1 week before the first servers"),
        ("training of the staff in week 7; servers in week 8", "", "x", ""),
        ("hall accepted in week 7; servers in week 8", "", "x", ""),
        ("16 nodes accepted in week 12; servers in week 18", "", "x", ""),
        ("first acceptance in week 12; servers in week 18; acceptance in week 19", "", "x", ""),
        ("acceptance in week 12; servers in week 18; acceptance in week 19", "", "x", ""),
        # the old system until the migration ends
        (
            "old store removed in week 10; migration until week 11",
            "",
            "x",
            "is removed 1 week before the migration ends",
        ),
        ("old store removed in week 11; migration until week 11", "", "x", ""),
        ("old store removed in week 10; migration week 8; migration week 12", "", "x", "2 weeks before"),
        ("store removed in week 10; migration until week 11", "", "x", ""),
        ("old store cleaned in week 10; migration until week 11", "", "x", ""),
        ("old store removed 2027-03-01; migration until 2027-03-09", "", "x", "8 days before"),
        ("old store removed in week 10; migration until week 11, then removed", "", "x", ""),
    ],
)
def test_milestones_stand_in_the_order_in_which_they_need_each_other(
    milestones: str, keys: str, text: str, words: str
) -> None:
    written = ", ".join(f'"{each}"' for each in milestones.split("; "))
    study = study_text(SPEC.format(text=text, keys=keys, milestones=written), SETTINGS)
    assert not study.loading, study.loading
    found = [problem.message for problem in rules.run_rules(study.facts(), {RULE}) if problem.rule == RULE]
    assert any(words in message for message in found) if words else found == [], found


@each(
    ("weeks", "milestones", "words"),
    [
        (20, "acceptance in week 19", "the machine is accepted or in use 1 week before the last parts arrive"),
        (20, "acceptance in week 20", ""),
        (20, "first rack in week 8; acceptance in week 10", "10 weeks before the last parts"),
        (20, "acceptance of the first rack in week 10", ""),
        # 20 weeks after 2026-11-02, when prices are known, are 2027-03-22
        (20, "acceptance 2027-03-21", "1 day before the last parts"),
        (20, "acceptance 2027-03-22", ""),
    ],
)
def test_a_machine_is_accepted_after_the_weeks_of_its_delivery(weeks: int, milestones: str, words: str) -> None:
    written = ", ".join(f'"{each}"' for each in milestones.split("; "))
    text = SPEC.format(text="x", keys="", milestones=written).replace("delivery: {", f"delivery: {{weeks: {weeks}, ")
    study = study_text(text, SETTINGS)
    found = [problem for problem in rules.run_rules(study.facts(), {RULE}) if problem.rule == RULE]
    assert [words in problem.message for problem in found] == ([True] if words else []), found
    assert all(problem.severity.value == "warning" for problem in found)


@each(
    ("text", "words"),
    [
        # 100 TB at 10 Gb/s take 0.926 days, at 1 Gb/s 9.26 days; 2 % are rounding
        ("We copy 100 TB over 1 Gb/s in 10 days.", ""),
        ("We copy 100 TB over 1 Gb/s in 9 days.", "the text has 9 days, but 100 TB take 9.3 days at 1 Gb/s"),
        ("We copy 98 TB over 1 Gb/s in 9 days.", ""),  # 9.07 days
        ("We copy 100 TB over 1000 Mb/s in 9 days.", "take 9.3 days"),
        ("We copy 100 TB over two links of 1 Gb/s in 4 days.", "take 4.6 days at 2 Gb/s"),
        ("We copy 100 TB over two links of 1 Gb/s in 5 days.", ""),
        ("We copy 100 TB over three links of 1 Gb/s in 3 days.", "at 3 Gb/s"),
        ("We copy 100 TB over four links of 1 Gb/s in 2 days.", "at 4 Gb/s"),
        ("We copy 100 TB over 3 x 1 Gb/s in 3 days.", "at 3 Gb/s"),
        ("We copy 0.1 PB over 1 Gb/s in 9 days.", "100 TB take 9.3 days"),
        ("We copy 91 TiB over 1 Gb/s in 9 days.", "take 9.3 days"),  # 100.06 TB
        ("We copy 100 TB over 1 Gb/s in one day.", ""),
        ("We copy 100 TB over 1 Gb/s in 200 hours.", "has 8 days"),
        ("We copy 100 TB over 1 Gb/s in 240 hours.", ""),
        ("We copy 200 TB over 1 Gb/s in two weeks.", "has 14 days, but 200 TB take 19 days"),
        ("We copy 200 TB over 1 Gb/s in three weeks.", ""),
        ("Wir kopieren: Übertragung von 200 TB mit 1 Gb/s in zwei Wochen.", "has 14 days"),
        ("Wir kopieren: Übertragung von 200 TB mit 1 Gb/s in drei Wochen.", ""),
        ("We copy 100 TB or 200 TB over 1 Gb/s in 9 days.", ""),
        ("We copy 100 TB over 1 Gb/s or 2 Gb/s in 9 days.", ""),
        ("We keep 100 TB behind 1 Gb/s for 9 days.", ""),
        # from the first day to the last, both counted
        ("The copy of 100 TB over 1 Gb/s starts on 2027-03-01. The old store is returned on 2027-03-10.", ""),
        ("The copy of 100 TB over 1 Gb/s starts on 2027-03-01. The old store is returned on 2027-03-09.", "has 9 days"),
    ],
)
def test_data_are_moved_in_the_days_that_the_link_needs(text: str, words: str) -> None:
    spec = SPEC.format(text=text, keys="", milestones='"week 3: servers"')
    found = rules.run_rules(study_text(spec, SETTINGS).facts(), {"migration-exceeds-window"})
    messages = [problem.message for problem in found]
    assert any(words in message for message in messages) if words else messages == [], messages
