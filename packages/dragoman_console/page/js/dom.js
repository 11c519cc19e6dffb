/** Elements in one call. Texts have keys of the table in `texts.js`, and follow the language. */

import { t, translate } from './i18n.js';

/** @typedef {import('./texts.js').Key} Key */
/** @typedef {Node | string | null | undefined | false} Child */
/**
 * @typedef {object} Properties
 * @property {string} [class]
 * @property {Key} [t] Key of the text.
 * @property {Key} [title] Key of the tool tip, which is also the accessible name.
 * @property {Key} [label] Key of the accessible name.
 * @property {Key} [hint] Key of the placeholder.
 * @property {Record<string, string | number | boolean | undefined>} [attrs] Attributes; false and undefined: none.
 * @property {Record<string, (event: any) => void>} [on] Listeners.
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  if (properties.class) element.className = properties.class;
  for (const [name, value] of Object.entries(properties.attrs ?? {})) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  if (properties.t) element.dataset.t = properties.t;
  if (properties.title) element.dataset.tTitle = properties.title;
  if (properties.label) element.dataset.tLabel = properties.label;
  if (properties.hint) element.dataset.tHint = properties.hint;
  translate(element);
  for (const [name, listener] of Object.entries(properties.on ?? {})) element.addEventListener(name, listener);
  for (const child of children) if (child || child === '') element.append(child);
  return element;
}

/** Sets the text of an element to one of the table. @param {HTMLElement} element @param {Key} key */
export function say(element, key) {
  if (element.dataset.t === key) return;
  element.dataset.t = key;
  element.textContent = t(key);
}

/** Sets a text only if it differs, so that screen readers and layout are left in peace. @param {Element} element
 * @param {string} text */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Paths of the icons, in a box of 24 x 24, drawn with a line. */
const ICONS = {
  lab: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M8 15h8',
  parts: 'M4 5h4v4H4zM4 15h4v4H4zM11 7h9M11 17h9',
  platform: 'M4 8h16v8H4zM7 16v3M17 16v3M8 8l4-3 4 3',
  map: 'M3 6l6-2 6 2 6-2v14l-6 2-6-2-6 2zM9 4v14M15 6v14',
  roadmap: 'M6 19a2 2 0 1 0 0-.1M18 7a2 2 0 1 0 0-.1M6 17c0-6 12-4 12-9',
  program: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  hardware: 'M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4',
  parameters: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  arms: 'M5 20h6M8 20v-6M8 14l5-6M13 8l5 2M18 8v4M18 10l3-2M18 10l3 2',
  turtlebot: 'M4 15a8 6 0 0 1 16 0zM7 15v3M17 15v3M12 9V4M9 4h6',
  world: 'M12 3a9 9 0 1 0 .1 0M3 12h18M12 3c4 4 4 14 0 18M12 3c-4 4-4 14 0 18',
  recorder: 'M12 4a8 8 0 1 0 .1 0M12 9a3 3 0 1 0 .1 0',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 5v6h-6',
  area: 'M4 4h7v7H4zM14 14l6 6M16 11a5 5 0 1 1-5 5',
  hand: 'M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3',
  robot: 'M5 9h14v9H5zM12 9V5M9 13h.1M15 13h.1',
  flag: 'M6 21V4M6 4h11l-3 4 3 4H6',
  station: 'M12 21s7-6 7-11a7 7 0 0 0-14 0c0 5 7 11 7 11zM12 12a2 2 0 1 0 0-.1',
  obstacle: 'M12 4l9 16H3zM12 10v4M12 17v.1',
  open: 'M3 19V6h6l2 2h8v3M3 19l3-8h16l-3 8z',
  new: 'M6 3h8l4 4v14H6zM14 3v4h4M12 11v6M9 14h6',
  save: 'M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6',
  get: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  send: 'M12 20V9M7 13l5-5 5 5M4 4h16',
  clear: 'M5 7h14M10 4h4M7 7l1 13h8l1-13M10 11v5M14 11v5',
  undo: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6',
  redo: 'M15 7l5 5-5 5M20 12H10a6 6 0 0 0-6 6',
  select: 'M6 3l12 9-5 1 3 6-3 1-3-6-4 4z',
  vertices: 'M5 17L12 6l7 11zM3 15h4v4H3zM10 4h4v4h-4zM17 15h4v4h-4z',
  delete: 'M6 6l12 12M18 6L6 18',
  line: 'M5 19L19 5M3 19h4M17 5h4',
  reflector: 'M5 19L19 5M9 19l-2-6M14 14l-2-6M19 9l-2-6',
  circle: 'M12 4a8 8 0 1 0 .1 0M12 12h.1',
  workarea: 'M4 6l8-3 8 4v11l-9 3-7-5z',
  prohibit: 'M12 3a9 9 0 1 0 .1 0M6 6l12 12',
  polygon: 'M4 10l8-6 8 6-3 10H7z',
  label: 'M4 5h16M12 5v15M9 20h6',
  trim: 'M4 20L20 4M4 6h10M16 6h1M19 6h1',
  extend: 'M20 4v16M4 12h10M11 9l4 3-4 3',
  parallel: 'M5 19L15 5M10 19L20 5',
  orthogonal: 'M5 4v16h16M5 15h5v5',
  invert: 'M4 9h14M14 5l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  all: 'M4 4h4M12 4h4M20 4v4M20 12v4M20 20h-4M12 20H8M4 20v-4M4 12V8M9 9h6v6H9z',
  scan: 'M4 18a9 9 0 0 1 16 0M12 18l5-8M12 18v.1',
  oneway: 'M4 12h15M14 7l5 5-5 5',
  twoway: 'M4 12h16M15 7l5 5-5 5M9 7l-5 5 5 5',
  copy: 'M8 8h12v12H8zM4 16V4h12',
  menu: 'M4 6h16M4 12h16M4 18h16',
  play: 'M7 4l13 8-13 8z',
  stop: 'M6 6h12v12H6z',
  pause: 'M8 5v14M16 5v14',
  resume: 'M5 5v14M10 5l10 7-10 7z',
};
/** @typedef {keyof typeof ICONS} Icon */

/** An icon; hidden from screen readers, because the button next to it has a name. @param {Icon} name */
export function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with a text, or with an icon and a name.
 *
 * @param {Key} key @param {() => void} click
 * @param {{ icon?: Icon, class?: string, iconOnly?: boolean }} [options]
 */
export function button(key, click, options = {}) {
  const attrs = { type: 'button' };
  const name = `button ${options.class ?? ''}`.trim();
  if (options.iconOnly && options.icon) {
    // Toolbars show the word below the icon where there is room.
    const word = h('span', { class: 'tool-word', t: key, attrs: { 'aria-hidden': 'true' } });
    return h('button', { class: `${name} square`, title: key, attrs, on: { click } }, icon(options.icon), word);
  }
  const text = h('span', { t: key });
  return h('button', { class: name, attrs, on: { click } }, options.icon && icon(options.icon), text);
}

/** A check box with a text. @param {Key} key @param {boolean} checked @param {(checked: boolean) => void} change */
export function checkbox(key, checked, change) {
  const input = h('input', { attrs: { type: 'checkbox', checked } });
  input.addEventListener('change', () => change(input.checked));
  return h('label', { class: 'check' }, input, h('span', { t: key }));
}

/** A titled part of a page. @param {Key} key @param {...Child} children */
export function card(key, ...children) {
  return h('section', { class: 'card' }, h('h2', { t: key }), ...children);
}

/** A part that can be opened. @param {Key} key @param {boolean} open @param {...Child} children */
export function foldable(key, open, ...children) {
  return h('details', { class: 'card', attrs: { open } }, h('summary', { t: key }), ...children);
}

/**
 * Asks in front of the page.
 *
 * @param {Key} yes Text of the button that agrees. @param {...Child} content @returns {Promise<boolean>}
 */
export function agree(yes, ...content) {
  const cancel = { click: () => dialog.close() };
  const dialog = h(
    'dialog',
    {},
    h(
      'form',
      { attrs: { method: 'dialog' } },
      ...content,
      h(
        'div',
        { class: 'row' },
        h('button', { class: 'button primary', t: yes, attrs: { value: 'yes' } }),
        h('button', { class: 'button', t: 'common.cancel', attrs: { type: 'button' }, on: cancel }),
      ),
    ),
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    dialog.showModal();
  });
}

/**
 * Marks a button as one that has no effect now, with the reason as its tool tip. It stays within reach of the keyboard.
 *
 * @param {HTMLButtonElement} element @param {Key | null} why null: it has an effect. @param {Key} hint Its usual tip.
 */
export function setAvailable(element, why, hint) {
  if (why) element.setAttribute('aria-disabled', 'true');
  else element.removeAttribute('aria-disabled');
  if (element.dataset.tHelp === (why ?? hint)) return;
  element.dataset.tHelp = why ?? hint;
  translate(element);
}

/** Lets the user save a text as a file. @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h('a', { attrs: { href: url, download: name } });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Lets the user choose a file; nothing if he does not. @param {string} accept For example `.xml`.
 * @returns {Promise<{ name: string, text: string } | null>} */
export function chooseFile(accept) {
  return new Promise((resolve) => {
    const input = h('input', { class: 'visually-hidden', attrs: { type: 'file', accept } });
    input.addEventListener('cancel', () => resolve(null));
    input.addEventListener('change', async () => {
      const file = input.files?.[0];
      input.remove();
      resolve(file ? { name: file.name, text: await file.text() } : null);
    });
    document.body.append(input);
    input.click();
  });
}
