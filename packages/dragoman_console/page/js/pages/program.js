/** Program editor (PlatformCtrl guide, 6.5): tasks as XML, checked while they are typed, run and watched. */

import { button, card, chooseFile, download, h, put, say } from '../dom.js';
import { checkProgram, lineOfStep, linesOfTags } from '../documents/program.js';
import { readRoadmap } from '../documents/roadmap.js';
import { onLanguage, t } from '../i18n.js';
import { split, toolGroup } from '../layout.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../texts.js').Key} Key */

/** Commands to insert, by name. @type {[string, string][]} */
const SNIPPETS = [
  ['task', '<task name="new" id="3" priority="1" version="1.0">\n  </task>'],
  ['motion: station', '<motion><settarget><station name="north"/></settarget></motion>'],
  ['motion: coord', '<motion><settarget><coord x="0" y="0" angle="0"/></settarget></motion>'],
  ['motion: charge', '<motion><moveto><chargingstation/></moveto></motion>'],
  ['motion: stop', '<motion stop="1"/>'],
  ['wait: target', '<wait timeout="60000" timeoutlabel="late"><target/></wait>'],
  ['wait: delay', '<wait><delay amount="1000"/></wait>'],
  ['wait: event', '<wait><userevent id="go"/></wait>'],
  ['label', '<label name="again"/>'],
  ['goto', '<goto label="again"/>'],
  ['log', '<log type="info" message="text"/>'],
  ['ioevent', '<ioevent><digitalout D1="1"/></ioevent>'],
  ['parameter', '<parameter><set key="SirenEnabled" value="true"/></parameter>'],
  ['audio', '<audio><speak text="Hello"/></audio>'],
  ['surveillance', '<surveillance><grab filename="picture" grabscan="true" grabimage="false"/></surveillance>'],
  ['turnhead', '<turnhead angle="45"/>'],
  ['load', '<load map="map" roadmap="roadmap"/>'],
];
const CHECK_MS = 250;
const MAX_LINES = 200;
const PROGRAM_MODE = 5;
/** @type {Key[]} */
const STATES = ['state.ready', 'state.moving', 'state.broken', 'state.off'];

/** @param {App} app @returns {import('../app.js').Page} */
export function programPage(app) {
  const { bridge } = app;
  const name = (/** @type {string} */ rest) => `${app.platform}/${rest}`;
  let hasLoaded = false;
  let saved = '';
  /** @type {{ stations?: Set<string>, parameters?: Set<string> }} */
  let known = {};
  /** @type {Set<number>} */
  let faulty = new Set();
  /** Lines of the steps that run. @type {Set<number>} */
  let active = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const source = h('textarea', {
    class: 'mono',
    label: 'program.source',
    attrs: { spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off' },
  });
  const gutter = h('pre', { attrs: { 'aria-hidden': 'true' } });
  const problems = h('ul', { class: 'problems', label: 'program.problems', attrs: { 'aria-live': 'polite' } });
  const verdict = h('span', { class: 'chip' });
  const state = h('span', { class: 'chip' });
  const log = h('ul', { class: 'log' });
  const runningText = h('p', { class: 'hint' });
  const outline = h('div', { class: 'items' });
  const snippets = h(
    'select',
    { label: 'program.insert' },
    h('option', { t: 'program.insert', attrs: { value: '' } }),
    ...SNIPPETS.map(([key], at) => h('option', { attrs: { value: at } }, key)),
  );
  snippets.addEventListener('change', () => {
    const snippet = SNIPPETS[Number(snippets.value)];
    if (snippets.value !== '' && snippet) insert(snippet[1]);
    snippets.value = '';
  });

  /** Inserts text at the cursor, on a line of its own, so that the browser can undo it. @param {string} text */
  function insert(text) {
    source.focus();
    const at = source.selectionStart;
    const before = source.value.slice(0, at);
    const line = before.slice(before.lastIndexOf('\n') + 1);
    const indent = /^\s*/.exec(line)?.[0] ?? '';
    const isBlank = line.trim() === '';
    const added = `${isBlank ? '' : `\n${indent}`}${text.replaceAll('\n', `\n${indent}`)}`;
    if (!document.execCommand('insertText', false, added)) source.setRangeText(added, at, at, 'end');
    changed();
  }
  source.addEventListener('keydown', (event) => {
    if (event.key === 'Tab' && !event.shiftKey && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      if (!document.execCommand('insertText', false, '  ')) source.setRangeText('  ');
      changed();
    }
    if (event.key === 'Escape') source.blur();
  });
  source.addEventListener('input', changed);
  source.addEventListener('scroll', () => (gutter.scrollTop = source.scrollTop));

  function changed() {
    showGutter();
    clearTimeout(timer);
    timer = setTimeout(check, CHECK_MS);
  }
  function showGutter() {
    const lines = source.value.split('\n').length;
    gutter.replaceChildren(
      ...Array.from({ length: lines }, (_, at) => {
        const line = at + 1;
        const kind = faulty.has(line) ? 'bad' : active.has(line) ? 'active' : '';
        return h('span', { class: kind }, `${active.has(line) ? '▶' : ''}${line}\n`);
      }),
    );
    gutter.scrollTop = source.scrollTop;
  }
  function check() {
    const found = checkProgram(source.value, known);
    faulty = new Set(found.map((one) => one.line));
    verdict.className = `chip ${found.length ? 'bad' : 'good'}`;
    put(verdict, found.length ? t('program.faults', { count: found.length }) : t('program.fine'));
    problems.replaceChildren(
      ...found
        .slice(0, 50)
        .map((one) =>
          h(
            'li',
            {},
            h(
              'button',
              { attrs: { type: 'button' }, on: { click: () => goTo(one.line) } },
              `${t('program.line', { line: one.line })}: ${t(one.key, one.values)}`,
            ),
          ),
        ),
    );
    showGutter();
    showOutline();
  }
  function showOutline() {
    const lines = linesOfTags(source.value);
    const tags = [
      ...source.value
        .replace(/<!--[\s\S]*?-->/g, (text) => text.replace(/</g, ' '))
        .matchAll(/<([A-Za-z_][\w.:-]*)([^>]*)/g),
    ];
    const tasks = tags.flatMap((match, at) =>
      match[1] === 'task' ? [{ name: /name="([^"]*)"/.exec(match[2])?.[1] ?? '', line: lines[at] }] : [],
    );
    outline.replaceChildren(
      ...tasks.map((task) =>
        h(
          'button',
          { attrs: { type: 'button' }, on: { click: () => goTo(task.line) } },
          task.name,
          h('span', { class: 'hint' }, t('program.line', { line: task.line })),
        ),
      ),
    );
  }
  /** @param {number} line */
  function goTo(line) {
    const lines = source.value.split('\n');
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    source.focus();
    source.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    source.scrollTop = Math.max(0, (line - 6) * 19.4);
  }

  // Documents.
  /** @param {string} text */
  function open(text) {
    source.value = text;
    saved = text;
    check();
  }
  const mayReplace = () => source.value === saved || window.confirm(t('edit.discard'));
  async function load() {
    const file = mayReplace() ? await chooseFile('.xml') : null;
    if (file) open(file.text);
  }
  function save() {
    download('program.xml', source.value, 'application/xml');
    saved = source.value;
  }
  async function get() {
    if (!mayReplace()) return;
    try {
      open((await bridge.request(name('get_program'))).document);
    } catch (error) {
      app.fail(error);
    }
  }
  async function send() {
    const isSet = await app.order(name('set_program'), { name: '', document: source.value });
    if (isSet) {
      saved = source.value;
      app.toast('info', t('edit.sent'));
    }
    return isSet;
  }
  async function run() {
    if (!(await send())) return;
    await app.order(name('stop'));
    if (await app.order(name('set_mode'), { mode: PROGRAM_MODE })) await app.order(name('start'));
  }
  async function readKnown() {
    try {
      const roadmap = readRoadmap((await bridge.request(name('get_roadmap'))).document);
      const { parameters } = await bridge.request(name('get_pltf_param_vec'));
      known = {
        stations: new Set(roadmap.stations.map((station) => station.name)),
        parameters: new Set(parameters.map((/** @type {any} */ one) => one.key)),
      };
    } catch {
      known = {};
    }
    check();
  }
  const trigger = (/** @type {string} */ service) => () => void app.order(name(service));

  // Live.
  /** Begins and ends of the steps that run, as the platform says. @param {any} message ProgramState */
  function showSteps({ tasks, steps, moving_task: moving }) {
    put(runningText, tasks.map((/** @type {string} */ task) => (task === moving ? `▶ ${task}` : task)).join(' · '));
    // Steps count in the document that the platform has.
    const isSame = source.value === saved;
    const lines = isSame
      ? tasks.flatMap((/** @type {string} */ task, /** @type {number} */ at) =>
          lineOfStep(source.value, task, steps[at]) ?? [],
        )
      : [];
    active = new Set(lines);
    showGutter();
  }
  let lastNumber = 0;
  async function readLog() {
    try {
      const { data } = await bridge.request(name('get_debug_data'), {}, { timeout: 2000 });
      (data.log_numbers ?? []).forEach((/** @type {number} */ one, /** @type {number} */ at) => {
        if (one <= lastNumber) return;
        lastNumber = one;
        log.prepend(h('li', {}, h('time', {}, clock()), h('span'), h('span', { class: 'what' }, data.log[at])));
      });
      while (log.children.length > MAX_LINES) log.lastChild?.remove();
    } catch {
      // The state chip says that the platform is silent.
    }
  }
  const eventInput = h('input', { label: 'program.event', attrs: { type: 'text', value: 'go', size: 8 } });

  const root = split(
    'program.tools',
    [
      toolGroup(
        button('edit.load', () => void load(), { icon: 'open', iconOnly: true }),
        button('edit.save', save, { icon: 'save', iconOnly: true }),
        button('edit.get', () => void get(), { icon: 'get', iconOnly: true }),
        button('edit.send', () => void send(), { icon: 'send', iconOnly: true }),
      ),
      snippets,
      verdict,
    ],
    [h('div', { class: 'stage program-stage' }, h('div', { class: 'source' }, gutter, source), problems)],
    h(
      'div',
      { class: 'panel' },
      h(
        'section',
        { class: 'card stack' },
        h('div', { class: 'row spread' }, h('h2', { t: 'program.run' }), state),
        h(
          'div',
          { class: 'grid2' },
          button('program.start', () => void run(), { icon: 'play', class: 'primary' }),
          button('motion.stop', trigger('stop'), { icon: 'stop' }),
          button('motion.break', trigger('break'), { icon: 'pause' }),
          button('motion.continue', trigger('continue'), { icon: 'resume' }),
        ),
        h(
          'div',
          { class: 'row nowrap' },
          eventInput,
          button('program.raise', () => void app.order(name('raise_event'), { event: 0, id: eventInput.value }), {
            class: 'small',
          }),
        ),
        runningText,
        button('edit.keep', trigger('save_program'), { class: 'small' }),
      ),
      card('program.tasks', outline),
      card('platform.messages', log),
    ),
  );
  onLanguage(check);

  const enter = () => {
    const first = async () => {
      if (!bridge.isOpen) return;
      void readKnown();
      if (hasLoaded) return;
      hasLoaded = true;
      await get();
    };
    void first();
    bridge.addEventListener('state', first);
    const ends = [
      bridge.subscribe(
        name('status'),
        'dragoman_msgs/msg/PlatformStatus',
        (status) => {
          const now = status.motion_mode === PROGRAM_MODE && status.operation_state === 1;
          state.className = `chip ${now ? 'good' : ''}`;
          say(state, now ? 'program.running' : (STATES[status.operation_state] ?? 'state.off'));
        },
        { throttle: 500 },
      ),
      bridge.subscribe(name('program_state'), 'dragoman_msgs/msg/ProgramState', showSteps, { throttle: 100 }),
    ];
    const poll = setInterval(() => bridge.isOpen && !document.hidden && void readLog(), 1000);
    return () => {
      clearInterval(poll);
      bridge.removeEventListener('state', first);
      for (const end of ends) end();
    };
  };
  return { root, enter };
}

const clock = () => new Date().toLocaleTimeString([], { hour12: false });
