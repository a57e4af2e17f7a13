import { type Icon, IconBrandSlack, IconBrandTeams, IconWebhook } from "@tabler/icons-react";
import dayjs from "dayjs";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { EndpointKind } from "#contract/endpoint.ts";

// What an endpoint is and how it is doing, in words.

type Condition = AppEndpoint["health"]["condition"];

export const KINDS: Record<EndpointKind, { name: string; icon: Icon; meaning: string; help: string; example: string }> =
  {
    webhook: {
      name: "Webhook",
      icon: IconWebhook,
      meaning: "Signed JSON, for a program of yours or a service such as Zapier, Make or n8n.",
      help: "The address of your program. Bookflow has to be able to reach it.",
      example: "https://example.com/hooks/bookings",
    },
    teams: {
      name: "Microsoft Teams",
      icon: IconBrandTeams,
      meaning: "A card in a channel.",
      help: "In the channel’s menu choose Workflows, then “Post to a channel when a webhook request is received”. Finish it and paste the whole address here.",
      example: "https://….logic.azure.com/workflows/…",
    },
    slack: {
      name: "Slack",
      icon: IconBrandSlack,
      meaning: "A message in a channel.",
      help: "At api.slack.com/apps create an app, switch Incoming Webhooks on, add one to a channel, and paste its address here.",
      example: "https://hooks.slack.com/services/…",
    },
  };

export const CONDITION_NAMES: Record<Condition, string> = {
  idle: "Nothing sent yet",
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
  manual: "A member switched it off.",
  gone: "Its receiver answered that it is gone for good (410).",
  failing: "Deliveries to it kept failing.",
};

/** Whether its receiver has asked for a pause that is not over. */
export function isPaused<Health extends AppEndpoint["health"]>(
  health: Health,
): health is Health & { pausedUntil: string } {
  return health.pausedUntil !== null && dayjs(health.pausedUntil).isAfter(dayjs());
}

/** What it is called here: its description, or its host. */
export function nameOf({ description, url }: Pick<AppEndpoint, "description" | "url">): string {
  return description === "" ? (URL.parse(url)?.host ?? url) : description;
}
