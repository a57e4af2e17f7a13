const endings: (() => Promise<unknown>)[] = [];

/** For what all files of a process share: runs when the last of them is done. */
export function afterLastFile(end: () => Promise<unknown>): void {
  endings.push(end);
}

/** Called by the test queue after its last file. */
export async function endSharing(): Promise<void> {
  await Promise.all(endings.map((end) => end()));
}
