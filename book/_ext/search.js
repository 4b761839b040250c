// What the course adds to Sphinx's search. Sphinx puts this file behind its own (html_search_scorer).
// - An entry of the index is found in any of its forms: "annotations", "어텐션은".
// - Its result says which entry it is, and the summary of a term is its definition.
(() => {
  const plain = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const stemmed = (text) => {
    const stemmer = new Stemmer();
    return splitQuery(text.toLowerCase()).map((word) => stemmer.stemWord(word)).join(" ");
  };

  const termId = (entry) => `#term-${entry.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")}`;

  // Names of the entries at one address, the first one is what the others are called, too.
  let names = null;
  function namesAt(page, anchor) {
    if (!names) {
      names = new Map();
      const { docnames, indexentries } = Search._index;
      for (const [entry, places] of Object.entries(indexentries)) {
        for (const [file, id] of places) {
          const key = `${docnames[file]}#${id}`;
          names.set(key, [...(names.get(key) ?? []), entry]);
        }
      }
    }
    return names.get(page + anchor) ?? [];
  }

  // Results of entries that are the query but for endings; Sphinx finds those that contain it.
  function inOtherForms(query) {
    const { docnames, filenames, indexentries, titles } = Search._index;
    const wanted = stemmed(query);
    const found = [];
    if (!wanted) return found;
    for (const [entry, places] of Object.entries(indexentries)) {
      if (stemmed(entry) !== wanted) continue;
      for (const [file, id] of places) {
        found.push([docnames[file], titles[file], `#${id}`, null, 100, filenames[file]]);
      }
    }
    return found;
  }

  function named(result, query) {
    const [page, title, anchor] = result;
    const entries = anchor ? namesAt(page, anchor) : [];
    if (!entries.length || title.includes(" > ")) return result;
    const wanted = stemmed(query);
    const hit =
      entries.find((entry) => stemmed(entry) === wanted) ??
      entries.find((entry) => entry.includes(query)) ?? entries[0];
    const english = entries.find((entry) => termId(entry) === anchor.toLowerCase());
    const shown = !english || english === hit ? hit : `${hit} (${english})`;
    return [page, `${title} > ${plain(shown)}`, ...result.slice(2)];
  }

  const perform = Search._performSearch;
  Search._performSearch = (query, ...terms) => {
    const lower = query.toLowerCase().trim();
    const all = [...perform(query, ...terms), ...inOtherForms(query)];
    const best = new Map(); // one result for each address
    for (const result of all) {
      const key = result[0] + result[2];
      const other = best.get(key);
      const better = !other || other[4] < result[4] ? result : other;
      const title = [result, other].find((r) => r?.[1].includes(" > "))?.[1] ?? better[1];
      best.set(key, [better[0], title, ...better.slice(2)]);
    }
    // The glossary as a whole says nothing where one of its terms is found.
    if ([...best.values()].some((r) => r[0] === "book/glossary" && r[2])) {
      best.delete("book/glossary");
    }
    return [...best.values()].map((r) => named(r, lower)).sort((a, b) => a[4] - b[4]);
  };

  const toText = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    if (!anchor?.startsWith("#term-")) return toText(html, anchor);
    const page = new DOMParser().parseFromString(html, "text/html");
    const term = page.querySelector(anchor);
    return term?.nextElementSibling?.textContent ?? toText(html, anchor);
  };
})();
