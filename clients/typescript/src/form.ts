/** Forms whose values are typed from their fields. */

import type { JsonValue } from "./json.js";
import type { Condition, FieldSpec, FileRef, Form, Validation } from "./types.js";

declare const typed: unique symbol;

/** A field of a form; `Value` is what comes back, `Sure` whether it always does. */
export interface Field<Value, Sure extends boolean> {
  readonly spec: Omit<FieldSpec, "key" | "label"> & { readonly label?: string };
  /** Only for the compiler. */
  readonly [typed]?: [Value, Sure];
}

/** The fields of a form, by the key of their value. */
export type Fields = Readonly<Record<string, Field<unknown, boolean>>>;

type SureKeys<F extends Fields> = { [K in keyof F]: F[K] extends Field<unknown, true> ? K : never }[keyof F];
type ValueOf<T> = T extends Field<infer Value, boolean> ? Value : never;

/** The values of a form. What is not required, or only shown under a condition, may be missing. */
export type Values<F extends Fields> = { readonly [K in SureKeys<F>]: ValueOf<F[K]> } & {
  readonly [K in Exclude<keyof F, SureKeys<F>>]?: ValueOf<F[K]>;
};

/** What every field takes. */
export interface FieldOptions<Value> {
  /** What the person reads; the key, if left out. */
  readonly label?: string;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly hint?: string;
  /** Value to start from. */
  readonly default?: Value;
  /** Masked, kept out of logs and receipts, and not shown to people again. */
  readonly sensitive?: boolean;
  /** Shown only when an earlier field fits. */
  readonly showIf?: Condition;
}

/** Limits of text. */
export interface TextOptions extends FieldOptions<string> {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression the whole value matches. */
  readonly pattern?: string;
}

/** Limits of a number. */
export interface NumberOptions extends FieldOptions<number> {
  readonly min?: number;
  readonly max?: number;
}

/** Limits of a date, each `2026-01-31` or a whole timestamp. */
export interface DateOptions extends FieldOptions<string> {
  readonly min?: string;
  readonly max?: string;
}

/** What can be chosen: values, or values with what the person reads. */
export type Selectable = string | { readonly value: string; readonly label: string };
type ValueIn<O extends readonly Selectable[]> = O[number] extends infer One
  ? One extends string
    ? One
    : One extends { readonly value: infer V extends string }
      ? V
      : never
  : never;

type Sure<O> = O extends { readonly showIf: object } ? false : O extends { readonly required: true } ? true : false;

/** The fields there are. */
export const field = {
  /** One line of text. */
  text: <const O extends TextOptions = TextOptions>(options?: O): Field<string, Sure<O>> => make("text", options),
  /** Several lines of text. */
  textarea: <const O extends TextOptions = TextOptions>(options?: O): Field<string, Sure<O>> => make("textarea", options),
  /** An email address. */
  email: <const O extends TextOptions = TextOptions>(options?: O): Field<string, Sure<O>> => make("email", options),
  /** A web address. */
  url: <const O extends TextOptions = TextOptions>(options?: O): Field<string, Sure<O>> => make("url", options),
  /** A number; a whole one beyond 2^53 comes back as `bigint`. */
  number: <const O extends NumberOptions = NumberOptions>(options?: O): Field<number, Sure<O>> => make("number", options),
  /** A number between two ends. */
  range: <const O extends NumberOptions & { min: number; max: number }>(options: O): Field<number, Sure<O>> =>
    make("range", options),
  /** A date, `2026-01-31` or a whole timestamp. */
  date: <const O extends DateOptions = DateOptions>(options?: O): Field<string, Sure<O>> => make("date", options),
  /** Yes or no. */
  boolean: <const O extends FieldOptions<boolean> = FieldOptions<boolean>>(options?: O): Field<boolean, Sure<O>> =>
    make("boolean", options),
  /** One of several. */
  select: <const V extends readonly Selectable[], const O extends FieldOptions<NoInfer<ValueIn<V>>>>(
    options: O & { readonly options: V },
  ): Field<ValueIn<V>, Sure<O>> => make("select", options),
  /** Some of several. */
  multiselect: <const V extends readonly Selectable[], const O extends FieldOptions<readonly NoInfer<ValueIn<V>>[]>>(
    options: O & { readonly options: V },
  ): Field<readonly ValueIn<V>[], Sure<O>> => make("multiselect", options),
  /** A file, or the address of one. */
  file: <const O extends FieldOptions<never> = FieldOptions<never>>(options?: O): Field<FileRef | string, Sure<O>> =>
    make("file", options),
} as const;

/** The form on the wire. */
export function formOf(fields: Fields): Form {
  return {
    fields: Object.entries(fields).map(([key, { spec }]) => ({ key, ...spec, label: spec.label ?? labelOf(key) })),
  };
}

interface AnyOptions extends FieldOptions<unknown> {
  readonly options?: readonly Selectable[];
}

function make(type: string, options: AnyOptions = {}): { spec: Field<unknown, boolean>["spec"] } {
  const { required, sensitive, showIf, options: selectable, default: start, label, placeholder, hint, ...limits } = options;
  const validation = limits as Validation;
  // What is false or empty is left out, as the server writes it: the receipt holds the question's hash.
  return {
    spec: {
      ...(label !== undefined && { label }),
      type,
      ...(required === true && { required }),
      ...(placeholder !== undefined && { placeholder }),
      ...(hint !== undefined && { hint }),
      ...(start !== undefined && { default: start as JsonValue }),
      ...(sensitive === true && { sensitive }),
      ...(selectable !== undefined && { options: selectable.map(selected) }),
      ...(Object.keys(validation).length > 0 && { validation }),
      ...(showIf !== undefined && { conditional: showIf }),
    },
  };
}

function selected(one: Selectable): { value: string; label: string } {
  return typeof one === "string" ? { value: one, label: one } : { value: one.value, label: one.label };
}

/** `billing_address` reads "Billing address". */
function labelOf(key: string): string {
  const words = key.replace(/_+/g, " ").replace(/([a-z0-9])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
