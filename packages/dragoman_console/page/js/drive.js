/**
 * Driving by hand: a velocity is sent only while a control is held, ten times a second; when it is released, when the
 * window
 * loses the focus, and when the page is hidden or left, a zero is sent.
 */

import { h } from './dom.js';
import { number, onLanguage } from './i18n.js';

/**
 * Forward and to the left, turn counter-clockwise: -1 to 1 each.
 * @typedef {{ x: number, y: number, turn: number }} Vector
 */

const PERIOD_MS = 100;
const ZERO = Object.freeze({ x: 0, y: 0, turn: 0 });
/** Everything that is held at present. @type {Set<Hold>} */
const held = new Set();
/** Functions that wait until nothing is held. @type {Set<() => void>} */
const waiting = new Set();

/** Whether a control is held. */
export const isAnyHeld = () => held.size > 0;

/** Calls this once, when no control is held any more. @param {() => void} then */
export function whenReleased(then) {
  if (isAnyHeld()) waiting.add(then);
  else then();
}

export class Hold {
  /** @param {(vector: Vector) => void} send */
  constructor(send) {
    this.send = send;
    /** @type {Vector} */
    this.vector = ZERO;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
  }

  get isHeld() {
    return this.timer !== undefined;
  }

  /** @param {Vector} vector */
  set(vector) {
    this.vector = vector;
    if (this.timer !== undefined) return;
    held.add(this);
    this.send(vector);
    this.timer = setInterval(() => this.send(this.vector), PERIOD_MS);
  }

  release() {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.vector = ZERO;
    held.delete(this);
    this.send(ZERO);
    // After the event that has released it: a waiting function may replace the control.
    if (!isAnyHeld() && waiting.size) setTimeout(proceed);
  }
}

/** Calls the waiting functions, unless a control is held again. */
function proceed() {
  if (isAnyHeld()) return;
  const all = [...waiting];
  waiting.clear();
  for (const then of all) then();
}

/** Releases every control. */
export function releaseAll() {
  for (const one of [...held]) one.release();
}

if (typeof window !== 'undefined') {
  window.addEventListener('blur', releaseAll);
  window.addEventListener('pagehide', releaseAll);
  document.addEventListener('visibilitychange', () => document.hidden && releaseAll());
}

/** Keys of the pad and what they add. @type {Record<string, Partial<Vector>>} */
const KEYS = {
  ArrowUp: { x: 1 },
  Numpad8: { x: 1 },
  KeyW: { x: 1 },
  ArrowDown: { x: -1 },
  Numpad2: { x: -1 },
  KeyS: { x: -1 },
  ArrowLeft: { turn: 1 },
  Numpad4: { turn: 1 },
  KeyA: { turn: 1 },
  ArrowRight: { turn: -1 },
  Numpad6: { turn: -1 },
  KeyD: { turn: -1 },
  KeyQ: { y: 1 },
  KeyE: { y: -1 },
  Numpad7: { x: 1, turn: 1 },
  Numpad9: { x: 1, turn: -1 },
  Numpad1: { x: -1, turn: 1 },
  Numpad3: { x: -1, turn: -1 },
};
/** Keys that release everything. */
const END_KEYS = ['Space', 'Escape', 'Numpad5'];
/** Keys that press a button. */
const PRESS_KEYS = ['Space', 'Enter', 'NumpadEnter'];

/** Shortest time between two notes about a pad without effect, ms. */
const SAY_MS = 4000;

/**
 * For a pad without effect: says why while it is pressed, not too often.
 *
 * @param {(why: import('./texts.js').Key) => void} say
 */
export function explainer(say) {
  let saidAt = -Infinity;
  return (/** @type {Vector} */ vector, /** @type {import('./texts.js').Key} */ why) => {
    const isPressed = vector.x !== 0 || vector.y !== 0 || vector.turn !== 0;
    if (!isPressed || performance.now() - saidAt <= SAY_MS) return;
    saidAt = performance.now();
    say(why);
  };
}

/**
 * A pad for driving: by touch or mouse, and with the focus by keyboard (arrows, WASD or the keypad).
 *
 * @param {(vector: Vector, scale: number) => void} send Called ten times a second while it is held; `scale` is 0 to 1.
 * @returns {{ root: HTMLElement, release: () => void }}
 */
export function jogPad(send) {
  const speed = h('input', {
    label: 'jog.speed',
    attrs: { type: 'range', min: 5, max: 100, step: 5, value: 40 },
  });
  const shown = h('output', { class: 'value' });
  const scale = () => Number(speed.value) / 100;
  const hold = new Hold((vector) => send(vector, scale()));
  const knob = h('div', { class: 'jog-knob' });
  const pad = h(
    'div',
    { class: 'jog-pad', label: 'jog.pad', attrs: { tabindex: 0, role: 'application' } },
    h('span', { class: 'jog-mark north' }, '▲'),
    h('span', { class: 'jog-mark south' }, '▼'),
    h('span', { class: 'jog-mark west' }, '↺'),
    h('span', { class: 'jog-mark east' }, '↻'),
    knob,
  );
  /** @type {Set<string>} */
  const keys = new Set();
  const showKnob = (/** @type {Vector} */ vector) => {
    knob.style.transform = `translate(${-vector.turn * 48}px, ${-vector.x * 48}px)`;
    pad.classList.toggle('held', hold.isHeld);
  };
  const release = () => {
    keys.clear();
    hold.release();
    showKnob(ZERO);
  };
  const byKeys = () => {
    if (keys.size === 0) return release();
    // Two keys of one direction are not twice as fast.
    const sum = (/** @type {keyof Vector} */ axis) =>
      Math.max(-1, Math.min(1, [...keys].reduce((total, key) => total + (KEYS[key][axis] ?? 0), 0)));
    const vector = { x: sum('x'), y: sum('y'), turn: sum('turn') };
    hold.set(vector);
    showKnob(vector);
  };
  pad.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (END_KEYS.includes(event.code)) {
      event.preventDefault();
      release();
    } else if (KEYS[event.code]) {
      event.preventDefault();
      // A key that is still down after a stop repeats: that is not a new command.
      if (event.repeat) return;
      keys.add(event.code);
      byKeys();
    }
  });
  pad.addEventListener('keyup', (event) => {
    if (keys.delete(event.code)) byKeys();
  });
  pad.addEventListener('blur', release);
  window.addEventListener('blur', release);
  const byPointer = (/** @type {PointerEvent} */ event) => {
    const box = pad.getBoundingClientRect();
    const half = box.width / 2;
    const clamp = (/** @type {number} */ value) => {
      const limited = Math.max(-1, Math.min(1, value));
      return Math.abs(limited) < 0.12 ? 0 : limited;
    };
    const vector = {
      x: clamp(-(event.clientY - box.top - half) / (half * 0.8)),
      y: 0,
      turn: clamp(-(event.clientX - box.left - half) / (half * 0.8)),
    };
    hold.set(vector);
    showKnob(vector);
  };
  pad.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    pad.focus();
    pad.setPointerCapture(event.pointerId);
    byPointer(event);
  });
  pad.addEventListener('pointermove', (event) => {
    if (pad.hasPointerCapture(event.pointerId)) byPointer(event);
  });
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) pad.addEventListener(name, release);
  const showSpeed = () => (shown.textContent = number(Number(speed.value), 0, '%'));
  speed.addEventListener('input', showSpeed);
  onLanguage(showSpeed);
  showSpeed();
  const root = h(
    'div',
    { class: 'jog' },
    pad,
    h(
      'div',
      { class: 'jog-side' },
      h('label', { class: 'field' }, h('span', { t: 'jog.speed' }), h('span', { class: 'row' }, speed, shown)),
      h('p', { class: 'hint', t: 'jog.hint' }),
    ),
  );
  return { root, release };
}

/**
 * A button that acts while it is held, by pointer or by the space and enter keys.
 *
 * @param {HTMLButtonElement} element @param {Hold} hold @param {() => Vector} vector
 */
export function holdButton(element, hold, vector) {
  const start = () => {
    hold.set(vector());
    element.classList.add('held');
  };
  const end = () => {
    hold.release();
    element.classList.remove('held');
  };
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    element.focus();
    element.setPointerCapture(event.pointerId);
    start();
  });
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture', 'blur']) element.addEventListener(name, end);
  element.addEventListener('keydown', (event) => {
    if (PRESS_KEYS.includes(event.code) && !event.repeat) {
      event.preventDefault();
      start();
    }
  });
  element.addEventListener('keyup', (event) => {
    if (PRESS_KEYS.includes(event.code)) end();
  });
  element.addEventListener('contextmenu', (event) => event.preventDefault());
}
