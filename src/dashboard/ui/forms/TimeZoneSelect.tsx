import { Select, type SelectProps } from "@mantine/core";
import { useMemo } from "react";
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

// Browsers list some time zones under names that were replaced long ago. People look for the current ones.

const RENAMED: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

function toCurrentZone(zone: string): string {
  return RENAMED[zone] ?? zone;
}
