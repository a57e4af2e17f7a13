import { useMediaQuery } from "@mantine/hooks";

/** The width below which style sheets lay things out for phones. */
export function useIsPhone(): boolean {
  return useMediaQuery("(width < 48em)", false, { getInitialValueInEffect: false });
}
