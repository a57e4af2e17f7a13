import type { Template, WidgetStatus } from "#contract/widget.ts";

// What the words of the contract mean to whoever sets a widget up.

export const TEMPLATES: Record<Template, { name: string; meaning: string }> = {
  classic: { name: "Classic", meaning: "Calendar and times side by side, in a card." },
  compact: { name: "Compact", meaning: "Tight spacing, for sidebars and small pages." },
  minimal: { name: "Minimal", meaning: "No card and no lines: it takes on the look of the page." },
};

export const STATUS_NAMES: Record<WidgetStatus, string> = { active: "Active", paused: "Paused" };
export const STATUS_COLORS: Record<WidgetStatus, string> = { active: "green", paused: "yellow" };

export const SANDBOX_NAME = "Sandbox";
