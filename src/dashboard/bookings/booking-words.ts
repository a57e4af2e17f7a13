/** Later changes happen in the scheduling system, so a stored booking has the status it was made with. */
export function describeStatus(status: string): string {
  return `${status.charAt(0).toUpperCase()}${status.slice(1)} when booked`;
}
