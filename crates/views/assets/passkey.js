// Passkeys: the WebAuthn calls that need a script. The server creates the request and verifies the
// response. Without passkeys, the page names the alternatives. The form brings the texts.
"use strict";

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const listed = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

const ask = async (form, more) => {
  const options = JSON.parse(form.dataset.passkey);
  options.challenge = bytes(options.challenge);
  if (form.dataset.makes === undefined) {
    options.allowCredentials = listed(options.allowCredentials);
    return navigator.credentials.get({ publicKey: options, ...more });
  }
  options.user.id = bytes(options.user.id);
  options.excludeCredentials = listed(options.excludeCredentials);
  return navigator.credentials.create({ publicKey: options, ...more });
};

const send = (form, made) => {
  const response = {};
  for (const part of ["attestationObject", "authenticatorData", "clientDataJSON", "signature", "userHandle"]) {
    if (made.response[part]) response[part] = text(made.response[part]);
  }
  const { id, type } = made;
  form.elements.response.value = JSON.stringify({ id, rawId: text(made.rawId), type, response, extensions: {} });
  // `submit()` fires no submit event, so the handlers for presses by a person do not run.
  form.submit();
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const problem = form.querySelector("[data-problem]");
  const say = (words) => { problem.textContent = words; problem.hidden = false; };
  if (!window.PublicKeyCredential) {
    say(form.dataset.saysNone);
    continue;
  }
  let waiting;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    waiting?.abort();
    problem.hidden = true;
    try {
      send(form, await ask(form));
    } catch (error) {
      delete form.dataset.sent;
      say(error.name === "InvalidStateError" ? form.dataset.saysKnown : form.dataset.saysUnused);
    }
  });
  // The browser suggests passkeys in the email field.
  if (form.dataset.offers !== undefined && PublicKeyCredential.isConditionalMediationAvailable) {
    PublicKeyCredential.isConditionalMediationAvailable().then(async (can) => {
      if (!can) return;
      waiting = new AbortController();
      send(form, await ask(form, { mediation: "conditional", signal: waiting.signal }));
    }).catch(() => { /* nothing was picked, or the button was pressed */ });
  }
}
