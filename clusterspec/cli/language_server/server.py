"""The server: what the client asks, and the answers of the other modules in the types of the protocol."""

from __future__ import annotations

import argparse
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from clusterspec import __version__, rules
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import Desk
from clusterspec.cli.language_server import completion, hover
from clusterspec.cli.language_server.places import reach, taken
from clusterspec.document import project_root
from clusterspec.finding import Finding, Severity
from clusterspec.pipeline import Settings, Study, study_text
from clusterspec.source import Source

PAGES = "https://github.com/clusterspec/clusterspec/blob/main/docs/rules.md"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
KINDS = {"key": types.CompletionItemKind.Property, "value": types.CompletionItemKind.EnumMember}


class Server(LanguageServer):
    """The specs that the client has open, each studied once for each of its versions."""

    def __init__(self, asked: argparse.Namespace) -> None:
        super().__init__("clusterspec", __version__)
        self.desk = Desk(asked)
        self._studies: dict[str, tuple[int, Study]] = {}

    def study(self, uri: str) -> Study:
        """The study of an open text as it is now."""
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
        """The settings of a folder; those without a configuration where it cannot be read."""
        try:
            return self.desk.settings(folder)
        except UsageFault:
            return self.desk.settings(Path(folder.anchor or "/"))

    def is_spec(self, uri: str) -> bool:
        """Whether an open text is meant as a spec."""
        text = self.workspace.get_text_document(uri).source
        return uri.endswith((".yaml", ".yml")) and "clusterspec" in text.lower()

    def publish(self, uri: str) -> None:
        """Sends the findings of a text; none for a text that is no spec."""
        found = diagnostics(self.study(uri)) if self.is_spec(uri) else []
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def forget(self, uri: str) -> None:
        """Drops a text that was closed."""
        self._studies.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def diagnostics(study: Study) -> list[types.Diagnostic]:
    """The findings in the text itself; those in its bases stand at `extends`."""
    return [diagnostic(study, finding) for finding in study.checked.findings]


def diagnostic(study: Study, finding: Finding) -> types.Diagnostic:
    """One finding for the client."""
    at = reach(study.source, finding.span)
    message = finding.message + (f"\n{finding.help}" if finding.help else "")
    if finding.span.file != study.source.name:
        place = study.document.places.get(("extends",)) if study.document else None
        at = reach(study.source, place.value) if place else types.Range(types.Position(0, 0), types.Position(0, 1))
        message = f"{finding.span}: {message}"
    related = [
        types.DiagnosticRelatedInformation(types.Location(from_fs_path(span.file) or "", reach(source, span)), words)
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
    """The fixes of the findings that touch a range."""
    made = []
    for finding in study.checked.findings:
        at = reach(study.source, finding.span)
        inside = {edit.span.file for edit in finding.edits} == {study.source.name}
        if inside and at.start.line <= asked.end.line and at.end.line >= asked.start.line:
            edits = [types.TextEdit(reach(study.source, edit.span), edit.text) for edit in finding.edits]
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
    """The base that `extends` names, or the log of a measurement, where the position is on its name."""
    document = study.document
    found = hover.path_at(document, taken(study.source, at)) if document else None
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
    """The server with all that it answers."""
    made = Server(asked)

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
        at = taken(study.source, wanted.position)
        text = hover.hover(study.document, study.settings.catalog, list(study.checked.findings), at)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @made.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " "]))
    def _(one: Server, wanted: types.CompletionParams) -> list[types.CompletionItem]:
        text = one.workspace.get_text_document(wanted.text_document.uri).source
        at = taken(Source("", text), wanted.position)
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
