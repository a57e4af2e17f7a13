import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "#contract/analytics/dimensions.ts";
import { assertGrowsLinearly } from "../../../../test/support/cost.ts";
import { toDevice } from "./read-visit.ts";

const KHTML = "AppleWebKit/537.36 (KHTML, like Gecko)";

const CASES: Readonly<Record<Device, readonly string[]>> = {
  desktop: [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/141.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KHTML} Chrome/141.0.0.0 Safari/537.36`,
    "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko",
    "Mozilla/5.0 (X11; OpenBSD amd64; rv:128.0) Gecko/20100101 Firefox/128.0",
  ],
  mobile: [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (iPod touch; CPU iPhone OS 15_8 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/141.0.0.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 15; SM-S931B Build/AP3A) ${KHTML} Version/4.0 Chrome/140.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/500.0;]`,
    "Mozilla/5.0 (Android 14; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Instagram 380.0.0.0 (iPhone16,2)",
    "Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) AppleWebKit/537.36 Mobile Safari/537.36 Edge/15.14977",
    "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/29.3709; U; en) Presto/2.8.119 Version/11.10",
    "Mozilla/5.0 (Mobile; LYF/F90M; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5",
    "Mozilla/5.0 (BB10; Hit) AppleWebKit/537.10+ (KHTML, like Gecko) Version/10.0.9.2372 Mobile Safari/537.10+",
  ],
  tablet: [
    "Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1",
    `Mozilla/5.0 (Linux; Android 13; SM-X906C Build/QP1A) ${KHTML} Version/4.0 Chrome/80.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/141.0.0.0 Safari/537.36`,
    "Mozilla/5.0 (Android 14; Tablet; rv:143.0) Gecko/143.0 Firefox/143.0",
    `Mozilla/5.0 (Linux; Android 9; KFMAWI) ${KHTML} Silk/110.1 like Chrome/110.0 Safari/537.36`,
    "Mozilla/5.0 (PlayBook; U; RIM Tablet OS 2.1.0; en-US) AppleWebKit/536.2+ Version/7.2.1.0 Safari/536.2+",
    "Mozilla/5.0 (X11; U; Linux armv7l like Android; en-us) AppleWebKit/531.2+ Version/5.0 Safari/533.2+ Kindle/3.0+",
  ],
  other: [
    "",
    "Mozilla/5.0",
    "something else",
    `Mozilla/5.0 (Linux; Tizen 6.5; SMART-TV; Linux) ${KHTML} SamsungBrowser/3.0 Chrome/85.0 TV Safari/537.36`,
    `Mozilla/5.0 (Web0S; Linux/SmartTV) ${KHTML} Chrome/94.0.4606.128 Safari/537.36 WebAppManager`,
    `Mozilla/5.0 (Linux; Android 12; BRAVIA 4K VH2) ${KHTML} Chrome/141.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 9; AFTKA) ${KHTML} Silk/110.1 like Chrome/110.0 Safari/537.36`,
    `Mozilla/5.0 (X11; Linux armv7l) ${KHTML} Chrome/92.0 Safari/537.36 CrKey/1.56.500000`,
    "Mozilla/5.0 (PlayStation; PlayStation 5/9.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15",
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) ${KHTML} Chrome/140.0 Safari/537.36 Edge/44.18363`,
    "Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.2.21.3 NintendoBrowser/5.1",
  ],
};

for (const [device, userAgents] of Object.entries(CASES)) {
  for (const userAgent of userAgents) {
    test(`${device}: ${userAgent || "no user agent"}`, () => assert.equal(toDevice(userAgent), device));
  }
}

test("a long user agent is classified in linear time", () => {
  for (const piece of ["silk ", "a", "android", "kf", "("])
    assertGrowsLinearly((length) => toDevice(piece.repeat(length)), 32_000);
});
