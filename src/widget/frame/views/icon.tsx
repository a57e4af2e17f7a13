const PATHS = {
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  clock: "M12 7v5l3 2M12 3a9 9 0 100 18 9 9 0 000-18z",
  calendar: "M4 9h16M8 3v4M16 3v4M6 5h12a2 2 0 012 2v11a2 2 0 01-2 2H6a2 2 0 01-2-2V7a2 2 0 012-2z",
  person: "M12 12a4 4 0 100-8 4 4 0 000 8zM4.5 20c1-3.5 4-5 7.5-5s6.5 1.5 7.5 5",
  video: "M4 7h10v10H4zM14 11l6-3.5v9L14 13",
  globe: "M12 3a9 9 0 100 18 9 9 0 000-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  alert: "M12 8v5M12 16.5v.01M12 3a9 9 0 100 18 9 9 0 000-18z",
} as const;

type IconName = keyof typeof PATHS;

/** Decorative: the text beside it says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
