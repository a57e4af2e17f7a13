import type { Theme } from "#contract/widgets/frame-messages.ts";
import { toAccentColors } from "./accent.ts";

// Sets colours and corners as custom properties, which the stylesheets use.

/** As in base.css: the background with the lowest contrast. */
const GROUNDS = { light: "#f2f2f2", dark: "#1e2430" } as const;

const DEFAULT_ACCENT = "#4b45d6";

/** The widget's own settings; null: the template's. */
export type WidgetLook = {
  accent: string | null;
  radius: number | null;
  /** One or more names, as in a style. */
  font: string | null;
};

export class Look {
  readonly #root: HTMLElement;
  readonly #wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
  readonly #widgetLook: WidgetLook;
  #theme: Theme;

  constructor(root: HTMLElement, options: { widgetLook: WidgetLook; theme: Theme }) {
    this.#root = root;
    this.#widgetLook = options.widgetLook;
    this.#theme = options.theme;
    this.#wantsDark.addEventListener("change", () => this.#apply());
    this.#apply();
  }

  change(theme: Theme): void {
    this.#theme = { ...this.#theme, ...theme };
    this.#apply();
  }

  #apply(): void {
    const { mode = "auto" } = this.#theme;
    // What the page asks for goes before the widget's settings.
    const accent = this.#theme.accent ?? this.#widgetLook.accent ?? DEFAULT_ACCENT;
    const radius = this.#theme.radius ?? this.#widgetLook.radius;
    const scheme = mode === "auto" ? (this.#wantsDark.matches ? "dark" : "light") : mode;
    this.#root.dataset["scheme"] = scheme;
    const colors = toAccentColors(accent, GROUNDS[scheme]);
    this.#root.style.setProperty("--accent", colors.fill);
    this.#root.style.setProperty("--on-accent", colors.onFill);
    this.#root.style.setProperty("--accent-ink", colors.ink);
    if (radius !== null) this.#root.style.setProperty("--radius", `${radius}px`);
    const { font } = this.#widgetLook;
    if (font !== null) this.#root.style.setProperty("--page-font", font);
  }
}
