/** Why a report has no comparison: data begins after the earlier period, or during it. */
export function describeMissingComparison(previous: { to: string } | null, dataSince: string | null): string {
  const isPartial = previous !== null && dataSince !== null && previous.to >= dataSince;
  return isPartial ? "Not enough earlier data" : "No earlier data";
}
