// Tables of class "sortable": a heading sorts by its column, and the field above keeps the rows with all of its words.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => row.cells[column].dataset.v ?? row.cells[column].textContent;
  heads.forEach((head, column) => {
    if (!head.querySelector("button")) head.replaceChildren(Object.assign(document.createElement("button"), { type: "button", textContent: head.textContent }));
    head.scope = "col";
    head.addEventListener("click", () => {
      const sign = head.ariaSort === "descending" ? 1 : -1;
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = sign < 0 ? "descending" : "ascending";
      body.append(...[...body.rows].sort((one, two) => {
        const [a, b] = [key(one, column), key(two, column)];
        if (a === "" || b === "") return (a === "") - (b === "");
        return sign * (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
      }));
    });
  });
  const line = table.parentElement.previousElementSibling;
  const [field, count] = [line.querySelector("input"), line.querySelector("output")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    let kept = 0;
    for (const row of body.rows) {
      row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      kept += !row.hidden;
    }
    count.textContent = `${kept} of ${body.rows.length} rows`;
  });
}

// What the theme adds while it runs gets what screen readers need: regions of one kind have names of their own.
function named() {
  document.querySelectorAll(".md-code__nav").forEach((bar, at) => (bar.ariaLabel = `Code block ${at + 1}`));
  document.querySelectorAll('nav.md-nav[data-md-level]:not([data-md-level="0"])').forEach((list, at) => {
    if (list.ariaLabel) return;
    const title = document.getElementById(list.getAttribute("aria-labelledby"))?.textContent.trim() ?? "";
    list.removeAttribute("aria-labelledby");
    list.ariaLabel = `Pages, part ${at + 1}: ${title}`;
  });
}
const whenIdle = self.requestIdleCallback ?? setTimeout;
let waits = false;
function later() {
  if (!waits) whenIdle(() => {
    waits = false;
    named();
  });
  waits = true;
}
later();
new MutationObserver(later).observe(document.querySelector("article") ?? document.body, { childList: true, subtree: true });
