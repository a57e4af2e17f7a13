import { Text } from "@mantine/core";
import { IconChartHistogram } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { widgetsQuery } from "../api/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";

/** Before the first view: what to do to get one. */
export function NoViews({ widget }: { widget: string }) {
  const { id, paths } = useOrganization();
  const { data } = useQuery(widgetsQuery(id));
  const shown = data?.data.find((each) => each.id === widget) ?? data?.data[0];
  if (data && !shown)
    return (
      <Section title="Get started">
        <EmptyState
          icon={IconChartHistogram}
          title="Make your first widget"
          action={
            <ButtonLink to={paths.widgets} search={{ new: "1" }}>
              New widget
            </ButtonLink>
          }
        >
          A widget is where visitors book on your website. Once it is there, you see here who came, from where, and who
          booked.
        </EmptyState>
      </Section>
    );
  return (
    <Section title="No views yet">
      <Text size="sm" mb="md" maw="42rem">
        Put this into the page where visitors should book. The first view shows up here a few seconds after somebody
        opens that page; nothing else has to be set up.
      </Text>
      {shown && <CopyField label={`Snippet of ${shown.name}`} value={shown.snippet} />}
      {shown && (
        <ButtonLink to={paths.widget(shown.id)} search={{ tab: "install" }} variant="default" mt="lg">
          Other ways to install it
        </ButtonLink>
      )}
    </Section>
  );
}
