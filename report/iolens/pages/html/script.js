"use strict";
// Without this script the page can still be read whole: it adds buttons and fields, and changes no words.
{
  const LONG = 8;
  const POWERS = { B: 0, KiB: 1, MiB: 2, GiB: 3, TiB: 4, PiB: 5, EiB: 6 };
  const SECONDS = { h: 3600, min: 60, s: 1, ms: 1e-3, us: 1e-6 };

  // A cell as a number, in bytes or seconds where it has a unit; NaN where it is none.
  function value(text) {
    const parts = [...text.replace(/,/g, "").matchAll(/([-+−]?\d[\d.]*)\s*([A-Za-z]+)?/g)];
    if (!parts.length || !/^[\s<\d+−-]/.test(text)) return NaN;
    return parts.reduce((sum, [, digits, unit]) => {
      const scale = unit in POWERS ? 1024 ** POWERS[unit] : SECONDS[unit] ?? 1;
      return sum + Number(digits.replace("−", "-")) * scale;
    }, text.trim().startsWith("<") ? -1e-9 : 0);
  }

  function sort(table, column, head) {
    const rising = head.getAttribute("aria-sort") === "descending";
    const body = table.tBodies[0];
    const numeric = head.classList.contains("n");
    const rows = [...body.rows].map((row) => {
      const text = row.cells[column].textContent;
      return { row, key: numeric ? value(text) : text };
    });
    rows.sort((a, b) => {
      if (!numeric) return a.key.localeCompare(b.key, "en", { numeric: true }) * (rising ? 1 : -1);
      if (isNaN(a.key) || isNaN(b.key)) return isNaN(a.key) - isNaN(b.key);
      return (a.key - b.key) * (rising ? 1 : -1);
    });
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    body.append(...rows.map(({ row }) => row));
  }

  for (const table of document.querySelectorAll("table")) {
    const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
    if (table.tBodies[0].rows.length < 2) continue;
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, column, head));
    });
    if (table.tBodies[0].rows.length <= LONG) continue;
    const field = document.createElement("input");
    field.type = "search";
    field.className = "search";
    field.placeholder = "show rows with …";
    field.setAttribute("aria-label", `Show rows with these words: ${table.parentElement.getAttribute("aria-label")}`);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    table.parentElement.before(field);
  }

  for (const code of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      const pre = code.querySelector("pre");
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      }
    });
    code.append(button);
  }
}
