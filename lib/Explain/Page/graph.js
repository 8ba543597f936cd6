// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program as a graph of folds. Only what is unfolded is laid out: the items
// of a fold are placed in rows by their longest way from a source. The time
// grows with the items that are unfolded, and not with the program.
"use strict";

const NODE_WIDTH = 206, NODE_HEIGHT = 46, GAP = 14, ROW_GAP = 30, HEAD = 30, MARGIN = 12;

class Graph {
  /** `onSelect` is called with the item that was selected. */
  constructor(container, program, onSelect) {
    this.container = container;
    this.program = program;
    this.onSelect = onSelect;
    this.root = this.itemOf({ fold: "program", name: program.prediction.program, items: program.folds }, null);
    this.root.open = true;
    // A program that is one short fold shows what is in it.
    const [first] = this.root.items;
    if (this.root.items.length === 1 && first.items) first.open = first.items.length <= 40;
    this.selected = null;
    container.onkeydown = (event) => this.onKey(event);
    this.draw();
    this.select(this.root.items[0] ?? null);
  }

  /** Returns an item of the tree; `ids` are those of the steps in it. */
  itemOf(fact, parent) {
    const item = { parent, open: false, depth: parent ? parent.depth + 1 : 0 };
    if (typeof fact === "number") return Object.assign(item, this.leaf(fact));
    item.fold = fact.fold;
    item.name = fact.name;
    item.step = fact.step;
    item.items = fact.items.map((inner) => this.itemOf(inner, item));
    item.ids = item.items.flatMap((inner) => inner.ids);
    if (fact.step !== undefined) item.ids.unshift(fact.step);
    item.time = item.items.reduce((sum, inner) => sum + inner.time, 0);
    item.sent = item.items.reduce((sum, inner) => sum + inner.sent, 0);
    return item;
  }

  leaf(id) {
    const work = this.program.work.get(id);
    return {
      step: id,
      ids: [id],
      name: this.program.label(id),
      time: work ? work.time_ps * work.runs : 0,
      sent: work ? work.bytes_sent * work.runs : 0,
    };
  }

  /** Returns the items that the page shows, in their order. */
  visible(item = this.root, list = []) {
    for (const inner of item.items ?? []) {
      list.push(inner);
      if (inner.open) this.visible(inner, list);
    }
    return list;
  }

  /** Returns the item of a list that contains a step, by the id of the step. */
  static ownersOf(items) {
    const owners = new Map();
    items.forEach((item) => item.ids.forEach((id) => owners.set(id, item)));
    return owners;
  }

  /** Sets the sizes of the items in a fold and their places in it. */
  place(fold) {
    const owners = Graph.ownersOf(fold.items);
    const rows = [];
    for (const item of fold.items) {
      if (item.open) this.place(item);
      else Object.assign(item, { width: NODE_WIDTH, height: NODE_HEIGHT });
      item.row = 0;
      item.sources = new Set();
      for (const id of item.ids)
        for (const tensor of this.program.steps[id].reads) {
          const source = owners.get(this.program.writer.get(tensor));
          if (source && source !== item) item.sources.add(source);
        }
      for (const source of item.sources) item.row = Math.max(item.row, (source.row ?? 0) + 1);
      // Items that read nothing here are many in an optimizer: rows stay short.
      while ((rows[item.row] ??= []).length >= 4) ++item.row;
      rows[item.row].push(item);
    }
    let y = HEAD, widest = NODE_WIDTH;
    for (const row of rows.filter(Boolean)) {
      const center = (item) =>
        item.sources.size
          ? [...item.sources].reduce((sum, source) => sum + source.x + source.width / 2, 0) / item.sources.size
          : 0;
      row.sort((a, b) => center(a) - center(b));
      let x = MARGIN;
      for (const item of row) {
        Object.assign(item, { x, y });
        x += item.width + GAP;
      }
      widest = Math.max(widest, x - GAP + MARGIN);
      y += Math.max(...row.map((item) => item.height)) + ROW_GAP;
    }
    fold.width = widest;
    fold.height = y - ROW_GAP + MARGIN;
  }

  draw() {
    const start = performance.now();
    this.place(this.root);
    this.root.left = 0;
    this.root.top = -HEAD + MARGIN;
    const items = this.visible();
    for (const item of items) {
      item.left = item.parent.left + item.x;
      item.top = item.parent.top + item.y;
    }
    const nodes = items.map((item) => this.nodeOf(item));
    const picture = svgElement("svg", {
      width: this.root.width, height: this.root.height, "aria-hidden": "true",
    }, this.edges(items));
    // Open folds come before what is in them, and edges between both.
    const open = nodes.filter((_, i) => items[i].open), closed = nodes.filter((_, i) => !items[i].open);
    this.container.replaceChildren(...open, picture, ...closed);
    this.container.setAttribute("aria-owns", items.map((item) => item.node.id).join(" "));
    if (this.selected && items.includes(this.selected)) this.mark(this.selected);
    this.container.dataset.milliseconds = Math.round(performance.now() - start);
  }

  nodeOf(item) {
    const isFold = Boolean(item.items);
    const sum = [timeText(item.time), item.sent ? `${bytesText(item.sent)} sent` : "",
      isFold ? countText(item.ids.length, "step") : ""].filter(Boolean).join(" · ");
    const outputs = isFold ? [] : this.program.steps[item.step].writes;
    const tensor = outputs.length ? this.program.tensors[outputs[0]] : null;
    item.node = element("div", {
      id: `node-${item.fold ?? "step"}-${item.ids[0]}-${item.depth}`,
      class: `node${isFold ? (item.open ? " fold open" : " fold") : ""}${item.sent ? " sends" : ""}`,
      role: "treeitem", tabindex: "-1", "aria-level": item.depth,
      "aria-posinset": item.parent.items.indexOf(item) + 1, "aria-setsize": item.parent.items.length,
      "aria-expanded": isFold ? String(item.open) : undefined,
      "aria-label": `${item.name}, ${sum}${tensor ? `, ${plainLayout(this.program, tensor)}` : ""}`,
      style: `left:${item.left}px;top:${item.top}px;width:${item.width}px;height:${item.height}px`,
      onclick: () => { this.select(item); item.node.focus({ preventScroll: true }); },
      ondblclick: () => this.toggle(item),
    }, element("span", { class: "name" }, element("span", {}, isFold ? (item.open ? "▾ " : "▸ ") : "", item.name),
      element("small", {}, timeText(item.time))),
      item.open ? null : element("small", {}, tensor ? layoutText(this.program, tensor) : sum.slice(sum.indexOf("·") + 2)));
    return item.node;
  }

  edges(items) {
    // An item that is not open stands for all of its steps.
    const owners = Graph.ownersOf(items.filter((item) => !item.open));
    const drawn = new Map();
    for (const [id, item] of owners)
      for (const tensor of this.program.steps[id].reads) {
        const source = owners.get(this.program.writer.get(tensor));
        if (source && source !== item) drawn.set(`${source.node.id} ${item.node.id}`, { source, item, tensor });
      }
    this.lines = [...drawn.values()].map(({ source, item, tensor }) => {
      const { axes, partial } = this.program.tensors[tensor];
      const x1 = source.left + source.width / 2, y1 = source.top + source.height;
      const x2 = item.left + item.width / 2, y2 = item.top, bend = Math.max(18, (y2 - y1) / 2);
      const path = svgElement("path", {
        d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
        stroke: this.program.axisColor(this.program.axes[partial[0]?.axis ?? axes.flat()[0]]?.name),
        class: partial.length ? "partial" : "",
      });
      return { path, source, item };
    });
    return this.lines.map((line) => line.path);
  }

  mark(item) {
    for (const node of this.container.querySelectorAll("[aria-selected]")) {
      node.removeAttribute("aria-selected");
      node.tabIndex = -1;
    }
    item.node.setAttribute("aria-selected", "true");
    item.node.tabIndex = 0;
    for (const line of this.lines)
      line.path.classList.toggle("selected", line.source === item || line.item === item);
  }

  select(item) {
    if (!item) return;
    this.selected = item;
    this.mark(item);
    this.onSelect(item);
  }

  /** Unfolds what a step is in, and selects the step. */
  show(id) {
    let item = this.root;
    while (item.items) {
      const inner = item.items.find((candidate) => candidate.ids.includes(id));
      if (!inner) break;
      item.open = true;
      item = inner;
    }
    this.draw();
    this.select(item);
    item.node.scrollIntoView({ block: "center", inline: "nearest" });
    item.node.focus({ preventScroll: true });
  }

  toggle(item) {
    if (!item.items) return;
    item.open = !item.open;
    this.draw();
    this.select(item);
    item.node.focus({ preventScroll: true });
  }

  onKey(event) {
    const items = this.visible(), place = items.indexOf(this.selected), item = this.selected;
    const moves = {
      ArrowDown: () => items[place + 1],
      ArrowUp: () => items[place - 1],
      Home: () => items[0],
      End: () => items.at(-1),
      ArrowRight: () => (item.items && !item.open ? this.toggle(item) : item.open && item.items[0]),
      ArrowLeft: () => (item.open ? this.toggle(item) : item.parent !== this.root && item.parent),
      Enter: () => this.toggle(item),
      " ": () => this.toggle(item),
    };
    if (!moves[event.key] || place < 0) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (!next) return;
    this.select(next);
    next.node.scrollIntoView({ block: "nearest", inline: "nearest" });
    next.node.focus({ preventScroll: true });
  }
}
