import { Anchor, Group } from "@mantine/core";
import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/layout/Page.tsx";
import { DeleteSection } from "./DeleteSection.tsx";
import { GeneralSection } from "./GeneralSection.tsx";
import { LeaveSection } from "./LeaveSection.tsx";
import { LogoSection } from "./LogoSection.tsx";
import { PlanSection } from "./PlanSection.tsx";
import { PrivacySection } from "./PrivacySection.tsx";
import classes from "./SettingsPage.module.css";

/** In two columns where there is room. */
const COLUMNS = [
  [
    { id: "general", name: "General", Part: GeneralSection },
    { id: "logo", name: "Logo", Part: LogoSection },
    { id: "privacy", name: "Privacy", Part: PrivacySection },
  ],
  [
    { id: "plan", name: "Plan", Part: PlanSection },
    { id: "leave", name: "Leave", Part: LeaveSection },
    { id: "delete", name: "Delete", Part: DeleteSection },
  ],
] as const;

export function SettingsPage() {
  const { name } = useOrganization();
  return (
    <Page title="Settings" description={`Settings for ${name}.`}>
      <Group component="nav" gap="md" mb="lg" aria-label="Sections">
        {COLUMNS.flat().map((section) => (
          <Anchor key={section.id} href={`#${section.id}`} size="sm">
            {section.name}
          </Anchor>
        ))}
      </Group>
      <div className={classes["columns"]}>
        {COLUMNS.map((column) => (
          <div key={column[0].id}>
            {column.map(({ id, Part }) => (
              <div key={id} id={id} className={classes["part"]}>
                <Part />
              </div>
            ))}
          </div>
        ))}
      </div>
    </Page>
  );
}
