/** Texts of the console: English beside the screen that shows them, other languages in the files of `languages/`. */
import { language } from "~/state/preferences";
import { texts } from "./translations";

type Values = Record<string, string | number>;

/** The function that a screen translates with; `{name}` is filled in, and `n` chooses between KEY_one and KEY_other. */
export function messages<K extends string>(screen: string, english: Record<K, string>) {
  return (key: K | Plural<K>, values: Values = {}): string => {
    const translated = texts.value[screen] ?? {};
    const rule = typeof values.n === "number" ? plural().select(values.n) : "";
    const forms = typeof values.n === "number" ? [`${key}_${rule}`, `${key}_other`, key] : [key];
    const text = found(translated, forms) ?? found(english, forms) ?? key;
    return filled(text, values);
  };
}

type Plural<K extends string> = K extends `${infer Stem}_other` ? Stem : never;

function found(table: Record<string, string>, forms: string[]): string | undefined {
  return forms.map((form) => table[form]).find((text) => text !== undefined);
}

function filled(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : value;
  });
}

const made = new Map<string, unknown>();

/** A format of the language: kept, since to make one takes far longer than to use it. */
function format<T, O>(kind: new (language: string, options?: O) => T, options?: O): T {
  const name = `${kind.name} ${language.value} ${JSON.stringify(options)}`;
  const known = (made.get(name) as T | undefined) ?? new kind(language.value, options);
  made.set(name, known);
  return known;
}

const plural = () => format(Intl.PluralRules);

/** A number as it is written here. */
export function number(value: number, options?: Intl.NumberFormatOptions): string {
  return format(Intl.NumberFormat, options).format(value);
}

/** Dollars, with as many digits as a small amount needs. */
export function dollars(value: number): string {
  const digits = value !== 0 && Math.abs(value) < 0.1 ? 4 : 2;
  return number(value, { style: "currency", currency: "USD", maximumFractionDigits: digits });
}

/** A size in bytes, in the largest unit that keeps it above one. */
export function bytes(value: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const step = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return number(value / 1000 ** step, { style: "unit", unit: units[step], unitDisplay: step ? "short" : "long", maximumFractionDigits: step ? 1 : 0 });
}

/** A time as date and clock; ISO 8601, in the browser's zone. */
export function moment(iso: string, options: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "short" }): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : format(Intl.DateTimeFormat, options).format(date);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Return the time since a moment, such as "5 minutes ago". */
export function ago(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const since = format(Intl.RelativeTimeFormat, { numeric: "auto" });
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return since.format(Math.trunc(seconds / length), unit);
  }
  return since.format(0, "second");
}
