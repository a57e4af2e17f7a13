import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { widgetsQuery } from "../api/queries.ts";
import { pluralize } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { MODE_NAMES } from "./mode/ModeBadge.tsx";

type WidgetSelectProps = {
  value: string;
  /** How many widgets another filter leaves out of all of them. */
  excluded?: number;
  onChange: (widget: string) => void;
};

/** Filters a screen by widget; an empty string means all widgets. Several have a line each, and can only be shown here. */
export function WidgetSelect({ value, excluded = 0, onChange }: WidgetSelectProps) {
  const { id } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const known = (widgets.data?.data ?? []).map((widget) => ({
    value: widget.id,
    label: widget.mode === "live" ? widget.name : `${widget.name} (${MODE_NAMES[widget.mode].toLowerCase()})`,
  }));
  const isKnown = value === "" || known.some((option) => option.value === value);
  const count = value.split("\n").length;
  const isAllBut = value === "" && excluded > 0;
  return (
    <Select
      aria-label="Widget"
      data={[
        { value: ALL, label: "All widgets" },
        ...known,
        ...(isAllBut ? [{ value: ALL_BUT, label: `All but ${pluralize(excluded, "widget")}` }] : []),
        ...(isKnown ? [] : [{ value, label: count > 1 ? `${count} widgets` : value }]),
      ]}
      value={isAllBut ? ALL_BUT : value || ALL}
      onChange={(chosen) => onChange(chosen === null || chosen === ALL ? "" : chosen)}
      allowDeselect={false}
      searchable={known.length > SEARCHABLE_ABOVE}
    />
  );
}

/** Not ids of widgets. */
const ALL = "all";
const ALL_BUT = "all but some";
const SEARCHABLE_ABOVE = 8;
