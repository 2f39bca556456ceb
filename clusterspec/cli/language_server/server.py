"""The language server: requests of the client, and positions in UTF-16 units."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from clusterspec import __version__, rules
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import StudyReader
from clusterspec.cli.language_server import features
from clusterspec.document import LARGEST, encode, load_violation_texts, project_root
from clusterspec.document.files import finding_at_extends, is_derived, may_be_spec
from clusterspec.finding import Finding, Severity
from clusterspec.records import dataclass
from clusterspec.report.findings_machines import rule_address
from clusterspec.source import Position, Source, Span
from clusterspec.spec import schema
from clusterspec.studies import Settings, Study, study_text
from clusterspec.studies.prose_files import checked_prose

# Conversion of positions: the protocol counts UTF-16 units from 0, this program code points from 1


def utf16_units(text: str) -> int:
    """The number of UTF-16 units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def to_client_position(source: Source, at: Position) -> types.Position:
    """A position in the protocol's convention. There a carriage return without a line feed also ends a line."""
    line, before = at.line - 1, source.line(at.line)[: at.column - 1]
    if "\r" in source.text:
        line += sum(source.line(number).count("\r") for number in range(1, at.line)) + before.count("\r")
        before = before.rpartition("\r")[2]
    return types.Position(line, utf16_units(before))


def to_client_range(source: Source, span: Span) -> types.Range:
    """A span in the protocol's convention."""
    return types.Range(to_client_position(source, span.start), to_client_position(source, span.end))


def position_of_client(source: Source, at: types.Position) -> Position:
    """A position, converted from the protocol's convention."""
    line, left = source.line(at.line + 1), at.character
    for column, letter in enumerate(line, 1):
        if left <= 0:
            return Position(at.line + 1, column)
        left -= utf16_units(letter)
    return Position(at.line + 1, len(line) + 1)


# The input of the server

LARGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes of a message that is read: the largest text, its characters escaped, and a margin."""
_MAX_HEADER = 64 * 1024
_LENGTH = re.compile(rb"Content-Length: (\d{1,12})\r\n$")
_ANY_LENGTH = re.compile(rb"Content-Length:[^\r\n]*\s*$")


class Messages:
    """A stream of messages that skips messages with an excessive stated length.

    The server would reserve as many bytes as a header states. The body of a skipped message is read up to the next
    header, which may follow on the same line.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """The next line of a header; empty at the end of the stream."""
        skipping = False
        while line := self._stream.readline(_MAX_HEADER):
            stated = _LENGTH.search(line)
            if stated is not None and int(stated[1]) <= LARGEST_MESSAGE:
                return stated[0]
            if stated is not None or _ANY_LENGTH.search(line):
                skipping = True
            elif not skipping:
                return line
        return b""

    def read(self, size: int) -> bytes:
        """The body of a message."""
        return self._stream.read(size)


# The language server: requests of the client, answered by the other modules

WATCHED = ("**/clusterspec.toml", "**/pyproject.toml", "**/*.yaml", "**/*.yml")
"""Files whose changes may change findings in others: configurations, bases, catalogs and rules."""
_HAS_KEY = re.compile(r"^[^\s#-][^:#\n]*:(\s|$)", re.MULTILINE)
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
KINDS = {"key": types.CompletionItemKind.Property, "value": types.CompletionItemKind.EnumMember}


class Server(LanguageServer):
    """The server with the open specs; each version of a spec is resolved once."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__("clusterspec", __version__)
        self.studies = StudyReader(args)
        self._studies: dict[str, tuple[int, Study]] = {}
        self._told: set[str] = set()

    def study(self, uri: str) -> Study:
        """The study of the current version of an open text."""
        text = self.workspace.get_text_document(uri)
        stamp = hash(text.source)
        known = self._studies.get(uri)
        if known is not None and known[0] == stamp:
            return known[1]
        path = path_of(uri)
        made = study_text(text.source, self.settings(path), str(path), path.parent)
        self._studies[uri] = stamp, made
        return made

    def settings(self, path: Path) -> Settings:
        """The settings of a file; the defaults, after a message to the user, if its configuration is refused."""
        try:
            return self.studies.settings_of(str(path))
        except UsageFault as fault:
            if str(fault) not in self._told:
                self._told.add(str(fault))
                kind = types.MessageType.Warning
                self.window_show_message(
                    types.ShowMessageParams(kind, f"clusterspec ignores its configuration: {fault}")
                )
            return self.studies.settings(Path(path.anchor or "/"))

    def is_spec(self, uri: str) -> bool:
        """Whether an open text is a spec."""
        text = self.workspace.get_text_document(uri)
        named = uri.endswith((".yaml", ".yml")) or text.language_id == "yaml"
        return named and (may_be_spec(text.source) or is_derived(text.source, path_of(uri)))

    def is_prose(self, uri: str) -> bool:
        """Whether an open text is Markdown, whose quantities are checked, and no longer than `check` accepts."""
        text = self.workspace.get_text_document(uri)
        named = uri.endswith((".md", ".markdown")) or text.language_id == "markdown"
        return named and len(text.source) <= LARGEST

    def completes(self, uri: str) -> bool:
        """Whether completion offers keys in a text: in a spec, and in a text without any keys."""
        return self.is_spec(uri) or not _HAS_KEY.search(self.workspace.get_text_document(uri).source)

    def reload(self) -> None:
        """Read configurations, catalogs, bases and logs anew, and publish the findings of all open texts."""
        self.studies = StudyReader(self.studies.asked)
        self._studies.clear()
        for uri in list(self.workspace.text_documents):
            self.publish(uri)

    def publish(self, uri: str) -> None:
        """Publish the findings of a spec or of a Markdown text; none of any other text."""
        found: list[types.Diagnostic] = []
        if self.is_spec(uri):
            found = diagnostics(self.study(uri))
        elif self.is_prose(uri):
            path, text = path_of(uri), self.workspace.get_text_document(uri).source
            found = prose_diagnostics(Source(str(path), text), self.settings(path))
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def forget(self, uri: str) -> None:
        """Discard a closed text."""
        self._studies.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def path_of(uri: str) -> Path:
    """The path of a text. An unsaved text counts as a file in the current folder."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else Path.cwd() / "untitled.yaml"


def diagnostics(study: Study) -> list[types.Diagnostic]:
    """The diagnostics of a text. Findings in its bases are shown at `extends`."""
    return [diagnostic(study, finding) for finding in study.checked.findings]


def prose_diagnostics(source: Source, settings: Settings) -> list[types.Diagnostic]:
    """The diagnostics of a running text."""
    found = checked_prose(source, encode(source.text), settings).findings
    return [diagnostic(Prose(source), finding) for finding in found]


@dataclass(frozen=True)
class Prose:
    """Running text with the attributes that `diagnostic` needs."""

    source: Source
    extends: None = None

    @property
    def sources(self) -> dict[str, Source]:
        return {self.source.name: self.source}


def diagnostic(study: Study | Prose, finding: Finding) -> types.Diagnostic:
    """A finding as a diagnostic."""
    if finding.span.file != study.source.name and study.extends is not None:
        finding = finding_at_extends(finding, study.extends)
    at = to_client_range(study.source, finding.span)
    message = finding.message + (f"\n{finding.help}" if finding.help else "")
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(from_fs_path(span.file) or "", to_client_range(source, span)), words
        )
        for span, words in finding.related
        if (source := study.sources.get(span.file)) is not None
    ]
    return types.Diagnostic(
        at,
        message,
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(rule_address(finding.rule)) if rules.rule_exists(finding.rule) else None,
        source="clusterspec",
        related_information=related or None,
    )


def code_actions(study: Study, uri: str, requested: types.Range) -> list[types.CodeAction]:
    """The fixes of findings in a range, as code actions."""
    made = []
    for finding in study.checked.findings:
        at = to_client_range(study.source, finding.span)
        inside = {edit.span.file for edit in finding.edits} == {study.source.name}
        if inside and at.start.line <= requested.end.line and at.end.line >= requested.start.line:
            edits = [types.TextEdit(to_client_range(study.source, edit.span), edit.text) for edit in finding.edits]
            made.append(
                types.CodeAction(
                    f"{finding.fix_description} ({finding.rule})",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic(study, finding)],
                    is_preferred=finding.fix_safe,
                    edit=types.WorkspaceEdit(changes={uri: edits}),
                )
            )
    return made


def definition_location(study: Study, at: types.Position) -> types.Location | None:
    """The location of the base or log whose name is at a position."""
    document = study.document
    found = features.path_at(document, position_of_client(study.source, at)) if document else None
    if document is None or found is None or found[0][-1] not in {"extends", "log"}:
        return None
    value = document.value
    for key in found[0]:
        value = value[key]
    target = (study.folder / str(value)).resolve()
    if not target.is_file() or not target.is_relative_to(project_root(study.folder)):
        return None
    top = types.Position(0, 0)
    return types.Location(from_fs_path(str(target)) or "", types.Range(top, top))


def watch_files(server: Server) -> None:
    """Ask the editor, if it can, to report changes of files that findings depend on."""
    workspace = server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched and watched.dynamic_registration:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(name) for name in WATCHED])
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("watched", method, options)
        server.client_register_capability(types.RegistrationParams([registration]))


def server(args: argparse.Namespace) -> Server:
    """A server with its handlers registered, ready to describe errors without further imports."""
    made = Server(args)
    load_violation_texts(schema())
    _register_change_handlers(made)
    _register_answers(made)
    return made


def _register_change_handlers(language_server: Server) -> None:
    """Register the handlers of changes to texts and files."""

    @language_server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(server: Server, opened: types.DidOpenTextDocumentParams) -> None:
        server.publish(opened.text_document.uri)

    @language_server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(server: Server, changed: types.DidChangeTextDocumentParams) -> None:
        server.publish(changed.text_document.uri)

    @language_server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(server: Server, closed: types.DidCloseTextDocumentParams) -> None:
        server.forget(closed.text_document.uri)

    @language_server.feature(types.INITIALIZED)
    def _(server: Server, _: types.InitializedParams) -> None:
        watch_files(server)

    @language_server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _(server: Server, _: types.DidSaveTextDocumentParams) -> None:
        server.reload()

    @language_server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(server: Server, _: types.DidChangeWatchedFilesParams) -> None:
        server.reload()


def _register_answers(language_server: Server) -> None:
    """Register the answers to hover, completion, quick fixes and definitions."""

    @language_server.feature(types.TEXT_DOCUMENT_HOVER)
    def _(server: Server, params: types.HoverParams) -> types.Hover | None:
        study = server.study(params.text_document.uri)
        if study.document is None or not server.is_spec(params.text_document.uri):
            return None
        at = position_of_client(study.source, params.position)
        text = features.hover_text(study.document, study.settings.catalog, list(study.checked.findings), at)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @language_server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " "]))
    def _(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
        if not server.completes(params.text_document.uri):
            return []
        text = server.workspace.get_text_document(params.text_document.uri).source
        at = position_of_client(Source("", text), params.position)
        study = server.study(params.text_document.uri)
        place = features.Place(text.split("\n"), at.line - 1, at.column - 1, study.folder)
        found = features.completion_items(place, study.settings.catalog)
        other = types.CompletionItemKind.Value
        return [types.CompletionItem(one.text, kind=KINDS.get(one.kind, other), detail=one.detail) for one in found]

    @language_server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def _(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        if not server.is_spec(params.text_document.uri):
            return []
        return code_actions(server.study(params.text_document.uri), params.text_document.uri, params.range)

    @language_server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def _(server: Server, params: types.DefinitionParams) -> types.Location | None:
        return definition_location(server.study(params.text_document.uri), params.position)
