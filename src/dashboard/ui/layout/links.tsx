import {
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  UnstyledButton,
  type UnstyledButtonProps,
} from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";

// Mantine's looks on the router's links. Their `to` comes from paths.ts.

type LinkAttributes<Own> = Own & Omit<ComponentPropsWithRef<"a">, keyof Own>;

export const TextLink = createLink((props: LinkAttributes<AnchorProps>) => (
  // As large as the text around it, unless a size is given.
  <Anchor component="a" inherit={props.size === undefined} {...props} />
));

export const ButtonLink = createLink((props: LinkAttributes<ButtonProps>) => <Button component="a" {...props} />);

/** Without a look of its own: whole cards and rows. */
export const PlainLink = createLink((props: LinkAttributes<UnstyledButtonProps>) => (
  <UnstyledButton component="a" {...props} />
));
