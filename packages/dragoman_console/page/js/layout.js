/** What pages with a drawing share: the frame, its groups of buttons, and when it is painted. */

import { button, h } from './dom.js';

/** @typedef {import('./texts.js').Key} Key */

/** Buttons that belong together. @param {...HTMLElement} buttons */
export function toolGroup(...buttons) {
  return h('div', { class: 'tool-group' }, ...buttons);
}

/** Shows all of a drawing, zooms in and out. @param {import('./view.js').View} view @param {() => void} fit */
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
  const bar = h('div', { class: 'tools', label: name, attrs: { role: 'toolbar' } }, ...tools);
  return h('div', { class: 'split' }, h('div', { class: 'drawing' }, bar, ...stage), panel);
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
