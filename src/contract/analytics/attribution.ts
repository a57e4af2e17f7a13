import { type Static, Type } from "typebox";
import { timestampOf } from "../timestamps.ts";
import { CLICK_ID_PARAMETERS, type LinkField, toLinkField } from "./attribution-fields.ts";

// The widget loader sends the raw fields under these names; only the server sets the classified ones.

const text = (description: string, example?: string) =>
  Type.Optional(Type.String({ description, ...(example === undefined ? {} : { examples: [example] }) }));

const classified = {
  source: text("Traffic source, from UTM tags, click identifiers or the referrer.", "google"),
  medium: text("Medium, such as `cpc` or `organic`.", "cpc"),
  campaign: text("Campaign name, from `utm_campaign`.", "autumn"),
  channel: text("Channel, such as `Paid Search`.", "Paid Search"),
  pageUrl: text(
    "The page the booking was made on, without its query string.",
    "https://www.lindenhof-dental.example/booking",
  ),
};

const raw = {
  landingPage: text(
    "The first page the visitor opened.",
    "https://www.lindenhof-dental.example/?utm_source=google&utm_medium=cpc&utm_campaign=autumn",
  ),
  referrer: text("The page that linked to the first page.", "https://www.google.com/"),
  utmSource: text("utm_source of the first page.", "google"),
  utmMedium: text("utm_medium of the first page.", "cpc"),
  utmCampaign: text("utm_campaign of the first page.", "autumn"),
  utmTerm: text("utm_term of the first page.", "dentist berlin"),
  utmContent: text("utm_content of the first page.", "headline-b"),
  gclid: text("Google Ads click identifier.", "Cj0KCQiAwtu9BhC8ARIsAI9JHanB"),
  gbraid: text("Google Ads click identifier (iOS, web to app)."),
  wbraid: text("Google Ads click identifier (iOS, app to web)."),
  fbclid: text("Meta click identifier."),
  msclkid: text("Microsoft Advertising click identifier."),
  liFatId: text("LinkedIn click identifier."),
  ttclid: text("TikTok click identifier."),
  gadSource: text("gad_source of the first page: set by Google Ads, even if the click identifier was stripped.", "1"),
  gadCampaignid: text("gad_campaignid of the first page: the Google Ads campaign.", "21834059621"),
  gaClientId: text("Google Analytics client identifier.", "1834059621.1761989400"),
  fbp: text("Meta browser identifier."),
  fbc: text(
    "Meta click identifier: from its pixel's cookie, or built in the same format from the last fbclid and the time of that click.",
  ),
  firstSeenAt: Type.Optional(timestampOf("The visitor's first visit.", "2026-10-30T17:12:08.000Z")),
  currentPage: text(
    "The page the booking was made on, with the campaign parameters in its address.",
    "https://www.lindenhof-dental.example/booking",
  ),
  touches: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "How many times the visitor came through a tagged link or from another site before booking.",
      examples: [2],
    }),
  ),
} satisfies Record<LinkField, unknown> & Record<string, unknown>;

/** REST shape. Only fields that were present are included. */
export const Attribution = Type.Object(
  { ...classified, ...raw },
  { title: "Attribution", description: "Where the visitor came from. Only fields that were present are included." },
);
export type Attribution = Static<typeof Attribution>;

export const RawAttribution = Type.Object(raw);
export type RawAttribution = Static<typeof RawAttribution>;

export const CLICK_ID_FIELDS = CLICK_ID_PARAMETERS.map(toLinkField);
/** They distinguish one click or one browser from another. */
export const IDENTIFIER_FIELDS = [...CLICK_ID_FIELDS, "gaClientId", "fbp", "fbc"] as const;
