import { addressOf } from "./call.ts";
import { type Query, send } from "./client.ts";

type DownloadOptions = { organization: string; query: Query };

/**
 * Has the browser stream a file to disk. A link can neither carry a header nor show a refusal, so a dry run of the same request
 * goes first and reports any fault.
 */
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
