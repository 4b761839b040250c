// On a chapter without explorers: fetch, when the page is done and the line is idle, what the
// explorers of the next chapters need, so that nobody waits for the widget manager there.
(() => {
  const base = new URL(".", document.currentScript.src);
  const files = [
    "vendor/requirejs/require.js",
    "vendor/html-manager/embed-amd.js",
    "vendor/anywidget/index.js",
  ];

  function start() {
    const widgets = "script[type='application/vnd.jupyter.widget-view+json']";
    const chapter = /\/book\/\d\d_/.test(location.pathname);
    if (!chapter || document.querySelector(widgets) || navigator.connection?.saveData) return;
    for (const file of files) {
      const link = document.createElement("link");
      link.rel = "prefetch";
      link.href = new URL(file, base).href;
      document.head.append(link);
    }
  }

  const idle = window.requestIdleCallback ?? ((task) => setTimeout(task, 200));
  window.addEventListener("load", () => idle(start));
})();
