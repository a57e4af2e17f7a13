// Whether a request was refused because nobody is signed in any more. shell/SessionEnd.tsx shows it.

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

/** Tells every tab of this browser. */
export function announceSignOut(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** Whoever signs out in one tab leaves nothing to be seen in the others. */
export function followSignOut(): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = reportSessionEnd;
  return () => channel.close();
}

function setEnded(value: boolean): void {
  isEnded = value;
  for (const watcher of watchers) watcher();
}
