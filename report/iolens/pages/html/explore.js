// Timelines as figures that can be zoomed, pointed at and filtered. They take the place of the still figures on the
// screen; those remain for print, and for a browser that cannot unpack the data.
{
  const KINDS = ["written", "read"];
  const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
  const COLOURS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"]
    .map((code) => [1, 3, 5].map((at) => parseInt(code.slice(at, at + 2), 16)));
  const MOST_DRAWN = 4000;  // single calls; where more are in view, cells are drawn instead
  const MOST_LISTED = 100;  // rows of the table
  const COLUMNS = 400;  // of time, at most

  async function unpack(one) {
    const packed = Uint8Array.from(atob(one.data), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    let at = 0;
    for (const [name, type, length] of one.columns) {
      const wide = TYPES[type].BYTES_PER_ELEMENT, bytes = new Uint8Array(length * wide);
      for (let plane = 0; plane < wide; plane++)
        for (let i = 0; i < length; i++) bytes[i * wide + plane] = planes[at++];
      one[name] = new TYPES[type](bytes.buffer);
    }
    delete one.data;
    one.rows = Math.ceil(one.ranks / one.each);
    one.seconds = one.end;
    one.singles = one.single_start ? one.single_start.length : 0;
    one.whole = one.traced > 0 && one.singles === one.traced;
    return one;
  }

  // The rows of ranks such as "0-3, 8"; null for all of them, undefined where the text names none.
  function rowsOf(text, one) {
    const ranges = rangesOf(text, one.ranks);
    if (!ranges) return ranges;
    const rows = new Set();
    for (const [first, last] of ranges)
      for (let rank = first; rank <= last; rank++) rows.add(Math.floor(rank / one.each));
    return rows;
  }

  function rowName(one, row) {
    const first = row * one.each, last = Math.min(first + one.each, one.ranks) - 1;
    return first === last ? `rank ${first}` : `ranks ${first} to ${last}`;
  }

  // Every part of the view with its share inside: single calls where the data has all of them, else cells.
  function* parts(one, view, from = view.from, to = view.to) {
    const { rows, file, kind } = view;
    if (one.whole) {
      for (let i = 0; i < one.traced; i++) {
        const begin = one.single_start[i], end = Math.max(one.single_end[i], begin);
        if (begin > to || end < from || (begin === to && to < one.seconds)) continue;
        const row = Math.floor(one.single_rank[i] / one.each);
        if ((rows && !rows.has(row)) || (file >= 0 && one.single_file[i] !== file)) continue;
        if (kind >= 0 && one.single_kind[i] !== kind) continue;
        const length = end - begin, inside = length ? (Math.min(end, to) - Math.max(begin, from)) / length : 1;
        yield { kind: one.single_kind[i], file: one.single_file[i], row, begin, end, calls: begin >= from ? 1 : 0,
          moved: one.single_length[i] * inside, busy: length * inside };
      }
      return;
    }
    const first = Math.floor(from / one.width + 1e-9), last = Math.ceil(to / one.width - 1e-9) - 1;
    for (let i = 0; i < one.bin.length; i++) {
      const bin = one.bin[i], row = one.row[i];
      if (bin < first || bin > last || (rows && !rows.has(row))) continue;
      if ((file >= 0 && one.file[i] !== file) || (kind >= 0 && one.kind[i] !== kind)) continue;
      yield { kind: one.kind[i], file: one.file[i], row, begin: bin * one.width, end: (bin + 1) * one.width,
        calls: one.calls[i], moved: one.moved[i], busy: one.busy[i] };
    }
  }

  // What the figures show: amounts by column of time, for each kind and for each row.
  function grid(one, view) {
    let from = view.from, step = (view.to - view.from) / COLUMNS, count = COLUMNS;
    if (!one.whole) {
      const group = Math.max(1, Math.ceil((view.to - view.from) / one.width / COLUMNS));
      step = group * one.width;
      from = Math.floor(view.from / step + 1e-9) * step;
      count = Math.max(1, Math.ceil((view.to - from) / step - 1e-9));
    }
    const kinds = KINDS.map(() => new Float64Array(count)), rows = new Float64Array(one.rows * count);
    for (const part of parts(one, view)) {
      const amount = part[view.measure], begin = Math.max(part.begin, view.from);
      const first = Math.max(0, Math.floor((Math.max(part.begin, from) - from) / step + 1e-9));
      let last = Math.min(count - 1, Math.ceil((Math.min(part.end, view.to) - from) / step - 1e-9) - 1);
      if (!one.whole || last < first) last = Math.min(first, count - 1);
      const shown = Math.min(part.end, view.to) - begin;
      for (let column = Math.min(first, count - 1); column <= last; column++) {
        const left = Math.max(begin, from + column * step), right = Math.min(part.end, from + (column + 1) * step);
        const value = last === first || !shown ? amount : amount * Math.max(0, right - left) / shown;
        kinds[part.kind][column] += value;
        rows[part.row * count + column] += value;
      }
    }
    return { from, step, count, kinds, rows };
  }

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function isDark() { return matchMedia("(prefers-color-scheme: dark)").matches; }

  // A colour between the ends of the scale; more is farther from the paper's own.
  function colour(part) {
    const at = (isDark() ? part : 1 - part) * (COLOURS.length - 1), low = Math.min(COLOURS.length - 2, Math.floor(at));
    return COLOURS[low].map((value, i) => value + (COLOURS[low + 1][i] - value) * (at - low));
  }

  class Explorer {
    constructor(figure, sources) {
      this.figure = figure;
      this.sources = sources;
      this.place = element("div", { class: "explore" });
      figure.querySelector(".scroll").before(this.place);
      figure.dataset.live = "";
      this.build();
      this.choose(Math.max(0, sources.findIndex((one) => one.traced)));
      new ResizeObserver(() => this.resize()).observe(this.place);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
    }

    // The fields and buttons above the figure.
    build() {
      const title = this.figure.querySelector("h3")?.textContent ?? "Timeline";
      const sources = this.sources.map((one) => one.traced ? `traced calls, by ${one.rows === 1 && one.ranks > 1 ? "file" : "rank"}` : `all bytes, in bins of ${span(one.width)}`);
      this.source = this.select("Data", sources, () => this.choose(Number(this.source.value)));
      this.source.parentElement.hidden = this.sources.length < 2;
      this.kind = this.select("Show", ["written and read", ...KINDS], () => this.refilter());
      this.measure = this.select("Amount", ["bytes", "time in calls"], () => this.refilter());
      this.ranks = element("input", { type: "text", placeholder: "all; such as 0-3, 8", size: 16 });
      this.ranks.addEventListener("input", () => this.refilter());
      this.file = element("select");
      this.file.addEventListener("change", () => this.refilter());
      const labelled = (name, field) => element("label", {}, `${name} `, field);
      const zooms = [["+", "Zoom in", () => this.zoom(0.5)], ["−", "Zoom out", () => this.zoom(2)],
        ["←", "Earlier", () => this.pan(-0.5)], ["→", "Later", () => this.pan(0.5)], ["Whole run", "", () => this.reset()]];
      const buttons = zooms.map(([sign, name, act]) => {
        const button = element("button", name ? { type: "button", "aria-label": name, title: name } : { type: "button" }, sign);
        button.addEventListener("click", act);
        return button;
      });
      this.said = element("output", { "aria-live": "polite" });
      this.summary = element("p", { class: "shown", "aria-live": "polite" });
      this.charts = element("div", { class: "charts", tabindex: 0, role: "group",
        "aria-label": `${title}: interactive figure. Arrow keys move a mark and say what is there; plus and minus zoom, 0 shows the whole run.` });
      this.charts.addEventListener("keydown", (event) => this.key(event));
      this.scale = element("p", { class: "scale" });
      this.list = element("div", { class: "scroll listed", tabindex: 0, role: "region", "aria-label": `${title}: what is in view` });
      this.fields = element("div", { class: "tools" }, this.source.parentElement, this.kind.parentElement,
        this.measure.parentElement, labelled("Ranks", this.ranks), labelled("File", this.file), ...buttons);
      this.hint = element("p", { class: "note" });
      this.place.append(this.fields, this.summary, this.charts, this.scale, this.said, this.hint, this.list);
    }

    select(name, choices, act) {
      const field = element("select", {}, ...choices.map((text, i) => element("option", { value: i }, text)));
      field.addEventListener("change", act);
      element("label", {}, `${name} `, field);
      return field;
    }

    // Another of the sources: its files, all of it in view.
    choose(number) {
      const one = this.one = this.sources[number];
      this.source.value = number;
      const names = ["all files", ...one.files];
      this.file.replaceChildren(...names.map((name, i) => element("option", { value: i - 1, title: name }, shortened(name))));
      for (const field of [this.file, this.measure]) field.parentElement.hidden = !one.files.length;
      this.file.value = -1;
      this.measure.value = 0;
      this.sorted = { by: 1, rising: false };
      this.view = { from: 0, to: one.seconds, low: 0, high: one.rows };
      this.spot = null;
      this.hint.textContent = "Look for ranks that move more than others, and for pauses. " + tracedWords(one) +
        "Drag over the figure to zoom into it, double-click for the whole run; or use the buttons, or its keys: arrows, +, −, 0.";
      this.refilter();
    }

    // The fields' words as a filter.
    refilter() {
      const rows = rowsOf(this.ranks.value, this.one);
      this.ranks.setAttribute("aria-invalid", rows === undefined);
      if (rows === undefined) {
        this.said.textContent = `No such rank: ${this.ranks.value}; there are 0 to ${this.one.ranks - 1}.`;
        return;
      }
      Object.assign(this.view, { rows, file: Number(this.file.value), kind: Number(this.kind.value) - 1,
        measure: this.one.files.length && Number(this.measure.value) ? "busy" : "moved" });
      this.said.textContent = "Point at the map, or use its arrow keys.";
      this.refresh();
    }

    zoom(factor) {
      const { from, to } = this.view, middle = this.spot ? this.spot.time : (from + to) / 2;
      this.look(middle - (middle - from) * factor, middle + (to - middle) * factor);
    }

    pan(part) {
      const wide = this.view.to - this.view.from, from = Math.max(0, Math.min(this.one.seconds - wide, this.view.from + part * wide));
      this.look(from, from + wide);
    }

    reset() {
      this.spot = null;
      Object.assign(this.view, { low: 0, high: this.one.rows });
      this.look(0, this.one.seconds);
    }

    // A span of time into view: at least two bins, or a microsecond where single calls are known.
    look(from, to) {
      const least = this.one.singles ? 1e-6 : 2 * this.one.width, middle = (from + to) / 2;
      if (to - from < least) [from, to] = [middle - least / 2, middle + least / 2];
      this.view.from = Math.max(0, from);
      this.view.to = Math.min(this.one.seconds, to);
      this.refresh();
    }

    refresh() {
      this.grid = grid(this.one, this.view);
      this.calls = this.callsInView();
      this.draw();
      this.tally();
    }

    // The single calls to draw: none where there are too many to tell apart.
    callsInView() {
      const { one, view } = this, found = [];
      const near = one.whole || (view.to - view.from) < 64 * one.width;
      for (let i = 0; near && i < one.singles; i++) {
        if (one.single_start[i] > view.to || one.single_end[i] < view.from) continue;
        const row = Math.floor(one.single_rank[i] / one.each);
        if ((view.rows && !view.rows.has(row)) || (view.file >= 0 && one.single_file[i] !== view.file)) continue;
        if (view.kind >= 0 && one.single_kind[i] !== view.kind) continue;
        found.push(i);
        if (found.length > MOST_DRAWN) return [];
      }
      return found;
    }

    draw() {
      const width = Math.max(280, this.place.clientWidth);
      this.flow?.destroy();
      this.map?.destroy();
      const axis = { stroke: css("--ink"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--line"), width: 1 },
        font: "12px DejaVu Sans, Verdana, sans-serif", labelFont: "12px DejaVu Sans, Verdana, sans-serif" };
      const x = { time: false, range: [this.view.from, this.view.to] };
      const cursor = { sync: { key: this.figure.id }, bind: { dblclick: () => () => this.reset() } };
      const dragged = (u) => {
        if (u.select.width < 4) return;
        if (u === this.map && u.select.height > 8 && u.select.height < u.over.clientHeight - 4) {
          const high = u.posToVal(u.select.top, "y"), low = u.posToVal(u.select.top + u.select.height, "y");
          Object.assign(this.view, { low: Math.max(0, Math.floor(low)), high: Math.min(this.one.rows, Math.ceil(high)) });
        }
        this.look(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
      };
      const busy = this.view.measure === "busy", { from, step, count, kinds } = this.grid;
      const edges = Array.from({ length: count + 1 }, (_, i) => from + i * step);
      const rates = kinds.map((values) => [...values, values[count - 1]].map((value, i) =>
        value / Math.min(step, Math.max(1e-9, this.one.seconds - from - Math.min(i, count - 1) * step))));
      const rate = (value) => value == null ? "–" : busy ? `${Number(value.toPrecision(3))}` : `${size(value)}/s`;
      const line = (label, name) => ({ label, stroke: css(name), width: 1.5, paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: false }, value: (_, value) => rate(value) });
      const powers = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
      const incrs = busy ? undefined : Array.from({ length: 6 }, (_, unit) => powers.map((one) => one * 1024 ** unit)).flat();
      const time = (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(12))}`);
      this.flow = new uPlot({ width, height: 150, cursor: { ...cursor, drag: { x: true, y: false, setScale: false } },
        legend: { live: true }, scales: { x, y: { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
        series: [{ label: "seconds", value: (_, value) => value == null ? "–" : span(value, step) }, line("written", "--write"), line("read", "--read")],
        axes: [{ ...axis, size: 22, values: () => [] },
          { ...axis, size: 78, labelSize: 18, incrs, values: (_, ticks) => ticks.map(rate), label: busy ? "ranks in calls" : "all ranks" }],
        hooks: { setSelect: [dragged] } }, [edges, ...rates], this.charts);
      const high = Math.max(90, Math.min(320, 14 * (this.view.high - this.view.low) + 60));
      this.map = new uPlot({ width, height: high, cursor: { ...cursor, points: { show: false }, drag: { x: true, y: true, uni: 30, setScale: false } },
        legend: { show: false }, scales: { x, y: { range: [this.view.low, this.view.high] } },
        series: [{}, { paths: () => null, points: { show: false } }],
        axes: [{ ...axis, label: "seconds since the start of the job", labelSize: 18, size: 34, values: time },
          { ...axis, size: 78, label: "rank", labelSize: 18, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
            splits: (_, __, low, top) => middles(low, top), values: (_, ticks) => ticks.map((tick) => Math.floor(tick) * this.one.each) }],
        hooks: { ready: [({ scales: { x } }) => { this.place.dataset.view = `${x.min} ${x.max}`; }], draw: [(u) => this.paint(u)], setSelect: [dragged], setCursor: [(u) => this.point(u)] } },
      [[this.view.from, this.view.to], [this.view.low, this.view.high]], this.charts);
      this.flow.root.querySelector(".u-legend").setAttribute("role", "presentation");
      for (const [plot, what] of [[this.flow, "over time"], [this.map, "by rank over time"]]) {
        plot.ctx.canvas.setAttribute("role", "img");
        plot.ctx.canvas.setAttribute("aria-label", `${this.one.layer}: ${busy ? "time in calls" : "bytes"} ${what}`);
      }
    }

    // The map: cells of time and rank, and over them single calls where they can be told apart.
    paint(u) {
      const { count, step, from, rows } = this.grid, { low, high } = this.view, { ctx, bbox } = u;
      const tall = high - low, group = Math.max(1, Math.ceil(tall / bbox.height)), lines = Math.ceil(tall / group);
      const values = new Float64Array(lines * count);
      for (let row = low; row < high; row++)
        for (let column = 0; column < count; column++)
          values[Math.floor((row - low) / group) * count + column] += rows[row * count + column];
      const seen = values.filter((value) => value > 0), most = seen.reduce((a, b) => Math.max(a, b), 0);
      const least = seen.reduce((a, b) => Math.min(a, b), most), wide = most > 10 * least;
      const part = (value) => wide ? Math.log(value / least) / Math.log(most / least) : value / most;
      const single = this.one.whole && this.calls.length;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      if (seen.length && !single) {
        const picture = new OffscreenCanvas(count, lines), pixels = new ImageData(count, lines);
        values.forEach((value, i) => {
          const at = 4 * ((lines - 1 - Math.floor(i / count)) * count + i % count);
          if (value > 0) pixels.data.set([...colour(part(value)), 255], at);
        });
        picture.getContext("2d").putImageData(pixels, 0, 0);
        ctx.imageSmoothingEnabled = false;
        const left = u.valToPos(from, "x", true), right = u.valToPos(from + count * step, "x", true);
        const top = u.valToPos(low + lines * group, "y", true), bottom = u.valToPos(low, "y", true);
        ctx.drawImage(picture, left, top, right - left, bottom - top);
      }
      this.paintCalls(u, single);
      ctx.restore();
      this.explain(single, least, most, wide);
    }

    paintCalls(u, single) {
      const { one, ctx } = { one: this.one, ctx: u.ctx };
      const tall = Math.abs(u.valToPos(0, "y", true) - u.valToPos(1, "y", true));
      for (const i of this.calls) {
        const left = u.valToPos(one.single_start[i], "x", true), right = u.valToPos(one.single_end[i], "x", true);
        const row = Math.floor(one.single_rank[i] / one.each), kind = one.single_kind[i];
        const top = u.valToPos(row + 1, "y", true) + tall * (0.08 + 0.42 * kind);
        ctx.fillStyle = ctx.strokeStyle = css(kind ? "--read" : "--write");
        if (single) ctx.fillRect(left, top, Math.max(1.5, right - left), Math.max(1, 0.42 * tall));
        else ctx.strokeRect(left, top, Math.max(1.5, right - left), Math.max(1, 0.42 * tall));
      }
    }

    // What colours and boxes mean.
    explain(single, least, most, wide) {
      const word = (value) => this.view.measure === "busy" ? span(value) : size(value);
      const swatch = (style) => element("span", { class: "swatch", style });
      if (single) {
        this.scale.replaceChildren(`${this.calls.length.toLocaleString("en")} calls, each from its start to its end: `,
          swatch("background:var(--write)"), " write (upper half of a row), ", swatch("background:var(--read)"), " read (lower half)");
        return;
      }
      const bar = Array.from({ length: 9 }, (_, i) => `rgb(${colour(i / 8).map(Math.round)})`).join(",");
      const parts = [`In ${span(this.grid.step)} of a row: `, word(wide ? least : 0), " ", swatch(`width:8rem;background:linear-gradient(90deg,${bar})`), ` ${word(most)}`];
      if (this.calls.length) parts.push("; boxes: calls that took longest");
      this.scale.replaceChildren(...(most ? parts : ["Nothing moved here."]));
    }

    // What is at a time in a row.
    tell(time, row) {
      const { one, view } = this;
      if (time < view.from || time > view.to || row < view.low || row >= view.high) return;
      const call = this.calls.find((i) => Math.floor(one.single_rank[i] / one.each) === row && one.single_start[i] <= time && time <= one.single_end[i]);
      if (call !== undefined) {
        const at = one.single_offset[call] >= 0 ? ` at ${size(one.single_offset[call])}` : "";
        const [begin, end] = [one.single_start[call], one.single_end[call]];
        this.said.textContent = `rank ${one.single_rank[call]}: ${one.single_kind[call] ? "read" : "write"} of ${size(one.single_length[call])}${at}` +
          ` of ${one.files[one.single_file[call]]}, from ${span(begin, (end - begin) / 10)}, took ${span(end - begin)}`;
        return;
      }
      const { from, step } = this.grid, column = Math.floor((time - from) / step), begin = from + column * step;
      const sums = [0, 0], calls = [0, 0], busy = [0, 0];
      const inside = { ...view, rows: new Set(!view.rows || view.rows.has(row) ? [row] : []) };
      for (const part of parts(one, inside, begin, begin + step)) {
        sums[part.kind] += part.moved;
        calls[part.kind] += part.calls;
        busy[part.kind] += part.busy;
      }
      const words = KINDS.map((name, kind) => `${size(sums[kind])} ${name}` + (calls[kind] ? ` in ${calls[kind].toLocaleString("en")} calls` : "")
        + (busy[kind] ? `, ${span(busy[kind])} in calls` : ""));
      this.said.textContent = `${rowName(one, row)}, ${span(begin, step)} to ${span(begin + step, step)}: ${words.join("; ")}`;
    }

    point(u) {
      const { left, top } = u.cursor;
      if (left == null || left < 0 || top < 0) return;
      this.tell(u.posToVal(left, "x"), Math.floor(u.posToVal(top, "y")));
    }

    key(event) {
      const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const ZOOMS = { "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.reset() };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in MOVES || event.key in ZOOMS)) return;
      event.preventDefault();
      if (event.key in ZOOMS) return ZOOMS[event.key]();
      const [right, up] = MOVES[event.key], { view, grid: { step } } = this;
      const before = this.spot ?? { time: view.from + step / 2 - right * step, row: view.low - up };
      const time = Math.max(view.from + step / 4, Math.min(view.to - step / 4, before.time + right * step));
      this.spot = { time, row: Math.max(view.low, Math.min(view.high - 1, before.row + up)) };
      this.map.setCursor({ left: this.map.valToPos(time, "x"), top: this.map.valToPos(this.spot.row + 0.5, "y") });
      this.tell(time, this.spot.row);
    }

    // The sums of what is in view, in a sentence and by file or rank.
    tally() {
      const { one, view } = this, byFile = one.files.length > 0, found = new Map(), sums = [0, 0];
      let calls = 0;
      for (const part of parts(one, view)) {
        const key = byFile ? part.file : part.row;
        const line = found.get(key) ?? found.set(key, [key, 0, 0, 0, 0]).get(key);
        line[1 + part.kind] += part.moved;
        line[3] += part.calls;
        line[4] += part.busy;
        sums[part.kind] += part.moved;
        calls += part.calls;
      }
      const ranks = view.rows ? `ranks ${this.ranks.value.trim()}` : one.ranks > 1 ? "all ranks" : "the only rank";
      const files = !byFile ? "" : view.file >= 0 ? `, ${one.files[view.file]}` : `, ${filesOf(one, found)}`;
      const traced = byFile ? ` in ${calls.toLocaleString("en")} calls` : "";
      const step = (view.to - view.from) / 100;
      this.summary.textContent = `In view: ${span(view.from, step)} to ${span(view.to, step)} of ${span(one.seconds)}, ${ranks}${files}: ` +
        `${size(sums[0])} written, ${size(sums[1])} read${traced}.`;
      this.table([...found.values()], byFile);
    }

    table(lines, byFile) {
      const heads = byFile ? ["file", "written", "read", "calls", "time in calls"] : ["rank", "written", "read"];
      const { by, rising } = this.sorted, name = (key) => byFile ? this.one.files[key] : rowName(this.one, key);
      lines.sort((a, b) => (by ? a[by] - b[by] || b[0] - a[0] : name(a[0]).localeCompare(name(b[0]), "en", { numeric: true })) * (rising ? 1 : -1));
      const row = element("tr", {}, ...heads.map((head, i) => {
        const button = element("button", { type: "button" }, head);
        button.addEventListener("click", () => {
          this.sorted = { by: i, rising: this.sorted.by === i ? !this.sorted.rising : i === 0 };
          this.tally();
          this.list.querySelectorAll("th button")[i].focus();
        });
        const order = i !== by ? "none" : rising ? "ascending" : "descending";
        return element("th", { scope: "col", "aria-sort": order, ...(i ? { class: "n" } : {}) }, button);
      }));
      const words = ([key, written, read, calls, busy]) => [name(key), size(written), size(read), ...(byFile ? [calls.toLocaleString("en"), span(busy)] : [])];
      const body = lines.slice(0, MOST_LISTED).map((line) => element("tr", {}, ...words(line).map((text, i) => {
        if (i) return element("td", { class: "n" }, text);
        const button = element("button", { type: "button", class: "only", title: "Show this alone, or all again" }, ...breakable(text));
        button.addEventListener("click", () => this.only(byFile, line[0]));
        return element("td", {}, button);
      })));
      const left = lines.length - body.length;
      this.list.replaceChildren(element("table", {}, element("thead", {}, row), element("tbody", {}, ...body)),
        ...(left > 0 ? [element("p", { class: "note" }, `${left.toLocaleString("en")} more; zoom or filter to see them.`)] : []));
    }

    // One file or row alone; the same again: all.
    only(byFile, key) {
      if (byFile) this.file.value = this.view.file === key ? -1 : key;
      else {
        const first = key * this.one.each, text = this.one.each === 1 ? `${first}` : `${first}-${Math.min(first + this.one.each, this.one.ranks) - 1}`;
        this.ranks.value = this.ranks.value === text ? "" : text;
      }
      this.refilter();
    }

    resize() {
      if (Math.abs(this.flow.width - this.place.clientWidth) > 1 && this.place.clientWidth > 280) this.draw();
    }
  }

  // How many files there are; the last one of a list may stand for many.
  function filesOf(one, found) {
    const others = one.file_count > one.files.length ? one.files.length - 1 : -1;
    const single = found.size - found.has(others);
    const words = [...(single ? [single === 1 ? "one file" : `${single} files`] : []), ...(found.has(others) ? [one.files[others]] : [])];
    return words.join(" and ") || "no file";
  }

  // The middles of rows to mark, a dozen at most.
  function middles(low, high) {
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (high - low) / one <= 8) ?? 1000, found = [];
    for (let row = Math.ceil(low / step) * step; row < high; row += step) found.push(row + 0.5);
    return found;
  }

  // How much of the layer's calls the data is of.
  function tracedWords(one) {
    if (!one.traced) return "";
    const [traced, made] = [one.traced, one.made].map((count) => count.toLocaleString("en"));
    const part = one.made > one.traced ? `Only ${traced} of ${made} calls were traced (DXT). ` : "";
    return `${part}The bytes of a call are spread evenly over its time. `;
  }

  function shortened(name) { return name.length > 60 ? `${name.slice(0, 25)}…${name.slice(-34)}` : name; }

  for (const figure of document.querySelectorAll("figure[data-timelines]")) {
    if (!("DecompressionStream" in window)) break;
    Promise.all(JSON.parse(figure.dataset.timelines).map(unpack)).then((sources) => new Explorer(figure, sources));
  }
}
