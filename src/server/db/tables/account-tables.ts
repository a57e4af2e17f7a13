import type { ColumnType, Generated } from "kysely";
import type { AuditAction } from "#contract/app/audit.ts";
import type { ReportPeriod } from "#contract/app/reports.ts";
import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId, ReportLinkId, SegmentId } from "#contract/ids.ts";

// Tables of people and their actions; tables.ts has the others. better-auth uses those from users to user_two_factors.

export type UsersTable = {
  id: string;
  name: string;
  email: string;
  email_verified: boolean;
  image: string | null;
  two_factor_enabled: Generated<boolean>;
  created_at: Date;
  updated_at: Date;
};

export type UserSessionsTable = {
  id: string;
  user_id: string;
  token: string;
  ip_address: null;
  user_agent: string | null;
  expires_at: Date;
  created_at: Date;
  updated_at: Date;
};

export type UserAccountsTable = {
  id: string;
  user_id: string;
  provider_id: string;
  account_id: string;
  password: string | null;
  access_token: string | null;
  refresh_token: string | null;
  id_token: string | null;
  access_token_expires_at: Date | null;
  refresh_token_expires_at: Date | null;
  scope: string | null;
  created_at: Date;
  updated_at: Date;
};

type UserVerificationsTable = {
  id: string;
  identifier: string;
  value: string;
  expires_at: Date;
  created_at: Date;
  updated_at: Date;
};

type UserTwoFactorsTable = {
  id: string;
  user_id: string;
  secret: string;
  backup_codes: string;
  verified: Generated<boolean>;
  failed_verification_count: Generated<number>;
  locked_until: Date | null;
};

export type MembersTable = {
  organization_id: OrganizationId;
  user_id: string;
  role: MemberRole;
  created_at: Date;
  last_used_at: Date | null;
  checklist_dismissed_at?: Date | null;
};

export type InvitationsTable = {
  organization_id: OrganizationId;
  id: string;
  email: string;
  role: MemberRole;
  token_hash: Buffer;
  invited_by: string | null;
  created_at: Date;
  expires_at: Date;
};

type ReportSubscriptionsTable = {
  organization_id: OrganizationId;
  user_id: string;
  period: ReportPeriod;
  token: string;
  /** First day of the next week or month to report. */
  next_start: string;
  tried_at: Generated<Date | null>;
  created_at: Date;
};

type ReportLinksTable = {
  organization_id: OrganizationId;
  id: ReportLinkId;
  name: string;
  query: string;
  token: string;
  created_by: string | null;
  created_at: Date;
};

type SegmentsTable = {
  organization_id: OrganizationId;
  id: SegmentId;
  name: string;
  query: string;
  created_at: Date;
};

type SetupLinksTable = {
  token_hash: Buffer;
  created_at: Date;
};

export type AuditEntriesTable = {
  organization_id: OrganizationId;
  id: string;
  at: Date;
  user_id: string | null;
  email: string | null;
  action: AuditAction;
  target: string | null;
  /** Written as JSON text, read back parsed. */
  detail: ColumnType<Record<string, string | number>, string, string>;
};

export type AccountTables = {
  users: UsersTable;
  user_sessions: UserSessionsTable;
  user_accounts: UserAccountsTable;
  user_verifications: UserVerificationsTable;
  user_two_factors: UserTwoFactorsTable;
  members: MembersTable;
  invitations: InvitationsTable;
  report_subscriptions: ReportSubscriptionsTable;
  report_links: ReportLinksTable;
  segments: SegmentsTable;
  setup_links: SetupLinksTable;
  audit_entries: AuditEntriesTable;
};
