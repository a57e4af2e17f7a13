import { ORGANIZATION_HEADER } from "../api/account-constants.ts";
import { ApiFailure } from "../api/client.ts";
import { reportSessionEnd } from "../api/session-end.ts";

const KEPT_MS = 60_000;

/** Fetches a file as the member of an organization and hands it to the browser to save. */
export async function download(address: string, about: { organization: string; fileName: string }): Promise<void> {
  const headers = { [ORGANIZATION_HEADER]: about.organization };
  const response = await fetch(address, { headers, credentials: "same-origin" }).catch(() => {
    throw new ApiFailure({ code: "unreachable", status: 0, message: "Bookflow cannot be reached. Please try again." });
  });
  if (response.status === 401) reportSessionEnd();
  if (!response.ok) {
    const { error } = await response.json();
    throw new ApiFailure({ ...error, status: response.status });
  }
  const url = URL.createObjectURL(await response.blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: about.fileName });
  link.click();
  // The browser has begun to save it long before then.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
