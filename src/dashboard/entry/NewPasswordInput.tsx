import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { PASSWORD_LENGTH_MIN } from "#contract/app/limits.ts";

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
