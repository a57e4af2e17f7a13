import type { ColumnType, GeneratedAlways } from "kysely";
import type { Attribution } from "#contract/attribution.ts";
import type { Answer } from "#contract/booking.ts";
import type { ApiKeyId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Template, WidgetStatus } from "#contract/widget.ts";

// The tables as statements see them; migrations/ is where they are made and schema.sql what they look like now.

/** Written as JSON text, read back parsed. */
type Json<T> = ColumnType<T, string, string>;

export type OrganizationsTable = {
  id: OrganizationId;
  name: string;
  plan: Plan;
  time_zone: string | null;
  created_at: Date;
};

export type WidgetsTable = {
  id: WidgetId;
  organization_id: OrganizationId;
  name: string;
  business_name: string;
  booking_url: string | null;
  template: Template;
  status: WidgetStatus;
  collect_data: boolean;
  created_at: Date;
};

export type ApiKeysTable = {
  id: ApiKeyId;
  organization_id: OrganizationId;
  name: string;
  key_hash: Buffer;
  first_characters: string;
  last_characters: string;
  created_by: string | null;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
};

/** Imported bookings have no staff id: the REST shape they come in holds names only. */
export type StoredStaff = { id: string | null; name: string };

export type BookingsTable = {
  organization_id: OrganizationId;
  reference: Reference;
  widget_id: WidgetId;
  status: string;
  created_at: Date;
  start_at: Date;
  end_at: Date;
  time_zone: string;
  service_id: string;
  service_name: string;
  staff: Json<StoredStaff[]>;
  customer_name: string;
  customer_email: string;
  customer_email_key: GeneratedAlways<string>;
  customer_phone: string | null;
  customer_notes: string | null;
  answers: Json<Answer[]>;
  attribution: Json<Attribution>;
  external_id: string | null;
  manage_url: string | null;
  join_url: string | null;
};

export type BookingClocksTable = {
  organization_id: OrganizationId;
  last_created_at: Date;
};

export type BookingReferencesTable = {
  reference: Reference;
  organization_id: OrganizationId;
};

/** Days are text: YYYY-MM-DD. */
export type DayZonesTable = {
  organization_id: OrganizationId;
  zone: string;
  version: number;
  sealed_before: string;
  building_zone: string | null;
  building_version: number | null;
  building_sealed_before: string | null;
  building_widget_id: string | null;
  building_visit_id: string | null;
};

export type Tables = {
  day_zones: DayZonesTable;
  organizations: OrganizationsTable;
  widgets: WidgetsTable;
  api_keys: ApiKeysTable;
  bookings: BookingsTable;
  booking_clocks: BookingClocksTable;
  booking_references: BookingReferencesTable;
};
