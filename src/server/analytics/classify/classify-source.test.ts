import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { CHANNELS } from "#contract/analytics/dimensions.ts";
import { toChannel } from "./channel-rules.ts";
import { classifySource, hasSpamReferrer, type SiteHosts, toCampaignKey, toSourceKey } from "./classify-source.ts";
import { toSite } from "./referrer.ts";
import { findByApp, findByHost, findByName } from "./source-lookup.ts";
import { KNOWN_SOURCES } from "./source-tables.ts";
import { TAG_MAX_CODE_POINTS } from "./tag.ts";

/**
 * Input, then the whole result: source, medium, campaign, channel. The page is www.salon-anna.de unless the row says otherwise.
 */
type Row = [
  input: RawAttribution,
  source: string,
  medium: string,
  campaign: string | null,
  channel: string,
  site?: SiteHosts,
];

const SITE: SiteHosts = { pageHosts: ["www.salon-anna.de"], ownHosts: [] };

const from = (referrer: string): RawAttribution => ({ referrer });
const utm = (utmSource?: string, utmMedium?: string, utmCampaign?: string): RawAttribution => ({
  ...(utmSource === undefined ? {} : { utmSource }),
  ...(utmMedium === undefined ? {} : { utmMedium }),
  ...(utmCampaign === undefined ? {} : { utmCampaign }),
});
const page = (...pageHosts: string[]): SiteHosts => ({ pageHosts, ownHosts: [] });
const own = (...ownHosts: string[]): SiteHosts => ({ pageHosts: SITE.pageHosts, ownHosts });

const GCLID = "EAIaIQobChMI8fT5-example-gclid-value_BwE";

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  "C12: nothing is known": [
    [{}, "(direct)", "(none)", null, "Direct"],
    [{ referrer: "", utmSource: "", utmMedium: "", utmCampaign: "", gclid: "" }, "(direct)", "(none)", null, "Direct"],
    [utm(" ", "\t", "\n"), "(direct)", "(none)", null, "Direct"],
    [utm("null", "undefined", "(not set)"), "(direct)", "(none)", null, "Direct"],
    [utm("NULL", "Undefined", "(Not Set)"), "(direct)", "(none)", null, "Direct"],
    [{ landingPage: "https://other.example/?utm_source=google" }, "(direct)", "(none)", null, "Direct"],
    [{ utmTerm: "haircut", utmContent: "blue" }, "(direct)", "(none)", null, "Direct"],
    [utm("(direct)", "(none)"), "(direct)", "(none)", null, "Direct"],
    [utm("(direct)"), "(direct)", "(not set)", null, "Direct"],
    [utm("(direct)", "(none)", "autumn"), "(direct)", "(none)", "autumn", "Direct"],
    [utm("(direct)", "cpc"), "(direct)", "cpc", null, "Paid Other"],
    [utm(undefined, "(none)"), "(not set)", "(none)", null, "Unassigned"],
  ],
  "B: referrers that say nothing": [
    [from("not a url"), "(direct)", "(none)", null, "Direct"],
    [from("google.com"), "(direct)", "(none)", null, "Direct"],
    [from("about:blank"), "(direct)", "(none)", null, "Direct"],
    [from("data:text/html,google.com"), "(direct)", "(none)", null, "Direct"],
    [from("ftp://google.com/"), "(direct)", "(none)", null, "Direct"],
    [from("javascript:alert(1)"), "(direct)", "(none)", null, "Direct"],
    [from("https://"), "(direct)", "(none)", null, "Direct"],
    [from("http://localhost:3000/"), "(direct)", "(none)", null, "Direct"],
    [from("http://app.localhost/"), "(direct)", "(none)", null, "Direct"],
    [from("http://printer.local/"), "(direct)", "(none)", null, "Direct"],
    [from("http://intranet/links"), "(direct)", "(none)", null, "Direct"],
    [from("http://127.0.0.1/"), "(direct)", "(none)", null, "Direct"],
    [from("http://2130706433/"), "(direct)", "(none)", null, "Direct"],
    [from("http://[::1]:8080/"), "(direct)", "(none)", null, "Direct"],
    [from("https://accounts.google.com/signin"), "(direct)", "(none)", null, "Direct"],
    [from("https://login.microsoftonline.com/common"), "(direct)", "(none)", null, "Direct"],
    [from("https://appleid.apple.com/auth"), "(direct)", "(none)", null, "Direct"],
    [from("https://checkout.stripe.com/pay"), "(direct)", "(none)", null, "Direct"],
    [from("https://www.paypal.com/checkoutnow"), "(direct)", "(none)", null, "Direct"],
    [from("https://notpaypal.com/"), "notpaypal.com", "referral", null, "Referral"],
    [from("https://semalt.com/"), "(direct)", "(none)", null, "Direct"],
    [{ ...utm("newsletter", "email"), ...from("https://semalt.com/") }, "newsletter", "email", null, "Email"],
  ],
  "B: self-referrals": [
    [from("https://www.salon-anna.de/prices"), "(direct)", "(none)", null, "Direct"],
    [from("https://salon-anna.de/"), "(direct)", "(none)", null, "Direct"],
    [from("https://blog.salon-anna.de/"), "(direct)", "(none)", null, "Direct"],
    [from("https://SALON-ANNA.DE:8443/"), "(direct)", "(none)", null, "Direct"],
    [from("https://salon-anna.de./"), "(direct)", "(none)", null, "Direct"],
    [from("https://salon-anna.de.evil.example/"), "salon-anna.de.evil.example", "referral", null, "Referral"],
    [from("https://mysalon-anna.de/"), "mysalon-anna.de", "referral", null, "Referral"],
    [from("https://salon-anna.com/"), "salon-anna.com", "referral", null, "Referral"],
    [from("https://shop.anna.co.uk/"), "(direct)", "(none)", null, "Direct", page("book.anna.co.uk")],
    [from("https://bella.co.uk/"), "bella.co.uk", "referral", null, "Referral", page("anna.co.uk")],
    [from("https://bella.com.au/"), "bella.com.au", "referral", null, "Referral", page("www.anna.com.au")],
    [from("https://bella.or.jp/"), "bella.or.jp", "referral", null, "Referral", page("anna.or.jp")],
    [from("https://bella.github.io/"), "bella.github.io", "referral", null, "Referral", page("anna.github.io")],
    [from("https://www.anna.github.io/"), "(direct)", "(none)", null, "Direct", page("anna.github.io")],
    [from("https://www.google.com/"), "google", "organic", null, "Organic Search", page("sites.google.com")],
    [from("https://xn--mller-kva.example/"), "(direct)", "(none)", null, "Direct", page("müller.example")],
    [from("https://anna.example/a"), "(direct)", "(none)", null, "Direct", page("https://www.anna.example/b?c=d")],
    [from("https://two.example/"), "(direct)", "(none)", null, "Direct", page("one.example", "two.example:443")],
    [{ ...from("https://a.anna.at/"), landingPage: "https://anna.at/x" }, "(direct)", "(none)", null, "Direct"],
    [{ ...from("https://a.anna.at/"), currentPage: "https://b.anna.at/" }, "(direct)", "(none)", null, "Direct"],
    [from("https://anna.booker.example/"), "(direct)", "(none)", null, "Direct", own("anna.booker.example")],
    [from("https://booker.example/"), "booker.example", "referral", null, "Referral", own("anna.booker.example")],
    [{ ...from("https://salon-anna.de/"), gclid: GCLID }, "google", "cpc", null, "Paid Search"],
    [{ ...from("https://salon-anna.de/"), ...utm("google", "cpc") }, "google", "cpc", null, "Paid Search"],
    [{ ...from("https://salon-anna.de/"), ...utm(undefined, "qr") }, "(not set)", "qr", null, "Unassigned"],
    [from("https://x.example/"), "x.example", "referral", null, "Referral", page("")],
    [from("https://x.example/"), "x.example", "referral", null, "Referral", page("http://[bad", "%%%", "localhost")],
  ],
  "C1: a tagged source": [
    [utm("google", "cpc", "autumn"), "google", "cpc", "autumn", "Paid Search"],
    [utm("google", "organic"), "google", "organic", null, "Organic Search"],
    [utm("google"), "google", "(not set)", null, "Organic Search"],
    [utm("newsletter"), "newsletter", "(not set)", null, "Email"],
    [utm("flyer"), "flyer", "(not set)", null, "Unassigned"],
    [utm("flyer", "qr", "Street 2026"), "flyer", "qr", "Street 2026", "Unassigned"],
    [{ ...utm("partner", "referral"), ...from("https://www.google.com/") }, "partner", "referral", null, "Referral"],
    [{ ...utm("newsletter"), ...from("https://t.co/abc") }, "newsletter", "(not set)", null, "Email"],
    [{ ...utm("bing", "cpc"), gclid: GCLID }, "bing", "cpc", null, "Paid Search"],
    [{ ...utm("facebook", "social"), fbclid: "IwAR0example" }, "facebook", "social", null, "Organic Social"],
    [{ ...utm("facebook", "paid", "Sale"), fbclid: "IwAR0example" }, "facebook", "paid", "Sale", "Paid Social"],
    [{ ...utm("newsletter", "email"), msclkid: "0a1b2c3d" }, "newsletter", "email", null, "Email"],
  ],
  "C1: other spellings of a source": [
    [utm("fb", "social"), "facebook", "social", null, "Organic Social"],
    [utm("facebook.com", "social"), "facebook", "social", null, "Organic Social"],
    [utm("l.facebook.com"), "facebook", "(not set)", null, "Organic Social"],
    [utm("lm.facebook.com"), "facebook", "(not set)", null, "Organic Social"],
    [utm("m.facebook.com"), "facebook", "(not set)", null, "Organic Social"],
    [utm("ig", "story"), "instagram", "story", null, "Organic Social"],
    [utm("l.instagram.com"), "instagram", "(not set)", null, "Organic Social"],
    [utm("twitter"), "x", "(not set)", null, "Organic Social"],
    [utm("t.co"), "x", "(not set)", null, "Organic Social"],
    [utm("lnkd.in"), "linkedin", "(not set)", null, "Organic Social"],
    [utm("yt"), "youtube", "(not set)", null, "Organic Video"],
    [utm("youtu.be"), "youtube", "(not set)", null, "Organic Video"],
    [utm("www.google.co.uk"), "google", "(not set)", null, "Organic Search"],
    [utm("com.google.android.gm"), "gmail", "(not set)", null, "Email"],
    [utm("netflix.com"), "netflix.com", "(not set)", null, "Unassigned"],
    [utm("visit x.com"), "visit x.com", "(not set)", null, "Unassigned"],
    [utm("googleplex"), "googleplex", "(not set)", null, "Unassigned"],
  ],
  "C1b: a tagged source without a medium": [
    [utm("fb-ads"), "facebook", "cpc", null, "Paid Social"],
    [utm("facebook_ads"), "facebook", "cpc", null, "Paid Social"],
    [utm("googleads"), "google", "cpc", null, "Paid Search"],
    [utm("google_ads"), "google", "cpc", null, "Paid Search"],
    [utm("adwords"), "google", "cpc", null, "Paid Search"],
    [utm("gads"), "google", "cpc", null, "Paid Search"],
    [utm("meta-ads"), "meta", "cpc", null, "Paid Social"],
    [utm("microsoft-ads"), "bing", "cpc", null, "Paid Search"],
    [utm("googleads", "display"), "google", "display", null, "Display"],
    [utm("threads"), "threads", "(not set)", null, "Organic Social"],
    [utm("roads"), "roads", "(not set)", null, "Unassigned"],
    [{ ...utm("google"), gbraid: "0AAAAAexample" }, "google", "cpc", null, "Paid Search"],
    [{ ...utm("partner"), msclkid: "0a1b2c3d" }, "partner", "cpc", null, "Paid Other"],
    [{ ...utm("facebook"), fbclid: "IwAR0example" }, "facebook", "(not set)", null, "Organic Social"],
    [utm("chatgpt.com"), "chatgpt.com", "ai-assistant", null, "AI Assistant"],
    [utm("perplexity"), "perplexity.ai", "ai-assistant", null, "AI Assistant"],
  ],
  "C2 to C5: untagged advertisements": [
    [{ gclid: GCLID }, "google", "cpc", null, "Paid Search"],
    [{ gadSource: "1" }, "google", "cpc", null, "Paid Search"],
    [{ gadCampaignid: "21834059621", ...from("https://www.google.com/") }, "google", "cpc", null, "Paid Search"],
    [{ gadSource: "{gad_source}" }, "(direct)", "(none)", null, "Direct"],
    [{ gadSource: "1", ...utm("newsletter", "email") }, "newsletter", "email", null, "Email"],
    [{ gbraid: "0AAAAAexample" }, "google", "cpc", null, "Paid Search"],
    [{ wbraid: "Cj8KCexample" }, "google", "cpc", null, "Paid Search"],
    [{ msclkid: "0a1b2c3d" }, "bing", "cpc", null, "Paid Search"],
    [{ ttclid: "E.C.P.example" }, "tiktok", "cpc", null, "Paid Social"],
    [{ liFatId: "3c2d6f4e-example" }, "linkedin", "cpc", null, "Paid Social"],
    [{ gclid: GCLID, ...from("https://www.google.com/") }, "google", "cpc", null, "Paid Search"],
    [{ gclid: GCLID, ...from("https://news.example/") }, "google", "cpc", null, "Paid Search"],
    [{ msclkid: "0a1b2c3d", gclid: GCLID }, "google", "cpc", null, "Paid Search"],
    [{ ttclid: "E.C.P.example", fbclid: "IwAR0example" }, "tiktok", "cpc", null, "Paid Social"],
    [{ gclid: GCLID, ...utm(undefined, "display") }, "google", "display", null, "Display"],
    [{ gclid: GCLID, ...utm(undefined, undefined, "Autumn") }, "google", "cpc", "Autumn", "Paid Search"],
    [{ gclid: "{gclid}" }, "(direct)", "(none)", null, "Direct"],
    [{ gclid: "null", msclkid: " " }, "(direct)", "(none)", null, "Direct"],
    [{ gclid: GCLID, ...utm("google", "cpc", `x-${GCLID}`) }, "google", "cpc", null, "Paid Search"],
    [{ gclid: GCLID, ...utm(GCLID, "cpc", "autumn") }, "google", "cpc", "autumn", "Paid Search"],
    [{ gclid: "abc", ...utm("google", "cpc", "abc") }, "google", "cpc", "abc", "Paid Search"],
  ],
  "C6: tagged without a source": [
    [utm(undefined, "email"), "(not set)", "email", null, "Email"],
    [utm(undefined, "cpc"), "(not set)", "cpc", null, "Paid Other"],
    [utm(undefined, undefined, "Autumn"), "(not set)", "(not set)", "Autumn", "Unassigned"],
    [utm(undefined, "qr", "Door"), "(not set)", "qr", "Door", "Unassigned"],
    [{ ...utm(undefined, "cpc"), ...from("https://www.bing.com/") }, "bing", "cpc", null, "Paid Search"],
    [
      { ...utm(undefined, undefined, "Bio"), ...from("https://l.instagram.com/") },
      "instagram",
      "(not set)",
      "Bio",
      "Organic Social",
    ],
    [{ ...utm(undefined, "email"), ...from("https://news.example/") }, "news.example", "email", null, "Email"],
    [{ ...utm(undefined, "story"), fbclid: "IwAR0example" }, "(not set)", "story", null, "Unassigned"],
    [
      { ...utm(undefined, "story"), fbclid: "IwAR0example-fbclid", ...from("https://iwar0example-fbclid.example/") },
      "(not set)",
      "story",
      null,
      "Unassigned",
    ],
  ],
  "C7: fbclid alone is not paid": [
    [{ fbclid: "IwAR0example" }, "facebook", "referral", null, "Organic Social"],
    [{ fbclid: "IwAR0example", ...from("https://l.facebook.com/") }, "facebook", "referral", null, "Organic Social"],
    [{ fbclid: "IwAR0example", ...from("https://l.instagram.com/") }, "instagram", "referral", null, "Organic Social"],
    [{ fbclid: "IwAR0example", ...from("https://www.google.com/") }, "facebook", "referral", null, "Organic Social"],
  ],
  "C8: AI assistants": [
    [from("https://chatgpt.com/"), "chatgpt.com", "ai-assistant", null, "AI Assistant"],
    [from("https://chat.openai.com/c/1"), "chat.openai.com", "ai-assistant", null, "AI Assistant"],
    [from("https://gemini.google.com/app"), "gemini.google.com", "ai-assistant", null, "AI Assistant"],
    [from("https://bard.google.com/"), "bard.google.com", "ai-assistant", null, "AI Assistant"],
    [from("https://claude.ai/chat"), "claude.ai", "ai-assistant", null, "AI Assistant"],
    [from("https://www.perplexity.ai/search"), "perplexity.ai", "ai-assistant", null, "AI Assistant"],
    [from("https://copilot.microsoft.com/"), "copilot.microsoft.com", "ai-assistant", null, "AI Assistant"],
    [from("https://grok.com/"), "grok.com", "ai-assistant", null, "AI Assistant"],
    [from("https://chat.deepseek.com/"), "deepseek.com", "ai-assistant", null, "AI Assistant"],
    [from("https://chat.mistral.ai/"), "chat.mistral.ai", "ai-assistant", null, "AI Assistant"],
    [from("https://www.meta.ai/"), "meta.ai", "ai-assistant", null, "AI Assistant"],
    [from("https://you.com/"), "you.com", "ai-assistant", null, "AI Assistant"],
    [utm("chatgpt.com", "referral"), "chatgpt.com", "referral", null, "AI Assistant"],
    [utm("chatgpt.com", "cpc"), "chatgpt.com", "cpc", null, "Paid Other"],
    [utm("partner", "ai-assistant"), "partner", "ai-assistant", null, "AI Assistant"],
    [from("https://openai.com/"), "openai.com", "referral", null, "Referral"],
    [from("https://thankyou.com/"), "thankyou.com", "referral", null, "Referral"],
    [from("https://notclaude.ai/"), "notclaude.ai", "referral", null, "Referral"],
    [from("https://chatgpt.com.evil.example/"), "chatgpt.com.evil.example", "referral", null, "Referral"],
  ],
  "C9: search engines": [
    [from("https://www.google.com/"), "google", "organic", null, "Organic Search"],
    [from("https://www.google.co.uk/search?q=x"), "google", "organic", null, "Organic Search"],
    [from("https://www.google.de"), "google", "organic", null, "Organic Search"],
    [from("https://google.com.br/"), "google", "organic", null, "Organic Search"],
    [from("https://www.google.com.co/"), "google", "organic", null, "Organic Search"],
    [from("https://www.google.cat/"), "google", "organic", null, "Organic Search"],
    [from("https://scholar.google.com/"), "google", "organic", null, "Organic Search"],
    [from("https://images.google.de/"), "google", "organic", null, "Organic Search"],
    [from("https://docs.google.com/document/d/1"), "docs.google.com", "referral", null, "Referral"],
    [from("https://calendar.google.com/"), "calendar.google.com", "referral", null, "Referral"],
    [from("https://finance.yahoo.com/"), "finance.yahoo.com", "referral", null, "Referral"],
    [from("https://news.yahoo.co.jp/"), "news.yahoo.co.jp", "referral", null, "Referral"],
    [from("https://maps.yandex.ru/"), "maps.yandex.ru", "referral", null, "Referral"],
    [from("https://tieba.baidu.com/"), "tieba.baidu.com", "referral", null, "Referral"],
    [from("https://www.yahoo.com/"), "yahoo", "organic", null, "Organic Search"],
    [from("android-app://com.google.android.googlequicksearchbox/"), "google", "organic", null, "Organic Search"],
    [from("https://cn.bing.com/"), "bing", "organic", null, "Organic Search"],
    [from("https://ntp.msn.com/"), "bing", "organic", null, "Organic Search"],
    [from("https://duckduckgo.com/"), "duckduckgo", "organic", null, "Organic Search"],
    [from("https://uk.search.yahoo.com/"), "yahoo", "organic", null, "Organic Search"],
    [from("https://search.yahoo.co.jp/"), "yahoo", "organic", null, "Organic Search"],
    [from("https://www.ecosia.org/"), "ecosia", "organic", null, "Organic Search"],
    [from("https://yandex.com.tr/"), "yandex", "organic", null, "Organic Search"],
    [from("https://yandex.ru/"), "yandex", "organic", null, "Organic Search"],
    [from("https://ya.ru/"), "yandex", "organic", null, "Organic Search"],
    [from("https://www.baidu.com/"), "baidu", "organic", null, "Organic Search"],
    [from("https://search.brave.com/"), "brave", "organic", null, "Organic Search"],
    [from("https://m.search.naver.com/"), "naver", "organic", null, "Organic Search"],
    [from("https://search.seznam.cz/"), "seznam", "organic", null, "Organic Search"],
    [from("HTTPS://WWW.GOOGLE.COM:443/"), "google", "organic", null, "Organic Search"],
    [from("https://www.google.com./"), "google", "organic", null, "Organic Search"],
  ],
  "C10: mail": [
    [from("https://mail.google.com/mail/u/0/"), "gmail", "email", null, "Email"],
    [from("android-app://com.google.android.gm/"), "gmail", "email", null, "Email"],
    [from("https://outlook.live.com/"), "outlook", "email", null, "Email"],
    [from("https://outlook.office.com/"), "outlook", "email", null, "Email"],
    [from("https://outlook.office365.com/"), "outlook", "email", null, "Email"],
    [from("https://mail.yahoo.com/"), "yahoo mail", "email", null, "Email"],
    [from("https://mail.yandex.ru/"), "yandex mail", "email", null, "Email"],
    [from("https://mail.yahoo.co.jp/"), "yahoo mail", "email", null, "Email"],
    [from("https://mail.proton.me/"), "proton mail", "email", null, "Email"],
    [from("https://deref-gmx.net/"), "gmx", "email", null, "Email"],
    [from("https://deref-web-02.de/"), "web.de mail", "email", null, "Email"],
  ],
  "C11: other referrers": [
    [from("https://www.facebook.com/"), "facebook", "referral", null, "Organic Social"],
    [from("https://lm.facebook.com/l.php"), "facebook", "referral", null, "Organic Social"],
    [from("https://t.co/abc"), "x", "referral", null, "Organic Social"],
    [from("https://x.com/"), "x", "referral", null, "Organic Social"],
    [from("https://mobile.twitter.com/"), "x", "referral", null, "Organic Social"],
    [from("https://www.pinterest.co.uk/"), "pinterest", "referral", null, "Organic Social"],
    [from("https://old.reddit.com/r/berlin"), "reddit", "referral", null, "Organic Social"],
    [from("https://news.ycombinator.com/"), "hackernews", "referral", null, "Organic Social"],
    [from("https://fosstodon.org/@a"), "mastodon", "referral", null, "Organic Social"],
    [from("https://teams.microsoft.com/"), "teams", "referral", null, "Organic Social"],
    [from("android-app://com.slack/"), "slack", "referral", null, "Organic Social"],
    [from("https://m.youtube.com/watch"), "youtube", "referral", null, "Organic Video"],
    [from("https://vimeo.com/1"), "vimeo", "referral", null, "Organic Video"],
    [from("https://www.amazon.co.jp/"), "amazon", "referral", null, "Organic Shopping"],
    [from("https://www.ebay.com.au/"), "ebay", "referral", null, "Organic Shopping"],
    [from("https://www.etsy.com/"), "etsy", "referral", null, "Organic Shopping"],
    [from("https://www.city-guide.example/salons?q=1#x"), "city-guide.example", "referral", null, "Referral"],
    [from("https://user:secret@guide.example:8443/"), "guide.example", "referral", null, "Referral"],
    [from("https://www.example/"), "www.example", "referral", null, "Referral"],
    [from("https://müller.example/"), "xn--mller-kva.example", "referral", null, "Referral"],
    [from("android-app://com.example.reader/https/x"), "com.example.reader", "referral", null, "Referral"],
    [from("android-app://com.evil%00.app/"), "(direct)", "(none)", null, "Direct"],
  ],
  "whole hosts: look-alikes are strangers": [
    [from("https://www.netflix.com/"), "netflix.com", "referral", null, "Referral"],
    [from("https://fedex.com/"), "fedex.com", "referral", null, "Referral"],
    [from("https://www.microsoft.com/"), "microsoft.com", "referral", null, "Referral"],
    [from("https://www.target.com/"), "target.com", "referral", null, "Referral"],
    [from("https://pinterest.company/"), "pinterest.company", "referral", null, "Referral"],
    [from("android-app://m.facebook.com/"), "facebook", "referral", null, "Organic Social"],
    [from("android-app://com.example.m.facebook/"), "com.example.m.facebook", "referral", null, "Referral"],
    [from("https://notgoogle.com/"), "notgoogle.com", "referral", null, "Referral"],
    [from("https://evil-google.com/"), "evil-google.com", "referral", null, "Referral"],
    [from("https://google.com.evil.example/"), "google.com.evil.example", "referral", null, "Referral"],
    [from("https://google.com.evil.co/"), "google.com.evil.co", "referral", null, "Referral"],
    [from("https://google.evil.com/"), "google.evil.com", "referral", null, "Referral"],
    [from("https://google.com@evil.example/"), "evil.example", "referral", null, "Referral"],
    [from("https://evil.example/google.com"), "evil.example", "referral", null, "Referral"],
    [from("https://evil.example/?u=https://google.com"), "evil.example", "referral", null, "Referral"],
    [from("https://blog.google/"), "blog.google", "referral", null, "Referral"],
    [from("https://gооgle.com/"), "xn--ggle-55da.com", "referral", null, "Referral"],
    [from("https://about.me/"), "about.me", "referral", null, "Referral"],
    [from("https://task.com/"), "task.com", "referral", null, "Referral"],
    [from("https://amazonaws.com/"), "amazonaws.com", "referral", null, "Referral"],
    [from("https://naver.com/"), "naver.com", "referral", null, "Referral"],
    [from("https://t.co.uk/"), "t.co.uk", "referral", null, "Referral"],
  ],
  "A: mixed case, spaces and characters that must not be stored": [
    [utm("Google", "CPC", "Autumn Sale"), "google", "cpc", "Autumn Sale", "Paid Search"],
    [utm("LinkedIn", "Paid_Social"), "linkedin", "paid_social", null, "Paid Social"],
    [utm("  google ", " cpc\t", "  Autumn \n  Sale  "), "google", "cpc", "Autumn Sale", "Paid Search"],
    [utm("goo\0gle", "c\u0007pc", "a\u0000b"), "google", "cpc", "ab", "Paid Search"],
    [utm("google", "cpc", "a \u0001 b"), "google", "cpc", "a b", "Paid Search"],
    [utm("google", "cpc", "a\ud800b"), "google", "cpc", "a\ufffdb", "Paid Search"],
    [utm("google", "cpc", "Cafe\u0301"), "google", "cpc", "Café", "Paid Search"],
    [utm("google", "cpc", "e\u0000\u0301"), "google", "cpc", "é", "Paid Search"],
    [utm("google", "cpc", "\u202eevil\u202c"), "google", "cpc", "evil", "Paid Search"],
    [utm("google", "cpc", "50%25 off+more"), "google", "cpc", "50%25 off+more", "Paid Search"],
    [utm("İstanbul", "qr"), "i̇stanbul", "qr", null, "Unassigned"],
    [utm("google", "cpc", "<script>alert(1)</script>"), "google", "cpc", "<script>alert(1)</script>", "Paid Search"],
    [utm("__proto__", "constructor", "toString"), "__proto__", "constructor", "toString", "Unassigned"],
  ],
  "A: unexpanded macros are absent": [
    [utm("facebook", "paid", "{{campaign.name}}"), "facebook", "paid", null, "Paid Social"],
    [utm("google", "cpc", "{keyword}"), "google", "cpc", null, "Paid Search"],
    [utm("google", "cpc", "%7Bcampaignid%7D"), "google", "cpc", null, "Paid Search"],
    [utm("google", "cpc", "%257bcampaignid%257d"), "google", "cpc", null, "Paid Search"],
    [utm("google", "cpc", "{campaignid}_{adgroupid}"), "google", "cpc", null, "Paid Search"],
    [utm("google", "cpc", "$" + "{CAMPAIGN}"), "google", "cpc", null, "Paid Search"],
    [utm("google", "cpc", "[campaign_name]"), "google", "cpc", null, "Paid Search"],
    [utm("google", "cpc", "%%CAMPAIGN%%"), "google", "cpc", null, "Paid Search"],
    [utm("tiktok", "paid", "__CAMPAIGN_NAME__"), "tiktok", "paid", null, "Paid Social"],
    [utm("{{site_source_name}}", "{{placement}}", "{{campaign.name}}"), "(direct)", "(none)", null, "Direct"],
    [{ ...utm("{source}"), gclid: GCLID }, "google", "cpc", null, "Paid Search"],
    [{ ...utm("{source}"), ...from("https://www.bing.com/") }, "bing", "organic", null, "Organic Search"],
    [utm("google", "cpc", "summer {keyword}"), "google", "cpc", "summer {keyword}", "Paid Search"],
    [utm("google", "cpc", "[DE] Brand [exact]"), "google", "cpc", "[DE] Brand [exact]", "Paid Search"],
    [utm("google", "cpc", "[DE][Brand]"), "google", "cpc", "[DE][Brand]", "Paid Search"],
  ],
  "A: hostile lengths": [
    [utm("a".repeat(100_000), "qr"), "a".repeat(100), "qr", null, "Unassigned"],
    [utm("google", "b".repeat(101)), "google", "b".repeat(100), null, "Organic Search"],
    [utm("google", "cpc", "😀".repeat(300)), "google", "cpc", "😀".repeat(100), "Paid Search"],
    [utm("google", "cpc", `${"c".repeat(99)} ddd`), "google", "cpc", "c".repeat(99), "Paid Search"],
    [utm("İ".repeat(200), "qr"), "i̇".repeat(50), "qr", null, "Unassigned"],
    [utm(" ".repeat(1_000_000), "qr"), "(not set)", "qr", null, "Unassigned"],
    [utm("google", "cpc", "{".repeat(1_000_000)), "google", "cpc", "{".repeat(100), "Paid Search"],
    [from(`https://www.google.com/${"x".repeat(1_000_000)}`), "google", "organic", null, "Organic Search"],
    [from(`https://${"a.".repeat(2_000)}google.com/`), "(direct)", "(none)", null, "Direct"],
    [{ gclid: "G".repeat(1_000_000) }, "google", "cpc", null, "Paid Search"],
  ],
  "D2, D3, D10: cross-network and shopping": [
    [utm("google", "cpc", "Cross-Network PMax"), "google", "cpc", "Cross-Network PMax", "Cross-network"],
    [utm("partner", undefined, "cross-network"), "partner", "(not set)", "cross-network", "Cross-network"],
    [utm("google", "cpc", "Shopping DE"), "google", "cpc", "Shopping DE", "Paid Shopping"],
    [utm("google", "cpc", "e-shop"), "google", "cpc", "e-shop", "Paid Shopping"],
    [utm("google", "cpc", "Workshop"), "google", "cpc", "Workshop", "Paid Search"],
    [utm("google", "cpc", "barbershop"), "google", "cpc", "barbershop", "Paid Search"],
    [utm("amazon", "cpc"), "amazon", "cpc", null, "Paid Shopping"],
    [utm("partner", "link", "shop"), "partner", "link", "shop", "Organic Shopping"],
  ],
  "D4 to D8: paid, and the cpm cases": [
    [utm("google", "cpm"), "google", "cpm", null, "Paid Search"],
    [utm("facebook", "cpm"), "facebook", "cpm", null, "Paid Social"],
    [utm("youtube", "cpm"), "youtube", "cpm", null, "Paid Video"],
    [utm("amazon", "cpm"), "amazon", "cpm", null, "Paid Shopping"],
    [utm("adnetwork", "cpm"), "adnetwork", "cpm", null, "Display"],
    [utm("chatgpt.com", "cpm"), "chatgpt.com", "cpm", null, "Display"],
    [utm("adnetwork", "cpm-rtb"), "adnetwork", "cpm-rtb", null, "Paid Other"],
    [utm("adnetwork", "Interstitial"), "adnetwork", "interstitial", null, "Display"],
    [utm("adnetwork", "banner"), "adnetwork", "banner", null, "Display"],
    [utm("google", "display"), "google", "display", null, "Display"],
    [utm("youtube", "cpv"), "youtube", "cpv", null, "Paid Video"],
    [utm("linkedin", "paid-social"), "linkedin", "paid-social", null, "Paid Social"],
    [utm("meta", "paidsocial"), "meta", "paidsocial", null, "Paid Social"],
    [utm("criteo", "retargeting"), "criteo", "retargeting", null, "Paid Other"],
    [utm("gmail", "cpc"), "gmail", "cpc", null, "Paid Other"],
    [utm("bing", "ppc"), "bing", "ppc", null, "Paid Search"],
  ],
  "D: words that only look paid": [
    [utm("spotify", "podcast"), "spotify", "podcast", null, "Unassigned"],
    [utm("braze", "push"), "braze", "push", null, "Mobile Push Notifications"],
    [utm("magazine", "print"), "magazine", "print", null, "Unassigned"],
    [utm("partner", "partner"), "partner", "partner", null, "Unassigned"],
    [utm("tool", "mcp"), "tool", "mcp", null, "Unassigned"],
    [utm("tool", "tcp"), "tool", "tcp", null, "Unassigned"],
    [utm("google", "unpaid"), "google", "unpaid", null, "Organic Search"],
    [utm("tool", "ücpc"), "tool", "ücpc", null, "Unassigned"],
  ],
  "D11 to D20: the other channels": [
    [utm("agency", "social"), "agency", "social", null, "Organic Social"],
    [utm("agency", "Social Media"), "agency", "social media", null, "Organic Social"],
    [utm("agency", "sm"), "agency", "sm", null, "Organic Social"],
    [utm("agency", "online-video"), "agency", "online-video", null, "Organic Video"],
    [utm("portal", "organic"), "portal", "organic", null, "Organic Search"],
    [utm("mailchimp", "email"), "mailchimp", "email", null, "Email"],
    [utm("mailchimp", "E-Mail"), "mailchimp", "e-mail", null, "Email"],
    [utm("mailchimp", "e_mail"), "mailchimp", "e_mail", null, "Email"],
    [utm("mailchimp", "e mail"), "mailchimp", "e mail", null, "Email"],
    [utm("mailchimp", "newsletter"), "mailchimp", "newsletter", null, "Email"],
    [utm("email-list", "link"), "email-list", "link", null, "Email"],
    [utm("google", "email"), "google", "email", null, "Organic Search"],
    [utm("awin", "affiliate"), "awin", "affiliate", null, "Affiliates"],
    [utm("awin", "affiliates"), "awin", "affiliates", null, "Affiliates"],
    [utm("spotify", "audio"), "spotify", "audio", null, "Audio"],
    [utm("twilio", "SMS"), "twilio", "sms", null, "SMS"],
    [utm("sms", "reminder"), "sms", "reminder", null, "SMS"],
    [utm("braze", "web_push"), "braze", "web_push", null, "Mobile Push Notifications"],
    [utm("braze", "in-app-notification"), "braze", "in-app-notification", null, "Mobile Push Notifications"],
    [utm("firebase", "x"), "firebase", "x", null, "Mobile Push Notifications"],
    [utm("partner", "app"), "partner", "app", null, "Referral"],
    [utm("partner", "link"), "partner", "link", null, "Referral"],
    [utm("partner", "referrals"), "partner", "referrals", null, "Unassigned"],
  ],
};

for (const [group, rows] of Object.entries(ROWS)) {
  test(group, async (t) => {
    for (const [input, source, medium, campaign, channel, site = SITE] of rows) {
      const name = JSON.stringify(site === SITE ? input : { ...input, ...site }).slice(0, 160);
      await t.test(name, () => {
        assert.deepEqual(classifySource(input, site), { source, medium, campaign, channel });
      });
    }
  });
}

test("every channel in the closed list is returned for some row", () => {
  const answered = new Set(Object.values(ROWS).flatMap((rows) => rows.map((row) => row[4])));
  assert.deepEqual([...answered].sort(), [...CHANNELS].sort());
  assert.equal(CHANNELS.length, 20);
});

test("the channel of imported tags is matched in any case, without classification", () => {
  const rows = [
    ["Google", "CPC", "Autumn", "Paid Search"],
    ["l.facebook.com", "referral", null, "Organic Social"],
    ["FB-Ads", "(not set)", null, "Organic Social"],
    ["www.bing.com", "organic", null, "Organic Search"],
    ["ChatGPT.com", "referral", null, "AI Assistant"],
    ["(direct)", "(none)", null, "Direct"],
    ["Partner", "Referral", "SHOPPING", "Organic Shopping"],
    ["", "", null, "Unassigned"],
    ["a.".repeat(500_000), "b-".repeat(500_000), "c".repeat(1_000_000), "Unassigned"],
  ] as const;
  for (const [source, medium, campaign, channel] of rows) {
    assert.equal(toChannel({ source, medium, campaign }), channel);
  }
});

test("keys in the analytics lists are written as in the contract", () => {
  assert.equal(toSourceKey({ source: "google", medium: "cpc" }), "google / cpc");
  assert.equal(toSourceKey(classifySource({}, SITE)), "(direct) / (none)");
  assert.equal(toCampaignKey("Autumn"), "Autumn");
  assert.equal(toCampaignKey(null), "(not set)");
});

test("spam hosts are distinguished from look-alikes", () => {
  assert.equal(hasSpamReferrer({ referrer: "http://semalt.com/x" }), true);
  assert.equal(hasSpamReferrer({ referrer: "https://100.semalt.com/" }), true);
  assert.equal(hasSpamReferrer({ referrer: "https://notsemalt.com/" }), false);
  assert.equal(hasSpamReferrer({ referrer: "https://guide.example/?u=semalt.com" }), false);
  assert.equal(hasSpamReferrer({}), false);
});

test("a site is the registrable domain of a host", () => {
  const rows = [
    ["salon.de", "salon.de"],
    ["a.b.salon.de", "salon.de"],
    ["a.salon.co.uk", "salon.co.uk"],
    ["salon.me.uk", "salon.me.uk"],
    ["a.salon.com.au", "salon.com.au"],
    ["a.salon.ne.jp", "salon.ne.jp"],
    ["co.uk", "co.uk"],
    ["a.ne.de", "ne.de"],
    ["x.salon.vercel.app", "salon.vercel.app"],
    ["vercel.app", "vercel.app"],
    ["a.com.salon.info", "salon.info"],
  ] as const;
  for (const [host, site] of rows) assert.equal(toSite(host), site);
});

test("each spelling in the tables belongs to exactly one source", () => {
  const hosts = KNOWN_SOURCES.flatMap((known) => known.hosts);
  const names = KNOWN_SOURCES.flatMap((known) => [
    known.source,
    ...(known.aliases ?? []),
    ...(known.paidAliases ?? []),
    ...(known.apps ?? []),
  ]);
  assert.equal(new Set(hosts).size, hosts.length);
  assert.equal(new Set(names).size, names.length);
  for (const known of KNOWN_SOURCES) {
    for (const host of known.hosts) {
      assert.equal(findByHost(host.replace("*", "com")), known);
      assert.equal(findByHost(`sub.${host.replace("*", "co.nz")}`), known);
    }
    for (const app of known.apps ?? []) assert.equal(findByApp(app), known);
    for (const name of [known.source, ...(known.aliases ?? [])]) {
      assert.deepEqual(findByName(name), { known, isPaid: false });
    }
    for (const name of known.paidAliases ?? []) assert.deepEqual(findByName(name), { known, isPaid: true });
  }
});

// Any strings, including lone surrogates and null bytes, mixed with parts that reach the deeper rules.
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("google", "FB-Ads", "cpc", "(not set)", "{{x}}", "chatgpt.com", "İ", "%7Bx%7D", "shop", "email"),
  fc.webUrl({ withQueryParameters: true }),
  fc.constantFrom(
    "https://www.google.co.uk/",
    "android-app://com.slack/",
    "https://\ud800/",
    "https://a.b/",
    "http://[",
  ),
);
const anyTouch: fc.Arbitrary<RawAttribution> = fc.record(
  {
    utmSource: anyText,
    utmMedium: anyText,
    utmCampaign: anyText,
    referrer: anyText,
    landingPage: anyText,
    currentPage: anyText,
    gclid: anyText,
    gbraid: anyText,
    wbraid: anyText,
    fbclid: anyText,
    msclkid: anyText,
    liFatId: anyText,
    ttclid: anyText,
  },
  { requiredKeys: [] },
);
const anySite: fc.Arbitrary<SiteHosts> = fc.record({
  pageHosts: fc.array(anyText, { maxLength: 3 }),
  ownHosts: fc.array(anyText, { maxLength: 3 }),
});

test("any strings give a storable result, the same each time", () => {
  fc.assert(
    fc.property(anyTouch, anySite, (touch, site) => {
      const result = classifySource(touch, site);
      assert.deepEqual(classifySource(touch, site), result);
      assert.ok(CHANNELS.includes(result.channel));
      assert.equal(result.channel, toChannel(result));
      for (const text of [result.source, result.medium, result.campaign ?? "(not set)"]) {
        assert.ok(text !== "" && [...text].length <= TAG_MAX_CODE_POINTS);
        assert.ok(text.isWellFormed() && !/\p{Cc}/u.test(text));
        assert.equal(text, text.trim());
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a result passed back in as tags gives itself, so exported rows can be imported", () => {
  fc.assert(
    fc.property(anyTouch, anySite, (touch, site) => {
      const result = classifySource(touch, site);
      const again = classifySource(utm(result.source, result.medium, result.campaign ?? undefined), SITE);
      assert.deepEqual(again, result);
    }),
    { numRuns: 1_000 },
  );
});

test("a tag that is a URL loses its query, and one that contains an email address is dropped", () => {
  const classify = (tags: object) => classifySource(tags, SITE);
  assert.equal(
    classify({ utmSource: "https://other.example/a?email=mara%40x.example" }).source,
    "https://other.example/a",
  );
  assert.equal(classify({ utmSource: "news", utmCampaign: "to mara.quell@example.com" }).campaign, null);
  assert.equal(classify({ utmSource: "news", utmCampaign: "why us? @home" }).campaign, "why us? @home");
});

test("no click id value is in the result, even if a link repeats it in its tags", () => {
  const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"];
  const clickId = fc.string({ unit: fc.constantFrom(...letters), minLength: 20, maxLength: 120 });
  const field = fc.constantFrom("gclid", "gbraid", "wbraid", "fbclid", "msclkid", "liFatId", "ttclid");
  const tagAround = fc.constantFrom("", "x-", "campaign ");
  fc.assert(
    fc.property(anyTouch, field, clickId, tagAround, (touch, name, id, before) => {
      const tag = `${before}${id}`;
      const repeated = { utmSource: tag, utmMedium: tag, utmCampaign: tag, referrer: `https://${id}.example/` };
      for (const input of [
        { ...touch, [name]: id },
        { ...touch, ...repeated, [name]: id },
      ]) {
        const result = JSON.stringify(classifySource(input, SITE)).toLowerCase();
        assert.ok(!result.includes(id.toLowerCase()));
      }
    }),
    { numRuns: 500 },
  );
});
