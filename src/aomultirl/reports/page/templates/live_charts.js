// Small charts for a page that changes several times a second: SVG as wide as its place, without a library.
const charts = (() => {
  const WORLDS = 8;
  const space = "http://www.w3.org/2000/svg";
  const number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });
  const colourOf = (task) => (task === null || task === undefined || task < 0 ? "var(--unknown)" : `var(--m${task % WORLDS})`);

  function node(name, attributes, parent, text) {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  // An empty drawing that fills its place, with the words that say what is on it.
  function fresh(place, words) {
    const width = Math.max(200, place.clientWidth);
    const height = Math.max(60, place.clientHeight);
    place.replaceChildren();
    place.setAttribute("aria-label", words);
    return { svg: node("svg", { viewBox: `0 0 ${width} ${height}` }, place), width, height };
  }

  function lineTo(svg, points, colour, dashes = "") {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    node("path", { d, fill: "none", stroke: colour, "stroke-width": 2.2, "stroke-linejoin": "round", "stroke-dasharray": dashes }, svg);
  }

  function axis(svg, from, to, label, anchor) {
    node("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: "var(--rule)" }, svg);
    const below = anchor === "middle";
    node("text", { x: from[0] - (below ? 0 : 6), y: (below ? to[1] + 16 : from[1] + 4), "text-anchor": anchor }, svg, label);
  }

  // Labels at the ends of lines, moved apart where they would lie upon each other.
  function labels(svg, x, wanted, bottom) {
    const sorted = [...wanted].sort((a, b) => a.y - b.y);
    sorted.forEach((one, i) => { one.y = Math.max(one.y, i ? sorted[i - 1].y + 14 : 8); });
    for (let i = sorted.length - 1, most = bottom; i >= 0; i--, most -= 14) sorted[i].y = Math.min(sorted[i].y, most);
    sorted.forEach((one) => {
      node("text", { x, y: one.y + 4, class: "strong" }, svg, one.text).style.fill = one.colour;
    });
  }

  const tens = (most) => Array.from({ length: Math.floor(Math.log10(Math.max(1, most))) + 1 }, (_, i) => 10 ** i);

  // Curves of belief over the steps of an episode; curves: {label, colour, points: [step, share]}.
  function trail(place, words, curves, steps, turn) {
    const { svg, width, height } = fresh(place, words);
    const [left, right, top, bottom] = [44, width - 84, 10, height - 40];
    const x = (step) => left + ((right - left) * Math.log1p(step)) / Math.log1p(Math.max(1, steps));
    const y = (share) => bottom - (bottom - top) * share;
    [0, 0.5, 1].forEach((share) => axis(svg, [left, y(share)], [right, y(share)], `${100 * share} %`, "end"));
    tens(steps).forEach((step) => axis(svg, [x(step), top], [x(step), bottom], number(step), "middle"));
    node("text", { x: (left + right) / 2, y: height - 2, "text-anchor": "middle" }, svg, "step of the episode");
    curves.forEach((curve) => lineTo(svg, curve.points.map(([step, share]) => [x(step), y(share)]), curve.colour, curve.dashes));
    const ends = curves.filter((curve) => curve.points.at(-1)[1] > 0.08);
    labels(svg, right + 6, ends.map((one) => ({ y: y(one.points.at(-1)[1]), text: one.label, colour: one.colour })), bottom);
    if (turn !== null) {
      node("line", { x1: x(turn), x2: x(turn), y1: top, y2: bottom, stroke: "var(--ink)", "stroke-dasharray": "3 3" }, svg);
      node("circle", { cx: x(turn), cy: top, r: 4, fill: "var(--ink)" }, svg);
    }
  }

  function strideOf(least, most) {
    const rough = (most - least || 1) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((lead) => lead * power).find((one) => one >= rough);
  }

  function ticksOf(least, most) {
    const stride = strideOf(least, most);
    const first = Math.ceil(least / stride);
    return Array.from({ length: Math.floor(most / stride) - first + 1 }, (_, i) => (first + i) * stride);
  }

  // Lines over the episodes; lines: {x, y, colour, dashes}.  Gives back where the axis begins: at 0, unless all are far above.
  function curves(place, words, lines, shown) {
    const { svg, width, height } = fresh(place, words);
    const [left, right, top, bottom] = [60, width - 12, 8, height - 42];
    const values = lines.flatMap((line) => line.y);
    const [low, high] = [Math.min(...values), Math.max(1e-9, ...values)];
    const base = low > 0.5 * high ? Math.max(0, low - 0.25 * (high - low || high)) : Math.min(0, low);
    const stride = strideOf(base, high);
    const least = Math.floor(base / stride) * stride;
    const most = high + 0.06 * (high - least);
    const last = Math.max(10, ...lines.flatMap((line) => line.x));
    const x = (episode) => left + ((right - left) * (episode - 1)) / (last - 1);
    const y = (value) => bottom - ((bottom - top) * (value - least)) / (most - least);
    ticksOf(least, most).forEach((value) => axis(svg, [left, y(value)], [right, y(value)], number(value, 2), "end"));
    ticksOf(1, last).filter((one) => Number.isInteger(one) && one > 0).forEach((one) => axis(svg, [x(one), bottom], [x(one), bottom + 4], number(one), "middle"));
    node("text", { x: (left + right) / 2, y: height - 2, "text-anchor": "middle" }, svg, "episode");
    lines.forEach((line) => {
      const points = line.x.map((episode, i) => [x(episode), y(line.y[i])]);
      if (points.length === 1) node("circle", { cx: points[0][0], cy: points[0][1], r: 3, fill: line.colour }, svg);
      else if (points.length) lineTo(svg, points, line.colour, line.dashes);
    });
    if (shown !== null) node("line", { x1: x(shown), x2: x(shown), y1: top, y2: bottom, stroke: "var(--soft)", "stroke-dasharray": "2 4" }, svg);
    return least;
  }

  // Two rows of cells: what every episode was, and what it was taken for; cells: {episode, top, bottom, right}.
  function ribbon(place, words, all, shown) {
    const { svg, width, height } = fresh(place, words);
    const left = 74;
    const room = Math.max(4, Math.floor((width - left) / 15));
    const end = Math.min(all.length, Math.max(room, shown + 1));
    const cells = all.slice(Math.max(0, end - room), end);
    const wide = Math.min(34, (width - left) / Math.max(cells.length, 1));
    const tall = (height - 30) / 2;
    ["was", "taken for"].forEach((text, i) => node("text", { x: left - 8, y: 4 + i * tall + tall / 2 + 4, "text-anchor": "end" }, svg, text));
    cells.forEach((cell, i) => {
      const x = left + i * wide;
      const group = node("g", { "data-episode": cell.episode }, svg);
      node("title", {}, group, cell.words);
      [cell.top, cell.bottom].forEach((half, j) => {
        node("rect", { x: x + 0.5, y: 4 + j * tall, width: Math.max(2, wide - 1.5), height: tall - 3, fill: half.colour, opacity: half.faint ? 0.4 : 1 }, group);
        if (wide >= 26) node("text", { x: x + wide / 2, y: 4 + j * tall + tall / 2 + 3, "text-anchor": "middle", class: "inside" }, group, half.text);
      });
      if (cell.right === false) node("text", { x: x + wide / 2, y: 4 + 2 * tall + 10, "text-anchor": "middle", class: "strong" }, group, "✘").style.fill = "var(--wrong)";
      if (cell.episode === shown) node("rect", { x: x - 0.5, y: 2, width: wide + 0.5, height: 2 * tall + 1, fill: "none", stroke: "var(--ink)", "stroke-width": 2 }, group);
      if ((cell.episode + 1) % 10 === 0 || (i === 0 && cells.length < 10)) node("text", { x: x + wide / 2, y: height - 2, "text-anchor": "middle" }, svg, number(cell.episode + 1));
    });
    return cells.length;
  }

  // The step at which the world was recognised, a point an episode; points: {episode, step, colour, right}.
  function moments(place, words, points) {
    const { svg, width, height } = fresh(place, words);
    const [left, right, top, bottom] = [60, width - 12, 10, height - 42];
    const most = Math.max(10, ...points.map((one) => one.step));
    const [first, last] = [points[0].episode + 1, Math.max(points[0].episode + 10, points.at(-1).episode + 1)];
    const x = (episode) => left + ((right - left) * (episode - first + 0.5)) / (last - first + 1);
    const y = (step) => bottom - ((bottom - top) * Math.log1p(step)) / Math.log1p(most);
    tens(most).forEach((step) => axis(svg, [left, y(step)], [right, y(step)], number(step), "end"));
    ticksOf(first, last).filter(Number.isInteger).forEach((one) => axis(svg, [x(one), bottom], [x(one), bottom + 4], number(one), "middle"));
    node("text", { x: (left + right) / 2, y: height - 2, "text-anchor": "middle" }, svg, "episode");
    points.forEach((one) => {
      const open = one.right === false;
      node("circle", { cx: x(one.episode + 1), cy: y(one.step), r: 4, fill: open ? "none" : one.colour, stroke: open ? "var(--wrong)" : one.colour, "stroke-width": 2 }, svg);
    });
  }

  return { colourOf, curves, moments, number, ribbon, trail };
})();
