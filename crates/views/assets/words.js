// The texts of the scripts in the language of the page. A text with a number has two forms.
"use strict";
const WORDS = {};
const language = document.documentElement.lang;
const plural = new Intl.PluralRules(language);
const word = (name, values = {}) => {
  const found = WORDS[name];
  const text = Array.isArray(found) ? found[plural.select(values.n) === "one" ? 0 : 1] : found;
  return text.replace(/%(\w+)%/g, (_, key) => typeof values[key] === "number" ? values[key].toLocaleString(language) : values[key]);
};
