/**
 * What a person sees of a call, and what becomes of the call when they edit it. `clients/vectors/approvals.json` holds
 * the rules as examples; the Python client has the same.
 */

import { toBase64url } from "./base64url.js";
import { canonicalJson, type JsonObject, type JsonValue, parseJson, stringifyJson } from "./json.js";

/** Edits that the function cannot be called with. The message says which and why. */
export class UnusableEdits extends Error {}

/** How to show a call. */
export interface DetailsOptions {
  /** The names of the arguments, where they are not the members of a single object. */
  readonly parameters?: readonly string[] | undefined;
  /** Names of arguments or members that are not shown. */
  readonly hide?: readonly string[] | undefined;
  /**
   * Sort the members of objects, so that the same call gives the same text even if the caller's storage did not keep
   * their order. Arguments that have names keep the order in which the function declares them.
   */
  readonly inOrder?: boolean | undefined;
}

/** The arguments of one call as a person sees them. */
export class Details {
  /** By name; plain JSON. */
  readonly shown: JsonObject;
  /** A copy to run with: the caller's objects may change while the person thinks. */
  private readonly own: readonly unknown[];
  private readonly hide: ReadonlySet<string>;
  private readonly names: readonly string[] | undefined;
  /** Where the single object is that stands for its members. */
  private readonly single: number | undefined;

  constructor(args: readonly unknown[], options: DetailsOptions = {}) {
    let given = args.length;
    while (given > 0 && args[given - 1] === undefined) given -= 1;
    this.own = args.slice(0, given).map(copied);
    this.hide = new Set(options.hide);
    this.names = options.parameters;
    const visible = [...this.own.keys()].filter((at) => !this.hide.has(this.names?.[at] ?? ""));
    const [only] = visible;
    this.single = visible.length === 1 && only !== undefined && isPlain(this.own[only]) ? only : undefined;
    const shown = this.show(visible);
    // Serialized here, so that text that is not valid Unicode is refused before a person is asked.
    this.shown = parseJson(options.inOrder ? this.ordered(shown) : stringifyJson(shown)) as JsonObject;
  }

  /** JSON with sorted members, except for the arguments themselves where they have names. */
  private ordered(shown: JsonObject): string {
    if (this.single !== undefined || !this.names) return canonicalJson(shown);
    const members = Object.entries(shown).filter(([, value]) => value !== undefined);
    return `{${members.map(([name, value]) => `${canonicalJson(name)}:${canonicalJson(value)}`).join(",")}}`;
  }

  private show(visible: readonly number[]): JsonObject {
    if (this.single !== undefined) {
      const members = Object.entries(this.own[this.single] as object);
      return shownMembers(members.filter(([name]) => !this.hide.has(name)));
    }
    const { names } = this;
    if (names) return shownMembers(visible.map((at) => [names[at] ?? String(at), this.own[at] ?? null]));
    return this.own.length === 0 ? {} : { args: this.own.map(jsonable) };
  }

  /** The arguments to run with: as they were, or with what the person changed. */
  arguments(edits?: JsonObject): readonly unknown[] {
    if (edits === undefined) return this.own;
    sameMembers(this.shown, edits, "");
    const { single, names } = this;
    if (single !== undefined) {
      const changed = editedObject(this.own[single] as Record<string, unknown>, this.shown, edits, "");
      return this.own.map((value, at) => (at === single ? changed : value));
    }
    if (names) {
      return this.own.map((value, at) => {
        const name = names[at] ?? "";
        return Object.hasOwn(this.shown, name) ? edited(value, this.shown[name], edits[name], name) : value;
      });
    }
    const { args } = edits;
    if (!Array.isArray(args) || args.length !== this.own.length) throw new UnusableEdits("the number of args changed");
    const before = this.shown["args"] as readonly JsonValue[];
    // Each of them is an argument of its own and keeps its type.
    return this.own.map((value, at) => edited(value, before[at], args[at] as JsonValue, `args[${at}]`));
  }
}

const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 64n - 1n;

/** A value as a person can read it: JSON where it is JSON, else its text. */
export function jsonable(value: unknown): JsonValue {
  switch (typeof value) {
    case "undefined":
      return null;
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value >= SMALLEST && value <= LARGEST ? value : String(value);
    case "function":
      return `<function ${value.name || "anonymous"}>`;
    case "object":
      return value === null ? null : jsonableObject(value);
    default:
      return String(value);
  }
}

function jsonableObject(value: object): JsonValue {
  if (Array.isArray(value)) return Array.from(value, jsonable);
  if (isPlain(value)) return shownMembers(Object.entries(value));
  if (value instanceof Map) return shownMembers([...value].map(([key, item]) => [String(key), item]));
  if (value instanceof Set) return [...value].map(jsonable);
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  if (ArrayBuffer.isView(value)) return base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  // An invalid date has no JSON, but a text.
  if (value instanceof Date && Number.isNaN(value.getTime())) return String(value);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return jsonable((toJSON as () => unknown).call(value));
  if (value.toString !== Object.prototype.toString) return String(value);
  return `<${value.constructor?.name || "object"}>`;
}

function base64(bytes: Uint8Array): string {
  const text = toBase64url(bytes).replace(/-/g, "+").replace(/_/g, "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

function shownMembers(members: readonly (readonly [string, unknown])[]): JsonObject {
  const shown: Record<string, JsonValue> = {};
  for (const [name, value] of members) {
    if (value === undefined) continue;
    // Plain assignment to `__proto__` would set the prototype.
    Object.defineProperty(shown, name, { value: jsonable(value), writable: true, enumerable: true, configurable: true });
  }
  return shown;
}

/** Plain objects and lists are copied, all else is what it is. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (Object.getPrototypeOf(prototype) === null && !("toJSON" in value));
}

/** The value to run with in place of `before`, which the person saw as `shown`. */
function edited(before: unknown, shown: JsonValue | undefined, after: JsonValue | undefined, place: string): unknown {
  if (equal(shown, after)) return before;
  const refused = new UnusableEdits(`${place} cannot become ${after === undefined ? "nothing" : canonicalJson(after)}`);
  if (before === null || before === undefined) return after;
  if (isPlain(before) && isObject(shown) && isObject(after)) return editedObject(before, shown, after, place);
  if (Array.isArray(before) && Array.isArray(shown) && Array.isArray(after)) {
    return editedList(before, shown, after as readonly JsonValue[], place, refused);
  }
  if (typeof before === "bigint" && typeof shown !== "string") {
    if (typeof after === "bigint") return after;
    if (typeof after === "number" && Number.isInteger(after)) return BigInt(after);
    throw refused;
  }
  const isSameType = typeof before === typeof after && typeof shown === typeof before;
  if (isSameType && ["string", "number", "boolean"].includes(typeof before)) return after;
  throw refused;
}

function editedList(
  before: readonly unknown[],
  shown: readonly JsonValue[],
  after: readonly JsonValue[],
  place: string,
  refused: UnusableEdits,
): readonly unknown[] {
  const isReplaceable = before.every(isJson);
  if (before.length === after.length) {
    try {
      return before.map((item, at) => edited(item, shown[at], after[at], `${place}[${at}]`));
    } catch (error) {
      // A list of plain values may be replaced as a whole.
      if (!isReplaceable) throw error;
    }
  }
  if (!isReplaceable) throw refused;
  return after;
}

function editedObject(before: Record<string, unknown>, shown: JsonObject, after: JsonObject, place: string): object {
  sameMembers(shown, after, place);
  const at = (name: string): string => (place === "" ? name : `${place}.${name}`);
  // Hidden members stay as they are.
  const members = Object.entries(before).map(([name, value]) => {
    return [name, Object.hasOwn(shown, name) ? edited(value, shown[name], after[name], at(name)) : value] as const;
  });
  return Object.fromEntries(members);
}

function sameMembers(shown: JsonObject, after: JsonObject, place: string): void {
  const all = new Set([...Object.keys(shown), ...Object.keys(after)]);
  const odd = [...all].filter((name) => Object.hasOwn(shown, name) !== Object.hasOwn(after, name)).sort();
  if (odd.length === 0) return;
  const where = place === "" ? "details must have exactly the arguments of the function" : `${place} must keep its members`;
  throw new UnusableEdits(`${where}; check ${odd.join(", ")}`);
}

/** Whether a value is JSON as it stands, all the way down. */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (isPlain(value)) return Object.values(value).every(isJson);
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function equal(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b);
}
