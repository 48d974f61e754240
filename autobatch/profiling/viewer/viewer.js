// The page: a strip of the whole run, the source with the running lines lit, and the lanes as columns.

import { LitElement, html, nothing } from "lit";
import { Machine, FAILED } from "./machine.js";
import { paint } from "./strip.js";

const SPEEDS = [1, 4, 15, 60, 240]; // steps a second
const SHOWN = 5; // frames of a stack
const SHAPES = {
  start: "M2 2h2v12H2z M14 2v12L5 8z",
  back: "M12 2v12L3 8z",
  play: "M3 1v14l11-7z",
  pause: "M3 2h4v12H3z M9 2h4v12H9z",
  step: "M4 2v12l9-6z M13 2h2v12h-2z",
  end: "M2 2v12l9-6z M12 2h2v12h-2z",
};

class Viewer extends LitElement {
  static properties = {
    step: { state: true }, // how many have run
    playing: { state: true },
    speed: { state: true },
    view: { state: true }, // "source" or "blocks"
  };

  createRenderRoot() {
    return this; // the page's own style applies
  }

  constructor() {
    super();
    this.recording = JSON.parse(document.getElementById("recording").textContent);
    this.machine = new Machine(this.recording);
    Object.assign(this, { step: 0, playing: false, speed: 15, view: "source" });
    this.goTo(Number(/step=(\d+)/.exec(location.hash)?.[1] ?? 0));
    this.index = Object.fromEntries(this.recording.sources.flatMap((piece) => this.#waiting(piece)));
  }

  // For each line that runs, the blocks that it is part of.
  #waiting(piece) {
    return piece.lines.map((_, k) => {
      const line = piece.first + k;
      const blocks = this.recording.blocks.flatMap((block, i) =>
        block.lines.some(([file, at]) => file === piece.file && at === line) ? [i] : []);
      return [`${piece.file}:${line}`, blocks];
    });
  }

  connectedCallback() {
    super.connectedCallback();
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("resize", () => this.#paint());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#paint());
  }

  goTo(step) {
    this.step = Math.max(0, Math.min(step, this.machine.length));
  }

  play(on) {
    this.playing = on && this.step < this.machine.length;
    if (!this.playing) return;
    let [last, owed] = [performance.now(), 0];
    const tick = (now) => {
      if (!this.playing) return;
      owed += ((now - last) / 1000) * this.speed;
      last = now;
      this.goTo(this.step + Math.floor(owed));
      owed %= 1;
      if (this.step === this.machine.length) this.playing = false;
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  #key(event) {
    if (event.target.matches("select, input:not([type=range])") || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 50, PageUp: -50, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.goTo(this.step + moves[event.key]);
    else if (event.key === " ") this.play(!this.playing);
    else return;
    event.preventDefault();
  }

  updated() {
    const cursor = this.querySelector(".cursor");
    cursor.style.left = `${(100 * this.step) / Math.max(this.machine.length, 1)}%`;
    const lit = this.querySelector("pre .lit");
    const box = lit?.closest(".code");
    if (box && (lit.offsetTop < box.scrollTop || lit.offsetTop > box.scrollTop + box.clientHeight - 30)) {
      box.scrollTop = lit.offsetTop - box.clientHeight / 2;
    }
  }

  firstUpdated() {
    this.#paint();
  }

  #paint() {
    paint(this.querySelector("canvas"), this.recording);
  }

  #seek(event) {
    if (event.type === "pointermove" && !event.buttons) return;
    const box = event.currentTarget.getBoundingClientRect();
    this.goTo(Math.ceil(((event.clientX - box.left) / box.width) * this.machine.length));
  }

  render() {
    const state = this.machine.at(this.step);
    const last = this.step ? this.recording.steps[this.step - 1] : null;
    return html`
      ${this.#head(last)}
      <div class="strip" @pointerdown=${this.#seek} @pointermove=${this.#seek}>
        <canvas></canvas><div class="cursor"></div>
      </div>
      ${this.#controls()}
      <main>
        <section class="program">
          <nav>
            ${["source", "blocks"].map((view) => html`<button class=${this.view === view ? "on" : ""}
              aria-pressed=${this.view === view} @click=${() => (this.view = view)}>${view}</button>`)}
          </nav>
          <div class="code">
            ${this.view === "source" ? this.recording.sources.map((piece) => this.#piece(piece, state, last))
              : this.#blocks(state, last)}
          </div>
        </section>
        <section class="lanes">${this.#lanes(state, last)}</section>
      </main>`;
  }

  #head(last) {
    const { title, lanes, members } = this.recording;
    const count = (n) => `${n.toLocaleString("en")} ${n === 1 ? "member" : "members"}`;
    const whose = lanes < members ? `the first ${lanes.toLocaleString("en")} of ${count(members)}` : count(lanes);
    return html`<header><h1>${title}</h1><p>${whose}, one block at a time</p><p class="now">${this.#said(last)}</p></header>`;
  }

  #said(last) {
    const { lanes, ended } = this.recording;
    const ends = { steps: " The recording ends here, the run does not.", full: " The stacks are full.", done: "" };
    const rest = this.step === this.machine.length ? ends[ended] : "";
    if (!lanes) return "There are no members.";
    if (!last) return "Every lane is about to run block 0.";
    return `Block ${last[0]} ran for ${last[1].length} of ${lanes} lanes.${rest}`;
  }

  #controls() {
    const end = this.machine.length;
    const button = (label, shape, act) => html`<button title=${label} aria-label=${label} @click=${act}>
      <svg viewBox="0 0 16 16"><path d=${shape}></path></svg></button>`;
    return html`<div class="controls">
      ${button("to the start", SHAPES.start, () => this.goTo(0))}
      ${button("one step back", SHAPES.back, () => this.goTo(this.step - 1))}
      ${button(this.playing ? "pause" : "play", this.playing ? SHAPES.pause : SHAPES.play, () => this.play(!this.playing))}
      ${button("one step", SHAPES.step, () => this.goTo(this.step + 1))}
      ${button("to the end", SHAPES.end, () => this.goTo(end))}
      <input type="range" min="0" max=${end} .value=${String(this.step)} aria-label="step"
        @input=${(event) => this.goTo(Number(event.target.value))}>
      <output>${this.step.toLocaleString("en")} / ${end.toLocaleString("en")}</output>
      <select aria-label="steps a second" @change=${(event) => (this.speed = Number(event.target.value))}>
        ${SPEEDS.map((speed) => html`<option value=${speed} ?selected=${speed === this.speed}>${speed}/s</option>`)}
      </select>
    </div>`;
  }

  #piece(piece, state, last) {
    return html`<h2>${piece.file}</h2><pre>${piece.lines.map((text, k) => {
      const line = piece.first + k;
      const blocks = this.index[`${piece.file}:${line}`];
      const waiting = state.pc.filter((pc) => blocks.includes(pc)).length;
      const lit = last && blocks.includes(last[0]);
      return html`<div class=${lit ? "lit" : ""}><i>${line}</i><b>${this.#bar(waiting)}</b><code>${text || " "}</code></div>`;
    })}</pre>`;
  }

  #bar(waiting) {
    const share = (100 * waiting) / this.recording.lanes;
    return waiting ? html`<span style="width:${share}%" title="lanes that wait here: ${waiting}"></span>` : nothing;
  }

  #blocks(state, last) {
    return this.recording.blocks.map((block, i) => {
      const waiting = state.pc.filter((pc) => pc === i).length;
      return html`<h2 class=${last?.[0] === i ? "lit" : ""}><span class="pc" style=${hue(i)}>${i}</span>
        ${block.label}<b>${this.#bar(waiting)}</b></h2><pre class=${last?.[0] === i ? "lit" : ""}>${block.text}</pre>`;
    });
  }

  #lanes(state, last) {
    const active = new Set(last?.[1]);
    const lanes = [...state.pc.keys()];
    const mark = (lane) => (active.has(lane) ? "active" : "");
    const written = last?.[4] ?? {};
    return html`<table>
      <thead><tr><th>lane</th>${lanes.map((lane) => html`<th class=${mark(lane)}>${lane}</th>`)}</tr></thead>
      <tbody>
        <tr><th title="the block that the lane waits for">pc</th>
          ${lanes.map((lane) => html`<td class=${mark(lane)}>${this.#pc(state, lane)}</td>`)}</tr>
        ${this.recording.variables.map(({ name, type, stacked }) => html`<tr>
          <th title="${name}: ${type}">${name}</th>
          ${lanes.map((lane) => html`<td class="${mark(lane)} ${name in written && active.has(lane) ? "new" : ""}">
            ${top(state.tops[name]?.[lane])}
            ${stacked ? stack(state.frames[name][lane], state.depth[lane]) : nothing}</td>`)}</tr>`)}
        ${this.#results(state)}
      </tbody></table>`;
  }

  #pc(state, lane) {
    const pc = state.pc[lane];
    const calls = state.calls[lane].map((block) => html`<span class="pc" style=${hue(block)}>${block}</span>`);
    const top = pc === FAILED ? html`<span class="pc failed">failed</span>`
      : this.#isOver(pc) ? html`<span class="pc done">done</span>`
      : html`<span class="pc" style=${hue(pc)}>${pc}</span>`;
    return html`<div class="top">${top}</div>${shortened(calls)}`;
  }

  #isOver(pc) {
    return pc >= this.recording.halt;
  }

  #results(state) {
    return Object.entries(this.recording.results).filter(([name]) => !(name in state.tops)).map(([name, texts]) =>
      html`<tr><th>${name}</th>${texts.map((text, lane) =>
        html`<td>${top(this.#isOver(state.pc[lane]) ? text : undefined)}</td>`)}</tr>`);
  }
}

function top(text) {
  return html`<div class="top" title=${text ?? nothing}>${text ?? nothing}</div>`;
}

// A stack below its top: the newest frame first; one that is to be popped next may be above the others.
function stack(frames, depth) {
  const most = frames[depth] === undefined ? depth : depth + 1;
  return shortened(Array.from({ length: most }, (_, k) => html`<span>${frames[k] ?? "·"}</span>`));
}

function shortened(frames) {
  if (!frames.length) return nothing;
  const newest = frames.slice(-SHOWN).reverse();
  const more = frames.length - newest.length;
  return html`<div class="stack">${newest}${more ? html`<small>+${more}</small>` : nothing}</div>`;
}

export function hue(block) {
  return `--hue:${(block * 137.5) % 360}`;
}

customElements.define("autobatch-viewer", Viewer);
