import { Select, type SelectProps } from "@mantine/core";
import { useMemo } from "react";
import { toCurrentZone } from "#contract/zone-names.ts";
import { formatZone } from "../../format.ts";

const SHOWN_MAX = 80;

/** The reader's own time zone. */
export function guessTimeZone(): string {
  return toCurrentZone(Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** All time zones that the browser knows, with their current offset from UTC. Searchable by city. */
export function TimeZoneSelect(props: Omit<SelectProps, "data">) {
  const current = props.value ?? props.defaultValue ?? "";
  const data = useMemo(() => {
    const zones = new Set([
      ...Intl.supportedValuesOf("timeZone").map(toCurrentZone),
      "UTC",
      ...(current === "" ? [] : [current]),
    ]);
    return [...zones].map((zone) => ({ value: zone, label: `${formatZone(zone)} (${offsetOf(zone)})` }));
  }, [current]);
  return (
    <Select
      data={data}
      searchable
      limit={SHOWN_MAX}
      allowDeselect={false}
      nothingFoundMessage="No matches. Try the nearest large city."
      {...props}
    />
  );
}

function offsetOf(timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "shortOffset" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}
