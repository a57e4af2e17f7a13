import type { UseFormReturnType } from "@mantine/form";
import { useEffect } from "react";

/** Somebody else changed what a form is about: the fields that were not touched here follow, those that were stay. */
export function useFollowedValues<Values extends Record<string, string>>(
  form: UseFormReturnType<Values>,
  saved: Values,
): void {
  const known = JSON.stringify(saved);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when what is saved changes, and only then
  useEffect(() => {
    const values = form.getValues();
    const untouched = Object.keys(saved).filter((name) => !form.isDirty(name));
    form.setInitialValues(saved);
    form.setValues({ ...values, ...Object.fromEntries(untouched.map((name) => [name, saved[name]])) });
  }, [known]);
}
