"""The language server: requests of the client, answered by the other modules."""

from __future__ import annotations

import argparse
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from clusterspec import __version__, rules
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import StudyReader
from clusterspec.cli.language_server import completion, hover
from clusterspec.cli.language_server.positions import from_client_position, to_client_range
from clusterspec.document import prepare, project_root
from clusterspec.finding import Finding, Severity
from clusterspec.pipeline import Settings, Study, study_text
from clusterspec.source import Source
from clusterspec.spec.schema import schema

PAGES = "https://github.com/clusterspec/clusterspec/blob/main/docs/rules.md"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
KINDS = {"key": types.CompletionItemKind.Property, "value": types.CompletionItemKind.EnumMember}


class Server(LanguageServer):
    """The server with the open specs; each version of a spec is resolved once."""

    def __init__(self, asked: argparse.Namespace) -> None:
        super().__init__("clusterspec", __version__)
        self.studies = StudyReader(asked)
        self._studies: dict[str, tuple[int, Study]] = {}

    def study(self, uri: str) -> Study:
        """The study of the current version of an open text."""
        text = self.workspace.get_text_document(uri)
        stamp = hash(text.source)
        known = self._studies.get(uri)
        if known is not None and known[0] == stamp:
            return known[1]
        path = Path(to_fs_path(uri) or "spec.yaml")
        made = study_text(text.source, self.settings(path.parent), str(path), path.parent)
        self._studies[uri] = stamp, made
        return made

    def settings(self, folder: Path) -> Settings:
        """The settings of a folder; the defaults if its configuration cannot be read."""
        try:
            return self.studies.settings(folder)
        except UsageFault:
            return self.studies.settings(Path(folder.anchor or "/"))

    def is_spec(self, uri: str) -> bool:
        """Whether an open text is a spec."""
        text = self.workspace.get_text_document(uri).source
        return uri.endswith((".yaml", ".yml")) and "clusterspec" in text.lower()

    def publish(self, uri: str) -> None:
        """Publish the findings of a text; none if it is not a spec."""
        found = diagnostics(self.study(uri)) if self.is_spec(uri) else []
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def forget(self, uri: str) -> None:
        """Discard a closed text."""
        self._studies.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def diagnostics(study: Study) -> list[types.Diagnostic]:
    """The diagnostics of a text; findings in its bases are placed at `extends`."""
    return [diagnostic(study, finding) for finding in study.checked.findings]


def diagnostic(study: Study, finding: Finding) -> types.Diagnostic:
    """A finding as a diagnostic."""
    at = to_client_range(study.source, finding.span)
    message = finding.message + (f"\n{finding.help}" if finding.help else "")
    if finding.span.file != study.source.name:
        place = study.document.places.get(("extends",)) if study.document else None
        at = (
            to_client_range(study.source, place.value)
            if place
            else types.Range(types.Position(0, 0), types.Position(0, 1))
        )
        message = f"{finding.span}: {message}"
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
        code_description=types.CodeDescription(f"{PAGES}#{finding.rule}") if rules.known(finding.rule) else None,
        source="clusterspec",
        related_information=related or None,
    )


def actions(study: Study, uri: str, asked: types.Range) -> list[types.CodeAction]:
    """The fixes of findings in a range, as code actions."""
    made = []
    for finding in study.checked.findings:
        at = to_client_range(study.source, finding.span)
        inside = {edit.span.file for edit in finding.edits} == {study.source.name}
        if inside and at.start.line <= asked.end.line and at.end.line >= asked.start.line:
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


def definition(study: Study, at: types.Position) -> types.Location | None:
    """The location of the base or log whose name is at a position."""
    document = study.document
    found = hover.path_at(document, from_client_position(study.source, at)) if document else None
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


def server(asked: argparse.Namespace) -> Server:
    """A server with its handlers registered, ready to describe errors without further imports."""
    made = Server(asked)
    prepare(schema())

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(one: Server, opened: types.DidOpenTextDocumentParams) -> None:
        one.publish(opened.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(one: Server, changed: types.DidChangeTextDocumentParams) -> None:
        one.publish(changed.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(one: Server, closed: types.DidCloseTextDocumentParams) -> None:
        one.forget(closed.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def _(one: Server, wanted: types.HoverParams) -> types.Hover | None:
        study = one.study(wanted.text_document.uri)
        if study.document is None:
            return None
        at = from_client_position(study.source, wanted.position)
        text = hover.hover(study.document, study.settings.catalog, list(study.checked.findings), at)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @made.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " "]))
    def _(one: Server, wanted: types.CompletionParams) -> list[types.CompletionItem]:
        text = one.workspace.get_text_document(wanted.text_document.uri).source
        at = from_client_position(Source("", text), wanted.position)
        catalog = one.study(wanted.text_document.uri).settings.catalog
        found = completion.offers(text.split("\n"), at.line - 1, at.column - 1, catalog)
        other = types.CompletionItemKind.Value
        return [types.CompletionItem(one.text, kind=KINDS.get(one.kind, other), detail=one.detail) for one in found]

    @made.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def _(one: Server, wanted: types.CodeActionParams) -> list[types.CodeAction]:
        return actions(one.study(wanted.text_document.uri), wanted.text_document.uri, wanted.range)

    @made.feature(types.TEXT_DOCUMENT_DEFINITION)
    def _(one: Server, wanted: types.DefinitionParams) -> types.Location | None:
        return definition(one.study(wanted.text_document.uri), wanted.position)

    return made
