"""What people write of a run: what they changed, and whether it helped.

A post about a run that fails has a log and sentences. "With NCCL_P2P_DISABLE=1 it works" is an experiment, whose result
tells more of the cause than the lines of the log. Advice, questions and conditions are no reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from clusterspec.logs.change_words import CHANGES, RELEASES
from clusterspec.logs.text_lines import lines_of, shown_line
from clusterspec.records import NamedTuple

CHANGE = "change "
"""How the names of these statements begin; the change and its outcome follow."""
HELPED, UNCHANGED, BEGAN, HARMED = "helped", "unchanged", "began", "harmed"
"""Outcomes: the run works with the change; it fails as before; it fails since; it works without it."""
MOST_LINES = 4_000
"""Lines of a text that are read: longer ones are logs, whose first and last lines may be a report."""
NARROWEST, WIDEST = 12, 1_200
"""Characters of a line of a report."""
FEWEST_WORDS = 2
"""Words of a sentence, those of paths, options and settings aside."""
FEWEST_CHARACTERS = 4
"""Chinese characters of a sentence."""
NEAR = 2
"""Lines between a change and its outcome."""
_LOGGED = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE|CALL)\b|^\s{0,8}(?:\[|\(\w{1,40} pid|[#|$>+*]{1,3}\s?(?:[A-Z_]{2,40}=|sudo"
    r"|\./)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]|[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8} |[A-Z]{4,8}[: ]{1,3}\S{0,60}:[0-9]"
    r"|Traceback|Caused by|File \"|(?:[\w.]{1,60})?(?:Error|Exception|Warning): )"
    r"|^\S{1,80}:[0-9]{1,9}:[0-9]{1,9}[ :]|\b(?:INFO|WARNING|ERROR|DEBUG)\b|\.(?:cc|cpp|cu|h|go|py|rs):[0-9]"
    r"|\b\w{0,40}(?:Error|Exception): |^\s{0,8}\(\w{1,40}\) "
    r"|(?:^|: )(?:[Ee]rror|[Ff]atal|FATAL|[Ww]arning|WARN)\b.{0,20}: "
)
"""How lines of logs begin, or what they have."""
_WORD = re.compile(r"(?<![\w./=-])[A-Za-z][a-z']{1,20}(?![\w/=(-])")
_SET = re.compile(r"\b[A-Z][A-Z0-9_]{5,40} ?= ?\S")
"""A setting, to which one word is enough for a sentence."""
_COMMAND = re.compile(r"\s{0,8}(?:[$>] )?(?:export |sudo |modprobe |docker run |sysctl )")
"""A command, which a sentence before it may introduce."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SENTENCE = re.compile(
    r"(?<=[.!?;])\s+(?=[A-Z`*_(\"'-]|[a-z]{2})|[。；！？]|,? \b(?:but|however|whereas|although|though)\b|，|: (?=[a-z])"
)
_MODAL = re.compile(
    r"\b(?:may|might|should|could|would|perhaps|maybe|possibly|recommend\w{0,4}|suggest(?:s|ed|ing)?|consider"
    r"|expect(?:ed)?"
    r"|let me|will (?:try|test|check)|going to)\b|\b(?:can|could|did|have|do|would) you\b"
    r"|(?:^|[.:,;] {0,2})(?:[-*] )?(?:please |then |also |just )?try\b|\bif (?:you|it|this|that|the)\b|\?\s*$"
    r"|\b[Ww](?:hy|hat|hich|hether|here) (?:does|do|is|are|did|can)\b|\bto (?:test|check|see|confirm) (?:if|whether"
    r"|it)\b",
    re.IGNORECASE,
)
"""Words of advice, of a question, or of what was not tried."""
_SOLVED = re.compile(
    r"\b(?:fix(?:es|ed)?|solv(?:es?|ed|ing)|resolv(?:es?|ed|ing)|workaround|work(?:s|ed)? around|solution|(?:goes"
    r"|went|go) away"
    r"|gone|disappear(?:s|ed)?|did the trick|over(?:came|come)|g[eo]t around|bypass(?:es|ed)?|cure[ds]?"
    r"|eliminat(?:es|ed))\b"
    r"|(?:\b(?:no longer|never|not|without)|n't|n’t) (?:\w{2,10} )?(?:hang|fail|crash|freez|stuck|error|problem"
    r"|issue|dead)\w{0,8}"
    r"|(?:\b(?:not|never|no longer)|n't|n’t) (?:\w{2,10} )?(?:happen|occur|appear|reproduc)\w{0,4}"
    r"|\b(?:hang|fail|crash)(?:s|ed|ing)? (?:no more|anymore|any more)\b|解决|修复",
    re.IGNORECASE,
)
"""Words of an end of what failed."""
_WORKS = re.compile(
    r"\bwork(?:s|ed|ing)?\b|\bhelp(?:s|ed)?\b|\bsucceed(?:s|ed)?\b|\bsuccessful(?:ly)?\b|\bas expected\b"
    r"|\bback to normal\b"
    r"|\b(?:runs?|ran|trains?|trained|goes|went|complete[sd]?|finish(?:es|ed)|start(?:s|ed)|is|are|was|were|all"
    r"|everything)"
    r" (?:\w{2,12} )?(?:fine|well|ok|okay|through|normal(?:ly)?|correctly|good|perfect(?:ly)?|smoothly)\b"
    r"|\b(?:able to|can now|could) (?:run|train|start|finish|complete|reach|get)\b|可以了|正常",
    re.IGNORECASE,
)
_FASTER = re.compile(
    r"\b(?:bandwidth|busbw|speed|throughput|performance|perf|it|result|training)\b.{0,60}\b(?:improve[sd]?"
    r"|increase[sd]?"
    r"|double[sd]?|recover(?:s|ed)|restored?|jump(?:s|ed)|rose|reach(?:es|ed)?|went up|goes up|faster|better|full)\b"
    r"|\b(?:brought|brings|gives?|gave|get|got)\b.{0,40}\b(?:full|expected|line rate|faster|better|back)\b",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:hangs|hung|(?:will|would|to|also|always|again|just|it|they|runs?|jobs?|tests?|ranks) hang|hanging|freezes"
    r"|froze"
    r"|crash(?:es|ed)|fail(?:s|ed)?|deadlock(?:s|ed)?|time[sd]? out|(?:gets?|got|is|are|was|were|stays?) stuck|stuck"
    r"|broke[n]?|breaks|stop(?:s|ped) working|not work(?:ing)?|slow(?:er|ed|s)?|drop(?:s|ped)|degrad(?:es|ed)|halved)\b"
    r"|报错|卡住|失败",
    re.IGNORECASE,
)
_HANGS = re.compile(
    r"\b(?:hangs|hung|hanging|(?:training|job|run|it|they|script|program|process(?:es)?|test) (?:just |always "
    r"|randomly )?hang"
    r"|freezes|frozen|deadlocks?|(?:gets?|got|is|are|was|keeps?) (?:\w{4,8} )?(?:stuck|blocked|frozen))\b"
    r"|\bno (?:further |more )?"
    r"(?:output|progress)\b|\bnothing (?:more |else )?(?:happens|is printed)\b|\bdoes(?: not|n't) (?:proceed"
    r"|progress|continue)\b"
    r"|卡住|卡死|挂起",
    re.IGNORECASE,
)
"""Words of a run that neither ends nor goes on."""
_SAME = re.compile(
    r"\b(?:no|not any|n't any|without(?: any)?|zero) (?:effect|change|difference|improvement|luck|success|help"
    r"|impact|use|avail)\b"
    r"|\bto no avail\b|\bin vain\b|\b(?:same|similar) (?:error|issue|problem|result|hang|behaviou?r|thing|outcome"
    r"|failure|timeout)"
    r"|\b(?:does|did|do|has|have)(?: not|n't|n’t) (?:\w{2,12} )?(?:work|help|fix|solve|resolve|change|matter|seem"
    r"|make)\w{0,3}\b"
    r"|\b(?:is|are|was|were)(?: not|n't|n’t) (?:the |a )?(?:fix|solution|help\w{0,3}|work\w{0,3}|solved|fixed"
    r"|resolved)\b"
    r"|\b(?:persist|remain|continue)(?:s|ed)?\b|\bunchanged\b|\bnothing (?:change|help|work)\w{0,2}\b"
    r"|\bstill (?:\w{2,12} )?(?:hang|fail|stuck|crash|get|got|the|same|happen|occur|slow|see|there|not|no|error"
    r"|exist|have|times?)"
    r"|\b(?:no|not) work(?:ing)?\b|没用|没有用|无效|还是",
    re.IGNORECASE,
)
_WITHOUT = re.compile(
    r"\b(?:without|unset(?:ting)?|unless|remov(?:e[ds]?|ing)|dropp?(?:ed|ing)?|delet(?:e[ds]?|ing)"
    r"|no longer set(?:ting)?"
    r"|not set(?:ting)?|n't set|comment(?:ed|ing)? out)(?: (?:the|setting|using|passing|export|env\w{0,12}"
    r"|variables?|my|any"
    r"|of|flag|option)){0,4}[ `'\"*(]{0,4}(?:export )?(?:-x )?$",
    re.IGNORECASE,
)
_SETTING = re.compile(r"-|[A-Z_]{3,40}\b|\w{1,40} ?=|\w{1,40}_")
"""A variable or an option, which can be left out."""
_OTHERWISE = re.compile(r"\b(?:otherwise|without (?:it|that|this)|or else|if not|if I don)\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|after|once|when|ever since)\b", re.IGNORECASE)
_ENOUGH = re.compile(
    r"work|hang|hung|fix|solv|help|fail|same|gone|away|trick|still|effect|difference|avail|around|succe"
    r"|stuck|improv|faster|fine|crash|error|normal|persist|slow|drop"
    r"|back|brought|recover|reach|double|increas|happen|occur|appear|complete|run|train|解决|可以|over(?:came|come)"
    r"|around|bypass|没|还是",
    re.IGNORECASE,
)
"""Parts of words of which every clause with an outcome has one."""


class _Clause(NamedTuple):
    """A part of a sentence, and the number of its line."""

    text: str
    line: int


@cache
def _change_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of changes, compiled when a text has sentences that may report one."""
    return tuple((name, re.compile(words, re.IGNORECASE)) for name, words in CHANGES)


def change_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The reported changes of a text with their outcomes, the sentence, and its line.

    A change that helps and does not help in the same text is left out: it decides nothing.

    >>> [each[0] for each in change_statements("It hangs. With NCCL_P2P_DISABLE=1 it works.")]
    ['change no-peer-access helped']
    >>> [each[0] for each in change_statements("You could try NCCL_P2P_DISABLE=1, which may help.")]
    []
    """
    found: dict[str, dict[str, _Clause]] = {}
    for change, outcome, clause in _reported_outcomes(text):
        found.setdefault(change, {}).setdefault(outcome, clause)
    for change, outcomes in found.items():
        if HELPED not in outcomes or outcomes.keys().isdisjoint({UNCHANGED, HARMED}):
            for outcome, clause in outcomes.items():
                yield f"{CHANGE}{change} {outcome}", shown_line(clause.text), clause.line


def reported_hang(text: str) -> tuple[str, int] | None:
    """The first sentence that reports a run that does not go on, with its line; None without any.

    >>> reported_hang("It works on one node.\\nWith two nodes the training hangs.")
    ('With two nodes the training hangs.', 2)
    >>> reported_hang("If it hangs, set NCCL_DEBUG=INFO.")
    """
    for clause in _written_clauses(text):
        if _HANGS.search(clause.text) and not _MODAL.search(clause.text) and _outcome(clause.text) != HELPED:
            return shown_line(clause.text), clause.line
    return None


def _reported_outcomes(text: str) -> Iterator[tuple[str, str, _Clause]]:
    """Changes, outcomes and the clauses that report them.

    The outcome may be in the clause after that of the change, and a solution in the clause before it.
    """
    last, pending, solved = -NEAR, dict[str, bool](), False
    for clause in _written_clauses(text):
        if clause.line > last + NEAR:
            pending, solved = {}, False
        last = clause.line
        advice = _MODAL.search(clause.text) is not None
        named = {} if advice else _named_changes(clause.text)
        outcome = None if advice else _outcome(clause.text)
        if named and not outcome and solved:
            outcome = HELPED
        elif not named and outcome in (HELPED, UNCHANGED):
            named, pending = pending, {}
        for change, unset in named.items() if outcome else ():
            if told := _outcome_of(change, unset, outcome or "", clause.text):
                yield change, told, clause
        pending = named if not outcome else {}
        solved = bool(outcome and not named and _SOLVED.search(clause.text))


def _written_clauses(text: str) -> Iterator[_Clause]:
    """The clauses of the sentences in a text."""
    for number, line in report_lines(text):
        for part in _SENTENCE.split(line):
            yield _Clause(part.strip(), number)


def report_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that a person may have written, with their numbers; of a long text the first and last."""
    lines = list(enumerate(lines_of(text), 1))
    if len(lines) > MOST_LINES:
        lines = lines[: MOST_LINES // 2] + lines[-(MOST_LINES // 2) :]
    return ((number, line) for number, line in lines if NARROWEST <= len(line) <= WIDEST and is_sentence(line))


def is_sentence(line: str) -> bool:
    """Whether a person may have written a line, rather than a program.

    >>> is_sentence("I tried this on two nodes"), is_sentence("n1:2:2 [0] NCCL INFO Using network Socket")
    (True, False)
    """
    if _LOGGED.search(line):
        return False
    if _COMMAND.match(line):
        return True
    return (
        len(_WORD.findall(line)) >= (1 if _SET.search(line) else FEWEST_WORDS)
        or len(_CHINESE.findall(line)) >= FEWEST_CHARACTERS
    )


def _named_changes(clause: str) -> dict[str, bool]:
    """The changes that a clause names, each with whether it is one that was undone or left out. "Without disabling peer
    access" names a feature that is on, rather than a change.
    """
    found = {}
    for name, words in _change_patterns() if clause else ():
        if match := words.search(clause):
            unset = _WITHOUT.search(clause[: match.start()]) is not None
            if not unset or _SETTING.match(match[0]):
                found[name] = unset
    return found


def _outcome(clause: str) -> str | None:
    """Whether a clause reports success or failure; None if it reports neither."""
    if not _ENOUGH.search(clause):
        return None
    if _SAME.search(clause):
        return UNCHANGED
    if _SOLVED.search(clause):
        return HELPED
    works = _WORKS.search(clause) or _FASTER.search(clause)
    fails = _FAILS.search(clause)
    if works and fails:
        return HELPED if _OTHERWISE.search(clause) else BEGAN if _SINCE.search(clause) else None
    return HELPED if works else BEGAN if fails and _SINCE.search(clause) else UNCHANGED if fails else None


def _outcome_of(change: str, unset: bool, outcome: str, clause: str) -> str | None:
    """The outcome of a change in a clause: of one that was undone it is the opposite."""
    if outcome == BEGAN:
        return BEGAN if change in RELEASES and not unset else UNCHANGED if _SAME.search(clause) else None
    if not unset:
        return outcome
    return HARMED if outcome == HELPED else HELPED
