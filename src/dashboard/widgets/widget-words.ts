import type { Template, WidgetStatus } from "#contract/widget.ts";

// Names and descriptions of templates and statuses.

export const TEMPLATES: Record<Template, { name: string; meaning: string }> = {
  classic: { name: "Classic", meaning: "A card with calendar and times side by side." },
  compact: { name: "Compact", meaning: "Tighter spacing for sidebars and small pages." },
  minimal: { name: "Minimal", meaning: "No card or borders. Blends into your page." },
};

export const STATUS_NAMES: Record<WidgetStatus, string> = { active: "Active", paused: "Paused" };
export const STATUS_COLORS: Record<WidgetStatus, string> = { active: "green", paused: "gray" };
