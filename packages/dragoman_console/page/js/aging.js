/** Marks the last values of a machine that has stopped publishing as old. */

import { h } from './dom.js';

const PERIOD_MS = 500;
/** Age after which a value is not shown as the present one, for topics with several messages per second. */
const OLD_MS = 2000;

/** @typedef {import('./rosbridge.js').Rosbridge} Bridge */
/** A part of a page, and the topic that keeps it new. @typedef {[HTMLElement, () => string]} Part */

/**
 * Marks parts of a page while nothing new arrives on their topics.
 *
 * @param {Bridge} bridge @param {Part[]} parts @returns {() => void} Ends that.
 */
export function markOld(bridge, parts) {
  const begin = performance.now();
  const check = () => {
    for (const [element, topic] of parts) {
      // A page that was just opened waits for its first messages.
      const isOld = Math.min(bridge.age(topic()), performance.now() - begin) > OLD_MS;
      if (element.classList.contains('old') === isOld) continue;
      element.classList.toggle('old', isOld);
      const mark = element.querySelector(':scope > .old-mark');
      if (isOld && !mark) element.prepend(h('span', { class: 'chip bad old-mark', t: 'common.old' }));
      if (!isOld) mark?.remove();
    }
  };
  const timer = setInterval(check, PERIOD_MS);
  return () => clearInterval(timer);
}
