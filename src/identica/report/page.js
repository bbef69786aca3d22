"use strict";
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const shown = {};
  const touch = matchMedia("(hover: none), (pointer: coarse)").matches;
  const narrow = matchMedia("(max-width: 560px)");
  const config = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "autoScale2d"] };

  // Charts name the colours of the style sheet; plotly.js wants the colours themselves.
  function painted(value, style) {
    if (typeof value === "string") {
      return value.startsWith("var(--") ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value.at(-1) === "number" ? value : value.map((item) => painted(item, style));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, painted(item, style)]));
    }
    return value;
  }

  // What is too large for a phone: marks and labels of pairs of components, numbers in the cells of a large matrix.
  function shrink(figure) {
    for (const trace of figure.data) {
      if (trace.type === "heatmap" && trace.x.length > 6) trace.texttemplate = "";
      if (trace.type !== "splom") continue;
      trace.marker.size = 2.5;
      for (const axis of Object.keys(figure.layout).filter((key) => /^[xy]axis/.test(key))) {
        figure.layout[axis].title.font.size = 9;
        figure.layout[axis].tickfont.size = 9;
      }
    }
  }

  function draw(name) {
    const place = document.getElementById(`plot-${name}`);
    const figure = painted(figures[name][shown[name]], getComputedStyle(root));
    if (touch) figure.layout.dragmode = false; // or a finger on a chart could not scroll the page
    if (narrow.matches) shrink(figure);
    return Plotly.react(place, figure.data, figure.layout, { ...config, displayModeBar: place.clientWidth < 320 || touch ? false : "hover" });
  }

  async function drawAll() {
    for (const name of Object.keys(figures)) {
      try {
        await draw(name);
      } catch (error) {
        console.error(name, error); // the other charts are still worth drawing
      }
    }
    root.dataset.drawn = root.dataset.theme;
  }

  for (const group of document.querySelectorAll("[data-figures]")) {
    const buttons = [...group.querySelectorAll("button")];
    const names = group.dataset.figures.split(" ");
    const first = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    for (const name of names) shown[name] = first;
    buttons.forEach((button, index) => {
      button.addEventListener("click", () => {
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        for (const name of names) {
          shown[name] = index;
          draw(name);
        }
      });
    });
  }
  for (const name of Object.keys(figures)) shown[name] ??= 0;

  const toggle = document.getElementById("theme");
  function setTheme(theme) {
    root.dataset.theme = theme;
    toggle.lastChild.textContent = theme === "dark" ? "Light" : "Dark";
    return drawAll();
  }
  const preference = matchMedia("(prefers-color-scheme: dark)");
  toggle.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  preference.addEventListener("change", () => setTheme(preference.matches ? "dark" : "light"));
  narrow.addEventListener("change", drawAll);
  setTheme(preference.matches ? "dark" : "light");
})();
