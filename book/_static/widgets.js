// On a page with widgets: load require.js, tell it where anywidget is, then load the widget manager.
// All come from this site. They are loaded after the page, because scripts that come after
// require.js would register themselves with it ("mismatched anonymous define").
(() => {
  const base = new URL(".", document.currentScript.src);
  const load = (path, attributes = {}) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      for (const [name, value] of Object.entries(attributes)) script.setAttribute(name, value);
      script.src = new URL(path, base).href;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`could not load ${script.src}`));
      document.head.append(script);
    });

  async function start() {
    const views = "script[type='application/vnd.jupyter.widget-view+json']";
    if (!document.querySelector(views)) return;
    await load("vendor/requirejs/require.js");
    window.requirejs.config({
      paths: { anywidget: new URL("vendor/anywidget/index", base).href },
      waitSeconds: 0, // a slow line is no error
    });
    // A widget that we do not serve is looked for here as well, never at a foreign host.
    const here = new URL("vendor/", base).href;
    await load("vendor/html-manager/embed-amd.js", { "data-jupyter-widgets-cdn": here });
  }

  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
