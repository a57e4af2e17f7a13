import { DataSection } from "../settings/DataSection.tsx";
import { GeneralSection } from "../settings/GeneralSection.tsx";
import { LeaveSection } from "../settings/LeaveSection.tsx";
import { PlanSection } from "../settings/PlanSection.tsx";
import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/Page.tsx";

export function SettingsPage() {
  const { name } = useOrganization();
  return (
    <Page title="Settings" description={`Of the whole organization ${name}.`} width="narrow">
      <GeneralSection />
      <PlanSection />
      <DataSection />
      <LeaveSection />
    </Page>
  );
}
