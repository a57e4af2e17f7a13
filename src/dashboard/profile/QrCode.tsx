import { useMemo } from "react";
import { encode } from "uqr";
import classes from "./QrCode.module.css";

/** The empty border that cameras need, in modules. */
const QUIET_ZONE = 4;

/** Dark on white in both colour schemes: many cameras can't read light on dark. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = useMemo(() => encode(text, { ecc: "M", border: QUIET_ZONE }), [text]);
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className={classes["code"]} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={squares.join("")} shapeRendering="crispEdges" />
    </svg>
  );
}
