// Whether the session has ended. shell/SessionEnd.tsx shows it.

let isEnded = false;
const watchers = new Set<() => void>();

export function reportSessionEnd(): void {
  setEnded(true);
}

export function forgetSessionEnd(): void {
  setEnded(false);
}

export function readSessionEnd(): boolean {
  return isEnded;
}

export function watchSessionEnd(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const CHANNEL = "bookflow-sign-out";

/** Tells the browser's other tabs. */
export function announceSignOut(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** Signing out in one tab hides everything in the others. */
export function followSignOut(): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = reportSessionEnd;
  return () => channel.close();
}

function setEnded(value: boolean): void {
  isEnded = value;
  for (const watcher of watchers) watcher();
}
