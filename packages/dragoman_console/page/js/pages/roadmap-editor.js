/** Roadmap editor (PlatformCtrl guide, 5.5): stations, and one-way or two-way edges with path points. */

import { button, card, h } from '../dom.js';
import { mapPoints, readMap } from '../documents/map.js';
import {
  emptyRoadmap,
  freeName,
  readRoadmap,
  roadmapPoints,
  stationOf,
  wayOf,
  writeRoadmap,
} from '../documents/roadmap.js';
import { clickTool, Editor, pointFields } from '../editor.js';
import { distance, distanceToSegment, heading } from '../geometry.js';
import { t } from '../i18n.js';
import { paintMap, paintRoadmap } from '../paint.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../geometry.js').Point} Point */
/** @typedef {import('../documents/roadmap.js').RoadmapState} RoadmapState */
/** @typedef {import('../documents/roadmap.js').Station} Station */
/** @typedef {import('../documents/roadmap.js').Edge} Edge */
/** @typedef {import('../view.js').Pointer} Pointer */
/** @typedef {import('../editor.js').EditorTool} EditorTool */

const DEGREES = 180 / Math.PI;

/** Whether one edge is the way back of another, through the same points. @param {Edge} one @param {Edge} other */
function isReverse(one, other) {
  if (one.start !== other.end || one.end !== other.start || one.points.length !== other.points.length) return false;
  const last = one.points.length - 1;
  return one.points.every((point, at) => distance(point, other.points[last - at]) < 1e-3);
}

/** @extends {Editor<RoadmapState>} */
class RoadmapEditor extends Editor {
  /** @param {App} app */
  constructor(app) {
    super(app, {
      document: 'roadmap',
      empty: emptyRoadmap,
      read: readRoadmap,
      write: writeRoadmap,
      points: (state) => [...roadmapPoints(state), ...(this.map ? mapPoints(this.map) : [])],
    });
    /** The platform's map, in the background. @type {import('../documents/map.js').MapState | null} */
    this.map = null;
    /** Identifiers of the selected stations. @type {ReadonlySet<string>} */
    this.stations = new Set();
    /** Places of the selected edges in the list. @type {ReadonlySet<number>} */
    this.edges = new Set();
    /** The edge that is being drawn. @type {{ start: string, points: Point[] } | null} */
    this.drawn = null;
    /** @type {Point | null} */
    this.cursor = null;
    this.properties = h('div', { class: 'stack' });
    this.list = h('div', { class: 'items' });
    /** @type {EditorTool[][]} */
    const groups = [
      [this.selectTool(), this.vertexTool(), this.deleteTool()],
      [this.stationTool(), this.edgeTool('oneway', false), this.edgeTool('twoway', true), this.invertTool()],
    ];
    this.root = this.build(groups, [button('tool.all', () => this.selectAll(), { icon: 'all', iconOnly: true })]);
    this.side.append(card('edit.selection', this.properties), card('edit.stations', this.list));
    this.changed();
  }

  /** @param {RoadmapState} state */
  cleared(state) {
    return { ...state, stations: [], edges: [] };
  }

  clearSelection() {
    this.stations = new Set();
    this.edges = new Set();
    this.drawn = null;
  }

  selectAll() {
    this.stations = new Set(this.state.stations.map((station) => station.id));
    this.edges = new Set(this.state.edges.keys());
    this.changed();
  }

  deleteSelected() {
    const { stations, edges } = this.history.state;
    if (!this.stations.size && !this.edges.size) return;
    const keptEdges = edges.filter(
      (edge, at) => !this.edges.has(at) && !this.stations.has(edge.start) && !this.stations.has(edge.end),
    );
    const keptStations = stations.filter((station) => !this.stations.has(station.id));
    this.clearSelection();
    this.set({ ...this.history.state, stations: keptStations, edges: keptEdges });
  }

  /** @param {Pointer} pointer */
  stationAt(pointer) {
    const reach = Math.max(pointer.reach * 1.4, 10 / this.view.scale);
    return this.state.stations.find((station) => distance(station.point, pointer.at) <= reach);
  }

  /** Places of the edges under a pointer: one, or both of a two-way one. @param {Pointer} pointer */
  edgesAt(pointer) {
    const { edges } = this.state;
    const away = (/** @type {Edge} */ edge) => {
      const way = wayOf(this.state, edge);
      let least = Infinity;
      for (let at = 1; at < way.length; at += 1) {
        least = Math.min(least, distanceToSegment({ a: way[at - 1], b: way[at] }, pointer.at));
      }
      return least;
    };
    const first = edges.findIndex((edge) => away(edge) <= pointer.reach);
    if (first < 0) return [];
    return edges.flatMap((edge, at) => (at === first || isReverse(edge, edges[first]) ? [at] : []));
  }

  /** @param {Map<number, Edge>} changes @param {Map<string, Station>} [stations] @returns {RoadmapState} */
  with(changes, stations = new Map()) {
    const { state } = this.history;
    return {
      ...state,
      stations: state.stations.map((station) => stations.get(station.id) ?? station),
      edges: state.edges.map((edge, at) => changes.get(at) ?? edge),
    };
  }

  // Tools.

  /** @returns {EditorTool} */
  selectTool() {
    /** @type {{ at: Point, turned: Station | null } | null} */
    let drag = null;
    return {
      name: 'select',
      icon: 'select',
      key: 'tool.select',
      hint: 'tool.select.roadmap',
      cursor: 'pointer',
      down: (pointer) => {
        const extends_ = pointer.event.ctrlKey || pointer.event.metaKey || pointer.event.shiftKey;
        const tip = [...this.stations]
          .map((id) => stationOf(this.state, id))
          .find((one) => one && this.tipOf(one, pointer) <= pointer.reach * 1.3);
        if (tip && this.stations.size === 1) {
          drag = { at: pointer.at, turned: tip };
          return true;
        }
        const station = this.stationAt(pointer);
        const edges = station ? [] : this.edgesAt(pointer);
        if (!station && edges.length === 0) {
          if (!extends_) this.clearSelection();
          this.changed();
          return false;
        }
        if (!extends_ && !(station && this.stations.has(station.id)) && !edges.some((at) => this.edges.has(at))) {
          this.clearSelection();
        }
        if (station) this.stations = toggled(this.stations, station.id, extends_);
        for (const at of edges) this.edges = toggled(this.edges, at, extends_);
        drag = { at: pointer.at, turned: null };
        this.changed();
        return true;
      },
      move: (pointer) => {
        if (!drag) return;
        if (drag.turned) {
          const theta = heading(drag.turned.point, pointer.at);
          this.show(this.with(new Map(), new Map([[drag.turned.id, { ...drag.turned, theta: roundAngle(theta) }]])));
          return;
        }
        const [dx, dy] = [pointer.at.x - drag.at.x, pointer.at.y - drag.at.y];
        if (Math.hypot(dx, dy) * this.view.scale < 3 && !this.preview) return;
        const shift = (/** @type {Point} */ { x, y }) => round({ x: x + dx, y: y + dy });
        const { state } = this.history;
        const stations = new Map(
          state.stations
            .filter((one) => this.stations.has(one.id))
            .map((one) => [one.id, { ...one, point: shift(one.point) }]),
        );
        const edges = new Map(
          state.edges.flatMap((edge, at) => {
            const isMoved = this.edges.has(at) || (this.stations.has(edge.start) && this.stations.has(edge.end));
            return isMoved ? [[at, { ...edge, points: edge.points.map(shift) }]] : [];
          }),
        );
        this.show(this.with(/** @type {Map<number, Edge>} */ (edges), stations));
      },
      up: () => {
        drag = null;
        this.keep();
      },
      alternate: (pointer) => {
        const station = this.stationAt(pointer);
        if (station) void this.rename(station);
        else this.abort();
      },
      cancel: () => (drag = null),
    };
  }

  /** Distance of a pointer from the grip that turns a station, m. @param {Station} station @param {Pointer} pointer */
  tipOf(station, pointer) {
    return distance(this.grip(station), pointer.at);
  }

  /** @param {Station} station @returns {Point} */
  grip(station) {
    const reach = 30 / this.view.scale;
    return {
      x: station.point.x + reach * Math.cos(station.theta),
      y: station.point.y + reach * Math.sin(station.theta),
    };
  }

  /** @returns {EditorTool} */
  vertexTool() {
    /** Path points that move together: both of a two-way edge. @type {{ edge: number, at: number }[]} */
    let grips = [];
    return {
      name: 'vertices',
      icon: 'vertices',
      key: 'tool.vertices',
      hint: 'tool.vertices.roadmap',
      cursor: 'cross',
      down: (pointer) => {
        grips = this.gripsAt(pointer);
        if (grips.length) {
          this.edges = new Set(grips.map((grip) => grip.edge));
          this.changed();
          return true;
        }
        const found = this.edgesAt(pointer);
        if (!found.length) return false;
        this.stations = new Set();
        this.edges = new Set(found);
        /** @type {Map<number, Edge>} */
        const changes = new Map();
        for (const place of found) {
          const edge = this.history.state.edges[place];
          const way = wayOf(this.history.state, edge);
          const leg = way.findIndex(
            (point, at) => at > 0 && distanceToSegment({ a: way[at - 1], b: point }, pointer.at) <= pointer.reach,
          );
          if (leg < 1) continue;
          const points = [...edge.points.slice(0, leg - 1), round(pointer.at), ...edge.points.slice(leg - 1)];
          changes.set(place, { ...edge, points });
          grips.push({ edge: place, at: leg - 1 });
        }
        this.set(this.with(changes));
        return true;
      },
      move: (pointer) => {
        /** @type {Map<number, Edge>} */
        const changes = new Map();
        for (const { edge: place, at } of grips) {
          const edge = this.history.state.edges[place];
          const points = edge.points.map((point, index) => (index === at ? round(pointer.at) : point));
          changes.set(place, { ...edge, points });
        }
        if (changes.size) this.show(this.with(changes));
      },
      up: () => {
        grips = [];
        this.keep();
      },
      alternate: (pointer) => {
        const found = this.gripsAt(pointer);
        if (!found.length) return;
        const changes = new Map(
          found.map(({ edge: place, at }) => {
            const edge = this.history.state.edges[place];
            return [place, { ...edge, points: edge.points.filter((_, index) => index !== at) }];
          }),
        );
        this.set(this.with(changes));
      },
      cancel: () => (grips = []),
    };
  }

  /** @param {Pointer} pointer */
  gripsAt(pointer) {
    const { edges } = this.state;
    for (const [place, edge] of edges.entries()) {
      const at = edge.points.findIndex((point) => distance(point, pointer.at) <= pointer.reach);
      if (at < 0) continue;
      return edges.flatMap((one, other) => {
        if (other === place) return [{ edge: place, at }];
        return isReverse(one, edge) ? [{ edge: other, at: edge.points.length - 1 - at }] : [];
      });
    }
    return [];
  }

  /** @returns {EditorTool} */
  deleteTool() {
    return clickTool('delete', 'tool.delete', 'tool.delete.hint', (pointer) => {
      const station = this.stationAt(pointer);
      const edges = station ? [] : this.edgesAt(pointer);
      if (!station && !edges.length) return false;
      this.clearSelection();
      if (station) this.stations = new Set([station.id]);
      this.edges = new Set(edges);
      this.deleteSelected();
      return true;
    });
  }

  /** @returns {EditorTool} */
  stationTool() {
    /** @type {Station | null} */
    let added = null;
    return {
      name: 'station',
      icon: 'station',
      key: 'tool.addStation',
      hint: 'tool.addStation.hint',
      cursor: 'cross',
      down: (pointer) => {
        const name = freeName(this.history.state);
        added = { id: name, name, point: round(pointer.at), theta: 0 };
        this.showAdded(added);
        return true;
      },
      move: (pointer) => {
        if (!added) return;
        const theta = distance(added.point, pointer.at) * this.view.scale > 8 ? heading(added.point, pointer.at) : 0;
        added = { ...added, theta: roundAngle(theta) };
        this.showAdded(added);
      },
      up: () => {
        if (added) this.stations = new Set([added.id]);
        added = null;
        this.keep();
      },
      alternate: (pointer) => {
        const station = this.stationAt(pointer);
        if (station) void this.rename(station);
      },
      cancel: () => (added = null),
    };
  }

  /** @param {Point} center */
  insert(center) {
    if (this.tool?.name !== 'station') return;
    const name = freeName(this.history.state);
    this.showAdded({ id: name, name, point: round(center), theta: 0 });
    this.stations = new Set([name]);
    this.keep();
  }

  /** @param {Station} station */
  showAdded(station) {
    this.show({ ...this.history.state, stations: [...this.history.state.stations, station] });
  }

  /** @param {'oneway' | 'twoway'} name @param {boolean} isTwoWay @returns {EditorTool} */
  edgeTool(name, isTwoWay) {
    return {
      name,
      icon: name,
      key: `tool.${name}`,
      hint: 'tool.edge.hint',
      cursor: 'cross',
      down: (pointer) => {
        const station = this.stationAt(pointer);
        if (!this.drawn) {
          if (!station) return false;
          this.drawn = { start: station.id, points: [] };
        } else if (!station) {
          this.drawn = { ...this.drawn, points: [...this.drawn.points, round(pointer.at)] };
        } else if (station.id !== this.drawn.start) {
          this.addEdge(this.drawn.start, station.id, this.drawn.points, isTwoWay);
        }
        this.view.request();
        return true;
      },
      move: () => {},
      hover: (pointer) => {
        this.cursor = pointer.at;
        if (this.drawn) this.view.request();
      },
      alternate: () => this.abort(),
      cancel: () => (this.drawn = null),
    };
  }

  /** @param {string} start @param {string} end @param {Point[]} points @param {boolean} isTwoWay */
  addEdge(start, end, points, isTwoWay) {
    this.drawn = null;
    const { edges } = this.history.state;
    /** @type {Edge[]} */
    const added = [{ start, end, points }];
    if (isTwoWay) added.push({ start: end, end: start, points: [...points].reverse() });
    const kept = edges.filter((edge) => !added.some((one) => one.start === edge.start && one.end === edge.end));
    this.stations = new Set();
    this.edges = new Set(added.map((_, at) => kept.length + at));
    this.set({ ...this.history.state, edges: [...kept, ...added] });
  }

  /** @returns {EditorTool} */
  invertTool() {
    return clickTool('invert', 'tool.invertEdge', 'tool.invertEdge.hint', (pointer) => {
      const found = this.edgesAt(pointer);
      if (!found.length) return false;
      this.edges = new Set(found);
      if (found.length > 1) {
        this.app.toast('error', t('edit.twoWay'));
        this.changed();
        return true;
      }
      const edge = this.history.state.edges[found[0]];
      const turned = { ...edge, start: edge.end, end: edge.start, points: [...edge.points].reverse() };
      this.set(this.with(new Map([[found[0], turned]])));
      return true;
    });
  }

  /** @param {Station} station */
  async rename(station) {
    const name = await this.ask('edit.stationName', station.name);
    if (name) this.renamed(station, name);
  }

  /** @param {Station} station @param {string} name */
  renamed(station, name) {
    if (name === station.name) return;
    if (this.history.state.stations.some((one) => one.id !== station.id && one.name === name)) {
      this.app.toast('error', t('edit.nameUsed', { name }));
      this.changed();
      return;
    }
    this.set(this.with(new Map(), new Map([[station.id, { ...station, name }]])));
  }

  // Drawing and panel.

  draw() {
    const { view } = this;
    if (this.map) {
      view.context.globalAlpha = 0.55;
      paintMap(view, this.map.items);
      view.context.globalAlpha = 1;
    }
    this.drawPlatform();
    paintRoadmap(view, this.state, {
      stations: this.stations,
      edges: this.edges,
      points: this.tool?.name === 'vertices',
    });
    if (this.tool?.name === 'select' && this.stations.size === 1) {
      const station = stationOf(this.state, [...this.stations][0]);
      if (station) view.disc(this.grip(station), 5, view.color('canvas'), view.color('select'), 2);
    }
    const start = this.drawn && stationOf(this.state, this.drawn.start);
    if (this.drawn && start) {
      const way = [start.point, ...this.drawn.points, ...(this.cursor ? [this.cursor] : [])];
      view.polyline(way, view.color('select'), 2, [5, 4]);
      for (const point of this.drawn.points) view.disc(point, 4, view.color('select'));
    }
  }

  refresh() {
    if (!this.list) return;
    this.list.replaceChildren(
      ...this.state.stations.map((station) =>
        h(
          'button',
          {
            attrs: { type: 'button', 'aria-pressed': String(this.stations.has(station.id)) },
            on: {
              click: () => {
                this.clearSelection();
                this.stations = new Set([station.id]);
                this.changed();
              },
            },
          },
          station.name,
          h('span', { class: 'hint' }, this.neighbours(station)),
        ),
      ),
    );
    const [id] = this.stations;
    const station = this.stations.size === 1 ? stationOf(this.state, id) : undefined;
    const total = this.stations.size + this.edges.size;
    if (station) {
      this.properties.replaceChildren(...this.stationFields(station));
    } else if (this.edges.size) {
      this.properties.replaceChildren(...this.edgeFields());
    } else {
      this.properties.replaceChildren(
        h('p', { class: 'hint' }, total ? t('edit.selected', { count: total }) : t('edit.nothing')),
      );
    }
  }

  /** @param {Station} station */
  neighbours(station) {
    const ends = this.state.edges.filter((edge) => edge.start === station.id).map((edge) => edge.end);
    return ends.length ? `→ ${ends.map((end) => stationOf(this.state, end)?.name ?? end).join(', ')}` : '';
  }

  /** @param {Station} station */
  stationFields(station) {
    const update = (/** @type {Station} */ next) => this.set(this.with(new Map(), new Map([[station.id, next]])));
    const name = h('input', { attrs: { type: 'text', value: station.name, maxlength: 200 } });
    name.addEventListener('change', () => name.value.trim() && this.renamed(station, name.value.trim()));
    const angle = h('input', {
      attrs: { type: 'number', step: 5, min: -360, max: 360, value: Number((station.theta * DEGREES).toFixed(2)) },
    });
    angle.addEventListener('change', () => {
      if (angle.value !== '') update({ ...station, theta: Number(angle.value) / DEGREES });
    });
    return [
      h('label', { class: 'field' }, h('span', { t: 'edit.stationName' }), name),
      h('div', { class: 'points' }, ...pointFields('', station.point, (point) => update({ ...station, point }))),
      h('label', { class: 'field' }, h('span', { t: 'edit.angle' }), angle),
      button('tool.delete', () => this.deleteSelected(), { icon: 'clear' }),
    ];
  }

  edgeFields() {
    const [first] = this.edges;
    const edge = this.state.edges[first];
    if (!edge) return [];
    const named = (/** @type {string} */ id) => stationOf(this.state, id)?.name ?? id;
    const sign = this.edges.size > 1 ? '↔' : '→';
    return [
      h('strong', {}, `${named(edge.start)} ${sign} ${named(edge.end)}`),
      h('p', { class: 'hint' }, t('edit.pathPoints', { count: edge.points.length })),
      button('tool.delete', () => this.deleteSelected(), { icon: 'clear' }),
    ];
  }

  enter() {
    const read = async () => {
      if (!this.app.bridge.isOpen) return;
      try {
        this.map = readMap((await this.app.bridge.request(`${this.app.platform}/get_map`)).document);
      } catch {
        this.map = null;
      }
      this.fit();
    };
    const leave = super.enter();
    void read();
    this.app.bridge.addEventListener('state', read);
    return () => {
      this.app.bridge.removeEventListener('state', read);
      leave();
    };
  }
}

/**
 * @template T @param {ReadonlySet<T>} set @param {T} one
 * @param {boolean} removes Whether one that is there is removed.
 * @returns {ReadonlySet<T>} */
function toggled(set, one, removes) {
  const next = new Set(set);
  if (!(removes && next.delete(one))) next.add(one);
  return next;
}

/** To a mm. @param {Point} point @returns {Point} */
const round = ({ x, y }) => ({ x: Math.round(x * 1000) / 1000, y: Math.round(y * 1000) / 1000 });

/** To a degree. @param {number} theta rad */
const roundAngle = (theta) => Math.round(theta * DEGREES) / DEGREES;

/** @param {App} app @returns {import('../app.js').Page} */
export function roadmapPage(app) {
  const editor = new RoadmapEditor(app);
  return { root: editor.root, enter: () => editor.enter() };
}
