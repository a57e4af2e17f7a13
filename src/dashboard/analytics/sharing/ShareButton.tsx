import { Button, Divider, Group, Modal, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconLink } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AppAnalytics, ReportLink } from "#contract/app/analytics.ts";
import { REPORT_LINK_NAME_LENGTH_MAX } from "#contract/limits.ts";
import { reportLinksQuery } from "../../api/analytics.ts";
import { call } from "../../api/call.ts";
import { describeDayRange } from "../../days.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useIdempotencyKey } from "../../hooks/use-idempotency-key.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { CopyButton } from "../../ui/copy/CopyField.tsx";
import { ActionForm } from "../../ui/forms/ActionForm.tsx";
import { Loaded } from "../../ui/states/Loaded.tsx";
import { HeaderButton } from "../HeaderButton.tsx";
import { describePeriod } from "../period/periods.ts";
import { describeReportQuery, type ReportState, toReportQuery } from "../report-state.ts";

type ShareProps = {
  state: ReportState;
  report: AppAnalytics | undefined;
  widgetNames: ReadonlyMap<string, string>;
};

/** Makes links that show the current report to people without an account, and revokes them. */
export function ShareButton({ state, report, widgetNames }: ShareProps) {
  const { can } = useOrganization();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <HeaderButton icon={IconLink} label="Share" verdict={can("createReportLink")} onClick={open} />
      <Modal opened={isOpen} onClose={close} title="Share this report">
        {report && <Sharing {...{ state, report, widgetNames }} />}
      </Modal>
    </>
  );
}

type SharingProps = ShareProps & { report: AppAnalytics };

function Sharing(props: SharingProps) {
  const { id } = useOrganization();
  const links = useQuery(reportLinksQuery(id));
  return (
    <Loaded query={links} rows={3}>
      {({ data }) => (
        <Stack gap="md">
          {/* After each link, an empty form for the next. */}
          <NewLink key={data.length} {...props} />
          {data.length > 0 && (
            <>
              <Divider />
              <Stack component="ul" gap="sm" m={0} p={0} aria-label="Shared reports">
                {data.map((link) => (
                  <LinkRow key={link.id} link={link} widgetNames={props.widgetNames} />
                ))}
              </Stack>
            </>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

type LinkForm = { name: string; days: "moving" | "fixed" };

function NewLink({ state, report, widgetNames }: SharingProps) {
  const { id } = useOrganization();
  const idempotencyKey = useIdempotencyKey();
  const isMoving = state.from === "" && state.to === "";
  const shown = describeReportQuery(toReportQuery(state, null), widgetNames);
  const form = useForm<LinkForm>({
    initialValues: {
      name: [...shown].slice(0, REPORT_LINK_NAME_LENGTH_MAX).join(""),
      days: isMoving ? "moving" : "fixed",
    },
  });
  const create = useAction({
    run: ({ name, days }: LinkForm) =>
      call("createReportLink", {
        organization: id,
        body: { name, query: toReportQuery(state, days === "fixed" ? report : null) },
        idempotencyKey,
      }),
    form,
    refreshes: [reportLinksQuery(id).queryKey],
    successMessage: () => "Link created",
  });
  return (
    <ActionForm form={form} action={create}>
      <Text size="sm" c="dimmed">
        Anyone with the link sees this report without signing in: {shown}. It shows counts only, no customer data.
      </Text>
      <TextInput
        label="Name"
        description="Shown as the report’s title."
        maxLength={REPORT_LINK_NAME_LENGTH_MAX}
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps("name")}
      />
      {isMoving && (
        <Radio.Group label="Period" {...form.getInputProps("days")}>
          <Stack gap="xs" mt="xs">
            <Radio value="moving" label={`Always up to date: ${describePeriod(state).toLowerCase()}`} />
            <Radio value="fixed" label={`Fixed: ${describeDayRange(report.from, report.to)}`} />
          </Stack>
        </Radio.Group>
      )}
      <Group justify="flex-end">
        <Button type="submit" loading={create.isPending}>
          Create link
        </Button>
      </Group>
    </ActionForm>
  );
}

function LinkRow({ link, widgetNames }: { link: ReportLink; widgetNames: ReadonlyMap<string, string> }) {
  const { id, format } = useOrganization();
  const [isAsked, setIsAsked] = useState(false);
  const revoke = useAction({
    run: () => call("revokeReportLink", { organization: id, params: { link: link.id } }),
    refreshes: [reportLinksQuery(id).queryKey],
    successMessage: () => "Link revoked",
  });
  const shown = describeReportQuery(link.query, widgetNames);
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start" justify="space-between">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
          {link.name}
        </Text>
        <Text size="xs" c="dimmed">
          {shown !== link.name && `${shown}. `}
          {format.date(link.createdAt)}
          {link.createdBy !== null && `, ${link.createdBy}`}
        </Text>
        {isAsked && (
          <Text size="xs" mt={4}>
            The link stops working at once.
          </Text>
        )}
      </div>
      <Group gap={4} wrap="nowrap">
        <CopyButton value={link.url} label={`Copy link to ${link.name}`} />
        <Button
          size="xs"
          variant={isAsked ? "filled" : "default"}
          {...(isAsked ? { color: "red" } : {})}
          aria-label={`${isAsked ? "Confirm: revoke" : "Revoke"} ${link.name}`}
          loading={revoke.isPending}
          onClick={() => (isAsked ? revoke.mutate() : setIsAsked(true))}
          onBlur={() => setIsAsked(false)}
        >
          {isAsked ? "Revoke link" : "Revoke"}
        </Button>
      </Group>
    </Group>
  );
}
