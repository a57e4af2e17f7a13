import type { Theme } from "../messages.ts";
import { toAccentColors } from "./accent.ts";

// Sets colours and corners as custom properties, which the stylesheets use.

/** As in base.css: the background with the lowest contrast. */
const GROUNDS = { light: "#f5f7fa", dark: "#1e2430" } as const;

const DEFAULT_ACCENT = "#4b45d6";

export class Look {
  readonly #root: HTMLElement;
  readonly #wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
  readonly #widgetAccent: string | null;
  #theme: Theme;

  constructor(root: HTMLElement, options: { widgetAccent: string | null; theme: Theme }) {
    this.#root = root;
    this.#widgetAccent = options.widgetAccent;
    this.#theme = options.theme;
    this.#wantsDark.addEventListener("change", () => this.#apply());
    this.#apply();
  }

  change(theme: Theme): void {
    this.#theme = { ...this.#theme, ...theme };
    this.#apply();
  }

  #apply(): void {
    const { accent, mode = "auto", radius } = this.#theme;
    const scheme = mode === "auto" ? (this.#wantsDark.matches ? "dark" : "light") : mode;
    this.#root.dataset["scheme"] = scheme;
    const colors = toAccentColors(accent ?? this.#widgetAccent ?? DEFAULT_ACCENT, GROUNDS[scheme]);
    this.#root.style.setProperty("--accent", colors.fill);
    this.#root.style.setProperty("--on-accent", colors.onFill);
    this.#root.style.setProperty("--accent-ink", colors.ink);
    if (radius !== undefined) this.#root.style.setProperty("--radius", `${radius}px`);
  }
}
