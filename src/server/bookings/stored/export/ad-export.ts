import { createHash } from "node:crypto";
import type { AdPlatform } from "#contract/app/ad-exports.ts";
import { BOOKING_STATUS_CANCELLED } from "#contract/bookings/booking.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import type { AppBookingFilter } from "../list/app-queries.ts";
import type { BookingRow } from "../queries.ts";
import { noteGoogleExport, readRetractions } from "./ad-export-queries.ts";
import { readBookingPieces } from "./export.ts";

// Bookings as ad platforms import them. Test bookings, and bookings without an id for the platform, are left out. Cancelled ones are only
// in the file of retractions. The platforms' own pages are named where they were seen. The names GBRAID, WBRAID and Order ID, Microsoft's
// line of column names and Meta's column names come from public code that uploads such files.
//
//   Google Ads             conversions from clicks. The first column must be "Google Click ID". With an offset of four digits in
//                          each time, there is no "Parameters" row: support.google.com/google-ads/answer/7014069
//                          One id a line: developers.google.com/google-ads/api/docs/conversions/upload-clicks
//          Retractions     RETRACT is the file's word; the API's is RETRACTION. The six columns, the time and that word are those of
//                          public code whose files Google accepted. A conversion is found by its Order ID; one that was already
//                          retracted is ignored: support.google.com/google-ads/answer/7686280. Not with WBRAID alone:
//                          developers.google.com/google-ads/api/docs/conversions/upload-adjustments. Not after 54 days
//                          (CONVERSION_EXPIRED): …/reference/rpc/v24/ConversionAdjustmentUploadErrorEnum.ConversionAdjustmentUploadError
//   Microsoft Advertising  offline conversions. The offset is in the "Parameters" row: help.ads.microsoft.com/#apex/ads/en/56852/2
//                          Times are like 4/1/2020 6:50:54 PM: learn.microsoft.com/advertising/bulk-service/offline-conversion
//   Meta                   offline events. Email addresses are trimmed, in lower case and hashed; fbc and fbp are not hashed:
//                          developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters
//                          The loader makes fbc from fbclid if there is no cookie, as in …/parameters/fbp-and-fbc

type AdFile = {
  /** The lines before the bookings. */
  head: readonly (readonly string[])[];
  /** Null leaves the booking out. */
  toCells(row: BookingRow, conversionName: string): readonly string[] | null;
};

const AD_FILES: Readonly<Record<Exclude<AdPlatform, "google-retractions">, AdFile>> = {
  google: {
    head: [
      [
        "Google Click ID",
        "GBRAID",
        "WBRAID",
        "Conversion Name",
        "Conversion Time",
        "Conversion Value",
        "Conversion Currency",
        "Order ID",
      ],
    ],
    toCells({ attribution, created_at, reference }, conversionName) {
      const [gclid, gbraid, wbraid] = [attribution.gclid, attribution.gbraid, attribution.wbraid].map(toId);
      // Google refuses a line with two of them (GBRAID_WBRAID_BOTH_SET, VALUE_MUST_BE_UNSET).
      const ids = gclid ? [gclid, "", ""] : gbraid ? ["", gbraid, ""] : ["", "", wbraid ?? ""];
      if (ids.join("") === "") return null;
      return [...ids, conversionName, toGoogleTime(created_at), "", "", reference];
    },
  },
  microsoft: {
    head: [
      ["Parameters:TimeZone=+0000"],
      ["Microsoft Click ID", "Conversion Name", "Conversion Time", "Conversion Value", "Conversion Currency"],
    ],
    toCells({ attribution, created_at }, conversionName) {
      const msclkid = toId(attribution.msclkid);
      return msclkid === "" ? null : [msclkid, conversionName, toMicrosoftTime(created_at), "", ""];
    },
  },
  meta: {
    head: [["event_name", "event_time", "email", "fbc", "fbp", "order_id"]],
    toCells({ attribution, created_at, customer_email, reference }, conversionName) {
      const [fbc, fbp] = [toId(attribution.fbc), toId(attribution.fbp)];
      if (fbc + fbp === "") return null;
      const seconds = String(Math.floor(created_at.getTime() / 1000));
      return [conversionName, seconds, hashEmail(customer_email), fbc, fbp, reference];
    },
  },
};

type AdExport = {
  filter: Omit<AppBookingFilter, "limit">;
  platform: AdPlatform;
  conversionName: string;
  now: Date;
};

export async function* exportForAds(db: Db, owner: OrganizationId, wanted: AdExport): AsyncGenerator<string> {
  const { filter, platform, conversionName, now } = wanted;
  if (platform === "google-retractions") return yield* exportRetractions(db, owner, { filter, now });
  const { head, toCells } = AD_FILES[platform];
  yield head.map(toLine).join("");
  for await (const rows of readBookingPieces(db, owner, filter)) {
    const exported = rows
      .filter((row) => !row.is_test && row.status !== BOOKING_STATUS_CANCELLED)
      .flatMap((row) => {
        const cells = toCells(row, conversionName);
        return cells ? [{ reference: row.reference, line: toLine(cells) }] : [];
      });
    if (exported.length === 0) continue;
    // Before it is sent: what the platform may have got must be retracted, even if the download breaks off.
    const references = exported.map(({ reference }) => reference);
    if (platform === "google") await noteGoogleExport(db, owner, { references, conversionName });
    yield exported.map(({ line }) => line).join("");
  }
}

/** Google refuses to retract older conversions. */
const RETRACTABLE_MS = 54 * DAY_MS;

async function* exportRetractions(
  db: Db,
  owner: OrganizationId,
  { filter, now }: Pick<AdExport, "filter" | "now">,
): AsyncGenerator<string> {
  yield toLine([
    "Order ID",
    "Conversion Name",
    "Adjustment Time",
    "Adjustment Type",
    "Adjusted Value",
    "Adjusted Value Currency",
  ]);
  const oldest = new Date(now.getTime() - RETRACTABLE_MS);
  const createdFrom = filter.createdFrom > oldest ? filter.createdFrom : oldest;
  const cancelled = { ...filter, createdFrom, status: BOOKING_STATUS_CANCELLED } as const;
  for await (const rows of readBookingPieces(db, owner, cancelled)) {
    const found = await readRetractions(
      db,
      owner,
      rows.filter(isRetractable).map(({ reference }) => reference),
    );
    const lines = found.map(({ reference, conversionName, cancelledAt }) =>
      toLine([reference, conversionName, toGoogleTime(cancelledAt), "RETRACT", "", ""]),
    );
    if (lines.length > 0) yield lines.join("");
  }
}

function isRetractable({ attribution: { gclid, gbraid } }: BookingRow): boolean {
  return toId(gclid) + toId(gbraid) !== "";
}

/** The characters of real ids. Anybody can write others into an address, even a formula for the reader's spreadsheet. */
function toId(text: string | undefined): string {
  return text !== undefined && /^[\w.-]+$/.test(text) ? text : "";
}

/** An id may begin with "-", so cells are not guarded like those of lib/text/csv.ts: the platform would not recognise it. */
function toLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`;
}

/** 2026-11-01 12:00:00+0000 */
function toGoogleTime(at: Date): string {
  return `${at.toISOString().slice(0, "2026-11-01T12:00:00".length).replace("T", " ")}+0000`;
}

/** 11/1/2026 6:05:03 PM */
function toMicrosoftTime(at: Date): string {
  const hours = at.getUTCHours();
  const day = `${at.getUTCMonth() + 1}/${at.getUTCDate()}/${at.getUTCFullYear()}`;
  return `${day} ${hours % 12 || 12}${at.toISOString().slice("2026-11-01T12".length, -".000Z".length)} ${hours < 12 ? "AM" : "PM"}`;
}

/** As Meta asks: without surrounding spaces, in lower case, SHA-256 in hexadecimal digits. */
function hashEmail(email: string): string {
  return createHash("sha256").update(email.trim().toLowerCase()).digest("hex");
}
