import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { widgetsQuery } from "../api/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { MODE_NAMES } from "./mode/ModeBadge.tsx";

type WidgetSelectProps = {
  value: string;
  onChange: (widget: string) => void;
  /** Shows the label, for use beside other labelled fields. */
  hasLabel?: boolean;
};

/** Filters a screen by widget; an empty string means all widgets. Several have a line each, and can only be shown here. */
export function WidgetSelect({ value, onChange, hasLabel = false }: WidgetSelectProps) {
  const { id } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const known = (widgets.data?.data ?? []).map((widget) => ({
    value: widget.id,
    label: widget.mode === "live" ? widget.name : `${widget.name} (${MODE_NAMES[widget.mode].toLowerCase()})`,
  }));
  const isKnown = value === "" || known.some((option) => option.value === value);
  const count = value.split("\n").length;
  return (
    <Select
      {...(hasLabel ? { label: "Widget" } : { "aria-label": "Widget" })}
      data={[
        { value: ALL, label: "All widgets" },
        ...known,
        ...(isKnown ? [] : [{ value, label: count > 1 ? `${count} widgets` : value }]),
      ]}
      value={value === "" ? ALL : value}
      onChange={(chosen) => onChange(chosen === null || chosen === ALL ? "" : chosen)}
      allowDeselect={false}
      searchable={known.length > SEARCHABLE_ABOVE}
      w={{ base: "100%", xs: "13rem" }}
    />
  );
}

/** Not a widget's id. */
const ALL = "all";
const SEARCHABLE_ABOVE = 8;
