import type { Random } from "../lib/secrets/random.ts";

/** A seeded random generator, the same in every run so that its results can be tested. Not for secrets. */
export type Dice = Random & {
  /** At least 0, less than 1. */
  roll(): number;
  /** True with this probability, 0 to 1. */
  falls(chance: number): boolean;
  between(least: number, most: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** Picks each with a probability proportional to its share. */
  pickByShare<T extends { readonly share: number }>(list: readonly [T, ...T[]]): T;
};

export function createDice(seed: number): Dice {
  // A state of zero would stay zero.
  let state = seed | 0 || 1;
  const roll = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return {
    roll,
    falls: (chance) => roll() < chance,
    between: (least, most) => Math.floor(least + roll() * (most - least + 1)),
    pick: (list) => list[Math.floor(roll() * list.length)] ?? list[0],
    pickByShare(list) {
      let rest = roll() * list.reduce((sum, { share }) => sum + share, 0);
      for (const one of list) {
        rest -= one.share;
        if (rest < 0) return one;
      }
      return list[0];
    },
    bytes(count) {
      const words = Uint32Array.from({ length: Math.ceil(count / 4) }, () => roll() * 2 ** 32);
      return Buffer.from(words.buffer, 0, count);
    },
  };
}
