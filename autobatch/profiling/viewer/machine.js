// What the machine holds after each step, played from a recording (autobatch/profiling/page.py, `as_data`):
//
//   lanes      how many there are
//   halt       the least program counter of lanes that are done
//   blocks     [{text, label, returns: the block after the call that it ends in, lines: [[file, line]]}]
//   variables  [{name, type, stacked}]
//   start      {name: [text of each lane]}, what registers hold at first
//   results    {name: [text of each lane]}, what lanes that are done return
//   steps      [[block, lanes, their pc then, their depth then, {name: texts written}, [names popped],
//                {name: texts pushed}]], the last four for the lanes that the block ran for

const EVERY = 64; // steps from one kept state to the next
export const FAILED = -1;

export class Machine {
  constructor(recording) {
    this.recording = recording;
    this.kept = [this.#first()];
  }

  get length() {
    return this.recording.steps.length;
  }

  // After so many steps: {pc, depth: [lanes], tops: {name: [lanes]}, frames: {name: [lanes] of [text of each frame]}};
  // a frame without this variable is undefined.  Not to be changed by who asks.
  at(step) {
    const nearest = Math.min(Math.floor(step / EVERY), this.kept.length - 1);
    let now = nearest * EVERY;
    let state = structuredClone(this.kept[nearest]);
    while (now < step) {
      this.#advance(state, this.recording.steps[now]);
      now += 1;
      if (now === this.kept.length * EVERY) this.kept.push(structuredClone(state));
    }
    return state;
  }

  #first() {
    const { lanes, variables, start } = this.recording;
    const each = (make) => Array.from({ length: lanes }, make);
    return {
      pc: each(() => 0),
      depth: each(() => 0),
      tops: Object.fromEntries(Object.entries(start).map(([name, texts]) => [name, [...texts]])),
      frames: Object.fromEntries(variables.filter((v) => v.stacked).map((v) => [v.name, each(() => [])])),
      calls: each(() => []), // the blocks that frames return to
    };
  }

  #advance(state, [block, lanes, pc, depth, written, popped, pushed]) {
    lanes.forEach((lane, k) => {
      const before = state.depth[lane];
      for (const name of popped) delete state.frames[name][lane][before];
      for (const name in pushed) state.frames[name][lane][before] = pushed[name][k];
      for (const name in written) state.tops[name][lane] = written[name][k];
      if (depth[k] > before) state.calls[lane][before] = this.recording.blocks[block].returns;
      state.calls[lane].length = depth[k];
      state.pc[lane] = pc[k];
      state.depth[lane] = depth[k];
    });
  }
}
