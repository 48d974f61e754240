// The whole run at a glance: above, the share of lanes at work at each step; below, which block ran.

const ABOVE = 0.35; // of the height

export function paint(canvas, { steps, blocks, lanes }) {
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const { color: ink, outlineColor: grid } = getComputedStyle(canvas); // of the light or the dark scheme
  const top = height * ABOVE;
  const row = (height - top) / blocks.length;
  const column = width / Math.max(steps.length, 1);
  context.fillStyle = grid;
  context.fillRect(0, top, width, scale);
  steps.forEach(([block, active], k) => {
    const share = active.length / lanes;
    context.fillStyle = ink;
    context.fillRect(k * column, top * (1 - share), Math.max(column, 1), top * share);
    context.fillStyle = `oklch(0.68 0.15 ${(block * 137.5) % 360} / ${0.25 + 0.75 * share})`;
    context.fillRect(k * column, top + block * row + scale, Math.max(column, 1), Math.max(row - scale, 1));
  });
}
