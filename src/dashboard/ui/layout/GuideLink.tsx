import { Anchor } from "@mantine/core";

/** After a screen's description: "Learn more", in a new tab. `about` says to screen readers what the guide is about. */
export function GuideLink({ to, about }: { to: string; about: string }) {
  return (
    <Anchor href={`/docs/${to}`} target="_blank" underline="always" inherit aria-label={`Learn more about ${about}`}>
      Learn more
    </Anchor>
  );
}
