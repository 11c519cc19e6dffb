/** Map editor (PlatformCtrl guide, 5.4). */

import { button, card, h } from '../dom.js';
import { emptyMap, isArea, isLine, mapPoints, moved, newItem, readMap, writeMap } from '../documents/map.js';
import { clickTool, Editor, pointFields } from '../editor.js';
import {
  between,
  contains,
  distance,
  distanceToSegment,
  extend,
  invert,
  linesOfScan,
  orthogonal,
  parallel,
  trim,
} from '../geometry.js';
import { number, t } from '../i18n.js';
import { paintItem } from '../paint.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../geometry.js').Point} Point */
/** @typedef {import('../geometry.js').Segment} Segment */
/** @typedef {import('../documents/map.js').Item} Item */
/** @typedef {import('../documents/map.js').Kind} Kind */
/** @typedef {import('../documents/map.js').MapState} MapState */
/** @typedef {import('../view.js').Pointer} Pointer */
/** @typedef {import('../editor.js').EditorTool} EditorTool */
/** @typedef {import('../texts.js').Key} Key */

const LEAST_LENGTH = 0.02;
/** Position of the laser on the platform, m, for the fronts of lines from a scan. */
const LASER_AHEAD = 0.4;

/** @param {Item} item @returns {Segment} */
const segment = (item) => ({ a: item.points[0], b: item.points[1] });

/** @param {Point[]} corners @returns {Segment[]} */
const sides = (corners) => corners.map((a, at) => ({ a, b: corners[(at + 1) % corners.length] }));

/** @extends {Editor<MapState>} */
class MapEditor extends Editor {
  /** @param {App} app */
  constructor(app) {
    super(app, { document: 'map', empty: emptyMap, read: readMap, write: writeMap, points: mapPoints });
    /** @type {ReadonlySet<number>} */
    this.selected = new Set();
    /** Corners of the area that is being drawn. @type {Point[]} */
    this.corners = [];
    /** @type {Point | null} */
    this.cursor = null;
    /** The first line of a tool that needs two. @type {number | null} */
    this.first = null;
    /** Lines found in the last scan. @type {Segment[]} */
    this.candidates = [];
    /** @type {[Point, Point] | null} */
    this.frame = null;
    this.properties = h('div', { class: 'stack' });
    this.list = h('div', { class: 'items' });
    this.count = h('span', { class: 'hint' });
    const select = this.selectTool();
    /** @type {EditorTool[][]} */
    const groups = [
      [select, this.vertexTool(), this.deleteTool()],
      [
        this.lineTool('line', 'line'),
        this.lineTool('reflector', 'reflmark'),
        this.circleTool(),
        this.areaTool('workarea', 'workarea'),
        this.areaTool('prohibit', 'prohibit'),
        this.areaTool('polygon', 'hiddenpolygon'),
        this.labelTool(),
      ],
      [
        this.pairTool('trim', (line, reference, at) => trim(line, reference, at)),
        this.pairTool('extend', extend),
        this.pairTool('parallel', parallel),
        this.pairTool('orthogonal', orthogonal),
        this.invertTool(),
      ],
      [this.scanTool()],
    ];
    const all = button('tool.all', () => this.selectAll(), { icon: 'all', iconOnly: true });
    this.root = this.build(groups, [all]);
    this.select = select;
    this.side.append(
      card('edit.selection', this.properties),
      h(
        'section',
        { class: 'card' },
        h('div', { class: 'row spread' }, h('h2', { t: 'edit.objects' }), this.count),
        this.list,
      ),
    );
    this.changed();
  }

  get items() {
    return this.state.items;
  }

  /** @param {readonly Item[]} items @returns {MapState} */
  with(items) {
    return { ...this.history.state, items };
  }

  /** @param {MapState} state */
  cleared(state) {
    return { ...state, items: [] };
  }

  /** Replaces items by their identity. @param {Map<number, Item>} changes */
  changedItems(changes) {
    return this.with(this.history.state.items.map((item) => changes.get(item.id) ?? item));
  }

  /** @param {Omit<Item, 'id'>} item */
  add(item) {
    const added = newItem(item);
    let items = this.history.state.items;
    if (item.kind === 'workarea') items = items.filter((one) => one.kind !== 'workarea');
    this.selected = new Set([added.id]);
    this.set(this.with([...items, added]));
  }

  clearSelection() {
    this.selected = new Set();
    this.corners = [];
    this.first = null;
    this.frame = null;
  }

  selectAll() {
    this.choose(this.select);
    this.selected = new Set(this.items.map((item) => item.id));
    this.changed();
  }

  deleteSelected() {
    if (this.selected.size === 0) return;
    const kept = this.history.state.items.filter((item) => !this.selected.has(item.id));
    this.selected = new Set();
    this.set(this.with(kept));
  }

  /** Distance of a pointer from an item, m. @param {Item} item @param {Point} at */
  away(item, at) {
    if (isLine(item)) return distanceToSegment(segment(item), at);
    if (item.kind === 'circle') return Math.abs(distance(item.points[0], at) - (item.radius ?? 0));
    if (isArea(item)) return Math.min(...sides(item.points).map((side) => distanceToSegment(side, at)));
    const width = (12 + 7 * (item.text?.length ?? 0)) / this.view.scale;
    const [dx, dy] = [at.x - item.points[0].x, at.y - item.points[0].y];
    return dx > 0 && dx < width && Math.abs(dy) < 8 / this.view.scale ? 0 : Math.hypot(dx, dy);
  }

  /** The item under a pointer: the nearest outline, otherwise the area that contains it.
   * @param {Pointer} pointer @param {(item: Item) => boolean} [accepts] */
  itemAt(pointer, accepts = () => true) {
    /** @type {Item | null} */
    let best = null;
    let least = pointer.reach;
    for (const item of this.items) {
      const away = accepts(item) ? this.away(item, pointer.at) : Infinity;
      if (away <= least) [best, least] = [item, away];
    }
    if (best) return best;
    const inside = this.items.filter((item) => accepts(item) && isArea(item) && item.kind !== 'workarea');
    return inside.find((item) => contains(item.points, pointer.at)) ?? null;
  }

  /**
   * A point of another item near the pointer, otherwise the pointer; with Shift a right angle from `from`; with Alt as
   * it
   * is.
   * @param {Pointer} pointer @param {Point | null} [from] @param {ReadonlySet<number>} [without] */
  snap(pointer, from = null, without = new Set()) {
    if (pointer.event.altKey) return pointer.at;
    if (pointer.event.shiftKey && from) {
      const wide = Math.abs(pointer.at.x - from.x) > Math.abs(pointer.at.y - from.y);
      return wide ? { x: pointer.at.x, y: from.y } : { x: from.x, y: pointer.at.y };
    }
    /** @type {Point | null} */
    let best = null;
    let least = pointer.reach;
    for (const item of this.history.state.items) {
      if (without.has(item.id) || item.kind === 'circle' || item.kind === 'hiddenlabel') continue;
      for (const point of item.points) {
        const away = distance(point, pointer.at);
        if (away < least) [best, least] = [point, away];
      }
    }
    const rounded = { x: Math.round(pointer.at.x * 1000) / 1000, y: Math.round(pointer.at.y * 1000) / 1000 };
    return best ?? rounded;
  }

  // Tools.

  /** @returns {EditorTool} */
  selectTool() {
    /** @type {Point | null} */
    let from = null;
    return {
      name: 'select',
      icon: 'select',
      key: 'tool.select',
      hint: 'tool.select.hint',
      cursor: 'pointer',
      down: (pointer) => {
        const item = this.itemAt(pointer);
        const extends_ = pointer.event.ctrlKey || pointer.event.metaKey || pointer.event.shiftKey;
        if (!item) {
          if (extends_) {
            this.frame = [pointer.at, pointer.at];
            return true;
          }
          this.selected = new Set();
          this.changed();
          return false;
        }
        const next = new Set(this.selected);
        if (extends_) {
          if (!next.delete(item.id)) next.add(item.id);
          this.selected = next;
        } else if (!next.has(item.id)) {
          this.selected = new Set([item.id]);
        }
        from = pointer.at;
        this.changed();
        return true;
      },
      move: (pointer) => {
        if (this.frame) {
          this.frame = [this.frame[0], pointer.at];
          this.view.request();
          return;
        }
        if (!from) return;
        const [dx, dy] = [pointer.at.x - from.x, pointer.at.y - from.y];
        if (Math.hypot(dx, dy) * this.view.scale < 3 && !this.preview) return;
        const changes = new Map(
          this.history.state.items
            .filter((item) => this.selected.has(item.id))
            .map((item) => [item.id, moved(item, round(dx), round(dy))]),
        );
        this.show(this.changedItems(changes));
      },
      up: () => {
        if (this.frame) {
          const [a, b] = this.frame;
          const inside = (/** @type {Point} */ { x, y }) =>
            x >= Math.min(a.x, b.x) && x <= Math.max(a.x, b.x) && y >= Math.min(a.y, b.y) && y <= Math.max(a.y, b.y);
          const found = this.items.filter((item) => item.points.every(inside)).map((item) => item.id);
          this.selected = new Set([...this.selected, ...found]);
          this.frame = null;
          this.changed();
        }
        from = null;
        this.keep();
      },
      alternate: () => this.abort(),
      cancel: () => {
        from = null;
        this.frame = null;
        this.preview = null;
      },
    };
  }

  /** @returns {EditorTool} */
  vertexTool() {
    /** @type {{ id: number, at: number } | null} */
    let grip = null;
    const apply = (/** @type {Pointer} */ pointer) => {
      const item = this.history.state.items.find((one) => one.id === grip?.id);
      if (!grip || !item) return;
      const changed = { ...item };
      if (item.kind === 'circle' && grip.at === 1) {
        changed.radius = Math.max(LEAST_LENGTH, round(distance(item.points[0], pointer.at)));
      } else {
        const at = grip.at;
        const point = this.snap(pointer, item.points[at ? at - 1 : 1] ?? null, new Set([item.id]));
        changed.points = item.points.map((one, index) => (index === at ? point : one));
      }
      this.show(this.changedItems(new Map([[item.id, changed]])));
    };
    return {
      name: 'vertices',
      icon: 'vertices',
      key: 'tool.vertices',
      hint: 'tool.vertices.hint',
      cursor: 'cross',
      down: (pointer) => {
        const found = this.gripAt(pointer);
        if (found) {
          grip = found;
          this.selected = new Set([found.id]);
          this.changed();
          return true;
        }
        const item = this.itemAt(pointer);
        if (!item) return false;
        const wasSelected = this.selected.has(item.id);
        this.selected = new Set([item.id]);
        this.changed();
        if (wasSelected && isArea(item)) {
          const side = sides(item.points).findIndex((one) => distanceToSegment(one, pointer.at) <= pointer.reach);
          if (side >= 0) {
            const points = [...item.points.slice(0, side + 1), pointer.at, ...item.points.slice(side + 1)];
            this.set(this.changedItems(new Map([[item.id, { ...item, points }]])));
            grip = { id: item.id, at: side + 1 };
          }
        }
        return true;
      },
      move: apply,
      up: () => {
        grip = null;
        this.keep();
      },
      alternate: (pointer) => {
        const found = this.gripAt(pointer);
        const item = this.items.find((one) => one.id === found?.id);
        if (!found || !item || !isArea(item) || item.points.length < 4) return;
        const points = item.points.filter((_, at) => at !== found.at);
        this.set(this.changedItems(new Map([[item.id, { ...item, points }]])));
      },
      cancel: () => (grip = null),
    };
  }

  /** The vertex under a pointer; those of selected items first. @param {Pointer} pointer */
  gripAt(pointer) {
    const ordered = [...this.items].sort((a, b) => Number(this.selected.has(b.id)) - Number(this.selected.has(a.id)));
    for (const item of ordered) {
      const at = item.points.findIndex((point) => distance(point, pointer.at) <= pointer.reach);
      if (at >= 0) return { id: item.id, at };
      const onRim = item.kind === 'circle' && this.away(item, pointer.at) <= pointer.reach;
      if (onRim) return { id: item.id, at: 1 };
    }
    return null;
  }

  /** @returns {EditorTool} */
  deleteTool() {
    return clickTool('delete', 'tool.delete', 'tool.delete.hint', (pointer) => {
      const item = this.itemAt(pointer);
      if (!item) return false;
      this.selected = new Set([item.id]);
      this.deleteSelected();
      return true;
    });
  }

  /** @param {'line' | 'reflector'} name @param {Kind} kind @returns {EditorTool} */
  lineTool(name, kind) {
    /** @type {Point | null} */
    let from = null;
    return {
      name,
      icon: name,
      key: `tool.${name}`,
      hint: 'tool.line.hint',
      cursor: 'cross',
      down: (pointer) => {
        from = this.snap(pointer);
        return true;
      },
      move: (pointer) => {
        if (!from) return;
        const item = newItem({ kind, points: [from, this.snap(pointer, from)] });
        this.selected = new Set([item.id]);
        this.show(this.with([...this.history.state.items, item]));
      },
      up: (pointer) => {
        const end = from && this.snap(pointer, from);
        if (from && end && distance(from, end) >= LEAST_LENGTH) this.keep();
        this.preview = null;
        from = null;
        this.view.request();
      },
      alternate: () => this.abort(),
      cancel: () => (from = null),
    };
  }

  /** @returns {EditorTool} */
  circleTool() {
    /** @type {Point | null} */
    let center = null;
    return {
      name: 'circle',
      icon: 'circle',
      key: 'tool.circle',
      hint: 'tool.circle.hint',
      cursor: 'cross',
      down: (pointer) => {
        center = this.snap(pointer);
        return true;
      },
      move: (pointer) => {
        if (!center) return;
        const item = newItem({ kind: 'circle', points: [center], radius: round(distance(center, pointer.at)) });
        this.selected = new Set([item.id]);
        this.show(this.with([...this.history.state.items, item]));
      },
      up: (pointer) => {
        if (center && distance(center, pointer.at) >= LEAST_LENGTH) this.keep();
        this.preview = null;
        center = null;
        this.view.request();
      },
      alternate: () => this.abort(),
      cancel: () => (center = null),
    };
  }

  /** @param {'workarea' | 'prohibit' | 'polygon'} name @param {Kind} kind @returns {EditorTool} */
  areaTool(name, kind) {
    return {
      name,
      icon: name,
      key: `tool.${name}`,
      hint: 'tool.area.draw',
      cursor: 'cross',
      down: (pointer) => {
        const last = this.corners[this.corners.length - 1] ?? null;
        const point = this.snap(pointer, last);
        const [first] = this.corners;
        if (first && this.corners.length > 2 && distance(first, pointer.at) <= pointer.reach * 1.5) {
          this.closeArea(kind);
        } else if (!last || distance(last, point) > LEAST_LENGTH) {
          this.corners = [...this.corners, point];
          this.view.request();
        }
        return true;
      },
      move: () => {},
      hover: (pointer) => {
        this.cursor = this.snap(pointer, this.corners[this.corners.length - 1] ?? null);
        if (this.corners.length) this.view.request();
      },
      alternate: () => this.abort(),
      cancel: () => {
        this.corners = [];
        this.cursor = null;
      },
    };
  }

  /** @param {Kind} kind */
  closeArea(kind) {
    const points = this.corners;
    this.corners = [];
    if (points.length > 2) this.add({ kind, points });
  }

  finish() {
    /** @type {Record<string, Kind>} */
    const kinds = { workarea: 'workarea', prohibit: 'prohibit', polygon: 'hiddenpolygon' };
    const kind = kinds[this.tool?.name ?? ''];
    if (kind && this.corners.length > 2) this.closeArea(kind);
    if (this.tool?.name === 'scan') this.addCandidates(this.candidates);
  }

  /** @param {Point} center */
  insert({ x, y }) {
    const side = [
      { x: x - 0.5, y: y - 0.5 },
      { x: x + 0.5, y: y - 0.5 },
      { x: x + 0.5, y: y + 0.5 },
      { x: x - 0.5, y: y + 0.5 },
    ].map(rounded);
    const ends = [rounded({ x: x - 0.5, y }), rounded({ x: x + 0.5, y })];
    /** @type {Record<string, Omit<Item, 'id'>>} */
    const items = {
      line: { kind: 'line', points: ends },
      reflector: { kind: 'reflmark', points: ends },
      circle: { kind: 'circle', points: [rounded({ x, y })], radius: 0.5 },
      workarea: { kind: 'workarea', points: side },
      prohibit: { kind: 'prohibit', points: side },
      polygon: { kind: 'hiddenpolygon', points: side },
      label: { kind: 'hiddenlabel', points: [rounded({ x, y })], text: t('kind.hiddenlabel') },
    };
    const item = items[this.tool?.name ?? ''];
    if (item) this.add(item);
  }

  /** @returns {EditorTool} */
  labelTool() {
    return {
      name: 'label',
      icon: 'label',
      key: 'tool.label',
      hint: 'tool.label.hint',
      cursor: 'cross',
      down: (pointer) => {
        const point = this.snap(pointer);
        void this.ask('tool.label.text').then((text) => {
          if (text) this.add({ kind: 'hiddenlabel', points: [point], text });
        });
        return true;
      },
    };
  }

  /**
   * A tool for two lines: the one that changes, then the reference.
   *
   * @param {'trim' | 'extend' | 'parallel' | 'orthogonal'} name
   * @param {(line: Segment, reference: Segment, at: Point) => Segment | null} change `at`: where the first was clicked.
   * @returns {EditorTool}
   */
  pairTool(name, change) {
    /** @type {Point} */
    let clicked = { x: 0, y: 0 };
    return {
      name,
      icon: name,
      key: `tool.${name}`,
      hint: `tool.${name}.hint`,
      cursor: 'pointer',
      down: (pointer) => {
        const item = this.itemAt(pointer, (one) => isLine(one) || (this.first !== null && isArea(one)));
        if (!item) return false;
        const line = this.items.find((one) => one.id === this.first);
        if (!line) {
          this.first = item.id;
          clicked = pointer.at;
          this.selected = new Set([item.id]);
          this.changed();
          return true;
        }
        if (line.id === item.id) return true;
        const reference = isLine(item)
          ? segment(item)
          : sides(item.points).reduce((a, b) =>
              distanceToSegment(b, pointer.at) < distanceToSegment(a, pointer.at) ? b : a,
            );
        const result = change(segment(line), reference, clicked);
        this.first = null;
        if (!result) {
          this.app.toast('error', t('edit.impossible'));
          this.selected = new Set();
          this.changed();
          return true;
        }
        this.selected = new Set([line.id]);
        const points = [rounded(result.a), rounded(result.b)];
        this.set(this.changedItems(new Map([[line.id, { ...line, points }]])));
        return true;
      },
      alternate: () => this.abort(),
      cancel: () => (this.first = null),
    };
  }

  /** @returns {EditorTool} */
  invertTool() {
    return clickTool('invert', 'tool.invert', 'tool.invert.hint', (pointer) => {
      const item = this.itemAt(pointer, isLine);
      if (!item) return false;
      const { a, b } = invert(segment(item));
      this.selected = new Set([item.id]);
      this.set(this.changedItems(new Map([[item.id, { ...item, points: [a, b] }]])));
      return true;
    });
  }

  /** @returns {EditorTool} */
  scanTool() {
    return {
      name: 'scan',
      icon: 'scan',
      key: 'tool.scan',
      hint: 'tool.scan.hint',
      cursor: 'pointer',
      down: (pointer) => {
        const found = this.candidates.find((line) => distanceToSegment(line, pointer.at) <= pointer.reach);
        if (!found) return false;
        this.addCandidates([found]);
        return true;
      },
      cancel: () => (this.candidates = []),
    };
  }

  /** @param {EditorTool} tool */
  choose(tool) {
    this.corners = [];
    this.first = null;
    this.candidates = [];
    super.choose(tool);
    if (tool.name !== 'scan') return;
    const { estimated, scan } = this.status ?? {};
    if (!scan?.length) {
      this.app.toast('error', t('edit.noScan'));
      return;
    }
    const ahead = {
      x: estimated.x + LASER_AHEAD * Math.cos(estimated.theta),
      y: estimated.y + LASER_AHEAD * Math.sin(estimated.theta),
    };
    this.candidates = linesOfScan(scan, ahead);
    this.changed();
  }

  /** @param {Segment[]} lines */
  addCandidates(lines) {
    if (lines.length === 0) return;
    const added = lines.map(({ a, b }) => newItem({ kind: 'line', points: [rounded(a), rounded(b)] }));
    this.candidates = this.candidates.filter((line) => !lines.includes(line));
    this.selected = new Set(added.map((item) => item.id));
    this.set(this.with([...this.history.state.items, ...added]));
  }

  // Drawing and panel.

  draw() {
    const { view } = this;
    for (const area of [true, false]) {
      for (const item of this.items) {
        if (isArea(item) === area) paintItem(view, item, this.selected.has(item.id), true);
      }
    }
    this.drawPlatform();
    for (const line of this.candidates) view.polyline([line.a, line.b], view.color('mapped'), 4, [6, 5]);
    if (this.tool?.name === 'vertices') {
      for (const item of this.items) {
        if (!this.selected.has(item.id)) continue;
        for (const point of item.points) view.disc(point, 5, view.color('canvas'), view.color('select'), 2);
      }
    }
    if (this.corners.length) {
      const points = this.cursor ? [...this.corners, this.cursor] : this.corners;
      view.polyline(points, view.color('select'), 2, [5, 4]);
      for (const point of this.corners) view.disc(point, 4, view.color('select'));
    }
    if (this.frame) {
      const [a, b] = this.frame;
      view.polygon([a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }], null, view.color('select'), 1.5, [5, 4]);
    }
  }

  refresh() {
    if (!this.list) return;
    this.count.textContent = String(this.items.length);
    const kind = (/** @type {Item} */ item) => t(/** @type {Key} */ (`kind.${item.kind}`));
    this.list.replaceChildren(
      ...this.items.map((item) => {
        const size = isLine(item) ? distance(item.points[0], item.points[1]) : item.radius;
        const detail = item.text ?? (size === undefined ? `${item.points.length}` : number(size, 2, 'm'));
        return h(
          'button',
          {
            attrs: { type: 'button', 'aria-pressed': String(this.selected.has(item.id)) },
            on: {
              click: (event) => {
                const next = event.ctrlKey || event.metaKey ? new Set(this.selected) : new Set();
                next.add(item.id);
                this.selected = next;
                this.changed();
              },
            },
          },
          kind(item),
          h('span', { class: 'hint' }, detail),
        );
      }),
    );
    const chosen = this.items.filter((item) => this.selected.has(item.id));
    if (chosen.length !== 1) {
      const text = chosen.length ? t('edit.selected', { count: chosen.length }) : t('edit.nothing');
      this.properties.replaceChildren(
        h('p', { class: 'hint' }, text),
        chosen.length ? button('tool.delete', () => this.deleteSelected(), { icon: 'clear' }) : '',
      );
      return;
    }
    this.properties.replaceChildren(...this.fields(chosen[0], kind(chosen[0])));
  }

  /** @param {Item} item @param {string} kind */
  fields(item, kind) {
    const update = (/** @type {Item} */ next) => this.set(this.changedItems(new Map([[item.id, next]])));
    const rows = item.points.flatMap((point, at) => {
      const removed =
        isArea(item) && item.points.length > 3
          ? () => update({ ...item, points: item.points.filter((_, index) => index !== at) })
          : null;
      const change = (/** @type {Point} */ next) =>
        update({ ...item, points: item.points.map((one, index) => (index === at ? next : one)) });
      return pointFields(String(at + 1), point, change, removed);
    });
    const extra = [];
    if (item.kind === 'circle') {
      const input = h('input', {
        attrs: { type: 'number', step: 0.01, min: 0, value: Number((item.radius ?? 0).toFixed(4)) },
      });
      input.addEventListener(
        'change',
        () => Number(input.value) > 0 && update({ ...item, radius: Number(input.value) }),
      );
      extra.push(h('label', { class: 'field' }, h('span', { t: 'edit.radius' }), input));
    }
    if (item.kind === 'hiddenlabel') {
      const input = h('input', { attrs: { type: 'text', value: item.text ?? '', maxlength: 200 } });
      input.addEventListener('change', () => update({ ...item, text: input.value }));
      extra.push(h('label', { class: 'field' }, h('span', { t: 'edit.text' }), input));
    }
    if (isLine(item)) {
      const ends = /** @type {[Point, Point]} */ (item.points);
      const middle = between(...ends, 0.5);
      extra.push(
        h(
          'p',
          { class: 'hint' },
          `${number(distance(...ends), 3, 'm')} · ${number(middle.x, 2)} · ${number(middle.y, 2)}`,
        ),
        button('tool.invert', () => update({ ...item, points: [item.points[1], item.points[0]] }), { icon: 'invert' }),
      );
    }
    return [
      h('strong', {}, kind),
      h('div', { class: 'points' }, ...rows),
      ...extra,
      button('tool.delete', () => this.deleteSelected(), { icon: 'clear' }),
    ];
  }
}

/** To a tenth of a mm. @param {number} value */
const round = (value) => Math.round(value * 10000) / 10000;

/** @param {Point} point @returns {Point} */
const rounded = ({ x, y }) => ({ x: round(x), y: round(y) });

/** @param {App} app @returns {import('../app.js').Page} */
export function mapPage(app) {
  const editor = new MapEditor(app);
  return { root: editor.root, enter: () => editor.enter() };
}
