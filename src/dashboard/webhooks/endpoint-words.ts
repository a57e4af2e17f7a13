import { type Icon, IconBrandSlack, IconBrandTeams, IconWebhook } from "@tabler/icons-react";
import dayjs from "dayjs";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import type { Verdict } from "../can.ts";

type Condition = AppEndpoint["health"]["condition"];

export const KINDS: Record<EndpointKind, { name: string; icon: Icon; meaning: string; help: string; example: string }> =
  {
    webhook: {
      name: "Webhook",
      icon: IconWebhook,
      meaning: "Signed JSON for your own software, Zapier, Make or n8n.",
      help: "Must be reachable from the internet over https.",
      example: "https://example.com/hooks/bookings",
    },
    teams: {
      name: "Microsoft Teams",
      icon: IconBrandTeams,
      meaning: "Posts a card to a channel.",
      help: "In the channel’s menu, choose Workflows, then “Post to a channel when a webhook request is received”. Finish the setup and paste the full URL here.",
      example: "https://….logic.azure.com/workflows/…",
    },
    slack: {
      name: "Slack",
      icon: IconBrandSlack,
      meaning: "Posts a message to a channel.",
      help: "Create an app at api.slack.com/apps, turn on Incoming Webhooks, add a webhook to a channel and paste its URL here.",
      example: "https://hooks.slack.com/services/…",
    },
  };

export const CONDITION_NAMES: Record<Condition, string> = {
  idle: "No deliveries yet",
  healthy: "Healthy",
  failing: "Failing",
  disabled: "Off",
};

export const CONDITION_COLORS: Record<Condition, string> = {
  idle: "gray",
  healthy: "green",
  failing: "red",
  disabled: "gray",
};

export const DISABLED_WORDS: Record<NonNullable<AppEndpoint["disabledReason"]>, string> = {
  manual: "Turned off by a member",
  gone: "Turned off because the receiver returned 410 Gone",
  failing: "Turned off because deliveries kept failing",
};

/** Whether the receiver asked us to wait (Retry-After) and that time is not over yet. */
export function isPaused<Health extends AppEndpoint["health"]>(
  health: Health,
): health is Health & { pausedUntil: string } {
  return health.pausedUntil !== null && dayjs(health.pausedUntil).isAfter(dayjs());
}

/** The endpoint's display name: its description, or its host. */
export function nameOf({ description, url }: Pick<AppEndpoint, "description" | "url">): string {
  return description === "" ? (URL.parse(url)?.host ?? url) : description;
}

/** Forbids actions that send something while the endpoint is off. */
export function onlyWhileOn(verdict: Verdict, { status }: Pick<AppEndpoint, "status">): Verdict {
  if (verdict.isAllowed && status === "disabled") return { isAllowed: false, reason: "Turn on the endpoint first." };
  return verdict;
}
