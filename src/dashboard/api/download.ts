import { addressOf } from "./call.ts";
import { type Query, send } from "./client.ts";

type DownloadOptions = { organization: string; query: Query };

/** A link can't show a refusal, so a dry run of the same request goes first and reports any fault. */
export async function download(
  route: "exportBookings" | "exportAdConversions" | "exportAnalytics" | "exportAudit",
  { organization, query }: DownloadOptions,
): Promise<void> {
  await send({ method: "GET", path: addressOf(route, { ...query, organization, dryRun: "true" }) });
  // The answer names the file.
  Object.assign(document.createElement("a"), {
    href: addressOf(route, { ...query, organization }),
    download: "",
  }).click();
}
