/** Making a platform ready to drive, after one question. */

import { obstacleOf, stepsTo } from './activity.js';
import { agree, h } from './dom.js';
import { t } from './i18n.js';

/** @typedef {import('./app.js').App} App */

/** Time for the status to show that a step is done. */
const STEP_MS = 20000;
const LOOK_MS = 50;

export class Preparation {
  /**
   * @param {App} app @param {(service: string) => string} name The full name of a service of the platform.
   * @param {() => any} status Its present PlatformStatus; null if it is silent.
   */
  constructor(app, name, status) {
    this.app = app;
    this.name = name;
    this.status = status;
  }

  /**
   * Makes the platform ready to drive in a motion mode, and asks before the first time.
   *
   * @param {number} mode @param {string} last What happens then. @returns {Promise<boolean>} Whether it is ready.
   */
  async to(mode, last) {
    const { app } = this;
    const why = obstacleOf('drive', this.status());
    if (why) {
      app.toast('error', t(why));
      return false;
    }
    const steps = stepsTo(this.status(), mode);
    const platform = this.name('');
    if (steps.length && !app.agreed.has(platform)) {
      const lines = [...steps.map((step) => t(step.key)), last].map((text) => h('li', {}, text));
      const [title, hint] = [h('p', { t: 'prepare.title' }), h('p', { class: 'hint', t: 'prepare.hint' })];
      if (!(await agree('prepare.yes', title, h('ol', {}, ...lines), hint))) return false;
      app.agreed.add(platform);
    }
    for (const step of steps) {
      if (!(await app.order(this.name(step.service), step.args))) return false;
      if (!(await this.settled(step.isDone))) {
        app.toast('error', t('prepare.failed', { step: t(step.key) }));
        return false;
      }
    }
    return true;
  }

  /** Waits until the status says that a step is done. @param {(status: any) => boolean} isDone */
  async settled(isDone) {
    const end = performance.now() + STEP_MS;
    for (;;) {
      const status = this.status();
      if (!status) return false;
      if (isDone(status)) return true;
      if (performance.now() > end) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
