import { Alert, Group, List, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconExternalLink } from "@tabler/icons-react";
import type { AppWidget } from "#contract/app/widgets.ts";
import { isLoopback } from "#contract/loopback.ts";
import { useUrlState } from "../../hooks/use-url-state.ts";
import { CopyField } from "../../ui/copy/CopyField.tsx";
import { GuideLink } from "../../ui/layout/links.tsx";
import { Section } from "../../ui/layout/Section.tsx";
import { OutsideButton } from "../OutsideButton.tsx";
import { InstallCheck } from "./InstallCheck.tsx";
import { isPlatform, PLATFORMS, toInstall } from "./platforms.ts";
import { INSTALL_MODES, type InstallMode, toTestPage } from "./snippets.ts";

const DEFAULTS = { show: "inline", platform: "html" };

export function InstallTab({ widget }: { widget: AppWidget }) {
  const [state, change] = useUrlState(DEFAULTS);
  const wanted: InstallMode = state.show in INSTALL_MODES ? (state.show as InstallMode) : "inline";
  const platform = isPlatform(state.platform) ? state.platform : "html";
  const page = new URL(widget.pageUrl);
  const { steps, snippet, mode, everyPage } = toInstall(widget, platform, wanted);
  return (
    <>
      <Section title="Add to your page" description={DESCRIPTION}>
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
            <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={20} stroke={1.6} />}>
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
      variant="light"
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

const DESCRIPTION = (
  <>
    Paste the snippet into your page’s HTML. It loads in the background and doesn’t slow the page down.{" "}
    <GuideLink to="embedding" about="embedding a widget" />
  </>
);
