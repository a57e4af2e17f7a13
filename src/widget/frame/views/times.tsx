import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import type { Texts } from "../texts/texts.ts";
import type { Formats } from "../times/formats.ts";
import { groupByPartOfDay } from "../times/part-of-day.ts";

/** The available times of one day as radio buttons: arrow keys move, and nothing happens before Continue. */
export function Times(props: {
  texts: Texts;
  formats: Formats;
  timeZone: string;
  legend: string;
  slots: readonly FreeSlot[];
  selected: FreeSlot | null;
  onSelect: (slot: FreeSlot) => void;
}) {
  const { slots, selected, formats } = props;
  const names = slots.map(({ start }) => formats.time(Date.parse(start)));
  const toName = (slot: FreeSlot) => {
    const atMs = Date.parse(slot.start);
    const name = formats.time(atMs);
    // When clocks go back, one hour occurs twice.
    return names.indexOf(name) === names.lastIndexOf(name) ? name : formats.timeWithOffset(atMs);
  };
  return (
    <fieldset class="times">
      <legend>{props.legend}</legend>
      {groupByPartOfDay(props).map(({ label, members }) => (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: where it has a label it is a group
        <div
          key={label ?? ""}
          class="times-group"
          role={label === null ? undefined : "group"}
          aria-label={label ?? undefined}
        >
          {label !== null && (
            <p class="times-label" aria-hidden="true">
              {label}
            </p>
          )}
          <div class="times-grid">
            {members.map((slot) => (
              <label key={slot.start} class="time">
                <input
                  type="radio"
                  name="time"
                  value={slot.start}
                  checked={slot.start === selected?.start}
                  onChange={() => props.onSelect(slot)}
                />
                <span>{toName(slot)}</span>
              </label>
            ))}
          </div>
        </div>
      ))}
    </fieldset>
  );
}
