/**
 * Parameters (PlatformCtrl guide, 5.9): those of the platform by category, and those of every node, with unit, range
 * and text.
 * They can be saved to a parameter file, which the platform reads at its start.
 */

import { button, download, h, put } from '../dom.js';
import { onLanguage, t } from '../i18n.js';
import { TEXTS } from '../texts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../texts.js').Key} Key */
/**
 * @typedef {object} Parameter
 * @property {string} key
 * @property {string} value
 * @property {'boolean' | 'number' | 'integer' | 'text'} kind
 * @property {string} group Name of the category; empty: none.
 * @property {string} text Description.
 * @property {string} range
 * @property {boolean} isReadOnly
 * @property {number} type rcl_interfaces' type; 0: PlatformCtrl's own.
 */

/**
 * @typedef {object} Line Of the table.
 * @property {HTMLElement} root
 * @property {(parameter: Parameter) => void} show Shows this, but leaves what is being typed.
 */

/** @type {Key[]} */
const CATEGORIES = [
  'category.0',
  'category.1',
  'category.2',
  'category.3',
  'category.4',
  'category.5',
  'category.6',
  'category.7',
  'category.8',
  'category.9',
  'category.10',
];
/** Units of the guide's parameters. */
const UNITS = [
  [
    /^(CollLaserMinDist|DistPltfCenterToWheelAxis|DistWheels|PltfLength|RadiusWheel|MinLineLen.*|UltraSonic\d+[XYZ])$/,
    'mm',
  ],
  [/^UltraSonic\d+Angle$/, '°'],
  [/^IpoTransVel$/, 'mm/s'],
  [/^IpoRotvel$/, 'rad/s'],
  [/^LineExtractMaxCov$/, 'mm²'],
  [/^PathFollowParam1$/, '1/m²'],
  [/^PathFollowParam2$/, '1/m'],
];
const PLATFORM = 'platform';
const TYPES = { BOOL: 1, INTEGER: 2, DOUBLE: 3, STRING: 4, BYTES: 5, BOOLS: 6, INTEGERS: 7, DOUBLES: 8, STRINGS: 9 };
/** Field of rcl_interfaces/ParameterValue by type. @type {Record<number, string>} */
const FIELDS = {
  1: 'bool_value',
  2: 'integer_value',
  3: 'double_value',
  4: 'string_value',
  6: 'bool_array_value',
  7: 'integer_array_value',
  8: 'double_array_value',
  9: 'string_array_value',
};

/**
 * The unit at the end of a description, such as `m/s` in "Maximum speed, m/s."
 * @param {string} key
 * @param {string} text
 */
function unitOf(key, text) {
  for (const [pattern, unit] of UNITS) if (/** @type {RegExp} */ (pattern).test(key)) return String(unit);
  const found = /,\s*(m|s|rad|Hz|m\/s|rad\/s|m\/s\^2|rad\/s\^2|V|A|°C|%|ms)\s*(;|\.|$)/.exec(text);
  return found?.[1] ?? '';
}

/** @param {App} app @returns {import('../app.js').Page} */
export function parametersPage(app) {
  const { bridge } = app;
  /** @type {Parameter[]} */
  let parameters = [];
  /** Lines by owner and name: they stay when parameters are read again, and so does what is being typed there.
   * @type {Map<string, Line>} */
  let lines = new Map();
  let source = PLATFORM;
  let reads = 0;
  const rows = h('tbody');
  const search = h('input', { hint: 'param.search', label: 'param.search', attrs: { type: 'search' } });
  const nodes = h('select', { label: 'param.node' });
  const groups = h('select', { label: 'param.category' });
  const count = h('span', { class: 'hint' });
  search.addEventListener('input', filter);
  groups.addEventListener('change', filter);
  nodes.addEventListener('change', () => {
    source = nodes.value;
    show(source, []);
    void read();
  });
  const saveButton = button('param.save', () => void save(), { icon: 'save' });
  const root = h(
    'div',
    { class: 'page' },
    h(
      'section',
      { class: 'card' },
      h(
        'div',
        { class: 'filters' },
        nodes,
        groups,
        search,
        count,
        h('span', { class: 'grow' }),
        button('param.read', () => void read(), { icon: 'refresh', iconOnly: true }),
        saveButton,
      ),
    ),
    h(
      'section',
      { class: 'card scroll' },
      h(
        'table',
        { class: 'parameters' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { t: 'param.name' }),
            h('th', { t: 'param.value' }),
            h('th', { class: 'hide-narrow', t: 'param.range' }),
          ),
        ),
        rows,
      ),
    ),
  );

  function showNodes() {
    const names = app.graph.parameterNodes();
    const key = `${names.join()} ${app.platform}`;
    if (nodes.dataset.key === key) return;
    nodes.dataset.key = key;
    nodes.replaceChildren(
      h('option', { t: 'param.platform', attrs: { value: PLATFORM, selected: source === PLATFORM } }),
      ...names.map((name) => h('option', { attrs: { value: name, selected: name === source } }, name)),
    );
  }

  async function read() {
    reads += 1;
    const mine = reads;
    const owner = source === PLATFORM ? app.platform : source;
    try {
      const found = source === PLATFORM ? await readPlatform() : await readNode(source);
      if (mine === reads) show(owner, found);
    } catch (error) {
      if (bridge.isOpen && mine === reads) app.fail(error);
    }
  }

  /** @param {string} owner The platform's namespace, or the node's name. @param {Parameter[]} found */
  function show(owner, found) {
    parameters = found;
    const kinds = [...new Set(parameters.map((one) => one.group))].filter(Boolean);
    const group = groups.value;
    groups.hidden = kinds.length < 2;
    groups.replaceChildren(
      h('option', { t: 'param.all', attrs: { value: '' } }),
      ...kinds.map((one) =>
        h('option', { t: /** @type {Key} */ (one), attrs: { value: one, selected: one === group } }),
      ),
    );
    const before = lines;
    lines = new Map();
    for (const parameter of parameters) {
      const key = `${owner} ${parameter.key} ${parameter.kind} ${parameter.isReadOnly}`;
      const one = before.get(key) ?? line(owner, parameter);
      one.show(parameter);
      lines.set(key, one);
    }
    const roots = [...lines.values()].map((one) => one.root);
    // A line that is put in again loses the keyboard.
    if (roots.length !== rows.children.length || roots.some((root, at) => root !== rows.children[at])) {
      rows.replaceChildren(...roots);
    }
    filter();
  }

  /** @returns {Promise<Parameter[]>} */
  async function readPlatform() {
    const answer = await bridge.request(`${app.platform}/get_pltf_param_vec`);
    const texts = await descriptions(answer.parameters.map((/** @type {any} */ one) => one.key));
    return answer.parameters
      .map((/** @type {any} */ one) => ({
        key: one.key,
        value: one.value,
        kind: /** @type {const} */ (['boolean', 'integer', 'number'])[one.type] ?? 'text',
        group: CATEGORIES[one.category] ?? '',
        text: texts.get(one.key) ?? '',
        range: one.type === 0 ? '' : `${one.minimum} … ${one.maximum}`,
        isReadOnly: false,
        type: 0,
      }))
      .sort((/** @type {Parameter} */ a, /** @type {Parameter} */ b) =>
        order(a).localeCompare(order(b), 'en', { numeric: true }),
      );
  }

  /** Descriptions by name, from the platform's node. @param {string[]} names @returns {Promise<Map<string, string>>} */
  async function descriptions(names) {
    const node = app.graph.parameterNodes().find((one) => one === `${app.platform}/platform`);
    if (!node) return new Map();
    try {
      const { descriptors } = await bridge.call(`${node}/describe_parameters`, { names });
      return new Map(descriptors.map((/** @type {any} */ one) => [one.name, one.description]));
    } catch {
      return new Map();
    }
  }

  /** @param {string} node @returns {Promise<Parameter[]>} */
  async function readNode(node) {
    const { result } = await bridge.call(`${node}/list_parameters`, { prefixes: [], depth: 0 });
    const names = /** @type {string[]} */ (result.names).filter((one) => !one.startsWith('qos_overrides.')).sort();
    const [{ descriptors }, { values }] = await Promise.all([
      bridge.call(`${node}/describe_parameters`, { names }),
      bridge.call(`${node}/get_parameters`, { names }),
    ]);
    return names.map((key, at) => {
      const {
        type,
        description,
        read_only: isReadOnly,
        floating_point_range: floats,
        integer_range: integers,
      } = descriptors[at];
      const limits = floats?.[0] ?? integers?.[0];
      const value = values[at][FIELDS[values[at].type] ?? ''];
      /** @type {Parameter} */
      const parameter = {
        key,
        value:
          Array.isArray(value) || ArrayBuffer.isView(value)
            ? JSON.stringify(Array.from(/** @type {any} */ (value)))
            : String(value ?? ''),
        kind:
          type === TYPES.BOOL
            ? 'boolean'
            : type === TYPES.INTEGER
              ? 'integer'
              : type === TYPES.DOUBLE
                ? 'number'
                : 'text',
        group: '',
        text: description,
        range: limits ? `${limits.from_value} … ${limits.to_value}` : (descriptors[at].additional_constraints ?? ''),
        isReadOnly: Boolean(isReadOnly),
        type: values[at].type,
      };
      return parameter;
    });
  }

  /** @param {string} owner @param {Parameter} first @returns {Line} */
  function line(owner, first) {
    let parameter = first;
    const cell = h('td');
    const text = h('div', { class: 'parameter-text' });
    const range = h('td', { class: 'hide-narrow hint' });
    const unit = h('span', { class: 'hint' });
    const root = h(
      'tr',
      { attrs: { 'data-key': first.key } },
      h('td', {}, h('div', { class: 'mono' }, first.key), text),
      cell,
      range,
    );
    const show = fill();
    return {
      root,
      show(found) {
        parameter = found;
        put(text, found.text);
        put(range, found.range);
        put(unit, unitOf(found.key, found.text));
        show();
      },
    };

    /** Fills the cell, and returns what shows the value there. */
    function fill() {
      if (first.isReadOnly) {
        const value = h('span', { class: 'mono' });
        cell.append(value, ' ', unit);
        return () => put(value, parameter.value);
      }
      const isBoolean = first.kind === 'boolean';
      const isNumber = first.kind !== 'text';
      const input = h('input', {
        class: isBoolean ? '' : 'value-input',
        attrs: {
          type: isBoolean ? 'checkbox' : isNumber ? 'number' : 'text',
          step: first.kind === 'integer' ? 1 : 'any',
          'aria-label': first.key,
        },
      });
      let isTyped = false;
      const shown = () => {
        if (isTyped) return;
        if (isBoolean) input.checked = parameter.value === 'true';
        else input.value = parameter.value;
      };
      const commit = async () => {
        const value = isBoolean ? String(input.checked) : input.value;
        if (value !== parameter.value && (await set(owner, parameter, value))) {
          parameter.value = value;
          cell.classList.add('changed');
        }
        // Not what was typed since.
        if (value === (isBoolean ? String(input.checked) : input.value)) isTyped = false;
        shown();
      };
      input.addEventListener('input', () => (isTyped = true));
      input.addEventListener('change', () => void commit());
      cell.append(h('span', { class: 'row tight' }, input, unit));
      return shown;
    }
  }

  /** Sets a value; whether it was taken. @param {string} owner @param {Parameter} parameter @param {string} value */
  async function set(owner, parameter, value) {
    try {
      if (parameter.type === 0) {
        await bridge.request(`${owner}/set_pltf_param`, { key: parameter.key, value });
      } else {
        const { results } = await bridge.call(`${owner}/set_parameters`, {
          parameters: [{ name: parameter.key, value: rosValue(parameter.type, value) }],
        });
        if (!results[0].successful) throw new Error(results[0].reason || 'refused');
      }
    } catch (error) {
      app.fail(error);
      return false;
    }
    app.toast('info', t('param.set', { key: parameter.key, value }));
    return true;
  }

  function filter() {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    parameters.forEach((parameter, at) => {
      const matches = `${parameter.key} ${parameter.text}`.toLowerCase().includes(wanted);
      const isShown = matches && (!groups.value || groups.value === parameter.group);
      /** @type {HTMLElement} */ (rows.children[at]).hidden = !isShown;
      if (isShown) shown += 1;
    });
    put(count, t('param.count', { count: shown }));
    saveButton.hidden = source !== PLATFORM;
  }

  /** Saves what the platform has now: another program may have set something since the page was read. */
  async function save() {
    /** @type {Map<string, string[]>} */
    const sections = new Map();
    /** @type {Parameter[]} */
    let current;
    try {
      current = await readPlatform();
    } catch (error) {
      app.fail(error);
      return;
    }
    for (const parameter of current) {
      const section = parameter.group ? english(/** @type {Key} */ (parameter.group)) : 'Parameters';
      sections.set(section, [...(sections.get(section) ?? []), `${parameter.key} = ${parameter.value}`]);
    }
    const text = [...sections].map(([section, lines]) => `[${section}]\n${lines.join('\n')}\n`).join('\n');
    download('platform.ini', `# Parameters of the platform ${app.platform}.\n\n${text}`, 'text/plain');
  }

  onLanguage(filter);
  const enter = () => {
    showNodes();
    if (bridge.isOpen) void read();
    const opened = () => bridge.isOpen && void read();
    bridge.addEventListener('state', opened);
    app.graph.addEventListener('read', showNodes);
    return () => {
      bridge.removeEventListener('state', opened);
      app.graph.removeEventListener('read', showNodes);
    };
  };
  return { root, enter };
}

/** By category, then by name. @param {Parameter} parameter */
const order = (parameter) => `${CATEGORIES.indexOf(/** @type {Key} */ (parameter.group)) + 10} ${parameter.key}`;

/** Names of sections in files are always English. @param {Key} key */
const english = (key) => TEXTS[key][0];

/** @param {number} type @param {string} value */
function rosValue(type, value) {
  const parse = () => JSON.parse(value);
  /** @type {Record<number, () => any>} */
  const values = {
    [TYPES.BOOL]: () => value === 'true',
    [TYPES.INTEGER]: () => Number(value),
    [TYPES.DOUBLE]: () => Number(value),
    [TYPES.STRING]: () => value,
    [TYPES.BOOLS]: parse,
    [TYPES.INTEGERS]: parse,
    [TYPES.DOUBLES]: parse,
    [TYPES.STRINGS]: parse,
  };
  return { type, [FIELDS[type]]: values[type]?.() };
}
