"use strict";
// Draws the rows of the report. Every number comes as the program printed it; here only h is subtracted. Text goes in as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      if (name === "class") node.className = value;
      else if (name === "style") for (const [key, v] of Object.entries(value)) node.style.setProperty(key, v);
      else node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const svg = (tag, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  // ---- numbers --------------------------------------------------------------------------------------------------------------------------

  // Round half to even on the exact value, as the program does; toFixed rounds a tie up.
  function fixed(value, decimals) {
    const exact = Math.abs(value).toFixed(100), cut = exact.indexOf(".") + 1 + decimals;
    let text = Math.abs(value).toFixed(decimals);
    if (/^50*$/.test(exact.slice(cut))) {
      const down = exact.slice(0, decimals === 0 ? cut - 1 : cut);
      if (/[02468]$/.test(down)) text = down;
    }
    return (value < 0 || Object.is(value, -0) ? "-" : "") + text;
  }

  // Three significant digits, never more decimals than the row has, always with the sign: the program's rule for differences.
  function difference(value, decimals) {
    const size = Math.abs(value);
    const wanted = size > 0 ? Math.min(Math.max(2 - Math.floor(Math.log10(size)), 0), 9) : decimals;
    const text = fixed(value, Math.min(decimals, wanted));
    return text.startsWith("-") ? text : "+" + text;
  }

  // "0.1", "0.10 ms", "-2e-3": milliseconds, with a point in every locale. null: not a number.
  function milliseconds(text) {
    const match = /^\s*([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)\s*(ms)?\s*$/i.exec(text);
    return match && Number.isFinite(Number(match[1])) ? Number(match[1]) : null;
  }

  const plain = (value) => String(value);

  // ---- state ----------------------------------------------------------------------------------------------------------------------------

  const filters = { model: (row) => row.model, cp: (row) => String(row.cp), m: (row) => String(row.m), base: (row) => row.base };
  const shows = {
    "": ["every row", () => true],
    saves: ["saves", (row) => standing(row).side === "saves"],
    costs: ["costs", (row) => standing(row).side === "costs"],
    unsure: ["undecided or no difference", (row) => standing(row).side === "unsure"],
    none: ["not measured", (row) => !row.delta],
  };
  const value = (pair) => (pair ? pair[0] : -Infinity);
  const sorts = {
    file: ["model, CP, tokens", (a, b) => a.id - b.id],
    delta: ["Delta, largest first", (a, b) => value(b.delta) - value(a.delta)],
    "delta-up": ["Delta, smallest first", (a, b) => (a.delta ? a.delta[0] : Infinity) - (b.delta ? b.delta[0] : Infinity)],
    safe: ["h_safe, largest first", (a, b) => value(b.safe) - value(a.safe)],
    tokens: ["tokens", (a, b) => a.m - b.m],
    realised: ["share of the possible saving", (a, b) => value(b.realised) - value(a.realised)],
  };
  const start = { model: "", cp: "", m: "", base: "", show: "", sort: "file", h: plain(data.h), keep: "" };
  let state = { ...start };
  let opened = new Set();

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    state = { ...start };
    for (const key of Object.keys(start)) if (given.has(key)) state[key] = given.get(key);
    if (!(state.show in shows)) state.show = "";
    if (!(state.sort in sorts)) state.sort = start.sort;
    if (milliseconds(state.h) === null) state.h = start.h;
    opened = new Set((given.get("open") || "").split(",").filter(Boolean).map(Number));
  }

  function writeAddress() {
    const address = new URLSearchParams();
    for (const key of Object.keys(start)) if (state[key] !== start[key]) address.set(key, state[key]);
    if (opened.size) address.set("open", [...opened].join(","));
    const text = address.toString();
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  }

  const h = () => milliseconds(state.h) ?? 0;

  // ---- what a row says ------------------------------------------------------------------------------------------------------------------

  // side: saves | costs | unsure | none. With h = 0 a verdict is the program's; with another h the same interval is moved by h.
  function standing(row) {
    const overhead = h();
    if (!row.delta) return { side: "none", word: row.verdict || row.status, text: row.verdict ? row.status + ": " + row.why : row.why };
    const left = row.delta[0] - overhead;
    if (row.verdict && (overhead === 0 || row.verdict === "not measured")) return { side: sideOf(row), word: row.verdict, text: row.why };
    const amount = difference(left, row.decimals) + " ms after h";
    if (!row.interval) {
      if (overhead === 0) return { side: left > 0 ? "saves" : "costs", word: row.words, text: row.why, quiet: true };
      return { side: left > 0 ? "saves" : "costs", word: left > 0 ? "saves" : "no gain", text: amount + "; no interval: " + row.why };
    }
    if (row.verdict === "benefit" && overhead < row.safe[0])
      return { side: "saves", word: "benefit at this h", text: `${amount}; h is below h_safe, ${row.safe[1]} ms` };
    if (row.interval[1][0] < overhead) return { side: "costs", word: "harm at this h", text: amount + "; h is above the whole interval" };
    return { side: "unsure", word: "undecided at this h", text: amount + "; h lies where the interval cannot tell" };
  }

  function sideOf(row) {
    if (row.verdict === "benefit") return "saves";
    if (row.verdict === "harm") return "costs";
    return row.verdict === "not measured" ? (row.delta[0] > 0 ? "saves" : "costs") : "unsure";
  }

  // ---- rows -----------------------------------------------------------------------------------------------------------------------------

  const part = (kind, low, high) => el("div", { class: "part " + kind, style: { "--from": low, "--size": high - low } });

  function bars(row) {
    if (!row.delta) return [];
    const delta = row.delta[0], parts = [];
    if (row.resolution) parts.push(part("band", -row.resolution[0], row.resolution[0]));
    if (row.possible) parts.push(part("possible", Math.min(0, row.possible[0]), Math.max(0, row.possible[0])));
    parts.push(part("bar", Math.min(0, delta), Math.max(0, delta)));
    if (row.interval) parts.push(part("whisker", row.interval[0][0], row.interval[1][0]));
    parts.push(el("div", { class: "overhead-line" }));
    return parts;
  }

  function tags(row) {
    const labels = [];
    if (row.source !== "measured") labels.push(row.source);
    if (row.fabric === "emulated") labels.push("emulated");
    return labels.map((label) => el("span", { class: "tag" }, label));
  }

  function place(row) {
    const words = [];
    if (several.base) words.push("against " + row.base);
    if (several.candidate) words.push(row.candidate);
    if (several.file) words.push(data.files[row.file].path);
    if (several.cell) words.push(row.cell);
    return words.join(" · ");
  }

  function makeRow(row) {
    const button = el("button", { type: "button", "aria-expanded": "false" }, row.model);
    const where = place(row), narrow = el("small", { class: "narrow" }, `CP ${row.cp} · ${row.m} tokens`);
    const cell = (kind, ...children) => el("td", { role: "cell", class: kind }, ...children);
    row.words_cell = cell("words");
    row.node = el("tr", { role: "row", class: "row " + (row.source === "measured" ? "" : "simulated"), "data-row": row.id },
      el("th", { scope: "row", role: "rowheader", class: "what" }, button, narrow, where ? el("small", {}, where) : null),
      cell("count", plain(row.cp)), cell("count", plain(row.m)), cell("bars", ...bars(row)), cell("number", row.delta ? row.delta[1] : "none"),
      row.words_cell);
    row.button = button;
    row.shown = null;
  }

  function colour(row) {
    const says = standing(row), key = says.side + "\n" + says.word + "\n" + says.text;
    if (row.shown === key) return;
    row.shown = key;
    for (const side of ["saves", "costs", "unsure", "none"]) row.node.classList.toggle(side, says.side === side);
    row.words_cell.replaceChildren(...tags(row), el("b", {}, says.word), el("br"), says.quiet ? el("small", {}, says.text) : says.text,
      ...row.marks.map((mark) => el("small", {}, " · " + mark)));
  }

  // ---- details --------------------------------------------------------------------------------------------------------------------------

  const columns = ["baseline", "candidate", "difference", "GEMM alone", "exchange alone", "reorder alone", "floor", "realised"];

  function operations(row) {
    const bounds = row.operations.some((operation) => operation.numbers.slice(3).some(Boolean));
    const used = columns.slice(0, bounds ? 8 : 3);
    const title = (name) => (name === "baseline" ? row.base : name === "candidate" ? row.candidate : name) + (name === "realised" ? ", %" : ", ms");
    const cells = (numbers) => used.map((_, i) => el("td", { class: "n" }, numbers[i] || "–"));
    const table = el("table", { class: "plain operations" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "operation"), ...used.map((name) => el("th", { scope: "col", class: "n" }, title(name))))),
      el("tbody", {}, ...row.operations.map((operation) => el("tr", {}, el("th", { scope: "row" }, operation.name), ...cells(operation.numbers)))));
    if (row.delta)
      table.append(el("tfoot", {}, el("tr", {}, el("td", {}, "sum"), ...cells([row.baseline, row.candidate_time, row.delta[1]].concat(Array(5).fill(" "))))));
    return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Operations" }, table);
  }

  // Observations are stored as two base64 digits each, 4096 steps from the smallest to the largest of the operation.
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const digitValue = new Map([...digits].map((digit, i) => [digit, i]));

  const blockWords = (order) => "blocks in the order they ran: " + [...order].map((o) => (o === "0" ? "initial" : "reversed")).join(", ");

  function strip(row, index) {
    const { order, observations, raw } = row.blocks, operation = row.operations[index];
    const width = 340, height = 120, top = 14, blocks = order.length, slot = width / blocks;
    const text = raw[index], level = (at) => (digitValue.get(text[at]) * 64 + digitValue.get(text[at + 1])) / 4095;
    const y = (share) => top + (1 - share) * (height - 2 * top);
    const image = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none",
      "aria-label": `${operation.name}: every observation of both arms, block by block, from ${operation.low} to ${operation.high} ms` });
    for (let block = 0; block <= blocks; ++block) image.append(svg("path", { class: "frame", d: `M${block * slot} ${top - 6}V${height - 6}` }));
    for (let arm = 0; arm < 2; ++arm) {
      let dots = "", medians = "";
      for (let block = 0; block < blocks; ++block) {
        const left = block * slot + slot * (arm === 0 ? 0.06 : 0.54), room = slot * 0.4, levels = [];
        for (let i = 0; i < observations; ++i) {
          const share = level(((arm * blocks + block) * observations + i) * 2);
          levels.push(share);
          dots += `M${(left + (room * (i + 0.5)) / observations).toFixed(1)} ${y(share).toFixed(1)}h0`;
        }
        levels.sort((a, b) => a - b);
        const middle = (levels[(observations - 1) >> 1] + levels[observations >> 1]) / 2;
        medians += `M${left.toFixed(1)} ${y(middle).toFixed(1)}h${room.toFixed(1)}`;
      }
      image.append(svg("path", { class: "dots " + "ab"[arm], d: dots }), svg("path", { class: "median " + "ab"[arm], d: medians }));
    }
    return el("figure", {}, el("figcaption", {}, `${operation.name}, ${operation.low} to ${operation.high} ms`), image);
  }

  function makeDetails(row) {
    const cell = el("td", { role: "cell", colspan: "6" });
    if (row.operations.length) cell.append(el("h3", {}, "The four operations"), operations(row));
    if (row.facts.length)
      cell.append(el("h3", {}, "Behind this row"), el("dl", { class: "facts" }, ...row.facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])));
    if (row.blocks) {
      cell.append(el("h3", {}, "Every observation: the slowest rank's time"),
        el("ul", { class: "legend" }, el("li", {}, el("span", { class: "key a" }), row.base + " (left half of a block)"),
          el("li", {}, el("span", { class: "key b" }), row.candidate + " (right half)"), el("li", {}, "a line marks each block's median"), el("li", {}, blockWords(row.blocks.order))),
        el("div", { class: "strips" }, ...row.operations.map((_, i) => strip(row, i))));
    }
    if (row.table)
      cell.append(el("h3", {}, row.table.title), el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": row.table.title },
        el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...row.table.columns.map((name) => el("th", { scope: "col", class: "n" }, name)))),
          el("tbody", {}, ...row.table.rows.map((texts) => el("tr", {}, ...texts.map((text) => el("td", { class: "n" }, text))))))));
    row.details = el("tr", { role: "row", class: "details", "data-details": row.id }, cell);
  }

  function toggle(row, open) {
    row.button.setAttribute("aria-expanded", String(open));
    row.node.classList.toggle("opened", open);
    if (open) {
      if (!row.details) makeDetails(row);
      opened.add(row.id);
      row.node.after(row.details);
    } else {
      opened.delete(row.id);
      if (row.details) row.details.remove();
    }
  }

  // ---- the scale ------------------------------------------------------------------------------------------------------------------------

  let scale = null;

  function extent(rows) {
    let low = 0, high = 0;
    for (const row of rows) {
      if (!row.delta) continue;
      const ends = row.interval ? [row.interval[0][0], row.interval[1][0]] : [];
      for (const end of [row.delta[0], ...ends]) { low = Math.min(low, end); high = Math.max(high, end); }
    }
    // A bound may be far beyond every bar; it widens the scale to twice at most, and is cut there.
    const room = 2 * Math.max(high, -low);
    for (const row of rows) if (row.possible) high = Math.max(high, Math.min(row.possible[0], room));
    if (h() > 0 && h() < room) high = Math.max(high, h());
    return low === 0 && high === 0 ? [-1, 1] : [low, high];
  }

  function setScale(rows) {
    if (!(state.keep && scale)) {
      const [low, high] = extent(rows), pad = 0.04 * (high - low);
      scale = { low: low - pad, high: high + pad };
    }
    const span = scale.high - scale.low, raw = span / 6, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const share = (ms) => ((ms - scale.low) / span) * 100;
    const first = Math.ceil(scale.low / step), table = $("chart"), tick = (step / span) * 100;
    table.style.setProperty("--zero", share(0) + "%");
    table.style.setProperty("--unit", 100 / span + "%");
    table.style.setProperty("--tick", tick + "%");
    table.style.setProperty("--tick-offset", share(first * step) / (1 - tick / 100) + "%");
    const marks = [];
    for (let i = first; i * step <= scale.high; ++i) {
      if (share(i * step) < 3 || share(i * step) > 97) continue;  // its text would leave the column
      marks.push(el("span", { style: { left: share(i * step) + "%" } }, (i > 0 ? "+" : "") + (i === 0 ? "0" : (i * step).toFixed(decimals))));
    }
    $("axis").replaceChildren(...marks);
  }

  // ---- drawing --------------------------------------------------------------------------------------------------------------------------

  let visible = [], drawn = "";

  function draw() {
    const wanted = (row) => Object.entries(filters).every(([key, of]) => state[key] === "" || of(row) === state[key]) && shows[state.show][1](row);
    visible = data.rows.filter(wanted).sort(sorts[state.sort][1]);
    const order = visible.map((row) => row.id).join();
    if (order !== drawn) {
      drawn = order;
      $("rows").replaceChildren(...visible.flatMap((row) => (opened.has(row.id) && row.details ? [row.node, row.details] : [row.node])));
    }
    for (const row of visible) colour(row);
    $("chart").style.setProperty("--h", h());
    $("chart").classList.toggle("no-overhead", h() === 0);
    setScale(visible);
    $("chart").classList.toggle("no-scale", !visible.some((row) => row.delta));
    words();
    writeAddress();
  }

  function words() {
    const all = data.rows.length, withDelta = visible.filter((row) => row.delta), none = visible.length - withDelta.length;
    $("count").textContent = `${visible.length} of ${all} rows shown` + (none ? `, ${none} of them without a Delta` : "") + filterWords();
    $("axis-title").textContent = "ms, linear, " + (state.keep ? "scale kept" : "fitted to the rows shown");
    $("h-words").textContent = withDelta.length ? `h = ${state.h} ms: ${benefitWords(withDelta)}${safeWords(withDelta)}` : "";
    $("empty").hidden = visible.length > 0;
    $("empty").textContent = all === 0 ? "The files hold no cells." : "No row passes these filters. Reset shows them all.";
    $("chart").hidden = visible.length === 0;
  }

  // Simulated rows are counted apart from measured ones.
  function benefitWords(rows) {
    const count = (source) => {
      const of = rows.filter((row) => (row.source === "simulated") === (source === "simulated"));
      return of.length ? [`${of.filter((row) => row.delta[0] > h()).length} of the ${of.length} ${source} rows with a Delta`] : [];
    };
    return [...count("measured"), ...count("simulated")].join(" and ") + " benefit (h < Delta)";
  }

  function filterWords() {
    const chosen = Object.keys(filters).filter((key) => state[key] !== "").map((key) => `${labels[key]} ${state[key]}`);
    if (state.show) chosen.push(shows[state.show][0]);
    return chosen.length ? "; only " + chosen.join(", ") : "";
  }

  function safeWords(rows) {
    const judged = rows.filter((row) => row.safe);
    return judged.length ? `; ${judged.filter((row) => row.verdict === "benefit" && row.safe[0] > h()).length} of ${judged.length} with an interval do so safely (h < h_safe)` : "";
  }

  // ---- CSV ------------------------------------------------------------------------------------------------------------------------------

  function csv() {
    const field = (text) => {
      let safe = text === null || text === undefined ? "" : String(text);
      if (typeof text === "string" && /^[=+\-@]/.test(safe)) safe = "'" + safe;  // a spreadsheet must not run it
      return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
    };
    const number = (pair) => (pair ? pair[0] : null);
    const table = [
      ["file", (row) => data.files[row.file].path], ["cell", (row) => row.cell], ["model", (row) => row.model], ["cp", (row) => row.cp],
      ["tokens_per_rank", (row) => row.m], ["source", (row) => row.source], ["fabric", (row) => row.fabric], ["status", (row) => row.status],
      ["reason", (row) => row.reason], ["baseline", (row) => row.base], ["candidate", (row) => row.candidate], ["delta_ms", (row) => number(row.delta)],
      ["budget_ms", (row) => (row.delta && row.delta[0] > 0 ? row.delta[0] : null)],
      ["interval_low_ms", (row) => (row.interval ? row.interval[0][0] : null)], ["interval_high_ms", (row) => (row.interval ? row.interval[1][0] : null)],
      ["h_safe_ms", (row) => number(row.safe)], ["resolution_ms", (row) => number(row.resolution)], ["verdict", (row) => row.verdict],
      ["h_ms", () => h()], ["saving_ms", (row) => (row.delta ? row.delta[0] - h() : null)],
    ];
    const lines = [table.map(([title]) => title), ...visible.map((row) => table.map(([, of]) => of(row)))];
    return lines.map((line) => line.map(field).join(",") + "\n").join("");
  }

  function download() {
    const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    const link = el("a", { href: address, download: "megaup-rows.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  // ---- controls -------------------------------------------------------------------------------------------------------------------------

  const labels = { model: "model", cp: "CP", m: "tokens a rank", base: "baseline" };
  const several = {};

  function choices(select, entries) {
    select.replaceChildren(...entries.map(([key, text]) => el("option", { value: key }, text)));
  }

  function fillControls() {
    for (const [key, of] of Object.entries(filters)) {
      const values = [...new Set(data.rows.map(of))];
      values.sort((a, b) => (key === "cp" || key === "m" ? Number(a) - Number(b) : a < b ? -1 : 1));
      choices($(key), [["", "all"], ...values.map((text) => [text, text])]);
      several[key] = values.length > 1;
      $(key).parentElement.hidden = values.length < 2;
    }
    several.file = data.files.length > 1;
    several.candidate = new Set(data.rows.map((row) => row.candidate)).size > 1;
    several.cell = new Set(data.rows.map((row) => [row.file, row.model, row.cp, row.m, row.base, row.candidate].join("\n"))).size < data.rows.length;
    choices($("show"), Object.entries(shows).map(([key, [text]]) => [key, text]));
    choices($("sort"), Object.entries(sorts).map(([key, [text]]) => [key, text]));
    const top = Math.max(0, ...data.rows.map((row) => (row.delta ? row.delta[0] : 0))) * 1.1;
    const limit = top > 0 ? top : 1, step = 10 ** Math.floor(Math.log10(limit / 100));
    Object.assign($("h-range"), { max: limit, step });
    $("h-range").dataset.decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  }

  function showControls() {
    for (const key of [...Object.keys(filters), "show", "sort"]) {
      $(key).value = state[key];
      if ($(key).value !== state[key]) { state[key] = start[key]; $(key).value = start[key]; }  // the address names a value that no row has
    }
    $("h").value = state.h;
    $("h-range").value = h();
    $("keep").checked = state.keep !== "";
  }

  function listen() {
    for (const key of [...Object.keys(filters), "show", "sort"])
      $(key).addEventListener("change", (event) => { state[key] = event.target.value; draw(); });
    $("h-range").addEventListener("input", (event) => {
      state.h = plain(Number(Number(event.target.value).toFixed(event.target.dataset.decimals)));
      $("h").value = state.h;
      draw();
    });
    $("h").addEventListener("input", (event) => {
      const given = milliseconds(event.target.value);
      event.target.setAttribute("aria-invalid", String(given === null));
      if (given === null) return;
      state.h = plain(given);
      $("h-range").value = given;
      draw();
    });
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    $("keep").addEventListener("change", (event) => { state.keep = event.target.checked ? "1" : ""; draw(); });
    $("csv").addEventListener("click", download);
    $("print").addEventListener("click", () => window.print());
    $("reset").addEventListener("click", () => {
      for (const id of [...opened]) if (byId.has(id)) toggle(byId.get(id), false);
      state = { ...start };
      showControls();
      draw();
    });
    window.addEventListener("hashchange", () => { restore(); });
    $("rows").addEventListener("click", (event) => {
      const node = event.target.closest("tr.row");
      if (!node || String(window.getSelection())) return;
      const row = byId.get(Number(node.dataset.row));
      toggle(row, !opened.has(row.id));
      writeAddress();
    });
    $("rows").addEventListener("keydown", moveByKey);
  }

  // Up and down go from row to row, Escape closes; Enter and space press the row's button, as everywhere.
  function moveByKey(event) {
    const at = visible.findIndex((row) => row.button === document.activeElement);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: visible.length - 1 }[event.key];
    if (to !== undefined && visible[to]) {
      visible[to].button.focus();
      event.preventDefault();
    } else if (event.key === "Escape" && opened.has(visible[at].id)) {
      toggle(visible[at], false);
      writeAddress();
    }
  }

  // ---- the page around the rows ---------------------------------------------------------------------------------------------------------

  function fillFrame() {
    $("made").textContent = "· " + data.made;
    $("headline").textContent = data.headline;
    $("lead").append("Each row is one shape of attention. Its bar is ", el("b", {}, "Delta"),
      `: what the ${data.candidates} arm saves in one layer's four operations, forward and backward, against the separate ones. `,
      el("b", { class: "save" }, "To the right (+, blue)"), " Delta is a budget: fused wins as long as integrating it costs less than that (h). ",
      el("b", { class: "cost" }, "To the left (−, orange)"), " the fused operations cost more than they save.");
    $("configuration").append(...data.configuration.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
    if (data.parts.length > 1) {
      $("parts").hidden = false;
      $("parts").append(data.part_words + " ", ...data.parts.flatMap((name, i) => [i === data.part ? el("b", {}, name) : el("a", { href: name }, name), " "]));
    }
    $("notes").append(...data.notes.map((note) => el("li", {}, note)));
    $("files").append(el("thead", {}, el("tr", {}, ...data.file_columns.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...data.files.map((file) => el("tr", {}, ...file.texts.map((text) => el("td", {}, text))))));
    $("colophon").textContent = data.colophon;
    const key = (kind, text) => el("li", {}, el("span", { class: "key " + kind, "aria-hidden": "true" }), text);
    const has = (name) => data.rows.some((row) => row[name]);
    $("legend").append(key("saves", "+ saves: potential overhead budget"), key("costs", "− operation cost"),
      ...(has("interval") ? [key("unsure", "undecided, or no difference"), key("whisker", "95 % interval")] : []),
      ...(has("resolution") ? [key("band", "resolution of the run (A/A)")] : []),
      ...(has("possible") ? [key("possible", "possible saving: down to the larger of GEMM and exchange alone")] : []), key("line", "h"));
  }

  const byId = new Map();

  function restore() {
    for (const id of [...opened]) if (byId.has(id)) toggle(byId.get(id), false);
    readAddress();
    showControls();
    const open = [...opened];
    draw();
    for (const id of open) if (byId.has(id)) toggle(byId.get(id), true);
  }

  data.rows.forEach((row, id) => {
    row.id = id;
    byId.set(id, row);
  });
  fillControls();
  fillFrame();
  data.rows.forEach(makeRow);
  listen();
  restore();
})();
