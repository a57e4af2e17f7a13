import { useMemo } from "preact/hooks";
import type { Texts } from "../texts/texts.ts";
import { groupZones, toZoneName } from "../times/zones.ts";
import { Icon } from "./icon.tsx";

/** A plain select: every browser and screen reader supports it, and typing finds a city. */
export function ZoneSelect(props: {
  texts: Texts;
  suggested: readonly string[];
  selected: string;
  /** Only says which one it is. */
  isLocked: boolean;
  onSelect: (zone: string) => void;
}) {
  const { texts, selected } = props;
  const suggested = [...new Set([selected, ...props.suggested])];
  const groups = useMemo(() => groupZones(Intl.supportedValuesOf("timeZone")), []);
  const toOption = (zone: string) => (
    <option key={zone} value={zone}>
      {toZoneName(zone)}
    </option>
  );
  if (props.isLocked)
    return (
      <p class="zone">
        <Icon name="globe" />
        <span class="zone-label">{texts.timeZone}</span> {toZoneName(selected)}
      </p>
    );
  return (
    <label class="zone">
      <Icon name="globe" />
      <span class="zone-label">{texts.timeZone}</span>
      <select value={selected} onChange={(event) => props.onSelect(event.currentTarget.value)}>
        <optgroup label={texts.suggestedZones}>{suggested.map(toOption)}</optgroup>
        {groups.map(({ label, zones }) => (
          <optgroup key={label} label={label}>
            {zones.filter((zone) => !suggested.includes(zone)).map(toOption)}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
