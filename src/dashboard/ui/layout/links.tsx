import {
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  UnstyledButton,
  type UnstyledButtonProps,
} from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef, ReactNode } from "react";

// The router's links with Mantine's styles. Their `to` comes from paths.ts.

type LinkAttributes<Own> = Own & Omit<ComponentPropsWithRef<"a">, keyof Own>;

export const TextLink = createLink((props: LinkAttributes<AnchorProps>) => (
  // Inherits the text size unless one is given.
  <Anchor component="a" inherit={props.size === undefined} {...props} />
));

export const ButtonLink = createLink((props: LinkAttributes<ButtonProps>) => <Button component="a" {...props} />);

/** Unstyled, for whole cards and rows. */
export const PlainLink = createLink((props: LinkAttributes<UnstyledButtonProps>) => (
  <UnstyledButton component="a" {...props} />
));

/** `about` says to screen readers what the guide is about. */
export type Guide = { to: string; about: string };

/** After a description: "Learn more", in a new tab. */
export function GuideLink({ to, about }: Guide) {
  return (
    <Anchor href={`/docs/${to}`} target="_blank" underline="always" inherit aria-label={`Learn more about ${about}`}>
      Learn more
    </Anchor>
  );
}

export function OutsideButton({ href, icon, children }: { href: string; icon: ReactNode; children: ReactNode }) {
  return (
    <Button component="a" href={href} target="_blank" rel="noreferrer" variant="default" leftSection={icon}>
      {children}
    </Button>
  );
}
