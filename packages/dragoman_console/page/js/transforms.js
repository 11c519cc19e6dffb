/** The newest transforms of the topics `tf` and `tf_static`. They do not expire; the caller knows which are valid. */

import { IDENTITY, fromQuaternion, multiply } from './spatial.js';

/** @typedef {import('./spatial.js').Motion} Motion */

const MAX_DEPTH = 64;

export class Transforms {
  constructor() {
    /** @type {Map<string, { parent: string, motion: Motion }>} */
    this.frames = new Map();
  }

  /** @param {any} message tf2_msgs/TFMessage */
  add(message) {
    for (const one of message.transforms ?? []) {
      const { translation, rotation } = one.transform;
      this.frames.set(one.child_frame_id, {
        parent: one.header.frame_id,
        motion: fromQuaternion(translation, rotation),
      });
    }
  }

  /** The pose of a frame in its root, and the root's name. @param {string} frame
   * @returns {{ root: string, motion: Motion }} */
  find(frame) {
    let [root, motion] = [frame, IDENTITY];
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
      const step = this.frames.get(root);
      if (!step) break;
      [root, motion] = [step.parent, multiply(step.motion, motion)];
    }
    return { root, motion };
  }

  /**
   * @param {import('./rosbridge.js').Rosbridge} bridge
   * @param {string} root Namespace of `tf`.
   * @param {() => void} changed
   * @returns {() => void}
   */
  follow(bridge, root, changed) {
    const receive = (/** @type {any} */ message) => {
      this.add(message);
      changed();
    };
    const ends = [
      bridge.subscribe(`${root}/tf_static`, 'tf2_msgs/msg/TFMessage', receive, { queue: 100 }),
      bridge.subscribe(`${root}/tf`, 'tf2_msgs/msg/TFMessage', receive, { queue: 50 }),
    ];
    return () => ends.forEach((end) => end());
  }
}
