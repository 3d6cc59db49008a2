// Step charts of values over simulated time. The table below each chart has the same data for screen readers.
import UPlot from "../vendor/uplot.js";
import { html, useEffect, useRef } from "./lib.js";

const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("../vendor/uplot.css", import.meta.url).href });

/** A colour of the current scheme, as a canvas needs it. */
function colour(name, element) {
  element.style.color = `var(${name})`;
  const found = getComputedStyle(element).color;
  element.style.color = "";
  return found;
}
const COLOURS = ["--link", "--good", "--waiting", "--bad", "--dim"];

/**
 * A step chart. `label`: its title. series=[{name, points: [{at, value}]}], with points in order of time. `until`: the time up to
 * which the last value is drawn (now). `pick(index, series)` is called when a point is clicked.
 */
export function Chart({ label, series, until, pick }) {
  const place = useRef(null);
  const data = joined(series, until), key = JSON.stringify(data);
  useEffect(() => {
    if (!sheet.isConnected) document.head.append(sheet);
    const element = place.current, ink = colour("--ink", element), line = colour("--line", element);
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const options = {
      width: element.clientWidth || 600,
      height: 220,
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), "UTC"),
      legend: { live: false },
      cursor: { drag: { x: true, y: false } },
      axes: [{ ...axis, space: 90, values: (_, seconds, axisNumber, space, step) => seconds.map((one) => moment(one, step)) }, { ...axis, size: 80 }],
      series: [{}, ...series.map((one, index) => ({ label: one.name, stroke: colour(COLOURS[index % COLOURS.length], element), width: 2, dash: index ? [6 - index, 3] : undefined, paths: UPlot.paths.stepped({ align: 1 }), points: { show: true, size: 6 }, spanGaps: true }))],
    };
    const chart = new UPlot(options, data, element);
    const click = () => {
      if (pick && chart.cursor.idx !== null && chart.cursor.idx !== undefined) pick(data[0][chart.cursor.idx] * 1000);
    };
    chart.over.addEventListener("click", click);
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: 220 }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [key]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${place}></div>`;
}

/** The label of a tick on the time axis: the hour if the chart covers one day, otherwise the day. */
function moment(seconds, step) {
  const at = new Date(seconds * 1000).toISOString();
  return step >= 86_400 || at.slice(11, 19) === "00:00:00" ? at.slice(0, 10) : at.slice(11, step < 60 ? 19 : 16);
}

/** Align all series to the same times. A series has its previous value at times without a point. */
export function joined(series, until) {
  const moments = new Set(until ? [Date.parse(until)] : []);
  for (const one of series) for (const point of one.points) moments.add(Date.parse(point.at));
  const at = [...moments].sort((one, other) => one - other);
  const values = series.map((one) => {
    let next = 0, value = null;
    return at.map((moment) => {
      while (next < one.points.length && Date.parse(one.points[next].at) <= moment) value = Number(one.points[next++].value);
      return value;
    });
  });
  return [at.map((moment) => moment / 1000), ...values];
}
