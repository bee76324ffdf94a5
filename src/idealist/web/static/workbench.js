// What pages can do beyond showing: keys, the palette, sending without leaving. Nothing is loaded
// from elsewhere, and every page can be read without this script.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

// Send something to our own server; the answer is data, or an Error with words for a reader.
async function send(address, data) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(data),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(told.error || `The server answered ${answer.status}.`), { status: answer.status, hint: told.hint });
  return told;
}

// Put the page as it is now on the server in the place of this one, without moving the reader.
async function refresh(address = location.href) {
  const answer = await ready(await fetch(address, { headers: { accept: "text/html" } }));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  $("main").replaceWith(page.querySelector("main"));
  document.dispatchEvent(new Event("shown"));
}

// A page that is still computed is asked for again, until it is there.
async function ready(answer) {
  while (answer.status === 202) {
    await new Promise((done) => setTimeout(done, 500));
    answer = await fetch(answer.url, { headers: { accept: "text/html" } });
  }
  return answer;
}

function say(words, bad = false) {
  const place = $(".status");
  if (!place) return;
  place.textContent = words;
  place.classList.toggle("bad", bad);
}

// Choices apply when they are made; the button is for those without a script.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-applies]");
  if (form && !event.target.matches("[data-waits]")) form.requestSubmit();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  const copier = event.target.closest("[data-copies]");
  if (copier) {
    navigator.clipboard.writeText(document.getElementById(copier.dataset.copies).textContent);
    copier.textContent = "Copied";
  }
});

// Keys: one letter each, never while somebody types.
let before = "";
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || $("dialog[open]")) return;
  const went = before === "g" && { r: "/runs", c: "/compare", j: "/judge", a: "/audit" }[event.key];
  before = event.key;
  const link = went ? $(`nav a[href^="${went}"]`) : $(`a[data-key="${CSS.escape(event.key)}"]`);
  if (link) { event.preventDefault(); link.click(); return; }
  if (event.key === "/" && $(".search input")) { event.preventDefault(); $(".search input").focus(); }
  if (event.key === "?" && !document.body.dataset.ownHelp) { event.preventDefault(); $("#help").showModal(); }
});

// The palette: pages first, then what the search finds.
const palette = { at: 0, asked: 0, shown: [] };
function openPalette() {
  const dialog = $("#palette");
  if (dialog.open) return;
  dialog.showModal();
  $("#palette-words").value = "";
  offer();
}
async function offer() {
  const words = $("#palette-words").value.trim();
  const asked = ++palette.asked;
  const pages = all("body > nav a").map((a) => ({ name: a.textContent, kind: "page", does: a }));
  const deeds = all("[data-command]").map((one) => ({ name: one.dataset.command, kind: "action", does: one }));
  const known = [...pages, ...deeds].filter((one) => one.name.toLowerCase().includes(words.toLowerCase()));
  let found = [];
  if (words && $(".search")) {
    const state = new URLSearchParams(location.search);
    state.set("find", words);
    const answer = await fetch(`/search.json?${state}`).catch(() => null);
    found = answer && answer.ok ? (await answer.json()).found : [];
  }
  if (asked !== palette.asked) return;
  const list = $("#palette-found");
  palette.shown = [...known, ...found].slice(0, 30);
  list.replaceChildren(...palette.shown.map((one, i) => {
    const item = document.createElement("li");
    item.role = "option";
    item.id = `found-${i}`;
    const name = document.createElement("span");
    name.textContent = one.name;
    const kind = document.createElement("small");
    kind.textContent = one.kind;
    item.append(name, kind);
    return item;
  }));
  choose(0);
}
function choose(at) {
  const items = all("#palette-found li");
  palette.at = Math.max(0, Math.min(at, items.length - 1));
  items.forEach((item, i) => item.setAttribute("aria-selected", i === palette.at));
  const now = items[palette.at];
  $("#palette-words").setAttribute("aria-activedescendant", now ? now.id : "");
  if (now) now.scrollIntoView({ block: "nearest" });
}
document.addEventListener("input", (event) => { if (event.target.id === "palette-words") offer(); });
document.addEventListener("keydown", (event) => {
  if (event.target.id !== "palette-words") return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); choose(palette.at + step); }
  if (event.key === "Enter") follow(palette.at);
});
document.addEventListener("click", (event) => {
  const item = event.target.closest("#palette-found li");
  if (item) follow(all("#palette-found li").indexOf(item));
});
function follow(at) {
  const one = palette.shown[at];
  if (!one) return;
  $("#palette").close();
  if (one.does) one.does.click();
  else location.href = one.address;
}

// Forms that stay: what they change is shown in place, and what moved is said.
function values() {
  return Object.fromEntries(all("[data-value], [data-mean]").map((one) => [`${one.dataset.value ?? ""}|${one.dataset.mean ?? ""}`, one.textContent]));
}
let busy = false;
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-stays]");
  if (!form) return;
  event.preventDefault();
  if (busy) return;
  busy = true;
  const held = values();
  const at = all(".doc").indexOf(form.closest(".doc"));
  say("Saving …");
  try {
    const sent = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)) });
    const answer = await ready(sent);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) throw new Error(page.querySelector("main .lead")?.textContent || `The server answered ${answer.status}.`);
    $("main").replaceWith(page.querySelector("main"));
    history.replaceState(null, "", answer.url);
    say("Saved.");
    for (const [key, old] of Object.entries(held)) {
      const one = all("[data-value], [data-mean]").find((each) => `${each.dataset.value ?? ""}|${each.dataset.mean ?? ""}` === key);
      if (!one || one.textContent === old) continue;
      const was = document.createElement("span");
      was.className = "was";
      was.textContent = `was ${old}`;
      one.after(was);
    }
    all(".doc")[at]?.focus({ preventScroll: true });
  } catch (error) {
    say(`Not saved: ${error.message}`, true);
  } finally { busy = false; }
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || $("dialog[open]")) return;
  const docs = all(".doc");
  if (!docs.length) return;
  const at = docs.indexOf(document.activeElement?.closest(".doc"));
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); docs[Math.max(0, Math.min(at + step, docs.length - 1))].focus(); }
  const button = at >= 0 && $(`button[name="grade"][value="${CSS.escape(event.key)}"]`, docs[at]);
  if (button) { event.preventDefault(); button.click(); }
  if (event.key === "u") $("[data-key-undo]")?.click();
});

// Judges and Audit: a decision by its key, a model that is watched, a repair that is run.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || $("dialog[open]")) return;
  const button = $(`[data-decides] [data-decide="${CSS.escape(event.key)}"]`);
  if (button) { event.preventDefault(); button.click(); }
});
async function watch() {
  const place = $("[data-polls]");
  if (!place) return;
  const answer = await fetch(place.dataset.polls).catch(() => null);
  const told = answer && answer.ok ? await answer.json() : null;
  if (told && !(told.now && told.now.running)) { await refresh(); return; }
  if (told) {
    const bar = $("progress", place);
    if (told.now.all) { bar.max = told.now.all; bar.value = told.now.done; }
    $(".status", place).textContent = told.words;
  }
  setTimeout(watch, 1000);
}
watch();
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-repairs]");
  if (!button) return;
  const place = $(".said-back", button.closest("dialog"));
  button.disabled = true;
  place.textContent = "Working …";
  try {
    const told = await send(button.dataset.repairs, { code: button.dataset.code, run: button.dataset.run, command: button.dataset.commandLine });
    const said = document.createElement("pre");
    said.className = "said-back";
    said.textContent = told.said;
    const words = document.createElement("p");
    words.textContent = told.done ? `Written: ${told.files.join(", ")}. ` : "It failed:";
    const link = document.createElement("a");
    link.href = "/files";
    link.textContent = "Files";
    if (told.done) words.append(link);
    place.replaceChildren(words, said);
  } catch (error) {
    place.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    button.disabled = false;
  }
});
