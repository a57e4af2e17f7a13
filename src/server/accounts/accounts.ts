// What other slices use of accounts.

export { type KeyLimits, type Member, memberOf, OPERATOR, seesCustomers } from "./auth/member-auth.ts";
export { hashPassword } from "./auth/password.ts";
export type { HttpRoutes, Routes } from "./auth/route-table.ts";
export { checkPassword } from "./check-fields.ts";
export { listMembers } from "./members/member-queries.ts";
export { findUserByEmail, insertMember } from "./queries.ts";
export { createUser } from "./setup/create-user.ts";
