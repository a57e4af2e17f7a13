/** Where the time comes from. Pure functions take `now: Date` instead. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };
