type Rgb = readonly [red: number, green: number, blue: number];

export const CONTRAST_MIN = 4.5;

const WHITE: Rgb = [255, 255, 255];
const NEAR_BLACK: Rgb = [16, 19, 28];
const STEPS = 50;

type AccentColors = {
  readonly fill: string;
  /** Text on the fill. */
  readonly onFill: string;
  /** Text or lines on the background. */
  readonly ink: string;
};

/** `accent` and `ground` are `#rrggbb`. */
export function toAccentColors(accent: string, ground: string): AccentColors {
  const [fill, base] = [parseHex(accent), parseHex(ground)];
  const onFill = toContrast(WHITE, fill) >= CONTRAST_MIN ? WHITE : NEAR_BLACK;
  // For some mid tones neither black nor white has enough contrast, so the fill is changed slightly.
  const readableFill = moveUntilReadable(fill, { against: onFill, towards: onFill === WHITE ? NEAR_BLACK : WHITE });
  const isGroundLight = toContrast(base, NEAR_BLACK) > toContrast(base, WHITE);
  const ink = moveUntilReadable(fill, { against: base, towards: isGroundLight ? NEAR_BLACK : WHITE });
  return { fill: toHex(readableFill), onFill: toHex(onFill), ink: toHex(ink) };
}

/** WCAG 2: from 1 (the same) to 21 (black on white). */
export function toContrast(one: Rgb, other: Rgb): number {
  const [a, b] = [toLuminance(one), toLuminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

export function parseHex(text: string): Rgb {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function moveUntilReadable(color: Rgb, to: { against: Rgb; towards: Rgb }): Rgb {
  for (let step = 0; step <= STEPS; step++) {
    const mixed = mix(color, to.towards, step / STEPS);
    if (toContrast(mixed, to.against) >= CONTRAST_MIN) return mixed;
  }
  return to.towards;
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  const channel = (index: 0 | 1 | 2) => Math.round(one[index] * (1 - share) + other[index] * share);
  return [channel(0), channel(1), channel(2)];
}

function toLuminance(color: Rgb): number {
  const linear = (value: number) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
}

function toHex(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
