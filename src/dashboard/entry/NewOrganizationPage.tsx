import { Button, Group } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { HOME } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { pathsOf } from "../paths.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { guessTimeZone } from "../ui/forms/TimeZoneSelect.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { OrganizationFields } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

export function NewOrganizationPage() {
  const navigate = useNavigate();
  const idempotencyKey = useIdempotencyKey();
  const form = useForm({ initialValues: { name: "", timeZone: guessTimeZone() } });
  const create = useAction({
    run: (values: typeof form.values) => call("createOrganization", { body: values, idempotencyKey }),
    form,
    refreshes: [meKey],
    successMessage: (_, { name }) => `${name} created`,
    onDone: ({ id }) => void navigate({ to: pathsOf(id).start, replace: true }),
  });
  return (
    <EntryFrame
      title="Create organization"
      description="An organization has its own widgets, bookings, members and plan. You’ll be its owner."
    >
      <ActionForm form={form} action={create}>
        <OrganizationFields form={form} name="name" />
        <Group justify="flex-end" gap="xs">
          <ButtonLink to={HOME} variant="default">
            Cancel
          </ButtonLink>
          <Button type="submit" loading={create.isPending}>
            Create organization
          </Button>
        </Group>
      </ActionForm>
    </EntryFrame>
  );
}
