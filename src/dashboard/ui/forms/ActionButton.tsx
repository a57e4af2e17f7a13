import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";
import { ALLOWED, type Verdict } from "../../can.ts";

type ActionButtonProps = ButtonProps &
  Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps> & { verdict?: Verdict };

/** A forbidden action stays visible and focusable, and says why: keyboards would skip a disabled button. */
export function ActionButton({ verdict = ALLOWED, onClick, ...props }: ActionButtonProps) {
  if (verdict.isAllowed) return <Button {...props} {...(onClick ? { onClick } : {})} />;
  return (
    <Tooltip label={verdict.plan ? `${verdict.reason} See Plan in Settings.` : verdict.reason}>
      <Button {...props} type="button" data-disabled aria-disabled="true" onClick={(event) => event.preventDefault()} />
    </Tooltip>
  );
}
