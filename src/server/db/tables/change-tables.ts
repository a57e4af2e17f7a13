import type { Generated } from "kysely";
import type { ChangeType, DeletionReason } from "#contract/bookings/booking-changes.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";

type BookingChangesTable = {
  organization_id: OrganizationId;
  changed_at: Date;
  reference: Reference;
  type: ChangeType;
  status: string;
  start_at: Date;
  end_at: Date;
  previous_start_at: Date;
};

type AppointmentChecksTable = {
  organization_id: OrganizationId;
  reference: Reference;
  due_at: Date;
  tries: Generated<number>;
};

type BookingDeletionsTable = {
  organization_id: OrganizationId;
  deleted_at: Date;
  reference: Reference;
  widget_id: WidgetId;
  reason: DeletionReason;
};

export type ChangeTables = {
  appointment_checks: AppointmentChecksTable;
  booking_changes: BookingChangesTable;
  booking_deletions: BookingDeletionsTable;
  change_clocks: { organization_id: OrganizationId; last_changed_at: Date };
  deletion_clocks: { organization_id: OrganizationId; last_deleted_at: Date };
};
