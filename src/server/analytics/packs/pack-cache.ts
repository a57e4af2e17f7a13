import type { VisitPack } from "./visit-pack.ts";

/** A decoded pack is about this much larger than its bytes: it has an object for each of its columns. */
const OBJECTS_BYTES = 6_000;

type Kept = { pack: VisitPack; bytes: number };

/**
 * The packs used last, for people who look at one window with several filters. A pack is found by its day and the digest of its
 * bytes, so a pack that was made again is a different one.
 */
export class PackCache {
  readonly #bytesMax: number;
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether packs of this size leave room for others. */
  hasRoomFor({ packs, bytes }: { packs: number; bytes: number }): boolean {
    return bytes + packs * OBJECTS_BYTES <= this.#bytesMax / 2;
  }

  find(key: string): VisitPack | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.pack;
  }

  /** The pack must have its bytes for itself. */
  keep(key: string, { pack, bytes }: Kept): void {
    this.#forget(key);
    this.#kept.set(key, { pack, bytes: bytes + OBJECTS_BYTES });
    this.#bytes += bytes + OBJECTS_BYTES;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}
