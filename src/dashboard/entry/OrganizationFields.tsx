import { TextInput } from "@mantine/core";
import { TimeZoneSelect } from "../ui/forms/TimeZoneSelect.tsx";
import type { FieldsOf } from "./AccountFields.tsx";

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
