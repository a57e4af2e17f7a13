import type { UseFormReturnType } from "@mantine/form";
import { useEffect } from "react";

type Value = string | readonly string[];

/**
 * Keeps an open form up to date when someone else saves: untouched fields take the new values, edited fields keep what was typed
 * and show the other person's value as an error. `toWords` turns a value into text for that message; an empty string leaves the
 * value out.
 */
export function useFollowedValues<Values extends Record<string, Value>>(
  form: UseFormReturnType<Values>,
  saved: Values,
  toWords: (name: keyof Values, value: Value) => string = (_, value) => String(value),
): void {
  const known = JSON.stringify(saved);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the saved values change
  useEffect(() => {
    const [before, typed] = [form.getInitialValues(), form.getValues()];
    const touched = Object.keys(saved).filter((name) => form.isDirty(name));
    form.setInitialValues(saved);
    form.setValues({ ...saved, ...pick(typed, touched) });
    const contested = touched.filter((name) => !isSame(before[name], saved[name]) && !isSame(typed[name], saved[name]));
    form.setErrors(Object.fromEntries(contested.map((name) => [name, describe(toWords(name, saved[name] ?? ""))])));
  }, [known]);
}

/** A PATCH body: only the edited fields, with the values they had when the form was filled, which the server compares. */
export function toChange<Values extends Record<string, Value>>(
  form: UseFormReturnType<Values>,
): Partial<Values> & { was: Partial<Values> } {
  const before = form.getInitialValues();
  const edited = Object.keys(before).filter((name) => form.isDirty(name));
  return { ...pick(form.getValues(), edited), was: pick(before, edited) };
}

function pick<Values extends object>(values: Values, names: readonly string[]): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name))) as Partial<Values>;
}

function isSame(one: Value | undefined, other: Value | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function describe(words: string): string {
  return `Someone else changed this${words === "" ? "" : ` to ${words}`}. Save again to overwrite it.`;
}
