"use strict";
{% include "live_charts.js" %}
// Asks the server what has happened, and shows it: the episode under way, or one that is chosen.
(() => {
  const NEW = -1;
  const MOST_BARS = 12;
  const MOST_MOMENTS = 300;
  const QUICK = 120;
  const SLOW = 1500;
  const $ = (id) => document.getElementById(id);
  const { number } = charts;
  const seen = { version: -1, rows: [], cards: [], players: [], trails: new Map() };
  let chosen = null;
  let failures = 0;
  let drawn = "";

  const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
  const percent = (share) => (share >= 0.9995 ? "over 99.9 %" : `${(100 * share).toFixed(1)} %`);
  const card = (name) => seen.cards.find((one) => one.name === name);
  const prefix = () => (seen.namesWorlds ? "w" : "c");
  const world = (task) => `m${task + 1}`;
  const plain = (name) => (name === NEW ? "a new world" : `${prefix()}${name + 1}`);
  function called(name) {
    const mostly = card(name)?.mostly;
    return mostly === null || mostly === undefined ? plain(name) : `${plain(name)} ≈ ${world(mostly)}`;
  }
  const colour = (name) => charts.colourOf(name === NEW ? null : card(name)?.mostly);
  // Who only reads a run knows what was believed at some steps, not at those between them.
  const when = (step) => (seen.facts?.plays ? `after ${counted(step, "step")}` : `by step ${number(step)}`);
  const mark = (right) => (right === null || right === undefined ? "●" : right ? "✔" : "✘");
  function set(id, text) {
    if ($(id).textContent !== text) $(id).textContent = text;
  }

  // The episode that is shown, with its outcome where it is over.
  function shown() {
    const last = seen.now;
    const episode = chosen ?? last?.episode;
    if (episode === undefined) return null;
    const row = seen.rows[episode];
    const trail = last && last.episode === episode ? last : seen.trails.get(episode);
    const outcome = row && { task: row[1], name: row[2], isNew: row[3], sure: row[4], recognised: row[5], steps: row[6], right: row[7] };
    return { looks: [], turns: [], ...trail, episode, task: row ? row[1] : trail?.task, steps: trail?.steps ?? row?.[6], outcome };
  }

  function verdictOf(one) {
    const turn = one.turns.at(-1);
    const moment = turn && turn[1] !== null ? `recognised ${when(turn[0])}` : "";
    if (one.outcome && one.outcome.name >= 0) {
      const { name, isNew, sure, right } = one.outcome;
      const said = `taken for ${isNew ? `the new world ${plain(name)}` : called(name)}`;
      const parts = [said, moment, sure === null ? "" : `${percent(sure)} sure`].filter(Boolean).join(", ");
      return [`${mark(right)} Episode ${number(one.episode + 1)}: ${parts}${right === null ? "" : right ? ": right" : ": wrong"}.`, right];
    }
    if (one.outcome) return [`● Episode ${number(one.episode + 1)}: taken for no world.`, null];
    if (moment) return [`${mark(turn[2])} Episode ${number(one.episode + 1)}: ${moment} as ${turn[1] === NEW ? "none that it knows: a new world" : called(turn[1])}.`, turn[2]];
    if (turn) return ["? No longer certain of any world.", null];
    if (seen.memory && seen.memory.length === 0) return ["? Nothing is in memory yet, so there is nothing to recognise.", null];
    return ["? Not certain yet.", null];
  }

  function sharesOf(one) {
    const last = one.looks.at(-1)?.[1] ?? {};
    const known = new Set(Object.keys(last).map(Number));
    if (chosen === null && seen.memory) [...seen.memory.filter((name) => !(one.outcome?.isNew && name === one.outcome.name)), NEW].forEach((name) => known.add(name));
    const sorted = [...known].sort((a, b) => (last[b] ?? 0) - (last[a] ?? 0));
    const names = sorted.slice(0, sorted.length > MOST_BARS ? MOST_BARS - 1 : MOST_BARS).sort((a, b) => (a === NEW) - (b === NEW) || a - b);
    const bars = names.map((name) => [String(name), called(name), last[name] ?? 0, colour(name)]);
    const rest = 1 - bars.reduce((sum, bar) => sum + bar[2], 0);
    if (one.looks.length && (sorted.length > names.length || rest > 0.005)) bars.push(["others", "all others", Math.max(0, rest), "var(--unknown)"]);
    return bars;
  }

  function drawBars(one) {
    const bars = sharesOf(one);
    const there = new Map([...$("bars").children].map((row) => [row.dataset.name, row]));
    const rows = bars.map(([name, label, share, fill]) => {
      let row = there.get(name);
      if (!row) {
        row = document.createElement("div");
        row.className = "bar";
        row.dataset.name = name;
        row.innerHTML = '<span class="name"></span><div class="track"><div class="fill"></div></div><span class="share"></span>';
      }
      const [text, track, said] = row.children;
      text.textContent = label;
      said.textContent = percent(share);
      track.firstChild.style.width = `${100 * share}%`;
      row.style.setProperty("--colour", fill);
      row.dataset.sure = String(share > 0.99);
      return row;
    });
    if (rows.some((row, i) => $("bars").children[i] !== row) || rows.length !== $("bars").children.length) $("bars").replaceChildren(...rows);
  }

  function drawTrail(one) {
    const names = [...new Set(one.looks.flatMap((look) => Object.keys(look[1]).map(Number)))];
    const most = (name) => Math.max(...one.looks.map((look) => look[1][name] ?? 0));
    const kept = names.sort((a, b) => most(b) - most(a)).slice(0, MOST_BARS);
    const used = new Map();
    const curves = kept.map((name) => {
      const shade = colour(name);
      used.set(shade, (used.get(shade) ?? -1) + 1);
      const dashes = name === NEW ? "2 3" : ["", "7 3", "4 2", "1 2"][used.get(shade) % 4];
      return { label: name === NEW ? "new" : plain(name), colour: shade, dashes, points: one.looks.map((look) => [look[0], look[1][name] ?? 0]) };
    });
    const turn = one.turns.at(-1);
    const moment = turn && turn[1] !== null ? turn[0] : null;
    let words = `Belief in each world over the steps of episode ${number(one.episode + 1)}, on a logarithmic axis${moment === null ? "." : `; the dashed line is where it became almost certain, ${when(moment)}.`}`;
    if (one.looks.length < 2) words = "What it believed on the way was not written down in this episode; the bars are how sure it was in the end.";
    set("trail-words", words);
    $("trail").hidden = one.looks.length < 2;
    if (one.looks.length > 1) charts.trail($("trail"), words, curves, one.steps ?? one.looks.at(-1)?.[0] ?? 1, moment);
  }

  function line(text, parent) {
    const made = document.createElement("p");
    made.textContent = text;
    parent.append(made);
  }

  function drawCards(one) {
    const names = seen.memory ?? seen.cards.map((each) => each.name);
    const believed = one?.outcome ? one.outcome.name : one?.turns.at(-1)?.[1];
    $("cards").replaceChildren(...names.map((name) => {
      const box = document.createElement("div");
      const about = card(name);
      box.className = "world-card";
      box.style.setProperty("--colour", colour(name));
      box.dataset.now = String(believed === name);
      const head = document.createElement("h3");
      head.textContent = called(name);
      box.append(head);
      if (!about) {
        line("no episode was taken for it yet", box);
        return box;
      }
      line(`${counted(about.episodes, "episode")}: ${about.tasks.map(([task, count]) => `${number(count)} in ${world(task)}`).join(", ")}`, box);
      line(`last: episode ${number(about.last + 1)}${about.sure === null ? "" : `, ${percent(about.sure)} sure`}`, box);
      if (about.recognised !== null) line(`last recognised ${when(about.recognised)}`, box);
      line(about.share === null ? `mean reward ${number(about.reward, 2)}` : `earned ${(100 * about.share).toFixed(1)} % of the best possible`, box);
      if (about.cluster >= 0 && seen.namesWorlds) line(`proven: cluster c${about.cluster + 1}`, box);
      return box;
    }));
    const gone = seen.memory ? seen.cards.map((each) => each.name).filter((name) => !seen.memory.includes(name)) : [];
    const told = seen.memory ? `${counted(names.length, "world")} in memory.` : `${counted(names.length, "world")} that episodes were taken for.`;
    set("memory-words", `${told} w1, w2, … are the agent's own names; m1, m2, … and the colours are the true worlds; ≈ says what a world mostly was lately.${gone.length ? ` No longer held apart from others: ${gone.map(plain).join(", ")}.` : ""}`.replace("w1, w2", `${prefix()}1, ${prefix()}2`));
  }

  function lookOf(player, place) {
    if (place === 0) return { colour: "var(--agent)", dashes: "" };
    if (player.forgets) return { colour: "var(--alone)", dashes: "7 3" };
    return { colour: `var(--other${(place - 1) % 4})`, dashes: "3 2" };
  }

  function drawReward() {
    const lines = seen.players.map((player, i) => ({ ...player, ...lookOf(player, i) }));
    if (seen.best) lines.push({ ...seen.best, colour: "var(--best)", dashes: "1 3" });
    $("reward-key").replaceChildren(...lines.map((one) => {
      const entry = document.createElement("li");
      entry.innerHTML = '<svg width="30" height="10" aria-hidden="true"><path d="M0 5H30" stroke-width="2.4"></path></svg><span></span>';
      entry.querySelector("path").style.stroke = one.colour;
      entry.querySelector("path").setAttribute("stroke-dasharray", one.dashes);
      entry.lastChild.textContent = one.label;
      return entry;
    }));
    const { episodes, totals } = seen.common;
    if (!episodes) {
      set("totals", "");
      return;
    }
    const said = seen.players.map((player, i) => `${player.label} ${number(totals[i])}`).join(", ");
    const rival = seen.players.findIndex((player) => player.forgets);
    const more = rival > 0 && totals[rival] > 0 ? totals[0] / totals[rival] - 1 : null;
    const gain = more === null ? "" : ` Memory has earned ${Math.abs(100 * more).toFixed(0)} % ${more >= 0 ? "more" : "less"}.`;
    const share = seen.best?.total > 0 ? ` ${seen.players[0].label} has earned ${((100 * seen.players[0].total) / seen.best.total).toFixed(1)} % of the best possible.` : "";
    const hint = rival < 0 && !seen.facts.plays ? ` No run of the same learner without memory is there: aomultirl live ${seen.facts.origin}/specification.toml plays both.` : "";
    set("totals", `Earned in the first ${counted(episodes, "episode")}: ${said}.${gain}${share}${hint}`);
    const words = "The mean reward of the last 10 episodes. All play the same episodes, with the same draws.";
    const begin = charts.curves($("reward"), `${words} ${$("totals").textContent}`, lines, chosen === null ? null : chosen + 1);
    set("reward-words", `${words}${begin === 0 ? "" : ` The axis begins at ${number(begin, 2)}.`}`);
  }

  function drawEpisodes(one) {
    const cells = seen.rows.map((row) => ({
      episode: row[0], right: row[7],
      top: { colour: charts.colourOf(row[1]), text: world(row[1]) },
      bottom: row[2] < 0 ? { colour: "var(--track)", text: "–" } : { colour: colour(row[2]), text: plain(row[2]), faint: row[4] !== null && row[4] < 0.99 },
      words: `Episode ${row[0] + 1} was ${world(row[1])}, ${row[2] < 0 ? "taken for no world" : `taken for ${called(row[2])}`}`,
    }));
    const wrong = seen.rows.filter((row) => row[7] === false).length;
    const words = `Above the true world of every episode, below what it was taken for, in the colour of what that world mostly is by now; pale: less than 99 % sure; ✘: wrong when it was over (${number(wrong)} of ${number(seen.rows.length)}). Choose one to look at it.`;
    set("ribbon-words", words);
    charts.ribbon($("ribbon"), words, cells, one?.episode ?? 0);
    const points = seen.rows.filter((row) => row[5] !== null).slice(-MOST_MOMENTS)
      .map((row) => ({ episode: row[0], step: row[5], right: row[7], colour: charts.colourOf(row[1]) }));
    $("moments-figure").hidden = points.length === 0 || !seen.facts.plays;
    if ($("moments-figure").hidden) return;
    const last = points.slice(-10).map((point) => point.step).sort((a, b) => a - b);
    const said = `The step after which it was almost certain, up to the end; in the last ${counted(last.length, "such episode")} the median is ${number(last[Math.floor((last.length - 1) / 2)])}. Circles that are open: it was wrong.`;
    set("moments-words", said);
    charts.moments($("moments"), said, points);
  }

  const STATES = { preparing: "preparing", playing: "live", waiting: "waiting", done: "done", failed: "failed", gone: "ended" };
  function drawBar(one) {
    const state = failures > 1 ? "gone" : seen.state ?? "preparing";
    $("state").dataset.state = state;
    set("state", state === "playing" && !seen.facts?.plays ? "replay" : STATES[state]);
    const all = seen.facts?.episodes ?? 1;
    const step = one?.outcome ? one.steps : one?.looks.at(-1)?.[0];
    set("where", one ? `episode ${number(one.episode + 1)} of ${number(all)}, step ${number(step ?? 0)}${one.steps ? ` of ${number(one.steps)}` : ""}` : "");
    const last = Math.max(seen.rows.length, (seen.now?.episode ?? 0) + 1);
    Object.assign($("episode"), { max: last, disabled: seen.rows.length === 0 });
    if (document.activeElement !== $("episode") || chosen === null) $("episode").value = (one?.episode ?? 0) + 1;
    $("follow").setAttribute("aria-pressed", String(chosen === null));
    const { all: cells, done = 0, failed = 0 } = seen.progress ?? {};
    const others = cells ? ` ${number(done)} of ${number(cells)} cells of the experiment are done${failed ? `, ${number(failed)} failed` : ""}.` : "";
    const words = failures > 1 ? "The command has ended, or cannot be reached; this is what was seen last." : `${seen.words ?? ""}${others}`.trim();
    $("notice").hidden = words === "";
    set("notice", words);
  }

  function drawHead() {
    if (!seen.facts) return;
    const { agent, world: place, parameters, number: run, episodes, steps, stream, origin, plays } = seen.facts;
    set("title", `${agent} in ${place}`);
    document.title = `${agent} in ${place}, live`;
    set("subtitle", [parameters, `run ${run}`, `${counted(episodes, "episode")}${steps ? ` of ${counted(steps, "step")}` : ""}`, `stream ${stream}`, `${plays ? "played from" : "read from"} ${origin}`].filter(Boolean).join(" · "));
  }

  function draw() {
    const one = shown();
    drawBar(one);
    const key = [seen.version, chosen, innerWidth].join("|");
    if (one) {
      const [said, right] = verdictOf(one);
      if ($("verdict").textContent !== said) {
        $("verdict").textContent = said;
        $("verdict").dataset.right = String(right);
        $("verdict").classList.remove("flash");
        if (one.turns.length && !one.outcome && chosen === null) requestAnimationFrame(() => $("verdict").classList.add("flash"));
      }
      set("truth", `This episode is ${world(one.task)}, which the agent is ${seen.facts?.is_told ? "told" : "not told"}.`);
      drawBars(one);
      drawTrail(one);
      drawCards(one);
    }
    if (key === drawn) return;
    drawn = key;
    drawHead();
    if (!seen.facts) return;
    drawReward();
    if (seen.rows.length) drawEpisodes(one);
  }

  async function choose(episode) {
    const last = seen.rows.length - 1;
    chosen = episode === null || episode > last ? null : Math.max(0, episode);
    draw();
    if (chosen !== null && !seen.trails.has(chosen)) {
      const wanted = chosen;
      const answer = await fetch(`episode?number=${wanted}`).then((one) => one.json()).catch(() => null);
      seen.trails.set(wanted, answer ?? {});
      draw();
    }
  }

  async function ask() {
    let pause = QUICK;
    try {
      const answer = await fetch(`state?version=${seen.version}&rows=${seen.rows.length}`);
      const told = await answer.json();
      const rows = told.rows ? [...seen.rows, ...told.rows] : seen.rows;
      if (told.rows && told.isWhole === false) Object.assign(told, { version: -1 });
      Object.assign(seen, told, { rows });
      failures = 0;
      pause = told.isWhole === false ? 0 : ["done", "failed"].includes(told.state) ? SLOW : QUICK;
    } catch {
      failures += 1;
      pause = SLOW;
    }
    draw();
    document.documentElement.dataset.ready = "yes";
    setTimeout(ask, pause);
  }

  $("episode").addEventListener("input", (event) => choose(Number(event.target.value) - 1));
  $("back").addEventListener("click", () => choose((chosen ?? seen.rows.length) - 1));
  $("forth").addEventListener("click", () => choose(chosen === null ? null : chosen + 1));
  $("follow").addEventListener("click", () => choose(null));
  $("ribbon").addEventListener("click", (event) => {
    const cell = event.target.closest("[data-episode]");
    if (cell) choose(Number(cell.dataset.episode));
  });
  addEventListener("resize", draw);
  ask();
})();
