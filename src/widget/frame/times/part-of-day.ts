import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import type { Texts } from "../texts/texts.ts";
import { toHour } from "./days.ts";

const AFTERNOON_HOUR = 12;
/** Longer lists are split into morning, afternoon and evening. */
const UNGROUPED_MAX = 8;

type PartOfDay = { readonly label: string | null; readonly members: readonly FreeSlot[] };

/** The available times of one day. The label is null if the list isn't split. */
export function groupByPartOfDay({
  texts,
  timeZone,
  slots,
}: {
  texts: Pick<Texts, "morning" | "afternoon" | "evening" | "eveningHour">;
  timeZone: string;
  slots: readonly FreeSlot[];
}): PartOfDay[] {
  if (slots.length <= UNGROUPED_MAX) return [{ label: null, members: slots }];
  const listBetween = (fromHour: number, toHourExclusive: number) =>
    slots.filter(({ start }) => {
      const hour = toHour(Date.parse(start), timeZone);
      return hour >= fromHour && hour < toHourExclusive;
    });
  return [
    { label: texts.morning, members: listBetween(0, AFTERNOON_HOUR) },
    { label: texts.afternoon, members: listBetween(AFTERNOON_HOUR, texts.eveningHour) },
    { label: texts.evening, members: listBetween(texts.eveningHour, 24) },
  ].filter(({ members }) => members.length > 0);
}
