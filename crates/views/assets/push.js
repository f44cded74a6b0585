// Push notifications on this device: the calls that need a script. Without one, the page says so.
"use strict";
{
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const bytes = (words) => Uint8Array.from(atob(words.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const apple = /iPhone|iPad/.test(navigator.userAgent) || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);

  for (const form of document.querySelectorAll("form[data-push]")) {
    const [problem, button, state] = ["[data-problem]", "button", "[data-state]"].map((part) => form.querySelector(part));
    const say = (words) => { problem.textContent = words; problem.hidden = false; };
    const can = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
    if (!can) {
      state.textContent = apple
        ? "On an iPhone or iPad notices come to apps only: tap Share, then “Add to Home Screen”, open Countersign from there and come back to this page."
        : !window.isSecureContext ? "Browsers show notices only for pages that come over HTTPS."
        : "This browser cannot show notices while no page is open.";
      continue;
    }
    if (Notification.permission === "denied") {
      state.textContent = "This browser was told not to show notices from here. Allow them in its settings for this site, then load this page again.";
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
          return say("Nothing was changed: the browser was not allowed to show notices.");
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
        say("The browser’s push service could not be reached. Try again later; some networks and browsers have none.");
      }
    });
  }
}
