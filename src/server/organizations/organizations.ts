// What other slices use of organizations.

export { countLocked, describeCap, lockForCount } from "./caps.ts";
export {
  type DeletedOrganization,
  deleteOrganization,
  listDeleted,
  removeOrganization,
} from "./delete-organization.ts";
export { requireFeature, toKeptSince } from "./plan.ts";
export {
  deleteLogo,
  findLogo,
  findLogoTime,
  findOrganization,
  insertOrganization,
  listOrganizations,
  lockOrganization,
  type OrganizationRow,
  saveLogo,
  updateOrganization,
} from "./queries.ts";
