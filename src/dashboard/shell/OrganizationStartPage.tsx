import { Navigate } from "@tanstack/react-router";
import { useOrganization } from "./use-organization.ts";

/** /app/{organization} opens the analytics. */
export function OrganizationStartPage() {
  const { paths } = useOrganization();
  return <Navigate to={paths.analytics} replace />;
}
