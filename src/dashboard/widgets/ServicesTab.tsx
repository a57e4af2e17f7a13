import { ActionIcon, Checkbox, Group, MultiSelect, Radio, Stack, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AppWidget, WidgetServices } from "#contract/app/widgets.ts";
import type { Mode } from "#contract/widgets/widget.ts";
import { changeWidget, widgetServicesQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { LeaveGuard } from "../ui/forms/LeaveGuard.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import {
  type Choice,
  type ChosenService,
  moveService,
  type Offer,
  toChoice,
  toOffer,
  updateChosen,
} from "./chosen-services.ts";
import classes from "./ServicesTab.module.css";

export function ServicesTab({ widget }: { widget: AppWidget }) {
  const { id } = useOrganization();
  const services = useQuery(widgetServicesQuery(id, widget.id));
  return (
    <Section title="Services and staff" description={DESCRIPTIONS[widget.mode]}>
      <Loaded query={services} rows={4}>
        {/* Each scheduling system has its own services. */}
        {(data) => <OfferForm key={widget.connectionId} widget={widget} known={data.services} />}
      </Loaded>
    </Section>
  );
}

const DESCRIPTIONS: Readonly<Record<Mode, string>> = {
  test: "These services are made up. When you go live, your scheduling system’s services replace them.",
  live: "From your scheduling system. If you choose services, anything you add there later isn’t offered until you choose it here.",
};

function OfferForm({ widget, known }: { widget: AppWidget; known: WidgetServices["services"] }) {
  const { id, can } = useOrganization();
  const verdict = can("changeWidget");
  const { isAll, chosen, isDirty, isContested, edit, forget } = useChoice(widget, known);
  const save = useAction({
    ...changeWidget(id, widget.id),
    successMessage: (saved) => `Services for ${saved.name} saved`,
    onDone: forget,
  });
  const offer = toOffer({ isAll, chosen });
  const isEmpty = offer !== null && offer.length === 0;
  const change = (service: ChosenService) =>
    edit({ chosen: chosen.map((each) => (each.id === service.id ? service : each)) });
  return (
    <Stack gap="md">
      <LeaveGuard isDirty={isDirty}>Your changes to the services haven’t been saved.</LeaveGuard>
      <Radio.Group
        value={isAll ? "all" : "some"}
        onChange={(value) => edit({ isAll: value === "all" })}
        aria-label="Services to offer"
      >
        <Stack gap="xs">
          <Radio value="all" label="Offer everything, in the scheduling system’s order" disabled={!verdict.isAllowed} />
          <Radio value="some" label="Choose services, staff and order" disabled={!verdict.isAllowed} />
        </Stack>
      </Radio.Group>
      {!isAll && (
        <ol className={classes["list"]}>
          {chosen.map((service, index) => (
            <li key={service.id} className={classes["item"]}>
              <ServiceRow
                service={service}
                onChange={change}
                onMove={(by) => edit({ chosen: moveService(chosen, index, by) })}
                isFirst={index === 0}
                isLast={index === chosen.length - 1}
              />
            </li>
          ))}
        </ol>
      )}
      {isEmpty && <Fault text="Choose at least one service." />}
      {isContested && <Fault text="Someone else changed the services. Save to overwrite their choice." />}
      <Group justify="flex-end">
        <ActionButton
          verdict={verdict}
          disabled={!isDirty || isEmpty}
          loading={save.isPending}
          onClick={() => save.mutate({ offer, was: { offer: widget.offer } })}
        >
          Save services
        </ActionButton>
      </Group>
    </Stack>
  );
}

function Fault({ text }: { text: string }) {
  return (
    <Text size="sm" c="red" role="alert">
      {text}
    </Text>
  );
}

/** Shows what is saved until it is edited. Edits stay when the widget or its services are read again. */
function useChoice(widget: AppWidget, known: WidgetServices["services"]) {
  const [edited, setEdited] = useState<(Choice & { was: Offer | null }) | null>(null);
  const saved = toChoice(known, widget.offer);
  const shown = edited ? { ...edited, chosen: updateChosen(edited.chosen, known) } : saved;
  // Compared with the known services, because one that the system no longer has isn't an edit.
  const isDirty = !isSame(toOffer(shown), toOffer(saved));
  return {
    isAll: shown.isAll,
    chosen: shown.chosen,
    isDirty,
    isContested: isDirty && edited !== null && !isSame(edited.was, widget.offer),
    edit: (change: Partial<Choice>) => setEdited({ was: widget.offer, ...shown, ...change }),
    forget: () => setEdited(null),
  };
}

function isSame(one: Offer | null, other: Offer | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

type RowProps = {
  service: ChosenService;
  isFirst: boolean;
  isLast: boolean;
  onChange: (service: ChosenService) => void;
  onMove: (by: 1 | -1) => void;
};

function ServiceRow({ service, isFirst, isLast, onChange, onMove }: RowProps) {
  const { name, durationMinutes, staff, isOffered, staffIds } = service;
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap">
      <Stack gap="xs" flex={1} miw={0}>
        <Checkbox
          label={name}
          description={`${durationMinutes} minutes`}
          checked={isOffered}
          onChange={(event) => onChange({ ...service, isOffered: event.currentTarget.checked })}
        />
        {isOffered && staff.length > 1 && (
          <MultiSelect
            aria-label={`Staff for ${name}`}
            placeholder={staffIds.length === 0 ? "Everyone" : ""}
            data={staff.map((person) => ({ value: person.id, label: person.name }))}
            value={staffIds}
            onChange={(ids) => onChange({ ...service, staffIds: ids })}
            clearable
          />
        )}
      </Stack>
      <Group gap={4} wrap="nowrap">
        <ActionIcon variant="default" aria-label={`Move ${name} up`} disabled={isFirst} onClick={() => onMove(-1)}>
          <IconArrowUp size={16} stroke={1.6} />
        </ActionIcon>
        <ActionIcon variant="default" aria-label={`Move ${name} down`} disabled={isLast} onClick={() => onMove(1)}>
          <IconArrowDown size={16} stroke={1.6} />
        </ActionIcon>
      </Group>
    </Group>
  );
}
