import { addressOf, type CallOptions } from "./app-calls.ts";
import { send } from "./client.ts";

type FileRoute = "exportBookings" | "exportAnalytics";

/**
 * Has the browser save a file, which goes to the disk as it comes, however long it is. A link can neither carry a header nor say
 * here why it was refused, so the same is asked for without the file first.
 */
export async function download(route: FileRoute, { organization, query }: CallOptions): Promise<void> {
  const asked = { ...query, organization };
  await send({ method: "GET", path: addressOf(route, { query: { ...asked, dryRun: "true" } }) });
  // The name stands in the answer.
  Object.assign(document.createElement("a"), { href: addressOf(route, { query: asked }), download: "" }).click();
}
