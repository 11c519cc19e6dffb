/** Recorder: chosen topics in an MCAP file, its size while it grows, the file itself, and earlier ones. */

import { button, card, checkbox, h, put, say } from '../dom.js';
import { currentLanguage, number, t } from '../i18n.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../texts.js').Key} Key */

const SERVICE = '/start_recording';
const STATUS = '/recording_status';
const STATUS_TYPE = 'dragoman_msgs/msg/RecordingStatus';
/** Time that completing a long file may take, ms. */
const STOP_MS = 20000;
const UNITS = ['B', 'kB', 'MB', 'GB'];

/** @param {App} app @returns {import('../app.js').Page} */
export function recorderPage(app) {
  const { bridge } = app;
  /** Topics that are chosen. @type {Set<string>} */
  const chosen = new Set();
  let isAll = true;
  let isRecording = false;
  /** @type {any} */
  let last = null;

  // Where services are not listed, the recorder's topic says where one may be, and its messages that there is one.
  const owner = () => app.graph.owners(SERVICE)[0] ?? app.graph.above(STATUS, STATUS_TYPE)[0] ?? '';
  const hasRecorder = () => (app.graph.services.size ? app.graph.owners(SERVICE).length > 0 : last !== null);
  const name = (/** @type {string} */ rest) => `${owner()}/${rest}`;

  const state = h('span', { class: 'chip', t: 'rec.none', attrs: { role: 'status' } });
  const start = button('rec.start', () => void begin(), { class: 'primary', icon: 'recorder' });
  const stop = button('rec.stop', () => void end(), { icon: 'stop' });
  const file = h('input', { hint: 'rec.nameHint', label: 'rec.name', attrs: { type: 'text', id: 'rec-name' } });
  const filter = h('input', {
    hint: 'rec.filter',
    label: 'rec.filter',
    attrs: { type: 'search', id: 'rec-filter' },
    on: { input: () => showTopics() },
  });
  const all = checkbox('rec.all', true, (checked) => {
    isAll = checked;
    showTopics();
  });
  const allHint = h('p', { class: 'hint', t: 'rec.allHint' });
  const list = h('div', { class: 'stack', attrs: { id: 'rec-topics' } });
  const link = h('a', { class: 'button', t: 'rec.download', attrs: { hidden: true, id: 'rec-download' } });
  const error = h('p', { class: 'hint', attrs: { role: 'alert' } });
  const earlier = h('ul', { class: 'files', attrs: { id: 'rec-earlier' } });

  /** A value with its name. @param {Key} key */
  const fact = (key) => {
    const value = h('dd', {}, '–');
    return { value, row: [h('dt', { t: key }), value] };
  };
  const facts = {
    path: fact('rec.file'),
    bytes: fact('rec.size'),
    topics: fact('rec.topics'),
    messages: fact('rec.messages'),
    dropped: fact('rec.dropped'),
    duration: fact('rec.time'),
  };

  async function begin() {
    if (!isAll && chosen.size === 0) return app.toast('error', t('rec.unchosen'));
    try {
      const topics = isAll ? [] : [...chosen].sort();
      await bridge.request(name('start_recording'), { topics, exclude: [], name: file.value.trim() });
    } catch (reason) {
      app.fail(reason);
    }
  }

  async function end() {
    try {
      await bridge.request(name('stop_recording'), {}, { timeout: STOP_MS });
    } catch (reason) {
      app.fail(reason);
    }
  }

  /** Reads which recordings there are. */
  async function readEarlier() {
    /** @type {{name: string, bytes: number, modified: number}[]} */
    let found = [];
    try {
      const answer = await fetch(`/recordings${app.query}`);
      if (answer.ok) found = await answer.json();
    } catch {
      // The banner says that the lab is gone.
    }
    const none = h('li', { class: 'hint', t: 'rec.noEarlier' });
    const rows = found.map((one) => {
      const date = new Date(one.modified * 1000).toLocaleString(currentLanguage());
      return h(
        'li',
        { class: 'row tight' },
        h('a', { attrs: { href: address(one.name), download: one.name } }, one.name),
        h('span', { class: 'hint' }, `${size(one.bytes)}, ${date}`),
      );
    });
    earlier.replaceChildren(...(rows.length ? rows : [none]));
  }

  /** Where a recording is. @param {string} file */
  const address = (file) => `/recordings/${encodeURIComponent(file)}${app.query}`;

  function showTopics() {
    list.hidden = isAll;
    filter.hidden = isAll;
    allHint.hidden = !isAll;
    if (isAll) return;
    const wanted = filter.value.trim().toLowerCase();
    const names = [...new Set([...app.graph.topics.keys(), ...chosen])].sort();
    const shown = names.filter((topic) => chosen.has(topic) || topic.toLowerCase().includes(wanted));
    const shownNow = [...list.children].map((child) => child.getAttribute('data-topic'));
    if (shown.length === shownNow.length && shown.every((topic, at) => topic === shownNow[at])) return;
    list.replaceChildren(
      ...shown.map((topic) => {
        const input = h('input', { attrs: { type: 'checkbox', checked: chosen.has(topic) } });
        input.addEventListener('change', () => (input.checked ? chosen.add(topic) : chosen.delete(topic)));
        return h('label', { class: 'check', attrs: { 'data-topic': topic } }, input, h('span', {}, topic));
      }),
    );
  }

  function show() {
    const isThere = hasRecorder();
    say(state, !isThere ? 'rec.none' : isRecording ? 'rec.on' : 'rec.off');
    state.className = `chip ${isRecording ? 'good' : ''}`;
    start.disabled = !isThere || isRecording;
    stop.disabled = !isRecording;
    if (!last) return;
    put(facts.path.value, last.path || '–');
    put(facts.bytes.value, size(last.bytes));
    put(facts.topics.value, number(last.topics, 0));
    put(facts.messages.value, number(last.messages, 0));
    put(facts.dropped.value, number(last.dropped, 0));
    put(facts.duration.value, `${number(last.duration, 1)} s`);
    put(error, last.error);
    const base = String(last.path).split('/').pop() ?? '';
    link.hidden = isRecording || base === '';
    link.setAttribute('href', address(base));
    link.setAttribute('download', base);
  }

  const root = h(
    'div',
    { class: 'page' },
    h(
      'div',
      { class: 'columns' },
      card(
        'rec.state',
        h(
          'div',
          { class: 'stack' },
          h('div', { class: 'row tight' }, state),
          h('dl', { class: 'facts' }, ...Object.values(facts).flatMap((one) => one.row)),
          error,
          h('label', { class: 'field', attrs: { for: 'rec-name' } }, h('span', { t: 'rec.name' }), file),
          h('div', { class: 'row tight' }, start, stop, link),
        ),
      ),
      card('rec.choose', h('div', { class: 'stack' }, all, allHint, filter, list)),
      card('rec.earlier', earlier),
    ),
  );

  return {
    root,
    enter() {
      /** @type {() => void} */
      let unsubscribe = () => {};
      let subscribed = '';
      const follow = () => {
        const topic = name('recording_status');
        if (topic !== subscribed) {
          unsubscribe();
          subscribed = topic;
          unsubscribe = bridge.subscribe(topic, STATUS_TYPE, (message) => {
            last = message;
            if (isRecording !== message.recording) void readEarlier();
            isRecording = message.recording;
            show();
          });
        }
        showTopics();
        show();
      };
      app.graph.addEventListener('read', follow);
      follow();
      void readEarlier();
      return () => {
        app.graph.removeEventListener('read', follow);
        unsubscribe();
      };
    },
    refresh: show,
  };
}

/** Bytes in the largest unit below them. @param {number} bytes */
function size(bytes) {
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${number(value, unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}
