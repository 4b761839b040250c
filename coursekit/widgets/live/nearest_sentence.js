// What the reader types, brought to what the models know: forms, synonyms, slips, the nearest sentence.

const SHORT = [[/\b(\w+)n['’]t\b/g, "$1 not"], [/['’]m\b/g, " am"], [/['’]re\b/g, " are"], [/\b(he|she|it)['’]s\b/g, "$1 is"]];

// The words of a text, short forms written out: don't - do not, I'm - I am.
const read = (text) => wordsOf(SHORT.reduce((left, [form, full]) => left.replace(form, full), text.toLowerCase()));

// What stands for a word with -ing after a form of "be": is sleeping - sleeps, are - sleep.
const ENDINGS = { am: [""], are: [""], is: ["s", "es"], was: ["ed", "d"], were: ["ed", "d"] };
function simpleForm(be, word, isFamiliar) {
  const stem = /^(\w{2,})ing$/.exec(word)?.[1];
  if (!stem) return "";
  const verbs = [stem, `${stem}e`, stem.replace(/(\w)\1$/, "$1")]; // sleep, drive, run
  return verbs.flatMap((verb) => ENDINGS[be].map((ending) => verb + ending)).find(isFamiliar) ?? "";
}

// Known words in place of unknown ones; null where no known word is near. A synonym "" leaves a word out.
function nearWords(words, known, synonyms) {
  const isFamiliar = (word) => known.has(word) || word in synonyms;
  const simple = [];
  for (const word of words) {
    const form = simple.at(-1) in ENDINGS && !isFamiliar(word) && simpleForm(simple.at(-1), word, isFamiliar);
    if (form) simple.pop();
    simple.push(form || word);
  }
  const slip = (word) => (word.length > 4 && nearestWord(word, known.keys())) || null; // "for" is no slip of "four"
  return simple.map((word) => (known.has(word) ? word : synonyms[word] ?? slip(word))).filter((word) => word !== "");
}

// The text of the near words, with "a" and "an" where they belong, or "" if a word has no near one.
function withKnownWords(near) {
  if (near.includes(null)) return "";
  return near.map((word, i) => (/^an?$/.test(word) && near[i + 1] ? (/^[aeiou]/.test(near[i + 1]) ? "an" : "a") : word)).join(" ");
}

const LEAST_SHARED = 4.5; // with less in common, a sentence is not called near

const pairsOf = (words) => new Set(words.slice(1).map((word, i) => `${words[i]} ${word}`));

// Of these sentences the one that has most in common with the near words, or "". A shared word counts
// by how rare it is among the sentences, log(N / n), one that only the sentence has by 0.4 of that
// against it, and two words in a row by 1.
function nearestSentence(near, sentences) {
  const words = new Set(near.filter(Boolean));
  if (!words.size) return "";
  const lists = sentences.map((sentence) => sentence.split(" "));
  const counts = new Map();
  for (const list of lists) for (const word of new Set(list)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rarity = (word) => Math.log(lists.length / counts.get(word));
  const pairs = pairsOf(near);
  let [nearest, most] = ["", LEAST_SHARED];
  lists.forEach((list, i) => {
    if (!list.some((word) => words.has(word))) return;
    let score = [...pairsOf(list)].filter((pair) => pairs.has(pair)).length;
    for (const word of new Set(list)) score += words.has(word) ? rarity(word) : -0.4 * rarity(word);
    if (score >= most) [nearest, most] = [sentences[i], score + 1e-9];
  });
  return nearest;
}
