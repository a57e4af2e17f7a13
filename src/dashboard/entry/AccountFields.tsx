import { PasswordInput, type PasswordInputProps, TextInput } from "@mantine/core";
import { PASSWORD_LENGTH_MIN } from "#contract/limits.ts";
import { TimeZoneSelect } from "../ui/forms/TimeZoneSelect.tsx";

type FieldsOf<Name extends string> = { getInputProps(name: Name): object };

export function AccountFields({ form }: { form: FieldsOf<"name" | "email" | "password"> }) {
  return (
    <>
      <TextInput label="Name" autoComplete="name" required {...form.getInputProps("name")} />
      <TextInput label="Email address" type="email" autoComplete="username" required {...form.getInputProps("email")} />
      <NewPasswordInput {...form.getInputProps("password")} />
    </>
  );
}

export function OrganizationFields<Name extends string>({
  form,
  name,
}: {
  form: FieldsOf<Name | "timeZone">;
  name: Name;
}) {
  return (
    <>
      <TextInput label="Organization name" autoComplete="organization" required {...form.getInputProps(name)} />
      <TimeZoneSelect
        label="Time zone"
        description="Analytics count days in this time zone. You can change it later."
        required
        {...form.getInputProps("timeZone")}
      />
    </>
  );
}

export function NewPasswordInput(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      description={`At least ${PASSWORD_LENGTH_MIN} characters. A few words are easier to remember than symbols.`}
      autoComplete="new-password"
      required
      minLength={PASSWORD_LENGTH_MIN}
      {...props}
    />
  );
}
