import classes from "./Brand.module.css";

export function Brand() {
  return (
    <span className={classes["brand"]}>
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="9" className={classes["tile"]} />
        <path d="M8.5 10.5h15M8.5 16h10.5M8.5 21.5h5.5" className={classes["bars"]} />
      </svg>
      <span data-brand-name>Bookflow</span>
    </span>
  );
}
