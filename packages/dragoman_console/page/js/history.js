/** Undo and redo without a limit. States are values that are never changed; what two states share exists once. */

/** @template State */
export class History {
  /** @param {State} state */
  constructor(state) {
    /** @type {State[]} */
    this.past = [];
    /** @type {State[]} */
    this.future = [];
    this.state = state;
    /** The state that was saved last. */
    this.saved = state;
  }

  /** A new state; what was undone is forgotten. @param {State} state */
  set(state) {
    if (state === this.state) return;
    this.past.push(this.state);
    this.state = state;
    this.future = [];
  }

  /** Replaces the present state, for example during a drag; nothing is remembered. @param {State} state */
  replace(state) {
    this.state = state;
  }

  /** @returns {boolean} Whether there was something to undo. */
  undo() {
    const before = this.past.pop();
    if (before === undefined) return false;
    this.future.push(this.state);
    this.state = before;
    return true;
  }

  /** @returns {boolean} Whether there was something to do again. */
  redo() {
    const after = this.future.pop();
    if (after === undefined) return false;
    this.past.push(this.state);
    this.state = after;
    return true;
  }

  /** Starts again with another state. @param {State} state */
  reset(state) {
    this.past = [];
    this.future = [];
    this.state = state;
    this.saved = state;
  }

  markSaved() {
    this.saved = this.state;
  }

  get isChanged() {
    return this.state !== this.saved;
  }
}
