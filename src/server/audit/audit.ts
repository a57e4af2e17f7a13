// What other slices use of audit.

export { type Audit, type AuditOf, auditBy, auditByOperator, describeChanges } from "./audit-by.ts";
export { exportAudit } from "./export.ts";
export { type AuditFilter, type AuditRow, findAuditEntry, listAuditEntries, listAuditPeople } from "./queries.ts";
