import { DEVICES, type Device } from "#contract/analytics/dimensions.ts";
import { STEPS } from "#contract/analytics/steps.ts";
import { type OrganizationId, parseWidgetId } from "#contract/ids.ts";
import { ImportedEvent } from "#contract/imported-lines.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { shapeOf } from "../../lib/shape.ts";
import { parseJsonText } from "../../lib/text/json-text.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import { readAttribution } from "../classify/attribution.ts";
import { VisitClassifier } from "../classify/classify-visit.ts";
import { parseCountry } from "../classify/country.ts";
import { toPage } from "../classify/page.ts";
import { type Conversion, type Hit, toStepBit, type VisitClass } from "../record/hit.ts";

const schema = shapeOf(ImportedEvent);

const FAULTS: Readonly<Record<string, string>> = {
  widgetId: "widgetId is not a widget ID",
  visitId: "visitId is not a UUID",
  step: `step is not one of ${STEPS.join(", ")}`,
  at: "at is not a valid date",
};

const CLASSES_KEPT = 1_000;
const PAGES_KEPT = 1_000;

/** Converts lines to hits. Most lines of a file share a few classes and pages, which are computed once. */
export class EventParser {
  readonly #classifier = new VisitClassifier();
  readonly #classes = new RecentMap<string, VisitClass>(CLASSES_KEPT);
  readonly #pages = new RecentMap<string, string>(PAGES_KEPT);

  parse(line: string, { owner, now }: { owner: OrganizationId; now: Date }): { hit: Hit } | { fault: string } {
    const parsed = parseJsonText(line);
    if ("fault" in parsed) return parsed;
    const event = parsed.value;
    if (!schema.Check(event)) return { fault: describeFault(event) };

    const widgetId = parseWidgetId(event.widgetId);
    const at = parseIsoInstant(event.at, "down");
    const conversion = at && toConversion(event, at);
    if (!widgetId) return { fault: "widgetId is not a widget ID" };
    if (!at || !conversion) return { fault: "at is not a valid date" };
    if (at > now) return { fault: "at is in the future" };
    if ("fault" in conversion) return conversion;
    const { source, medium, campaign, channel } = this.#classify(event);
    return {
      hit: {
        // One by one: spreading takes as long as reading the JSON.
        source,
        medium,
        campaign,
        channel,
        organizationId: owner,
        widgetId,
        visitId: event.visitId.toLowerCase(),
        at,
        steps: toStepBit(event.step),
        page: event.page ? this.#toPage(event.page) : "",
        device: toDevice(event.device ?? ""),
        country: parseCountry(event.country ?? undefined),
        conversion: conversion.value,
      },
    };
  }

  /** Classified like a tagged link, because nothing else is known: without tags, it is direct. */
  #classify({ source, medium, campaign }: ImportedEvent): VisitClass {
    // With the lengths, so that no tag can be mistaken for a part of another.
    const name = `${source?.length ?? 0} ${medium?.length ?? 0} ${source ?? ""}${medium ?? ""}${campaign ?? ""}`;
    const known = this.#classes.get(name);
    if (known) return known;
    const raw = readAttribution({ utmSource: source, utmMedium: medium, utmCampaign: campaign });
    const { isSpam: _, ...named } = this.#classifier.classify({ raw, page: "", ownHosts: [] });
    this.#classes.set(name, named);
    return named;
  }

  #toPage(address: string): string {
    const known = this.#pages.get(address);
    if (known !== undefined) return known;
    const page = toPage(address);
    this.#pages.set(address, page);
    return page;
  }
}

/**
 * The file does not identify bookings, so their instants tell them apart. A start or service on any other step is ignored,
 * because exports often repeat them on every row of a visit.
 */
function toConversion(
  { step, start, service }: ImportedEvent,
  at: Date,
): { value: Conversion | null } | { fault: string } {
  if (step !== "booking_completed" && step !== "booking_failed") return { value: null };
  const key = at.toISOString();
  if (step === "booking_failed") return { value: { step, key, startAt: null } };
  const startAt = typeof start === "string" ? parseIsoInstant(start, "down") : null;
  if (typeof start === "string" && !startAt) return { fault: "start is not a valid date" };
  return { value: { step, key, startAt, ...(service ? { service } : {}) } };
}

function toDevice(text: string): Device | "" {
  if (text === "") return "";
  return DEVICES.find((device) => device === text.toLowerCase()) ?? "other";
}

function describeFault(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is not an object";
  const [first] = schema.Errors(value);
  if (first?.keyword === "required") return `${first.params.requiredProperties[0]} is missing`;
  const member = first?.instancePath.slice(1) ?? "";
  return FAULTS[member] ?? `${member} is not a string`;
}
