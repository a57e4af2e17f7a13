import type { Clock } from "../../lib/time/clock.ts";
import type { MicrosoftBookingsParts } from "../connections/connection-settings.ts";
import { createKeptRead, type KeptRead } from "../kept-read.ts";
import type { Outbound } from "../outbound.ts";
import { readReply, toUpstream } from "../read-reply.ts";
import { refused, type WrongCredential } from "../scheduling-system.ts";
import { shapes } from "./shapes.ts";

type AccessToken = { readonly text: string; readonly lifeSeconds: number };

/** A token is replaced this long before it expires, so that none expires in transit. */
const EARLY_SECONDS = 300;
const TOKEN_TIMEOUT_MS = 6_000;

/** By the error names of OAuth. Microsoft's own numbers may change at any time, as its documentation says. */
const WRONG: Readonly<Record<string, WrongCredential>> = {
  invalid_request: "tenant",
  unauthorized_client: "application",
  invalid_client: "secret",
};

/** The application's own token (client credentials), valid for the whole tenant. Kept until shortly before it expires. */
export function createAccessToken(
  deps: { outbound: Outbound; clock: Clock },
  { settings, credentials }: MicrosoftBookingsParts,
): KeptRead<AccessToken> {
  return createKeptRead(deps, {
    timeoutMs: TOKEN_TIMEOUT_MS,
    toKeptMs: ({ lifeSeconds }) => (lifeSeconds - EARLY_SECONDS) * 1_000,
    load: async (signal) => {
      const reply = await deps.outbound.send(
        {
          method: "POST",
          url: `${settings.loginUrl}/${encodeURIComponent(settings.tenantId)}/oauth2/v2.0/token`,
          headers: {},
          body: {
            form: {
              grant_type: "client_credentials",
              client_id: settings.clientId,
              client_secret: credentials.clientSecret,
              scope: `${new URL(settings.graphUrl).origin}/.default`,
            },
          },
        },
        signal,
      );
      // An unknown tenant, an unknown application and a wrong secret all get 400 or 401.
      if (reply.kind === "reply" && reply.status >= 400 && reply.status < 500 && reply.status !== 429) {
        const wrong = WRONG[String((reply.json as { error?: unknown } | null | undefined)?.error)];
        return { ...refused("credentials", toUpstream(reply)), ...(wrong && { wrong }) };
      }
      const read = readReply(reply, shapes.token);
      if (read.kind !== "found") return read;
      return { kind: "found", value: { text: read.value.access_token, lifeSeconds: read.value.expires_in } };
    },
  });
}
