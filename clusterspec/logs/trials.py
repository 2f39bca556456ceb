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
    r"|work ?around (?:is|was)|(?:actual|real|the|my|our|final) (?:fix|solution) (?:is|was)"
    r"|(?:did|as a) work ?around|(?:got|gets|made|makes) it (?:to work|run)"
    r"|r[au]n(?:s|ning)? (?:fine|ok|okay|well|normally|correctly|successfully|through|without)"
    r"|(?:is|was|are|were|becomes|looks) (?:all )?(?:fine|ok|okay|gone|normal|good)"
    r"|no (?:more|longer any|longer) (?:hang|error|issue|problem|crash|timeout|fail|occur|happen|appear)\w{0,4}"
    r"|allow(?:s|ed)? (?:\w{1,12} ){0,5}to (?:run|work|pass|start|finish)"
    r"|reach(?:es|ed) (?:the )?(?:full|line|expected)|over(?:came|come)|(?:it|everything|training|run"
    r"|test)s? completes?"
    r"|(?:both|all|each|either) (?:\w{1,14} )?(?:fix|solve|resolve|help)"
    r"|(?:rais|increas|boost|improv)(?:es|ed) (?:\w{1,12} ){0,4}(?:bandwidth|busbw|throughput|performance|speed)"
    r"|(?:bandwidth|busbw|throughput|performance|speed) (?:\w{1,12} ){0,2}(?:improv|increas|recover|doubl|restor)ed"
    r"|(?:did|does)(?: not|n[o']t|n't) reproduce|no longer reproduces)\b|✅"
    r"|\b(?:work ?around|(?:actual|real|the|my|our|final) (?:fix|solution)|solution): |解决了|可以了",
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
    r"|没用|无效|还是(?:报错|卡|不行)|\bonly (?:shifted|delayed|postponed)\b"
    r"|\bhangs? (?:identically|too|as well|either way)\b",
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
_IF_DONE = re.compile(
    r"^\W{0,4}if (?:I |we |one )?(?:chang|set|us|disabl|enabl|turn|remov|add|downgrad|upgrad|revert|run|switch)\w{0,4} "
    r".{3,160}? (?:works?|runs?|passes|succeeds|(?:is|are) (?:fine|ok|gone)|fails?|hangs?|crash\w{0,2})\b"
    r"(?! (?:for|on) (?:you|your)\b)",
    re.IGNORECASE,
)
"""A condition that a writer has met: of what the run does, in the present, not of what it would do."""
_OF_LOGS = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE)\b|\bCCL_(?:WARN|ERROR|INFO)\b|\bUCX {1,4}[A-Z]{4,5}\b"
    r"|^\s{0,8}(?:File \"|at 0x|[$#] ?\w)|(?<![\w./-])(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)(?![\w./-])"
    r"|^[EIWF][0-9]{4} |<(?:warn|info|debug)>|\b[A-Z]\w{2,60}(?:Error|Exception): |\b(?:[Ee]rror|[Ff]atal|[Ff]ailed): "
    r"|^(?!(?i:work ?around|solution|edit|update|note|results?|observations?|conclusion|summary):)"
    r"[\w.-]{2,40}(?:\[[0-9]{1,9}\])?: |\.(?:py|cc|cpp|cu|c|h):[0-9]{1,6}\b"
)
"""Marks of lines that a program prints, and of commands."""
_CLAUSE = re.compile(
    r"(?<=[a-z0-9)`'\"\]])[.;!] |,? (?:but|however|while|whereas|though|which)\b|\s[—–-]{1,3}\s|; "
    r"|, (?=(?:it |and )?(?:works|fails|hangs)\b)"
)
_REMEDIES = tuple((name, re.compile(words)) for name, words in REMEDIES)
_PARTS = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in PARTS)
_CHANGES, _USES = (re.compile(words, re.IGNORECASE) for words in (CHANGES, USES))
_OF_A_TEST = re.compile(
    rf"{TOOLS}|\b(?:on|with|of) (?:a |an )?(?:single|one|1|each) (?:node|host|machine|server|GPU)s?\b", re.IGNORECASE
)
"""A program that tests a part, or a smaller run: that it works is no remedy."""
_VERSION = re.compile(VERSION)
_RELEASE = re.compile(
    rf"\b(?:{'|'.join(words for _, words in PARTS)}|version|release)(?: version| release)?(?: to| from| is| at)?"
    rf"[ =-]{{1,3}}{VERSION}|\bdrivers?(?: version| release)? [4-6][0-9]{{2}}\b",
    re.IGNORECASE,
)
"""A part and the number of its release."""
_SET = re.compile(
    r"\b(?:(?i:sett?ing|set|export(?:ed|ing)?|add(?:ed|ing)|us(?:ed|ing)|with|pass(?:ed|ing)|chang(?:ed|ing|e)"
    rf"|defin(?:ed|ing)|{OFF})) (?:(?:the|an?|env\w{{0,12}}|variable|flag|option|to|-[xe]|export) ){{0,3}}[`'\"]?"
    r"(?:(?!\w{1,30}_(?:DEBUG|LOG|LOG_LEVEL|DEBUG_SUBSYS|HOME|PATH)\b)[A-Z][A-Z0-9]{1,14}(?:_[A-Z0-9]{1,24}){1,8}\b"
    r"|--[a-z][a-z0-9]{1,20}(?:[-_.][a-z0-9]{1,20}){0,6}\b)"
)
"""A variable or an option that was set or taken away, other than one of a log."""
_WITHOUT = re.compile(rf"\b{OFF} (?:\w{{1,12}} ){{0,2}}[`'\"]?$", re.IGNORECASE)
_SUCCESS = re.compile(
    r"^\W{0,6}(?:(?:the |my |this )?(?:problem|issue|bug|error)s? (?:is |was |has been |got |now )?(?:solved|fixed"
    r"|resolved|gone)"
    r"|(?:solved|fixed|resolved)(?: it)?|(?:the |my )?(?:actual )?(?:solution|fix|work ?around) (?:is"
    r"|was)(?: to)?(?: \w{2,8})?"
    r"|th(?:is|e following) (?:fixed|solved|resolved|works for|worked for) (?:it|me|the \w{3,8}))\W{0,6}$",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"\s{0,8}(?:[$>#] )?(?:export |sudo |modprobe |docker run |sysctl |-x |[A-Z][A-Z0-9_]{4,40}=)")
NEAR = 3
"""Lines below one of success among which its command is."""
_TAKES_AWAY = re.compile(rf"(?:{OFF})\b")
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
_DONE = re.compile(
    r"\b(?:fix|solution|work ?around)(?: is| was|:) (?:to )?"
    r"(?:up(?:grade|date)|downgrade|pin|revert|rebuild|reinstall)\b",
    re.IGNORECASE,
)
"""Words of a remedy that is told as what to do."""
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


_TELLING = (_GOOD, _BAD, WORSE, _GAIN)


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
    yield from _commands_of_success(text)
    for number, line in report_lines(text):
        for trial in _trials_of_row(line) if line.lstrip().startswith("|") else trials_of_line(line):
            yield f"{TRIAL}{trial.outcome} {trial.remedy}", shown_line(trial.text), number


def _commands_of_success(text: str) -> Iterator[tuple[str, str, int]]:
    """The remedies of the command that a line of success introduces, as `trial_statements` has them.

    >>> [each[0] for each in _commands_of_success("The solution was to use\\n```\\nexport NCCL_SOCKET_IFNAME=lo")]
    ['trial helped interface']
    """
    last = -NEAR
    for number, line in report_lines(text):
        last = number if is_success(line) else last
        lines = text.split("\n", number + NEAR)[number : number + NEAR] if last == number else []
        for below, command in enumerate(lines, number + 1):
            if _COMMAND.match(command):
                for name, words in _REMEDIES:
                    if words.search(command):
                        yield f"{TRIAL}{HELPED} {name}", shown_line(f"{line.strip()} {command.strip()}"), below


def report_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of prose with the words of an outcome, at most `MOST_LINES`, each with its number."""
    read = 0
    for number, line in enumerate(lines_of(text), 1):
        row = line.lstrip().startswith("|")
        told = " " in line and len(line) <= LONGEST and (row or any(words.search(line) for words in _TELLING))
        if not told:
            continue
        read += 1
        if read > MOST_LINES:
            return
        if row or not _OF_LOGS.search(line):
            yield number, line


def trials_of_line(line: str) -> Iterator[Trial]:
    """The trials that the clauses of a line report; a clause without an outcome has that of the next one."""
    before = ""
    solved = False
    for part in _CLAUSE.split(line):
        clause = f"{before} {part}".strip(" *_-")
        if _is_supposed(part):
            before = ""
            continue
        told = HELPED if solved and not outcome_of(part) else ""
        found = tuple(_trials_of_clause(clause, told)) if len(clause) <= MOST_WORDS else ()
        yield from found
        solved = is_success(part)
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
    return (before and not _IF_DONE.search(clause)) or _SUPPOSED.search(clause) is not None


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


def is_success(clause: str) -> bool:
    """Whether a clause says that a fault is mended, and nothing of how: the next one does.

    >>> is_success("Problem solved"), is_success("The solution was to use"), is_success("NCCL solved it with X")
    (True, True, False)
    """
    return _SUCCESS.search(clause) is not None


def _trials_of_clause(clause: str, told: str = "") -> Iterator[Trial]:
    """The remedies that a clause names, each with its outcome, which may be told before; without it the run fails, or
    with it.
    """
    outcome, worse = outcome_of(clause) or told, WORSE.search(clause) is not None
    found = [(name, match.start()) for name, words in _REMEDIES if (match := words.search(clause))]
    for name, start in found:
        if _WITHOUT.search(clause[:start]):
            if _TAKES_AWAY.match(clause, start):
                continue  # "without disabling X": X is as it was
            if outcome == HELPED or worse:
                yield Trial("setting" if outcome == HELPED else name, HELPED, clause)
        elif outcome or (worse and _EVEN.search(clause[:start])):
            yield Trial(name, outcome or VAIN, clause)
    if part := _changed_part(clause, outcome, worse=worse):
        yield Trial(f"release of {part}", outcome or HELPED, clause)
    elif not found and outcome == HELPED and _SET.search(clause) and not _OF_A_TEST.search(clause):
        yield Trial("setting", HELPED, clause)


def _changed_part(clause: str, outcome: str, *, worse: bool) -> str:
    """The part of which a clause says that another release changed the outcome; empty if it says none of it.

    >>> _changed_part("NCCL 2.18 works and 2.19 hangs", "helped", worse=True)
    'library'
    """
    versions = len(set(_VERSION.findall(clause)))
    numbered = _RELEASE.search(clause) and (_USES.search(clause) or (versions > 1 and worse))
    since = _SINCE.search(clause) is not None and (worse or "bisect" in clause)
    changed = _CHANGES.search(clause) or _DONE.search(clause)
    if not (changed or numbered or since) or not (outcome or since):
        return ""
    named = next((name for name, words in _PARTS if words.search(clause)), "")
    return named or ("library" if versions and outcome else "")
