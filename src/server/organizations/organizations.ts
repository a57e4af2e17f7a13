// What other slices use of organizations.

export { countLocked, describeCap } from "./caps.ts";
export { type DeletedOrganization, deleteOrganization, listDeleted } from "./delete-queries.ts";
export { requireFeature } from "./gate.ts";
export { toKeptSince } from "./kept-since.ts";
export { deleteLogo, findLogo, findLogoTime, saveLogo } from "./logo-queries.ts";
export {
  findOrganization,
  insertOrganization,
  listOrganizations,
  lockOrganization,
  type OrganizationRow,
  updateOrganization,
} from "./queries.ts";
export { removeOrganization } from "./remove-organization.ts";
