// Small comforts. Every page works without them.
"use strict";

// Relative times tick; the words are those of the server.
const words = (seconds, at) => {
  const d = Math.abs(seconds);
  if (d < 60) return seconds <= 0 ? "just now" : "in less than a minute";
  if (d >= 60 * 86400) return at.dataset.words;
  const [n, unit] = d < 3600 ? [d / 60, "min"] : d < 86400 ? [d / 3600, "h"] : [d / 86400, d < 172800 ? "day" : "days"];
  return seconds > 0 ? `in ${Math.floor(n)} ${unit}` : `${Math.floor(n)} ${unit} ago`;
};
const tick = () => {
  for (const time of document.querySelectorAll("time")) {
    time.dataset.words ??= time.textContent;
    const text = words(Math.trunc((Date.parse(time.dateTime) - Date.now()) / 1000), time);
    if (text !== time.textContent) time.textContent = text;
  }
};
setInterval(tick, 15000);

// After a refused answer, reading starts at what is wrong.
document.getElementById("problems")?.focus();

// A link's token leaves the address bar once the browser keeps it: addresses are copied and seen.
if (location.pathname.startsWith("/review/") && /[?&](token|done)=/.test(location.search) && navigator.cookieEnabled) {
  history.replaceState(null, "", location.pathname + location.hash);
}

// What depends on another answer of the same page comes and goes with it. The server judges again.
const answers = (form, name) => [...form.elements]
  .filter((e) => e.name === name && !e.closest("[data-if][hidden]") && (!e.matches("[type=radio], [type=checkbox]") || e.checked))
  .map((e) => e.value).filter((value) => value !== "");
const read = { number: Number, date: (text) => Date.parse(text), text: (text) => text };
const holds = (given, { op, is, as }) => {
  const [to, wanted] = [read[as] ?? read.text, JSON.parse(is)];
  const same = (value) => value === null ? !given.length
    : Array.isArray(value) ? value.length === given.length && value.every((v) => given.includes(v))
    : given.some((g) => to(g) === to(value));
  if (op === "gt") return given.some((g) => to(g) > to(wanted[0]));
  if (op === "lt") return given.some((g) => to(g) < to(wanted[0]));
  return wanted.some(same) !== (op === "neq");
};
for (const form of document.forms) {
  const live = form.querySelectorAll("[data-if]");
  const judge = () => { for (const field of live) field.hidden = !holds(answers(form, field.dataset.if), field.dataset); };
  if (live.length) { form.addEventListener("input", judge); addEventListener("pageshow", judge); }
}

// A half-filled answer survives a reload, and a post that never arrived. Secrets and files are not
// kept; what was sent is forgotten as soon as a page without its form shows that it arrived.
const forms = document.querySelectorAll("form[data-keep]");
const plain = (form) => [...form.elements].filter((e) => e.name && !e.matches("button, [type=password], [type=file], [type=hidden], [data-secret]"));
try {
  const refused = document.getElementById("problems");
  for (const form of forms) {
    const key = `draft:${form.dataset.keep}`;
    const draft = refused ? [] : JSON.parse(sessionStorage.getItem(key) ?? sessionStorage.getItem(`sent:${key}`) ?? "[]");
    for (const [name, value, checked] of draft) {
      for (const e of plain(form)) {
        if (e.name !== name) continue;
        if (!e.matches("[type=radio], [type=checkbox]")) e.value = value;
        else if (e.value === value) e.checked = checked;
      }
    }
    form.addEventListener("input", () => sessionStorage.setItem(key, JSON.stringify(plain(form).map((e) => [e.name, e.value, e.checked]))));
    form.addEventListener("submit", () => {
      const draft = sessionStorage.getItem(key);
      sessionStorage.removeItem(key);
      if (draft) sessionStorage.setItem(`sent:${key}`, draft);
    });
  }
  if (!forms.length && !document.querySelector("[data-unreached]")) for (const key of Object.keys(sessionStorage)) if (key.startsWith("sent:")) sessionStorage.removeItem(key);
} catch { /* storage is full or forbidden, or the draft is unreadable: go on without */ }

// Behind a link it survives a closed browser too: the server keeps it, a moment after each change and
// when the page goes away. Secrets and files wait until they are sent on purpose.
for (const form of document.querySelectorAll("form[data-save]")) {
  let due;
  const save = () => {
    if (!due) return;
    clearTimeout(due);
    due = undefined;
    const body = new URLSearchParams({ action: "draft" });
    for (const e of form.elements) {
      const sent = e.name && !e.matches("button, [type=file], [type=password], [data-secret]") && (!e.matches("[type=radio], [type=checkbox]") || e.checked);
      if (sent) body.append(e.name, e.value);
    }
    // Not form.action: that is a button of this name.
    navigator.sendBeacon?.(form.getAttribute("action"), body);
  };
  form.addEventListener("input", () => { clearTimeout(due); due = setTimeout(save, 2000); });
  form.addEventListener("submit", () => { clearTimeout(due); due = undefined; });
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
}

// When somebody else ends the request, its page says who and how, and locks. What was entered stays to
// be read and copied.
const lock = (page, { title, text }) => {
  const side = page.querySelector(".side");
  for (const e of side.querySelectorAll("form input, form textarea, form select, form button")) {
    if (e.matches("textarea, input:not([type=radio], [type=checkbox], [type=file], [type=range], [type=hidden])")) e.readOnly = true;
    else e.disabled = true;
  }
  for (const acts of side.querySelectorAll(".acts, .hand, .taking, .looking")) acts.hidden = true;
  const said = document.createElement("section");
  [said.className, said.role] = ["banner no", "alert"];
  side.prepend(said);
  for (const [name, words] of [["h2", title], ...text.map((words) => ["p", words])]) {
    const line = document.createElement(name);
    line.textContent = words;
    said.append(line);
  }
  said.scrollIntoView({ block: "nearest" });
};
for (const page of document.querySelectorAll("[data-watch]")) {
  let watch;
  const token = page.querySelector("input[name=token]")?.value;
  const stop = () => watch?.close();
  const start = () => {
    stop();
    watch = new EventSource(page.dataset.watch + (token ? `?token=${encodeURIComponent(token)}` : ""));
    watch.addEventListener("ended", (event) => { stop(); lock(page, JSON.parse(event.data)); });
    watch.addEventListener("looking", (event) => {
      const [{ text }, said] = [JSON.parse(event.data), page.querySelector("[data-lookers]")];
      if (said.textContent !== (text ?? "")) said.textContent = text ?? "";
      said.hidden = !text;
    });
  };
  addEventListener("pageshow", start);
  addEventListener("pagehide", stop);
  // What this page itself sends is answered with a page.
  page.addEventListener("submit", stop);
}

// While a page is open and seen, others see that somebody looks.
for (const page of document.querySelectorAll("[data-looking]")) {
  const csrf = page.querySelector("input[name=csrf]").value;
  const say = (more) => navigator.sendBeacon?.(page.dataset.looking, new URLSearchParams({ csrf, ...more }));
  const look = () => { if (!document.hidden) say({}); };
  setInterval(look, 25000);
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", () => say({ leave: "1" }));
}

// The button says how much of the proposal was changed.
for (const edit of document.querySelectorAll(".edit")) {
  const verb = edit.closest("form").querySelector("button[value=approve] .verb");
  if (!verb || !edit.hasAttribute("data-takes")) continue;
  const plainly = verb.textContent;
  const fields = () => [...edit.querySelectorAll("input, textarea")];
  const differs = (e) => e.matches("[type=radio]") ? e.checked && !e.defaultChecked : e.value !== e.defaultValue;
  const count = () => {
    const n = fields().filter(differs).length;
    verb.textContent = n ? plainly.replace("Approve", n === 1 ? "Approve with 1 change" : `Approve with ${n} changes`) : plainly;
  };
  edit.addEventListener("input", count);
  addEventListener("pageshow", count);
}

// A secret can be looked at before it is sent.
for (const field of document.querySelectorAll("input[data-secret]")) {
  const show = document.createElement("button");
  [show.type, show.className, show.textContent] = ["button", "link reveal", "Show what I typed"];
  show.setAttribute("aria-pressed", "false");
  show.addEventListener("click", () => {
    const hidden = field.type === "password";
    field.type = hidden ? "text" : "password";
    show.textContent = hidden ? "Hide what I typed" : "Show what I typed";
    show.setAttribute("aria-pressed", String(hidden));
  });
  field.after(show);
  field.form?.addEventListener("submit", () => { field.type = "password"; });
}

// The time to undo an answer runs down. Then it was sent: the server does that by itself.
for (const form of document.querySelectorAll("form[data-undo]")) {
  const end = performance.now() + Number(form.dataset.undo);
  const left = form.querySelector("[data-left]");
  const count = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    if (seconds > 0) { left.textContent = seconds; return; }
    clearInterval(timer);
    if (form.dataset.sent) return;
    for (const sent of form.parentElement.querySelectorAll("[data-sent]")) sent.hidden = false;
    form.remove();
  };
  const timer = setInterval(count, 250);
}

// The second tap of a double tap must not be a second answer.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });

// A token is selected with one tap, and copied with one.
for (const field of document.querySelectorAll("[data-copy]")) {
  field.addEventListener("focus", () => field.select());
  if (!navigator.clipboard) continue;
  const copy = Object.assign(document.createElement("button"), { type: "button", className: "act plain", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    copy.textContent = "Copied";
  });
  field.after(copy);
}

// A menu closes when attention goes elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of document.querySelectorAll(".menu[open]")) menu.open = false;
});

// Nothing looks sent that was not: without a network, forms stay as they are and say so, and every page
// says that it may be old. Lists say it in their own words.
const offline = Object.assign(document.createElement("p"), { className: "offline", id: "offline", role: "status" });
document.querySelector("header.top")?.after(offline);
const network = () => {
  const gone = !navigator.onLine && !document.getElementById("lost");
  offline.textContent = gone ? "You are offline. What you see may be old, and nothing you do here arrives." : "";
  offline.hidden = !gone;
};
for (const change of ["online", "offline", "pageshow"]) addEventListener(change, network);
network();
addEventListener("submit", (event) => {
  const form = event.target;
  form.querySelector(".unsent")?.remove();
  if (navigator.onLine || form.method === "get") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const words = "Not sent: you are offline. Everything you entered is still here; send it when you are back.";
  const said = Object.assign(document.createElement("p"), { className: "error unsent", role: "alert", textContent: words });
  (form.querySelector(".acts") ?? form.lastElementChild).before(said);
}, true);
// A page that only says that nothing was reached goes away by itself, once something small is reached.
if (document.querySelector("[data-unreached=page]")) {
  const look = () => { if (!document.hidden) Object.assign(new Image(), { onload: () => location.reload(), src: `/icon/1.svg?${Date.now()}` }); };
  setInterval(look, 3000);
  addEventListener("online", look);
}

// What works while no page is open, where there is somebody to be told something.
if ("serviceWorker" in navigator && document.querySelector("link[rel=manifest]")) {
  navigator.serviceWorker.register("/sw.js").catch(() => { /* not allowed here: pages work without */ });
  const seen = async (which) => {
    const worker = await navigator.serviceWorker.getRegistration();
    for (const notice of await worker?.getNotifications?.(which) ?? []) notice.close();
  };
  // A notice goes when its request is looked at, and all of them with their person.
  const ask = location.pathname.match(/^\/asks\/([^/]+)/)?.[1];
  if (ask) addEventListener("pageshow", () => seen({ tag: ask }));
  document.querySelector("form[action='/sign-out']")?.addEventListener("submit", () => seen());
}
