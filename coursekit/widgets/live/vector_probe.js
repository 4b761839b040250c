// What a probe reads back: of the content words, as many as the sentence has, the most probable ones.
// Ids that are `found` rightly, `missed`, and found `instead`; and the probability of each content
// word of the source, by place, 0 for other words.
function readBack(probabilities, ids, content) {
  const probable = new Map(content.map((id, i) => [id, probabilities[i]]));
  const there = new Set(ids.filter((id) => probable.has(id)));
  const likely = [...content].sort((a, b) => probable.get(b) - probable.get(a)).slice(0, there.size);
  return {
    found: likely.filter((id) => there.has(id)),
    missed: [...there].filter((id) => !likely.includes(id)),
    instead: likely.filter((id) => !there.has(id)),
    places: ids.map((id) => probable.get(id) ?? 0),
  };
}

// The same in words.
function readBackInWords({ found, missed, instead }, words) {
  const list = (ids) => ids.map((id) => `“${words[id]}”`).join(", ");
  const all = found.length + missed.length;
  if (!all) return "";
  const head = `A probe, a linear classifier, looks in the vector for the ${all === 1 ? "one noun, adjective or verb" : `${all} nouns, adjectives and verbs`} of the sentence. `;
  if (!missed.length) return `${head}It finds ${all === 1 ? "it" : "all of them"}: ${list(found)}.`;
  return `${head}It finds ${found.length || "none"}${found.length ? `: ${list(found)}` : ""}. It misses ${list(missed)}, and takes ${list(instead)} to be there.`;
}
