import { Collapse, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronRight } from "@tabler/icons-react";
import { type ReactNode, useId } from "react";
import classes from "./Collapsible.module.css";

type CollapsibleProps = {
  label: string;
  /** Forces it open, for example to show an error. */
  isOpen?: boolean;
  /** For much content: it is made only while it is open. */
  isLazy?: boolean;
  children: ReactNode;
};

/** Content that few people need, collapsed at first. */
export function Collapsible({ label, isOpen = false, isLazy = false, children }: CollapsibleProps) {
  const [isUnfolded, unfolded] = useDisclosure(false);
  const isShown = isUnfolded || isOpen;
  const id = useId();
  return (
    <div>
      <UnstyledButton className={classes["label"]} aria-expanded={isShown} aria-controls={id} onClick={unfolded.toggle}>
        <IconChevronRight size={16} stroke={1.75} className={classes["arrow"]} data-open={isShown} aria-hidden />
        {label}
      </UnstyledButton>
      <Collapse expanded={isShown} id={id} keepMounted={!isLazy}>
        <div className={classes["content"]}>{children}</div>
      </Collapse>
    </div>
  );
}
