// What other slices use of organizations.

export { countLocked, describeCap, lockForCount } from "./caps.ts";
export {
  deleteOrganization,
  removeOrganization,
} from "./delete-organization.ts";
export { requireFeature, toKeptSince } from "./plan.ts";
export {
  type DeletedOrganization,
  deleteLogo,
  findLogo,
  findLogoTime,
  findOrganization,
  insertOrganization,
  listDeleted,
  listOrganizations,
  lockOrganization,
  type OrganizationRow,
  saveLogo,
  updateOrganization,
} from "./queries.ts";
