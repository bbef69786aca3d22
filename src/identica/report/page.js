"use strict";
(() => {
  const root = document.documentElement;
  let figures = {};
  const controls = [];
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

  // What is too large for a phone: a cube seen from near and its points,
  // numbers in the cells of a large matrix, and names side by side.
  function shrink(figure) {
    const eye = figure.layout.scene?.camera.eye;
    if (eye) figure.layout.scene.camera.eye = { x: 1.15 * eye.x, y: 1.15 * eye.y, z: 1.15 * eye.z };
    for (const trace of figure.data) {
      if (trace.type === "scatter3d") trace.marker.size *= 0.6;
      if (trace.type !== "heatmap") continue;
      if (trace.x.length > 6) trace.texttemplate = "";
      figure.layout.xaxis.tickangle = -90;
    }
  }

  // Which state of a chart is chosen, by all its buttons and menus together.
  function state(name) {
    const own = controls.filter((control) => control.names.includes(name));
    return own.reduce((sum, control) => sum + control.index * control.stride, 0);
  }

  function draw(name) {
    const place = document.getElementById(`plot-${name}`);
    const figure = painted(figures[name][state(name)], getComputedStyle(root));
    if (touch) {
      figure.layout.dragmode = false; // or a finger on a chart could not scroll the page
      if (figure.layout.scene) figure.layout.scene.dragmode = false;
    }
    if (narrow.matches) shrink(figure);
    if (place.clientWidth < 240) {
      for (const key of Object.keys(figure.layout).filter((one) => /^[xy]axis/.test(one))) figure.layout[key].title.font.size = 9;
    }
    return Plotly.react(place, figure.data, figure.layout, { ...config, displayModeBar: place.clientWidth < 320 || touch ? false : "hover" });
  }

  async function drawAll() {
    if (!window.Plotly) return; // still being unpacked
    for (const name of Object.keys(figures)) {
      try {
        await draw(name);
      } catch (error) {
        console.error(name, error); // the other charts are still worth drawing
      }
    }
    root.dataset.drawn = root.dataset.theme;
  }

  function choose(control, index) {
    control.index = index;
    for (const name of control.names) draw(name);
  }

  for (const group of document.querySelectorAll("[data-figures]")) {
    const control = { names: group.dataset.figures.split(" "), stride: Number(group.dataset.stride ?? 1), index: 0 };
    controls.push(control);
    if (group.tagName === "SELECT") {
      control.index = group.selectedIndex; // browsers keep it when a page is loaded again
      group.addEventListener("change", () => choose(control, group.selectedIndex));
      continue;
    }
    const buttons = [...group.querySelectorAll("button")];
    control.index = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    buttons.forEach((button, index) => {
      button.addEventListener("click", () => {
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        choose(control, index);
      });
    });
  }

  for (const button of document.querySelectorAll("[data-turn]")) {
    button.addEventListener("click", () => {
      const place = document.getElementById(`plot-${button.dataset.turn}`);
      const { x, y, z } = place._fullLayout.scene._scene.getCamera().eye;
      const angle = Math.PI / 6;
      const eye = { x: x * Math.cos(angle) - y * Math.sin(angle), y: x * Math.sin(angle) + y * Math.cos(angle), z };
      Plotly.relayout(place, { "scene.camera.eye": eye });
    });
  }

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

  // Charts and plotly.js are in the page, compressed.
  function unpacked(name) {
    const packed = Uint8Array.from(atob(document.getElementById(name).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }
  async function load() {
    figures = JSON.parse(await unpacked("figures"));
    const script = document.createElement("script");
    script.textContent = await unpacked("plotly");
    document.head.append(script);
  }
  load().then(
    () => setTheme(preference.matches ? "dark" : "light"),
    (error) => {
      console.error(error);
      for (const place of document.querySelectorAll(".plot")) place.textContent = "This browser is too old to draw charts.";
    }
  );
})();
