import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * A screen's state in its query string: filters, tabs, open dialogs. Values are strings; defaults are left out of the address.
 * Each change is a step in the browser's history unless `replace` is set (for typing). `defaults` must be a constant outside of
 * the component.
 */
export function useUrlState<Name extends string>(
  defaults: Readonly<Record<Name, string>>,
): [Record<Name, string>, (change: Partial<Record<Name, string>>, how?: { replace?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const names = Object.keys(defaults) as Name[];
  const state = Object.fromEntries(names.map((name) => [name, search[name] ?? defaults[name]])) as Record<Name, string>;
  const change = useCallback(
    (next: Partial<Record<Name, string>>, how: { replace?: boolean } = {}) => {
      void navigate({
        to: ".",
        search: (current: Record<string, string | undefined>) => {
          const merged: Record<string, string | undefined> = { ...current, ...next };
          for (const [name, value] of Object.entries(defaults)) if (merged[name] === value) merged[name] = undefined;
          return merged;
        },
        replace: how.replace ?? false,
        resetScroll: false,
      } as Parameters<typeof navigate>[0]);
    },
    [navigate, defaults],
  );
  return [state, change];
}
