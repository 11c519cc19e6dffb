/** The log of all nodes, with a filter. */

import { button, h } from './dom.js';

const MAX_LINES = 400;
/** Levels of rcl_interfaces/msg/Log. */
const [DEBUG, INFO, WARN, ERROR] = [10, 20, 30, 40];

/** @param {import('./app.js').App} app @returns {{ root: HTMLElement, follow: () => (() => void) }} */
export function logView(app) {
  const lines = h('ul', { class: 'log', label: 'lab.log', attrs: { tabindex: 0 } });
  let least = INFO;
  const setLeast = (/** @type {number} */ level) => {
    least = level;
    for (const line of lines.children) {
      /** @type {HTMLElement} */ (line).hidden = Number(/** @type {HTMLElement} */ (line).dataset.level) < least;
    }
  };
  const filter = h(
    'select',
    { label: 'lab.level', on: { change: (event) => setLeast(Number(event.target.value)) } },
    h('option', { t: 'log.debug', attrs: { value: DEBUG } }),
    h('option', { t: 'log.info', attrs: { value: INFO, selected: true } }),
    h('option', { t: 'log.warn', attrs: { value: WARN } }),
    h('option', { t: 'log.error', attrs: { value: ERROR } }),
  );
  /** @param {any} message rcl_interfaces/msg/Log */
  const take = (message) => {
    const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 8;
    const kind = message.level >= ERROR ? 'bad' : message.level >= WARN ? 'warn' : '';
    const when = new Date((message.stamp?.sec ?? 0) * 1000 + (message.stamp?.nanosec ?? 0) / 1e6);
    const line = h(
      'li',
      { class: kind, attrs: { 'data-level': message.level } },
      h('time', {}, when.toLocaleTimeString([], { hour12: false })),
      h('span', { class: 'who' }, message.name),
      h('span', { class: 'what' }, message.msg),
    );
    line.hidden = message.level < least;
    lines.append(line);
    while (lines.children.length > MAX_LINES) lines.firstChild?.remove();
    if (atEnd) lines.scrollTop = lines.scrollHeight;
  };
  const clear = button('lab.clear', () => lines.replaceChildren(), { class: 'small' });
  const root = h('div', { class: 'stack' }, h('div', { class: 'row spread' }, filter, clear), lines);
  return {
    root,
    /** Shows what is logged from now on, and what the nodes keep. */
    follow: () => {
      lines.replaceChildren();
      return app.bridge.subscribe('/rosout', 'rcl_interfaces/msg/Log', take, { queue: 1000 });
    },
  };
}
