/** `day` 0 is Monday. */
export type WeekHour = { day: number; hour: number };

/** The hours of the week with the largest count; none if all are 0. */
export function findBusiest(counts: readonly (readonly number[])[]): { count: number; hours: WeekHour[] } {
  const most = Math.max(0, ...counts.flat());
  if (most === 0) return { count: 0, hours: [] };
  const hours = counts.flatMap((ofDay, day) => ofDay.flatMap((count, hour) => (count === most ? [{ day, hour }] : [])));
  return { count: most, hours };
}
