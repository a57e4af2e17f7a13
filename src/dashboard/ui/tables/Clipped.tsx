import type { ReactNode } from "react";
import classes from "./Clipped.module.css";

/** One line of a table for what may be long without a space, such as a URL. It ends in dots; pointing at it shows the whole. */
export function Clipped({ whole, children = whole }: { whole: string; children?: ReactNode }) {
  return (
    <div className={classes["clipped"]} title={whole}>
      {children}
    </div>
  );
}
