/** What a platform is doing, and what has to be done before it can drive. */

/** @typedef {import('./texts.js').Key} Key */

/** PlatformStatus.operation_state. */
export const Operation = /** @type {const} */ ({ READY: 0, STARTED: 1, INTERRUPTED: 2, NOT_INITIALIZED: 3 });
/** PlatformStatus.motion_mode. */
export const Mode = /** @type {const} */ ({ NONE: 0, JOYSTICK: 2, VELOCITY: 3, AUTOMATIC: 4, PROGRAM: 5, REPLAY: 6 });
/** PlatformStatus.planner_state. */
const PLANNING = 1;
const FOUND = 3;
const NO_WAY = [2, 4, 5];
/** Speeds below which a platform stands, m/s and rad/s. */
const STANDING = 0.005;

/**
 * The state of a platform. `MOVING` in its status only says that it was started; whether it moves is seen by its
 * velocity.
 *
 * @param {any} status PlatformStatus @returns {{ key: Key, level: 'good' | 'warn' | '' }}
 */
export function activity(status) {
  const { operation_state: operation, motion_mode: mode, planner_state: planner } = status;
  if (operation === Operation.READY) return { key: 'state.ready', level: 'good' };
  if (operation === Operation.INTERRUPTED) return { key: 'state.broken', level: 'warn' };
  if (operation !== Operation.STARTED) return { key: 'state.off', level: '' };
  const { translation_velocity: ahead, rotation_velocity: turn, lateral_velocity: aside } = status;
  if ([ahead, turn, aside].some((speed) => Math.abs(speed) > STANDING)) return { key: 'state.moving', level: 'good' };
  if (mode === Mode.NONE) return { key: 'state.noMode', level: 'warn' };
  if (mode === Mode.PROGRAM) return { key: 'state.program', level: 'good' };
  if (mode === Mode.REPLAY) return { key: 'state.replay', level: 'good' };
  if (mode !== Mode.AUTOMATIC) return { key: 'state.waits', level: 'good' };
  if (planner === PLANNING) return { key: 'state.planning', level: 'good' };
  if (NO_WAY.includes(planner)) return { key: 'state.noWay', level: 'warn' };
  if (planner === FOUND) return { key: status.collision ? 'state.blocked' : 'state.sets', level: 'warn' };
  return { key: status.target_reached ? 'state.arrived' : 'state.noTarget', level: 'good' };
}

/** The result of the last target. @param {any} status PlatformStatus @returns {Key} */
export function target(status) {
  if (status.target_reached) return 'fact.reached';
  const isOnTheWay = status.operation_state === Operation.STARTED && [PLANNING, FOUND].includes(status.planner_state);
  return isOnTheWay ? 'fact.notReached' : 'fact.noTarget';
}

/**
 * A step on the way to driving: a service of the platform, and what its status then says.
 *
 * @typedef {object} Step
 * @property {Key} key What happens.
 * @property {string} service
 * @property {object} [args]
 * @property {(status: any) => boolean} isDone
 */

/**
 * The steps after which a platform drives in a motion mode; none if it does already.
 *
 * @param {any} status PlatformStatus @param {number} mode @returns {Step[]}
 */
export function stepsTo(status, mode) {
  const { operation_state: operation, motion_mode: present } = status;
  const isStarted = operation === Operation.STARTED;
  if (isStarted && present === mode) return [];
  /** @type {Step[]} */
  const steps = [];
  const isReady = (/** @type {any} */ one) => one.operation_state === Operation.READY;
  if (operation === Operation.NOT_INITIALIZED) {
    steps.push({ key: 'prepare.connect', service: 'connect_to_pltf', isDone: () => true });
    steps.push({ key: 'prepare.initialize', service: 'init_pltf', isDone: isReady });
  } else if (operation !== Operation.READY) {
    steps.push({ key: 'prepare.stop', service: 'stop', isDone: isReady });
  }
  if (present !== mode) {
    const key = mode === Mode.AUTOMATIC ? 'prepare.automatic' : 'prepare.byHand';
    steps.push({ key, service: 'set_mode', args: { mode }, isDone: (one) => one.motion_mode === mode });
  }
  const isMoving = (/** @type {any} */ one) => one.operation_state === Operation.STARTED;
  steps.push({ key: 'prepare.start', service: 'start', isDone: isMoving });
  return steps;
}

/**
 * Why a button of the platform has no effect now; null if it has one.
 *
 * @param {'connect' | 'initialize' | 'shutdown' | 'mode' | 'start' | 'stop' | 'break' | 'continue' | 'drive'} button
 * @param {any} status PlatformStatus, or null without one. @returns {Key | null}
 */
export function obstacleOf(button, status) {
  if (!status) return 'why.silent';
  const { operation_state: operation } = status;
  const isOff = operation === Operation.NOT_INITIALIZED;
  const hasEmergency = status.emergency_state !== 0;
  switch (button) {
    case 'connect':
      return isOff ? null : 'why.connected';
    case 'initialize':
      return !isOff ? 'why.initialized' : hasEmergency ? 'why.emergency' : null;
    case 'shutdown':
      return null;
    case 'mode':
      return isOff ? 'why.off' : operation === Operation.READY ? null : 'why.started';
    case 'start':
      if (hasEmergency) return 'why.emergency';
      if (isOff) return 'why.off';
      if (operation === Operation.INTERRUPTED) return 'why.interrupted';
      if (operation === Operation.STARTED) return 'why.started';
      return status.motion_mode === Mode.NONE ? 'why.noMode' : null;
    case 'stop':
      return isOff ? 'why.off' : operation === Operation.READY ? 'why.stopped' : null;
    case 'break':
      return operation === Operation.STARTED ? null : 'why.notStarted';
    case 'continue':
      return operation === Operation.INTERRUPTED ? (hasEmergency ? 'why.emergency' : null) : 'why.notInterrupted';
    case 'drive':
      return hasEmergency ? 'why.emergency' : null;
  }
}

/**
 * The button that is the next sensible one.
 *
 * @param {any} status PlatformStatus, or null without one. @param {boolean} isConnected Whether it was connected here.
 * @returns {'connect' | 'initialize' | 'start' | 'stop' | 'continue' | null}
 */
export function nextButton(status, isConnected) {
  if (!status) return null;
  if (status.operation_state === Operation.NOT_INITIALIZED) return isConnected ? 'initialize' : 'connect';
  if (status.operation_state === Operation.INTERRUPTED) return 'continue';
  if (status.operation_state === Operation.STARTED) return 'stop';
  return status.motion_mode === Mode.NONE ? null : 'start';
}
