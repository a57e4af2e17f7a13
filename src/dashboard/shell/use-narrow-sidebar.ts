import { useMediaQuery } from "@mantine/hooks";

/** Between phones, where the sidebar is a menu, and desktops there is room for icons only. Shell.module.css has the same widths. */
export function useNarrowSidebar(): boolean {
  return useMediaQuery("(min-width: 48em) and (max-width: 61.99em)", false, { getInitialValueInEffect: false });
}
