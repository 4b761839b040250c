// The results of a search quote the text of pages, in which formulas are still TeX: \(d_k\).
// Here they become plain text: d_k.
(() => {
  const SYMBOLS = {
    alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", varepsilon: "ε", eta: "η", theta: "θ", lambda: "λ",
    mu: "μ", pi: "π", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", omega: "ω", Sigma: "Σ", Delta: "Δ",
    sum: "Σ", prod: "Π", sqrt: "√", cdot: "·", times: "×", odot: "⊙", top: "⊤", infty: "∞", partial: "∂", nabla: "∇",
    in: "∈", le: "≤", leq: "≤", ge: "≥", geq: "≥", ne: "≠", neq: "≠", approx: "≈", to: "→", rightarrow: "→",
    dots: "…", ldots: "…", cdots: "…", mid: "|", prime: "′", quad: " ", qquad: " ", left: "", right: "", displaystyle: "",
  };
  const ACCENTS = { tilde: "\u0303", hat: "\u0302", bar: "\u0304", vec: "\u20d7", overrightarrow: "\u20d7", overleftarrow: "\u20d6" };

  function plain(tex) {
    return tex
      .replace(/\\(?:text|mathrm|mathbf|mathcal|operatorname)\*?\{([^{}]*)\}/g, "$1")
      .replace(/\\(tilde|hat|bar|vec|overrightarrow|overleftarrow)\s*\{?\s*(\w)\s*\}?/g, (_, accent, letter) => letter + ACCENTS[accent])
      .replace(/\\(?!frac)([A-Za-z]+)\s*/g, (_, name) => SYMBOLS[name] ?? name)
      .replace(/\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}/g, "$1 / $2")
      .replace(/\\[,;:! ]/g, " ")
      .replace(/\\\\|[{}&]/g, "")
      .replace(/\s+/g, " ")
      .trim();
  }

  function withoutTex(text) {
    return text.replace(/\\\(([\s\S]*?)\\\)|\\\[([\s\S]*?)\\\]/g, (_, inline, display) => plain(inline ?? display));
  }

  window.plainSearchText = withoutTex;
  if (typeof Search === "undefined") return;
  const asText = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("#jb-print-docs-body").forEach((contents) => contents.remove()); // the list of sections
    return withoutTex(asText(page.documentElement.outerHTML, anchor));
  };
})();
