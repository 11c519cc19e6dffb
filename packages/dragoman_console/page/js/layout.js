/** What pages with a drawing share: the frame, its groups of buttons, and when it is painted. */

import { button, h } from './dom.js';

/** @typedef {import('./texts.js').Key} Key */

/** Buttons that belong together. @param {...HTMLElement} buttons */
export function toolGroup(...buttons) {
  return h('div', { class: 'tool-group' }, ...buttons);
}

/** Shows all of a drawing, zooms in and out. @param {{ zoom: (factor: number) => void }} view
 * @param {() => void} fit */
export function zoomButtons(view, fit) {
  return [
    button('tool.fit', fit, { icon: 'fit', iconOnly: true }),
    button('tool.zoomIn', () => view.zoom(1.3), { icon: 'plus', iconOnly: true }),
    button('tool.zoomOut', () => view.zoom(1 / 1.3), { icon: 'minus', iconOnly: true }),
  ];
}

/**
 * A drawing, or another stage, with its tools above it and a panel beside it.
 *
 * @param {Key} name Of the tools, for screen readers. @param {(HTMLElement | null)[]} tools
 * @param {HTMLElement[]} stage @param {HTMLElement} panel
 */
export function split(name, tools, stage, panel) {
  const words = button('tool.words', () => bar.classList.toggle('labelled'), { icon: 'menu', iconOnly: true });
  words.classList.add('narrow-only');
  const bar = h('div', { class: 'tools', label: name, attrs: { role: 'toolbar' } }, words, ...tools);
  return h('div', { class: 'split' }, h('div', { class: 'drawing' }, bar, ...stage), panel);
}

/** What the colours of a map mean. @type {[string, Key][]} */
export const OF_MAP = [
  ['ink', 'legend.wall'],
  ['reflector', 'legend.reflector'],
  ['prohibit', 'legend.prohibit'],
  ['workarea', 'legend.workarea'],
  ['hidden', 'legend.hidden'],
];
/** What the colours of a roadmap mean. @type {[string, Key][]} */
export const OF_ROADMAP = [
  ['station', 'legend.station'],
  ['edge', 'legend.edge'],
];

/** Whether this is a screen for fingers, for hints that name mouse and keys. */
export const isTouch = () => matchMedia('(pointer: coarse)').matches;

/**
 * What the colours of a drawing mean.
 *
 * @param {[string, Key][]} entries Names of colours of the style sheet, with what they stand for.
 */
export function legend(entries) {
  const rows = entries.map(([color, key]) => {
    const swatch = h('i', { class: 'swatch' });
    swatch.style.background = `var(--${color})`;
    return h('li', {}, swatch, h('span', { t: key }));
  });
  return h('details', { class: 'legend' }, h('summary', { t: 'legend.title' }), h('ul', {}, ...rows));
}

/** Makes a function that runs `paint` once with the next frame. @param {() => void} paint */
export function withNextFrame(paint) {
  let isQueued = false;
  return () => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(() => {
      isQueued = false;
      paint();
    });
  };
}
