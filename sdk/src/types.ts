// The shapes of the read API and of webhooks. Made by `npm run generate` from src/contract.

export type Widget = {
  /** Widget identifier. */
  id: string;
  /** Name of the widget, shown only to its organization. */
  name: string;
  /** Link to the booking page in the external scheduling system. */
  bookingUrl: string;
  /** Template name. */
  template: string;
  /** Whether the widget is in use. */
  status: "active" | "paused";
  /** The Store bookings switch. Only widgets with it on have bookings in the bookings endpoint. */
  collectData: boolean;
  /** Name of the business, as visitors see it. */
  businessName: string;
  /** When the widget was created. ISO 8601 in UTC with milliseconds. */
  createdAt: string;
};

export type Booking = {
  /** Unique key for upserts. Also written into the booking's notes in the external system. */
  reference: string;
  /** Status of the booking. */
  status: string;
  /** When the booking was made. All filters and the ordering use this. ISO 8601 in UTC with milliseconds. */
  createdAt: string;
  /** Start of the appointment. ISO 8601 in UTC with milliseconds. */
  start: string;
  /** End of the appointment. ISO 8601 in UTC with milliseconds. */
  end: string;
  /** The visitor's time zone (IANA name). */
  timeZone: string;
  service: Service;
  /** Staff names. */
  staff: string[];
  customer: Customer;
  /** The visitor's answers to the service's questions. */
  answers: Answer[];
  /** Where the visitor came from. Only fields that were present are included. */
  attribution: Attribution;
  /** The external system's link to manage the booking, when available. */
  manageUrl?: string;
};

export type BookingPage = {
  data: Booking[];
  /** createdAt of the last booking on the page if there are more, otherwise null. Send it back as cursor. */
  nextCursor: string | null;
};

export type Deletion = {
  /** Unique key for upserts. Also written into the booking's notes in the external system. */
  reference: string;
  /** The widget it was booked through. */
  widgetId: string;
  /** `erased` with all bookings of an email address, `deleted` on its own, or `expired` at the end of its retention. */
  reason: "erased" | "deleted" | "expired";
  /** When the booking was deleted. The filter and the ordering use this. ISO 8601 in UTC with milliseconds. */
  deletedAt: string;
};

export type DeletionPage = {
  data: Deletion[];
  /** deletedAt of the last deletion on the page when more exist, else null. Send it back as cursor. */
  nextCursor: string | null;
};

export type Customer = {
  name: string;
  email: string;
  /** Null when the visitor left it empty. */
  phone: string | null;
  /** Null when the visitor left it empty. */
  notes: string | null;
};

export type Service = {
  /** Identifier of the service in the external system. */
  id: string;
  name: string;
};

export type Answer = {
  questionId: string;
  /** The question as the visitor saw it. */
  question: string;
  answer: string;
};

/** Where the visitor came from. Only fields that were present are included. */
export type Attribution = {
  /** Classified source. */
  source?: string;
  /** Classified medium. */
  medium?: string;
  /** Classified campaign. */
  campaign?: string;
  /** Classified channel. */
  channel?: string;
  /** The page the booking was made on. */
  pageUrl?: string;
  /** First page of the visitor. */
  landingPage?: string;
  /** The page that linked to the first page. */
  referrer?: string;
  /** utm_source of the first page. */
  utmSource?: string;
  /** utm_medium of the first page. */
  utmMedium?: string;
  /** utm_campaign of the first page. */
  utmCampaign?: string;
  /** utm_term of the first page. */
  utmTerm?: string;
  /** utm_content of the first page. */
  utmContent?: string;
  /** Click identifier of Google Ads. */
  gclid?: string;
  /** Click identifier of Google Ads (iOS, web to app). */
  gbraid?: string;
  /** Click identifier of Google Ads (iOS, app to web). */
  wbraid?: string;
  /** Click identifier of Meta. */
  fbclid?: string;
  /** Click identifier of Microsoft Advertising. */
  msclkid?: string;
  /** Click identifier of LinkedIn. */
  liFatId?: string;
  /** Click identifier of TikTok. */
  ttclid?: string;
  /** gad_source of the first page: set by Google Ads, even if the click identifier was stripped. */
  gadSource?: string;
  /** gad_campaignid of the first page: the Google Ads campaign. */
  gadCampaignid?: string;
  /** Client identifier of Google Analytics. */
  gaClientId?: string;
  /** Browser identifier of Meta. */
  fbp?: string;
  /** Click identifier of Meta: from its pixel's cookie, or made from the last fbclid and the time of that click, in the same format. */
  fbc?: string;
  /** The visitor's first visit. ISO 8601 in UTC with milliseconds. */
  firstSeenAt?: string;
  /** The page the visitor was on when booking, as the loader saw it. */
  currentPage?: string;
  /** Number of touches. */
  touches?: number;
};

export type Analytics = {
  /** Window length used. */
  days: number;
  /** The organization's time zone; UTC when none is set. */
  timeZone: string;
  totals: {
    /** Widget loads (visits that saw the widget), not page views. */
    views: number;
    /** Visits that picked a time. */
    slotSessions: number;
    /** Visits that started the form. */
    formSessions: number;
    /** Completed bookings. */
    bookings: number;
    /** Failed bookings. */
    failed: number;
    /** Visits that found no free times. */
    noAvailability: number;
    /** bookings / views, from 0 to 1. */
    conversionRate: number;
    /** Average days between booking and appointment; null without bookings. */
    avgLeadDays: number | null;
  };
  /** One entry per day in the window, zero days included. */
  daily: DailyEntry[];
  /** Visits that reached each step or a later one. */
  funnel: {
    /** Visits that saw the widget. */
    widget_viewed: number;
    /** Visits that picked a service, or got further. */
    service_selected: number;
    /** Visits that picked a day, or got further. */
    date_selected: number;
    /** Visits that picked a time, or got further. */
    slot_selected: number;
    /** Visits that started the form, or got further. */
    form_started: number;
    /** Visits that booked. */
    booking_completed: number;
  };
  /** Up to 12 entries, most bookings first. */
  channels: AnalyticsEntry[];
  /** Up to 25 source / medium pairs, most bookings first. */
  sources: AnalyticsEntry[];
  /** Up to 25 entries, most bookings first; traffic without a campaign is "(not set)". */
  campaigns: AnalyticsEntry[];
};

export type AnalyticsEntry = {
  key: string;
  /** Widget loads. */
  views: number;
  /** Completed bookings. */
  bookings: number;
  /** bookings / views, from 0 to 1. */
  conversionRate: number;
};

export type DailyEntry = {
  /** Date in the organization's time zone. */
  day: string;
  /** Widget loads. */
  views: number;
  /** Completed bookings. */
  bookings: number;
};

export type Breakdown = {
  /** The dimension of the rows. */
  dimension: "channel" | "source" | "campaign" | "page" | "device" | "country" | "widget" | "service";
  /** First day of the window. */
  from: string;
  /** Last day of the window, included. */
  to: string;
  /** The organization's time zone; UTC when none is set. */
  timeZone: string;
  /** Most bookings first. The key is "(not set)" if the value is unknown, and the id for widgets. */
  data: AnalyticsEntry[];
  /** Send it back as cursor to get the next page; null on the last page. */
  nextCursor: string | null;
};

export type BookingCreatedEvent = {
  /** The same for every endpoint and every attempt; use it to remove duplicates. */
  id: string;
  type: "booking.created";
  /** When the event was written. ISO 8601 in UTC with milliseconds. */
  created: string;
  /** Version of this envelope, a date. */
  apiVersion: string;
  data: {
    booking: WebhookBooking;
    business: {
      /** The organization's identifier. */
      id: string;
      /** The widget's business name; the organization's name where that is empty. */
      name: string;
    };
    widget: {
      id: string;
      name: string;
    };
    /** Where the visitor came from. Only fields that were present are included; utm and clickIds are always included and may be empty. */
    attribution: WebhookAttribution;
  };
};

export type WebhookBooking = {
  /** Unique key for upserts. Also written into the booking's notes in the external system. */
  reference: string;
  /** Identifier of the booking in the external system. */
  id: string;
  /** Status of the booking. */
  status: string;
  /** Start of the appointment. ISO 8601 in UTC with milliseconds. */
  start: string;
  /** End of the appointment. ISO 8601 in UTC with milliseconds. */
  end: string;
  /** The visitor's time zone (IANA name). */
  timeZone: string;
  service: Service;
  staff: {
    /** Identifier in the external system. */
    id: string;
    name: string;
  }[];
  customer: Customer;
  /** The visitor's answers to the service's questions. */
  answers: Answer[];
  /** The external system's link to manage the booking, when available. */
  manageUrl?: string;
  /** Link to join an online appointment; null when there is none. */
  joinUrl: string | null;
};

/** Where the visitor came from. Only fields that were present are included; utm and clickIds are always included and may be empty. */
export type WebhookAttribution = {
  /** Classified source. */
  source?: string;
  /** Classified medium. */
  medium?: string;
  /** Classified campaign. */
  campaign?: string;
  /** Classified channel. */
  channel?: string;
  /** First page of the visitor. */
  landingPage?: string;
  /** The page that linked to the first page. */
  referrer?: string;
  /** The page the booking was made on. */
  pageUrl?: string;
  utm: {
    /** utm_source of the first page. */
    source?: string;
    /** utm_medium of the first page. */
    medium?: string;
    /** utm_campaign of the first page. */
    campaign?: string;
    /** utm_term of the first page. */
    term?: string;
  };
  /** Keyed by the click identifier's name. */
  clickIds: Record<string, string>;
  /** Client identifier of Google Analytics. */
  gaClientId?: string;
};

export type BookingErasedEvent = {
  /** The same for every endpoint and every attempt; use it to remove duplicates. */
  id: string;
  type: "booking.erased";
  /** When the event was written. ISO 8601 in UTC with milliseconds. */
  created: string;
  /** Version of this envelope, a date. */
  apiVersion: string;
  data: {
    booking: {
      /** Unique key for upserts. Also written into the booking's notes in the external system. */
      reference: string;
    };
    widget: {
      id: string;
      name: string;
    };
    /** `erased` with all bookings of an email address, `deleted` on its own, or `expired` at the end of its retention. */
    reason: "erased" | "deleted" | "expired";
  };
};

export type EndpointTestEvent = {
  /** The same for every endpoint and every attempt; use it to remove duplicates. */
  id: string;
  type: "endpoint.test";
  /** When the event was written. ISO 8601 in UTC with milliseconds. */
  created: string;
  /** Version of this envelope, a date. */
  apiVersion: string;
  data: {
    endpoint: {
      id: string;
    };
    business: {
      /** The organization's identifier. */
      id: string;
      /** The widget's business name; the organization's name where that is empty. */
      name: string;
    };
  };
};

/** Events of other types may come one day: ignore what you do not know. */
export type WebhookEvent = BookingCreatedEvent | BookingErasedEvent | EndpointTestEvent;
