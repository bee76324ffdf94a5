// Judging: a key shows the next document at once, from those at hand. What was said waits in this
// browser until the server has it, through lost networks, reloads and crashes; each thing said has
// a token, so that sending it twice counts once.
"use strict";

(() => {
const root = $("#judging");
if (!root) return;
const about = JSON.parse($("#judging-data").textContent);
const inPairs = root.dataset.way === "pairs";
const PREFIX = `idealist-said ${about.store} ${encodeURIComponent(about.judge)} `;
const [SOON, LATEST, PATIENCE, RENEWED, ASKED] = [1000, 30000, 20000, 240000, 15000]; // milliseconds
const LONGEST = 3600; // seconds after which nobody was reading

let tasks = []; // what is at hand; the first is shown
let past = []; // what was said and can be taken back, the last at the end
let progress = about.progress;
let held = about.held;
let refusals = 0;
let since = 0, hidden = 0, hiddenAt = 0; // when the document was shown, and how long nobody saw it
const notes = new Map();
const spoken = new Map(); // by token: the task of what is under way
const skipped = new Set();
const returned = new Set(); // taken back here; the server may not know yet
let calling = false; // what is taken back must come from the server first
const pairOf = (one) => JSON.stringify([one.query, one.document ?? one.sides.map((side) => side.document)]);

// -- What was said and is not acknowledged. Each thing has a key of its own, so that two tabs never
// overwrite each other; where nothing can be stored, the memory has to do.
const waiting = {
  memory: new Map(),
  put(one) {
    this.memory.set(one.token, one);
    try { localStorage.setItem(PREFIX + one.token, JSON.stringify(one)); } catch { /* full, or forbidden */ }
  },
  drop(token) {
    this.memory.delete(token);
    try { localStorage.removeItem(PREFIX + token); } catch { /* forbidden */ }
  },
  all() {
    const found = new Map(this.memory);
    try {
      for (let i = 0; i < localStorage.length; i += 1) {
        const key = localStorage.key(i);
        if (!key.startsWith(PREFIX)) continue;
        const one = read(localStorage.getItem(key));
        if (one) found.set(one.token, one);
      }
    } catch { /* forbidden */ }
    return [...found.values()].sort((one, other) => one.at - other.at);
  },
};
function read(words) {
  try {
    const one = JSON.parse(words);
    return one && typeof one.token === "string" && one.token && typeof one.at === "number" ? one : null;
  } catch { return null; }
}
let last = 0;
const tick = () => (last = Math.max(Date.now(), last + 1));
const token = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// The pairs that were said something of, as far as the server has not heard of it.
function saidOf() {
  const said = new Map();
  for (const one of waiting.all()) {
    if (one.undo) for (const [pair, own] of said) { if (own === one.undo) said.delete(pair); }
    if (one.document) said.set(pairOf(one), one.token);
    if (one.better) said.set(duelOf(one), one.token);
  }
  return said;
}
const duelOf = (one) => JSON.stringify([one.query, [one.better, one.worse].sort()]);
const keyOf = (task) => (task.sides ? JSON.stringify([task.query, task.sides.map((side) => side.document).sort()]) : pairOf(task));

// -- Showing.
function show(first = false) {
  const task = tasks[0];
  root.classList.toggle("over", !task);
  $("#jq-over").hidden = Boolean(task);
  if (!task) { over(); return; }
  $("#jq-query").textContent = task.query;
  $("#jq-words").textContent = task.words || task.query;
  all(".jq-doc").forEach((place, i) => write(place, task.sides ? task.sides[i] : task));
  if (!inPairs) {
    $("#jq-put-off").hidden = !task.put_off;
    noted();
  }
  since = performance.now();
  hidden = 0;
  hiddenAt = document.hidden ? since : 0;
  if (first) return;
  window.scrollTo({ top: 0, behavior: "instant" });
  $(".jq-title").focus({ preventScroll: true });
}
function write(place, told) {
  const title = $(".jq-title", place);
  const text = $(".jq-text", place);
  if (told.title) title.innerHTML = told.title; // marked and escaped by the server
  else title.textContent = told.document;
  $(".jq-id", place).textContent = told.document;
  text.classList.toggle("none", told.html === null);
  if (told.html !== null) text.innerHTML = told.html;
  else text.textContent = "There is no text of this document in the store. An editor can put a file with the documents into the folder, and add the texts here.";
}
function noted() {
  const note = notes.get(pairOf(tasks[0])) || "";
  $("#jq-noted").textContent = note && `Note: ${note}`;
  $("#jq-noted").hidden = !note;
}
function over() {
  const left = waiting.all().length;
  let [title, words] = ["All done.", "Nothing is left for you to judge. New documents appear here by themselves."];
  if (inPairs) words = "You have compared all that was chosen.";
  if (progress.left > 0 && held.length) {
    const until = new Date(1000 * Math.max(...held));
    title = "Others have the rest.";
    words = `What is left is on the ${held.length === 1 ? "table of another judge" : `tables of ${held.length} other judges`}, until ${until.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })} at the latest. It appears here if they leave it.`;
  }
  if (left && progress.left > 0) [title, words] = ["Waiting for the server.", "What you said is kept in this browser. More documents appear when the server can be reached."];
  $("#jq-over-title").textContent = title;
  $("#jq-over-words").textContent = words;
  $("#jq-over").focus({ preventScroll: true });
}
function count() {
  const ahead = saidOf().size;
  const judged = Math.min(progress.of, progress.judged + ahead);
  const left = Math.max(0, progress.left - ahead);
  const what = inPairs ? "compared" : "judged";
  const parts = [`${judged.toLocaleString("en")} of ${progress.of.toLocaleString("en")} ${what}`];
  if (!inPairs) parts.push(`${(progress.today + ahead).toLocaleString("en")} by you today`);
  if (progress.seconds !== null) {
    parts.push(`${progress.seconds < 10 ? progress.seconds.toFixed(1) : Math.round(progress.seconds)} s each`);
    if (left) parts.push(`about ${spell(progress.seconds * left)} left`);
  }
  $("#jq-progress").textContent = parts.join(" · ");
  $("#jq-bar").max = progress.of || 1;
  $("#jq-bar").value = judged;
}
function spell(seconds) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
function status(words, bad = false) {
  const place = $(".status");
  if (place.textContent !== words) say(words, bad);
}
function tell(words, link = "") {
  const line = document.createElement("p");
  const text = document.createElement("span");
  text.textContent = words;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = link || "Close";
  button.addEventListener("click", () => (link ? location.reload() : line.remove()));
  line.append(text, button);
  $("#jq-told").append(line);
}

// -- Saying.
function spent() {
  const seconds = (performance.now() - since - hidden) / 1000;
  return seconds > LONGEST ? null : Math.round(seconds * 100) / 100;
}
function speak(said, task = tasks[0]) {
  if (!task || calling) return;
  tasks.shift();
  skipped.delete(pairOf(task));
  returned.delete(keyOf(task));
  const one = { token: token(), at: tick(), query: task.query, seconds: spent(), ...said };
  waiting.put(one);
  spoken.set(one.token, task);
  past.push({ token: one.token, task, note: said.note || "" });
  show();
  count();
  flush();
}
function judge(said) {
  const task = tasks[0];
  if (!task || calling) return;
  const words = [notes.get(pairOf(task)), said.note].filter(Boolean).join(" ");
  const note = words.toWellFormed ? words.toWellFormed() : words; // half an emoji would be refused
  notes.delete(pairOf(task));
  speak({ document: task.document, batch: task.batch, seen: task.seen, ...said, note });
}
function prefer(which) {
  const task = tasks[0];
  if (!task) return;
  const [one, other] = task.sides.map((side) => side.document);
  speak({ better: which === "1" ? other : one, worse: which === "1" ? one : other, tied: which === "tie" });
}
function skip() {
  if (tasks.length < 2) { status("Nothing else is at hand."); return; }
  skipped.add(pairOf(tasks[0]));
  tasks.push(tasks.shift());
  show();
}
function undo() {
  const said = past.pop();
  if (!said) { status("There is nothing to undo."); return; }
  if (!inPairs) waiting.put({ token: token(), at: tick(), undo: said.token });
  spoken.delete(said.token);
  if (said.task) {
    if (said.note) notes.set(pairOf(said.task), said.note);
    returned.add(keyOf(said.task));
    again(said.task);
  } else if (!inPairs && navigator.onLine) {
    calling = true;
    status("Taking it back …");
  }
  count();
  flush();
}
function again(task) {
  tasks = [task, ...tasks.filter((one) => keyOf(one) !== keyOf(task))];
  show();
}
function puzzled() {
  $("#jq-reason").value = "";
  ask("#jq-why", (form) => judge({ status: "cannot tell", note: form.get("reason").trim() }));
}
function note() {
  $("#jq-words-noted").value = notes.get(pairOf(tasks[0])) || "";
  ask("#jq-note", (form) => { notes.set(pairOf(tasks[0]), form.get("note").trim()); noted(); });
}
function ask(name, then) {
  if (!tasks[0]) return;
  const dialog = $(name);
  const form = $("form", dialog);
  form.onsubmit = (event) => { // all at once: the next key may come before a dialog says that it is closed
    event.preventDefault();
    const words = new FormData(form);
    const says = !event.submitter || event.submitter.value === "say";
    form.reset();
    dialog.close();
    $(".jq-title").focus({ preventScroll: true }); // or the hidden field has the next key
    if (says) then(words);
  };
  dialog.showModal();
}

// -- Sending: one request at a time, everything that waits, in its order.
let sending = false, pause = 0, timer = 0;
function flush() {
  clearTimeout(timer);
  if (!navigator.onLine) { offline(); return; }
  if (sending) return;
  sending = true;
  const done = navigator.locks ? navigator.locks.request(PREFIX, deliver) : deliver();
  done.then(() => { pause = 0; }, failed).finally(() => {
    sending = false;
    if (pause) timer = setTimeout(flush, pause);
    else if (waiting.all().length) flush();
  });
}
async function deliver() {
  const slow = setTimeout(() => status("Saving …"), 400);
  try {
    do {
      const said = waiting.all().slice(0, 100);
      const have = inPairs ? [] : tasks.map((one) => [one.query, one.document]);
      const asked = send(about.say, { judge: about.judge, said: said.map(({ at, ...one }) => one), have });
      const answer = await Promise.race([asked, late()]);
      for (const one of answer.said) heard(one, said.find((own) => own.token === one.token));
      take(answer);
    } while (waiting.all().length && navigator.onLine);
  } finally { clearTimeout(slow); }
  if (waiting.all().length) offline();
  else status(refusals ? "Saved, except what is said above" : "Saved");
}
const late = () => new Promise((_, reject) => setTimeout(() => reject(new TypeError("no answer")), PATIENCE));
function heard(answer, said) {
  waiting.drop(answer.token);
  const task = spoken.get(answer.token);
  spoken.delete(answer.token);
  if (answer.kept) return;
  refusals += 1;
  past = past.filter((one) => one.token !== answer.token);
  const what = said && said.document ? `What you said of ${said.document}` : "What you said";
  tell(`${what} was not kept: ${answer.words}.${answer.hint ? ` ${answer.hint[0].toUpperCase()}${answer.hint.slice(1)}.` : ""}`);
  if (task && !said.undo && !tasks.some((one) => keyOf(one) === keyOf(task))) {
    if (said.note) notes.set(pairOf(task), said.note);
    tasks.push(task);
  }
}
function take(answer) {
  const before = tasks[0];
  progress = answer.progress;
  held = answer.held;
  if (answer.rules !== about.rules) {
    about.rules = answer.rules;
    tell("The scale or the guidelines have changed.", "Show the new ones");
  }
  const mine = new Set(answer.mine.map((pair) => JSON.stringify(pair)));
  if (!inPairs) tasks = tasks.filter((one, i) => !i || mine.has(pairOf(one)) || returned.has(keyOf(one)));
  for (const pair of mine) returned.delete(pair);
  const known = new Set([...tasks.map(keyOf), ...saidOf().keys()]);
  tasks.push(...answer.tasks.filter((one) => !known.has(keyOf(one))));
  const [now, ...rest] = tasks;
  if (now) tasks = [now, ...rest.filter((one) => !skipped.has(pairOf(one))), ...rest.filter((one) => skipped.has(pairOf(one)))];
  for (const one of answer.back || []) {
    const own = answer.said.find((each) => each.document === one.document && each.query === one.query);
    if (tasks.some((task) => keyOf(task) === keyOf(one)) || saidOf().has(keyOf(one))) continue;
    if (own && own.note) notes.set(pairOf(one), own.note);
    tasks.splice(calling ? 0 : Math.min(1, tasks.length), 0, one); // never under a reader's eyes
  }
  calling = false;
  if (tasks[0] !== before) show();
  else if (!tasks.length) over();
  count();
}
function failed(error) {
  calling = false;
  pause = Math.min(LATEST, Math.max(SOON, 2 * pause));
  if (error.status === 401) status(`${many()} here: this browser is no longer known. Open the address that the server prints now, or sign in, in another tab.`, true);
  else if (error.status) status(`${error.message}${waiting.all().length ? ` ${many()} here.` : ""}`, true);
  else offline();
}
const many = () => `${waiting.all().length} waiting`;
function offline() {
  const left = waiting.all().length;
  status(left ? `${left} waiting to be sent: offline` : "Offline", true);
}

// -- What happens.
const keys = new Map();
const does = { skip, undo, note, puzzled, later: () => judge({ status: "later" }) };
const mark = (names, act) => names.forEach((name) => keys.set(name, act));
mark([" "], skip);
mark(["u"], undo);
if (inPairs) {
  mark(["ArrowLeft", "1"], () => prefer("0"));
  mark(["ArrowRight", "2"], () => prefer("1"));
  mark(["=", "3"], () => prefer("tie"));
} else {
  mark(["ArrowRight"], skip);
  mark(["l"], does.later);
  mark(["n"], note);
  mark(["x"], puzzled);
  for (const one of about.grades) mark(one.keys, () => judge({ grade: one.grade }));
}
const typed = $("#jq-typed");
if (typed) {
  mark([..."0123456789-."], null);
  typed.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = typed.elements.grade.value.trim().replace(",", ".");
    if (!words || !Number.isFinite(Number(words))) { status("A grade is a number.", true); return; }
    typed.reset();
    judge({ grade: Number(words) });
  });
}

let went = -Infinity; // when `g` was pressed, which leads to other pages
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || $("dialog[open]")) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const leaves = performance.now() - went < 1500 && "rcja".includes(name);
  went = name === "g" && !keys.has("g") ? performance.now() : -Infinity;
  if (!keys.has(name) || leaves) return;
  if (name === " " && event.target.closest("button, a, summary")) return;
  event.stopPropagation();
  const act = keys.get(name);
  if (!act) { typed.elements.grade.focus(); return; }
  event.preventDefault();
  if (!event.repeat) act();
}, true);
root.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.grade !== undefined) judge({ grade: Number(button.dataset.grade) });
  else if (button.dataset.prefers !== undefined) prefer(button.dataset.prefers);
  else if (button.dataset.does) does[button.dataset.does]();
});
$("#jq-words-noted").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("#jq-note button").click();
});

// What another tab of this judge says is said.
window.addEventListener("storage", (event) => {
  if (!event.key || !event.key.startsWith(PREFIX)) return;
  if (!event.newValue) { // the other tab has sent it
    waiting.memory.delete(event.key.slice(PREFIX.length));
    if (!waiting.all().length) status("Saved");
    return;
  }
  const one = read(event.newValue);
  if (!one || one.undo) return;
  const before = tasks[0];
  const said = one.better ? duelOf(one) : pairOf(one);
  tasks = tasks.filter((task) => keyOf(task) !== said);
  if (tasks[0] !== before) { show(); status("You said it in another tab."); }
});
window.addEventListener("online", () => { pause = 0; flush(); });
window.addEventListener("offline", offline);
window.addEventListener("beforeunload", (event) => { if (waiting.all().length) event.preventDefault(); });
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = performance.now();
  else if (hiddenAt) { hidden += performance.now() - hiddenAt; hiddenAt = 0; }
});
// What is at hand stays this judge's while he is here; and where nothing is, there may be something.
let renewed = Date.now();
setInterval(() => {
  const idle = performance.now() - since > LONGEST * 1000 / 2;
  if (document.hidden || idle && tasks.length || sending || pause) return;
  if (Date.now() - renewed > (tasks.length ? RENEWED : ASKED)) { renewed = Date.now(); flush(); }
}, 5000);

// -- The beginning: what the page brought, without what was said before and not yet sent.
const known = saidOf();
const undone = new Set(waiting.all().map((one) => one.undo).filter(Boolean));
tasks = about.tasks.filter((one) => !known.has(keyOf(one)));
if (!inPairs) past = [...about.back, ...waiting.all().filter((one) => one.document)].filter((one) => !undone.has(one.token)).map((one) => ({ token: one.token, note: one.note || "" }));
show(true);
count();
if (waiting.all().length) flush();
else status("Saved");
})();
