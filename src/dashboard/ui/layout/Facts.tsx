import type { ReactNode } from "react";
import classes from "./Facts.module.css";

export type Fact = readonly [name: string, value: ReactNode];

/** Names and values, one per line; on phones the name is above the value. Empty values are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const present = facts.filter(([, value]) => value || value === 0);
  return (
    <dl className={classes["facts"]}>
      {present.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
