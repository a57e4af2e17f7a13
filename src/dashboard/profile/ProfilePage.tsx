import { Button, Group, SimpleGrid, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useFollowedValues } from "../hooks/use-followed-values.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { LeaveGuard } from "../ui/forms/LeaveGuard.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { PasswordSection } from "./PasswordSection.tsx";
import { SignInsSection } from "./SignInsSection.tsx";
import { SingleSignOnSection } from "./SingleSignOnSection.tsx";
import { TwoFactorSection } from "./TwoFactorSection.tsx";

export function ProfilePage() {
  const { me } = useOrganization();
  return (
    <Page title="Profile" description={`Your account (${me.user.email}) is the same in all your organizations.`}>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={0} style={{ alignItems: "start" }}>
        <div>
          <NameSection name={me.user.name} />
          <TwoFactorSection user={me.user} />
          <SingleSignOnSection user={me.user} />
        </div>
        <PasswordSection hasPassword={me.user.hasPassword} email={me.user.email} />
      </SimpleGrid>
      <SignInsSection />
    </Page>
  );
}

function NameSection({ name }: { name: string }) {
  const form = useForm({ initialValues: { name } });
  useFollowedValues(form, { name });
  const rename = useAction({
    run: (name: string) => call("changeMe", { body: { name } }),
    form,
    isQuiet: false,
    refreshes: [meKey],
    successMessage: () => "Name saved",
    onDone: (_, changed) => form.setInitialValues({ name: changed }),
  });
  // The server trims it too. With a space more, the saved name would look like someone else's change.
  const save = (typed: string) => {
    const name = typed.trim();
    form.setValues({ name });
    rename.mutate(name);
  };
  return (
    <Section title="Name" description="Shown to other members of your organizations.">
      <LeaveGuard isDirty={form.isDirty()} />
      <form onSubmit={form.onSubmit((values) => save(values.name))}>
        <Group align="flex-end" gap="sm">
          <TextInput label="Name" autoComplete="name" required flex="1 1 14rem" {...form.getInputProps("name")} />
          <Button type="submit" disabled={!form.isDirty()} loading={rename.isPending}>
            Save name
          </Button>
        </Group>
      </form>
    </Section>
  );
}
