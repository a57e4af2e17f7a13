import { Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { signInsQuery } from "../api/queries.ts";
import { NewPasswordInput } from "../entry/AccountFields.tsx";
import { useAction } from "../hooks/use-action.ts";
import { LeaveGuard } from "../ui/forms/LeaveGuard.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";

const EMPTY = { currentPassword: "", newPassword: "" };

export function PasswordSection({ hasPassword, email }: { hasPassword: boolean; email: string }) {
  const form = useForm({ initialValues: EMPTY });
  const change = useAction({
    run: (body: typeof EMPTY) => call("changePassword", { body }),
    form,
    isQuiet: false,
    refreshes: [signInsQuery.queryKey],
    successMessage: () => "Password changed. Your other devices were signed out.",
    onDone: () => form.reset(),
  });
  if (!hasPassword)
    return (
      <Section title="Password">
        <Text size="sm">
          You use single sign-on and don’t have a password here.{" "}
          <TextLink underline="always" to={ENTRY_PAGES.forgotPassword}>
            Request a link
          </TextLink>{" "}
          to set one.
        </Text>
      </Section>
    );
  return (
    <Section title="Password" description="Changing your password signs out your other devices.">
      {/* The browser may have filled in the current password, so only the new one counts as a change. */}
      <LeaveGuard isDirty={form.isDirty("newPassword")} />
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack gap="md">
          {/* For password managers. */}
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...form.getInputProps("currentPassword")}
          />
          <NewPasswordInput label="New password" {...form.getInputProps("newPassword")} />
          <Group>
            <Button type="submit" disabled={!form.isDirty()} loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
