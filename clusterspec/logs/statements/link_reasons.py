"""Reasons of ports that are down, as tools of hosts and switches print them: `ethtool`, `mlxlink`, NVOS and tests.

The words are those of the kernel's link states (ethtool, `netlink/settings.c`) and of the status opcodes of NVIDIA's
ports (Mellanox/mstflint, `reg_access_ext` `pddr_monitor_opcode`; NVIDIA DOCA, `doca_telemetry_phy`). A host may have
ports without a cable on purpose, so the reason by itself is never certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.statements.catalogued_messages import MESSAGE

_BEFORE = (
    r"(?:Link detected: no \((?:[\w ]{1,40}, )?|\bRecommendation\s{1,40}: ?(?:\x1b\[[0-9;]{1,8}m)?"
    r"|not in valid HW state \(|\"status\": ?\")"
)
"""Words before a reason: the words of ethtool, of mlxlink, of a test of a host and of NVOS."""
REASONS = (
    # the link trains, or has trained, and its signal is bad; the module or its cable is not one that the port takes
    (
        ("unstable-link shows",),
        r"Bad signal integrity|Large number of physical errors|[Ss]ignal not detected|Link training failure"
        r"|(?:Link )?[Ll]ogical mismatch|KR \w.{1,40}|PCS did not .{1,30}|(?:FC|RS) FEC is not locked|Serdes .{1,30}"
        r"|Remote (?:fault|side) .{1,24}|Peer is sending remote faults|Speed degradation|[Ll]ink not healthy"
        r"|[Mm]odule[_ ]lanes.{1,30}|Cable (?:issue|test failure)|Shorted cable|(?:EEPROM|Module) (?:issue|.{,20}fault)"
        r"|Bad/unsupported EEPROM|Bus stuck.{0,40}|Unsupported cable|Cable/transceiver is not supported"
        r"|Long [Rr]ange for non.{1,24}|Cable compliance code mismatch|Module temperature shutdown|Module Boot Error"
        r"|CMIS module is not .{1,24}|ELS .{1,50}",
    ),
    (("unstable-link may",), r"No cable|Cable(?:/transceiver)? is unplugged"),
    # both ends must be set alike
    (
        ("unstable-link shows", "invalid-setting may"),
        r"(?:Autoneg|[Aa]uto-[Nn]egotiation failure|Negotiation failure|No partner detected|Ack not received"
        r"|Next page exchange failed|AN failure)\b.{0,40}",
    ),
    (
        ("invalid-setting shows",),
        r"(?:The )?[Pp]ort is closed? by command|Closed by command|Management forced down the port"
        r"|Module is disabled by command|Module Forced to Low Power.{0,16}|No HCD|Unsupported rate"
        r"|FEC mismatch during override|Invalid[_ ]Port[_ ]Speed.{1,20}|Module.s PMD type is not enabled.{0,20}",
    ),
    (
        ("nic-fault shows",),
        r"Calibration failure|[Ii]nternal error|Overheat|(?:Power budget|System Power is|pcie system power slot)"
        r" [Ee]xceeded.{0,50}|serdes (?:uphy|ophy) fatal.{0,16}",
    ),
)
"""Causes, each with the weight of a reason for it, and the reasons."""


def link_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The names of statements and the patterns of lines that give a reason for a failed link.

    >>> [name for name, line in link_patterns() if line.search("Link detected: no (Bad signal integrity)")]
    ['message unstable-link shows']
    """
    for causes, words in REASONS:
        for cause in causes:
            yield f"{MESSAGE}{cause}", re.compile(rf"({_BEFORE}(?:{words}))")
