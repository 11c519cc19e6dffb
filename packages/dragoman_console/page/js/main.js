/** The frame of the console: navigation, connection, language, emergency stop; one page at a time. */

import { App } from './app.js';
import { h, icon, put, say } from './dom.js';
import { isAnyHeld, releaseAll, whenReleased } from './drive.js';
import { currentLanguage, onLanguage, setLanguage, t } from './i18n.js';

/** @typedef {import('./app.js').Page} Page */
/** @typedef {import('./texts.js').Key} Key */

/**
 * A page, which is loaded when it is shown first.
 *
 * @typedef {object} Entry
 * @property {string} id
 * @property {Key} key
 * @property {import('./dom.js').Icon} icon
 * @property {() => Promise<(app: App) => Page>} load
 * @property {(graph: import('./graph.js').Graph) => boolean} [isThere] Whether its machine is in the lab.
 * @property {Key} [absent] What is said if it is not.
 */

/** For pages of a platform. @type {Pick<Entry, 'isThere' | 'absent'>} */
const OF_PLATFORM = { isThere: ({ machines }) => machines.platforms.length > 0, absent: 'absent.platform' };

/** @type {Entry[]} */
const PAGES = [
  { id: 'lab', key: 'nav.lab', icon: 'lab', load: async () => (await import('./pages/lab.js')).labPage },
  {
    id: 'platform',
    key: 'nav.platform',
    icon: 'platform',
    load: async () => (await import('./pages/platform.js')).platformPage,
    ...OF_PLATFORM,
  },
  {
    id: 'map',
    key: 'nav.map',
    icon: 'map',
    load: async () => (await import('./pages/map-editor.js')).mapPage,
    ...OF_PLATFORM,
  },
  {
    id: 'roadmap',
    key: 'nav.roadmap',
    icon: 'roadmap',
    load: async () => (await import('./pages/roadmap-editor.js')).roadmapPage,
    ...OF_PLATFORM,
  },
  {
    id: 'program',
    key: 'nav.program',
    icon: 'program',
    load: async () => (await import('./pages/program.js')).programPage,
    ...OF_PLATFORM,
  },
  {
    id: 'hardware',
    key: 'nav.hardware',
    icon: 'hardware',
    load: async () => (await import('./pages/hardware.js')).hardwarePage,
    ...OF_PLATFORM,
  },
  { id: 'parts', key: 'nav.parts', icon: 'parts', load: async () => (await import('./pages/parts.js')).partsPage },
  {
    id: 'parameters',
    key: 'nav.parameters',
    icon: 'parameters',
    load: async () => (await import('./pages/parameters.js')).parametersPage,
  },
  {
    id: 'arms',
    key: 'nav.arms',
    icon: 'arms',
    load: async () => (await import('./pages/arms.js')).armsPage,
    isThere: ({ machines, servoArms }) => machines.arms.length + servoArms.size > 0,
    absent: 'absent.arm',
  },
  {
    id: 'turtlebot',
    key: 'nav.turtlebot',
    icon: 'turtlebot',
    load: async () => (await import('./pages/turtlebot.js')).turtlebotPage,
    isThere: ({ machines }) => machines.bases.length > 0,
    absent: 'absent.base',
  },
  {
    id: 'world',
    key: 'nav.world',
    icon: 'world',
    load: async () => (await import('./pages/world.js')).worldPage,
    isThere: ({ machines }) => machines.worlds.length > 0,
    absent: 'absent.world',
  },
  {
    id: 'recorder',
    key: 'nav.recorder',
    icon: 'recorder',
    load: async () => (await import('./pages/recorder.js')).recorderPage,
  },
];

/** Time out of sight after which a page ends its subscriptions. */
const REST_MS = 20000;
/** Time without a first connection after which the page reports it. */
const CONNECT_TIMEOUT_MS = 1500;
/** Time after which a server that does not answer is taken for lost. */
const SILENT_MS = 3000;

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
/** Shown while there is no connection. */
const banner = h('div', { class: 'banner', attrs: { role: 'alert', hidden: true } });
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
  const { isOpen } = app.bridge;
  link.className = `chip ${isOpen ? 'good' : 'bad'}`;
  say(link, isOpen ? 'link.open' : 'link.closed');
  document.body.classList.toggle('offline', !isOpen);
  if (!isOpen && !lostAt) lostAt = new Date();
  if (isOpen) wasOpen = true;
  if (isOpen) lostAt = null;
  showBanner();
}

/** When the connection was lost. @type {Date | null} */
let lostAt = null;
let wasOpen = false;
/** Shows that nothing on the page is the present state. */
function showBanner() {
  // At the start nothing shown can be outdated.
  banner.hidden = !lostAt || (!wasOpen && Date.now() - lostAt.getTime() < CONNECT_TIMEOUT_MS);
  if (banner.hidden || !lostAt) return;
  const time = lostAt.toLocaleTimeString([], { hour12: false });
  put(banner, wasOpen ? t('link.lost', { time }) : t('link.noAnswer'));
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
  const good = sent.filter(({ isUnconfirmed }) => !isUnconfirmed).map(({ name }) => name);
  const unconfirmed = sent.filter(({ isUnconfirmed }) => isUnconfirmed).map(({ name }) => name);
  stopReport.classList.toggle('bad', report.isSending || failed.length > 0);
  stopReport.classList.toggle('warn', !report.isSending && !failed.length && unconfirmed.length > 0);
  const outcome = failed.length ? 'stop.partly' : unconfirmed.length ? 'stop.unconfirmed' : 'stop.all';
  /** @type {HTMLElement[]} */
  const parts = [h('strong', { t: report.isSending ? 'stop.sending' : outcome })];
  const line = (/** @type {string} */ kind, /** @type {string} */ text) =>
    parts.push(h('p', { attrs: { 'data-kind': kind } }, text));
  if (good.length) line('confirmed', t('stop.confirmed', { names: good.join(', ') }));
  if (unconfirmed.length) line('unconfirmed', t('stop.cannotConfirm', { names: unconfirmed.join(', ') }));
  if (failed.length) {
    const lines = failed.map(({ name, reason }) => h('li', {}, name ? `${name}: ${reason}` : `${reason}`));
    parts.push(h('p', { t: 'stop.failed', attrs: { 'data-kind': 'failed' } }), h('ul', {}, ...lines));
  }
  if (failed.length || unconfirmed.length) {
    const release = { click: () => void app.releaseStop() };
    // The button in the corner stops again; so the end of a stop that is incomplete is here.
    parts.push(h('button', { class: 'button', t: 'stop.release', on: release }));
  }
  stopReport.replaceChildren(...parts);
}

function showLanguage() {
  const [long, short] = currentLanguage() === 'en' ? ['Deutsch', 'DE'] : ['English', 'EN'];
  language.replaceChildren(h('span', { class: 'long' }, long), h('span', { class: 'short' }, short));
  language.title = long;
  language.lang = currentLanguage() === 'en' ? 'de' : 'en';
  document.documentElement.lang = currentLanguage();
  showTitle();
  showStop();
  showBanner();
  for (const page of made.values()) page.refresh?.();
}

function showTitle() {
  const page = PAGES.find((one) => one.id === shown);
  if (!page) return;
  say(title, page.key);
  document.title = `${t(page.key)} · Dragoman`;
}

/** Whether the page that is shown only says that its machine is not there. */
let isAbsent = false;

/** Settles when the machines are known, or cannot be found out. @type {Promise<void>} */
const graphRead = new Promise((resolve) => {
  app.graph.addEventListener('read', () => resolve(), { once: true });
  setTimeout(resolve, CONNECT_TIMEOUT_MS);
});

/** Links to pages of machines that are not in the lab are hidden, unless such a page is shown. */
function showLinks() {
  for (const page of PAGES) {
    const link = links.get(page.id);
    const isHidden = app.graph.isKnown && page.isThere?.(app.graph) === false && page.id !== shown;
    if (link) link.hidden = isHidden;
  }
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
  await graphRead;
  showLinks();
  if (shown !== page.id) return;
  isAbsent = app.graph.isKnown && page.isThere?.(app.graph) === false;
  if (isAbsent) {
    const text = h('p', { t: page.absent });
    main.replaceChildren(h('div', { class: 'page' }, h('div', { class: 'card' }, text)));
    main.dataset.page = main.dataset.ready = page.id;
    return;
  }
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

/** Ends the page's subscriptions when it has been hidden for a while, and begins them again when it is shown. */
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

/** Shows the page again when its machine has appeared. */
function machinesRead() {
  showLinks();
  // For programs that operate the page: it shows the machines that there are.
  document.body.dataset.graph = 'read';
  const page = PAGES.find((one) => one.id === shown);
  if (!isAbsent || page?.isThere?.(app.graph) === false) return;
  shown = '';
  void route();
}

/** Begins the page's subscriptions again, for example with the names of other machines; not while a control is held. */
function enterAgain() {
  const page = made.get(shown);
  if (!page || isResting || isAbsent) return;
  // The page would be drawn again, and held controls would be released: the machines that move are still there.
  if (isAnyHeld()) return whenReleased(enterAgain);
  leave();
  leave = page.enter();
}

/** Who drives, as the server reports it; shown on every page. */
async function watchDriver() {
  try {
    const answer = await fetch(`/api/lab${app.query}`, { signal: AbortSignal.timeout(SILENT_MS) });
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
    // The connection may be lost without having been closed, as after a pulled cable.
    app.bridge.drop();
  }
  showBanner();
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
  h('div', { class: 'notices' }, banner, stopReport),
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
app.graph.addEventListener('read', machinesRead);
onLanguage(showLanguage);
showConnection();
showLanguage();
void route();
app.bridge.connect();
void watchDriver();
setInterval(() => !document.hidden && void watchDriver(), 1000);
