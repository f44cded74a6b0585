// Enhancements. Every page works without them.
"use strict";

// Keeps relative times current, with the server's wording.
const words = (seconds, at) => {
  const d = Math.abs(seconds);
  if (d < 60) return word(seconds <= 0 ? "just-now" : "within-a-minute");
  if (d >= 60 * 86400) return at.dataset.words;
  const [n, unit] = d < 3600 ? [d / 60, "minutes"] : d < 86400 ? [d / 3600, "hours"] : [d / 86400, "days"];
  return word(seconds > 0 ? `in-${unit}` : `${unit}-ago`, { n: Math.floor(n) });
};
const tick = () => {
  for (const time of document.querySelectorAll("time")) {
    time.dataset.words ??= time.textContent;
    const text = words(Math.trunc((Date.parse(time.dateTime) - Date.now()) / 1000), time);
    if (text !== time.textContent) time.textContent = text;
  }
};
setInterval(tick, 15000);

// Printed pages cannot be expanded: open folded parts before printing, and fold them again
// afterwards.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll(".paper details:not([open])")) {
    fold.open = true;
    fold.dataset.folded = "";
  }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll("details[data-folded]")) {
    fold.open = false;
    delete fold.dataset.folded;
  }
});

// After a refused answer, move the focus to the problems.
document.getElementById("problems")?.focus();

// On a phone, the confirmation step is below the request. Scroll to it: a page that starts with the
// request again would look as if the answer was sent.
for (const title of document.querySelectorAll("form.sure > h2, form > #confirm")) {
  title.focus({ preventScroll: true });
  if (title.parentElement.getBoundingClientRect().bottom > innerHeight) title.parentElement.scrollIntoView();
}

// Remove the link's token from the address bar once the browser keeps it, because people copy and
// see URLs.
if (location.pathname.startsWith("/review/") && /[?&](token|done)=/.test(location.search) && navigator.cookieEnabled) {
  history.replaceState(null, "", location.pathname + location.hash);
}

// Show and hide fields that depend on another answer of the page. The server evaluates the
// conditions again.
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

// Keep an unsent answer across a reload or a failed submission. Secrets and files are not kept. The
// draft is deleted as soon as a page without its form shows that the answer arrived.
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
} catch { /* storage is full or forbidden, or the draft is unreadable: ignore it */ }

// With a review link, the draft also survives closing the browser: the server keeps it, shortly
// after each change and when the page closes. Secrets and files are sent only with a submission.
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
    // `form.action` would be the button of this name.
    navigator.sendBeacon?.(form.getAttribute("action"), body);
  };
  form.addEventListener("input", () => { clearTimeout(due); due = setTimeout(save, 2000); });
  form.addEventListener("submit", () => { clearTimeout(due); due = undefined; });
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
}

// When another person ends the request, the page says who and how, and locks the form. The entered
// values stay readable and can be copied.
const lock = (page, { title, text }) => {
  const side = page.querySelector(".side");
  for (const e of side.querySelectorAll("form input, form textarea, form select, form button")) {
    if (e.matches("textarea, input:not([type=radio], [type=checkbox], [type=file], [type=range], [type=hidden])")) e.readOnly = true;
    else e.disabled = true;
    delete e.dataset.offline;
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
// Another person has just answered and can still undo it: the page accepts no answer meanwhile. The
// entered values stay.
const answering = (page, { html, barred }) => {
  const box = document.createElement("template");
  const before = document.getElementById("answering");
  before?.remove();
  page.toggleAttribute("data-answering", barred);
  // Earlier notes, such as who is expected to answer, are no longer true.
  if (barred) for (const old of page.querySelectorAll(":scope > .banner[role=status]")) old.remove();
  box.innerHTML = html ?? "";
  const note = box.content.firstElementChild;
  if (!note) return;
  page.querySelector(".side").prepend(note);
  note.scrollIntoView({ block: "nearest" });
};
// The request was claimed or reassigned: the page says who has it. A person who can no longer
// answer keeps the entered values; the owner of the agent must tick a checkbox first.
const claim = (page, { html, barred }) => {
  const [box, answer] = [document.createElement("template"), document.getElementById("answer")];
  document.getElementById("claimed")?.remove();
  box.innerHTML = html ?? "";
  const note = box.content.firstElementChild;
  const taking = page.querySelector(".taking");
  if (taking) taking.hidden = Boolean(note);
  for (const acts of answer?.querySelectorAll(".acts") ?? []) acts.hidden = barred;
  if (!note) return;
  if (answer) answer.before(note);
  else page.querySelector(".side").prepend(note);
  note.scrollIntoView({ block: "nearest" });
};
for (const page of document.querySelectorAll("[data-watch]")) {
  let watch;
  const token = page.querySelector("input[name=token]")?.value;
  const stop = () => watch?.close();
  const start = () => {
    stop();
    watch = new EventSource(page.dataset.watch + (token ? `?token=${encodeURIComponent(token)}` : ""));
    watch.addEventListener("error", reach);
    watch.addEventListener("ended", (event) => { stop(); lock(page, JSON.parse(event.data)); });
    watch.addEventListener("claimed", (event) => claim(page, JSON.parse(event.data)));
    watch.addEventListener("answering", (event) => answering(page, JSON.parse(event.data)));
    watch.addEventListener("looking", (event) => {
      const [{ text }, said] = [JSON.parse(event.data), page.querySelector("[data-lookers]")];
      if (said.textContent !== (text ?? "")) said.textContent = text ?? "";
      said.hidden = !text;
    });
  };
  addEventListener("pageshow", start);
  addEventListener("pagehide", stop);
  // A submission of this page is answered with a new page.
  page.addEventListener("submit", stop);
}

// While the page is open and visible, others see that the person is looking.
for (const page of document.querySelectorAll("[data-looking]")) {
  const csrf = page.querySelector("input[name=csrf]").value;
  const say = (more) => navigator.sendBeacon?.(page.dataset.looking, new URLSearchParams({ csrf, ...more }));
  const look = () => { if (!document.hidden) say({}); };
  setInterval(look, 25000);
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", () => say({ leave: "1" }));
}

// The button shows the number of changes and no longer repeats the question, which shows the old
// values.
for (const edit of document.querySelectorAll(".edit")) {
  const verb = edit.closest("form").querySelector("button[value=approve] .verb");
  if (!verb || !edit.hasAttribute("data-takes")) continue;
  const [plainly, object] = [verb.textContent, verb.parentElement.querySelector(".object")];
  // The button inside the block is for browsers without a script; the button below does the same.
  for (const inside of edit.querySelectorAll("[value=approve_edited]")) inside.hidden = true;
  if (!object) continue;
  const fields = () => [...edit.querySelectorAll("input:not([type=hidden]), textarea")];
  const differs = (e) => e.matches("[type=radio]") ? e.checked && !e.defaultChecked
    : e.matches("[type=checkbox]") ? e.checked !== e.defaultChecked : e.value !== e.defaultValue;
  const count = () => {
    const n = fields().filter(differs).length;
    verb.textContent = n ? word("approve-with", { n }) : plainly;
    object.hidden = n > 0;
  };
  edit.addEventListener("input", count);
  addEventListener("pageshow", count);
}

// A list can be confirmed only after its end was visible. Without this script, the buttons follow
// the list.
for (const list of document.querySelectorAll("form.answer > .items")) {
  const [form, last] = [list.closest("form"), list.lastElementChild];
  const go = form.querySelector("button[value=confirm]");
  if (!go || !last || !("IntersectionObserver" in window)) continue;
  const [end, wait] = [document.createElement("span"), document.createElement("span")];
  [wait.className, wait.textContent] = ["say", word("scroll-to-end")];
  last.append(end);
  const parts = [...go.children];
  const hold = (held) => {
    form.toggleAttribute("data-held", held);
    go.disabled = held || away;
    if (!held && away) go.dataset.offline = "";
    for (const part of parts) part.hidden = held;
    if (held) go.append(wait); else wait.remove();
  };
  hold(true);
  const bar = matchMedia("(max-width: 59.99rem)").matches ? go.closest(".acts").offsetHeight : 0;
  const seen = new IntersectionObserver((found) => {
    if (!found.some((one) => one.isIntersecting)) return;
    seen.disconnect();
    hold(false);
  }, { rootMargin: `0px 0px -${bar}px 0px` });
  seen.observe(end);
}

// The person can reveal a secret before sending it.
for (const field of document.querySelectorAll("input[data-secret]")) {
  const show = document.createElement("button");
  [show.type, show.className, show.textContent] = ["button", "link reveal", word("show-secret")];
  show.setAttribute("aria-pressed", "false");
  show.addEventListener("click", () => {
    const hidden = field.type === "password";
    field.type = hidden ? "text" : "password";
    show.textContent = word(hidden ? "hide-secret" : "show-secret");
    show.setAttribute("aria-pressed", String(hidden));
  });
  field.after(show);
  field.form?.addEventListener("submit", () => { field.type = "password"; });
}

// Count down the time to undo an answer. Then ask the server for the result: the agent may have
// cancelled the request, and another page may have undone or changed the answer.
const became = async (said, address) => {
  const tell = (words) => {
    const line = said.querySelector("[data-checking]");
    if (line.textContent !== words) line.textContent = words;
  };
  try {
    const answer = await fetch(address, { cache: "no-store" });
    if (answer.status === 401) return tell(word("check-signed-out"));
    if (answer.status === 404) return tell(word("check-not-visible"));
    if (!answer.ok) throw new Error(answer.status);
    const box = document.createElement("template");
    box.innerHTML = (await answer.json()).html;
    const next = box.content.querySelector(".answered");
    const kept = [...said.querySelectorAll("[data-dismiss]")];
    said.classList.remove("yes", "no", "over");
    said.classList.add(...[...next.classList]);
    said.replaceChildren(...next.childNodes, ...kept);
    for (const form of said.querySelectorAll("form[data-undo]")) runDown(form);
  } catch {
    said.classList.remove("yes", "no");
    said.classList.add("over");
    tell(word(`check-${why()}`));
    setTimeout(became, 3000, said, address);
  }
};
const runDown = (form) => {
  const end = performance.now() + Number(form.dataset.undo);
  const [left, said] = [form.querySelector("[data-left]"), form.closest(".answered")];
  // Screen readers announce the replacement of the form, but not the seconds.
  said.setAttribute("aria-live", "polite");
  form.setAttribute("aria-live", "off");
  const count = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    if (seconds > 0) { left.textContent = seconds; return; }
    clearInterval(timer);
    if (form.dataset.sent) return;
    const line = Object.assign(document.createElement("p"), { textContent: word("checking") });
    line.dataset.checking = "";
    form.replaceWith(line);
    became(said, form.dataset.check);
  };
  const timer = setInterval(count, 250);
};
for (const form of document.querySelectorAll("form[data-undo]")) runDown(form);

// The second tap of a double tap must not confirm a step that nobody has read. The server refuses
// it too.
for (const send of document.querySelectorAll("form.sure .acts button:first-child")) {
  send.disabled = true;
  setTimeout(() => { send.disabled = false; }, 1100);
}

// The second tap of a double tap must not send a second answer.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });

// One tap selects a token, and one tap copies it.
for (const field of document.querySelectorAll("[data-copy]")) {
  field.addEventListener("focus", () => field.select());
  if (!navigator.clipboard) continue;
  const copy = Object.assign(document.createElement("button"), { type: "button", className: "act plain", textContent: word("copy") });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    copy.textContent = word("copied");
  });
  field.after(copy);
}

// A menu closes when the person clicks elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of document.querySelectorAll(".menu[open]")) menu.open = false;
});

// The container for messages at the bottom of the screen.
const notes = () => {
  let place = document.querySelector(".notes");
  if (!place) {
    place = Object.assign(document.createElement("div"), { className: "notes" });
    document.querySelector("main").append(place);
  }
  return place;
};
// A message at the bottom of the screen, visible at every scroll position until it is dismissed.
const toast = (id, words, role = "alert") => {
  document.getElementById(id)?.remove();
  const make = (name, parts) => Object.assign(document.createElement(name), parts);
  const note = make("div", { id, className: role === "alert" ? "banner toast no" : "banner toast", role });
  const close = make("button", { type: "button", className: "link", textContent: word("dismiss") });
  close.addEventListener("click", () => note.remove());
  note.append(make("p", { textContent: words }), close);
  notes().append(note);
};

// Without a connection, the buttons that send something are disabled, and the page says why and
// that it may be outdated. Lists have their own message.
const offline = Object.assign(document.createElement("p"), { className: "offline", id: "offline", role: "status" });
document.querySelector("header.top")?.after(offline);
let away = false, asking;
const why = () => navigator.onLine ? "unreachable" : "offline";
const refuse = () => toast("unsent", word(`unsent-${why()}`));
const network = (gone) => {
  const [was, lists] = [away, document.getElementById("lost")];
  away = gone;
  const sends = (button) => button.type === "submit" && button.form?.getAttribute("method") === "post" && !button.disabled;
  for (const button of document.querySelectorAll("button")) {
    if (gone && sends(button)) [button.disabled, button.dataset.offline] = [true, ""];
    else if (!gone && "offline" in button.dataset) { button.disabled = false; delete button.dataset.offline; }
  }
  const old = gone && !lists;
  offline.textContent = old ? word(`old-${why()}`) : "";
  offline.hidden = !old;
  if (old && !was) toast("away", word("no-connection"), "status");
  if (gone) return;
  document.getElementById("away")?.remove();
  if (document.getElementById("unsent")) toast("unsent", word("connected-again"), "status");
};
// `navigator.onLine` is not enough: a network may have no route to the server.
const reach = async () => {
  clearTimeout(asking);
  let there = navigator.onLine;
  try {
    if (there) there = ![502, 503, 504].includes((await fetch(`/icon/1.svg?${Date.now()}`, { method: "HEAD", cache: "no-store" })).status);
  } catch { there = false; }
  network(!there);
  if (!there) asking = setTimeout(reach, 3000);
};
addEventListener("online", reach);
addEventListener("offline", reach);
addEventListener("pageshow", () => { if (navigator.onLine) network(false); else reach(); });
addEventListener("submit", (event) => {
  if (!away && navigator.onLine || event.target.getAttribute("method") === "get") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  refuse();
}, true);
// A disabled button explains itself when it is pressed.
addEventListener("pointerdown", (event) => { if (event.target.closest?.("button[data-offline]")) refuse(); }, true);

// Show the result of an action where the person looks, because a list keeps its scroll position and
// its top may be out of view. An answer moves there with its undo button; other notes are repeated
// there.
addEventListener("load", () => {
  const said = document.querySelector("main .banner:is([role=alert], [role=status], .answered):not(.notes *)");
  const box = said?.getBoundingClientRect();
  if (!box || box.bottom > 0 && box.top < innerHeight) return;
  if (!said.matches(".answered")) {
    toast("refused", [...said.querySelectorAll("h2, p")].map((line) => line.innerText).join(" "), said.role);
    return;
  }
  const close = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: word("dismiss") });
  close.dataset.dismiss = "";
  close.addEventListener("click", () => said.remove());
  said.classList.add("toast");
  said.append(close);
  notes().append(said);
  const row = document.activeElement.closest("#rows > li");
  row?.scrollIntoView({ block: "center", behavior: "instant" });
  const say = document.getElementById("say");
  if (say) say.textContent = `${said.querySelector("h2")?.innerText}. ${said.querySelector("form p")?.innerText ?? ""} ${word("press-u")}`;
});
// A page that says that the server was not reached reloads itself once the server responds.
if (document.querySelector("[data-unreached=page]")) {
  const look = () => { if (!document.hidden) Object.assign(new Image(), { onload: () => location.reload(), src: `/icon/1.svg?${Date.now()}` }); };
  setInterval(look, 3000);
  addEventListener("online", look);
}

// Register the service worker for notifications, except on pages behind a review link.
if ("serviceWorker" in navigator && document.querySelector("link[rel=manifest]")) {
  navigator.serviceWorker.register("/sw.js").catch(() => { /* not allowed: pages work without it */ });
  const seen = async (which) => {
    const worker = await navigator.serviceWorker.getRegistration();
    for (const notice of await worker?.getNotifications?.(which) ?? []) notice.close();
  };
  // Close a notification when its request is opened, and all of them at sign-out.
  const ask = location.pathname.match(/^\/asks\/([^/]+)/)?.[1];
  if (ask) addEventListener("pageshow", () => seen({ tag: ask }));
  document.querySelector("form[action='/sign-out']")?.addEventListener("submit", () => seen());
}
