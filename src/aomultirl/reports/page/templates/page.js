"use strict";
// Draws the view of every chart that the controls ask for, and keeps checkboxes and legends in step.
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const state = { run: "all", agent: "0", measure: "mean" };
  const hidden = new Set();
  const narrow = window.matchMedia("(max-width: 40rem)");
  const coarse = window.matchMedia("(pointer: coarse)");
  const waiting = new Set(page.charts);

  const keyOf = (keys) =>
    keys
      .map((key) => {
        if (key !== "run" || !keys.includes("agent")) return state[key];
        const runs = page.agents[Number(state.agent)].runs;
        return runs.includes(state.run) ? state.run : runs[0];
      })
      .join("|");

  // Every run keeps the evidence of other episodes; the last is shown first.
  function fillKept() {
    const control = document.querySelector('[data-control="kept"]');
    if (!control) return;
    const names = page.charts.find((chart) => chart.choices).choices[keyOf(["agent", "run"])] || [];
    control.replaceChildren(...names.map((name, i) => new Option(name, String(i))));
    control.value = state.kept = String(Math.max(0, names.length - 1));
    control.parentElement.hidden = names.length === 0;
  }

  function tracesOf(chart, view) {
    const count = Math.max(chart.traces.length, view.data.length);
    return Array.from({ length: count }, (_, i) => {
      const trace = { ...chart.traces[i], ...view.data[i] };
      // Plotly cuts a legend where the screen ends.
      if (trace.name) trace.name = trace.name.replace(narrow.matches ? /(.{20,36}?) /g : /(.{60,90}?) /g, "$1<br>");
      if (!trace.meta) return trace;
      if (trace.meta.bound) trace.visible = Boolean(state.bound) && !hidden.has(trace.meta.agent);
      else trace.visible = hidden.has(trace.meta.agent) ? "legendonly" : true;
      return trace;
    });
  }

  function layoutOf(chart, view) {
    const own = chart.layout;
    const small = narrow.matches;
    const axis = { gridcolor: "#e7e7e3", zerolinecolor: "#c9c9c4", linecolor: "#8a8a86", automargin: true };
    const layout = {
      ...own,
      height: small ? Math.min(own.height, 360) : own.height,
      font: { family: getComputedStyle(document.body).fontFamily, size: small ? 12 : 13, color: "#1d1d1f" },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 56, r: 12, t: 24, b: 72 },
      legend: { orientation: "h", x: 0, y: 0, yref: "container", yanchor: "bottom" },
      hoverlabel: { font: { size: 12 }, namelength: -1 },
      dragmode: coarse.matches || small ? false : "zoom",
      xaxis: { ...axis, ...((view && view.xaxis) || own.xaxis) },
      yaxis: { ...axis, ...((view && view.yaxis) || own.yaxis) },
      uirevision: "kept",
    };
    if (chart.log && state[chart.log]) {
      Object.assign(layout.yaxis, { type: "log", exponentformat: "power", nticks: 6 });
    }
    return layout;
  }

  function draw(chart) {
    const holder = document.getElementById(`chart-${chart.id}`);
    const view = chart.views[keyOf(chart.keys)];
    waiting.delete(chart);
    const words = view ? view.words : "This run is not among those that can be shown alone.";
    holder.setAttribute("aria-label", words);
    document.getElementById(`words-${chart.id}`).textContent = words;
    holder.hidden = !view || view.data.length === 0;
    if (holder.hidden) return;
    // Without Plotly's own buttons: they would be many stops for the keyboard inside what is read as one picture.
    const config = { responsive: true, displayModeBar: false };
    const layout = layoutOf(chart, view);
    // Some charts had no height, and words below them lay upon them, after a window had become narrow.
    holder.style.minHeight = `${layout.height}px`;
    Plotly.react(holder, tracesOf(chart, view), layout, config);
    if (!holder.dataset.listening) {
      holder.dataset.listening = "yes";
      holder.on("plotly_legendclick", (event) => followLegend(event, false));
      holder.on("plotly_legenddoubleclick", (event) => followLegend(event, true));
    }
  }

  // A legend speaks for the agent on the whole page, as its checkbox does.
  function followLegend(event, alone) {
    const meta = event.data[event.curveNumber].meta;
    if (!meta || meta.bound) return !meta;
    if (!alone) toggle(meta.agent, hidden.has(meta.agent));
    else {
      const others = page.agents.map((_, i) => i).filter((i) => i !== meta.agent);
      const solo = !hidden.has(meta.agent) && others.every((i) => hidden.has(i));
      hidden.clear();
      if (!solo) others.forEach((i) => hidden.add(i));
      update((chart) => chart.keys.at(0) !== "agent");
    }
    return false;
  }

  function toggle(agent, visible) {
    if (visible) hidden.delete(agent);
    else hidden.add(agent);
    update((chart) => chart.keys.at(0) !== "agent");
  }

  function update(concerned) {
    document.querySelectorAll("[data-agent]").forEach((box) => {
      box.checked = !hidden.has(Number(box.dataset.agent));
    });
    page.charts.filter((chart) => !waiting.has(chart) && concerned(chart)).forEach(draw);
  }

  const svg = (name, attributes, parent) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (parent) parent.append(node);
    return node;
  };
  const element = (name, text, parent) => {
    const node = document.createElement(name);
    node.textContent = text;
    parent.append(node);
    return node;
  };
  const moves = ["left", "right", "up", "down"];
  const turns = [180, 0, 270, 90];

  // actions: for every cell the list of actions to draw; wrong: whether to mark the cell.
  function drawMap(parent, world, actions, wrong, label) {
    const [rows, columns] = world.layout;
    const size = 40;
    const map = svg("svg", { class: "map", viewBox: `-1 -1 ${columns * size + 2} ${rows * size + 2}`, role: "img" });
    map.setAttribute("aria-label", label);
    const hatch = `hatch-${drawMap.count = (drawMap.count || 0) + 1}`;
    const pattern = svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, svg("defs", {}, map));
    svg("path", { d: "M-1 1L1-1M0 6L6 0M5 7L7 5", stroke: "#8a4b1f", "stroke-width": 1 }, pattern);
    actions.forEach((here, state) => {
      const x = (state % columns) * size;
      const y = Math.floor(state / columns) * size;
      const cell = { x, y, width: size, height: size, stroke: "#b9b9b3", "stroke-width": 0.8 };
      svg("rect", { ...cell, fill: world.rewards[state] > 0 ? "#efe9d2" : "#ffffff" }, map);
      if (wrong[state]) svg("rect", { ...cell, fill: `url(#${hatch})`, stroke: "#8a4b1f", "stroke-width": 2 }, map);
      const group = svg("g", { transform: `translate(${x + size / 2} ${y + size / 2})` }, map);
      if (world.starts.includes(state)) svg("circle", { r: 16, fill: "none", stroke: "#1d1d1f", "stroke-width": 1.2 }, group);
      if (world.rewards[state] > 0) {
        svg("path", { d: "M0-5L1.3-1.6L5-1.5L2 .8L3 4.5L0 2.3L-3 4.5L-2 .8L-5-1.5L-1.3-1.6z", transform: "translate(13 -13)", fill: "#1d1d1f" }, group);
      }
      if (here.length === 0) svg("circle", { r: 3, fill: "#1d1d1f" }, group);
      here.forEach((action) => {
        const centre = here.length > 1 ? 0 : -10;
        const d = `M${centre} 0H${here.length > 1 ? 13 : 10}m-5.5-5l5.5 5l-5.5 5`;
        svg("path", { d, transform: `rotate(${turns[action]})`, fill: "none", stroke: "#00558a", "stroke-width": 2.2, "stroke-linecap": "round", "stroke-linejoin": "round" }, group);
      });
      if (wrong[state]) svg("path", { d: "M-17 11l6 6m0-6l-6 6", stroke: "#8a2f00", "stroke-width": 2.2 }, group);
    });
    parent.append(map);
  }

  function drawMaps() {
    const holder = document.getElementById("maps");
    if (!holder || !page.maps) return;
    const view = page.maps.views[keyOf(["agent", "run"])];
    const world = page.maps.worlds[view.world];
    document.getElementById("maps-words").textContent = view.words;
    holder.replaceChildren();
    view.clusters.forEach((cluster, number) => {
      const block = element("div", "", holder);
      block.className = "cluster";
      const gaps = world.gaps[cluster.task];
      const best = gaps && gaps.map((row) => moves.map((_, a) => a).filter((a) => row[a] === 0));
      const wrong = cluster.plan.map((action, s) => Boolean(best) && !best[s].includes(action));
      const count = wrong.filter(Boolean).length;
      const name = `c${number + 1}` + (best ? `, world m${cluster.task + 1}` : "");
      const cost = Math.max(0, ...wrong.map((bad, s) => (bad ? gaps[s][cluster.plan[s]] || 0 : 0)));
      const found = count === 0 ? ": optimal everywhere" : `: ${count} of ${wrong.length} cells not optimal`;
      const said = (best ? found : "") + (cost > 0 ? `, costing at most ${cost} each` : "");
      element("h3", name + said, block);
      const pair = element("div", "", block);
      pair.className = "pair";
      const columns = world.layout[1];
      const where = wrong.flatMap((bad, s) => {
        if (!bad) return [];
        const learned = moves[cluster.plan[s]] || "at random";
        const place = `row ${Math.floor(s / columns) + 1}, column ${(s % columns) + 1}`;
        return [`${place}: learned ${learned}, optimal ${best[s].map((a) => moves[a]).join(" or ")}`];
      });
      const learned = element("figure", "", pair);
      const actions = cluster.plan.map((action) => (action < 4 ? [action] : []));
      drawMap(learned, world, actions, wrong, `Learned policy of ${name}${said}. ${where.join("; ")}`);
      element("figcaption", `learned, ${cluster.visits.toLocaleString("en")} visits`, learned);
      if (!best) return;
      const optimal = element("figure", "", pair);
      drawMap(optimal, world, best, wrong.map(() => false), `Optimal policy of world m${cluster.task + 1}.`);
      element("figcaption", `optimal for ${world.horizon.toLocaleString("en")} steps`, optimal);
    });
  }

  function change(control) {
    const name = control.dataset.control;
    state[name] = control.type === "checkbox" ? control.checked : control.value;
    const axis = document.querySelector('[data-control="regret-log"]');
    if (name === "bound" && control.checked && control.dataset.far && !axis.checked) {
      axis.checked = true;
      state["regret-log"] = true;
    }
    if (name === "run" || name === "agent") fillKept();
    update((chart) => chart.keys.includes(name) || chart.log === name || (name === "bound" && chart.log === "regret-log"));
    if (name === "run" || name === "agent") drawMaps();
  }

  document.querySelectorAll("[data-control]").forEach((control) => {
    state[control.dataset.control] = control.type === "checkbox" ? control.checked : control.value;
    control.addEventListener("change", () => change(control));
  });
  document.querySelectorAll("[data-agent]").forEach((box) => {
    box.addEventListener("change", () => toggle(Number(box.dataset.agent), box.checked));
  });

  fillKept();

  // One by one while nothing else is to be done.
  const later = window.requestIdleCallback || ((work) => setTimeout(work, 10));
  function next() {
    const chart = waiting.values().next().value;
    if (chart) {
      draw(chart);
      later(next, { timeout: 200 });
    } else document.documentElement.dataset.ready = "yes";
  }

  // Plotly is large: words, tables and maps come to the screen before it is read.  Pages without charts do without it.
  function begin() {
    const source = document.getElementById("plotly");
    if (source) {
      const script = document.createElement("script");
      script.textContent = source.textContent;
      source.replaceWith(script);
    }
    next();
    performance.mark("first-chart");
  }
  drawMaps();
  window.addEventListener("load", () => setTimeout(begin, 20));
  window.addEventListener("beforeprint", () => window.Plotly && [...waiting].forEach(draw));
  narrow.addEventListener("change", () => update(() => true));
})();
