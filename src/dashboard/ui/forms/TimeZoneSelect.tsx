import { Select, type SelectProps } from "@mantine/core";
import { useMemo } from "react";

const SHOWN_MAX = 80;

/** The zone of whoever looks at the page. */
export function guessTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** All zones the browser knows, with their distance from UTC now; found by city. */
export function TimeZoneSelect(props: Omit<SelectProps, "data">) {
  const current = props.value ?? props.defaultValue ?? "";
  const data = useMemo(() => {
    const zones = new Set([...Intl.supportedValuesOf("timeZone"), "UTC", ...(current === "" ? [] : [current])]);
    return [...zones].map((zone) => ({ value: zone, label: `${zone.replaceAll("_", " ")} (${offsetOf(zone)})` }));
  }, [current]);
  return (
    <Select
      data={data}
      searchable
      limit={SHOWN_MAX}
      allowDeselect={false}
      nothingFoundMessage="No such time zone. Try the nearest large city."
      {...props}
    />
  );
}

function offsetOf(timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "shortOffset" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}
