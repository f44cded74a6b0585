/**
 * JSON that keeps the digits of whole numbers. `JSON.parse` rounds what lies beyond 2^53, and an
 * order number or an amount in minor units would silently become another one.
 */

/** Any JSON. Whole numbers that a `number` cannot hold exactly are a `bigint`. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Reads JSON; whole numbers of up to 64 bits beyond 2^53 become `bigint`. */
export function parseJson(text: string): JsonValue {
  // Sixteen digits in a row are needed for a number that is not safe; the rest may go the fast way.
  return /\d{16}/.test(text) ? parseStrictJson(text, { duplicates: true }) : (JSON.parse(text) as JsonValue);
}

/** The same, and an object that names a member twice is refused: two readers could see two values. */
export function parseStrictJson(text: string, options: { duplicates?: boolean } = {}): JsonValue {
  const reader = new Reader(text, options.duplicates ?? false);
  const value = reader.value(0);
  reader.end();
  return value;
}

/** Writes JSON in the order of the members; `undefined` members are left out. */
export function stringifyJson(value: unknown): string {
  return write(value, {}, "");
}

/** A copy of plain JSON; what has a `toJSON`, like a `Date`, would come back as something else and is refused. */
export function copyJson(value: unknown): JsonValue {
  return parseJson(write(value, { plain: true }, ""));
}

/**
 * Canonical JSON, the one spelling that is hashed: RFC 8785, except that whole numbers beyond 2^53
 * keep their digits. Give such numbers as `bigint`.
 */
export function canonicalJson(value: unknown): string {
  return write(value, { sorted: true }, "");
}

const DEEPEST = 500;
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 64n - 1n;

class Reader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly duplicates: boolean,
  ) {}

  value(depth: number): JsonValue {
    if (depth > DEEPEST) throw new SyntaxError(`JSON with more than ${DEEPEST} levels of nesting`);
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  end(): void {
    this.space();
    if (this.at < this.text.length) this.fail();
  }

  private object(depth: number): JsonObject {
    const members: Record<string, JsonValue> = {};
    this.at += 1;
    if (this.took("}")) return members;
    do {
      this.space();
      if (this.text[this.at] !== '"') this.fail();
      const key = this.string();
      if (!this.duplicates && Object.hasOwn(members, key)) {
        throw new SyntaxError(`JSON with the duplicate member ${JSON.stringify(key)}`);
      }
      if (!this.took(":")) this.fail();
      const value = this.value(depth + 1);
      // Plain assignment to `__proto__` would set the prototype.
      Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
    } while (this.took(","));
    if (!this.took("}")) this.fail();
    return members;
  }

  private array(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.at += 1;
    if (this.took("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.took(","));
    if (!this.took("]")) this.fail();
    return items;
  }

  private string(): string {
    const start = this.at;
    this.at += 1;
    while (this.at < this.text.length && this.text[this.at] !== '"') {
      this.at += this.text[this.at] === "\\" ? 2 : 1;
    }
    this.at += 1;
    // What is between the quotes is checked and read by the built-in reader.
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  private number(): number | bigint {
    const pattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return this.fail();
    this.at = pattern.lastIndex;
    const [digits, fraction, exponent] = found;
    const number = Number(digits);
    if (fraction !== undefined || exponent !== undefined || Number.isSafeInteger(number)) return number;
    const whole = BigInt(digits);
    return whole >= SMALLEST && whole <= LARGEST ? whole : number;
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail();
    this.at += word.length;
    return value;
  }

  private took(mark: string): boolean {
    this.space();
    if (this.text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  private space(): void {
    while (this.at < this.text.length && " \t\n\r".includes(this.text.charAt(this.at))) this.at += 1;
  }

  private fail(): never {
    throw new SyntaxError(`not JSON: unexpected text at character ${this.at}`);
  }
}

interface How {
  /** Members in canonical order. */
  readonly sorted?: boolean;
  /** No `toJSON`. */
  readonly plain?: boolean;
}

function write(value: unknown, how: How, place: string): string {
  switch (typeof value) {
    case "string":
      return text(value, place);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) refuse(place, `${value} is not JSON`);
      return String(value);
    case "bigint":
      if (value < SMALLEST || value > LARGEST) refuse(place, "a whole number of more than 64 bits; send it as a string");
      return String(value);
    case "object":
      return value === null ? "null" : composite(value, how, place);
    default:
      return refuse(place, `${typeof value} is not JSON`);
  }
}

function composite(value: object, how: How, place: string): string {
  if (Array.isArray(value)) {
    return `[${value.map((item, n) => write(item, how, `${place}[${n}]`)).join(",")}]`;
  }
  if (!how.plain && "toJSON" in value && typeof value.toJSON === "function") {
    return write((value.toJSON as (key: string) => unknown)(""), how, place);
  }
  // A Map or a class would lose what it holds without a word.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    refuse(place, `${value.constructor.name} is not plain JSON; use a plain object`);
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // The order of UTF-16 code units, as the RFC says; it is what `<` compares.
  if (how.sorted) members.sort(([a], [b]) => (a < b ? -1 : 1));
  const at = (key: string): string => (place === "" ? key : `${place}.${key}`);
  return `{${members.map(([key, member]) => `${text(key, at(key))}:${write(member, how, at(key))}`).join(",")}}`;
}

function text(value: string, place: string): string {
  // Half of a surrogate pair has no UTF-8, so nothing could be hashed or sent.
  if (/\p{Surrogate}/u.test(value)) refuse(place, "a string with half of a surrogate pair");
  return JSON.stringify(value);
}

function refuse(place: string, what: string): never {
  throw new TypeError(`${place === "" ? "" : `${place}: `}${what}`);
}
