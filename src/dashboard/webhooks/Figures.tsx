import type { ReactNode } from "react";
import classes from "./Figures.module.css";

export type Figure = readonly [label: string, value: ReactNode];

export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl className={classes["figures"]}>
      {figures.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
