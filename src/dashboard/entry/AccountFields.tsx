import { TextInput } from "@mantine/core";
import { NewPasswordInput } from "./NewPasswordInput.tsx";

/** The part of an uncontrolled form that field groups use. */
export type FieldsOf<Name extends string> = {
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
