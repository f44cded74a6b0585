// Push notifications on this device: the calls that need a script. Without one, the page says so.
// The form brings the texts.
"use strict";
{
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const bytes = (words) => Uint8Array.from(atob(words.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const apple = /iPhone|iPad/.test(navigator.userAgent) || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);

  for (const form of document.querySelectorAll("form[data-push]")) {
    const [problem, button, state] = ["[data-problem]", "button", "[data-state]"].map((part) => form.querySelector(part));
    const says = form.dataset;
    const say = (words) => { problem.textContent = words; problem.hidden = false; };
    const can = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
    if (!can) {
      state.textContent = apple ? says.saysApple : !window.isSecureContext ? says.saysHttps : says.saysUnsupported;
      continue;
    }
    if (Notification.permission === "denied") {
      state.textContent = says.saysDenied;
      continue;
    }
    state.hidden = true;
    button.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      problem.hidden = true;
      try {
        if (await Notification.requestPermission() !== "granted") {
          delete form.dataset.sent;
          return say(says.saysRefused);
        }
        const { pushManager } = await navigator.serviceWorker.ready;
        // Replace a subscription for another server key or another person.
        await (await pushManager.getSubscription())?.unsubscribe();
        const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.push) });
        form.elements.endpoint.value = made.endpoint;
        for (const key of ["p256dh", "auth"]) form.elements[key].value = text(made.getKey(key));
        // `submit()` fires no submit event, so the handlers for presses by a person do not run.
        form.submit();
      } catch {
        delete form.dataset.sent;
        say(says.saysUnreachable);
      }
    });
  }
}
