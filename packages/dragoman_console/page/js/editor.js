/**
 * What the editors of maps and roadmaps share: drawing, tools, history, files, and the exchange with the platform.
 *
 * The subclass says how its document is read, written and drawn, and has the tools.
 */

import { agree, button, card, checkbox, chooseFile, download, h, put } from './dom.js';
import { History } from './history.js';
import { number, onLanguage, t } from './i18n.js';
import { OF_MAP, OF_ROADMAP, legend, split, toolGroup, zoomButtons } from './layout.js';
import { paintPlatform } from './paint.js';
import { View } from './view.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('./texts.js').Key} Key */
/** @typedef {import('./dom.js').Icon} Icon */
/** @typedef {import('./view.js').Tool & { name: string, icon: Icon, key: Key, hint: Key }} EditorTool */
/**
 * @template State
 * @typedef {object} Kind
 * @property {'map' | 'roadmap'} document Name of the document in the platform's services.
 * @property {() => State} empty
 * @property {(text: string) => State} read Throws an error that says what is wrong.
 * @property {(state: State) => string} write
 * @property {(state: State) => Point[]} points For showing all.
 */

/**
 * A tool that acts on what is clicked.
 *
 * @param {Icon} name @param {Key} key @param {Key} hint
 * @param {(pointer: import('./view.js').Pointer) => boolean} down
 * @returns {EditorTool}
 */
export function clickTool(name, key, hint, down) {
  return { name, icon: name, key, hint, cursor: 'pointer', down };
}

/** @template State */
export class Editor {
  /** @param {App} app @param {Kind<State>} kind */
  constructor(app, kind) {
    this.app = app;
    this.kind = kind;
    /** @type {History<State>} */
    this.history = new History(kind.empty());
    /** A state that is not in the history yet, for example during a drag. @type {State | null} */
    this.preview = null;
    /** @type {string} */
    this.name = kind.document;
    this.canvas = h('canvas', { label: 'editor.canvas', attrs: { tabindex: 0, role: 'img' } });
    this.view = new View(this.canvas, () => this.draw());
    /** @type {any} */
    this.status = null;
    this.showsPlatform = true;
    this.hasLoaded = false;
    /** @type {EditorTool | null} */
    this.tool = null;
    /** @type {Map<string, HTMLButtonElement>} */
    this.toolButtons = new Map();
    this.hint = h('div', { class: 'guide-line', attrs: { role: 'status' } });
    this.title = h('span', { class: 'chip' });
    this.position = h('span', { class: 'chip value hide-narrow' });
    this.undoButton = button('edit.undo', () => this.undo(), { icon: 'undo', iconOnly: true });
    this.redoButton = button('edit.redo', () => this.redo(), { icon: 'redo', iconOnly: true });
    this.side = h('div', { class: 'panel' });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('pointermove', (event) => {
      const { x, y } = this.view.pointer(event).at;
      put(this.position, `${number(x, 3)} · ${number(y, 3, 'm')}`);
    });
    this.canvas.addEventListener('dblclick', () => this.finish());
    window.addEventListener('beforeunload', (event) => {
      if (this.history.isChanged) event.preventDefault();
    });
    onLanguage(() => this.changed());
  }

  /** @returns {State} */
  get state() {
    return this.preview ?? this.history.state;
  }

  /** A new state, which can be undone. @param {State} state */
  set(state) {
    this.preview = null;
    this.history.set(state);
    this.changed();
  }

  /** @param {State} state */
  show(state) {
    this.preview = state;
    this.view.request();
  }

  /** Puts the shown state into the history. */
  keep() {
    if (this.preview !== null) this.set(this.preview);
  }

  undo() {
    this.preview = null;
    this.tool?.cancel?.();
    this.history.undo();
    this.changed();
  }

  redo() {
    this.preview = null;
    this.history.redo();
    this.changed();
  }

  // For subclasses.
  draw() {}
  /** After each change of the state or the selection. */
  refresh() {}
  /** The end of a drawing of several points. */
  finish() {}
  /** Adds what the tool draws, at a point, for those who work with the keyboard. @param {Point} _center */
  insert(_center) {}
  deleteSelected() {}
  selectAll() {}
  clearSelection() {}

  changed() {
    this.undoButton.disabled = this.history.past.length === 0;
    this.redoButton.disabled = this.history.future.length === 0;
    put(this.title, `${this.name}${this.history.isChanged ? ' •' : ''}`);
    this.title.title = t(this.history.isChanged ? 'edit.changed' : 'edit.unchanged');
    this.refresh();
    this.view.request();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const command = event.ctrlKey || event.metaKey;
    /** @type {[boolean, () => void][]} */
    const actions = [
      [command && event.key.toLowerCase() === 'z' && !event.shiftKey, () => this.undo()],
      [
        command && (event.key.toLowerCase() === 'y' || (event.key.toLowerCase() === 'z' && event.shiftKey)),
        () => this.redo(),
      ],
      [command && event.key.toLowerCase() === 'a', () => this.selectAll()],
      [event.key === 'Delete', () => this.deleteSelected()],
      [event.key === 'Enter', () => this.finish()],
      [event.key === 'Insert', () => this.insert(this.view.center)],
      [!command && event.key === '0', () => this.fit()],
      [event.key === 'Escape', () => this.abort()],
    ];
    const found = actions.find(([holds]) => holds);
    if (!found) return;
    event.preventDefault();
    found[1]();
  }

  abort() {
    this.preview = null;
    this.tool?.cancel?.();
    this.clearSelection();
    this.changed();
  }

  fit() {
    this.view.fitPoints([...this.kind.points(this.state), ...(this.status ? [this.status.estimated] : [])]);
  }

  /** @param {EditorTool} tool */
  choose(tool) {
    this.preview = null;
    this.tool = tool;
    this.view.setTool(tool);
    for (const [name, element] of this.toolButtons) element.setAttribute('aria-pressed', String(name === tool.name));
    this.showHint();
    this.changed();
  }

  showHint() {
    put(this.hint, this.tool ? t(this.tool.hint) : '');
  }

  /** The background: where the platform is, and what its laser sees. */
  drawPlatform() {
    if (!this.status || !this.showsPlatform) return;
    this.view.dots(this.status.scan ?? [], this.view.color('laser'), 2);
    paintPlatform(
      this.view,
      this.status.estimated,
      { length: 0.9, width: 0.6 },
      this.view.color('ghost'),
      null,
      [4, 4],
    );
  }

  // Documents.

  /** @param {string} text @param {string} name */
  open(text, name) {
    try {
      this.history.reset(this.kind.read(text));
    } catch (error) {
      this.app.toast('error', t('edit.unreadable', { reason: error instanceof Error ? error.message : String(error) }));
      return false;
    }
    this.name = name;
    this.preview = null;
    this.clearSelection();
    this.changed();
    this.fit();
    return true;
  }

  /** Whether changes may be given up; asks if there are any. */
  mayReplace() {
    return !this.history.isChanged || window.confirm(t('edit.discard'));
  }

  async load() {
    if (!this.mayReplace()) return;
    const file = await chooseFile('.xml');
    if (file) this.open(file.text, file.name.replace(/\.xml$/i, ''));
  }

  create() {
    if (this.mayReplace()) this.open(this.kind.write(this.kind.empty()), this.kind.document);
  }

  save() {
    download(`${this.name}.xml`, this.kind.write(this.state), 'application/xml');
    this.history.markSaved();
    this.changed();
  }

  saveAs() {
    const name = window.prompt(t('edit.name'), this.name)?.trim();
    if (!name) return;
    this.name = name.replace(/\.xml$/i, '');
    this.save();
  }

  /** @param {boolean} [isQuiet] */
  async get(isQuiet = false) {
    if (!this.mayReplace()) return;
    try {
      const answer = await this.app.bridge.request(`${this.app.platform}/get_${this.kind.document}`);
      const isOpen = this.open(answer.document, answer.name || this.kind.document);
      if (isOpen && !isQuiet) this.app.toast('info', t('edit.got'));
    } catch (error) {
      this.app.fail(error);
    }
  }

  async send() {
    const args = { name: this.name, document: this.kind.write(this.state) };
    if (!(await this.app.order(`${this.app.platform}/set_${this.kind.document}`, args))) return;
    this.history.markSaved();
    this.changed();
    this.app.toast('info', t('edit.sent'));
  }

  async keepOnPlatform() {
    const service = `${this.app.platform}/save_${this.kind.document}`;
    if (await this.app.order(service)) this.app.toast('info', t('edit.kept'));
  }

  /** Asks for a text. @param {Key} key @param {string} [value] @returns {Promise<string | null>} */
  async ask(key, value = '') {
    const input = h('input', { attrs: { type: 'text', value, autofocus: true, maxlength: 200 } });
    const isAgreed = await agree('common.ok', h('label', { class: 'field' }, h('span', { t: key }), input));
    this.canvas.focus();
    return (isAgreed && input.value.trim()) || null;
  }

  /** The page. @param {EditorTool[][]} groups Tools. @param {HTMLElement[]} actions Further buttons.
   * @returns {HTMLElement} */
  build(groups, actions) {
    for (const tool of groups.flat()) {
      const one = button(tool.key, () => this.choose(tool), { icon: tool.icon, iconOnly: true });
      one.dataset.tool = tool.name;
      this.toolButtons.set(tool.name, one);
    }
    const file = [
      button('edit.load', () => void this.load(), { icon: 'open', iconOnly: true }),
      button('edit.new', () => this.create(), { icon: 'new', iconOnly: true }),
      button('edit.save', () => this.save(), { icon: 'save', iconOnly: true }),
      button('edit.get', () => void this.get(), { icon: 'get', iconOnly: true }),
      button('edit.send', () => void this.send(), { icon: 'send', iconOnly: true }),
      button('edit.clear', () => this.clear(), { icon: 'clear', iconOnly: true }),
    ];
    const platformCard = card(
      'edit.document',
      h(
        'div',
        { class: 'stack' },
        h(
          'div',
          { class: 'grid2' },
          button('edit.getShort', () => void this.get(), { icon: 'get' }),
          button('edit.sendShort', () => void this.send(), { icon: 'send', class: 'primary' }),
          button('edit.saveAs', () => this.saveAs(), { icon: 'save' }),
          button('edit.keep', () => void this.keepOnPlatform(), { icon: 'platform' }),
        ),
        checkbox('edit.platform', true, (checked) => {
          this.showsPlatform = checked;
          this.view.request();
        }),
      ),
    );
    this.side.append(platformCard);
    const toolGroups = groups.map((tools) =>
      toolGroup(...tools.map((tool) => /** @type {HTMLElement} */ (this.toolButtons.get(tool.name)))),
    );
    const corner = h('div', { class: 'corner' }, this.position, this.title);
    const root = split(
      'map.tools',
      [
        toolGroup(...file),
        toolGroup(this.undoButton, this.redoButton),
        ...toolGroups,
        actions.length ? toolGroup(...actions) : null,
        toolGroup(...zoomButtons(this.view, () => this.fit())),
      ],
      [h('div', { class: 'stage' }, this.canvas, corner, legend([...OF_MAP, ...OF_ROADMAP]), this.hint)],
      this.side,
    );
    this.choose(groups[0][0]);
    onLanguage(() => this.showHint());
    return root;
  }

  clear() {
    const state = this.kind.empty();
    this.set(this.cleared(this.history.state) ?? state);
  }

  /**
   * The state without contents, but with what the editor does not know.
   * @param {State} _state
   * @returns {State | null}
   */
  cleared(_state) {
    return null;
  }

  /** @returns {() => void} */
  enter() {
    const { app } = this;
    const first = async () => {
      if (this.hasLoaded || !app.bridge.isOpen) return;
      this.hasLoaded = true;
      await this.get(true);
    };
    void first();
    app.bridge.addEventListener('state', first);
    const end = app.bridge.subscribe(
      `${app.platform}/status`,
      'dragoman_msgs/msg/PlatformStatus',
      (status) => {
        this.status = status;
        if (this.showsPlatform) this.view.request();
      },
      { throttle: 300 },
    );
    return () => {
      this.preview = null;
      app.bridge.removeEventListener('state', first);
      end();
    };
  }
}

/** Fields for a point. @param {string} name @param {Point} point m @param {(point: Point) => void} change
 * @param {(() => void) | null} removed @returns {HTMLElement[]} */
export function pointFields(name, point, change, removed = null) {
  const field = (/** @type {'x' | 'y'} */ axis) => {
    const input = h('input', {
      attrs: { type: 'number', step: 0.01, value: Number(point[axis].toFixed(4)), 'aria-label': `${name} ${axis}, m` },
    });
    input.addEventListener('change', () => {
      const value = Number(input.value);
      if (Number.isFinite(value) && input.value !== '') change({ ...point, [axis]: value });
    });
    return input;
  };
  const end = removed
    ? button('tool.delete', removed, { icon: 'delete', iconOnly: true, class: 'small' })
    : h('span', { class: 'hint' }, 'm');
  return [h('span', { class: 'hint' }, name), field('x'), field('y'), end];
}
