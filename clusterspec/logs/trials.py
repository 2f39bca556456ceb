"""What a report says that was tried, and what came of it: the words of people around a log.

A sentence such as "with NCCL_P2P_DISABLE=1 it works" tells more of a cause than most lines of a log. Sentences that
advise, ask or suppose report nothing, and lines that programs print are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.text_lines import lines_of, shown_line
from clusterspec.logs.trial_words import CHANGES, OFF, PARTS, REMEDIES, TOOLS, USES, VERSION
from clusterspec.records import NamedTuple

TRIAL = "trial "
"""What the names of these statements begin with; the outcome and the name of the remedy follow."""
HELPED, VAIN = "helped", "vain"
LONGEST = 1_200
"""Characters of a line of prose that is read."""
MOST_WORDS = 240
"""Characters of a clause that may report a trial: longer ones describe something else."""
MOST_LINES = 4_000
"""Lines with the words of an outcome that are read."""
_GOOD = re.compile(
    r"\b(?:works|worked|working|fix(?:es|ed)|solve[sd]|resolve[sd]|helps|helped|succeed(?:s|ed)|(?:went|goes|gone) away"
    r"|tests? (?:\w{1,10} ){0,2}pass(?:es|ed)?|pass(?:es|ed) (?:now|both|again|fine|when|if|once|with)"
    r"|disappear(?:s|ed)|eliminate[sd]|cure[sd]|mitigate[sd]|doubles|improve[sd]|did the trick|back to normal"
    r"|workaround(?: (?:is|was)|:)|(?:got|gets|made|makes) it (?:to work|run)"
    r"|r[au]n(?:s|ning)? (?:fine|ok|okay|well|normally|correctly|successfully|through|without)"
    r"|(?:is|was|are|were|becomes|looks) (?:all )?(?:fine|ok|okay|gone|normal|good)"
    r"|no (?:more|longer any|longer) (?:hang|error|issue|problem|crash|timeout|fail|occur|happen|appear)\w{0,4}"
    r"|allow(?:s|ed)? (?:\w{1,12} ){0,5}to (?:run|work|pass|start|finish)"
    r"|reach(?:es|ed) (?:the )?(?:full|line|expected)"
    r"|(?:did|does)(?: not|n[o']t|n't) reproduce|no longer reproduces)\b|✅",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:does|did|do|is|was|has|have|could|can|would|were|are)(?: not|n[o']t|n't)(?: \w{1,10}){0,2} "
    r"(?:work|help|fix|solv|resolv|change|improv|matter|affect|make (?:a|any) diff)\w{0,5}\b"
    r"|\bno (?:effect|change|difference|luck|improvement|help|impact)\b|\bto no avail\b|\bchang(?:es|ed) nothing\b"
    r"|\bwithout (?:success|effect|any (?:effect|change|success))\b"
    r"|\bstill (?:the same|hang|fail|crash|get|see|slow|persist|happen|occur|there|broken|stuck|tim)\w{0,4}\b"
    r"|\bsame (?:error|issue|problem|result|hang|behaviou?r|failure|symptom)s?\b|\bunchanged\b|\bin vain\b"
    r"|\b(?:issue|problem|error|hang) (?:persists|remains)\b"
    r"|\bnone (?:of (?:them|these|that) )?(?:helped|worked|survived)\b"
    r"|\bonly (?:shifted|delayed|postponed)\b|\bhangs? (?:identically|too|as well|either way)\b",
    re.IGNORECASE,
)
WORSE = re.compile(
    r"\b(?:fail(?:s|ed|ing)|hangs?|hanging|hung|crash(?:es|ed|ing)|breaks|broke|broken|stuck|errors? out|time[sd] out"
    r"|slow(?:er)?|deadlocks?|regress\w{0,6}|segfaults?|errors?|happens|occurs|drops?|dropped)\b|❌",
    re.IGNORECASE,
)
"""What a run does that has the fault."""
_NEGATED = re.compile(r"(?:\bnot|n't|\bnever|\bno longer|\bstops?|\bstopped) (?:\w{1,10} )?$", re.IGNORECASE)
"""What turns a good outcome behind it round."""
_SUPPOSED = re.compile(
    r"\b(?:try|please|should|could|might|may|would|maybe|perhaps|probably|possibly|let me|let us|suggest\w{0,4}"
    r"|recommend\w{0,4}|expect\w{0,3}|want|needs? to|ha(?:ve|s) to|will|hope\w{0,4}|consider|can you|you (?:can|need)"
    r"|(?:see|check|test|verify|wonder\w{0,3}|sure|know) (?:if|whether)|not sure)\b|\?",
    re.IGNORECASE,
)
"""Words of a sentence that advises, asks or supposes."""
_IF = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
_OF_LOGS = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE)\b|\bCCL_(?:WARN|ERROR|INFO)\b|\bUCX {1,4}[A-Z]{4,5}\b"
    r"|^\s{0,8}(?:File \"|at 0x|[$#] ?\w)|(?<![\w./-])(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)(?![\w./-])"
    r"|^[EIWF][0-9]{4} |<(?:warn|info|debug)>|\b[A-Z]\w{2,60}(?:Error|Exception): |\b(?:[Ee]rror|[Ff]atal|[Ff]ailed): "
    r"|^[\w.-]{2,40}(?:\[[0-9]{1,9}\])?: |\.(?:py|cc|cpp|cu|c|h):[0-9]{1,6}\b"
)
"""Marks of lines that a program prints, and of commands."""
_CLAUSE = re.compile(
    r"(?<=[a-z0-9)`'\"\]])[.;!] |,? (?:but|however|while|whereas|though|which)\b|\s[—–-]{1,3}\s|; "
    r"|, (?=(?:it |and )?(?:works|fails|hangs)\b)"
)
_REMEDIES = tuple((name, re.compile(words)) for name, words in REMEDIES)
_PARTS = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in PARTS)
_CHANGES, _USES, _TOOLS = (re.compile(words, re.IGNORECASE) for words in (CHANGES, USES, TOOLS))
_VERSION = re.compile(VERSION)
_RELEASE = re.compile(
    rf"\b(?:{'|'.join(words for _, words in PARTS)}|version|release)(?: version| release)?(?: to| from| is| at)?"
    rf"[ =-]{{1,3}}{VERSION}",
    re.IGNORECASE,
)
"""A part and the number of its release."""
_SET = re.compile(
    r"\b(?:(?i:sett?ing|set|export(?:ed|ing)?|add(?:ed|ing)|us(?:ed|ing)|with|pass(?:ed|ing)|chang(?:ed|ing)"
    rf"|defin(?:ed|ing)|{OFF})) (?:(?:the|an?|env\w{{0,12}}|variable|flag|option|to) ){{0,3}}[`'\"]?"
    r"(?:(?!\w{1,30}_(?:DEBUG|LOG|LOG_LEVEL|DEBUG_SUBSYS|HOME|PATH)\b)[A-Z][A-Z0-9]{1,14}(?:_[A-Z0-9]{1,24}){1,8}\b"
    r"|--[a-z][a-z0-9]{1,20}(?:[-_.][a-z0-9]{1,20}){0,6}\b)"
)
"""A variable or an option that was set or taken away, other than one of a log."""
_WITHOUT = re.compile(rf"\b{OFF} (?:\w{{1,12}} ){{0,2}}[`'\"]?$", re.IGNORECASE)
_EVEN = re.compile(
    r"\b(?:with|using|sett?ing|set|after|even|despite|also|adding|added|tried|disabling|disabled|enabling) "
    r"(?:\w{1,12} ){0,3}[`'\"]?$",
    re.IGNORECASE,
)
"""Words before a remedy of a run that fails with it, too; without them its own words are of the error."""
_SINCE = re.compile(
    r"\b(?:since|after|when|once) (?:\w{1,12} ){0,3}(?:up(?:grad|dat)|downgrad)\w{1,4}\b"
    r"|\b(?:starting (?:from|with)|introduced (?:in|by)|regression (?:in|since|from|of))\b"
    r"|\bbisect\w{0,5} (?:\w{1,12} ){0,3}(?:to|return|point|show|identif|found|find)\w{0,5}\b",
    re.IGNORECASE,
)
"""Words of a release since which a run has the fault."""
_UNIT = r"(?:[GMT]i?[Bb](?:/s|ps|it/s)|tok(?:ens)?/s|TFLOPS)"
_GAIN = re.compile(
    rf"\b([0-9]{{1,5}}(?:\.[0-9]{{1,4}})?) ?{_UNIT}?(?: [\w-]{{1,20}}){{0,2}} ?(?:→|->|to) ?~?"
    rf"([0-9]{{1,5}}(?:\.[0-9]{{1,4}})?) ?{_UNIT}"
)
"""Two rates, the second after a change."""
GAINED = 1.3
"""How many times the rate before the one after a remedy has to be."""
_CELL_GOOD = re.compile(
    r"^\W{0,4}(?:works|passes|passed|pass|fixed|fixes|ok|okay|stable|clean|success)\b|✅", re.IGNORECASE
)
_CELL_BAD = re.compile(
    r"^\W{0,4}(?:(?:still|both|also|all) )?(?:fails?|failed|hangs?|crash\w{0,3}|same|no (?:change|effect)|times? ?out"
    r"|slow)\b|^\W{0,4}SIG(?:SEGV|ABRT)\b|❌",
    re.IGNORECASE,
)
"""What the last cell of a table of trials begins with."""


_TELLING = (_GOOD, _BAD, WORSE, _GAIN, _CELL_GOOD)


class Trial(NamedTuple):
    """What was tried (``remedy``, a name of `trial_words`), what came of it (``outcome``), and the words of it."""

    remedy: str
    outcome: str
    text: str


def trial_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The remedies that sentences of a text report with their outcome, each with its words and its line.

    >>> for each in trial_statements("It hangs.\\nWith NCCL_P2P_DISABLE=1 it works, but a new driver did not help"):
    ...     print(each)
    ('trial helped no-peer-access', 'With NCCL_P2P_DISABLE=1 it works', 2)
    ('trial vain release of driver', 'a new driver did not help', 2)
    >>> list(trial_statements("Try NCCL_P2P_DISABLE=1 if it does not work."))
    []
    """
    for number, line in report_lines(text):
        for trial in _trials_of_row(line) if line.lstrip().startswith("|") else trials_of_line(line):
            yield f"{TRIAL}{trial.outcome} {trial.remedy}", shown_line(trial.text), number


def report_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of prose with the words of an outcome, at most `MOST_LINES`, each with its number."""
    read = 0
    for number, line in enumerate(lines_of(text), 1):
        told = " " in line and len(line) <= LONGEST and any(words.search(line) for words in _TELLING)
        if not told:
            continue
        read += 1
        if read > MOST_LINES:
            return
        if not _OF_LOGS.search(line):
            yield number, line


def trials_of_line(line: str) -> Iterator[Trial]:
    """The trials that the clauses of a line report; a clause without an outcome has that of the next one."""
    before = ""
    for part in _CLAUSE.split(line):
        clause = f"{before} {part}".strip(" *_-")
        if _is_supposed(part):
            before = ""
            continue
        found = tuple(_trials_of_clause(clause)) if len(clause) <= MOST_WORDS else ()
        yield from found
        before = "" if found or outcome_of(part) else clause


def _trials_of_row(line: str) -> Iterator[Trial]:
    """The trials of a row of a table: what was tried, and in the last cell what came of it.

    >>> [(each.remedy, each.outcome) for each in _trials_of_row("| `NCCL_MNNVL_ENABLE=0` | 48 ranks | **passes** |")]
    [('domain-service', 'helped')]
    """
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    outcome = HELPED if _CELL_GOOD.search(cells[-1]) else VAIN if _CELL_BAD.search(cells[-1]) else ""
    tried = " ".join(cells[:-1])
    for name, words in _REMEDIES if outcome and len(line) <= MOST_WORDS else ():
        if words.search(tried):
            yield Trial(name, outcome, " ".join(cells))


def clauses_of(line: str) -> list[str]:
    """The parts of a line between ends of sentences and words that turn to something else, other than suppositions."""
    return [part for part in _CLAUSE.split(line) if len(part) <= MOST_WORDS and not _is_supposed(part)]


def _is_supposed(clause: str) -> bool:
    """Whether a clause advises, asks or supposes: a condition reports only behind its outcome ("works if …").

    >>> _is_supposed("it works if X is set"), _is_supposed("if X is set it works"), _is_supposed("X should fix it")
    (False, True, True)
    """
    condition, good = _IF.search(clause), _GOOD.search(clause)
    before = condition is not None and (good is None or condition.start() < good.start())
    return before or _SUPPOSED.search(clause) is not None


def outcome_of(clause: str) -> str:
    """What a clause says came of it: `helped`, `vain`, or nothing.

    >>> outcome_of("with X it works"), outcome_of("X does not help"), outcome_of("it no longer works with X")
    ('helped', 'vain', '')
    >>> outcome_of("3 GB/s -> 23.7 GB/s with X"), outcome_of("23.7 GB/s -> 23.9 GB/s with X")
    ('helped', '')
    """
    if _BAD.search(clause):
        return VAIN
    if (rates := _GAIN.search(clause)) and float(rates[2]) >= GAINED * float(rates[1]):
        return HELPED
    for match in _GOOD.finditer(clause):
        good = match[0].lower().startswith("no ") or not _NEGATED.search(clause[: match.start()])
        return HELPED if good else ""
    return ""


def _trials_of_clause(clause: str) -> Iterator[Trial]:
    """The remedies that a clause names, each with its outcome; without it the run fails, or with it."""
    outcome, worse = outcome_of(clause), WORSE.search(clause) is not None
    found = [(name, match.start()) for name, words in _REMEDIES if (match := words.search(clause))]
    for name, start in found:
        if _WITHOUT.search(clause[:start]):
            if outcome == HELPED or worse:
                yield Trial("setting" if outcome == HELPED else name, HELPED, clause)
        elif outcome or (worse and _EVEN.search(clause[:start])):
            yield Trial(name, outcome or VAIN, clause)
    if part := _changed_part(clause, outcome, worse=worse):
        yield Trial(f"release of {part}", outcome or HELPED, clause)
    elif not found and outcome == HELPED and _SET.search(clause) and not _TOOLS.search(clause):
        yield Trial("setting", HELPED, clause)


def _changed_part(clause: str, outcome: str, *, worse: bool) -> str:
    """The part of which a clause says that another release changed the outcome; empty if it says none of it.

    >>> _changed_part("NCCL 2.18 works and 2.19 hangs", "helped", worse=True)
    'library'
    """
    versions = len(set(_VERSION.findall(clause)))
    numbered = _RELEASE.search(clause) and (_USES.search(clause) or (versions > 1 and worse))
    since = _SINCE.search(clause) is not None and (worse or "bisect" in clause)
    if not (_CHANGES.search(clause) or numbered or since) or not (outcome or since):
        return ""
    named = next((name for name, words in _PARTS if words.search(clause)), "")
    return named or ("library" if versions and outcome else "")
