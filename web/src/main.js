// The page: one spec, its findings while one types, and the results of the commands beside it.

import { Editor } from "./editor.js";
import { download, h, replace } from "./dom.js";
import { ServerEngine, WorkerEngine } from "./engine.js";
import { Check, Compare, Convert, Cost, Estimate, Report, Search } from "./panels.js";
import { NewSpec } from "./newspec.js";
import { packed, unpacked } from "./permalink.js";

const PAUSE = 300; // milliseconds without a key before the text is checked
const KEPT = "clusterspec.spec";
const TABS = [["check", "Check", Check], ["estimate", "Estimate", Estimate], ["search", "Search", Search], ["cost", "Cost", Cost], ["diff", "Compare", Compare], ["report", "Report", Report], ["convert", "Convert", Convert]];
const byId = (id) => document.getElementById(id);

function stored(storage, key, value) {
  try {
    if (value === undefined) return storage.getItem(key);
    storage.setItem(key, value);
  } catch {
    // a browser may refuse storage; the page works without
  }
  return null;
}

class Desk {
  constructor() {
    this.about = { rules: "the" };
    this.name = "cluster.yaml";
    this.panels = {};
    this.tab = "check";
    this.worker = document.documentElement.dataset.engine === "worker";
  }

  get text() {
    return this.editor.text;
  }

  get stem() {
    return this.name.split("/").pop().replace(/\.ya?ml$/, "");
  }

  async start() {
    this.theme();
    this.makeTabs();
    if (this.worker) {
      this.engine = new WorkerEngine("worker.js", (state) => this.state(state, true));
      this.groups = await fetch("examples.json").then((answer) => answer.json()).catch(() => ({}));
      this.examples = Object.assign({}, ...Object.values(this.groups));
      this.opened = await this.firstText();
      this.offline();
    } else {
      const given = new URLSearchParams(location.hash.slice(1)).get("token");
      if (given) stored(sessionStorage, "token", given);
      history.replaceState(null, "", location.pathname);
      this.engine = new ServerEngine(given ?? stored(sessionStorage, "token") ?? "");
      this.examples = {};
      const file = await this.engine.ask({ verb: "read" });
      if (file.status) return this.crash(file, "Open the address that `clusterspec edit` printed, with all of it.");
      this.opened = this.saved = file.text;
      this.onDisk = file.state;
    }
    this.editor = new Editor(byId("editor"), { text: this.opened, label: "The spec, as YAML", onchange: () => this.changed(), ask: (request) => this.ask(request) });
    this.makeToolbar();
    this.editor.view.focus();
    this.state(this.worker ? "starting the engine …" : "connecting …", true);
    const about = await this.engine.start();
    if (about.status) return this.crash(about);
    this.about = about;
    byId("loading").remove();
    if (!this.worker) this.name = about.name;
    byId("name").textContent = this.name;
    document.title = `${this.name} · clusterspec`;
    this.state("");
    byId("version").textContent = `${about.version} · catalog ${about.catalog}`;
    if (!this.worker) this.watch();
    await this.check();
    return this.panels[this.tab].refresh();
  }

  // The text: where it comes from, and where it is kept

  async firstText() {
    const found = new URLSearchParams(location.hash.slice(1));
    try {
      if (TABS.some(([name]) => name === found.get("tab"))) this.choose(found.get("tab"), false, true);
      if (found.get("spec")) return await unpacked(found.get("spec"));
    } catch {
      this.tell("This link is damaged or too long: the text that it held cannot be read.");
    }
    const example = this.examples[found.get("example")];
    return example ?? stored(localStorage, KEPT) ?? Object.values(this.groups.Examples ?? this.examples)[0] ?? "clusterspec: 1\n";
  }

  sources() {
    const own = this.worker ? [["opened", "the text as it was opened"]] : [["saved", "the file on disk"], ["opened", "the text as it was opened"]];
    return [...own, ...Object.keys(this.examples).map((name) => [`example:${name}`, name])];
  }

  async source(value) {
    if (value === "saved") return (await this.engine.ask({ verb: "read" })).text ?? "";
    return value === "opened" ? this.opened : this.examples[value.slice("example:".length)] ?? "";
  }

  changed() {
    if (this.worker) stored(localStorage, KEPT, this.text);
    else this.unsaved();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PAUSE);
  }

  async update() {
    await this.check();
    await this.panels[this.tab].refresh();
  }

  /** Checks every text, so that the marks in the editor always belong to it. */
  async check() {
    if (this.checking) {
      this.again = true;
      return;
    }
    this.checking = true;
    const { text } = this;
    this.panels.check.busy(true);
    const answer = await this.ask({ verb: "check", format: "json", text });
    this.checking = false;
    this.panels.check.busy(this.again);
    if (text === this.text) {
      try {
        const report = JSON.parse(answer.out);
        this.panels.check.raw = answer.out;
        this.panels.check.found(report);
        this.editor.mark(report.findings, this.name);
        const { error, warning } = report.summary;
        byId("count").textContent = error + warning ? String(error + warning) : "";
        byId("count").className = error ? "bad" : "fair";
        byId("said").textContent = `${report.summary.error} errors, ${report.summary.warning} warnings, ${report.summary.note} notes`;
      } catch {
        if (answer.status !== 3 && !answer.cancelled) this.tell(answer.err);
      }
    }
    if (this.again) {
      this.again = false;
      await this.check();
    }
  }

  async ask(request, options) {
    const answer = await this.engine.ask(request, { onslow: () => this.slow(), ...options });
    if (byId("message").querySelector(".slow")) byId("message").replaceChildren();
    if (answer.status === 3) this.crash(answer);
    return answer;
  }

  /** The engine takes long: offers to stop it, which starts a new engine and keeps the text. */
  slow() {
    this.tell("The engine has worked on this text for 10 s.", h("button", { className: "slow", onclick: () => {
      this.engine.cancel();
      this.tell("Stopped. Your text is still here; it is checked again when it changes.");
    } }, "Stop"));
  }

  goto(line, column) {
    document.body.dataset.view = "spec";
    this.editor.show(line, column);
  }

  // Messages

  state(text, busy = false) {
    replace(byId("state"), text && busy ? h("span", { className: "spinner", "aria-hidden": "true" }) : [], text);
  }

  tell(text, ...more) {
    replace(byId("message"), h("p", {}, text), more, h("button", { className: "plain", "aria-label": "close this message", onclick: () => byId("message").replaceChildren() }, "×"));
  }

  /** The engine failed: the text stays, and there is a way to go on and to report it. */
  crash(answer, advice = "") {
    this.state("");
    const title = encodeURIComponent(answer.err.trim().slice(0, 120));
    this.tell(`The engine failed; your text is still here. ${advice}`,
      h("pre", {}, answer.err.trim()),
      h("p", { className: "row" },
        this.editor && h("button", { onclick: () => { byId("message").replaceChildren(); this.update(); } }, "Try again"),
        h("a", { href: `https://github.com/clusterspec/clusterspec/issues/new?title=${title}`, target: "_blank", rel: "noopener noreferrer" }, "Report it"),
        h("span", { className: "small" }, "The report holds the message only; add the spec if it is not confidential.")));
  }

  // The toolbar

  makeToolbar() {
    const names = Object.keys(this.examples);
    const pick = h("select", { "aria-label": "Open an example", onchange: () => {
      const text = this.examples[pick.value];
      pick.selectedIndex = 0;
      if (text !== undefined) this.open(text);
    } }, h("option", { value: "" }, "Examples …"), Object.entries(this.groups ?? {}).map(([group, inside]) =>
      h("optgroup", { label: group }, Object.keys(inside).map((name) => h("option", { value: name }, name)))));
    const file = h("input", { type: "file", accept: ".yaml,.yml,text/yaml", className: "hidden", tabIndex: -1, "aria-hidden": "true", onchange: async () => {
      const [chosen] = file.files;
      file.value = ""; // the same file may be opened again
      if (!chosen) return;
      if (chosen.size > 1 << 20) this.tell("This file is larger than one megabyte.");
      else this.open(await chosen.text());
    } });
    const dialog = new NewSpec(this);
    this.saveButton = h("button", { className: "primary", disabled: true, title: "Ctrl+S", onclick: () => this.save() }, "Save");
    replace(byId("tools"),
      h("button", { onclick: () => dialog.open() }, "New spec"),
      names.length > 0 && pick,
      this.worker && h("button", { onclick: () => this.share() }, "Copy link"),
      this.worker && h("button", { onclick: () => this.download() }, "Download"),
      this.worker && h("button", { onclick: () => file.click() }, "Open file"), this.worker && file,
      !this.worker && this.saveButton);
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "s") {
        event.preventDefault();
        if (this.worker) this.download();
        else this.save();
      }
      if (event.altKey && !event.ctrlKey && /^[1-7]$/.test(event.key)) {
        event.preventDefault();
        this.choose(TABS[Number(event.key) - 1][0], true);
      }
    });
    if (!this.worker) addEventListener("beforeunload", (event) => { if (this.text !== this.saved) event.preventDefault(); });
  }

  /** Replaces the text of the editor; a comparison begins with the new text. */
  open(text) {
    this.opened = text;
    this.editor.set(text);
    this.panels.diff.old?.set(text);
    document.body.dataset.view = "spec";
    this.editor.view.focus();
  }

  download() {
    download(this.name, this.text, "application/yaml");
  }

  async share() {
    const link = `${location.origin}${location.pathname}#spec=${await packed(this.text)}&tab=${this.tab}`;
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      this.tell("The link is copied. It contains the whole spec after the #, which browsers do not send.");
    } catch {
      this.tell("The link is in the address bar. It contains the whole spec after the #, which browsers do not send.");
    }
  }

  // The file of `clusterspec edit`

  unsaved() {
    this.saveButton.disabled = this.text === this.saved;
    byId("name").textContent = this.name + (this.text === this.saved ? "" : " •");
  }

  async save() {
    const { text } = this;
    const answer = await this.ask({ verb: "save", text, state: this.onDisk });
    if (answer.status === 1) this.conflict(answer);
    else if (answer.status) this.tell(answer.err);
    else {
      this.saved = text;
      this.onDisk = answer.state;
      this.unsaved();
      byId("said").textContent = "saved";
    }
  }

  conflict(file) {
    this.tell("The file has changed on disk since this page read it.", h("p", { className: "row" },
      h("button", { onclick: () => { this.read(file); byId("message").replaceChildren(); } }, "Take the file"),
      h("button", { onclick: () => { this.onDisk = file.state; this.saved = file.text; this.unsaved(); byId("message").replaceChildren(); } }, "Keep my text; the next save replaces the file")));
  }

  /** Says once why the file can no longer be read. */
  unreadable({ status, err }) {
    const why = status ? err.replace(/^clusterspec: /, "").trim() : "";
    if (why && why !== this.trouble) this.tell(`The file on disk cannot be read: ${why}. Your text is still here.`);
    if (!why && this.trouble) byId("message").replaceChildren();
    this.trouble = why;
  }

  read(file) {
    this.onDisk = file.state;
    this.saved = file.text;
    this.editor.set(file.text);
    this.unsaved();
  }

  async watch() {
    for (;;) {
      const state = this.onDisk;
      const answer = await this.engine.ask({ verb: this.trouble ? "read" : "watch", state });
      if (answer.gone) return this.crash(answer);
      this.unreadable(answer);
      if (answer.status || answer.text === undefined || answer.state === state || state !== this.onDisk) {
        if (answer.status) await new Promise((resolve) => setTimeout(resolve, 2000));
        continue;
      }
      if (this.text === this.saved || this.text === answer.text) this.read(answer);
      else {
        this.conflict(answer);
        await new Promise((resolve) => setTimeout(resolve, 5000));
      }
    }
  }

  // Tabs

  makeTabs() {
    const list = byId("tabs");
    for (const [name, title, Kind] of TABS) {
      const panel = new Kind(this);
      this.panels[name] = panel;
      list.append(h("button", { id: `tab-${name}`, role: "tab", "aria-controls": `panel-${name}`, tabIndex: -1, onclick: () => this.choose(name) }, title, name === "check" ? h("span", { id: "count" }) : []));
      byId("panels").append(h("section", { id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, hidden: true, tabIndex: 0 }, panel.element));
    }
    list.addEventListener("keydown", (event) => {
      const at = TABS.findIndex(([name]) => name === this.tab);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.choose(TABS[(to + TABS.length) % TABS.length][0], true);
    });
    for (const button of byId("views").children) button.addEventListener("click", () => { document.body.dataset.view = button.dataset.view; });
    this.choose(this.tab, false, true);
  }

  choose(name, focus = false, quiet = false) {
    this.tab = name;
    for (const [other] of TABS) {
      const tab = byId(`tab-${other}`);
      tab.setAttribute("aria-selected", String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
      byId(`panel-${other}`).hidden = other !== name;
    }
    if (focus) byId(`tab-${name}`).focus();
    if (!quiet) {
      document.body.dataset.view = "results";
      if (this.about.version) this.panels[name].refresh();
    }
  }

  theme() {
    const kept = stored(localStorage, "clusterspec.theme");
    if (kept) document.documentElement.dataset.theme = kept;
    byId("theme").addEventListener("click", () => {
      const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      document.documentElement.dataset.theme = dark ? "light" : "dark";
      stored(localStorage, "clusterspec.theme", document.documentElement.dataset.theme);
    });
  }

  /** After the first visit the playground works without a network. */
  offline() {
    addEventListener("hashchange", () => location.reload()); // a link to another spec, opened in this page
    if ("serviceWorker" in navigator) navigator.serviceWorker.register("offline.js").catch(() => null);
  }
}

const desk = new Desk();
desk.start();
