import { chooseAddress, isPortTaken } from "./address.ts";
import { clearLeftoverServer } from "./leftover-server.ts";
import { type PostmasterSpec, type PostmasterStart, startPostmaster } from "./postmaster.ts";
import type { Address } from "./settings.ts";

type ServerSpec = Omit<PostmasterSpec, "address"> & {
  dataDir: string;
  /** The address that clients already use; null for any. */
  address: Address | null;
};

const ATTEMPTS = 5;
/** Another server's pid file, or its shared memory, is still there. */
const LOCK_FILE_EXISTS = "F0001";

/** Starts the server on a cluster in whatever state the last run left it. */
export async function startServer(spec: ServerSpec): Promise<PostmasterStart & { address: Address }> {
  for (let attemptNumber = 1; ; attemptNumber++) {
    await clearLeftoverServer(spec.cluster.folder);
    const place = { dataDir: spec.dataDir, clusterFolder: spec.cluster.folder };
    const address = spec.address ?? (await chooseAddress(place));
    const start = await startPostmaster({ ...spec, address });
    if (start.kind !== "failed" || attemptNumber === ATTEMPTS) return { ...start, address };
    const mayWorkNext =
      start.sqlState === LOCK_FILE_EXISTS || (address.kind === "tcp" && (await isPortTaken(address.port)));
    if (!mayWorkNext) return { ...start, address };
  }
}
