// The YAML editor: findings at their places, hover texts, completions and quick fixes, all from the engine.

import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { h, inline, markdown } from "./dom.js";

const colors = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.content], color: "var(--ink)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: "var(--soft)" },
]);

/** The offset of a line and column in code points, both from 1. */
export function offset(doc, line, column) {
  if (line < 1) return 0;
  if (line > doc.lines) return doc.length;
  const { from, text } = doc.line(line);
  let units = 0;
  for (const letter of text) {
    if (column <= 1) break;
    units += letter.length;
    column -= 1;
  }
  return from + units;
}

/** The line and column in code points of an offset. */
export function position(doc, at) {
  const line = doc.lineAt(at);
  return { line: line.number, column: [...line.text.slice(0, at - line.from)].length + 1 };
}

const LEVEL = { error: "error", warning: "warning", note: "info" };

export class Editor {
  constructor(parent, { text, label, onchange, ask, small = false }) {
    this.ask = ask;
    this.quiet = false;
    const changed = EditorView.updateListener.of((update) => {
      if (update.docChanged && !this.quiet) onchange?.(this.text);
    });
    const asking = ask ? [this.completion(), this.hover(), lintGutter(), keymap.of(lintKeymap)] : [];
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(), highlightActiveLineGutter(), history(), small ? [] : foldGutter(), drawSelection(), indentOnInput(),
          EditorState.tabSize.of(2), indentUnit.of("  "), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true }),
          yaml(), syntaxHighlighting(colors), asking,
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, { key: "Tab", run: acceptCompletion }]),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
          EditorView.lineWrapping, changed,
        ],
      }),
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Replaces the text; `quiet` as when it is read from a file. What does not change keeps cursor and history. */
  set(text, { quiet = false } = {}) {
    const old = this.text;
    if (old === text) return;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
    let end = 0;
    while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
    this.quiet = quiet;
    this.view.dispatch({
      changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
      annotations: [Transaction.addToHistory.of(true), isolateHistory.of("full")], // a text put in place of another is undone alone
    });
    this.quiet = false;
  }

  show(line, column) {
    const at = offset(this.view.state.doc, line, column);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }

  /** Applies the edits of a fix, as one change that can be undone. */
  apply(edits) {
    const { doc } = this.view.state;
    this.view.dispatch({
      changes: edits.map((edit) => ({
        from: offset(doc, edit.line, edit.column),
        to: offset(doc, edit.end_line, edit.end_column),
        insert: edit.text,
      })),
    });
  }

  /** Marks the findings that are in this text. */
  mark(findings, name) {
    const { state } = this.view;
    const { doc } = state;
    const marks = findings.filter((one) => one.file === name).map((one) => {
      const from = offset(doc, one.line, one.column);
      const to = Math.max(from, offset(doc, one.end_line, one.end_column));
      return {
        from, to, severity: LEVEL[one.severity], message: one.message,
        renderMessage: () => h("div", { className: "mark" },
          h("p", {}, h("strong", { className: one.severity }, one.severity), " ", inline(one.message)),
          one.help && h("p", { className: "help" }, inline(one.help)), h("p", { className: "rule" }, one.rule)),
        actions: one.fix ? [{ name: (one.fix.description || "fix").replaceAll("`", ""), apply: () => this.apply(one.fix.edits) }] : [],
      };
    });
    this.view.dispatch(setDiagnostics(state, marks.sort((a, b) => a.from - b.from)));
  }

  completion() {
    const source = async (context) => {
      const word = context.matchBefore(/[\w.+/-]*/);
      const before = context.state.doc.lineAt(context.pos).text.slice(0, context.pos - context.state.doc.lineAt(context.pos).from);
      if (!context.explicit && word.from === word.to && !/(:|\[|,)\s$/.test(before)) return null;
      const answer = await this.ask({ verb: "complete", text: this.text, ...position(context.state.doc, context.pos) });
      if (context.aborted || !answer.items?.length) return null;
      return {
        from: word.from,
        validFor: /^[\w.+/-]*$/,
        options: answer.items.map((item) => ({
          label: item.text,
          apply: item.kind === "key" ? `${item.text}: ` : item.text,
          type: item.kind === "key" ? "property" : "enum",
          info: item.detail ? () => h("div", { className: "info" }, inline(item.detail)) : undefined,
        })),
      };
    };
    return autocompletion({ override: [source], icons: false });
  }

  hover() {
    return hoverTooltip(async (view, at) => {
      const before = view.state.doc;
      const answer = await this.ask({ verb: "hover", text: this.text, ...position(before, at) });
      if (!answer.markdown || view.state.doc !== before) return null;
      const marked = [];
      forEachDiagnostic(view.state, (_, from, to) => { if (from <= at && at <= to) marked.push(from); });
      const shown = marked.length ? answer.markdown.split("\n\n---\n\n").slice(0, 1).join("") : answer.markdown;
      return { pos: at, above: true, create: () => ({ dom: h("div", { className: "hover" }, markdown(shown)) }) };
    }, { hoverTime: 350 });
  }
}
