import type { Generated } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Json } from "../statements/json-column.ts";

// The sandbox, when widgets were live, logos and deleted organizations.

type SandboxesTable = {
  organization_id: OrganizationId;
  widget_id: WidgetId;
  /** scheduler/sandbox/setup.ts. */
  setup: Json<unknown>;
  created_at: Date;
};

export type SandboxAppointmentsTable = {
  organization_id: OrganizationId;
  widget_id: WidgetId;
  reference: Reference;
  id: string;
  service_id: string;
  staff_id: string;
  start_at: Date;
  end_at: Date;
  manage_secret: string;
  join_secret: string | null;
  created_at: Date;
  canceled_at: Date | null;
};

type SandboxBusyTable = {
  organization_id: OrganizationId;
  widget_id: WidgetId;
  resource: string;
  cell_at: Date;
  reference: Reference;
};

/** When a widget was live; `ended_at` is null while it is. */
type LivePeriodsTable = {
  organization_id: OrganizationId;
  widget_id: WidgetId;
  started_at: Date;
  ended_at: Generated<Date | null>;
};

type OrganizationLogosTable = {
  organization_id: OrganizationId;
  content_type: string;
  content: Buffer;
  updated_at: Date;
};

type DeletedOrganizationsTable = {
  id: OrganizationId;
  name: string;
  deleted_at: Date;
  /** Email address of the owner who did it; null: the operator. */
  deleted_by: string | null;
  bookings: number;
  members: number;
};

export type TestModeTables = {
  sandboxes: SandboxesTable;
  sandbox_appointments: SandboxAppointmentsTable;
  sandbox_busy: SandboxBusyTable;
  live_periods: LivePeriodsTable;
  organization_logos: OrganizationLogosTable;
  deleted_organizations: DeletedOrganizationsTable;
};
