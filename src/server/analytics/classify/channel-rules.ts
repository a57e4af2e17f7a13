import { type Channel, NOT_SET } from "#contract/analytics/dimensions.ts";
import { findByName } from "./source-lookup.ts";
import type { SourceCategory } from "./source-tables.ts";

// Rules D1 to D20: Google Analytics' default channel group, in order and with its names. They differ from Google's definition in
// PAID_WORDS (Google: `.*cp.*|ppc|retargeting|paid.*`), EMAIL_WORDS (Google: the whole source or medium) and "affiliates"; webmail
// is Email, AI assistants are found by source, and Referral comes last. classify-source.ts differs where click ids and names of
// ads make a visit paid. docs/embedding.md lists all of it for page owners.

export const DIRECT_SOURCE = "(direct)";
export const NO_MEDIUM = "(none)";
export const AI_MEDIUM = "ai-assistant";

export type Tags = { readonly source: string; readonly medium: string; readonly campaign: string | null };

type Traffic = {
  readonly source: string;
  readonly medium: string;
  readonly campaign: string;
  readonly category: SourceCategory | null;
  readonly isPaid: boolean;
  /** GA4's SHOP: shop, e-shop, eshop, shopping; not workshop, barbershop, photoshop. */
  readonly isShopCampaign: boolean;
};

const PAID_WORDS = new Set([
  ...["cpc", "ppc", "cpm", "cpv", "cpa", "cpp", "cpl", "cpi"],
  ...["sem", "retargeting", "remarketing"],
]);
const DISPLAY_MEDIUMS = new Set(["display", "banner", "expandable", "interstitial", "cpm"]);
const SOCIAL_MEDIUMS = new Set(["social", "social-network", "social-media", "sm", "social network", "social media"]);
const EMAIL_WORDS = ["email", "e-mail", "e_mail", "e mail", "newsletter"];

/** Read from the top; the first rule that matches wins. */
const CHANNEL_RULES: readonly { channel: Channel; when: (traffic: Traffic) => boolean }[] = [
  { channel: "Direct", when: (t) => t.source === DIRECT_SOURCE && [NO_MEDIUM, NOT_SET].includes(t.medium) },
  { channel: "Cross-network", when: (t) => t.campaign.includes("cross-network") },
  { channel: "Paid Shopping", when: (t) => t.isPaid && (t.category === "shopping" || t.isShopCampaign) },
  { channel: "Paid Search", when: (t) => t.isPaid && t.category === "search" },
  { channel: "Paid Social", when: (t) => t.isPaid && t.category === "social" },
  { channel: "Paid Video", when: (t) => t.isPaid && t.category === "video" },
  { channel: "Display", when: (t) => DISPLAY_MEDIUMS.has(t.medium) },
  { channel: "Paid Other", when: (t) => t.isPaid },
  { channel: "AI Assistant", when: (t) => t.medium === AI_MEDIUM || t.category === "ai" },
  { channel: "Organic Shopping", when: (t) => t.category === "shopping" || t.isShopCampaign },
  { channel: "Organic Social", when: (t) => t.category === "social" || SOCIAL_MEDIUMS.has(t.medium) },
  { channel: "Organic Video", when: (t) => t.category === "video" || t.medium.includes("video") },
  { channel: "Organic Search", when: (t) => t.category === "search" || t.medium === "organic" },
  { channel: "Email", when: (t) => t.category === "email" || saysEmail(t.source) || saysEmail(t.medium) },
  { channel: "Affiliates", when: (t) => t.medium === "affiliate" || t.medium === "affiliates" },
  { channel: "Audio", when: (t) => t.medium === "audio" },
  { channel: "SMS", when: (t) => t.source === "sms" || t.medium === "sms" },
  { channel: "Mobile Push Notifications", when: (t) => t.source === "firebase" || saysPush(t.medium) },
  { channel: "Referral", when: (t) => ["referral", "app", "link"].includes(t.medium) },
];

/** Accepts any case, so that imported rows need no classification first. */
export function toChannel(tags: Tags): Channel {
  const source = tags.source.trim().toLowerCase();
  const medium = tags.medium.trim().toLowerCase();
  const campaign = (tags.campaign ?? "").toLowerCase();
  const traffic: Traffic = {
    source,
    medium,
    campaign,
    category: findByName(source)?.known.category ?? null,
    isPaid: medium.split(/[^\p{L}\p{N}]+/u).some((word) => PAID_WORDS.has(word) || word.startsWith("paid")),
    isShopCampaign: /(?:[^a-df-z]|^)shop|shopping/.test(campaign),
  };
  return CHANNEL_RULES.find((rule) => rule.when(traffic))?.channel ?? "Unassigned";
}

function saysEmail(text: string): boolean {
  return EMAIL_WORDS.some((word) => text.includes(word));
}

function saysPush(medium: string): boolean {
  return medium.endsWith("push") || medium.includes("mobile") || medium.includes("notification");
}
