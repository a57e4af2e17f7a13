import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ButtonLink } from "../layout/links.tsx";
import { EmptyState } from "./EmptyState.tsx";

type NotHereProps = {
  icon: Icon;
  title: string;
  /** The list in which it would be. */
  list: { to: string; label: string; search?: Record<string, string> };
  children?: ReactNode;
};

/** An address of something that is gone, or never was. */
export function NotHere({ icon, title, list, children }: NotHereProps) {
  const link = (
    <ButtonLink to={list.to} search={list.search ?? {}} variant="default">
      {list.label}
    </ButtonLink>
  );
  return (
    <EmptyState icon={icon} title={title} action={link}>
      {children}
    </EmptyState>
  );
}
