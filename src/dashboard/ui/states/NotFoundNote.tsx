import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ButtonLink } from "../layout/links.tsx";
import { EmptyState } from "./EmptyState.tsx";

type NotFoundNoteProps = {
  icon: Icon;
  title: string;
  list: { to: string; label: string; search?: Record<string, string> };
  children?: ReactNode;
};

export function NotFoundNote({ icon, title, list, children }: NotFoundNoteProps) {
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
