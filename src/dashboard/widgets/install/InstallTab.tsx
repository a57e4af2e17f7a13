import { Alert, SegmentedControl, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { AppWidget } from "#contract/app/widgets.ts";
import { useUrlState } from "../../hooks/use-url-state.ts";
import { CopyField } from "../../ui/copy/CopyField.tsx";
import { Section } from "../../ui/layout/Section.tsx";
import { InstallCheck } from "./InstallCheck.tsx";
import { INSTALL_MODES, type InstallMode, toSnippet } from "./snippets.ts";

const DEFAULTS = { mode: "inline" };

export function InstallTab({ widget }: { widget: AppWidget }) {
  const [state, change] = useUrlState(DEFAULTS);
  const mode: InstallMode = state.mode in INSTALL_MODES ? (state.mode as InstallMode) : "inline";
  return (
    <>
      <Section
        title="Put it on your page"
        description="Paste the snippet into the HTML of your page. It loads in the background and never holds the page up."
      >
        <Stack gap="md" align="stretch">
          <SegmentedControl
            aria-label="How the widget is shown"
            value={mode}
            onChange={(next) => change({ mode: next })}
            data={Object.entries(INSTALL_MODES).map(([value, { name }]) => ({ value, label: name }))}
            style={{ alignSelf: "flex-start" }}
          />
          <Text size="sm">{INSTALL_MODES[mode].meaning}</Text>
          <CopyField label="Snippet" value={toSnippet(widget, mode)} />
          <Text size="sm" c="dimmed">
            To learn where visitors first came from, put the first line into every page of your site. With a content
            security policy, allow this address in script-src and frame-src:{" "}
            <code>{new URL(widget.pageUrl).origin}</code>
          </Text>
          {widget.allowedDomains.length > 0 && (
            <Text size="sm" c="dimmed">
              It can be shown on {widget.allowedDomains.join(", ")} only.
            </Text>
          )}
          {widget.status === "paused" && (
            <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={20} stroke={1.6} />}>
              The widget is paused: visitors cannot book, and views are not counted.
            </Alert>
          )}
        </Stack>
      </Section>
      <InstallCheck widget={widget} />
    </>
  );
}
