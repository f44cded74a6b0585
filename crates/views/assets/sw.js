// The service worker: it shows push notifications, sends the answers of their buttons, and reports
// a missing connection. It caches nothing personal: only the stylesheet, the script, the icon, and
// two pages that say that the server was not reached. Pages with questions are never cached,
// because a phone may be shared or lost, and an old question must not look like a waiting one.
"use strict";
const NAME = "countersign-VERSION";
const SHELL = ["SHELL"];
const [OFFLINE, UNSENT] = ["/offline", "/offline/unsent"];
const WORDS = {};
const ICONS = { icon: "ICON", badge: "BADGE" };

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(NAME).then((kept) => kept.addAll(SHELL)));
});
self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("countersign-") && name !== NAME);
  const tidy = caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name))));
  event.waitUntil(tidy.then(() => self.clients.claim()));
});

// A form without a response is never reported as sent. Going back to the result of a form does not
// send it again: the browser has no copy of that page, so the worker loads the URL with GET
// instead.
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  const kept = (path) => caches.open(NAME).then((all) => all.match(path));
  if (request.mode === "navigate" && request.method === "POST" && request.isHistoryNavigation) {
    event.respondWith(Response.redirect(request.url, 303));
  } else if (request.mode === "navigate") {
    const instead = request.method === "GET" ? OFFLINE : UNSENT;
    event.respondWith(fetch(request).catch(async (error) => (await kept(instead)) ?? Promise.reject(error)));
  } else if (request.method === "GET" && pathname.startsWith("/assets/") && SHELL.includes(pathname)) {
    event.respondWith(kept(pathname).then((found) => found ?? fetch(request)));
  }
});

// Every push shows a notification; browsers revoke the permission otherwise.
const show = async ({ title, body, tag, url, over, urgent, answer }) => {
  const buttons = answer && (Notification.maxActions ?? 0) >= 2;
  await self.registration.showNotification(title, {
    ...ICONS, body, tag, silent: Boolean(over), renotify: !over, requireInteraction: Boolean(urgent),
    data: { url, answer },
    actions: buttons ? [{ action: "approve", title: WORDS.approve }, { action: "reject", title: WORDS.reject }] : [],
  });
  if (!over) return;
  // A person with an open page sees the result there.
  const pages = await self.clients.matchAll({ type: "window" });
  if (!pages.some((page) => page.visibilityState === "visible")) return;
  for (const shown of await self.registration.getNotifications({ tag })) shown.close();
};
self.addEventListener("push", (event) => {
  let notice = { title: WORDS.waiting, body: WORDS["waiting-text"], tag: "inbox", url: "/" };
  try { notice = event.data.json(); } catch { /* unreadable: show the default */ }
  event.waitUntil(show(notice));
});

const go = async (url) => {
  const to = new URL(url ?? "/", location.origin);
  if (to.origin !== location.origin) return;
  const pages = await self.clients.matchAll({ type: "window" });
  const there = pages.find((page) => new URL(page.url).pathname === to.pathname);
  await (there ? there.focus() : self.clients.openWindow(to.href));
};
const decide = async (word, { tag, body, data: { url, answer } }) => {
  const say = (title, more) => show({ title, body: more ?? body, tag, url, over: true });
  try {
    const sent = await fetch("/push/answer", { method: "POST", body: new URLSearchParams({ answer: word, token: answer }), redirect: "error" });
    const json = sent.headers.get("content-type")?.startsWith("application/json");
    if (json) {
      const { title, text } = await sent.json();
      return say(title, text);
    }
    if (sent.status === 401) return say(WORDS["signed-out"], WORDS["signed-out-text"]);
    return say(WORDS.unsent, WORDS["unsent-text"]);
  } catch {
    return say(WORDS["no-connection"], WORDS["no-connection-text"]);
  }
};
self.addEventListener("notificationclick", (event) => {
  const { action, notification } = event;
  notification.close();
  event.waitUntil(action && notification.data?.answer ? decide(action, notification) : go(notification.data?.url));
});

// The browser ended the push subscription; only the person can renew it.
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(show({ title: WORDS["device-lost"], body: WORDS["device-lost-text"], tag: "device", url: "/settings/devices" }));
});
