// Tables of class "sortable": a heading sorts by its column, and a field above keeps the rows with all of its words.
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
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "Words that a row must have", ariaLabel: "Keep the rows with these words" });
  const count = Object.assign(document.createElement("output"), { textContent: `${body.rows.length} rows` });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    let kept = 0;
    for (const row of body.rows) {
      row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      kept += !row.hidden;
    }
    count.textContent = `${kept} of ${body.rows.length} rows`;
  });
  const line = Object.assign(document.createElement("p"), { className: "filter" });
  line.append(field, " ", count);
  table.parentElement.before(line);
}
