import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

/** Teal: distinct from the blue of links and the green of success. */
const petrol: MantineColorsTuple = [
  "#eaf5f7",
  "#d3e7eb",
  "#a6d0d9",
  "#75b7c5",
  "#4a9fb1",
  "#27879b",
  "#0f7086",
  "#0b5c6f",
  "#0a4b5b",
  "#083a47",
];

/** Greys with a hint of teal. */
const gray: MantineColorsTuple = [
  "#f7f9f9",
  "#eff2f3",
  "#e3e8ea",
  "#d2d9dc",
  "#b3bdc2",
  "#8b979d",
  "#66727a",
  "#4c575e",
  "#343d43",
  "#20272b",
];

const dark: MantineColorsTuple = [
  "#dbe2e5",
  "#b4bfc4",
  "#8f9ca3",
  "#66737b",
  "#3c474d",
  "#2f393f",
  "#242c31",
  "#1b2226",
  "#151a1e",
  "#0f1316",
];

/** Filled with shade 7 in light and 6 in dark mode, both readable with white text. */
const red: MantineColorsTuple = [
  "#fef3f2",
  "#fee4e2",
  "#fecdc9",
  "#fda29b",
  "#f97970",
  "#e5483d",
  "#d12f24",
  "#b42318",
  "#912018",
  "#6f1a14",
];

const green: MantineColorsTuple = [
  "#ecf8f0",
  "#d6f0de",
  "#aedfbf",
  "#82cc9c",
  "#57b87b",
  "#349d5d",
  "#238149",
  "#1a6b3c",
  "#155530",
  "#0f4024",
];

const yellow: MantineColorsTuple = [
  "#fdf6e3",
  "#faebc2",
  "#f4d98a",
  "#ecc45a",
  "#dfab33",
  "#b98714",
  "#97690b",
  "#7d5508",
  "#634408",
  "#4a3306",
];

/** base.css has the flags: Windows shows letters instead. */
const TEXT =
  '"Country flags", -apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, Inter, Ubuntu, Cantarell, "Noto Sans", "Helvetica Neue", "Liberation Sans", Arial, sans-serif';
const CODE = 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace';

/** Spacing in steps of eight and one type scale for all components. */
export const theme = createTheme({
  primaryColor: "petrol",
  primaryShade: { light: 7, dark: 6 },
  colors: { petrol, gray, dark, red, green, yellow },
  black: "#151b1f",
  fontFamily: TEXT,
  fontFamilyMonospace: CODE,
  fontSizes: { xs: "0.75rem", sm: "0.875rem", md: "0.9375rem", lg: "1.0625rem", xl: "1.25rem" },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.55", lg: "1.5", xl: "1.4" },
  spacing: { xs: "0.5rem", sm: "0.75rem", md: "1rem", lg: "1.5rem", xl: "2.5rem" },
  defaultRadius: "md",
  radius: { xs: "4px", sm: "6px", md: "8px", lg: "12px", xl: "16px" },
  cursorType: "pointer",
  respectReducedMotion: true,
  headings: {
    fontFamily: TEXT,
    fontWeight: "650",
    sizes: {
      h1: { fontSize: "1.625rem", lineHeight: "1.25" },
      h2: { fontSize: "1.125rem", lineHeight: "1.35" },
      h3: { fontSize: "0.9375rem", lineHeight: "1.4" },
    },
  },
  components: {
    Button: { defaultProps: { size: "sm" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray", size: "lg" } },
    Tooltip: {
      defaultProps: { withArrow: true, multiline: true, maw: 280, events: { hover: true, focus: true, touch: true } },
    },
    Modal: {
      defaultProps: {
        centered: true,
        padding: "lg",
        overlayProps: { backgroundOpacity: 0.5 },
        closeButtonProps: { "aria-label": "Close" },
      },
      styles: {
        // A long name without spaces would push the close button out.
        title: { fontWeight: 650, fontSize: "1.125rem", lineHeight: 1.35, minWidth: 0, overflowWrap: "anywhere" },
        content: { background: "var(--surface)" },
        header: { background: "var(--surface)" },
      },
    },
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Drawer: { defaultProps: { padding: "lg", closeButtonProps: { "aria-label": "Close" } } },
    Notification: { defaultProps: { withBorder: true, closeButtonProps: { "aria-label": "Close" } } },
    Badge: {
      defaultProps: { variant: "light", radius: "sm" },
      // Never cut off, even in a narrow column.
      styles: { root: { textTransform: "none", fontWeight: 600, minWidth: "max-content" } },
    },
    // Otherwise the focus ring of a button in it is cut off.
    Alert: { styles: { body: { overflow: "visible" }, message: { overflow: "visible" } } },
    Paper: { defaultProps: { withBorder: true, radius: "lg" } },
    TextInput: { defaultProps: { size: "sm" } },
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Anchor: { defaultProps: { underline: "hover" } },
    PasswordInput: { defaultProps: { size: "sm" } },
  },
});

/** Colours that Mantine's variables lack, or that are too faint there. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-body": "#fbfcfc",
    "--mantine-color-dimmed": "#586369",
    "--mantine-color-error": "#b42318",
    "--mantine-color-gray-light": "#e6ebed",
    "--mantine-color-placeholder": "#6f7b82",
    "--surface": "#ffffff",
    "--surface-sunken": "#f3f6f6",
    "--border": "#e1e7e9",
    "--focus": "#0b5c6f",
  },
  dark: {
    "--mantine-color-body": "#101417",
    "--mantine-color-anchor": "#75b7c5",
    "--mantine-color-petrol-light": "#16323a",
    "--mantine-color-petrol-light-color": "#a6d0d9",
    "--mantine-color-gray-light": "#283136",
    "--mantine-color-gray-light-color": "#c6cfd3",
    "--mantine-color-green-light": "#153524",
    "--mantine-color-green-light-color": "#aedfbf",
    "--mantine-color-red-light": "#43201d",
    "--mantine-color-red-light-color": "#fecdc9",
    "--mantine-color-yellow-light": "#3a2f14",
    "--mantine-color-yellow-light-color": "#f4d98a",
    "--mantine-primary-color-light": "#16323a",
    "--mantine-primary-color-light-color": "#a6d0d9",
    "--mantine-color-dimmed": "#9dabb2",
    "--mantine-color-error": "#ff8a80",
    "--mantine-color-placeholder": "#8f9ca3",
    "--surface": "#171d21",
    "--surface-sunken": "#12171a",
    "--border": "#2a3338",
    "--focus": "#75b7c5",
  },
});
