// A reader's own translator, from the file that `save_translator` writes (export_translator.py).

const TRANSLATOR_FORMAT = "attention course, translator, 1";
const NOT_A_TRANSLATOR = "This is not a translator that a notebook of the course has saved with save_translator().";
const CLOSE = 2e-3; // differences by rounding are below a tenth of it

// What a model computes, stage by stage, in the order in which the stages follow.
const STAGES = {
  states: { of: ({ read }) => read.annotations ?? read.states, name: (j, { source }) => `what the encoder computes for “${source[j]}”` },
  vector: { of: ({ read }) => [read.vector], name: () => "the vector of the sentence" },
  first: { of: ({ read }) => [read.state.h ?? read.state], name: () => "the first state of the decoder" },
  weights: { of: ({ steps }) => steps.map(({ weights }) => weights), name: (t, { target }) => `the attention weights for “${target[t]}”` },
  logits: { of: ({ steps }) => steps.map(({ logits }) => logits), name: (t, { target }) => `the logits of “${target[t]}”` },
};

// `b` is traced: null stands for NaN and infinity, which the equations never give.
const isClose = (a, b) => a.length === b.length
  && b.every((value, i) => value !== null && Math.abs(a[i] - value) <= CLOSE * (1 + Math.abs(value)));

// The first stage in which a traced model differs from one with the same parameters, in words; "".
// The weights and logits of a step come before those of the next one.
function firstDifference(model, trace, words, bos) {
  const read = model.encode(trace.source);
  let { state } = read;
  const steps = [bos, ...trace.target.slice(0, -1)].map((token) => {
    const found = model.step(token, state, read);
    ({ state } = found);
    return found;
  });
  const differs = (key, i) => !isClose(STAGES[key].of({ read, steps })[i] ?? [], trace[key][i]);
  const [once, each] = [["states", "vector", "first"], ["weights", "logits"]].map((keys) => keys.filter((key) => key in trace));
  for (const key of once) {
    const i = trace[key].findIndex((_, at) => differs(key, at));
    if (i >= 0) return STAGES[key].name(i, words);
  }
  for (const t of steps.keys()) {
    const key = each.find((name) => differs(name, t));
    if (key) return STAGES[key].name(t, words);
  }
  return "";
}

// The translator in a file's text: {kind, model, sourceIds, targetIds, target, heads, verdict}.
// Throws an Error whose message tells the reader what is wrong with the file.
function readTranslator(text, kinds, { bos }) {
  let saved;
  try {
    saved = JSON.parse(text);
  } catch {
    throw new Error(NOT_A_TRANSLATOR);
  }
  if (saved?.format !== TRANSLATOR_FORMAT || !(saved.kind in kinds)) throw new Error(NOT_A_TRANSLATOR);
  const { kind, trace, source_words, target_words } = saved;
  try {
    const off = new Set();
    const model = kinds[kind](unpack(saved.weights), off, trace.heads);
    const words = { source: trace.source.map((id) => source_words[id]), target: trace.target.map((id) => target_words[id]) };
    const difference = firstDifference(model, trace, words, bos);
    return {
      kind, model, off, heads: trace.heads,
      sourceIds: new Map(source_words.map((word, i) => [word, i])),
      targetIds: new Map(target_words.map((word, i) => [word, i])),
      target: target_words,
      verdict: difference
        ? `With your parameters, your code and the exercise's equations first differ in ${difference}. The translations here are those of the equations.`
        : `For the sentence “${words.source.slice(0, -1).join(" ")}”, your code computes what the exercise's equations give with your parameters.`,
    };
  } catch {
    throw new Error("This file is damaged, or parameters have other names or shapes than in the exercise: train and save the translator again.");
  }
}
