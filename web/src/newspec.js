// The dialog for a new spec: a platform and a model of the catalog, from which `clusterspec init` writes a spec.

import { h, replace } from "./dom.js";

/** Keys of a spec; their completions are the choices of a field. */
const CHOICES = { platform: "cluster:\n  platform: ", model: "workload:\n  model: " };

const SHOWN = 6;

export class NewSpec {
  constructor(desk) {
    this.desk = desk;
    this.platform = this.field("platform", "dgx-h100");
    this.model = this.field("model", "llama-3.1-70b");
    this.nodes = h("input", { type: "number", min: 1, step: 1, placeholder: "the fewest that work" });
    this.purpose = h("select", {}, h("option", { value: "train" }, "training"), h("option", { value: "serve" }, "serving"));
    this.said = h("p", { className: "said", role: "alert" });
    this.write = h("button", { className: "primary", type: "submit" }, "Write the spec");
    this.dialog = h("dialog", { "aria-labelledby": "new-title" },
      h("form", { onsubmit: (event) => { event.preventDefault(); this.start(); } },
        h("h2", { id: "new-title" }, "A new spec"),
        h("p", { className: "note small" }, "Type a part of a name, such as b200 or qwen, to see what the catalog has. A machine that it lacks starts from the nearest one: change the keys that differ."),
        h("label", { className: "field" }, "Platform ", this.platform.input, this.platform.list, this.platform.detail),
        h("label", { className: "field" }, "Nodes ", this.nodes),
        h("label", { className: "field" }, "Model ", this.model.input, this.model.list, this.model.detail),
        h("label", { className: "field" }, "For ", this.purpose),
        this.said,
        h("p", { className: "row" }, this.write, h("button", { onclick: () => this.dialog.close() }, "Cancel"))));
    document.body.append(this.dialog);
  }

  field(name, value) {
    const list = h("datalist", { id: `new-${name}` });
    const detail = h("small", {});
    const input = h("input", { type: "text", name, value, required: true, spellcheck: false, autocomplete: "off", list: list.id, oninput: () => this.describe(this[name]) });
    return { name, input, list, detail, known: new Map() };
  }

  /** The main figures of the entry that is named, or the entries that have the letters typed so far. */
  describe({ input, known, detail }) {
    this.said.textContent = "";
    const typed = input.value.trim().toLowerCase();
    const near = [...known].filter((entry) => entry.join(" ").toLowerCase().includes(typed)).map(([id]) => id);
    const listed = near.slice(0, SHOWN).join(", ") + (near.length > SHOWN ? ` and ${near.length - SHOWN} more` : "");
    detail.textContent = known.get(typed) ?? (typed && known.size ? listed || "The catalog has no such entry." : "");
  }

  async open() {
    this.said.textContent = "";
    this.dialog.showModal();
    this.platform.input.select();
    for (const field of [this.platform, this.model]) {
      if (field.known.size) continue;
      const text = CHOICES[field.name];
      const answer = await this.desk.ask({ verb: "complete", text, line: 2, column: text.split("\n")[1].length + 1 });
      for (const item of answer.items ?? []) field.known.set(item.text, item.detail);
      replace(field.list, [...field.known].map(([id, detail]) => h("option", { value: id }, detail)));
      this.describe(field);
    }
  }

  async start() {
    this.write.disabled = true;
    this.said.textContent = "Comparing layouts …";
    const answer = await this.desk.ask({ verb: "init", platform: this.platform.input.value.trim(), model: this.model.input.value.trim(), nodes: this.nodes.value && Number(this.nodes.value), for: this.purpose.value });
    this.write.disabled = false;
    this.said.textContent = answer.err.replace(/^clusterspec( init)?: /, "").trim();
    if (!answer.out) return;
    this.dialog.close();
    this.desk.open(answer.out);
    if (answer.err) this.desk.tell(this.said.textContent);
  }
}
