import type { ReactNode } from "react";
import classes from "./Clipped.module.css";

/** One line for long text without spaces, such as a URL. It is cut off with an ellipsis; the tooltip has the whole. */
export function Clipped({ whole, children = whole }: { whole: string; children?: ReactNode }) {
  return (
    <div className={classes["clipped"]} title={whole}>
      {children}
    </div>
  );
}
