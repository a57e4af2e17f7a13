import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";
import { ALLOWED, type Verdict } from "../../can.ts";

type ActionButtonProps = ButtonProps &
  Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps> & { verdict?: Verdict };

/**
 * A button for what may be out of reach. Where it is, it stays in place and can be focused, so that everybody hears the
 * reason; a button that is truly disabled would be passed over.
 */
export function ActionButton({ verdict = ALLOWED, onClick, ...props }: ActionButtonProps) {
  if (verdict.isAllowed) return <Button {...props} {...(onClick ? { onClick } : {})} />;
  return (
    <Tooltip label={verdict.reason}>
      <Button {...props} type="button" data-disabled aria-disabled="true" onClick={(event) => event.preventDefault()} />
    </Tooltip>
  );
}
