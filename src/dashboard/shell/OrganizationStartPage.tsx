import { Navigate } from "@tanstack/react-router";
import { useOrganization } from "./use-organization.ts";

/** /app/{organization}: the screen that is looked at first. */
export function OrganizationStartPage() {
  const { paths } = useOrganization();
  return <Navigate to={paths.analytics} replace />;
}
