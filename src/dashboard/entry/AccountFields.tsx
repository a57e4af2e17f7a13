import { PasswordInput, type PasswordInputProps, TextInput } from "@mantine/core";
import { PASSWORD_LENGTH_MIN } from "#contract/limits.ts";
import { TimeZoneSelect } from "../ui/forms/TimeZoneSelect.tsx";

/** The part of an uncontrolled form that field groups use. */
type FieldsOf<Name extends string> = {
  key(name: Name): string;
  getInputProps(name: Name): object;
};

export function AccountFields({ form }: { form: FieldsOf<"name" | "email" | "password"> }) {
  return (
    <>
      <TextInput label="Name" autoComplete="name" required key={form.key("name")} {...form.getInputProps("name")} />
      <TextInput
        label="Email address"
        type="email"
        autoComplete="username"
        required
        key={form.key("email")}
        {...form.getInputProps("email")}
      />
      <NewPasswordInput key={form.key("password")} {...form.getInputProps("password")} />
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
      <TextInput
        label="Organization name"
        autoComplete="organization"
        required
        key={form.key(name)}
        {...form.getInputProps(name)}
      />
      <TimeZoneSelect
        label="Time zone"
        description="Analytics count days in this time zone. You can change it later."
        required
        key={form.key("timeZone")}
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
