import cldr from "cldr-core/supplemental/windowsZones.json" with { type: "json" };
import { MINUTE_MS } from "#contract/durations.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import type { DateTimeTimeZone, Times } from "./shapes.ts";

/** Ten years. A longer duration would lead to dates that don't exist. */
const DURATION_MINUTES_MAX = 10 * 365 * 24 * 60;

/** `PT1H30M`, `P365D`; ten years at most. Null for anything that is not a duration of fixed length. */
export function toMinutes(duration: string | null | undefined): number | null {
  if (duration === null || duration === undefined) return null;
  try {
    const minutes = Temporal.Duration.from(duration).total("minutes");
    return Math.min(Math.max(minutes, -DURATION_MINUTES_MAX), DURATION_MINUTES_MAX);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Graph writes seven fractional digits, and usually names the zone beside the time instead of adding an offset. */
export function toInstant(time: DateTimeTimeZone): Date | null {
  try {
    if (/(Z|[+-]\d{2}:?\d{2})$/i.test(time.dateTime)) {
      return new Date(Temporal.Instant.from(time.dateTime).epochMilliseconds);
    }
    const timeZone = toIanaZone(time.timeZone ?? "UTC");
    if (timeZone === null) return null;
    return new Date(Temporal.PlainDateTime.from(time.dateTime).toZonedDateTime(timeZone).epochMilliseconds);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function toStart(times: Times): Date | null {
  return toInstant("start" in times ? times.start : times.startDateTime);
}

export function toEnd(times: Times): Date | null {
  return toInstant("end" in times ? times.end : times.endDateTime);
}

/** The format of a new appointment's times. */
export function toGraphTime(instant: Date): { "@odata.type": string; dateTime: string; timeZone: "UTC" } {
  return {
    "@odata.type": "#microsoft.graph.dateTimeTimeZone",
    dateTime: instant.toISOString().replace(/Z$/, "0000+00:00"),
    timeZone: "UTC",
  };
}

/** The format of the times of an availability request: whole minutes, rounded so that nothing is left out. */
export function toGraphMinute(instant: Date, rounding: "down" | "up"): { dateTime: string; timeZone: "UTC" } {
  const round = rounding === "down" ? Math.floor : Math.ceil;
  const rounded = new Date(round(instant.getTime() / MINUTE_MS) * MINUTE_MS);
  return { dateTime: rounded.toISOString().slice(0, 19), timeZone: "UTC" };
}

// Microsoft names time zones by Windows id (`W. Europe Standard Time`), by IANA name, or by the title that Windows shows
// (`(UTC+01:00) Amsterdam, Berlin, …`). Ids come from the Unicode CLDR. Titles are in no maintained table, but they consist
// of an offset and of places, which the time zone database knows; a title whose places disagree is not understood.

/** CLDR lists one row per territory; 001 is the world, the default of a Windows zone. */
const WORLD = "001";

const IANA_BY_WINDOWS_ID: ReadonlyMap<string, string> = new Map(
  cldr.supplemental.windowsZones.mapTimezones
    .map(({ mapZone }) => mapZone)
    .filter(({ _territory }) => _territory === WORLD)
    .map(({ _other, _type }) => [_other, _type]),
);

/** Each row names one or several zones. */
const WINDOWS_ID_BY_IANA: ReadonlyMap<string, string> = new Map(
  cldr.supplemental.windowsZones.mapTimezones.flatMap(({ mapZone }) =>
    mapZone._type.split(" ").map((zone) => [zone, mapZone._other] as const),
  ),
);

const AREAS = ["Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific", "US", "Canada"];

/** Places in titles that the time zone database has no zone for. Titles of all Windows zones are in windows-titles.test.ts. */
const PLACES: readonly (readonly [place: string, windowsId: string])[] = [
  ["Aleutian Islands", "Aleutian Standard Time"],
  ["Astana", "Qyzylorda Standard Time"],
  // Until 2024, when Kazakhstan changed its clocks.
  ["Astana", "Central Asia Standard Time"],
  ["Baja California", "Pacific Standard Time (Mexico)"],
  ["Bougainville Island", "Bougainville Standard Time"],
  ["Brasilia", "E. South America Standard Time"],
  ["Cabo Verde Is.", "Cape Verde Standard Time"],
  ["Cape Verde Is.", "Cape Verde Standard Time"],
  ["Chetumal", "Eastern Standard Time (Mexico)"],
  ["Chokurdakh", "Russia Time Zone 10"],
  ["Indiana (East)", "US Eastern Standard Time"],
  ["International Date Line West", "Dateline Standard Time"],
  ["Kiritimati Island", "Line Islands Standard Time"],
  ["Lord Howe Island", "Lord Howe Standard Time"],
  ["Marquesas Islands", "Marquesas Standard Time"],
  ["Norfolk Island", "Norfolk Standard Time"],
  ["Nuku'alofa", "Tonga Standard Time"],
  // The name of Astana from 2019 to 2022.
  ["Nur-Sultan", "Central Asia Standard Time"],
  ["Port Louis", "Mauritius Standard Time"],
  ["Saint Pierre and Miquelon", "Saint Pierre Standard Time"],
  ["Salvador", "Bahia Standard Time"],
  ["Solomon Is.", "Central Pacific Standard Time"],
  ["Sri Jayawardenepura", "Sri Lanka Standard Time"],
  ["Turks and Caicos", "Turks And Caicos Standard Time"],
  ["Ulaan Bataar", "Ulaanbaatar Standard Time"],
  ["West Central Africa", "W. Central Africa Standard Time"],
];

/** Windows' longest title has about 70 characters. */
const NAME_LENGTH_MAX = 200;
/** Every appointment names its zone, and titles take long to understand. */
const understood = new RecentMap<string, string | null>(1_000);

/** The IANA name, or null for a name that is not understood. */
export function toIanaZone(name: string): string | null {
  if (name.length > NAME_LENGTH_MAX) return null;
  const known = understood.get(name);
  if (known !== undefined) return known;
  const zone = parseZone(name);
  understood.set(name, zone);
  return zone;
}

const windowsIds = new RecentMap<string, string | null>(1_000);

/** The Windows id of an IANA zone. The CLDR knows a zone by one of its names only, often an older one: Asia/Calcutta. */
export function toWindowsZone(zone: string): string | null {
  const known = WINDOWS_ID_BY_IANA.get(zone) ?? windowsIds.get(zone);
  if (known !== undefined) return known;
  const epoch = Temporal.Instant.fromEpochMilliseconds(0);
  const here = parseTimeZone(zone) === null ? null : epoch.toZonedDateTimeISO(zone);
  const alias = [...WINDOWS_ID_BY_IANA].find(
    ([name]) => parseTimeZone(name) !== null && here?.equals(epoch.toZonedDateTimeISO(name)),
  );
  const id = alias?.[1] ?? null;
  windowsIds.set(zone, id);
  return id;
}

function parseZone(name: string): string | null {
  const [, offset, title] = /^\(UTC([+-]\d\d:\d\d)?\)\s*(.*)$/.exec(name.trim()) ?? [];
  if (title === undefined) return parseTimeZone(name.trim()) ?? findById(name.trim());
  const places = title.split(/,\s*/).flatMap((place) => [place, place.replace(/\s*\(.*\)$/, "")]);
  const zones = places.flatMap(findByPlace).filter((zone) => toStandardOffset(zone) === (offset ?? "+00:00"));
  const [first] = zones;
  return first !== undefined && zones.every((zone) => hasSameClock(zone, first)) ? first : null;
}

function findById(id: string): string | null {
  const zone = IANA_BY_WINDOWS_ID.get(id);
  return zone === undefined ? null : parseTimeZone(zone);
}

/**
 * `Pacific Time` is `Pacific Standard Time`, `Greenland` is `Greenland Standard Time`, `Coordinated Universal Time-11` is
 * `UTC-11`, and cities have zones.
 */
function findByPlace(place: string): string[] {
  if (place === "Coordinated Universal Time") return ["UTC"];
  const ids = [
    ...PLACES.filter(([name]) => name === place).map(([, id]) => id),
    place.replace(/^Coordinated Universal Time/, "UTC"),
    `${place.replace(/ Time$/, "")} Standard Time`,
  ];
  const cities = AREAS.map((area) => `${area}/${place.replace(/^City of /, "").replaceAll(" ", "_")}`);
  return [...ids.map(findById), ...cities.map(parseTimeZone)].filter((zone) => zone !== null);
}

/** Titles carry the offset outside of summer time, which is the smaller one in either hemisphere. */
function toStandardOffset(zone: string): string {
  const [winter, summer] = toOffsets(zone);
  return winter.offsetNanoseconds < summer.offsetNanoseconds ? winter.offset : summer.offset;
}

function hasSameClock(zone: string, other: string): boolean {
  const [winter, summer] = toOffsets(zone);
  const [otherWinter, otherSummer] = toOffsets(other);
  return winter.offset === otherWinter.offset && summer.offset === otherSummer.offset;
}

function toOffsets(zone: string): [Temporal.ZonedDateTime, Temporal.ZonedDateTime] {
  const at = (instant: string) => Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
  return [at("2026-01-15T12:00Z"), at("2026-07-15T12:00Z")];
}
