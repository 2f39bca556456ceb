// One panel for each tab. A panel asks the engine and shows the answer; texts are what the command line prints.

import { bar, change, digits, download, figure, h, inline, markdown, range, replace, table } from "./dom.js";
import { Editor } from "./editor.js";

const words = (name) => name.replaceAll("_", " ").replaceAll(".", " ");
const plural = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

function note(text, tone = "") {
  return h("p", { className: `note ${tone}` }, inline(text));
}

/** What the engine said instead of a result. */
function complaint(answer) {
  return h("div", { className: "complaint", role: "alert" }, h("pre", {}, (answer.err || answer.out || "no answer").trim()));
}

/** The output of a command as the terminal shows it, asked for when it is opened. */
function printed(desk, request, words) {
  const box = h("div", {});
  return h("details", { className: "printed", ontoggle: async (event) => {
    if (!event.target.open || box.childElementCount) return;
    replace(box, note("…"));
    const answer = await desk.ask({ ...request, format: undefined, text: desk.text });
    replace(box, h("pre", { tabIndex: 0 }, answer.out + (answer.err ? `\n${answer.err}` : "")));
  } }, h("summary", {}, "As the command line prints it ", h("code", {}, words)), box);
}

function downloads(desk, name, text) {
  return h("button", { className: "plain", onclick: () => download(`${desk.stem}-${name}.json`, text, "application/json") }, "Download JSON");
}

/** A panel that shows the answer to one command, and renews it when the text changes. */
class Panel {
  constructor(desk) {
    this.desk = desk;
    this.body = h("div", { className: "body" });
    this.element = h("div", {}, this.controls(), this.body);
    this.seen = null;
  }

  controls() {
    return [];
  }

  get live() {
    return true;
  }

  /** Fades an answer while the next one is made. */
  busy(is) {
    this.element.setAttribute("aria-busy", String(Boolean(is)));
  }

  /** The answer as JSON, or null after showing why there is none. `stale` answers are dropped. */
  async result({ onprogress, ...request }) {
    const text = this.desk.text;
    this.busy(true);
    const answer = await this.desk.ask({ format: "json", ...request, text }, { onprogress });
    if (text !== this.desk.text && this.live) return null;
    this.busy(false);
    this.answer = answer;
    try {
      return JSON.parse(answer.out);
    } catch {
      if (!answer.cancelled) replace(this.body, complaint(answer));
      else if (this.body.querySelector(".working")) replace(this.body, note("Stopped."));
      if (answer.cancelled) this.seen = null; // asked again when the tab is chosen
      return null;
    }
  }

  async refresh(force = false) {
    const key = this.key();
    if (!force && this.seen === key) return;
    this.seen = key;
    if (!this.body.childElementCount) replace(this.body, note("Working …", "working"));
    await this.show();
  }

  key() {
    return this.desk.text;
  }
}

// check

export class Check extends Panel {
  /** The desk checks every text, and hands over what was found. */
  async show() {}

  found(report) {
    const { desk } = this;
    const { error, warning, note: notes } = report.summary;
    const verdict = error ? "bad" : warning ? "fair" : "good";
    const head = error + warning + notes === 0 ? "Nothing to report" : [plural(error, "error"), plural(warning, "warning"), plural(notes, "note")].join(" · ");
    replace(this.body,
      h("p", { className: `verdict ${verdict}` }, head),
      report.findings.map((one) => this.card(one)),
      note(`Checked by ${desk.about.rules} rules against catalog ${report.tool.catalog}, version ${report.tool.version}.`, "small"),
      h("p", { className: "row" }, downloads(desk, "check", this.raw ?? "")),
      printed(desk, { verb: "check", format: "text" }, `clusterspec check ${desk.name}`));
  }

  card(one) {
    const { desk } = this;
    const here = one.file === desk.name;
    const page = h("div", { className: "page" });
    const place = `${here ? "line" : one.file} ${here ? one.line : `:${one.line}`}`;
    return h("article", { className: `finding ${one.severity}` },
      h("p", { className: "top" }, h("span", { className: "badge" }, one.severity), h("code", {}, one.rule),
        h("button", { className: "link", disabled: !here, onclick: () => desk.goto(one.line, one.column) }, place)),
      h("p", {}, inline(one.message)),
      one.help && h("p", { className: "help" }, inline(one.help)),
      h("div", { className: "row" },
        one.fix && here && h("button", { onclick: () => desk.editor.apply(one.fix.edits) }, one.fix.description ? inline(`Fix: ${one.fix.description}`) : "Fix"),
        h("details", { className: "why", ontoggle: async (event) => {
          if (!event.target.open || page.childElementCount) return;
          const answer = await desk.ask({ verb: "explain", rule: one.rule, format: "json" });
          try {
            replace(page, markdown(JSON.parse(answer.out).page));
          } catch {
            replace(page, complaint(answer));
          }
        } }, h("summary", {}, "Why, and when to ignore it"), page)));
  }
}

// estimate

function card(label, value, detail, tone = "") {
  return h("div", { className: `card ${tone}` }, h("p", { className: "label" }, label), h("p", { className: "value" }, value), detail && h("p", { className: "detail" }, detail));
}

/** The time to first token. For a load above the capacity it is that of full engines, since the queue grows without end. */
function firstTokenCard(serving) {
  if (!serving.queue_grows) return card("time to first token", figure(serving.ttft, "s"), range(serving.range?.ttft, "s"));
  return card("time to first token", "unbounded", `the queue grows without end; full engines take ${figure(serving.ttft, "s")}`, "bad");
}

/** The explanation of a figure: formula, inputs with their origins, and parts, which open in turn. */
export function tree(term, whole = term.value, depth = 0) {
  const share = typeof term.value === "number" && whole ? term.value / whole : null;
  const box = h("div", { className: "term" });
  const fill = () => {
    if (box.childElementCount) return;
    replace(box,
      term.formula && h("p", { className: "formula" }, h("code", {}, `${term.name} = ${term.formula}`)),
      term.source && h("p", { className: "source" }, inline(term.source)),
      term.inputs.length > 0 && h("ul", { className: "inputs" }, term.inputs.map((one) => h("li", {}, h("code", {}, one.name), ` = ${figure(one.value, one.unit)}`, h("span", { className: "origin" }, inline(one.origin ?? ""))))),
      term.parts.filter((part) => part.value !== 0 || depth === 0).map((part) => tree(part, part.unit === term.unit ? whole ?? term.value : part.value, depth + 1)));
  };
  const line = [h("span", { className: "name" }, words(term.name)), share !== null && depth > 0 ? bar(share) : h("span", {}), h("span", { className: "number" }, figure(term.value, term.unit))];
  const made = h("details", { className: "tree", ontoggle: fill }, h("summary", {}, line), box);
  if (depth === 0) {
    made.open = true;
    fill();
  }
  return made;
}

/** A lever with numbers as a slider over the values that are sold or usual; `at` is the index of the spec's own value. */
function slider(key, rows, values, at, choose) {
  const unit = rows[0].unit || "1";
  const said = (place) => `${figure(values[place], unit)}${place === at ? ", now" : ""}`;
  const shown = h("output", {}, said(at));
  const range = h("input", { type: "range", min: 0, max: values.length - 1, step: 1, value: at, "aria-label": words(key), "aria-valuetext": said(at), oninput: () => {
    shown.textContent = said(Number(range.value));
    range.setAttribute("aria-valuetext", shown.textContent);
  }, onchange: () => choose(key, values[Number(range.value)], Number(range.value) === at) });
  const steps = rows.map((row) => `${figure(row.to, unit)}: ${row.errors.length ? row.errors[0] : change(1, 1 + (row.effect ?? 0))}`);
  return h("fieldset", { className: "lever" }, h("legend", {}, words(key)), h("label", {}, range, shown), h("small", {}, steps.join(" · ")));
}

class OfFleet extends Panel {
  /** The choice of a job, for a spec of a fleet. */
  part(report) {
    if (report?.jobs && Object.keys(report.jobs).length) this.jobs = Object.keys(report.jobs);
    else if (!this.job) this.jobs = null;
    if (!this.jobs) return null;
    return h("label", { className: "field" }, "Job of the fleet ", h("select", { onchange: (event) => { this.job = event.target.value; this.refresh(true); } },
      h("option", { value: "" }, "all"), this.jobs.map((name) => h("option", { value: name, selected: name === this.job }, name))));
  }

  key() {
    return `${this.job ?? ""}\n${this.desk.text}`;
  }
}

export class Estimate extends OfFleet {
  async show() {
    const found = await this.result({ verb: "estimate", job: this.job });
    if (!found) {
      if (this.job && this.answer?.status === 2) this.job = undefined;
      return;
    }
    const { desk } = this;
    const raw = this.answer.out;
    const open = new Set([...this.body.querySelectorAll("details.section[open]")].map((one) => one.dataset.name));
    const section = (name, title, ...inside) => h("details", { className: "section", "data-name": name, open: open.has(name) || name === "explain" }, h("summary", {}, title), inside);
    const status = { clear: ["good", "Checked, nothing found against it"], reservations: ["fair", "With reservations"], fails: ["bad", "It fails"], "not-judged": ["", "Not judged"] }[found.verdict.status] ?? ["", found.verdict.status];
    replace(this.body,
      this.part(found),
      h("div", { className: `verdict ${status[0]}` }, h("p", {}, status[1]),
        found.verdict.reasons.length > 0 && h("ul", {}, found.verdict.reasons.map((one) => h("li", {}, inline(one))))),
      this.cards(found),
      this.fleet(found),
      found.terms.length > 0 && section("explain", "Where it comes from", found.terms.map((term) => tree(term))),
      found.memory?.total && section("memory", "Memory of the fullest accelerator", this.memory(found.memory)),
      found.communication?.length > 0 && section("communication", "Communication per step and accelerator", this.communication(found.communication)),
      found.terms.length > 0 && h("details", { className: "section", "data-name": "levers", open: open.has("levers"), ontoggle: (event) => event.target.open && this.levers(event.target) }, h("summary", {}, "What moves it: levers to try")),
      found.assumptions?.length > 0 && section("assumptions", `${plural(found.assumptions.length, "assumption")} for what the spec does not state`, table("Assumptions", [["key"], ["value", true], ["why"]],
        found.assumptions.map((one) => [h("code", {}, one.key), figure(one.value, one.unit ?? "1"), inline(one.why)]))),
      h("p", { className: "row" }, downloads(desk, "estimate", raw)),
      printed(desk, { verb: "estimate", job: this.job }, `clusterspec estimate ${desk.name}`));
  }

  cards(found) {
    const { serving, memory } = found;
    const made = [];
    if (serving) made.push(
      firstTokenCard(serving),
      card("time per output token", figure(serving.tpot, "s"), range(serving.range?.tpot, "s")),
      card("output tokens per second", digits(serving.output_tokens_per_second), `${digits(serving.output_tokens_per_second_per_accelerator)} per accelerator`));
    else if (found.step_time !== null) made.push(
      card("step time", figure(found.step_time, "s"), range(found.range?.step_time, "s")),
      card("MFU", figure(found.mfu, "%"), `${figure(found.model_flops_per_accelerator, "FLOP/s")} per accelerator`),
      card("tokens per second", digits(found.tokens_per_second_per_accelerator), "per accelerator"),
      found.time_to_train !== null && card("time to train", figure(found.time_to_train, "s"), "without interruptions"));
    if (memory?.total) made.push(card("memory", figure(memory.total, "B"), memory.capacity ? `${digits((100 * memory.total) / memory.capacity)} % of ${figure(memory.capacity, "B")}` : "", found.fits === false ? "bad" : ""));
    if (found.accelerators_used) made.push(card("accelerators", digits(found.accelerators_used), found.cluster?.accelerators ? `of ${digits(found.cluster.accelerators)} ${found.cluster.accelerator ?? ""}` : ""));
    if (found.parameters) made.push(card("parameters", `${digits(found.parameters / 1e9)} billion`, found.active_parameters !== found.parameters ? `${digits(found.active_parameters / 1e9)} billion active` : ""));
    return h("div", { className: "cards" }, made);
  }

  fleet(found) {
    if (!found.jobs || !Object.keys(found.jobs).length) return null;
    return table("Jobs of the fleet", [["job"], ["step time", true], ["MFU", true], ["memory", true], ["verdict"]],
      Object.entries(found.jobs).map(([name, one]) => [name, figure(one.step_time ?? one.serving?.tpot, "s"), one.mfu === null ? "–" : figure(one.mfu, "%"), figure(one.memory?.total, "B"), one.verdict?.status ?? ""]));
  }

  memory(memory) {
    const capacity = memory.capacity || memory.total;
    const rows = ["weights", "gradients", "optimizer", "activations", "kv_cache", "other", "total"].filter((name) => memory[name]);
    return table("Parts of the memory", [["part"], ["size", true], ["of capacity", true], [""]],
      rows.map((name) => [words(name), figure(memory[name], "B"), figure(memory[name] / capacity, "%"), bar(memory[name] / capacity, memory[name] > capacity ? "bad" : "")]));
  }

  communication(rows) {
    return table("Collectives", [["axis"], ["collective"], ["tier"], ["ranks", true], ["bytes", true], ["on the wire", true], ["exposed", true]],
      rows.map((one) => [one.axis, one.collective, one.tier, digits(one.ranks), figure(one.bytes, "B"), figure(one.seconds, "s"), figure(one.exposed, "s")]));
  }

  /** The parameters, ranked by the engine by their effect; each choice is estimated and can be written. */
  async levers(section) {
    const text = this.desk.text;
    if (section.dataset.of === text) return;
    section.dataset.of = text;
    const box = section.querySelector(".levers") ?? section.appendChild(h("div", { className: "levers" }));
    replace(box, note("Estimating each parameter one step up and down …"));
    const answer = await this.desk.ask({ verb: "sensitivity", format: "json", text, job: this.job });
    const { values: steps = {} } = this.job ? {} : await this.desk.ask({ verb: "values", text });
    let found;
    try {
      found = JSON.parse(answer.out);
    } catch {
      replace(box, complaint(answer));
      return;
    }
    if (!found.levers.length) {
      replace(box, note("No parameter changes the estimate of this design."));
      return;
    }
    const groups = new Map();
    for (const one of found.levers) groups.set(one.key, [...(groups.get(one.key) ?? []), one]);
    const chosen = new Map();
    const outcome = h("div", { className: "outcome", role: "status" });
    const choose = (key, value, now) => {
      if (now) chosen.delete(key);
      else chosen.set(key, value);
      this.outcome(outcome, chosen);
    };
    const lines = [...groups].map(([key, rows]) => {
      const [{ from, unit }] = rows;
      const at = steps[key]?.indexOf(from) ?? -1;
      if (at >= 0 && steps[key].length > 2) return slider(key, rows, steps[key], at, choose);
      const values = [{ value: from, now: true }, ...rows.map((row) => ({ value: row.to, row }))];
      if (values.every(({ value }) => typeof value === "number")) values.sort((a, b) => a.value - b.value);
      return h("fieldset", { className: "lever" }, h("legend", {}, words(key)), values.map(({ value, now, row }) =>
        h("label", { className: row?.errors.length ? "refused" : "" }, h("input", { type: "radio", name: `lever-${key}`, checked: now, disabled: Boolean(row?.errors.length), onchange: () => choose(key, value, now) }), h("span", {}, typeof value === "number" ? figure(value, unit || "1") : figure(value)), h("small", {}, now ? "now" : row.errors.length ? row.errors[0] : change(1, 1 + (row.effect ?? 0))))));
    });
    replace(box, note(`Each choice is estimated by the engine. The percentage is the change of ${found.queue_grows ? "the throughput of full engines, as the queue grows without end" : "the time for a token"}.`), lines, outcome);
  }

  async outcome(box, chosen) {
    const number = (this.moves = (this.moves ?? 0) + 1);
    if (!chosen.size || this.job) {
      replace(box, this.job && chosen.size ? note("This list writes only into a spec of one cluster; copy the value into the job.") : []);
      return;
    }
    let { text } = this.desk;
    for (const [key, value] of chosen) {
      const answer = await this.desk.ask({ verb: "vary", text, key, value });
      if (answer.status) {
        replace(box, complaint(answer));
        return;
      }
      ({ text } = answer);
    }
    const answer = await this.desk.ask({ verb: "diff", format: "json", old: this.desk.text, text });
    if (number !== this.moves) return; // a lever has moved since
    try {
      const report = JSON.parse(answer.out);
      replace(box, effects(report), report.findings.new.length > 0 && note(`It adds ${plural(report.findings.new.length, "finding")}: ${report.findings.new.map((one) => one.rule).join(", ")}`, "bad"),
        h("p", { className: "row" }, h("button", { onclick: () => this.desk.editor.set(text) }, "Write it into the spec")));
    } catch {
      replace(box, complaint(answer));
    }
  }
}

// search

function fewerNodes(layout, seconds) {
  const key = layout.nodes_per_domain ? "nodes_per_domain" : "nodes";
  return `Fewer nodes are faster: with \`layout.${key}: ${layout[key]}\` the best layout takes ${figure(seconds, "s")} a step.`;
}

export class Search extends OfFleet {
  get live() {
    return false;
  }

  controls() {
    this.objective = h("select", {}, ["", "step_time", "memory", "cost", "tokens_per_accelerator", "accelerators", "tokens_per_user"].map((name) => h("option", { value: name }, name ? words(name) : "default")));
    this.top = h("input", { type: "number", min: 1, max: 50, value: "10" });
    this.run = h("button", { className: "primary", onclick: () => this.start() }, "Search layouts");
    this.stop = h("button", { hidden: true, onclick: () => this.desk.engine.cancel() }, "Cancel");
    this.meter = h("progress", { hidden: true, max: 1, "aria-label": "progress of the search" });
    this.state = h("span", { className: "small", role: "status" });
    return h("form", { className: "controls", onsubmit: (event) => { event.preventDefault(); this.start(); } },
      h("label", { className: "field" }, "Objective ", this.objective), h("label", { className: "field" }, "Rows ", this.top), this.run, this.stop, this.meter, this.state);
  }

  async refresh() {
    if (this.of && this.of !== this.desk.text) this.state.textContent = "The spec has changed since this search.";
    if (!this.of && !this.body.childElementCount) replace(this.body, note(this.desk.engine.local
      ? "Evaluates every legal layout of this cluster and workload with the cost model of the estimate, and checks the best ones by all rules."
      : "Evaluates legal layouts with the cost model of the estimate, and checks the best ones by all rules. In the browser a search ends after 5,000 layouts or 20 seconds; the command line, with NumPy, evaluates all of them."));
  }

  async start() {
    if (this.running) return;
    this.running = true;
    this.of = this.desk.text;
    this.run.disabled = true;
    this.stop.hidden = this.meter.hidden = false;
    this.meter.removeAttribute("value");
    this.state.textContent = "searching …";
    try {
      const found = await this.result({ verb: "search", objective: this.objective.value, top: Number(this.top.value) || 10, job: this.job, onprogress: (done, total) => {
        this.meter.value = total ? done / total : 0;
        this.state.textContent = `${done.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} layouts evaluated; then the best ones are checked`;
      } });
      this.state.textContent = this.answer.cancelled ? "Cancelled." : "";
      if (found) this.found(found);
    } finally {
      this.running = false;
      this.run.disabled = false;
      this.stop.hidden = this.meter.hidden = true;
    }
  }

  found(report) {
    const { stopped } = this.answer;
    const serving = report.layouts.some((row) => row.serving);
    const columns = serving ? [["plan"], ["TPOT", true], ["TTFT", true], ["tokens/s", true], ["memory", true], [""]] : [["layout"], ["step time", true], ["range", true], ["MFU", true], ["memory", true], [""]];
    const rows = report.layouts.map((row) => [
      h("code", {}, Object.entries(row.layout).filter(([key]) => !["framework", "nodes"].includes(key)).map(([key, value]) => `${key} ${value}`).join(", ")),
      ...(serving ? [figure(row.serving?.tpot, "s"), row.serving?.queue_grows ? "unbounded" : figure(row.serving?.ttft, "s"), digits(row.serving?.output_tokens_per_second ?? 0)] : [figure(row.step_time, "s"), range(row.range, "s"), figure(row.mfu, "%")]),
      figure(row.memory, "B"),
      h("button", { disabled: Boolean(this.job), onclick: async () => {
        const answer = await this.desk.ask({ verb: "with_layout", text: this.desk.text, layout: row.layout });
        if (answer.text) this.desk.editor.set(answer.text);
      } }, "Use"),
    ]);
    replace(this.body,
      stopped && note(this.answer.cancelled ? "" : `Stopped at ${digits(stopped.evaluated)} of ${digits(stopped.of)} ${serving ? "plans" : "layouts, first those like that of the spec, then those near the best ones found"}: the best of all may be better. \`clusterspec search ${this.desk.name}\` on the command line evaluates every one.`, "fair"),
      h("p", {}, `${report.evaluated.toLocaleString("en-US")} layouts evaluated, ${report.fitting.toLocaleString("en-US")} ${serving ? "meet the targets" : "fit in memory"}.`,
        report.present?.step_time ? ` The layout of the spec takes ${figure(report.present.step_time, "s")} per step.` : ""),
      report.why && note(report.why, "bad"),
      rows.length > 0 && report.present?.step_time <= report.layouts[0].step_time && note("None of them is faster than the layout of the spec."),
      rows.length > 0 && table(stopped ? "The best of the layouts evaluated" : "The best layouts", columns, rows),
      report.fewer_nodes && note(fewerNodes(report.fewer_nodes.layout, report.fewer_nodes.step_time)),
      h("p", { className: "row" }, downloads(this.desk, "search", this.answer.out)));
  }
}

// cost

export class Cost extends OfFleet {
  async show() {
    const found = await this.result({ verb: "cost", job: this.job });
    if (!found) return;
    const money = (value) => (value === null || value === undefined ? "–" : `${found.currency ?? ""} ${digits(value)}`);
    const raw = this.answer.out;
    replace(this.body, this.part(found),
      h("div", { className: "cards" },
        found.total !== null && found.total !== undefined && card("total over the term", money(found.total), found.range ? `${money(found.range[0])} to ${money(found.range[1])}` : ""),
        found.per_run && card("per run", money(found.per_run)), found.per_million_tokens && card("per million tokens", money(found.per_million_tokens)),
        found.per_million_output_tokens && card("per million output tokens", money(found.per_million_output_tokens)),
        found.goodput && card("goodput", figure(found.goodput, "%")), found.watts && card("power", figure(found.watts, "W"))),
      found.not_counted?.length > 0 && h("details", { className: "section", open: found.total === null }, h("summary", {}, "Not counted"), h("ul", {}, found.not_counted.map((one) => h("li", {}, inline(one))))),
      h("details", { className: "section", open: true }, h("summary", {}, "Where it comes from"), [...(found.parts ?? []).map((term) => tree(term, found.total, 1)), ...(found.terms ?? []).map((term) => tree(term, null, 1))]),
      h("p", { className: "row" }, downloads(this.desk, "cost", raw)),
      printed(this.desk, { verb: "cost", job: this.job }, `clusterspec cost ${this.desk.name}`),
      printed(this.desk, { verb: "bom", job: this.job }, `clusterspec bom ${this.desk.name}`),
      printed(this.desk, { verb: "faults", job: this.job }, `clusterspec faults ${this.desk.name}`));
  }
}

// diff

function effects(report) {
  return table("Effects", [["figure"], ["old", true], ["new", true], ["change", true], [""]],
    report.effects.map((one) => [one.name, figure(one.old, one.unit), figure(one.new, one.unit), change(one.old, one.new), one.within_band ? "within the band of the prediction" : ""]));
}

export class Compare extends Panel {
  controls() {
    this.place = h("div", { className: "old" });
    this.from = h("select", { onchange: async () => {
      const text = await this.desk.source(this.from.value);
      if (text !== null) this.old.set(text);
    } });
    return h("div", {}, h("div", { className: "controls" }, h("label", { className: "field" }, "Compare with ", this.from),
      h("button", { onclick: () => this.old.set(this.desk.text) }, "Copy the spec here")), this.place);
  }

  async refresh(force) {
    if (!this.old) {
      const sources = this.desk.sources();
      replace(this.from, sources.map(([value, title]) => h("option", { value }, title)));
      this.old = new Editor(this.place, { text: await this.desk.source(sources[0][0]), label: "The other spec", small: true, onchange: () => this.refresh() });
    }
    await super.refresh(force);
  }

  key() {
    return `${this.old?.text}\u0000${this.desk.text}`;
  }

  async show() {
    const found = await this.result({ verb: "diff", old: this.old.text });
    if (!found) return;
    const value = (one) => (one === null ? "–" : typeof one === "object" ? JSON.stringify(one) : String(one));
    const list = (title, rows, tone) => rows.length > 0 && h("div", {}, h("h3", {}, title), rows.map((one) => h("p", { className: `line ${tone}` }, h("code", {}, one.rule), " ", inline(one.message))));
    replace(this.body,
      found.changes.length ? table("Changes", [["key"], ["old"], ["new"]], found.changes.map((one) => [h("code", {}, one.path.slice(1).replaceAll("/", ".")), value(one.old), value(one.new)])) : note("The two specs describe the same."),
      found.effects.length > 0 && effects(found), found.caution && note(found.caution, "fair"),
      list("New findings", found.findings.new, "bad"), list("Findings that are gone", found.findings.fixed, "good"),
      h("p", { className: "row" }, downloads(this.desk, "diff", this.answer.out)));
  }
}

// report

export class Report extends Panel {
  get live() {
    return false;
  }

  controls() {
    this.kind = h("select", { onchange: () => this.refresh(true) }, h("option", { value: "design" }, "for engineers"), h("option", { value: "procurement" }, "for buyers"));
    this.audience = h("select", { onchange: () => this.refresh(true) }, h("option", { value: "" }, "as the spec says"), h("option", { value: "internal" }, "internal"), h("option", { value: "tender" }, "tender, without prices"));
    this.write = h("button", { className: "primary", onclick: () => this.refresh(true) }, "Write the report");
    this.state = h("span", { className: "small", role: "status" });
    return h("div", { className: "controls" }, h("label", { className: "field" }, "Report ", this.kind), h("label", { className: "field" }, "Audience ", this.audience), this.write, this.state);
  }

  async refresh(force = false) {
    if (this.of === undefined || force) {
      this.of = this.desk.text;
      await this.show();
    } else if (this.of !== this.desk.text) this.state.textContent = "The spec has changed since this report was written.";
  }

  async show() {
    this.write.disabled = true;
    this.state.textContent = this.desk.engine.local ? "writing …" : "writing; this takes some seconds in the browser …";
    const asked = { verb: "report", kind: this.kind.value, audience: this.audience.value, text: this.of };
    const answer = await this.desk.ask(asked);
    this.write.disabled = false;
    this.state.textContent = "";
    if (!answer.out) {
      replace(this.body, complaint(answer));
      return;
    }
    const frame = h("iframe", { title: "Report", sandbox: "allow-scripts allow-popups", srcdoc: answer.out });
    replace(this.body, h("p", { className: "row" }, h("button", { onclick: () => download(`${this.desk.stem}-report.html`, answer.out, "text/html") }, "Download HTML"),
      h("button", { className: "plain", onclick: async () => download(`${this.desk.stem}-report.json`, (await this.desk.ask({ ...asked, format: "json" })).out, "application/json") }, "Download JSON")), frame);
  }
}

// convert

export class Convert extends Panel {
  controls() {
    this.input = h("input", { type: "text", value: "900 GB/s duplex", "aria-label": "A quantity", spellcheck: false, oninput: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refresh(), 250);
    } });
    return h("div", { className: "controls" }, h("label", { className: "field wide" }, "A quantity as a data sheet prints it ", this.input));
  }

  key() {
    return this.input.value;
  }

  async show() {
    const asked = this.input.value;
    const answer = await this.desk.ask({ verb: "convert", quantity: asked });
    if (asked !== this.input.value) return;
    replace(this.body, answer.status ? complaint(answer) : h("pre", { tabIndex: 0 }, answer.out),
      note("Bits or bytes, one direction or both: the readings of a figure differ by factors of up to 16. A spec states which one is meant."));
  }
}
