/** Options by name: one that is misspelt must not be dropped in silence. */

/** The names of some options; the compiler sees to it that none is missing. */
export type Names<T> = { readonly [K in keyof T]-?: true };

/** The options, if all of them are known. */
export function only<T extends object>(options: T, names: Readonly<Record<string, true>>): T {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(names, name));
  if (unknown.length === 0) return options;
  const known = Object.keys(names).sort().join(", ");
  throw new TypeError(`unknown option ${unknown.join(", ")}; allowed options: ${known}`);
}
