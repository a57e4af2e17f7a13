import { Text } from "@mantine/core";
import { IconChartHistogram } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { widgetsQuery } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";

export function NoViews({ widget }: { widget: string }) {
  const { id, paths, can } = useOrganization();
  const navigate = useNavigate();
  const { data } = useQuery(widgetsQuery(id));
  const shown = data?.data.find((each) => each.id === widget) ?? data?.data[0];
  if (data && !shown)
    return (
      <Section title="Get started">
        <EmptyState
          icon={IconChartHistogram}
          title="Create your first widget"
          action={
            <ActionButton
              verdict={can("createWidget")}
              onClick={() => void navigate({ to: paths.widgets, search: () => ({ new: "1" }) })}
            >
              Create widget
            </ActionButton>
          }
        >
          Visitors book through a widget on your website. Once it’s on your page, this is where you’ll see how many
          people visit, where they come from and how many book.
        </EmptyState>
      </Section>
    );
  return (
    <Section title="No views yet">
      <Text size="sm" mb="md" maw="42rem">
        Paste this snippet into the page where visitors should book.{" "}
        {shown?.status === "paused"
          ? `${shown.name} is paused: visits aren’t counted until it’s active again.`
          : "The first view shows up here a few seconds after someone opens the page."}
      </Text>
      {shown && <CopyField label={`Snippet for ${shown.name}`} value={shown.snippet} />}
      {shown && (
        <ButtonLink to={paths.widget(shown.id)} search={{ tab: "install" }} variant="default" mt="lg">
          More ways to install
        </ButtonLink>
      )}
    </Section>
  );
}
