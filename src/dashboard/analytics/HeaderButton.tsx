import { ActionIcon } from "@mantine/core";
import type { Icon } from "@tabler/icons-react";
import type { ComponentPropsWithRef, ReactNode } from "react";
import { ALLOWED, type Verdict } from "../can.ts";
import { useIsPhone } from "../hooks/screen-width.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";

type HeaderButtonProps = Omit<ComponentPropsWithRef<"button">, "color" | "style" | "disabled"> & {
  icon: Icon;
  label: string;
  verdict?: Verdict;
  disabled?: boolean;
  loading?: boolean;
  rightSection?: ReactNode;
};

/** A button beside the heading. Phones have room for its icon only, and only if it can be used. */
export function HeaderButton({ icon: Icon, label, verdict = ALLOWED, rightSection, ...props }: HeaderButtonProps) {
  const icon = <Icon size={17} stroke={1.6} />;
  if (!useIsPhone())
    return (
      <ActionButton variant="default" verdict={verdict} leftSection={icon} rightSection={rightSection} {...props}>
        {label}
      </ActionButton>
    );
  return (
    verdict.isAllowed && (
      <ActionIcon variant="default" size={36} aria-label={label} {...props}>
        {icon}
      </ActionIcon>
    )
  );
}
