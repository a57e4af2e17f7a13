import { Button, Group, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Navigate, useNavigate } from "@tanstack/react-router";
import { DASHBOARD_ADDRESS } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { NEW_ORGANIZATION, pathsOf } from "../paths.ts";
import { useMe } from "../shell/AppGate.tsx";
import { useSignOut } from "../shell/Switchers.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { guessTimeZone } from "../ui/forms/TimeZoneSelect.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { OrganizationFields } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

/** /app opens the organization that was used last. */
export function StartPage() {
  const me = useMe();
  const signOut = useSignOut();
  if (me.current !== null) return <Navigate to={pathsOf(me.current).start} replace />;
  return (
    <EntryFrame title="You’re not in an organization yet" description={`Signed in as ${me.user.email}`}>
      <Text size="sm">
        {me.canCreateOrganization
          ? "Create an organization, or open the invitation you received."
          : "Ask an admin of your organization to invite this email address."}
      </Text>
      <Group gap="xs">
        {me.canCreateOrganization && <ButtonLink to={NEW_ORGANIZATION}>Create organization</ButtonLink>}
        <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </Group>
    </EntryFrame>
  );
}

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
          <ButtonLink to={DASHBOARD_ADDRESS} variant="default">
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
