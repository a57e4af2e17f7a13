import type { ClickIdField } from "#contract/analytics/attribution-fields.ts";

// The tables behind classify-source.ts: data only. Anything missing here is shown by its own name or host, without a category.

export type SourceCategory = "ai" | "email" | "search" | "social" | "video" | "shopping";

export type KnownSource = {
  /** The name in reports. It is also a valid spelling of utm_source. */
  readonly source: string;
  readonly category: SourceCategory;
  /**
   * A host stands for itself and all its sub-domains; with a leading `=`, for itself alone. `google.*` stands for the name
   * under .com or any country.
   */
  readonly hosts: readonly string[];
  /** Android package ids, as in the referrer `android-app://com.google.android.gm/`. Matched whole. */
  readonly apps?: readonly string[];
  /** Other spellings of utm_source. Matched whole, after lower-casing. */
  readonly aliases?: readonly string[];
  /** Spellings that only ads use. A known spelling followed by `ads` or `ad` (`fb-ads`, `googleads`) needs no entry. */
  readonly paidAliases?: readonly string[];
};

export const KNOWN_SOURCES: readonly KnownSource[] = [
  // AI assistants are named by their host, as in GA4.
  {
    source: "chatgpt.com",
    category: "ai",
    hosts: ["chatgpt.com"],
    apps: ["com.openai.chatgpt"],
    aliases: ["chatgpt", "openai"],
  },
  { source: "chat.openai.com", category: "ai", hosts: ["chat.openai.com"] },
  { source: "gemini.google.com", category: "ai", hosts: ["gemini.google.com"], aliases: ["gemini"] },
  { source: "bard.google.com", category: "ai", hosts: ["bard.google.com"] },
  { source: "claude.ai", category: "ai", hosts: ["claude.ai"], apps: ["com.anthropic.claude"], aliases: ["claude"] },
  {
    source: "perplexity.ai",
    category: "ai",
    hosts: ["perplexity.ai"],
    apps: ["ai.perplexity.app.android"],
    aliases: ["perplexity"],
  },
  { source: "pplx.ai", category: "ai", hosts: ["pplx.ai"] },
  { source: "copilot.microsoft.com", category: "ai", hosts: ["copilot.microsoft.com"], aliases: ["copilot"] },
  { source: "copilot.com", category: "ai", hosts: ["copilot.com"] },
  { source: "grok.com", category: "ai", hosts: ["grok.com"], aliases: ["grok"] },
  { source: "x.ai", category: "ai", hosts: ["x.ai"] },
  { source: "deepseek.com", category: "ai", hosts: ["deepseek.com"], aliases: ["deepseek"] },
  { source: "chat.mistral.ai", category: "ai", hosts: ["chat.mistral.ai"] },
  { source: "meta.ai", category: "ai", hosts: ["meta.ai"] },
  { source: "phind.com", category: "ai", hosts: ["phind.com"], aliases: ["phind"] },
  { source: "you.com", category: "ai", hosts: ["you.com"] },
  { source: "poe.com", category: "ai", hosts: ["poe.com"] },

  { source: "gmail", category: "email", hosts: ["mail.google.com"], apps: ["com.google.android.gm"] },
  {
    source: "outlook",
    category: "email",
    hosts: ["outlook.live.com", "outlook.office.com", "outlook.office365.com"],
    apps: ["com.microsoft.office.outlook"],
  },
  // Its country hosts (mail.yahoo.co.jp) are mail too, not search.
  { source: "yahoo mail", category: "email", hosts: ["mail.yahoo.*"] },
  { source: "yandex mail", category: "email", hosts: ["mail.yandex.*"] },
  { source: "seznam email", category: "email", hosts: ["email.seznam.cz"] },
  { source: "proton mail", category: "email", hosts: ["mail.proton.me"], aliases: ["protonmail"] },
  { source: "aol mail", category: "email", hosts: ["mail.aol.com"] },
  { source: "gmx", category: "email", hosts: ["deref-gmx.net"] },
  { source: "web.de mail", category: "email", hosts: ["deref-web-02.de"] },

  {
    source: "google",
    category: "search",
    // Its other sub-domains are documents, calendars, maps and so on.
    hosts: ["=google.*", "images.google.*", "scholar.google.*", "encrypted.google.com"],
    apps: ["com.google.android.googlequicksearchbox"],
    paidAliases: ["adwords", "gads"],
  },
  {
    source: "bing",
    category: "search",
    hosts: ["bing.com", "ntp.msn.com"],
    apps: ["com.microsoft.bing"],
    paidAliases: ["msads", "microsoftads", "microsoft-ads", "microsoft_ads"],
  },
  {
    source: "duckduckgo",
    category: "search",
    hosts: ["duckduckgo.com"],
    apps: ["com.duckduckgo.mobile.android"],
    aliases: ["ddg"],
  },
  { source: "yahoo", category: "search", hosts: ["=yahoo.*", "search.yahoo.*"] },
  { source: "ecosia", category: "search", hosts: ["ecosia.org"] },
  { source: "yandex", category: "search", hosts: ["=yandex.*", "=ya.ru", "m.yandex.*", "images.yandex.*"] },
  { source: "baidu", category: "search", hosts: ["=baidu.com", "m.baidu.com", "image.baidu.com"] },
  { source: "brave", category: "search", hosts: ["search.brave.com"] },
  { source: "kagi", category: "search", hosts: ["kagi.com"] },
  { source: "qwant", category: "search", hosts: ["qwant.com"] },
  { source: "startpage", category: "search", hosts: ["startpage.com"] },
  { source: "naver", category: "search", hosts: ["search.naver.com"] },
  { source: "seznam", category: "search", hosts: ["=seznam.cz", "search.seznam.cz"] },
  { source: "sogou", category: "search", hosts: ["sogou.com"] },
  { source: "ask", category: "search", hosts: ["ask.com"] },
  { source: "aol", category: "search", hosts: ["search.aol.com"] },

  {
    source: "facebook",
    category: "social",
    hosts: ["facebook.com", "fb.com", "fb.me"],
    apps: ["com.facebook.katana", "com.facebook.lite"],
    aliases: ["fb"],
  },
  // The usual tag for ads that run on both Facebook and Instagram, so it is neither of the two.
  { source: "meta", category: "social", hosts: [] },
  { source: "messenger", category: "social", hosts: ["messenger.com"], apps: ["com.facebook.orca"] },
  {
    source: "instagram",
    category: "social",
    hosts: ["instagram.com"],
    apps: ["com.instagram.android"],
    aliases: ["ig"],
  },
  {
    source: "linkedin",
    category: "social",
    hosts: ["linkedin.com", "lnkd.in"],
    apps: ["com.linkedin.android"],
  },
  {
    source: "x",
    category: "social",
    hosts: ["x.com", "twitter.com", "t.co"],
    apps: ["com.twitter.android"],
    aliases: ["twitter"],
  },
  { source: "tiktok", category: "social", hosts: ["tiktok.com"], apps: ["com.zhiliaoapp.musically"] },
  { source: "pinterest", category: "social", hosts: ["pinterest.*", "pin.it"], apps: ["com.pinterest"] },
  { source: "reddit", category: "social", hosts: ["reddit.com"], apps: ["com.reddit.frontpage"] },
  { source: "threads", category: "social", hosts: ["threads.net", "threads.com"], apps: ["com.instagram.barcelona"] },
  { source: "bluesky", category: "social", hosts: ["bsky.app"], aliases: ["bsky"] },
  {
    source: "mastodon",
    category: "social",
    hosts: [
      "mastodon.social",
      "mastodon.online",
      "mastodon.world",
      "mstdn.social",
      "mas.to",
      "fosstodon.org",
      "hachyderm.io",
      "infosec.exchange",
      "techhub.social",
      "troet.cafe",
    ],
  },
  { source: "snapchat", category: "social", hosts: ["snapchat.com"], apps: ["com.snapchat.android"] },
  { source: "whatsapp", category: "social", hosts: ["whatsapp.com", "wa.me"], apps: ["com.whatsapp"] },
  { source: "telegram", category: "social", hosts: ["t.me"], apps: ["org.telegram.messenger"] },
  { source: "discord", category: "social", hosts: ["discord.com"], apps: ["com.discord"] },
  { source: "quora", category: "social", hosts: ["quora.com"] },
  { source: "nextdoor", category: "social", hosts: ["nextdoor.com"] },
  { source: "xing", category: "social", hosts: ["xing.com"] },
  { source: "vk", category: "social", hosts: ["vk.com"] },
  { source: "hackernews", category: "social", hosts: ["news.ycombinator.com"] },
  { source: "teams", category: "social", hosts: ["teams.microsoft.com", "statics.teams.cdn.office.net"] },
  { source: "slack", category: "social", hosts: ["slack.com"], apps: ["com.slack"] },

  {
    source: "youtube",
    category: "video",
    hosts: ["youtube.com", "youtu.be"],
    apps: ["com.google.android.youtube"],
    aliases: ["yt"],
  },
  { source: "vimeo", category: "video", hosts: ["vimeo.com"] },
  { source: "twitch", category: "video", hosts: ["twitch.tv"] },
  { source: "dailymotion", category: "video", hosts: ["dailymotion.com"] },

  { source: "amazon", category: "shopping", hosts: ["amazon.*"] },
  { source: "ebay", category: "shopping", hosts: ["ebay.*"] },
  { source: "etsy", category: "shopping", hosts: ["etsy.com"] },
  { source: "walmart", category: "shopping", hosts: ["walmart.com"] },
  { source: "aliexpress", category: "shopping", hosts: ["aliexpress.com"] },
  { source: "temu", category: "shopping", hosts: ["temu.com"] },
  { source: "shopify", category: "shopping", hosts: ["shopify.com"] },
];

/** Rules C2 to C5, in order: the presence of one of these means a paid click. fbclid is on every Facebook link, paid or not. */
export const PAID_CLICK_IDS = [
  { source: "google", fields: ["gclid", "gbraid", "wbraid"] },
  { source: "bing", fields: ["msclkid"] },
  { source: "tiktok", fields: ["ttclid"] },
  { source: "linkedin", fields: ["liFatId"] },
] as const satisfies readonly { source: string; fields: readonly ClickIdField[] }[];

/** Stops on the way (sign-in, payment, 3-D Secure): the visitor came from elsewhere. Hosts with their sub-domains. */
export const UNWANTED_REFERRER_HOSTS: readonly string[] = [
  "accounts.google.com",
  "login.microsoftonline.com",
  "login.live.com",
  "appleid.apple.com",
  "checkout.stripe.com",
  "hooks.stripe.com",
  "paypal.com",
  "arcot.com",
  "cardinalcommerce.com",
  "rsa3dsauth.com",
  "3dsecure.io",
  "wlp-acs.com",
];

/** Hosts that send visits only to appear in reports. Hosts with their sub-domains. */
export const SPAM_REFERRER_HOSTS: readonly string[] = [
  "semalt.com",
  "darodar.com",
  "ilovevitaly.com",
  "priceg.com",
  "buttons-for-website.com",
  "buttons-for-your-website.com",
  "free-share-buttons.com",
  "simple-share-buttons.com",
  "social-buttons.com",
  "best-seo-offer.com",
  "best-seo-solution.com",
  "100dollars-seo.com",
  "success-seo.com",
  "get-free-traffic-now.com",
  "hulfingtonpost.com",
  "o-o-6-o-o.com",
  "4webmasters.org",
  "trafficmonetize.org",
  "webmonetizer.net",
];

/** Suffixes under which unrelated people have sites, so two names under one of them are two sites. */
export const SHARED_HOST_SUFFIXES: readonly string[] = [
  "azurewebsites.net",
  "blogspot.com",
  "bubbleapps.io",
  "business.site",
  "carrd.co",
  "cloudfront.net",
  "firebaseapp.com",
  "fly.dev",
  "framer.app",
  "framer.website",
  "github.io",
  "gitlab.io",
  "godaddysites.com",
  "herokuapp.com",
  "jimdofree.com",
  "jimdosite.com",
  "myshopify.com",
  "mystrikingly.com",
  "netlify.app",
  "notion.site",
  "onrender.com",
  "pages.dev",
  // All its sites share one host; listed so that a search on google.com remains a referrer for them.
  "sites.google.com",
  "square.site",
  "squarespace.com",
  "vercel.app",
  "web.app",
  "webflow.io",
  "weebly.com",
  "wixsite.com",
  "wordpress.com",
  "workers.dev",
];

/** Labels that form a public suffix with any country code: example.co.uk, example.com.au. */
export const SECOND_LEVEL_LABELS: readonly string[] = ["ac", "co", "com", "edu", "gov", "net", "org"];

/** More such labels, for one country each. */
export const SECOND_LEVEL_LABELS_BY_COUNTRY: Readonly<Record<string, readonly string[]>> = {
  ar: ["gob", "tur"],
  at: ["gv", "or"],
  au: ["asn", "id"],
  br: ["adv", "art", "blog", "eco", "eng", "ind", "inf", "med", "odo", "psc", "tur"],
  cl: ["gob"],
  cy: ["ltd"],
  es: ["gob", "nom"],
  fr: ["asso", "gouv", "nom"],
  id: ["biz", "go", "my", "or", "sch", "web"],
  il: ["k12", "muni"],
  in: ["firm", "gen", "ind"],
  jp: ["ad", "ed", "go", "gr", "lg", "ne", "or"],
  ke: ["go", "me", "ne", "or", "sc"],
  kr: ["go", "ne", "or", "pe", "re"],
  mx: ["gob"],
  nz: ["geek", "gen", "govt", "kiwi", "maori", "school"],
  pe: ["gob", "nom"],
  pl: ["biz", "info"],
  th: ["go", "in", "or"],
  tr: ["av", "bel", "biz", "dr", "gen", "info", "k12", "web"],
  tz: ["go", "me", "ne", "or", "sc"],
  uk: ["ltd", "me", "nhs", "plc", "sch"],
  za: ["law", "nom", "web"],
};
