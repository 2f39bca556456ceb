"""What people report around a log: what was tried, and the outcome.

A sentence such as "with NCCL_P2P_DISABLE=1 it works" says more about a cause than most lines of a log. Sentences that
advise, ask or suppose report nothing, and lines that programs print are not read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from clusterspec.logs.reports.blamed_things import blamed_things, blames_something
from clusterspec.logs.reports.opposed_releases import works_with_one_of_two
from clusterspec.logs.reports.outcomes import (
    BAD,
    GAIN,
    GOOD,
    HELPED,
    VAIN,
    WORSE,
    ended_by,
    in_small_letters,
    is_success,
    outcome_of,
)
from clusterspec.logs.reports.prose_lines import prose_lines
from clusterspec.logs.reports.trial_words import CHANGES, OFF, PARTS, REMEDIES, SINCE, TOOLS, USES, VERSION
from clusterspec.logs.text_lines import lines_of, shown_line
from clusterspec.records import NamedTuple
from clusterspec.standard import pattern

TRIAL = "trial "
"""The prefix of the names of these statements; the outcome and the name of the remedy follow."""
MOST_WORDS = 240
"""Largest number of characters of a clause that may report a trial: longer ones describe something else."""
LONGEST_LIST = 12
"""Lines below one with an outcome that are read as its list."""
SHORT = 40
"""Length in characters of a sentence that only says that something is solved; the next sentence says how."""
MOST_LINES = 2_000
"""Largest number of lines with the words of an outcome that are read."""
_SUPPOSED = pattern(
    r"\b(?:try|please|should|could|might|may|would|maybe|perhaps|probably|possibly|let me|let us|suggest\w{0,4}"
    r"|recommend\w{0,4}|expect\w{0,3}|want|needs? to|ha(?:ve|s) to|will"
    r"|(?:this|the) (?:PR|pull request|patch)|hope\w{0,4}|consider|can you|you (?:can|need)"
    r"|(?:see|check|test|verify|wonder\w{0,3}|sure|know) (?:if|whether)|not sure)\b|\?",
    re.IGNORECASE,
)
"""Words of a sentence that advises, asks or supposes."""
_KNOWN = pattern(r"\bwork ?around (?:is|was)\b|\bwork ?around: ", re.IGNORECASE)
"""Words of a remedy that is known, even where it is recommended."""
_IF = pattern(r"\b(?:if|unless)\b", re.IGNORECASE)
_IF_DONE = pattern(
    r"^\W{0,4}if (?:I |we |one )?(?:chang|set|us|disabl|enabl|turn|remov|add|downgrad|upgrad|revert|run|switch)\w{0,4} "
    r".{3,160}? (?:works?|runs?|passes|succeeds|(?:is|are) (?:fine|ok|gone|good|well)|fails?|hangs?|crash\w{0,2})\b"
    r"(?! (?:for|on) (?:you|your)\b)",
    re.IGNORECASE,
)
"""A condition that holds for the writer: it describes what the run does, in the present tense, not what it would do."""
_IF_SET = pattern(r"\W{0,4}(?:when|once|after|as soon as|if) (?:I|we|one)\b", re.IGNORECASE)
"""The beginning of a clause whose outcome follows."""
_CLAUSE = pattern(
    r"(?<=[a-z0-9)`'\"\]])[.;!] |,? (?:but|however|while|whereas|though|which)\b|\s[—–-]{1,3}\s|; "
    r"|, (?=(?:it |and )?(?:works|fails|hangs)\b)"
)
_REMEDIES = tuple((name, pattern(words)) for name, words in REMEDIES)
_PARTS = tuple((name, pattern(words, re.IGNORECASE)) for name, words in PARTS)
_CHANGES, _USES = (pattern(words, re.IGNORECASE) for words in (CHANGES, USES))
_OF_A_TEST = pattern(
    rf"{TOOLS}|\b(?i:(?:on|with|of) (?:a |an )?(?:single|one|1|each) (?:node|host|machine|server|GPU)s?)\b"
)
"""A program that tests a part, or a smaller run: that it works is no remedy."""
_OF_A_PART = pattern(rf"{_OF_A_TEST.pattern}|\b(?i:works?|worked|works? (?:fine|well)) (?i:if|when|only|for|from)\b")
"""A part of what a person runs: that the part works says nothing of the release that the whole has."""
_FIRST = pattern(r"install(?:ed|ing)|buil(?:t|ding)", re.IGNORECASE)
"""Words of a first installation, which changes nothing yet."""
_VERSION = pattern(VERSION)
_PINNED = pattern(r"\b([A-Za-z][\w.-]{1,40})==v?([0-9][\w.+]{0,20})")
"""A package with its release, as pip has them."""
_RELEASE = pattern(
    rf"\b(?:{'|'.join(words for _, words in PARTS)}|version|release)(?: version| release)?(?: to| from| is| at)?"
    rf"[ =>-]{{1,4}}{VERSION}|\bdrivers?(?: version| release)? [4-6][0-9]{{2}}\b",
    re.IGNORECASE,
)
"""A part and the number of its release."""
_SET = pattern(
    r"\b(?:(?i:sett?ing|set|export(?:ed|ing)?|add(?:ed|ing)|us(?:e|ed|ing)|with|pass(?:ed|ing)|chang(?:ed|ing|e)"
    rf"|defin(?:ed|ing)|{OFF})) (?:(?:the|an?|env\w{{0,12}}|variable|flag|option|to|-[xe]|export) ){{0,3}}[`'\"]?"
    r"(?:(?!\w{1,30}_(?:DEBUG|LOG|LOG_LEVEL|DEBUG_SUBSYS|HOME|PATH)\b)[A-Z][A-Z0-9]{1,14}(?:_[A-Z0-9]{1,24}){1,8}\b"
    r"|--[a-z][a-z0-9]{1,20}(?:[-_.][a-z0-9]{1,20}){0,6}\b|[a-z][a-z0-9_]{3,40} ?= ?(?:True|False|None|[0-9]))"
)
"""A variable or an option that was set or taken away, other than one of a log."""
_WITHOUT = pattern(rf"\b{OFF} (?!difference|effect|change|luck|impact)(?:\w{{1,12}} ){{0,2}}[`'\"]?$", re.IGNORECASE)
_TAKES_AWAY = pattern(rf"(?:{OFF})\b")
"""The beginning of a remedy that takes something away."""
_EVEN = pattern(
    r"\b(?:with|using|sett?ing|set|after|even|despite|also|adding|added|tried|disabling|disabled|enabling) "
    r"(?:\w{1,12} ){0,3}[`'\"]?$",
    re.IGNORECASE,
)
"""Words before a remedy with which the run also fails; without them, the words of the remedy belong to the error."""
_SINCE = pattern(SINCE, re.IGNORECASE)
_OF_A_DRIVER = pattern(r"\b[3-6][0-9]{2}\.[0-9]{2,3}(?:\.[0-9]{2})?\b")
"""The number of a release of NVIDIA's driver, such as 595.91.07."""
_DONE = pattern(
    r"\b(?:fix|solution|work ?around)\b.{0,80}?(?: is| was|:) (?:to )?"
    r"(?:up(?:grade|date)|downgrade|pin|revert|rebuild|reinstall|swap|replace)\b|\b(?:pip3?|apt(?:-get)?) install\b",
    re.IGNORECASE,
)
"""Words of a remedy that is given as an instruction."""
_BLAMED = pattern(
    r"\b(?:is|are|was|were|seems?(?: to be)?) (?:causing|the (?:cause|culprit|reason)|to blame)\b"
    r"|\bcauses? (?:an? |the |our )?(?:\w{1,12} )?(?:hangs?|deadlocks?|crash\w{0,2}|fail\w{0,5}|errors?|slow)",
    re.IGNORECASE,
)
"""Words after the cause of a fault."""
_TELLS_ITSELF = pattern(r"\b(?:bisect|regression|incompatib|only (?:appear|reproduc))", re.IGNORECASE)
"""Words that name the fault itself."""
_BOTH = pattern(
    rf"\bworks? (?:fine |well )?(?:on|with|in|using) (?:[\w-]{{1,20}} ){{0,2}}{VERSION}"
    rf".{{0,20}}\bnot (?:on|with|in) .{{0,20}}?{VERSION}",
    re.IGNORECASE,
)
"""Two releases: the first works, the second does not."""
_CELL_GOOD = pattern(
    r"^\W{0,4}(?:works|passes|passed|pass|fixed|fixes|ok|okay|stable|clean|success)\b|✅", re.IGNORECASE
)
_CELL_BAD = pattern(
    r"^\W{0,4}(?:(?:still|both|also|all) )?(?:fails?|failed|hangs?|crash\w{0,3}|same|no (?:change|effect)|times? ?out"
    r"|slow)\b|^\W{0,4}SIG(?:SEGV|ABRT)\b|❌",
    re.IGNORECASE,
)
"""What the last cell of a table of trials begins with."""


_ITEM = pattern(r"^(?:[-*•+]|[0-9]{1,2}[.)]) +(?:\[[ x]\] +)?")
"""The start of an item of a list."""
_COMMAND = pattern(
    r"^[`$#> ]{0,4}(?:export |sudo |docker |pip3? |python3? -m pip |uv pip |conda |apt(?:-get)? |modprobe |sysctl "
    r"|-x |[A-Z][A-Z0-9_]{3,40}=)"
)
"""The start of a command that changes a setting or a release."""
_ANSWER = pattern(
    r"^[> ]{0,8}(?:thanks\W{1,3})?(?:this|that|it|your \w{1,12}) (?:\w{1,8} ){0,2}"
    r"(?:work(?:s|ed)|fixed|solved|resolved|helped|did the trick)\b",
    re.IGNORECASE,
)
"""The start of an answer to advice: the line above it has the remedy."""
_ASIDE = pattern(r" [—–] ([^—–]{1,60}) [—–] ")
"""Words that a sentence may have in between."""
_TELLING = in_small_letters(GOOD, BAD, WORSE, _BLAMED, _SINCE)


class Trial(NamedTuple):
    """What was tried (``remedy``, a name of `trial_words`), its ``outcome``, and the words."""

    remedy: str
    outcome: str
    text: str


_ANEW = pattern(r"\s{0,3}(?:then |also |and |next,? )?(?:i|we)(?:'ve| have| also| then){0,2} tried\b", re.IGNORECASE)
"""The start of a sentence about another trial than the sentence before it."""


def trial_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The remedies that sentences of a text report with their outcome, each with its words and its line.

    >>> for each in trial_statements("It hangs.\\nWith NCCL_P2P_DISABLE=1 it works, but a new driver did not help"):
    ...     print(each)
    ('trial helped no-peer-access', 'With NCCL_P2P_DISABLE=1 it works', 2)
    ('trial vain release of driver', 'a new driver did not help', 2)
    >>> list(trial_statements("Try NCCL_P2P_DISABLE=1 if it does not work."))
    []
    """
    told = list(report_lines(text))
    differing = _differing_release(told)
    in_vain = f"{TRIAL}{VAIN} release of library"
    for each in _trials_of_lines(text, told):
        if not differing or each[0] not in (in_vain, differing[0]):
            yield each
    if differing:
        yield differing


def _differing_release(told: Sequence[tuple[int, str]]) -> tuple[str, str, int] | None:
    """The line with the working one of two releases of a package, in pip's form, if lines say that one works and the
    other does not; None without any.

    >>> _differing_release([(1, "Works: ucx==1.3 with torch==2"), (2, "Does not work: ucx==1.4 with torch==2")])
    ('trial helped release of library', 'Works: ucx==1.3 with torch==2', 1)
    """
    outcomes: dict[str, dict[str, dict[str, tuple[str, int]]]] = {}
    for number, line in told:
        outcome = outcome_of(line) or (VAIN if WORSE.search(line) else "")
        for name, release in _PINNED.findall(line) if outcome and not _is_supposed(line) else ():
            outcomes.setdefault(name, {}).setdefault(release, {}).setdefault(outcome, (line, number))
    for releases in outcomes.values():
        good = [found[HELPED] for found in releases.values() if found.keys() == {HELPED}]
        if good and any(found.keys() == {VAIN} for found in releases.values()):
            return f"{TRIAL}{HELPED} release of library", shown_line(good[0][0]), good[0][1]
    return None


def _trials_of_lines(text: str, told: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str, int]]:
    """The trials of the lines of a report, then releases that work in one line and not in another."""
    lines: list[str] = []
    given = set[str]()
    releases: dict[str, dict[str, tuple[str, str, int]]] = {}
    for number, line in told:
        for part, release, outcome in _releases_of_line(line):
            releases.setdefault(part, {}).setdefault(release, (outcome, line, number))
        trials = tuple(_trials_of_row(line) if line.lstrip().startswith("|") else trials_of_line(line))
        if not trials or line.rstrip().endswith(":"):
            lines = lines or list(lines_of(text))
            trials = (*trials, *_neighboring_trials(line, number, lines))
        given.update(f"{TRIAL}{trial.outcome} {trial.remedy}" for trial in trials)
        for trial in trials:
            yield f"{TRIAL}{trial.outcome} {trial.remedy}", shown_line(trial.text), number
    for part, found in releases.items():
        name = f"{TRIAL}{HELPED} release of {part}"
        good = next((each for each in found.values() if each[0] == HELPED), None)
        if good and name not in given and any(each[0] == VAIN for each in found.values()):
            yield name, shown_line(good[1].strip(" *-")), good[2]


def _neighboring_trials(line: str, number: int, lines: Sequence[str]) -> Iterator[Trial]:
    """The trials around a line that states only an outcome: the advice that it answers, or the list below it."""
    if _ANSWER.search(line):
        above = next((each.strip() for each in reversed(lines[max(number - 4, 0) : number - 1]) if each.strip()), "")
        yield from _trials_of_clause(f"{above} works") if len(above) < MOST_WORDS else ()
    elif not _is_supposed(line):
        yield from _trials_below(line, lines[number : number + LONGEST_LIST])


def _releases_of_line(line: str) -> Iterator[tuple[str, str, str]]:
    """The parts and releases in a line that states whether a run works with one release.

    >>> list(_releases_of_line("NCCL 2.28.9 + aws-ofi-nccl deadlocks")), list(_releases_of_line("NCCL 2.27.7 works"))
    ([('library', '2.28.9', 'vain')], [('library', '2.27.7', 'helped')])
    """
    found = _RELEASE.search(line)
    if found is None or len(line) > MOST_WORDS or _is_supposed(line):
        return
    outcome = outcome_of(line) or (VAIN if WORSE.search(line) else "")
    part = next((name for name, words in _PARTS if words.match(found[0])), "")
    releases = set(_VERSION.findall(found[0]))
    if outcome and part and len(releases) == 1:
        yield part, releases.pop(), outcome


def _trials_below(head: str, following: Sequence[str]) -> Iterator[Trial]:
    """The trials of the list or the command that follows a line with an outcome: "the following works:"."""
    outcome = outcome_of(head) or (VAIN if WORSE.search(head) else "")
    listed = [line.strip() for line in following if line.strip()]
    if outcome and head.rstrip().endswith((":", ")")):
        for item in itertools.takewhile(_ITEM.match, listed):
            clause = f"{_ITEM.sub('', item)} {'works' if outcome == HELPED else 'does not help'}"
            if len(clause) <= MOST_WORDS and not _is_supposed(item):
                yield from (Trial(each.remedy, each.outcome, item) for each in _trials_of_clause(clause))
    if outcome == HELPED and listed and _COMMAND.match(listed[0]) and len(head) + len(listed[0]) < MOST_WORDS:
        yield from _trials_of_clause(f"{head.strip()} {listed[0]}")


def report_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of prose with the words of an outcome, each with its number. If there are more than `MOST_LINES`, the
    first and the last are read.
    """
    found = [each for each in prose_lines(text) if _has_an_outcome(each[1])]
    if len(found) > MOST_LINES:
        found = [*found[: MOST_LINES // 2], *found[-MOST_LINES // 2 :]]
    return ((number, _text_without_marks(line)) for number, line in found)


def _text_without_marks(line: str) -> str:
    """A line without marks of bold text and without dashes around asides."""
    return _ASIDE.sub(r" \1 ", line.replace("**", ""))


def _has_an_outcome(line: str) -> bool:
    """Whether a line is a row of a table, or has words of an outcome or of a blamed part, or two rates."""
    plain = _text_without_marks(line)
    folded = plain.casefold()
    told = blames_something(folded) or any(words.search(folded) for words in _TELLING) or GAIN.search(plain) is not None
    return told or plain.lstrip().startswith("|")


def trials_of_line(line: str) -> Iterator[Trial]:
    """The trials that the clauses of a line report; a clause without an outcome takes that of the next clause."""
    opposed = len(line) <= MOST_WORDS and not _is_supposed(line) and (_BOTH.search(line) or works_with_one_of_two(line))
    if opposed:
        named = line if opposed is True else opposed[0]
        part = next((name for name, words in _PARTS if words.search(named)), "library")
        yield Trial(f"release of {part}", HELPED, line.strip())
        return
    before = ""
    solved = False
    parts = _CLAUSE.split(line)
    for part, following in zip(parts, (*parts[1:], ""), strict=True):
        fails = WORSE.search(part) or (_IF_SET.match(part) and WORSE.search(following))
        clause = f"{'' if solved and fails else before} {part}".strip(" *_-")
        if _is_supposed(part):
            before = ""
            continue
        if _ANEW.match(part):
            clause = part.strip(" *_-")
        told = HELPED if solved and not fails and not outcome_of(part) else ""
        found = tuple(_trials_of_clause(clause, told)) if len(clause) <= MOST_WORDS else ()
        yield from found
        solved = is_success(part) or (outcome_of(part) == HELPED and len(part) <= SHORT)
        before = "" if found or (outcome_of(part) and not solved) else clause


def _trials_of_row(line: str) -> Iterator[Trial]:
    """The trials of a row of a table: what was tried, and the outcome in the last cell.

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
    condition, good = _IF.search(clause), GOOD.search(clause)
    before = condition is not None and (good is None or condition.start() < good.start())
    told = clause.replace("recommended", "") if _KNOWN.search(clause) else clause
    return (before and not (_IF_DONE.search(clause) or ended_by(clause))) or _SUPPOSED.search(told) is not None


def _trials_of_clause(clause: str, told: str = "") -> Iterator[Trial]:
    """The remedies that a clause names, each with its outcome, which may come first: whether the run fails without the
    remedy or with it.
    """
    if blamed := tuple(blamed_things(clause)):
        yield from (Trial(name, HELPED, clause) for name in blamed)
        return
    if (ended := ended_by(clause)) and any(words.search(ended) for _, words in _REMEDIES):
        clause, told = f"{ended.strip()} helped", HELPED
    outcome, worse = outcome_of(clause) or told, WORSE.search(clause) is not None
    small = clause[:1].lower() + clause[1:]
    tried = ((name, words.search(clause) or words.search(small)) for name, words in _REMEDIES)
    found = [(name, match.start()) for name, match in tried if match]
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
    """The part whose release changed the outcome according to a clause; empty if the clause names none.

    >>> _changed_part("NCCL 2.18 works and 2.19 hangs", "helped", worse=True)
    'library'
    """
    versions = len(set(_VERSION.findall(clause)))
    released = _RELEASE.search(clause)
    numbered = released if released and (_USES.search(clause) or (versions > 1 and worse)) else None
    since = _SINCE.search(clause) if worse or _TELLS_ITSELF.search(clause) else None
    since = since or (released if released and _BLAMED.search(clause[released.end() :]) else None)
    changed = _CHANGES.search(clause) or _DONE.search(clause) or since or numbered
    if changed is None or not (outcome or since):
        return ""
    if (changed is numbered or _FIRST.fullmatch(changed[0])) and versions <= 1 and _OF_A_PART.search(clause):
        return ""
    near = [(_distance(match, changed), name) for name, words in _PARTS for match in words.finditer(clause)]
    if "driver" in {name for _, name in near} and len(set(_OF_A_DRIVER.findall(clause))) > 1:
        return "driver"
    return min(near, key=lambda each: each[0])[1] if near else ("library" if versions and outcome else "")


def _distance(part: re.Match[str], change: re.Match[str]) -> int:
    """The characters between two matches of a clause; 0 if they overlap."""
    return max(part.start() - change.end(), change.start() - part.end(), 0)
