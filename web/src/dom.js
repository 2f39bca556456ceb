// Elements, safe Markdown and figures with units. No text of a spec ever becomes markup: everything is a text node.

/** An element with properties (`on…` are listeners, `class`, `data-…` and `aria-…` attributes) and children. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button"; // in a form, too
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-") && name !== "list") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|(?<!\w)\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)|&#(\d{1,6});|\[([^\]]+)\]\((https?:\/\/[^)\s]+)\)|(https?:\/\/[^\s)<>]+[^\s)<>.,;:])/g;

/** Inline Markdown: code, strong text, emphasis, escaped characters and links to http(s) addresses. */
export function inline(text) {
  const made = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    made.push(text.slice(end, match.index));
    const [, code, strong, stressed, escaped, label, target, bare] = match;
    if (code) made.push(h("code", {}, code));
    else if (strong) made.push(h("strong", {}, inline(strong)));
    else if (stressed) made.push(h("em", {}, inline(stressed)));
    else if (escaped) made.push(String.fromCodePoint(Number(escaped)));
    else made.push(h("a", { href: target || bare, target: "_blank", rel: "noopener noreferrer" }, label || bare));
    end = match.index + match[0].length;
  }
  made.push(text.slice(end));
  return made.filter((part) => part !== "");
}

/** The Markdown of hover texts and rule pages: headings, paragraphs, lists, tables as text, fenced code, rules. */
export function markdown(text) {
  const blocks = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line.startsWith("```")) {
      const end = lines.findIndex((other, index) => index > at && other.startsWith("```"));
      const stop = end < 0 ? lines.length : end;
      blocks.push(h("pre", { tabIndex: 0 }, lines.slice(at + 1, stop).join("\n")));
      at = stop + 1;
    } else if (/^#{1,6} /.test(line)) {
      const level = Math.min(6, line.indexOf(" ") + 2);
      blocks.push(h(`h${level}`, {}, inline(line.replace(/^#+ /, ""))));
      at += 1;
    } else if (/^---+$/.test(line)) {
      blocks.push(h("hr"));
      at += 1;
    } else if (/^[-*] /.test(line)) {
      const items = [];
      for (; at < lines.length && (/^[-*] /.test(lines[at]) || (/^\s+\S/.test(lines[at]) && items.length)); at += 1)
        if (/^[-*] /.test(lines[at])) items.push(lines[at].slice(2));
        else items[items.length - 1] += ` ${lines[at].trim()}`;
      blocks.push(h("ul", {}, items.map((item) => h("li", {}, inline(item)))));
    } else if (line.trim() === "") at += 1;
    else {
      const start = at;
      while (at < lines.length && lines[at].trim() !== "" && !/^(```|#{1,6} |[-*] |---+$)/.test(lines[at])) at += 1;
      const part = lines.slice(start, at);
      blocks.push(part[0].startsWith("|") ? h("pre", { tabIndex: 0 }, part.join("\n")) : h("p", {}, inline(part.join(" "))));
    }
  }
  return blocks;
}

// Figures with units. The engine gives SI numbers; these are what a person reads, to three significant digits.

const SCALES = {
  s: [[86400 * 365.25, "years"], [86400, "days"], [3600, "h"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
  B: [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  "B/s": [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]],
  FLOP: [[1e24, "YFLOP"], [1e21, "ZFLOP"], [1e18, "EFLOP"], [1e15, "PFLOP"], [1e12, "TFLOP"], [1e9, "GFLOP"], [1e6, "MFLOP"], [1, "FLOP"]],
  "FLOP/s": [[1e18, "EFLOP/s"], [1e15, "PFLOP/s"], [1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1, "FLOP/s"]],
  W: [[1e6, "MW"], [1e3, "kW"], [1, "W"]],
};

export function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(Number(value.toPrecision(size >= 1e6 ? 4 : 5))).toLocaleString("en-US");
  if (size < 1e-4) return value.toExponential(2).replace("e-", " × 10⁻").replace(/⁻(\d+)$/, (_, n) => `⁻${[...n].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`);
  return String(Number(value.toPrecision(3)));
}

export function figure(value, unit = "1") {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (unit === "share" || unit === "%") return `${digits(value * 100)} %`;
  if (value === 0) return unit === "1" || !unit ? "0" : `0 ${unit}`;
  const scale = SCALES[unit];
  if (!scale) return digits(value) + (unit && unit !== "1" ? ` ${unit}` : "");
  const size = Math.abs(value);
  const [factor, name] = scale.find(([factor]) => size >= factor * 0.9995) || scale[scale.length - 1];
  return `${digits(value / factor)} ${name}`;
}

export const range = (pair, unit) => (pair ? `${figure(pair[0], unit)} to ${figure(pair[1], unit)}` : "");

export function change(before, after) {
  if (typeof before !== "number" || typeof after !== "number" || !before) return "";
  const ratio = after / before;
  if (Math.abs(ratio - 1) < 5e-5) return "no change";
  if (ratio > 3 || ratio < 1 / 3) return `× ${digits(ratio)}`;
  return `${ratio > 1 ? "+" : "−"}${digits(Math.abs(ratio - 1) * 100)} %`;
}

/** A table with a caption for screen readers; columns as [title, isNumber]. */
export function table(caption, columns, rows) {
  return h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map(([title, right]) => (title ? h("th", { scope: "col", className: right ? "right" : "" }, title) : h("td"))))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, at) =>
        at === 0 ? h("th", { scope: "row" }, cell) : h("td", { className: columns[at][1] ? "right" : "" }, cell)))))));
}

export function bar(share, tone = "") {
  const fill = h("span", { className: `fill ${tone}` });
  fill.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return h("span", { className: "bar", "aria-hidden": "true" }, fill);
}

export function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
