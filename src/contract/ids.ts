// Every identifier on the wire: its prefix and form, and a branded type so that two kinds cannot be swapped.

export type OrganizationId = string & { readonly brand: "OrganizationId" };
export type WidgetId = string & { readonly brand: "WidgetId" };
export type ApiKeyId = string & { readonly brand: "ApiKeyId" };
export type Reference = string & { readonly brand: "Reference" };

export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Without letters and digits that are easily confused when read out over the telephone. */
export const REFERENCE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

export const ORGANIZATION_ID = { prefix: "org_", alphabet: BASE58, length: 16 } as const;
export const WIDGET_ID = { prefix: "w_", alphabet: BASE58, length: 12 } as const;
export const API_KEY_ID = { prefix: "key_", alphabet: BASE58, length: 16 } as const;
export const REFERENCE = { prefix: "SVC-", alphabet: REFERENCE_ALPHABET, length: 6 } as const;

/** For descriptions. */
export const WIDGET_ID_PATTERN = toIdPattern(WIDGET_ID);
export const REFERENCE_PATTERN = "^SVC-[0-9A-Za-z]{6}$";

export function toIdPattern({ prefix, alphabet, length }: IdForm): string {
  return `^${prefix}[${alphabet}]{${length}}$`;
}

export type IdForm = { readonly prefix: string; readonly alphabet: string; readonly length: number };

export function parseOrganizationId(text: string): OrganizationId | null {
  return hasForm(text, ORGANIZATION_ID) ? (text as OrganizationId) : null;
}

export function parseWidgetId(text: string): WidgetId | null {
  return hasForm(text, WIDGET_ID) ? (text as WidgetId) : null;
}

export function parseApiKeyId(text: string): ApiKeyId | null {
  return hasForm(text, API_KEY_ID) ? (text as ApiKeyId) : null;
}

/** Imported references may use any six letters or digits; our alphabet is only for those we make. */
export function parseReference(text: string): Reference | null {
  return new RegExp(REFERENCE_PATTERN).test(text) ? (text as Reference) : null;
}

export function hasForm(text: string, form: IdForm): boolean {
  if (text.length !== form.prefix.length + form.length || !text.startsWith(form.prefix)) return false;
  for (let i = form.prefix.length; i < text.length; i++) {
    if (!form.alphabet.includes(text.charAt(i))) return false;
  }
  return true;
}

export type ConnectionId = string & { readonly brand: "ConnectionId" };

export const CONNECTION_ID = { prefix: "conn_", alphabet: BASE58, length: 16 } as const;

export function parseConnectionId(text: string): ConnectionId | null {
  return hasForm(text, CONNECTION_ID) ? (text as ConnectionId) : null;
}

export type SegmentId = string & { readonly brand: "SegmentId" };

export const SEGMENT_ID = { prefix: "seg_", alphabet: BASE58, length: 16 } as const;

export function parseSegmentId(text: string): SegmentId | null {
  return hasForm(text, SEGMENT_ID) ? (text as SegmentId) : null;
}

export type ReportLinkId = string & { readonly brand: "ReportLinkId" };

export const REPORT_LINK_ID = { prefix: "rl_", alphabet: BASE58, length: 16 } as const;

export function parseReportLinkId(text: string): ReportLinkId | null {
  return hasForm(text, REPORT_LINK_ID) ? (text as ReportLinkId) : null;
}

export type EndpointId = string & { readonly brand: "EndpointId" };
export type WebhookEventId = string & { readonly brand: "WebhookEventId" };
export type DeliveryId = string & { readonly brand: "DeliveryId" };
export type RedeliveryId = string & { readonly brand: "RedeliveryId" };

export const HEX = "0123456789abcdef";

export const ENDPOINT_ID = { prefix: "we_", alphabet: BASE58, length: 16 } as const;
export const WEBHOOK_EVENT_ID = { prefix: "evt_", alphabet: HEX, length: 32 } as const;
export const REDELIVERY_ID = { prefix: "rd_", alphabet: BASE58, length: 16 } as const;

export function parseEndpointId(text: string): EndpointId | null {
  return hasForm(text, ENDPOINT_ID) ? (text as EndpointId) : null;
}

export function parseWebhookEventId(text: string): WebhookEventId | null {
  return hasForm(text, WEBHOOK_EVENT_ID) ? (text as WebhookEventId) : null;
}

export function parseRedeliveryId(text: string): RedeliveryId | null {
  return hasForm(text, REDELIVERY_ID) ? (text as RedeliveryId) : null;
}

/** Visit ids come from browsers and imports, in either letter case. */
export const UUID_PATTERN = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/** A UUID in lower case, as we generate it and PostgreSQL prints it. */
export const DELIVERY_ID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

export function parseDeliveryId(text: string): DeliveryId | null {
  return new RegExp(DELIVERY_ID_PATTERN).test(text) ? (text as DeliveryId) : null;
}

/** The widgets of the demo. Their sandbox stands for a real scheduling system, so they are live with it. */
export const DEMO_WIDGET_IDS = {
  website: "w_DemoWebsite1" as WidgetId,
  branch: "w_DemoPotsdam1" as WidgetId,
  children: "w_DemoForKids1" as WidgetId,
  landingPage: "w_DemoLanding1" as WidgetId,
};

const IDS: ReadonlySet<string> = new Set(Object.values(DEMO_WIDGET_IDS));

export function isDemoWidget(id: string): boolean {
  return IDS.has(id);
}
