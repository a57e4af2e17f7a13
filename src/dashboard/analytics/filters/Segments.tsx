import { ActionIcon, Button, Divider, Group, Popover, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconBookmark, IconCheck, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Segment } from "#contract/app/analytics.ts";
import { SEGMENT_NAME_LENGTH_MAX } from "#contract/limits.ts";
import { segmentsQuery } from "../../api/analytics.ts";
import { call } from "../../api/call.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useIdempotencyKey } from "../../hooks/use-idempotency-key.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ConfirmAction } from "../../ui/forms/ConfirmDialog.tsx";
import { Loaded } from "../../ui/states/Loaded.tsx";
import type { ChipsProps } from "./FilterChips.tsx";
import { parseFilterQuery, toFilterQuery } from "./filter-state.ts";
import classes from "./Segments.module.css";

type SegmentsProps = Pick<ChipsProps, "state" | "change">;

/** Saved sets of filters. Choosing one replaces all filters. */
export function Segments({ state, change }: SegmentsProps) {
  const { id } = useOrganization();
  const [isOpen, popover] = useDisclosure(false);
  const [deleted, setDeleted] = useState<Segment | null>(null);
  const segments = useQuery(segmentsQuery(id));
  const shown = toFilterQuery(state);
  const isShown = ({ query }: Segment) => toFilterQuery(parseFilterQuery(query)) === shown;
  const chosen = segments.data?.data.find(isShown);
  return (
    <>
      <Popover opened={isOpen} onChange={popover.close} position="bottom-start" shadow="md" trapFocus returnFocus>
        <Popover.Target>
          <Button
            variant="default"
            leftSection={<IconBookmark size={17} stroke={1.6} />}
            onClick={popover.toggle}
            aria-label={chosen ? `Segment: ${chosen.name}` : "Segments"}
            data-shrinks
          >
            {chosen?.name ?? "Segments"}
          </Button>
        </Popover.Target>
        <Popover.Dropdown className={classes["dropdown"] ?? ""}>
          <Loaded query={segments} rows={2}>
            {({ data }) => (
              <Stack gap="sm">
                {data.length > 0 && (
                  <ul className={classes["list"]} aria-label="Segments">
                    {data.map((segment) => (
                      <Row
                        key={segment.id}
                        segment={segment}
                        isChosen={segment === chosen}
                        onChoose={() => {
                          popover.close();
                          change(parseFilterQuery(segment.query));
                        }}
                        onDelete={() => {
                          popover.close();
                          setDeleted(segment);
                        }}
                      />
                    ))}
                  </ul>
                )}
                {data.length > 0 && <Divider />}
                <NewSegment key={shown} query={shown} chosen={chosen} />
              </Stack>
            )}
          </Loaded>
        </Popover.Dropdown>
      </Popover>
      <DeleteDialog segment={deleted} onClose={() => setDeleted(null)} />
    </>
  );
}

function DeleteDialog({ segment, onClose }: { segment: Segment | null; onClose: () => void }) {
  const { id } = useOrganization();
  return (
    <ConfirmAction
      subject={segment}
      title={`Delete ${segment?.name ?? ""}?`}
      confirmLabel="Delete segment"
      action={{
        run: (deleted) => call("deleteSegment", { organization: id, params: { segment: deleted.id } }),
        refreshes: [segmentsQuery(id).queryKey],
        successMessage: (_, { name }) => `Segment ${name} deleted`,
      }}
      onClose={onClose}
    >
      Everyone in your organization uses the same segments. This can’t be undone.
    </ConfirmAction>
  );
}

type RowProps = { segment: Segment; isChosen: boolean; onChoose: () => void; onDelete: () => void };

function Row({ segment, isChosen, onChoose, onDelete }: RowProps) {
  const { can } = useOrganization();
  const [isRenamed, renaming] = useDisclosure(false);
  if (isRenamed)
    return (
      <li>
        <RenameForm segment={segment} onClose={renaming.close} />
      </li>
    );
  return (
    <li className={classes["row"]}>
      <UnstyledButton className={classes["name"]} aria-pressed={isChosen} onClick={onChoose}>
        {segment.name}
        {isChosen && <IconCheck size={15} stroke={2} aria-hidden />}
      </UnstyledButton>
      {can("changeSegment").isAllowed && (
        <>
          <ActionIcon aria-label={`Rename ${segment.name}`} title="Rename" onClick={renaming.open}>
            <IconPencil size={16} stroke={1.6} aria-hidden />
          </ActionIcon>
          <ActionIcon aria-label={`Delete ${segment.name}`} title="Delete" onClick={onDelete}>
            <IconTrash size={16} stroke={1.6} aria-hidden />
          </ActionIcon>
        </>
      )}
    </li>
  );
}

function RenameForm({ segment, onClose }: { segment: Segment; onClose: () => void }) {
  const { id } = useOrganization();
  const form = useForm({ initialValues: { name: segment.name } });
  const rename = useAction({
    run: (body: { name: string }) => call("changeSegment", { organization: id, params: { segment: segment.id }, body }),
    form,
    isQuiet: false,
    refreshes: [segmentsQuery(id).queryKey],
    successMessage: () => "Segment renamed",
    onDone: onClose,
  });
  return (
    <form onSubmit={form.onSubmit((body) => rename.mutate(body))}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          aria-label={`New name of ${segment.name}`}
          maxLength={SEGMENT_NAME_LENGTH_MAX}
          flex={1}
          data-autofocus
          autoFocus
          {...form.getInputProps("name")}
        />
        <Button type="submit" loading={rename.isPending}>
          Rename
        </Button>
      </Group>
    </form>
  );
}

/** Saves the current filters, unless there are none or a segment has the same. */
function NewSegment({ query, chosen }: { query: string; chosen: Segment | undefined }) {
  const { id, can } = useOrganization();
  const idempotencyKey = useIdempotencyKey();
  const form = useForm({ initialValues: { name: "" } });
  const save = useAction({
    run: ({ name }: { name: string }) =>
      call("saveSegment", { organization: id, body: { name, query }, idempotencyKey }),
    form,
    isQuiet: false,
    refreshes: [segmentsQuery(id).queryKey],
    successMessage: ({ name }) => `Segment ${name} saved`,
  });
  const verdict = can("saveSegment");
  const note = !verdict.isAllowed
    ? verdict.reason
    : query === ""
      ? "A segment is a saved set of filters. Add filters to save one."
      : chosen && "Change the filters to save another segment.";
  if (note)
    return (
      <Text size="sm" c="dimmed">
        {note}
      </Text>
    );
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <TextInput
          label="Save these filters as a segment"
          placeholder="Visitors from ads"
          maxLength={SEGMENT_NAME_LENGTH_MAX}
          autoComplete="off"
          required
          withAsterisk={false}
          flex={1}
          {...form.getInputProps("name")}
        />
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
      </Group>
    </form>
  );
}
