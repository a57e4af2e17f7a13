import type { Dice } from "./dice.ts";

// The demo's customers: people of a city with many languages. Every email address uses a domain reserved for examples, and every
// phone number is in the range reserved for films.

type Language = {
  readonly share: number;
  readonly first: readonly [string, ...string[]];
  readonly last: readonly [string, ...string[]];
  readonly notes: readonly [string, ...string[]];
};

const LANGUAGES: readonly [Language, ...Language[]] = [
  {
    share: 58,
    first: [
      "Jürgen",
      "Hanna",
      "Björn",
      "Mara",
      "Lukas",
      "Käthe",
      "Sören",
      "Annegret",
      "Felix",
      "Zoë ✨",
      "Götz",
      "Ida",
    ],
    last: ["Müller", "Weiß", "Größmann", "Köhler", "Albrecht", "Vogt", "Schäfer", "Quell", "Jäger", "von Bülow"],
    notes: [
      "Bitte klingeln, der Aufzug ist zurzeit außer Betrieb.",
      "Ich komme mit dem Fahrrad und bin vielleicht fünf Minuten später da.",
      "Angstpatientin, bitte langsam 🙏",
    ],
  },
  {
    share: 12,
    first: ["Ayşe", "Emre", "Gülşen", "Çağla", "Ömer", "İpek"],
    last: ["Yılmaz", "Demir", "Şahin", "Öztürk", "Doğan"],
    notes: ["Annem de gelecek, teşekkürler 😊", "Saat uygun değilse lütfen arayın."],
  },
  {
    share: 8,
    first: ["Paweł", "Małgorzata", "Zofia", "Łukasz"],
    last: ["Wójcik", "Zieliński", "Kowalczyk", "Dąbrowska"],
    notes: ["Proszę o telefon dzień wcześniej."],
  },
  {
    share: 10,
    first: ["Emily", "Noah", "Priya", "Siobhán", "Oluwaseun"],
    last: ["Carter", "O'Brien", "Okafor", "Patel", "MacLeod"],
    notes: [
      "I may need a certificate for work.",
      "Please speak English with me 🇬🇧",
      "Left molar hurts when I drink cold things.",
    ],
  },
  {
    share: 6,
    first: ["Sofía", "João", "Núria", "Iñigo"],
    last: ["Muñoz", "Conceição", "García Peña", "Ibáñez"],
    notes: ["¿Hay aparcamiento cerca? ¡Gracias!"],
  },
  {
    share: 4,
    first: ["Олена", "Дмитро", "Ірина"],
    last: ["Шевченко", "Коваленко"],
    notes: ["Дякую, що приймаєте нових пацієнтів."],
  },
  { share: 2, first: ["美咲", "健太"], last: ["佐藤", "鈴木"], notes: ["よろしくお願いします。"] },
];

export type Customer = { name: string; email: string; phone: string | null; notes: string | null };

export function makeCustomer(dice: Dice, number: number): Customer {
  const language = dice.pickByShare(LANGUAGES);
  const [first, last] = [dice.pick(language.first), dice.pick(language.last)];
  return {
    name: `${first} ${last}`,
    email: `${toLetters(first)}.${toLetters(last)}${number}@${dice.pick(["example.com", "example.net", "example.org"])}`,
    phone: dice.falls(0.72) ? `+49 30 23125 ${String(dice.between(0, 999)).padStart(3, "0")}` : null,
    notes: dice.falls(0.16) ? dice.pick(language.notes) : null,
  };
}

/** The letters of a name that fit into an email address, or "patient" if none do. */
function toLetters(name: string): string {
  const plain = name.toLowerCase().replaceAll("ß", "ss").replaceAll("ł", "l").replaceAll("ı", "i").normalize("NFD");
  return plain.replaceAll(/[^a-z]/g, "") || "patient";
}
