// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sections of the page.
"use strict";

const section = (id) => document.querySelector(`#${id} > div`);
const details = document.getElementById("details");
let program, graph;

function table(caption, heads, rows) {
  const numeric = (head) => /^(Bytes|Sent|Time|Times|Number|Length)/.test(head);
  return element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, heads.map((head) =>
      element("th", { scope: "col", class: numeric(head) ? "number" : "" }, head)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) =>
      element("td", { class: numeric(heads[i]) ? "number" : "" }, cell))))));
}

/** Returns a table that shows its first rows, and all of them when a button is pressed. */
function longTable(caption, heads, rows, makeRow, count = 40) {
  const built = table(caption, heads, rows.slice(0, count).map(makeRow));
  if (rows.length <= count) return built;
  const more = element("button", {
    onclick: () => more.parentElement.replaceChildren(table(caption, heads, rows.map(makeRow))),
  }, `Show all ${rows.length}`);
  return element("div", {}, built, more);
}

function stepButton(id) {
  return element("button", { onclick: () => graph.show(id) }, `${program.label(id)} (step ${id})`);
}

function tensorButton(number, text = "") {
  const tensor = program.tensors[number];
  return element("button", {
    class: "tensor", "data-tensor": number, onclick: () => showTensor(number),
  }, text || tensor.name ? `${text || tensor.name} ` : "", layoutText(program, tensor));
}

/** Shows which device has which part of a tensor, as a picture and a table. */
function showTensor(number) {
  const tensor = program.tensors[number], parts = program.parts(tensor);
  const writer = program.writer.get(number);
  const rangeText = (part) => `[${part.box.map(([begin, end]) => `${begin}:${end}`).join(", ")}]`;
  details.replaceChildren();
  const list = element("p", { role: "status" }, "Choose a part to see its devices.");
  const choose = (part, box) => {
    details.querySelectorAll(".part").forEach((other) => other.classList.remove("selected"));
    box.classList.add("selected");
    list.textContent = `${rangeText(part)} is on ${countText(part.devices.length, "device")}: ${devicesText(part.devices)}`;
  };
  filled(details, {}, [
    element("button", { onclick: () => graph.select(graph.selected) }, "Back to the step"),
    element("h3", { tabindex: "-1" }, `Tensor ${tensor.name || number}`),
    element("p", {}, layoutText(program, tensor)),
    element("p", {}, `${bytesText(tensor.bytes)} on each device, at most [${tensor.local_shape.join(", ")}]; `
      + `${countText(parts.length, "different part")} on ${countText(program.devices, "device")}.`),
    tensor.partial.length ? element("p", {}, "Each device holds an addend of the value, which is still to be reduced.") : null,
    writer === undefined ? null : element("p", {}, "From ", stepButton(writer)),
    partsPicture(tensor, parts, choose), list,
    element("details", {}, element("summary", {}, "The parts as a table"),
      longTable("Parts and their devices", ["Part", "Devices"], parts,
        (part) => [element("code", {}, rangeText(part)), devicesText(part.devices)]))]);
  details.querySelector("h3").focus({ preventScroll: true });
}

function devicesText(devices) {
  const ranges = [];
  for (const device of devices)
    if (ranges.length && ranges.at(-1)[1] === device - 1) ranges.at(-1)[1] = device;
    else ranges.push([device, device]);
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(", ");
}

/** Draws two dims of a tensor, cut ones if there are any, with its parts as boxes. */
function partsPicture(tensor, parts, choose) {
  const dims = tensor.shape.map((_, dim) => dim);
  const cut = dims.filter((dim) => tensor.cuts[dim] >= 0);
  const shown = cut.concat(dims.filter((dim) => !cut.includes(dim)).reverse()).slice(0, 2).sort((a, b) => a - b);
  const [down, across] = shown.length === 2 ? shown : [undefined, shown[0]];
  const WIDTH = 360, HEIGHT = down === undefined ? 60 : 240, LEFT = 34, TOP = 22;
  const span = (part, dim, size) => {
    if (dim === undefined) return [0, size];
    const extent = Math.max(tensor.shape[dim], 1);
    return [(part.box[dim][0] / extent) * size, (part.box[dim][1] / extent) * size];
  };
  const boxes = parts.slice(0, 1024).map((part) => {
    const [x1, x2] = span(part, across, WIDTH - LEFT - 6), [y1, y2] = span(part, down, HEIGHT - TOP - 6);
    const label = part.devices.length > 4 ? `${part.devices.length} devices` : devicesText(part.devices);
    const box = svgElement("rect", {
      class: "part", x: LEFT + x1, y: TOP + y1, width: Math.max(x2 - x1, 0), height: Math.max(y2 - y1, 0),
      tabindex: "0", role: "button", "aria-label": `Part on device ${devicesText(part.devices)}`,
      onclick: () => choose(part, box), onfocus: () => choose(part, box),
    });
    const fits = x2 - x1 > 7 * label.length && y2 - y1 > 14;
    return [box, fits ? svgElement("text", {
      x: LEFT + (x1 + x2) / 2, y: TOP + (y1 + y2) / 2 + 4, "text-anchor": "middle", "pointer-events": "none",
    }, label) : null];
  });
  return svgElement("svg", {
    class: "picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group",
    "aria-label": "The parts of the tensor, with the numbers of their devices",
  }, across === undefined ? [] : svgElement("text", { x: LEFT, y: 15, class: "soft" }, `dim ${across} of ${tensor.shape[across]} →`),
    down === undefined ? [] : svgElement("text", { x: 2, y: TOP + 10, class: "soft" }, `dim ${down}`), boxes.flat());
}

function showItem(item) {
  const isStep = !item.items;
  details.replaceChildren(element("h3", {}, item.name), ...(isStep ? stepDetails(item.step) : foldDetails(item)));
}

function foldDetails(item) {
  const longest = item.ids.filter((id) => program.work.has(id))
    .sort((a, b) => cost(b) - cost(a)).slice(0, 8);
  return [
    element("p", {}, `${{ scope: "Name scope", loop: "Loop", branch: "Branches", repeat: "Repeated parts" }[item.fold] ?? "Part"} of ${countText(item.ids.length, "step")}`),
    element("p", {}, `${timeText(item.time)} of work and collectives, ${bytesText(item.sent)} sent by each device`),
    element("button", { onclick: () => graph.toggle(item) }, item.open ? "Fold" : "Unfold"),
    longest.length ? table("The longest steps in it", ["Step", "Time"],
      longest.map((id) => [stepButton(id), timeText(cost(id))])) : null,
  ].filter(Boolean);
}

const cost = (id) => program.work.get(id).time_ps * program.work.get(id).runs;

function stepDetails(id) {
  const step = program.steps[id], work = program.work.get(id);
  const tensors = (title, numbers) => (numbers.length
    ? [element("p", {}, element("strong", {}, title)), ...numbers.map((number) => tensorButton(number))] : []);
  return [
    element("p", {}, `${work?.kind ?? "control"}, step ${id}`, step.scope ? ` in ${step.scope}` : ""),
    element("p", {}, "From ", sourceLink(step.source)),
    work ? element("p", {}, `${timeText(work.time_ps)}${work.runs > 1 ? ` each of ${work.runs} times` : ""}, `
      + `${flopsText(work.flops)}, ${bytesText(work.bytes)} read and written`
      + `${work.bytes_sent ? `, ${bytesText(work.bytes_sent)} sent` : ""}`) : null,
    ...(step.collective === undefined ? [] : causes(program.collectives[step.collective])),
    ...tensors("Reads", step.reads), ...tensors("Writes", step.writes),
  ].filter(Boolean);
}

/** Tells the way from the annotation to the collective, for each value that it moves. */
function causes(collective) {
  return collective.values.flatMap((value) => {
    const [moved, ...annotations] = value.reason.split("; ");
    return [
      element("ol", { class: "cause", "aria-label": "Chain of causes" },
        annotations.map((cause) => element("li", {}, `The annotation: ${cause}`)),
        moved ? element("li", {}, `The step needs ${moved}`) : null,
        element("li", {}, `So ${collective.kind} over [${collective.axes.join(", ")}] moves `,
          element("code", {}, value.type), `: ${value.from} to ${value.to}, ${bytesText(value.bytes)}`)),
      element("p", { class: "rejected" }, "Rejected: ", value.rejected
        || (program.refined ? "nothing, as no axis could be elsewhere" : "not looked for")),
    ];
  });
}

/** Returns whether devices share a memory, so that their work is counted together. */
const isShared = () => program.prediction.machine === "shared-memory";

function showHeader() {
  const { prediction } = program;
  document.getElementById("title").textContent = prediction.program;
  document.title = `${prediction.program} · Meshloom`;
  document.getElementById("subtitle").textContent =
    `on ${countText(program.devices, "device")} of ${prediction.machine}`;
  const facts = {
    "Time of a step, predicted": timeText(prediction.time_ps),
    "Peak memory of a device": bytesText(prediction.memory.peak_bytes)
      + (prediction.memory_limit_bytes ? ` of ${bytesText(prediction.memory_limit_bytes)}` : "")
      + (prediction.fits ? "" : ", too little"),
    "Sent by a device": bytesText(prediction.bytes_sent),
    Collectives: String(prediction.collectives),
    [isShared() ? "Operations of all devices" : "Operations of a device"]: flopsText(prediction.flops),
  };
  if (program.measured) facts["Time of a run, measured"] = timeText(program.measured.time_ns * 1000);
  document.getElementById("summary").replaceChildren(...Object.entries(facts).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  document.getElementById("axes").replaceChildren(...program.axes.map((axis) =>
    element("span", { class: "axis", role: "listitem", style: `color:${program.axisColor(axis.name)}` }, `${axis.name}=${axis.size}`)),
    ...[program.meshes, ...program.not_as_asked.map((note) => `Not as asked: ${note}`)]
      .filter(Boolean).map((text) => element("p", {}, text)));
}

function showSuggestions() {
  const place = document.getElementById("suggestions");
  place.hidden = program.suggestions.length === 0;
  place.querySelector("ol").replaceChildren(...program.suggestions.map((suggestion) =>
    element("li", {}, suggestion.title, suggestion.lines.length ? element("pre", {}, suggestion.lines.join("\n")) : null)));
}

function showCollectives() {
  const stepOf = new Map();
  program.steps.forEach((step, id) => step.collective !== undefined && stepOf.set(step.collective, id));
  const rows = program.collectives.map((collective, number) => ({ collective, number }))
    .sort((a, b) => total(b.collective) - total(a.collective));
  const makeRow = ({ collective, number }) => [
    stepOf.has(number) ? element("button", { onclick: () => graph.show(stepOf.get(number)) }, collective.kind) : collective.kind,
    element("span", {}, collective.axes.map((name) =>
      element("span", { class: "axis", style: `color:${program.axisColor(name)}` }, name))),
    bytesText(collective.bytes_sent), timeText(collective.time_ps),
    collective.executions === undefined ? "decided by its loop" : String(collective.executions),
    element("details", {}, element("summary", {}, collective.values[0].consumer || collective.values[0].type), causes(collective)),
  ];
  section("collectives").replaceChildren(rows.length
    ? longTable("The costliest first; each row opens to its causes and to what was rejected",
      ["Kind", "Mesh axes", "Sent", "Time", "Times", "Causes"], rows, makeRow)
    : element("p", {}, "No device sends anything."));
  if (program.refinements.length)
    section("collectives").append(element("details", {}, element("summary", {}, "Layouts that refinement chose, and the alternatives"),
      element("pre", {}, program.refinements.join("\n"))));
}

const total = (collective) => collective.time_ps * (collective.executions ?? 1);

/**
 * Returns bars that can be told apart. Of many bars, those that begin within one unit of a row
 * are one: it has the place of all of them, and the height and title of the largest one.
 */
function distinctBars(bars, many = 2000) {
  if (bars.length <= many) return bars;
  const columns = new Map();
  for (const bar of bars) {
    const place = `${bar.row} ${Math.floor(bar.x)}`, area = bar.width * bar.height;
    const column = columns.get(place);
    if (!column) {
      columns.set(place, { largest: bar, area, end: bar.x + bar.width, x: bar.x, count: 1 });
      continue;
    }
    if (area > column.area) Object.assign(column, { largest: bar, area });
    column.end = Math.max(column.end, bar.x + bar.width);
    column.count += 1;
  }
  return [...columns.values()].map(({ largest, end, x, count }) => ({ ...largest, x, width: end - x,
    title: count > 1 ? `${largest.title}, and ${count - 1} more` : largest.title }));
}

/** Draws bars, which have row, x, y, width, height, id and a title. */
function barPicture(label, width, height, bars, texts) {
  return svgElement("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    distinctBars(bars).map((bar) => svgElement("rect", {
      class: `bar${bar.sends ? " sends" : ""}`, x: bar.x, y: bar.y, width: Math.max(bar.width, 0.4), height: bar.height,
      onclick: () => bar.id !== undefined && graph.show(bar.id),
    }, svgElement("title", {}, bar.title))),
    texts.map((text) => svgElement("text", { x: text.x, y: text.y, class: "soft", "text-anchor": text.anchor ?? "start" }, text.text)));
}

function showMemory() {
  const { memory, memory_limit_bytes: limit } = program.prediction;
  const WIDTH = 1000, HEIGHT = 200, LEFT = 70, TOP = 14, BASE = HEIGHT - 22;
  const most = Math.max(memory.peak_bytes, 1), step = (WIDTH - LEFT - 10) / Math.max(memory.profile.length, 1);
  const bars = memory.profile.map((moment, i) => {
    const height = (moment.bytes / most) * (BASE - TOP);
    return { row: 0, x: LEFT + i * step, y: BASE - height, width: step, height, id: moment.step,
      title: `${bytesText(moment.bytes)} in step ${moment.step}, ${program.label(moment.step)}` };
  });
  const texts = [0, 0.5, 1].map((share) => ({ x: LEFT - 6, y: BASE - share * (BASE - TOP) + 4, anchor: "end", text: bytesText(Math.round(most * share)) }));
  texts.push({ x: LEFT, y: HEIGHT - 5, text: `${countText(memory.profile.length, "moment")} in the order of the program` });
  const sum = ["argument", "constant", "result", "temporary"].map((use) => `${bytesText(memory[`${use}_bytes`])} of ${use}s`
    .replace("temporarys", "temporaries"));
  section("memory").replaceChildren(
    element("p", { class: "hint" }, `At the peak, in step ${memory.peak_step}: ${sum.join(", ")}, ${bytesText(memory.fragmentation_bytes)} of fragmentation.`
      + (limit ? ` A device has ${bytesText(limit)}.` : "")),
    barPicture(`Memory over the step, ${bytesText(memory.peak_bytes)} at its peak`, WIDTH, HEIGHT, bars, texts),
    element("details", {}, element("summary", {}, "Tensors at the peak"),
      longTable("The largest first", ["Tensor", "Use", "Bytes", "From"], memory.at_peak,
        (tensor) => [tensor.name || tensor.op || "temporary", tensor.use, bytesText(tensor.bytes), sourceLink(tensor.location.split(" in ")[0])])));
}

/** Draws rows of bars over a time: `events` have row, begin and time. */
function timePicture(label, rows, events, end) {
  const WIDTH = 1000, LEFT = 110, ROW = 26, height = rows.length * ROW + 26;
  const scale = (WIDTH - LEFT - 10) / Math.max(end, 1);
  const bars = events.map((event) => ({
    row: event.row, x: LEFT + event.begin * scale, y: event.row * ROW + 5, width: event.time * scale, height: ROW - 8,
    id: event.step, sends: event.sends,
    title: `${program.steps[event.step] ? program.label(event.step) : "work"}, ${timeText(event.time)} from ${timeText(event.begin)}${event.devices ? `, devices ${event.devices}` : ""}`,
  }));
  const texts = rows.map((text, row) => ({ x: 4, y: row * ROW + 18, text }));
  texts.push(...[0, 0.5, 1].map((share) => ({ x: LEFT + share * (WIDTH - LEFT - 10), y: height - 6, anchor: share === 1 ? "end" : share ? "middle" : "start", text: timeText(Math.round(end * share)) })));
  return barPicture(label, WIDTH, height, bars, texts);
}

function showTimeline() {
  const { prediction, measured } = program;
  const events = prediction.steps.map((work) => ({
    row: !isShared() && work.bytes_sent > 0 ? 1 : 0, begin: work.begin_ps, time: work.time_ps, step: work.step, sends: work.bytes_sent > 0,
  }));
  const end = Math.max(prediction.time_ps, ...events.map((event) => event.begin + event.time).slice(-1));
  const longest = [...prediction.steps].sort((a, b) => cost(b.step) - cost(a.step));
  section("timeline").replaceChildren(
    element("p", { class: "hint" }, `Every device does the same at the same time, so that one stands for all. Predicted: ${timeText(prediction.time_ps)}, `
      + `or ${timeText(prediction.serial_time_ps)} if collectives did not overlap with work. A loop shows its first turn.`),
    timePicture("Predicted timeline", isShared() ? ["All devices"] : ["Device", "Links"], events, end));
  if (measured) {
    const workers = [...new Set(measured.events.map((event) => event.worker))].sort((a, b) => a - b);
    section("timeline").append(
      element("p", { class: "hint" }, `Measured: ${timeText(measured.time_ns * 1000)} in the last run that was profiled.`),
      timePicture("Measured timeline", workers.map((worker) => `Worker ${worker}`), measured.events.map((event) => ({
        row: workers.indexOf(event.worker), begin: event.begin_ns * 1000, time: event.time_ns * 1000, step: event.step,
        sends: program.sends(event.step), devices: event.devices,
      })), measured.time_ns * 1000));
  }
  section("timeline").append(element("details", {}, element("summary", {}, "Steps as a table"),
    longTable("The longest first", ["Step", "Kind", "Time", "Times", "Sent"], longest, (work) =>
      [stepButton(work.step), work.kind, timeText(cost(work.step)), String(work.runs), bytesText(work.bytes_sent)])));
}

function showLayouts() {
  const values = [...program.arguments.map((value, i) => ({ ...value, role: "argument", i })),
    ...program.results.map((value, i) => ({ ...value, role: "result", i }))];
  section("layouts").replaceChildren(longTable("Choose a layout to see which device has which part", ["Value", "Layout", "Bytes on a device"], values,
    (value) => [value.name || `${value.role} ${value.i}`,
      element("span", {}, tensorButton(value.tensor, " "), value.written ? element("small", {}, `written as ${value.written}`) : null),
      bytesText(program.tensors[value.tensor].bytes)]));
  if (program.automatic_layouts.length)
    section("layouts").append(element("h3", {}, "Automatic layouts, to copy"), element("pre", {}, program.automatic_layouts.join("\n")));
  if (program.memory_choices.length)
    section("layouts").append(element("h3", {}, "To keep to the memory"), element("pre", {}, program.memory_choices.join("\n")));
}

/** Adds the lines of a file to the list of it, when that is opened for the first time. */
function fillSource(list, file) {
  if (list.querySelector("pre")) return;
  list.append(element("pre", {}, FACTS.sources[file].lines.map(([number, text]) =>
    element("span", { id: `source-${file}-${number}` }, element("b", {}, number), text))));
}

function showSource() {
  document.getElementById("source").hidden = FACTS.sources.length === 0;
  section("source").replaceChildren(...FACTS.sources.map((source, file) => {
    const few = source.lines.length <= 2000;
    const list = element("details", { ontoggle: () => list.open && fillSource(list, file) },
      element("summary", {}, source.file));
    if (few) fillSource(list, file);
    list.open = few && FACTS.sources.length === 1;
    return list;
  }));
}

function show(number) {
  program = new Program(FACTS.programs[number]);
  showHeader();
  showSuggestions();
  graph = new Graph(document.getElementById("graph"), program, showItem);
  showCollectives();
  showMemory();
  showTimeline();
  showLayouts();
}

const chooser = document.querySelector("#programs select");
document.getElementById("programs").hidden = FACTS.programs.length < 2;
chooser.append(...FACTS.programs.map((facts, i) => element("option", { value: i }, `${i + 1}: ${facts.prediction.program} on ${facts.prediction.mesh}`)));
chooser.onchange = () => show(Number(chooser.value));
// A link to a line opens the list of lines that it leads to.
window.addEventListener("hashchange", () => {
  const file = location.hash.match(/^#source-(\d+)-/)?.[1];
  const list = file && document.querySelectorAll("#source details")[file];
  if (!list) return;
  fillSource(list, file);
  list.open = true;
  document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
});
showSource();
show(0);
