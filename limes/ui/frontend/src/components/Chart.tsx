// A line chart over time (uPlot), in the colours of the page. What it shows is said in words beside it, or in a table.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../lib/theme";
import { formatTime, formatUtcTime } from "../lib/time";
import { format } from "../lib/units";
import { timeRange } from "./timeRange";

export interface Line {
  title: string;
  amounts: (number | null)[];
  /** A colour of tokens.css, such as `--usage`. */
  colour: string;
  isStepped?: boolean;
  isFilled?: boolean;
  isDashed?: boolean;
}

interface Props {
  label: string;
  times: number[];
  lines: Line[];
  unit: string;
  /** From when to when the axis goes, if not from the first moment to the last. */
  axis?: [number, number] | undefined;
  /** Whether times are those of UTC, as in the table beside it, and not of the browser. */
  isUtc?: boolean;
}

const HEIGHT = 260;

function colour(name: string): string {
  // computed, because light-dark() means nothing to a canvas
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const translucent = (rgb: string): string => rgb.replaceAll(",", "").replace(")", " / 18%)");

function series(line: Line, unit: string): uPlot.Series {
  const stroke = colour(line.colour);
  return {
    label: line.title,
    stroke,
    width: 2,
    value: (_, amount: number | null) => (amount === null ? "–" : format(amount, unit)),
    ...(line.isStepped ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
    ...(line.isFilled ? { fill: translucent(stroke) } : {}),
    ...(line.isDashed ? { dash: [6, 6] } : {}),
    points: { size: 6 },
  };
}

const DAY = 86400;

/** A time at the axis, as exactly as its steps need it. */
function ticksIn(zone: { timeZone?: string }): (seconds: number, step: number) => string {
  const formats = {
    seconds: new Intl.DateTimeFormat("en-GB", { ...zone, timeStyle: "medium" }),
    minutes: new Intl.DateTimeFormat("en-GB", { ...zone, hour: "2-digit", minute: "2-digit" }),
    days: new Intl.DateTimeFormat("en-GB", { ...zone, day: "numeric", month: "short" }),
    months: new Intl.DateTimeFormat("en-GB", { ...zone, month: "short", year: "numeric" }),
  };
  return (seconds, step) => {
    const of = step >= 28 * DAY ? formats.months : step >= DAY ? formats.days : step >= 60 ? formats.minutes : formats.seconds;
    return of.format(seconds * 1000);
  };
}

function options(width: number, { times, lines, unit, axis: shown, isUtc = false }: Omit<Props, "label">): uPlot.Options {
  const tick = ticksIn(isUtc ? { timeZone: "UTC" } : {});
  const written = isUtc ? formatUtcTime : formatTime;
  const axis: uPlot.Axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { x: false, y: false } },
    ...(isUtc ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") } : {}),
    scales: { x: { range: () => shown ?? timeRange(times) }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [{ ...axis, values: (_, ticks, __, ___, step) => ticks.map((one) => tick(one, step)) }, { ...axis, size: 80, values: (_, ticks) => ticks.map((one) => format(one, unit)) }],
    series: [{ value: (_, at: number | null) => (at === null ? "–" : written(at)) }, ...lines.map((one) => series(one, unit))],
  };
}

export default function Chart({ label, times, lines, unit, axis, isUtc }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current!;
    const data = [times, ...lines.map((one) => one.amounts)] as uPlot.AlignedData;
    let plot: uPlot | undefined;
    function draw(): void {
      plot?.destroy();
      plot = new uPlot(options(element.clientWidth, { times, lines, unit, axis, isUtc }), data, element);
    }
    draw();
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      scheme.removeEventListener("change", draw);
      observer.disconnect();
      plot?.destroy();
    };
  }, [times, lines, unit, axis?.[0], axis?.[1], isUtc, theme.value]);
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}
