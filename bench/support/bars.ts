import { printTable } from "./table.ts";

export type Bar = { what: string; measured: string; bar: string; isReached: boolean };

export function printBars(benches: readonly { name: string; bars: readonly Bar[] }[]): void {
  printTable(
    benches.flatMap(({ name, bars }) =>
      bars.map(({ what, measured, bar, isReached }) => ({
        bench: name,
        what,
        measured,
        target: bar,
        verdict: isReached ? "pass" : "MISS",
      })),
    ),
  );
}

const RESIDENT_BAR_MB = 250;

/** Figures of the Node process under the bench's load. */
export function judgeMemory(residentMb: number): Bar {
  return {
    what: "resident memory of the Node process",
    measured: `${Math.round(residentMb)} MB`,
    bar: `≤ ${RESIDENT_BAR_MB} MB`,
    isReached: residentMb <= RESIDENT_BAR_MB,
  };
}
