// Draws a day of water levels as text. For terminals on boats.

const WIDTH = 60;

export function row(height, low, high) {
  const span = Math.max(1, high - low);
  const at = Math.round(((height - low) / span) * (WIDTH - 1));
  return " ".repeat(at) + "~";
}

export function chart(readings) {
  const heights = readings.filter((r) => r.height !== null).map((r) => r.height);
  if (heights.length === 0) {
    return "no readings";
  }
  const low = Math.min(...heights);
  const high = Math.max(...heights);
  return readings
    .filter((_, i) => i % 30 === 0)
    .map((r) => r.time.slice(11, 16) + " |" + (r.height === null ? " (missing)" : row(r.height, low, high)))
    .join("\n");
}
