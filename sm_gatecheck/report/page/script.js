"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filters"), query = byId("q"), count = byId("count"), dialog = byId("proof");
  const heading = byId("proof-title"), body = byId("proof-body");
  let pool = null, opened = false;
  const proofs = () => (pool ??= JSON.parse(byId("proofs").textContent));

  // The rows once, as data: filtering then only looks at these.
  const tables = [...document.querySelectorAll("main table")];
  const rows = [];
  for (const table of tables) {
    const judged = table.id === "matrix";
    for (const section of table.tBodies) {
      for (const element of section.rows) {
        if (!element.dataset.k) continue;
        rows.push({ element, section, judged, text: element.dataset.k.replaceAll("-", "_"), verdicts: null });
      }
    }
  }
  const columns = [...tables[0].tHead.rows[0].cells].map((cell) => cell.dataset.sm ?? "");
  const sms = [...form.querySelectorAll('[name="sm"]')];
  const verdicts = [...form.querySelectorAll('[name="verdict"]')];
  const nameOf = (cell) => `${cell.parentElement.id}@${columns[cell.cellIndex]}`;

  const verdictsOf = (row) => (row.verdicts ??= [...row.element.cells].slice(2).map((cell) => cell.classList[1]));

  function filter() {
    const words = query.value.toLowerCase().replaceAll("-", "_").split(/\s+/).filter(Boolean);
    const shownSms = sms.map((box) => box.checked);
    const wanted = new Set(verdicts.filter((box) => box.checked).map((box) => box.value));
    const every = wanted.size === verdicts.length && shownSms.every(Boolean);
    const full = new Set();
    let shown = 0, judged = 0;
    for (const row of rows) {
      const fits = words.every((word) => row.text.includes(word));
      const verdict = !row.judged || every || verdictsOf(row).some((name, index) => shownSms[index] && wanted.has(name));
      const visible = fits && verdict;
      if (row.element.hidden === visible) row.element.hidden = !visible;
      if (visible) full.add(row.section);
      if (row.judged) { judged += 1; shown += visible ? 1 : 0; }
    }
    for (const table of tables) for (const section of table.tBodies) section.hidden = !full.has(section);
    for (const [index, shownSm] of shownSms.entries()) {
      const column = columns.indexOf(sms[index].value);
      if (tables[0].tHead.rows[0].cells[column].hidden !== shownSm) continue;
      for (const table of tables) table.tHead.rows[0].cells[column].hidden = !shownSm;
      for (const row of rows) row.element.cells[column].hidden = !shownSm;
    }
    count.textContent = `${shown.toLocaleString("en")} of ${judged.toLocaleString("en")} settings`;
    keepOneTabStop();
  }

  // -- proofs

  const make = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  };
  const list = (title, items, ordered) => {
    if (!items.length) return;
    body.append(make("h3", "", title));
    const holder = make(ordered ? "ol" : "ul");
    for (const item of items) { const entry = make("li"); entry.append(...item); holder.append(entry); }
    body.append(holder);
  };
  const place = (file, line) => file ? make("code", "place", `${file}:${line}`) : "";

  function show(cell) {
    const button = cell.querySelector("button");
    const data = proofs();
    const [summary, lines, effects, fine, open] = data.proofs[Number(button.dataset.p)];
    const row = cell.parentElement, judged = row.closest("table").id === "matrix";
    const name = judged ? `${row.cells[0].textContent} ${row.cells[1].textContent}` : row.cells[0].textContent;
    const sm = `SM${columns[cell.cellIndex]}`;
    heading.textContent = `${name} on ${sm}: ${button.firstChild.textContent.trim()}`;
    body.replaceChildren(make("p", "", summary.replaceAll("\u0001", sm)));
    if (fine) body.append(make("p", "", `It does what it is for on ${fine}.`));
    list("Why: the lines of SGLang", lines.map((number) => {
      const [role, file, line, source, holds] = data.lines[number];
      return [`${role} `, place(file, line), holds ? ` ${holds}` : "", make("code", "source", source)];
    }), true);
    list("What it does", effects.map((number) => {
      const [text, when, file, line] = data.effects[number];
      return [text, when < 0 ? " " : `, when ${data.whens[when]} `, place(file, line)];
    }), false);
    list("Not followed", open.map((text) => [text]), false);
    opened = true;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    heading.focus();
  }

  function follow() {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* as it is */ }
    const at = name.lastIndexOf("@");
    const row = (byId(name) ?? (at > 0 ? byId(name.slice(0, at)) : null))?.closest("main tr");
    const column = row && row.id !== name ? columns.indexOf(name.slice(at + 1)) : -1;
    const cell = column > 0 && row.cells[column].querySelector("button") ? row.cells[column] : null;
    if (row && (row.hidden || cell?.hidden)) { form.reset(); filter(); }
    if (row && !cell) row.scrollIntoView({ block: "center" });
    if (cell) { cell.scrollIntoView({ block: "center" }); tabStop(cell.querySelector("button")); show(cell); }
    else if (dialog.open) dialog.close();
  }

  byId("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    if (opened) history.replaceState(null, "", location.pathname + location.search);
    opened = false;
    stop?.focus();
  });
  window.addEventListener("hashchange", follow);

  // -- the keyboard: one cell is a tab stop, arrows move it

  let stop = null;
  function tabStop(button) {
    if (stop) stop.tabIndex = -1;
    stop = button;
    if (stop) stop.tabIndex = 0;
  }
  const isShown = (button) => !button.closest("td").hidden && !button.closest("tr").hidden;
  function keepOneTabStop() {
    if (stop && isShown(stop)) return;
    const row = rows.find((candidate) => !candidate.element.hidden && candidate.element.querySelector("td:not([hidden]) > button"));
    tabStop(row ? row.element.querySelector("td:not([hidden]) > button") : null);
  }
  function buttonIn(row, column) {
    const cells = [...row.cells];
    for (let distance = 0; distance < cells.length; distance += 1) {
      for (const index of [column - distance, column + distance]) {
        const button = index >= 2 ? cells[index]?.querySelector("button") : null;
        if (button && isShown(button)) return button;
      }
    }
    return null;
  }
  function move(button, key, far) {
    const cell = button.closest("td"), row = cell.parentElement;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (across) {
      for (let index = cell.cellIndex + across; row.cells[index]; index += across) {
        const next = row.cells[index].querySelector("button");
        if (next && isShown(next)) return next;
      }
      return null;
    }
    const own = [...row.cells].map((each) => each.querySelector("button")).filter((each) => each && isShown(each));
    if (!far && key === "Home") return own[0];
    if (!far && key === "End") return own.at(-1);
    const shown = rows.filter((each) => !each.element.hidden).map((each) => each.element);
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -12, PageDown: 12, Home: -shown.length, End: shown.length }[key];
    let index = Math.min(Math.max(shown.indexOf(row) + step, 0), shown.length - 1);
    for (; shown[index]; index += Math.sign(step)) {
      const next = buttonIn(shown[index], cell.cellIndex);
      if (next) return next;
    }
    return null;
  }
  const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
  for (const table of tables) {
    table.addEventListener("keydown", (event) => {
      if (!KEYS.has(event.key) || !event.target.matches("td.v > button")) return;
      event.preventDefault();
      const next = move(event.target, event.key, event.ctrlKey || event.metaKey);
      if (next) { tabStop(next); next.focus(); }
    });
    table.addEventListener("click", (event) => {
      const button = event.target.closest("td.v > button");
      if (!button) return;
      tabStop(button);
      const hash = `#${encodeURIComponent(nameOf(button.closest("td"))).replaceAll("%40", "@").replaceAll("%3D", "=")}`;
      if (location.hash === hash) follow(); else location.hash = hash;
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !dialog.open && !event.target.matches("input")) { event.preventDefault(); query.focus(); query.select(); }
  });

  let waiting = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(filter); });
  form.addEventListener("reset", () => setTimeout(filter));
  const bar = () => document.documentElement.style.setProperty("--bar", `${form.offsetHeight}px`);
  window.addEventListener("resize", bar);
  bar();
  filter();
  follow();
})();
