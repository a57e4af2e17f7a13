import { useMediaQuery } from "@mantine/hooks";

/** The width below which style sheets lay things out for phones. */
export function useIsPhone(): boolean {
  return useMediaQuery("(width < 48em)", false, { getInitialValueInEffect: false });
}

/** Between phones, where the sidebar is a menu, and desktops there is room for icons only. Shell.module.css has the same widths. */
export function useNarrowSidebar(): boolean {
  return useMediaQuery("(min-width: 48em) and (max-width: 61.99em)", false, { getInitialValueInEffect: false });
}
