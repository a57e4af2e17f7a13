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

function setEnded(value: boolean): void {
  isEnded = value;
  for (const watcher of watchers) watcher();
}
