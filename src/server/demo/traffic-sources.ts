import type { ClickIdField } from "#contract/analytics/attribution-fields.ts";
import { type DemoWidget, LANDING_PAGE } from "./clinic.ts";

// How visitors find the demo's clinic: every channel, with campaigns that start and end.

export type TrafficSource = {
  /** Visits on an ordinary day while the source is open. */
  readonly share: number;
  /** The fraction of its visits that book. */
  readonly wish: number;
  readonly source?: string;
  readonly medium?: string;
  readonly campaign?: string;
  readonly term?: string;
  /** Its links carry UTM tags. Otherwise source and medium follow from the referrer. */
  readonly isTagged?: true;
  readonly referrer?: string;
  readonly clickId?: ClickIdField;
  /** First and last day of a campaign, in days before loading. Absent: always open. */
  readonly lasts?: readonly [from: number, to: number];
  /** The widget its links lead to, while that widget is active. */
  readonly widget?: DemoWidget;
};

const tagged = (
  source: string,
  medium: string,
  way: Omit<TrafficSource, "source" | "medium" | "isTagged">,
): TrafficSource => ({
  ...way,
  source,
  medium,
  isTagged: true,
});

/** Mailings to patients about once a month; the visits of each come within three days. */
const RECALL_DAYS_AGO = [399, 368, 338, 307, 277, 246, 216, 185, 154, 124, 108, 78, 47, 16];
const RECALLS = RECALL_DAYS_AGO.map((daysAgo, index) =>
  tagged("newsletter", "email", {
    share: 58,
    wish: 0.2,
    campaign: `recall-${index + 1}`,
    lasts: [daysAgo, daysAgo - 2],
  }),
);

// biome-ignore format: one source a line
export const TRAFFIC_SOURCES: readonly [TrafficSource, ...TrafficSource[]] = [
  { share: 46, wish: 0.085, source: "google", medium: "organic", referrer: "https://www.google.com/" },
  { share: 5, wish: 0.09, source: "bing", medium: "organic", referrer: "https://www.bing.com/" },
  { share: 4, wish: 0.08, source: "ecosia", medium: "organic", referrer: "https://www.ecosia.org/" },
  { share: 30, wish: 0.06 },
  { share: 8, wish: 0.12, source: "praxisfinder.example", medium: "referral", referrer: "https://praxisfinder.example/" },
  { share: 5, wish: 0.14, source: "chatgpt.com", medium: "ai-assistant", referrer: "https://chatgpt.com/" },
  { share: 2, wish: 0.12, source: "perplexity.ai", medium: "ai-assistant", referrer: "https://www.perplexity.ai/" },
  { share: 6, wish: 0.03, source: "facebook", medium: "referral", referrer: "https://l.facebook.com/" },
  { share: 3, wish: 0.03, source: "youtube", medium: "referral", referrer: "https://www.youtube.com/" },

  tagged("google", "cpc", { share: 30, wish: 0.1, campaign: "summer-smile", clickId: "gclid", term: "zahnreinigung berlin", lasts: [119, 75], widget: LANDING_PAGE }),
  tagged("google", "cpc", { share: 30, wish: 0.14, campaign: "autumn-check-up", clickId: "gclid", term: "zahnarzt berlin mitte", lasts: [61, 0] }),
  tagged("google", "cpc", { share: 8, wish: 0.06, campaign: "cross-network-new-patients", clickId: "gbraid", lasts: [40, 0] }),
  tagged("google", "cpc", { share: 5, wish: 0.02, campaign: "shop-whitening-kit", clickId: "wbraid", lasts: [58, 30] }),
  tagged("bing", "cpc", { share: 5, wish: 0.15, campaign: "brand-search", clickId: "msclkid", term: "lindenhof dental" }),
  tagged("facebook", "paid_social", { share: 22, wish: 0.035, campaign: "new-patients", clickId: "fbclid", lasts: [96, 50] }),
  tagged("instagram", "paid_social", { share: 15, wish: 0.03, campaign: "before-after", clickId: "fbclid", lasts: [24, 0] }),
  tagged("tiktok", "cpc", { share: 14, wish: 0.012, campaign: "smile-challenge", clickId: "ttclid", lasts: [33, 12] }),
  tagged("linkedin", "cpc", { share: 6, wish: 0.05, campaign: "healthy-teams", clickId: "liFatId", lasts: [70, 41] }),
  tagged("youtube", "cpv", { share: 8, wish: 0.015, campaign: "meet-the-team", clickId: "gclid", lasts: [45, 20] }),
  tagged("stadtmagazin", "cpc", { share: 6, wish: 0.03, campaign: "ten-years", lasts: [52, 38] }),
  tagged("city-guide", "banner", { share: 12, wish: 0.006, campaign: "city-guide", lasts: [88, 66] }),
  tagged("instagram", "social", { share: 12, wish: 0.025, campaign: "smile-stories" }),
  tagged("kiez-radio", "audio", { share: 6, wish: 0.03, campaign: "kiez-podcast", lasts: [30, 14] }),
  tagged("voucher-portal", "referral", { share: 3, wish: 0.04, campaign: "shop-gift-cards", lasts: [64, 20] }),
  tagged("bonus-portal", "affiliate", { share: 4, wish: 0.07 }),
  tagged("sms", "sms", { share: 2, wish: 0.3, campaign: "reminder" }),
  tagged("practice-app", "push", { share: 2, wish: 0.25, campaign: "reminder" }),
  tagged("flyer", "qr", { share: 4, wish: 0.1, campaign: "neighbours", lasts: [20, 0] }),
  tagged("google", "cpc", { share: 30, wish: 0.12, campaign: "autumn-last-year", clickId: "gclid", term: "zahnarzt berlin", lasts: [409, 350] }),
  tagged("facebook", "paid_social", { share: 20, wish: 0.03, campaign: "winter-offer", clickId: "fbclid", lasts: [345, 290] }),
  tagged("google", "cpc", { share: 26, wish: 0.1, campaign: "spring-check-up", clickId: "gclid", term: "zahnreinigung mitte", lasts: [250, 180] }),
  ...RECALLS,
];
