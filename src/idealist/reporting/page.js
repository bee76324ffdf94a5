"use strict";
// What the report page can do beyond being read: sort, search, filter, page, jump, copy.
// Everything shown is in the HTML already; this only arranges it, and makes its own controls.
(() => {
  const PAGE = 200;
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

  function make(tag, properties = {}, ...children) {
    const { attributes = {}, ...others } = properties;
    const element = Object.assign(document.createElement(tag), others);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const button = (text, onclick, className = "plain") => make("button", { type: "button", className, textContent: text, onclick });
  const count = (number) => number.toLocaleString("en");

  // --- Tables: rows are put in order and hidden, never made.

  const collator = new Intl.Collator("en", { numeric: true });

  function number(text) {
    const found = parseFloat(text.replace(/,/g, "").replace(/[^\d.+\-eE]/g, " ").trim());
    return Number.isNaN(found) ? null : found;
  }

  // The place of each text among all of them, sorted; none where there is no text.
  function places(texts) {
    const known = [...new Set(texts)].filter((text) => text !== "" && text !== "-").sort(collator.compare);
    const order = new Map(known.map((text, place) => [text, place]));
    return texts.map((text) => order.get(text) ?? null);
  }

  class Sheet {
    constructor(table) {
      this.table = table;
      this.body = table.tBodies[0];
      this.rows = [...this.body.rows];
      this.matching = this.rows;
      this.limit = PAGE;
      this.words = "";
      this.kind = "";
      this.keys = new Map();
      this.heads = [...table.tHead.rows[0].cells];
      this.heads.forEach((head, place) => this.addSort(head, place));
      this.addTools();
      this.show();
    }

    addSort(head, place) {
      if (!head.textContent) return;
      const opener = button("", () => this.sort(place), "");
      opener.append(...head.childNodes);
      head.append(opener);
    }

    addTools() {
      const searched = this.table.id === "query-table";
      if (!searched && this.rows.length <= PAGE) return;
      this.status = make("span", { attributes: { role: "status" } });
      this.more = button("", () => { this.limit = Infinity; this.show(); });
      const tools = make("div", { className: "tools" });
      if (searched) tools.append(this.searchBox(), this.filters());
      tools.append(this.status, this.more);
      (this.table.closest(".scroll") ?? this.table).before(tools);
    }

    searchBox() {
      this.search = make("input", {
        type: "search", placeholder: "Search queries ( / )", autocomplete: "off", spellcheck: false,
        attributes: { "aria-label": "Search queries by id or text" },
        oninput: () => { this.words = this.search.value; this.select(); },
      });
      return this.search;
    }

    filters() {
      const kinds = [["", "All"], ["win", "Better"], ["loss", "Worse"], ["same", "Same"], ["doubtful", "Doubtful"]];
      const group = make("div", { className: "filters", attributes: { role: "group", "aria-label": "Which queries" } });
      this.buttons = kinds.map(([kind, text]) => {
        const size = this.rows.filter((row) => isOf(row, kind)).length;
        const one = button(`${text} ${count(size)}`, () => { this.kind = kind; this.select(); });
        one.value = kind;
        if (size) group.append(one);
        return one;
      });
      if (group.children.length === 1) group.hidden = true;
      return group;
    }

    sort(place) {
      const head = this.heads[place];
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of this.heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = this.keysOf(place);
      const sign = down ? -1 : 1;
      this.rows.sort((one, two) => {
        const [a, b] = [keys.get(one), keys.get(two)];
        return a === null || b === null ? (a === null) - (b === null) : sign * (a - b);
      });
      this.limit = PAGE; // thousands of rows take long to lay out
      this.select();
    }

    keysOf(place) {
      if (!this.keys.has(place)) {
        const texts = this.rows.map((row) => row.cells[place].textContent.trim());
        const found = this.heads[place].classList.contains("num") ? texts.map(number) : places(texts);
        this.keys.set(place, new Map(this.rows.map((row, i) => [row, found[i]])));
      }
      return this.keys.get(place);
    }

    textOf(row) {
      this.texts ??= new Map(this.rows.map((one) => [one,
        [...one.cells].filter((cell) => !cell.classList.contains("num")).map((cell) => cell.textContent).join("\n").toLowerCase()]));
      return this.texts.get(row);
    }

    select() {
      const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
      this.matching = this.rows.filter((row) => isOf(row, this.kind) && words.every((word) => this.textOf(row).includes(word)));
      this.show();
    }

    show() {
      const shown = new Set(this.matching.slice(0, this.limit));
      for (const row of this.rows) if (row.hidden === shown.has(row)) row.hidden = !row.hidden;
      this.body.prepend(...shown);
      if (!this.status) return;
      const whole = this.matching.length;
      const cut = shown.size < whole;
      const all = cut ? whole : this.rows.length;
      const words = `${count(shown.size)}${shown.size < all ? ` of ${count(all)}` : ""} ${this.search ? "queries" : "rows"}`;
      this.status.textContent = cut ? `The first ${words}` : words;
      this.more.textContent = `Show all ${count(whole)}`;
      this.more.hidden = !cut;
      for (const one of this.buttons ?? []) one.setAttribute("aria-pressed", String(one.value === this.kind));
    }

    reveal(row) {
      if (!this.matching.includes(row)) {
        this.words = this.kind = this.search.value = "";
        this.select();
      }
      const place = this.matching.indexOf(row);
      if (place >= this.limit) this.limit = Math.ceil((place + 1) / PAGE) * PAGE;
      this.show();
    }
  }

  const isOf = (row, kind) => kind === "" || row.classList.contains(kind);

  const sheets = $$("table[data-sortable]").filter((table) => table.tBodies[0]?.rows.length).map((table) => new Sheet(table));
  const queries = sheets.find((sheet) => sheet.table.id === "query-table");

  // --- Jumps: a link to a query opens it and takes the focus there; so do back and forward.

  function arrive() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.matches("tr")) sheets.find((sheet) => sheet.body.contains(target))?.reveal(target);
    for (let one = target; one; one = one.parentElement) if (one.matches("details")) one.open = true;
    const place = $(":scope > summary", target) ?? target;
    if (place === target && target.tabIndex < 0) target.tabIndex = -1;
    place.focus({ preventScroll: true });
    target.scrollIntoView({ block: target.matches("tr") ? "center" : "start" });
  }

  const lists = $$("details.lists");
  const targetOf = (row) => $('a[href^="#query-"]', row)?.hash ?? `#${row.id}`;

  function step(by) {
    const rows = (queries?.matching ?? []).filter((row) => row.id);
    const now = rows.findIndex((row) => targetOf(row) === location.hash || `#${row.id}` === location.hash);
    const next = now < 0 ? rows[by > 0 ? 0 : rows.length - 1] : rows[now + by];
    if (next) location.hash = targetOf(next);
  }

  function jumps() {
    for (const row of queries?.rows ?? []) if ($('a[href^="#query-"]', row)) row.dataset.open = "";
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (link?.getAttribute("href") === location.hash) arrive();
      const row = event.target.closest("tr[data-open]");
      if (row && !event.target.closest("a, button") && String(getSelection()) === "") location.hash = targetOf(row);
    });
    addEventListener("hashchange", arrive);
    if (location.hash) arrive();
  }

  function expander() {
    if (lists.length < 2) return;
    const toggle = button("Open all lists", () => {
      const open = lists.some((one) => !one.open);
      for (const one of lists) one.open = open;
    });
    const name = () => { toggle.textContent = lists.every((one) => one.open) ? "Close all lists" : "Open all lists"; };
    for (const one of lists) one.addEventListener("toggle", name);
    lists[0].before(make("div", { className: "tools" }, toggle));
  }

  // --- Copies. A page from disk may not use the clipboard everywhere; then a selection does.

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { value: text, className: "unseen", readOnly: true });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) throw new Error("refused");
    }
  }

  function copies() {
    for (const block of $$("pre.command")) {
      const one = button("Copy", async () => {
        one.textContent = await copy(block.textContent.trim()).then(() => "Copied", () => "Select and copy by hand");
        one.focus();
        setTimeout(() => { one.textContent = "Copy"; }, 2000);
      }, "copy");
      one.setAttribute("aria-live", "polite");
      const box = make("div", { className: "copyable" });
      block.replaceWith(box);
      box.append(block, one);
    }
  }

  // --- Keys, and paper.

  const KEYS = [["j", "next query", () => step(1)], ["k", "previous query", () => step(-1)],
    ["/", "search the queries", () => queries?.search.focus()], ["?", "this help", () => help().showModal()]];
  let dialog;

  function help() {
    if (dialog) return dialog;
    const names = KEYS.flatMap(([key, words]) => [make("dt", {}, make("kbd", { textContent: key })), make("dd", { textContent: words })]);
    const title = make("h2", { id: "help-title", textContent: "Keys" });
    dialog = make("dialog", { attributes: { "aria-labelledby": title.id } },
      title, make("dl", {}, ...names), button("Close", () => dialog.close()));
    document.body.append(dialog);
    return dialog;
  }

  function keys() {
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
      const found = KEYS.find(([key]) => key === event.key);
      if (typing || !found || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      found[2]();
    });
    if (!queries) return;
    queries.search.addEventListener("keydown", (event) => { if (event.key === "Escape") queries.search.blur(); });
    queries.more.after(button("Keys", () => help().showModal()));
  }

  // The section that is read is marked among the links.
  function whereabouts() {
    const seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        $(`nav a[href="#${target.id}"]`)?.setAttribute("aria-current", String(isIntersecting));
      }
    }, { rootMargin: "-25% 0px -75% 0px" });
    for (const section of $$("main > section[id]")) seen.observe(section);
  }

  function paper() {
    let closed = [];
    addEventListener("beforeprint", () => {
      for (const sheet of sheets) sheet.body.append(...sheet.rows);
      closed = $$("details:not([open], .lists)"); // the lists that are closed are left out
      for (const one of closed) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
  }

  for (const part of [expander, copies, keys, whereabouts, paper, jumps]) part();
})();
