// Without this script the page can still be read whole: it adds buttons and fields, and changes no words.
{
  const LONG = 8;
  const SECONDS = { d: 86400, h: 3600, min: 60, s: 1, ms: 1e-3, us: 1e-6 };

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
    const numeric = head.classList.contains("n"), before = head.getAttribute("aria-sort");
    const rising = numeric ? before === "descending" : before !== "ascending";
    const body = table.tBodies[0];
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

  // Fields above a table that leave the rows with some words, or of some ranks.
  function narrow(table) {
    const rows = [...table.tBodies[0].rows], place = table.parentElement, figure = place.parentElement;
    const name = place.getAttribute("aria-label"), tests = [];
    const apply = () => rows.forEach((row) => { row.hidden = !tests.every((test) => test(row)); });
    if (rows.length > LONG) {
      const field = element("input", { type: "search", class: "search", placeholder: "show rows with …",
        "aria-label": `Show rows with these words: ${name}` });
      tests.push((row) => {
        const text = row.textContent.toLowerCase();
        return field.value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
      });
      field.addEventListener("input", apply);
      place.before(field);
    }
    if (figure.dataset.processes) place.before(ranksField(rows, Number(figure.dataset.processes), tests, apply));
  }

  // A field that leaves the rows of some ranks, and what it says about them.
  function ranksField(rows, processes, tests, apply) {
    const field = element("input", { type: "text", placeholder: "all; such as 0-3, 8", size: 16 });
    const said = element("output", { "aria-live": "polite" });
    let wanted = null;
    const isWanted = (row) => !wanted || row.dataset.ranks === "all" || (rangesOf(row.dataset.ranks ?? "", processes) ?? [])
      .some(([first, last]) => wanted.some(([from, to]) => from <= last && first <= to));
    tests.push(isWanted);
    field.addEventListener("input", () => {
      const ranges = rangesOf(field.value, processes);
      field.setAttribute("aria-invalid", ranges === undefined);
      if (ranges === undefined) {
        said.textContent = `No such rank: ${field.value}; there are 0 to ${processes - 1}.`;
        return;
      }
      wanted = ranges;
      apply();
      const found = rows.filter(isWanted), all = found.filter((row) => row.dataset.ranks === "all").length;
      said.textContent = !wanted ? "" : `${found.length} of ${rows.length} rows: ${found.length - all} that these ranks used, `
        + `${all} that all ranks used and the log has the sums of. Numbers are of all ranks of a row.`;
    });
    return element("div", { class: "tools" }, element("label", {}, "Ranks ", field), said);
  }

  for (const table of document.querySelectorAll("table")) {
    const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
    if (table.tBodies[0].rows.length < 2) continue;
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, column, head));
    });
    narrow(table);
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

  // A map says what is in the cell at the pointer, or where the arrow keys have gone.
  function point(figure, tools) {
    const { rows, seconds, values } = JSON.parse(figure.dataset.cells);
    const svg = figure.querySelector("svg"), image = svg.querySelector("image");
    const columns = Object.values(values)[0][0].length;
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(image.getAttribute(name)));
    const frame = document.createElementNS(svg.namespaceURI, "rect");
    const said = document.createElement("output");
    said.textContent = "Point at the map, or use its arrow keys.";
    frame.setAttribute("class", "pointed");
    tools.append(said);
    let here = [0, 0];
    function tell(column, row) {
      here = [Math.max(0, Math.min(columns - 1, column)), Math.max(0, Math.min(rows.length - 1, row))];
      [column, row] = here;
      const wide = width / columns, high = height / rows.length;
      const box = { x: x + column * wide, y: y + height - (row + 1) * high, width: wide, height: high };
      for (const [name, length] of Object.entries(box)) frame.setAttribute(name, length);
      svg.append(frame);
      const from = Number((column * seconds).toPrecision(4)), to = Number(((column + 1) * seconds).toPrecision(4));
      const parts = Object.entries(values).map(([what, grid]) => `${size(grid[row][column])} ${what}`);
      said.textContent = `${rows[row]}, ${from} to ${to} s: ${parts.join(", ")}`;
    }
    svg.addEventListener("pointermove", (event) => {
      const box = image.getBoundingClientRect();
      const right = (event.clientX - box.left) / box.width, up = (box.bottom - event.clientY) / box.height;
      if (right >= 0 && right < 1 && up >= 0 && up < 1) tell(Math.floor(right * columns), Math.floor(up * rows.length));
    });
    const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    figure.querySelector(".scroll").addEventListener("keydown", (event) => {
      if (!(event.key in MOVES)) return;
      event.preventDefault();
      tell(here[0] + MOVES[event.key][0], here[1] + MOVES[event.key][1]);
    });
  }

  for (const figure of document.querySelectorAll("figure[data-cells]")) {
    const scroll = figure.querySelector(".scroll"), tools = document.createElement("div");
    tools.className = "tools";
    let zoom = 1;
    for (const [sign, what, factor] of [["+", "Enlarge", 1.5], ["−", "Shrink", 1 / 1.5]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      button.setAttribute("aria-label", `${what} the figure`);
      button.addEventListener("click", () => {
        zoom = Math.max(1, Math.min(12, zoom * factor));
        figure.style.setProperty("--zoom", zoom);
      });
      tools.append(button);
    }
    scroll.before(tools);
    point(figure, tools);
  }
}
