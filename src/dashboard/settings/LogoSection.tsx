import { FileButton, Group, Text } from "@mantine/core";
import { useRef } from "react";
import { LOGO_BYTES_MAX } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { toastFailure, useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./LogoSection.module.css";

const ACCEPTED = "image/png,image/jpeg,image/webp";

/** Shown in widgets beside the business name. */
export function LogoSection() {
  const { id, name, details, can } = useOrganization();
  const { logoUrl } = details;
  const save = useAction({
    run: async (file: File) =>
      call("saveLogo", { organization: id, body: { picture: toBase64(new Uint8Array(await file.arrayBuffer())) } }),
    refreshes: [[id, "organization"]],
    successMessage: () => (logoUrl === null ? "Logo uploaded" : "Logo replaced"),
  });
  const remove = useAction({
    run: () => call("removeLogo", { organization: id }),
    refreshes: [[id, "organization"]],
    successMessage: () => "Logo removed",
  });
  const clearInput = useRef<() => void>(null);
  const choose = (file: File | null) => {
    // Otherwise the browser would not report the same file a second time.
    clearInput.current?.();
    if (file && file.size > LOGO_BYTES_MAX) toastFailure("Choose a PNG, JPEG or WebP image of at most 200 KB.");
    else if (file) save.mutate(file);
  };
  return (
    <Section title="Logo" description="Shown in your widgets. PNG, JPEG or WebP, at most 200 KB.">
      <Group gap="md">
        {logoUrl === null ? (
          <Text size="sm" c="dimmed">
            No logo yet
          </Text>
        ) : (
          <img src={logoUrl} alt={`Logo of ${name}`} className={classes["logo"]} />
        )}
        <FileButton onChange={choose} accept={ACCEPTED} resetRef={clearInput}>
          {(props) => (
            <ActionButton variant="default" verdict={can("saveLogo")} loading={save.isPending} {...props}>
              {logoUrl === null ? "Upload logo" : "Replace logo"}
            </ActionButton>
          )}
        </FileButton>
        {logoUrl !== null && (
          <ActionButton
            variant="default"
            verdict={can("saveLogo")}
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Remove logo
          </ActionButton>
        )}
      </Group>
    </Section>
  );
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
