/** For what isn't about the audit log. */
export async function noAudit(): Promise<void> {}
