/** Later changes happen in the scheduling system, so a stored booking only says how things stood when it was made. */
export function describeStatus(status: string): string {
  return `${status.charAt(0).toUpperCase()}${status.slice(1)} when booked`;
}
