// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sections of the page share this: the facts, numbers as text, elements,
// and layouts in the colours of their axes.
"use strict";

const FACTS = JSON.parse(document.getElementById("facts").textContent);

/** Creates an element with attributes (`on...` are listeners) and children. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svgElement(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(target, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) target.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined)
      target.setAttribute(name, value === true ? "" : value);
  target.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return target;
}

/** Returns a number with three digits and the largest unit that it fills. */
function scaled(value, units) {
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const digits = Number.isInteger(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
const bytesText = (bytes) => scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB"]);
const timeText = (picoseconds) => scaled(picoseconds, ["ps", "ns", "µs", "ms", "s"]);
const flopsText = (flops) => scaled(flops, ["flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop"]);
const countText = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A program of the facts, with the maps that the sections need. */
class Program {
  constructor(facts) {
    Object.assign(this, facts);
    this.devices = this.axes.reduce((product, axis) => product * axis.size, 1);
    /** The predicted work by step; loops and branches have none of their own. */
    this.work = new Map(this.prediction.steps.map((work) => [work.step, work]));
    /** The step that writes a tensor. */
    this.writer = new Map();
    this.steps.forEach((step, id) => step.writes.forEach((tensor) => this.writer.set(tensor, id)));
  }

  label(id) {
    const kind = this.work.get(id)?.kind ?? "control";
    return this.steps[id].op || kind;
  }

  sends(id) {
    return (this.work.get(id)?.bytes_sent ?? 0) > 0;
  }

  /** Returns the colour of an axis by its name; the parts of an axis ("x:(2)4") share it. */
  axisColor(name) {
    if (name === undefined) return "var(--axis-none)";
    const whole = (text) => text.split(":(")[0];
    const names = [...new Set(this.axes.map((axis) => whole(axis.name)))];
    return `var(--axis-${names.indexOf(whole(name)) % 6})`;
  }

  coordinates(device) {
    const coordinates = [];
    for (const axis of [...this.axes].reverse()) {
      coordinates.unshift(device % axis.size);
      device = Math.floor(device / axis.size);
    }
    return coordinates;
  }

  /** Returns the interval of a tensor's dim that a device holds. */
  held(tensor, dim, coordinates) {
    if (tensor.cuts[dim] < 0) return [0, tensor.shape[dim]];
    let shard = 0;
    for (const axis of tensor.axes[dim]) shard = shard * this.axes[axis].size + coordinates[axis];
    return this.cuts[tensor.cuts[dim]][shard];
  }

  /** Returns the parts of a tensor with the devices that hold them. */
  parts(tensor) {
    const parts = new Map();
    for (let device = 0; device < this.devices; ++device) {
      const coordinates = this.coordinates(device);
      const box = tensor.shape.map((_, dim) => this.held(tensor, dim, coordinates));
      const key = JSON.stringify(box);
      if (!parts.has(key)) parts.set(key, { box, devices: [] });
      parts.get(key).devices.push(device);
    }
    return [...parts.values()];
  }
}

/** Returns the layout of a tensor as text whose axes have their colours and names. */
function layoutText(program, tensor) {
  const named = (axis) =>
    element("span", { style: `color:${program.axisColor(program.axes[axis].name)}` }, program.axes[axis].name);
  const dims = tensor.shape.map((extent, dim) => [
    dim ? ", " : "",
    String(extent),
    tensor.axes[dim].map((axis) => ["/", named(axis)]),
  ]);
  const partial = tensor.partial.map((addend) => [` partial ${addend.kind} over `, named(addend.axis)]);
  return element("span", { class: "code" }, `${tensor.type}[`, dims.flat(3), "]", partial.flat(2));
}

function plainLayout(program, tensor) {
  return layoutText(program, tensor).textContent;
}

/** Returns a place in the source, as a link where the page has its lines. */
function sourceLink(place) {
  const match = /^(.*):(\d+):\d+$/.exec(place);
  const file = match ? FACTS.sources.findIndex((source) => source.file === match[1]) : -1;
  return file < 0
    ? element("code", {}, place || "unknown")
    : element("a", { href: `#source-${file}-${match[2]}`, class: "code" }, place);
}
