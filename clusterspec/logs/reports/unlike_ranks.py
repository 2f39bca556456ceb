"""What people report of a part of the ranks, hosts or devices that the others do not do, or of work past a limit.

A run in which all take part waits for each of them: less work, a later start, a read that takes longer or a call that
one leaves out stops or slows all of them. The words are of three kinds: a part of those that take part, what is unlike,
and whether the sentence is of a case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.reports.outcomes import HELPED, outcome_of
from clusterspec.logs.reports.report_sentences import report_sentences
from clusterspec.logs.text_lines import shown_line

UNEVEN = "uneven "
"""The prefix of the names of these statements; what is unlike follows."""
_MEMBER = r"(?:ranks?|process(?:es)?|workers?|GPUs?|NPUs?|devices?|tasks?|replicas?|pods?)"
_HOST = r"(?:nodes?|hosts?|machines?|servers?|instances?|VMs?)"
_ANY = rf"(?:{_MEMBER}|{_HOST})"
_PART = (
    rf"(?:(?:some|one|other|another|certain|a few|only one|a single|each|different|not all|the (?:first"
    rf"|last|other|slowest"
    rf"|faster|fastest)) (?:of (?:the |our )?)?(?:\w{{2,12}} )?{_ANY}|{_ANY} [0-9]{{1,5}}|rank[- ]zero)"
)
_WORK = (
    r"(?:batch(?:es)?|micro-?batch(?:es)?|samples?|rows?|steps?|iterations?|examples?|sequences?|shards?|data|items?)"
)
_LESS = r"(?:fewer|less|more|smaller|larger|shorter|longer|different|unequal|uneven|unlike|no|zero)"
_READ = r"(?:read|load|restor|download|sav|writ|fetch|compil|initiali[sz]|preprocess|tokeni[sz])(?:e?s|ing|ed)?"
_WAIT = (
    r"(?:wait(?:s|ed|ing)?|barrier|block(?:s|ed|ing)?|held|hold(?:s|ing)?|others?|behind|time(?:s|d)? out|stuck|hang)"
)
KINDS = (
    (
        "data",
        rf"\b{_PART}\b.{{0,60}}\b{_LESS} (?:\w{{2,12}} ){{0,2}}{_WORK}\b"
        rf"|\bno (?:more )?{_WORK} (?:left )?(?:for|on) (?:that|this|one|some|the other) {_ANY}\b"
        rf"|\b{_LESS} (?:numbers?|amounts?|counts?|lengths?) of {_WORK}.{{0,40}}\b(?:on|for|per|across|between|among) "
        rf"(?:the |each |all |different )?{_ANY}\b"
        rf"|\b{_WORK} (?:are|is)(?: not|n't) (?:\w{{2,10}} )?(?:even|equal|balanced|divisible)\b"
        rf"|\b{_ANY}.{{0,30}}\b(?:runs?|ran|running) out of {_WORK}\b",
    ),
    (
        "start",
        rf"\b{_ANY}\b.{{0,40}}\b(?:starts?|started|launch(?:es|ed)?|boots?|booted|scheduled|comes? up|came up"
        rf"|joins?|joined"
        r"|ready)\b.{0,30}\b(?:at (?:a )?different times?|not at the same time|later than|minutes (?:later|after)"
        r"|much later|before the (?:others?|rest))"
        r"|(?:启动|开始)(?:的)?时间(?:不同|不一样|不一致|不统一)|没有同时启动",
    ),
    (
        "limit",
        r"\b(?:compil\w{1,6}|load(?:s|ing)?|download\w{0,3}|warm-?up|initiali[sz]\w{1,6}|tokeni[sz]\w{1,6}"
        r"|preprocess\w{0,3}"
        r"|first (?:step|iteration|batch))\b.{0,80}\b(?:exceed(?:s|ed|ing)?|(?:longer|more) than|outlasts?"
        r"|passe[sd])\b.{0,40}"
        r"\b(?:time ?outs?|limits?|heartbeats?|deadlines?)\b",
    ),
    (
        "time",
        rf"\b(?:takes?|took|taking|needs?|lasts?)\b.{{0,40}}\b(?:longer|more time|minutes"
        rf"|hours)\b.{{0,20}}\b(?:on|for|in)"
        rf" (?:(?:specific|certain|some|one|a few|the slow\w{{0,3}}|the first"
        rf"|the last) (?:of (?:the )?)?(?:[A-Z]{{1,3}} )?{_ANY}\b"
        rf"|(?:rank|GPU|node) ?[0-9])|\b(?:rank|start-?up) skew\b|\bskew (?:between|of"
        rf"|among) (?:the )?(?:ranks|processes)\b",
    ),
    (
        "call",
        rf"\b(?:the )?(?:other|remaining|rest of the) {_ANY}\b.{{0,20}}\b(?:time ?out|times out|timed out"
        rf"|waits? (?:forever|for))"
        rf"|\b{_PART}\b.{{0,20}}\b(?:enter|take|call|reach|post)(?:s|es|ed)?\b.{{0,60}}\b(?:branch|others?)\b"
        rf"|\b{_PART}\b.{{0,40}}\b(?:skips?|skipped|leaves?|left|exits?|exited|returns?|returned|breaks?"
        rf"|never (?:calls?|enters?"
        r"|posts?|reaches?|reached|gets? to)|does(?: not|n't) (?:call|enter|reach|take part|participate)"
        r"|calls? it twice)\b"
        r".{0,80}\b(?:collective|all-?reduce|all-?gather|broadcast|barrier|branch|loop|forward|backward"
        r"|early|step|iteration)\b",
    ),
    (
        "reading",
        rf"\b{_PART}(?:'s|’s)?\b.{{0,40}}\b{_READ}\b.{{0,80}}\b{_WAIT}\b"
        rf"|\b{_PART}(?:'s|’s)?\b.{{0,30}}\b(?:still|stalled|slow) (?:in |at |while )?{_READ}\b"
        rf"|\b{_PART}(?:'s|’s)? (?:checkpoint |data |file )?(?:read|load|write|restore|download)s? "
        r"(?:stalled|hung|took|stuck|was slow)",
    ),
)
"""What is unlike, and the words of sentences that report it."""
_COMPILED = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in KINDS)
_MEMBERS = re.compile(rf"\b{_ANY}\b|机|节点|进程|[Tt]ime ?out|limit", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<=[.!?;])\s+|[。；！？]")
_NOT_TOLD = re.compile(
    r"\?\s*$|\b(?:if|whether|should|could|would|may|might|can (?:you|i|we|some|this|it|there)|make sure|ensure|please"
    r"|must)\b",
    re.IGNORECASE,
)
"""Words of a question, a condition or advice."""


def uneven_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """What sentences report of a part of the ranks, each kind once, with the sentence and its line.

    >>> list(uneven_statements("It hangs since some ranks have fewer batches than the others."))
    [('uneven data', 'It hangs since some ranks have fewer batches than the others.', 1)]
    >>> list(uneven_statements("Can some ranks have fewer batches?"))
    []
    """
    found: set[str] = set()
    for number, line in report_sentences(text):
        for sentence in _CLAUSE.split(line) if _MEMBERS.search(line) else ():
            if _NOT_TOLD.search(sentence) or outcome_of(sentence) == HELPED:
                continue
            for kind, words in _COMPILED:
                if kind not in found and words.search(sentence):
                    found.add(kind)
                    yield f"{UNEVEN}{kind}", shown_line(sentence.strip()), number
                    break
