import { IconAppWindow, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { widgetsQuery } from "../api/queries.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { GuideLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { NewWidgetDialog } from "./NewWidgetDialog.tsx";
import { WidgetTable } from "./WidgetTable.tsx";

/** `new`: opens the dialog; other screens link to it. */
const DEFAULTS = { new: "" };

export function WidgetsPage() {
  const { id, can } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const [state, change] = useUrlState(DEFAULTS);
  const verdict = can("createWidget");
  const button = (
    <ActionButton
      verdict={verdict}
      leftSection={<IconPlus size={17} stroke={1.8} />}
      onClick={() => change({ new: "1" })}
    >
      Create widget
    </ActionButton>
  );
  return (
    <Page
      title="Widgets"
      description={
        <>
          Booking widgets for your website. <GuideLink to="embedding" about="embedding a widget" />
        </>
      }
      actions={button}
    >
      <StaleNotice query={widgets} />
      <Section title="All widgets" isFlush>
        <Loaded query={widgets} rows={4}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon={IconAppWindow} title="No widgets yet" action={button}>
                Visitors book through a widget on your website. Create one and paste its snippet into your page.
              </EmptyState>
            ) : (
              <WidgetTable widgets={data} />
            )
          }
        </Loaded>
      </Section>
      <NewWidgetDialog
        isOpen={state.new !== "" && verdict.isAllowed}
        onClose={() => change({ new: "" }, { replace: true })}
      />
    </Page>
  );
}
