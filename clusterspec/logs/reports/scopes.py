"""Where a report says that a run works and where it fails: on one node, with one accelerator, or only on some nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.reports.outcomes import HELPED, WORSE, outcome_of
from clusterspec.logs.reports.trials import clauses_of, report_lines
from clusterspec.logs.text_lines import shown_line

SCOPE = "scope "
"""The prefix of the names of these statements."""
_NODES = r"(?:nodes?|hosts?|machines?|servers?)\b"
_PARTS = r"(?:GPU|NPU|accelerator|card|device)s?\b"
SCOPES = (
    (
        "one-node",
        rf"\b(?:single|one|1|each|same|any one)[- ]{_NODES}|\bintra-?node\b|\bwithin (?:a|one|each|the) node\b",
        rf"\b(?:multi|two|2|three|3|four|4|several|both|different|multiple)[- ]{_NODES}|\binter-?node\b"
        rf"|\b(?:across|between) (?:the )?{_NODES}",
    ),
    (
        "one-device",
        rf"\b(?:single|one|1)[- ](?:rank\b|{_PARTS})|\b(?:TP|tp)[ =_-]?(?:size)?[ =]?1\b",
        rf"\b(?:multi|two|2|4|8|several|multiple)[- ]{_PARTS}",
    ),
    (
        "some-nodes",
        rf"\b(?:all )?(?:the )?(?:other|remaining|rest of the) {_NODES}",
        r"\b(?:only|just|always) (?:\w{1,12} ){0,2}(?:on|for|with|between|when) (?:\w{1,12} ){0,2}"
        rf"(?:some|certain|specific|this|that|one|these|those|particular)(?: \w{{1,12}}){{0,2}} (?:pairs?\b|{_NODES})",
    ),
    (
        "outside-container",
        r"\b(?:on the host|bare[- ]metal|outside (?:of )?(?:the |a )?(?:docker|container|pod)"
        r"|without (?:docker|container)s?)\b",
        r"\b(?:in|inside|within) (?:the |a )?(?:docker|container|pod)s?\b",
    ),
    (
        "slower-network",
        r"\b(?:over|with|using|on|via|through) (?:the |a |plain |normal )?(?:LAN|Ethernet|TCP|sockets?|IPoIB"
        r"|(?:1|10) ?(?:G|Gb|GbE|Gbps)\b(?: \w{2,10})?|management network)\b",
        r"\b(?:over|with|using|on|via|through|to) (?:the )?(?:Thunderbolt|InfiniBand|IB|RoCE|RDMA|EFA|Slingshot"
        r"|[1248]00 ?(?:G|Gb|GbE|Gbps))\b",
    ),
    (
        "small-sizes",
        r"\b(?:small(?:er)?|tiny|short(?:er)?) (?:\w{2,12} )?(?:messages?|sizes?|tensors?|buffers?"
        r"|transfers?|payloads?)\b"
        r"|\b(?:up to|below|under|less than|smaller than) [0-9.]{1,6} ?[KMG]i?B?\b",
        r"\b(?:large(?:r)?|big(?:ger)?|long(?:er)?) (?:\w{2,12} )?(?:messages?|sizes?|tensors?|buffers?"
        r"|transfers?|payloads?)\b"
        r"|\b(?:above|over|beyond|larger than|more than|starting (?:at|from)) [0-9.]{1,6} ?[KMG]i?B?\b",
    ),
    (
        "few-nodes",
        rf"\b(?:a few|fewer|up to [0-9]{{1,4}}|a small number of|(?:with|on|over) (?:only )?(?:2|two|3|three|4|four))"
        rf" {_NODES}",
        rf"\b(?:more than|above|beyond|at least) (?:[0-9]{{1,4}}|two|four|eight) {_NODES}|\bmany {_NODES}"
        r"|\b(?:at|on a) (?:large|larger) scale\b",
    ),
    (
        "one-of-devices",
        rf"\b(?:all )?(?:the )?(?:other|remaining|rest of the) (?:[0-9]{{1,2}} )?(?:NICs?\b|{_PARTS})",
        rf"\b(?:only|just|always) (?:\w{{1,12}} ){{0,2}}(?:on|for|with|one|this|that"
        rf"|the same) (?:of the )?(?:NIC\b|{_PARTS})",
    ),
    ("link-tests", r"\b(?:ib_(?:write|read|send)_\w{2,10}|perftest|ibping|rping)\b", r"(?!)"),
    ("library-tests", r"\b(?:nccl|rccl)[-_]tests?\b|\ball_reduce_perf\b", r"(?!)"),
)
"""Names of scopes, the words of where a run works, and of where it fails."""
_COMPILED = tuple((name, re.compile(works), re.compile(fails)) for name, works, fails in SCOPES)


def scope_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The scopes that sentences of a text report, each once, with its words and its line.

    >>> list(scope_statements("On a single node everything works, but across nodes it hangs."))
    [('scope one-node', 'On a single node everything works', 1)]
    """
    found: set[str] = set()
    for number, line in report_lines(text):
        for clause in clauses_of(line):
            for name in _scopes_of_clause(clause):
                if name not in found:
                    found.add(name)
                    yield f"{SCOPE}{name}", shown_line(clause.strip()), number


def _scopes_of_clause(clause: str) -> Iterator[str]:
    """The names of the scopes that a clause reports.

    >>> list(_scopes_of_clause("it fails on multiple nodes")), list(_scopes_of_clause("multiple nodes are planned"))
    (['one-node'], [])
    """
    outcome, worse = outcome_of(clause), WORSE.search(clause) is not None
    for name, works, fails in _COMPILED:
        if (outcome == HELPED and works.search(clause)) or (worse and fails.search(clause)):
            yield name
