import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { TEXTS } from '../../page/js/texts.js';

const JS = new URL('../../page/js/', import.meta.url);

test('every text is there in both languages, with the same values', () => {
  for (const [key, texts] of Object.entries(TEXTS)) {
    assert.equal(texts.length, 2, key);
    const values = texts.map((text) => (text.match(/\{\w+\}/g) ?? []).sort().join());
    assert.equal(values[0], values[1], key);
    for (const text of texts) assert.ok(text.trim(), key);
  }
});

test('every text is used, and lines have at most 120 characters', async () => {
  const files = (await readdir(JS, { recursive: true })).filter((name) => name.endsWith('.js'));
  const sources = new Map(
    await Promise.all(files.map(async (name) => [name, await readFile(new URL(name, JS), 'utf8')])),
  );
  const all = [...sources]
    .filter(([name]) => name !== 'texts.js')
    .map(([, text]) => text)
    .join('\n');
  const computed = /^(event|kind|check|lab|planner)\./;
  const unused = Object.keys(TEXTS).filter(
    (key) => !all.includes(`'${key}'`) && !computed.test(key) && !/^tool\./.test(key),
  );
  assert.deepEqual(unused, []);
  const long = [...sources].flatMap(([name, text]) =>
    text.split('\n').flatMap((line, at) => (line.length > 120 ? [`${name}:${at + 1}`] : [])),
  );
  assert.deepEqual(long, []);
});
