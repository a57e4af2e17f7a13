type ZoneGroup = { readonly label: string; readonly zones: readonly string[] };

export function groupZones(zones: readonly string[]): ZoneGroup[] {
  const groups = new Map<string, string[]>();
  for (const zone of [...zones].sort()) {
    const label = zone.includes("/") ? (zone.split("/", 1)[0] ?? zone) : "UTC";
    groups.set(label, [...(groups.get(label) ?? []), zone]);
  }
  return [...groups].map(([label, members]) => ({ label, zones: members }));
}

export function toZoneName(zone: string): string {
  const parts = zone.split("/").slice(zone.includes("/") ? 1 : 0);
  return parts.reverse().join(", ").replaceAll("_", " ");
}

/** The browser's time zone; null if it reports an unknown name. */
export function findOwnZone(): string | null {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return Intl.supportedValuesOf("timeZone").includes(timeZone) || timeZone === "UTC" ? timeZone : null;
}
