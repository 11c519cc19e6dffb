/** The frame of the console: navigation, connection, language, emergency stop; one page at a time. */

import { App } from './app.js';
import { h, icon, put, say } from './dom.js';
import { isAnyHeld, releaseAll, whenReleased } from './drive.js';
import { currentLanguage, onLanguage, setLanguage, t } from './i18n.js';

/** @typedef {import('./app.js').Page} Page */
/** @typedef {import('./texts.js').Key} Key */

/**
 * The pages, each loaded when it is shown first.
 * @type {{ id: string, key: Key, icon: import('./dom.js').Icon, load: () => Promise<(app: App) => Page> }[]}
 */
const PAGES = [
  { id: 'lab', key: 'nav.lab', icon: 'lab', load: async () => (await import('./pages/lab.js')).labPage },
  {
    id: 'platform',
    key: 'nav.platform',
    icon: 'platform',
    load: async () => (await import('./pages/platform.js')).platformPage,
  },
  { id: 'map', key: 'nav.map', icon: 'map', load: async () => (await import('./pages/map-editor.js')).mapPage },
  {
    id: 'roadmap',
    key: 'nav.roadmap',
    icon: 'roadmap',
    load: async () => (await import('./pages/roadmap-editor.js')).roadmapPage,
  },
  {
    id: 'program',
    key: 'nav.program',
    icon: 'program',
    load: async () => (await import('./pages/program.js')).programPage,
  },
  {
    id: 'hardware',
    key: 'nav.hardware',
    icon: 'hardware',
    load: async () => (await import('./pages/hardware.js')).hardwarePage,
  },
  {
    id: 'parameters',
    key: 'nav.parameters',
    icon: 'parameters',
    load: async () => (await import('./pages/parameters.js')).parametersPage,
  },
  { id: 'arms', key: 'nav.arms', icon: 'arms', load: async () => (await import('./pages/arms.js')).armsPage },
  {
    id: 'turtlebot',
    key: 'nav.turtlebot',
    icon: 'turtlebot',
    load: async () => (await import('./pages/turtlebot.js')).turtlebotPage,
  },
  { id: 'world', key: 'nav.world', icon: 'world', load: async () => (await import('./pages/world.js')).worldPage },
  {
    id: 'recorder',
    key: 'nav.recorder',
    icon: 'recorder',
    load: async () => (await import('./pages/recorder.js')).recorderPage,
  },
];

/** Time out of sight after which a page ends its subscriptions. */
const REST_MS = 20000;

const app = new App();
/** @type {Map<string, Page>} */
const made = new Map();
/** @type {() => void} */
let leave = () => {};
/** @type {string} */
let shown = '';
/** @type {ReturnType<typeof setTimeout> | undefined} */
let resting;
let isResting = false;

const main = h('main', { attrs: { id: 'main', tabindex: -1 } });
const links = new Map(
  PAGES.map((page) => [
    page.id,
    h('a', { class: 'nav-link', attrs: { href: `#/${page.id}` } }, icon(page.icon), h('span', { t: page.key })),
  ]),
);
const nav = h('nav', { class: 'nav', label: 'nav.label', attrs: { id: 'nav' } }, ...links.values());
const menu = h(
  'button',
  {
    class: 'button square menu',
    title: 'nav.menu',
    attrs: { type: 'button', 'aria-expanded': 'false', 'aria-controls': 'nav' },
    on: { click: () => toggleMenu(!document.body.classList.contains('menu-open')) },
  },
  icon('menu'),
);
const title = h('h1', { class: 'title' });
const link = h('span', { class: 'chip', attrs: { role: 'status' } });
const driver = h('span', { class: 'chip driver', attrs: { hidden: true } });
const language = h('button', {
  class: 'button small',
  attrs: { type: 'button', id: 'language' },
  on: { click: () => setLanguage(currentLanguage() === 'en' ? 'de' : 'en') },
});
const stop = h(
  'button',
  {
    class: 'stop',
    attrs: { type: 'button', id: 'stop' },
    on: { click: () => void (app.isStopped ? app.releaseStop() : app.emergencyStop()) },
  },
  h('span', { class: 'stop-text', t: 'stop.button' }),
);
const stopText = /** @type {HTMLElement} */ (stop.firstChild);
/** Which machines have confirmed the stop, and which not. */
const stopReport = h('div', { class: 'stop-report', attrs: { role: 'alert', hidden: true } });

/** @param {boolean} open */
function toggleMenu(open) {
  document.body.classList.toggle('menu-open', open);
  menu.setAttribute('aria-expanded', String(open));
}

function showConnection() {
  // What is held when the connection is lost does not go on when it is back.
  releaseAll();
  link.className = `chip ${app.bridge.isOpen ? 'good' : 'bad'}`;
  say(link, app.bridge.isOpen ? 'link.open' : 'link.closed');
  document.body.classList.toggle('offline', !app.bridge.isOpen);
}

function showStop() {
  document.body.classList.toggle('stopped', app.isStopped);
  stop.classList.toggle('active', app.isStopped);
  say(stopText, app.isStopped ? 'stop.release' : 'stop.button');
  stop.title = t(app.isStopped ? 'stop.releaseHint' : 'stop.hint');
  showReport();
}

let reported = '';
function showReport() {
  const { report } = app;
  // The same again would be read aloud again, and take the focus from its button.
  const now = JSON.stringify([report, currentLanguage()]);
  if (now === reported) return;
  reported = now;
  stopReport.hidden = !report;
  if (!report) return stopReport.replaceChildren();
  const failed = report.results.filter(({ reason }) => reason !== null);
  const sent = report.results.filter(({ reason }) => reason === null);
  const names = (/** @type {boolean} */ isTold) =>
    sent.filter((one) => one.isTold === isTold).map(({ name }) => name);
  const [good, told] = [names(false), names(true)];
  stopReport.classList.toggle('bad', report.isSending || failed.length > 0);
  stopReport.classList.toggle('warn', !report.isSending && !failed.length && told.length > 0);
  const outcome = failed.length ? 'stop.partly' : told.length ? 'stop.told' : 'stop.all';
  /** @type {HTMLElement[]} */
  const parts = [h('strong', { t: report.isSending ? 'stop.sending' : outcome })];
  const line = (/** @type {string} */ kind, /** @type {string} */ text) =>
    parts.push(h('p', { attrs: { 'data-kind': kind } }, text));
  if (good.length) line('confirmed', t('stop.confirmed', { names: good.join(', ') }));
  if (told.length) line('told', t('stop.cannotConfirm', { names: told.join(', ') }));
  if (failed.length) {
    const lines = failed.map(({ name, reason }) => h('li', {}, name ? `${name}: ${reason}` : `${reason}`));
    parts.push(
      h('p', { t: 'stop.failed', attrs: { 'data-kind': 'failed' } }),
      h('ul', {}, ...lines),
    );
  }
  if (failed.length || told.length) {
    const release = { click: () => void app.releaseStop() };
    // The button in the corner stops again; so the end of a stop that is incomplete is here.
    parts.push(h('button', { class: 'button', t: 'stop.release', on: release }));
  }
  stopReport.replaceChildren(...parts);
}

function showLanguage() {
  const [long, short] = currentLanguage() === 'en' ? ['Deutsch', 'DE'] : ['English', 'EN'];
  language.replaceChildren(
    h('span', { class: 'long' }, long),
    h('span', { class: 'short' }, short),
  );
  language.title = long;
  language.lang = currentLanguage() === 'en' ? 'de' : 'en';
  document.documentElement.lang = currentLanguage();
  showTitle();
  showStop();
  for (const page of made.values()) page.refresh?.();
}

function showTitle() {
  const page = PAGES.find((one) => one.id === shown);
  if (!page) return;
  say(title, page.key);
  document.title = `${t(page.key)} · Dragoman`;
}

async function route() {
  const wanted = location.hash.replace(/^#\/?/, '').split('/')[0];
  const page = PAGES.find((one) => one.id === wanted) ?? PAGES[0];
  toggleMenu(false);
  if (page.id === shown) return;
  releaseAll();
  leave();
  leave = () => {};
  shown = page.id;
  for (const [id, one] of links) {
    if (id === page.id) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
  showTitle();
  let built = made.get(page.id);
  if (!built) {
    const build = await page.load();
    if (shown !== page.id) return;
    built = build(app);
    made.set(page.id, built);
  }
  main.replaceChildren(built.root);
  main.dataset.page = page.id;
  main.scrollTop = 0;
  leave = built.enter();
  main.dataset.ready = page.id;
}

/** Ends the page's subscriptions while nobody sees it for a while, and begins them again. */
function rest() {
  clearTimeout(resting);
  if (document.hidden) {
    resting = setTimeout(() => {
      leave();
      leave = () => {};
      isResting = true;
    }, REST_MS);
  } else if (isResting) {
    isResting = false;
    leave = made.get(shown)?.enter() ?? leave;
  }
}

/** Begins the page's subscriptions again, for example with the names of other machines; not while a control is held. */
function enterAgain() {
  const page = made.get(shown);
  if (!page || isResting) return;
  // The page would be drawn anew, and what is held would be released: the machines that move are still there.
  if (isAnyHeld()) return whenReleased(enterAgain);
  leave();
  leave = page.enter();
}

/** Who drives, as the server says; shown to everybody. */
async function watchDriver() {
  try {
    const answer = await fetch(`/api/lab${app.query}`);
    if (answer.ok) {
      const lab = await answer.json();
      app.dispatchEvent(new CustomEvent('lab', { detail: lab }));
      /** @type {{ topic: string, address: string }[]} */
      const drivers = lab.drivers ?? [];
      const text = drivers.map(({ topic, address }) => `${topic} (${address})`).join(', ');
      driver.hidden = !text;
      put(driver, text ? t('drive.by', { name: text }) : '');
      driver.title = text;
    }
  } catch {
    // The connection's state is shown by its own chip.
  }
}

document.body.prepend(
  h('a', { class: 'skip', t: 'nav.skip', attrs: { href: '#main' }, on: { click: skip } }),
  h(
    'header',
    { class: 'bar' },
    menu,
    h(
      'a',
      { class: 'brand', attrs: { href: '#/lab' } },
      h('img', { attrs: { src: 'icon.svg', alt: '', width: 26 } }),
      'Dragoman',
    ),
    title,
    h('span', { class: 'bar-space' }),
    driver,
    link,
    language,
    stop,
  ),
  stopReport,
  nav,
  main,
  app.toasts,
);

/** @param {MouseEvent} event */
function skip(event) {
  event.preventDefault();
  main.focus();
}

document.addEventListener('visibilitychange', rest);
window.addEventListener('hashchange', () => void route());
window.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') toggleMenu(false);
});
app.bridge.addEventListener('state', showConnection);
app.addEventListener('emergency', showStop);
app.graph.addEventListener('change', enterAgain);
// For programs that operate the page: it shows the machines that there are.
app.graph.addEventListener('read', () => (document.body.dataset.graph = 'read'));
onLanguage(showLanguage);
showConnection();
showLanguage();
void route();
app.bridge.connect();
void watchDriver();
setInterval(() => !document.hidden && void watchDriver(), 1000);
