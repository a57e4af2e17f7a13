import type { Attribution } from "#contract/analytics/attribution.ts";
import { type ClickIdField, LINK_PARAMETERS, toLinkField } from "#contract/analytics/attribution-fields.ts";
import { DAY_MS, SECOND_MS } from "#contract/durations.ts";
import { BASE62, HEX } from "#contract/ids.ts";
import { type Classification, classifySource } from "../analytics/analytics.ts";
import { randomText, randomUuid } from "../lib/secrets/random.ts";
import { DEMO_SITE } from "./clinic.ts";
import type { Dice } from "./dice.ts";
import type { TrafficSource } from "./traffic-sources.ts";

// The attribution of a demo booking. It matches the visit's funnel events, because both are classified by the same function.

type ClickId = { readonly [Field in ClickIdField]?: string };

/** Click ids in each network's own format. */
const CLICK_IDS: Readonly<Record<ClickIdField, (dice: Dice) => string>> = {
  gclid: (dice) => `Cj0KCQ${randomText(dice, BASE62, 40)}`,
  gbraid: (dice) => `0AAAAA${randomText(dice, BASE62, 26)}`,
  wbraid: (dice) => `Cl8KCQ${randomText(dice, BASE62, 30)}`,
  fbclid: (dice) => `IwY2xj${randomText(dice, BASE62, 48)}`,
  msclkid: (dice) => randomText(dice, HEX, 32),
  liFatId: (dice) => randomUuid(dice),
  ttclid: (dice) => `E.C.P.${randomText(dice, BASE62, 40)}`,
};

export function classifyWay({ source, medium, campaign }: TrafficSource): Classification {
  const tags = {
    ...(source ? { utmSource: source } : {}),
    ...(medium ? { utmMedium: medium } : {}),
    ...(campaign ? { utmCampaign: campaign } : {}),
  };
  return classifySource(tags, { pageHosts: [], ownHosts: [] });
}

export function makeAttribution(dice: Dice, visit: { way: TrafficSource; page: string; at: Date }): Attribution {
  const { way, page, at } = visit;
  const { source, medium, campaign, channel } = classifyWay(way);
  const firstSeenMs = at.getTime() - Math.floor(dice.roll() ** 3 * 30 * DAY_MS) - dice.between(60, 600) * SECOND_MS;
  const clickId: ClickId = way.clickId && dice.falls(0.85) ? { [way.clickId]: CLICK_IDS[way.clickId](dice) } : {};
  return {
    source,
    medium,
    ...(campaign === null ? {} : { campaign }),
    channel,
    pageUrl: page,
    landingPage: toLandingPage(way, clickId),
    ...(way.referrer === undefined ? {} : { referrer: way.referrer }),
    ...toTags(way),
    ...clickId,
    ...makeBrowserIds(dice, { firstSeenMs, fbclid: clickId.fbclid }),
    firstSeenAt: new Date(firstSeenMs).toISOString(),
    currentPage: page,
    touches: 1 + Math.floor(dice.roll() ** 2 * 5),
  };
}

function toTags({ isTagged, source, medium, campaign, term }: TrafficSource): Attribution {
  if (!isTagged) return {};
  return {
    ...(source ? { utmSource: source } : {}),
    ...(medium ? { utmMedium: medium } : {}),
    ...(campaign ? { utmCampaign: campaign } : {}),
    ...(term ? { utmTerm: term } : {}),
  };
}

function toLandingPage(way: TrafficSource, clickId: ClickId): string {
  const fields: Attribution = { ...toTags(way), ...clickId };
  const query = new URLSearchParams();
  for (const parameter of LINK_PARAMETERS) {
    const value = fields[toLinkField(parameter)];
    if (value !== undefined) query.set(parameter, value);
  }
  return query.size === 0 ? `${DEMO_SITE}/` : `${DEMO_SITE}/?${query}`;
}

/** Google Analytics and Meta ids, for visitors who gave consent. */
function makeBrowserIds(dice: Dice, visitor: { firstSeenMs: number; fbclid: string | undefined }): Attribution {
  if (!dice.falls(0.55)) return {};
  const { firstSeenMs, fbclid } = visitor;
  return {
    gaClientId: `${dice.between(100_000_000, 1_999_999_999)}.${Math.floor(firstSeenMs / SECOND_MS)}`,
    ...(fbclid === undefined
      ? {}
      : {
          fbp: `fb.1.${firstSeenMs}.${dice.between(1_000_000_000, 1_999_999_999)}`,
          fbc: `fb.1.${firstSeenMs}.${fbclid}`,
        }),
  };
}
