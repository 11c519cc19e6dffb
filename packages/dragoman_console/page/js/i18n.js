/** The language: English or German. It changes without reloading. */

import { TEXTS } from './texts.js';

/** @typedef {import('./texts.js').Key} Key */
/** @typedef {'en' | 'de'} Language */

const KEY = 'dragoman.language';
/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {Language} */
let language = initial();

/** @returns {Language} */
function initial() {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === 'en' || kept === 'de') return kept;
  } catch {
    // Without storage the browser's language is used each time.
  }
  return typeof navigator !== 'undefined' && navigator.language.startsWith('de') ? 'de' : 'en';
}

/** @returns {Language} */
export const currentLanguage = () => language;

/**
 * A text in the present language; `{name}` stands for a value.
 *
 * @param {Key} key @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  const text = TEXTS[key]?.[language === 'de' ? 1 : 0] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Sets the texts of one element from its `data-t...` attributes. @param {HTMLElement} element */
export function translate(element) {
  const { t: text, tTitle: title, tLabel: label, tHint: hint, tHelp: help } = element.dataset;
  if (text) element.textContent = t(/** @type {Key} */ (text));
  if (title) {
    element.title = t(/** @type {Key} */ (title));
    element.setAttribute('aria-label', element.title);
  }
  if (help) element.title = t(/** @type {Key} */ (help));
  if (label) element.setAttribute('aria-label', t(/** @type {Key} */ (label)));
  if (hint) element.setAttribute('placeholder', t(/** @type {Key} */ (hint)));
}

/** @param {() => void} listener Called after each change of the language. @returns {() => void} Ends that. */
export function onLanguage(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {Language} next */
export function setLanguage(next) {
  language = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The choice lasts for this visit only.
  }
  document.documentElement.lang = next;
  const query = '[data-t],[data-t-title],[data-t-label],[data-t-hint],[data-t-help]';
  for (const element of document.querySelectorAll(query)) translate(/** @type {HTMLElement} */ (element));
  for (const listener of listeners) listener();
}

/** A number with a fixed number of digits in the present language; a dash if there is none.
 * @param {number | null | undefined} value @param {number} digits @param {string} [unit] */
export function number(value, digits, unit = '') {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const text = value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const plain = /^-0([.,]0*)?$/.test(text) ? text.slice(1) : text;
  return unit ? `${plain}\u00a0${unit}` : plain;
}
