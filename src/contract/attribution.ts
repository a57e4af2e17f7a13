import { type Static, Type } from "typebox";
import { Timestamp } from "./timestamps.ts";

// The raw fields come from the widget loader under these very names; the classified ones are the server's alone.

const classified = {
  source: Type.Optional(Type.String({ description: "Classified source.", examples: ["google"] })),
  medium: Type.Optional(Type.String({ description: "Classified medium.", examples: ["cpc"] })),
  campaign: Type.Optional(Type.String({ description: "Classified campaign.", examples: ["autumn"] })),
  channel: Type.Optional(Type.String({ description: "Classified channel.", examples: ["Paid Search"] })),
  pageUrl: Type.Optional(Type.String({ description: "The page the booking was made on." })),
};

const raw = {
  landingPage: Type.Optional(Type.String({ description: "First page of the visitor." })),
  referrer: Type.Optional(Type.String()),
  utmSource: Type.Optional(Type.String()),
  utmMedium: Type.Optional(Type.String()),
  utmCampaign: Type.Optional(Type.String()),
  utmTerm: Type.Optional(Type.String()),
  utmContent: Type.Optional(Type.String()),
  gclid: Type.Optional(Type.String()),
  gbraid: Type.Optional(Type.String()),
  wbraid: Type.Optional(Type.String()),
  fbclid: Type.Optional(Type.String()),
  msclkid: Type.Optional(Type.String()),
  liFatId: Type.Optional(Type.String()),
  ttclid: Type.Optional(Type.String()),
  gaClientId: Type.Optional(Type.String()),
  fbp: Type.Optional(Type.String()),
  fbc: Type.Optional(Type.String()),
  firstSeenAt: Type.Optional(Timestamp),
  currentPage: Type.Optional(Type.String()),
  touches: Type.Optional(Type.Integer({ minimum: 0, description: "Number of touches." })),
};

/** REST shape. Only fields that were present are included. */
export const Attribution = Type.Object({ ...classified, ...raw }, { title: "Attribution" });
export type Attribution = Static<typeof Attribution>;

/** What the loader sends. */
export const RawAttribution = Type.Object(raw);
export type RawAttribution = Static<typeof RawAttribution>;
