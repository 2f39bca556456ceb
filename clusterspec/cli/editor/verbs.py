"""The requests of the page with an editor, and their answers: one JSON object each.

A request names a verb and has the text of the spec in the editor. A verb of a command is answered with the standard
output, the standard error and the exit status of that command for this text, so that the page shows what the command
line prints. The other verbs answer requests of editors: hover texts, completions, changed texts.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from clusterspec import __version__
from clusterspec import document as documents
from clusterspec.cli import CALL, INTERNAL, fault_line, is_callers_fault, run
from clusterspec.cli.commands import parser
from clusterspec.cli.inputs import StudyReader
from clusterspec.records import dataclass, field
from clusterspec.studies import Settings, Study

Answer = dict[str, object]
Request = Mapping[str, object]

OLD = "old.yaml"
"""The name of the other spec of a comparison, if its text is given instead of its file."""
LONGEST = 4 * documents.LARGEST
"""Characters of a text in a request; the commands refuse specs that are larger than theirs."""


class RequestFault(Exception):
    """Raised for a request that no page sends; the message is one line."""


@dataclass
class Caller:
    """A program that runs commands in place of a shell: ``texts`` replace files by name, and ``progress`` is called
    during a search.

    ``progress`` is called with the number of evaluated layouts and the total; a true result ends the search.
    """

    texts: Mapping[str, bytes] = field(default_factory=dict)
    progress: Callable[[int, int], object] = lambda done, total: None


@dataclass
class Session:
    """The spec that a page edits: its file name, and options common to all commands.

    ``more`` are verbs of the program that shows the page, such as saving a file. ``progress`` is passed to `Caller`.
    """

    name: str
    options: Sequence[str] = ()
    progress: Callable[[int, int], object] = lambda done, total: None
    more: Mapping[str, Callable[[Request], Answer]] = field(default_factory=dict)
    _last: tuple[str, Study] | None = None

    def answer(self, request: Request) -> Answer:
        """The answer to a request, with ``status`` as the exit status of a command, and ``err`` if it is not 0."""
        verb = request.get("verb")
        try:
            if not isinstance(verb, str) or verb not in {**VERBS, **self.more}:
                raise RequestFault(f"no verb is called {verb!r}")
            return self.more[verb](request) if verb in self.more else VERBS[verb](self, request)
        except RequestFault as fault:
            return {"status": CALL, "out": "", "err": f"{fault}\n"}
        except Exception as fault:
            if is_callers_fault(fault):
                return {"status": CALL, "out": "", "err": f"clusterspec: {fault}\n"}
            return {"status": INTERNAL, "out": "", "err": f"clusterspec: internal error ({fault_line(fault)})\n"}

    def command(self, words: Sequence[str], names: Sequence[str], texts: Mapping[str, str]) -> Answer:
        """The output of a command for the operands ``names``, and its exit status; ``texts`` replace files."""
        read = {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = run([*words, *self.options, "--color", "never", "--", *names], Caller(read, self.progress))
        return {"status": status, "out": out.getvalue(), "err": err.getvalue()}

    @property
    def settings(self) -> Settings:
        """The settings of the folder of the spec."""
        return self._reader.settings_of(self.name)

    def study(self, text: str) -> Study:
        """The study of a text; the study of the last text is cached."""
        if self._last is None or self._last[0] != text:
            self._last = text, self._reader.changed_study(self.name, text)
        return self._last[1]

    @property
    def _reader(self) -> StudyReader:
        return StudyReader(parser(["check"]).parse_args(["check", *self.options]))


# Fields of requests


def text_of(request: Request, key: str = "text", default: str | None = None) -> str:
    """The text under a key of a request. Raises `RequestFault` if it is no text or too long."""
    value = request.get(key, default)
    if not isinstance(value, str) or len(value) > LONGEST:
        raise RequestFault(f"{key} is not a text of up to {LONGEST >> 20} million characters")
    return value


def number_of(request: Request, key: str) -> int:
    """The line or column under a key of a request, counted from 1. Raises `RequestFault`."""
    value = request.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RequestFault(f"{key} is not a whole number from 1")
    return value


def mapping_of(request: Request, key: str) -> dict[str, object]:
    """The mapping under a key of a request. Raises `RequestFault`."""
    value = request.get(key)
    if not isinstance(value, dict):
        raise RequestFault(f"{key} is not a mapping")
    return value


def options_of(request: Request, *names: str) -> Iterator[str]:
    """The values in a request for the named options, as words of a command line: ``--format=json``."""
    for name in names:
        value = request.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise RequestFault(f"{name} is not a word or a number")
        yield f"--{name.replace('_', '-')}={value}"


# Verbs that are commands

OF_DESIGN = ("job", "pool")
"""Options that select a part of a fleet."""


def _spec_verb(command: str, *names: str) -> Callable[[Session, Request], Answer]:
    """The verb of a command with one spec and some of its options."""

    def answer(session: Session, request: Request) -> Answer:
        words = [command, *options_of(request, "format", *names)]
        return session.command(words, [session.name], {session.name: text_of(request)})

    return answer


def _search_answer(session: Session, request: Request) -> Answer:
    """A search. If it ended early, the result also counts the layouts evaluated and all layouts of the space."""
    told: list[tuple[int, int, bool]] = []
    progress = session.progress

    def recorded_progress(done: int, total: int) -> bool:
        ends = bool(progress(done, total))
        told[:] = [(done, total, ends)]
        return ends

    session.progress = recorded_progress
    try:
        names = ("top", "objective", "min_headroom", *OF_DESIGN)
        words = ["search", *options_of(request, "format", *names)]
        answer = session.command(words, [session.name], {session.name: text_of(request)})
    finally:
        session.progress = progress
    done, total, ends = told[0] if told else (0, 0, False)
    return answer | {"stopped": {"evaluated": done, "of": total} if ends and done < total else None}


def _diff_answer(session: Session, request: Request) -> Answer:
    """A comparison of another text with the text of the editor."""
    texts = {OLD: text_of(request, "old"), session.name: text_of(request)}
    return session.command(["diff", *options_of(request, "format", *OF_DESIGN)], [OLD, session.name], texts)


def _report_answer(session: Session, request: Request) -> Answer:
    """The report as HTML, or as JSON."""
    from clusterspec.cli.commands.reports import report_without_comparison

    words = ["report", *options_of(request, "kind", "audience", *OF_DESIGN), "-o", "report.html", *session.options]
    asked = parser(words).parse_args([*words, "--", session.name])
    asked.caller = Caller({session.name: text_of(request).encode("utf-8", "surrogateescape")})
    data, status = report_without_comparison(asked, ".json" if request.get("format") == "json" else ".html")
    return {"status": status, "out": data.decode(), "err": ""}


def _without_spec(command: str, operand: str) -> Callable[[Session, Request], Answer]:
    """The verb of a command without a spec."""

    def answer(session: Session, request: Request) -> Answer:
        return session.command([command, *options_of(request, "format")], [text_of(request, operand)], {})

    return answer


def _starting_spec(session: Session, request: Request) -> Answer:
    """The starting spec that ``init`` prints for a platform and a model."""
    return session.command(["init", *options_of(request, "platform", "model", "nodes", "for")], [], {})


# Verbs of editors


def _about_answer(session: Session, _: Request) -> Answer:
    """The versions of program and catalog, and the number of rules."""
    from clusterspec.rules.index import RULES

    tool = session.settings.tool
    return {"status": 0, "version": __version__, "catalog": tool.catalog, "rules": len(RULES), "name": session.name}


def _hover_answer(session: Session, request: Request) -> Answer:
    """The hover text at a position, as Markdown."""
    from clusterspec.cli.language_server.features import hover_text
    from clusterspec.source import Position

    study = session.study(text_of(request))
    at = Position(number_of(request, "line"), number_of(request, "column"))
    if study.document is None:
        return {"status": 0, "markdown": ""}
    return {
        "status": 0,
        "markdown": hover_text(study.document, study.settings.catalog, list(study.checked.findings), at),
    }


def _completion_answer(session: Session, request: Request) -> Answer:
    """The completions at a position."""
    from clusterspec.cli.language_server.features import Place, completion_items

    lines = text_of(request).split("\n")
    catalog = session.settings.catalog
    place = Place(lines, number_of(request, "line") - 1, number_of(request, "column") - 1, Path.cwd())
    items = completion_items(place, catalog)
    return {"status": 0, "items": [{"text": one.text, "kind": one.kind, "detail": one.detail} for one in items]}


def _with_layout(session: Session, request: Request) -> Answer:
    """The text with another layout, such as one from a search."""
    from clusterspec.analysis.rewrite import text_with_layout

    return {"status": 0, "text": text_with_layout(session.study(text_of(request)), mapping_of(request, "layout"))}


def _varied_text_answer(session: Session, request: Request) -> Answer:
    """The text with a lever of `sensitivity` at another value."""
    from clusterspec.analysis.levers.effects import changes_of
    from clusterspec.analysis.rewrite import text_with_changes

    study = session.study(text_of(request))
    try:
        changes = changes_of(study.design, text_of(request, "key"), request.get("value"))
    except ValueError as fault:
        raise RequestFault(str(fault)) from None
    return {"status": 0, "text": text_with_changes(study, changes)}


MOST_STEPS = 4
"""The maximum number of lever steps shown in each direction."""


def _lever_values(session: Session, request: Request) -> Answer:
    """The values of each numeric lever that a page shows, including the text's value."""
    from clusterspec.analysis.levers.effects import neighboring_lever_values

    return {"status": 0, "values": neighboring_lever_values(session.study(text_of(request)), MOST_STEPS)}


VERBS: Mapping[str, Callable[[Session, Request], Answer]] = {
    "check": _spec_verb("check"),
    "estimate": _spec_verb("estimate", *OF_DESIGN),
    "sensitivity": _spec_verb("sensitivity", *OF_DESIGN),
    "cost": _spec_verb("cost", *OF_DESIGN),
    "bom": _spec_verb("bom", *OF_DESIGN),
    "faults": _spec_verb("faults", *OF_DESIGN),
    "search": _search_answer,
    "diff": _diff_answer,
    "report": _report_answer,
    "convert": _without_spec("convert", "quantity"),
    "init": _starting_spec,
    "explain": _without_spec("explain", "rule"),
    "about": _about_answer,
    "hover": _hover_answer,
    "complete": _completion_answer,
    "with_layout": _with_layout,
    "vary": _varied_text_answer,
    "values": _lever_values,
}
"""The requests that a page can make. None of them writes a file or starts a program."""
