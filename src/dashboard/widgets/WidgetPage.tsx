import { Tabs } from "@mantine/core";
import { IconAppWindow, IconExternalLink, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { AppWidget } from "#contract/app/widgets.ts";
import { changeWidget, widgetQuery } from "../api/queries.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmButton } from "../ui/forms/ConfirmDialog.tsx";
import { OutsideButton } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { NotFoundNote } from "../ui/states/EmptyState.tsx";
import { Loaded, LoadingCard, StaleNotice } from "../ui/states/Loaded.tsx";
import { DesignTab } from "./design/DesignTab.tsx";
import { InstallTab } from "./install/InstallTab.tsx";
import { ModeBadge } from "./mode/ModeBadge.tsx";
import { ModeBar } from "./mode/ModeBar.tsx";
import { ServicesTab } from "./ServicesTab.tsx";
import { StorageTab } from "./StorageTab.tsx";
import { StatusBadge } from "./WidgetTable.tsx";

const DEFAULTS = { tab: "design" };

export function WidgetPage() {
  const { id, paths } = useOrganization();
  const { widget: widgetId } = useParams({ strict: false }) as { widget: string };
  const widget = useQuery(widgetQuery(id, widgetId));
  const shown = widget.data;
  const list = { to: paths.widgets, label: "Go to widgets" };
  const missing = <NotFoundNote icon={IconAppWindow} title="Widget not found" list={list} />;
  return (
    <Page
      title={shown?.name ?? "Widget"}
      description={shown && (shown.businessName || shown.id)}
      back={{ to: paths.widgets, label: "Widgets" }}
      mark={
        shown && (
          <>
            <ModeBadge mode={shown.mode} />
            {shown.status === "paused" && <StatusBadge status={shown.status} />}
          </>
        )
      }
      actions={shown && <Actions widget={shown} />}
    >
      <StaleNotice query={widget} />
      <Loaded query={widget} placeholder={<LoadingCard />} missing={missing}>
        {(data) => (
          <>
            <ModeBar widget={data} />
            <WidgetTabs key={data.id} widget={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ widget }: { widget: AppWidget }) {
  return (
    <>
      <OutsideButton href={widget.pageUrl} icon={<IconExternalLink size={17} stroke={1.6} />}>
        Open booking page
      </OutsideButton>
      <PauseButton widget={widget} />
    </>
  );
}

/** All tabs fit in one row on a phone. */
const TAB_PADDING = { base: "xs", sm: "md" };

/** Tabs with a form stay mounted, so that unsaved changes survive. Mantine's own way would remove their effects. */
function WidgetTabs({ widget }: { widget: AppWidget }) {
  const [{ tab }, change] = useUrlState(DEFAULTS);
  const [opened, setOpened] = useState([tab]);
  if (!opened.includes(tab)) setOpened([...opened, tab]);
  return (
    <Tabs
      value={tab}
      onChange={(next) => change({ tab: next ?? DEFAULTS.tab })}
      keepMounted={false}
      keepMountedMode="display-none"
    >
      <Tabs.List mb="lg">
        <Tabs.Tab value="design" px={TAB_PADDING}>
          Design
        </Tabs.Tab>
        <Tabs.Tab value="services" px={TAB_PADDING}>
          Services
        </Tabs.Tab>
        <Tabs.Tab value="install" px={TAB_PADDING}>
          Install
        </Tabs.Tab>
        <Tabs.Tab value="storage" px={TAB_PADDING}>
          Store bookings
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="design" keepMounted={opened.includes("design")}>
        <DesignTab widget={widget} />
      </Tabs.Panel>
      <Tabs.Panel value="services" keepMounted={opened.includes("services")}>
        <ServicesTab widget={widget} />
      </Tabs.Panel>
      <Tabs.Panel value="install">
        <InstallTab widget={widget} />
      </Tabs.Panel>
      <Tabs.Panel value="storage">
        <StorageTab widget={widget} />
      </Tabs.Panel>
    </Tabs>
  );
}

export function PauseButton({ widget }: { widget: AppWidget }) {
  const { id, can } = useOrganization();
  const isPaused = widget.status === "paused";
  const change = changeWidget(id, widget.id);
  const Icon = isPaused ? IconPlayerPlay : IconPlayerPause;
  return (
    <ConfirmButton
      label={isPaused ? "Activate widget" : "Pause widget"}
      button={{
        variant: "default",
        verdict: can("changeWidget"),
        leftSection: <Icon size={17} stroke={1.6} />,
      }}
      title={isPaused ? `Activate ${widget.name}?` : `Pause ${widget.name}?`}
      isDangerous={!isPaused}
      action={{
        ...change,
        run: () => change.run({ status: isPaused ? "active" : "paused" }),
        successMessage: (saved) => (saved.status === "paused" ? `${saved.name} paused` : `${saved.name} activated`),
      }}
    >
      {isPaused
        ? "Visitors can book again, and visits are counted again."
        : "The widget stays on your page, but visitors can’t book and visits aren’t counted. Existing bookings aren’t affected."}
    </ConfirmButton>
  );
}
