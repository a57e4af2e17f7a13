import { TextInput } from "@mantine/core";
import { TimeZoneSelect } from "../ui/forms/TimeZoneSelect.tsx";
import type { FieldsOf } from "./AccountFields.tsx";

/** What a new organization takes. `name` is what its form calls the name. */
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
        description="Days in analytics begin and end here. It can be changed later."
        required
        key={form.key("timeZone")}
        {...form.getInputProps("timeZone")}
      />
    </>
  );
}
