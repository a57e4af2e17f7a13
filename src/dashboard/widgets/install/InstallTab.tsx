import { Alert, Group, List, Loader, SegmentedControl, Select, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconExternalLink } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { isLoopback } from "#contract/app/addresses.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import { widgetQuery } from "../../api/queries.ts";
import { formatRelative } from "../../format.ts";
import { useUrlState } from "../../hooks/use-url-state.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { CopyField } from "../../ui/copy/CopyField.tsx";
import { ButtonLink, OutsideButton } from "../../ui/layout/links.tsx";
import { Section } from "../../ui/layout/Section.tsx";
import { isPlatform, PLATFORMS, toInstall } from "./platforms.ts";
import { INSTALL_MODES, type InstallMode, toTestPage } from "./snippets.ts";

const DESCRIPTION =
  "Paste the snippet into your page’s HTML. It loads in the background and doesn’t slow the page down.";
const GUIDE = { to: "embedding", about: "embedding a widget" };
const DEFAULTS = { show: "inline", platform: "html" };

export function InstallTab({ widget }: { widget: AppWidget }) {
  const [state, change] = useUrlState(DEFAULTS);
  const wanted: InstallMode = state.show in INSTALL_MODES ? (state.show as InstallMode) : "inline";
  const platform = isPlatform(state.platform) ? state.platform : "html";
  const page = new URL(widget.pageUrl);
  const { steps, snippet, mode, everyPage } = toInstall(widget, platform, wanted);
  return (
    <>
      <Section title="Add to your page" description={DESCRIPTION} guide={GUIDE}>
        <Stack gap="md" align="stretch">
          <Select
            label="Website builder"
            data={PLATFORMS}
            value={platform}
            onChange={(next) => change({ platform: next ?? "html" })}
            allowDeselect={false}
            maw="18rem"
          />
          <SegmentedControl
            aria-label="Display mode"
            value={mode}
            onChange={(next) => change({ show: next })}
            data={Object.entries(INSTALL_MODES).map(([value, { name }]) => ({ value, label: name }))}
            style={{ alignSelf: "flex-start" }}
          />
          <Text size="sm">{INSTALL_MODES[mode].meaning}</Text>
          {isLoopback(page.hostname) && <LocalNotice origin={page.origin} />}
          <CopyField label="Snippet" value={snippet} />
          <List type="ordered" size="sm" spacing={4}>
            {steps.map((step) => (
              <List.Item key={step}>{step}</List.Item>
            ))}
          </List>
          <TestPageLink href={toTestPage(widget, mode)} />
          <Text size="sm" c="dimmed">
            To see where visitors first came from, {everyPage.text} {everyPage.code && <code>{everyPage.code}</code>}
          </Text>
          <Text size="sm" c="dimmed">
            If you use a Content Security Policy, allow this origin in script-src and frame-src:{" "}
            <code>{page.origin}</code>
          </Text>
          {widget.allowedDomains.length > 0 && (
            <Text size="sm" c="dimmed">
              Only {widget.allowedDomains.join(", ")} can embed this widget.
            </Text>
          )}
          {widget.status === "paused" && (
            <Alert color="yellow" icon={<IconAlertTriangle size={20} stroke={1.6} />}>
              This widget is paused. Visitors can’t book, and visits aren’t counted.
            </Alert>
          )}
        </Stack>
      </Section>
      <InstallCheck widget={widget} />
    </>
  );
}

function LocalNotice({ origin }: { origin: string }) {
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle size={20} stroke={1.6} />}
      title="This snippet works on this computer only"
    >
      It loads Bookflow from <code>{origin}</code>, which other computers can’t reach. Before you paste it into your
      website, set <code>BASE_URL</code> to Bookflow’s public address, restart Bookflow, and copy the snippet again.
      Until then, use the test page.
    </Alert>
  );
}

function TestPageLink({ href }: { href: string }) {
  return (
    <Group gap="sm">
      <OutsideButton href={href} icon={<IconExternalLink size={17} stroke={1.6} />}>
        Open test page
      </OutsideButton>
      <Text size="sm" c="dimmed">
        Shows the widget as it will appear on your website.
      </Text>
    </Group>
  );
}

const ASK_MS = 3_000;

/** Polls until a browser has shown the widget on the business's site. */
function InstallCheck({ widget }: { widget: AppWidget }) {
  const { id, paths, format } = useOrganization();
  useQuery({ ...widgetQuery(id, widget.id), refetchInterval: widget.seenOn === null ? ASK_MS : false });
  const { firstViewAt, lastViewAt, seenOn } = widget;
  return (
    <Section title="Installation check">
      <Group gap="md" wrap="nowrap" role="status" align="flex-start">
        {seenOn === null ? (
          <Loader size={28} type="dots" aria-hidden />
        ) : (
          <ThemeIcon color="green" variant="light" size={32} radius="xl" aria-hidden>
            <IconCheck size={18} />
          </ThemeIcon>
        )}
        {seenOn === null ? (
          <div>
            <Text fw={500}>Waiting for the first view on your site…</Text>
            <Text size="sm" c="dimmed">
              Open the page with the snippet in your browser. This updates a moment after the widget appears. If nothing
              happens, check your ad blocker and the allowed domains.
              {firstViewAt !== null && " Views of the booking page don’t count here."}
            </Text>
          </div>
        ) : (
          <div>
            <Text fw={500}>Installed on {seenOn}</Text>
            <Text size="sm" c="dimmed">
              {firstViewAt !== null && `First viewed on ${format.dateTime(firstViewAt)}.`}
              {lastViewAt !== null && ` Last viewed ${formatRelative(lastViewAt)}.`}
            </Text>
            <ButtonLink to={paths.analytics} search={{ widget: widget.id }} variant="default" size="xs" mt="sm">
              View analytics
            </ButtonLink>
          </div>
        )}
      </Group>
    </Section>
  );
}
