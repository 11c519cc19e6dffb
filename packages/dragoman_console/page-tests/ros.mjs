/** A minimal rosbridge client for the tests, independent of the page's own. */

import WebSocket from 'ws';

/** @param {string} url Address of the console. */
export async function connect(url) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/rosbridge`);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  let next = 1;
  const calls = new Map();
  const topics = new Map();
  socket.on('message', (data) => {
    const operation = JSON.parse(String(data));
    if (operation.op === 'service_response') calls.get(operation.id)?.(operation);
    if (operation.op === 'publish') topics.get(operation.topic)?.(operation.msg);
  });
  return {
    call: (service, args = {}) =>
      new Promise((resolve, reject) => {
        const id = `test:${next++}`;
        const timer = setTimeout(() => reject(new Error(`${service}: no answer`)), 8000);
        calls.set(id, ({ values, result }) => {
          clearTimeout(timer);
          calls.delete(id);
          if (result) resolve(values);
          else reject(new Error(`${service}: ${JSON.stringify(values)}`));
        });
        socket.send(JSON.stringify({ op: 'call_service', id, service, args }));
      }),
    subscribe: (topic, type, receive) => {
      topics.set(topic, receive);
      socket.send(JSON.stringify({ op: 'subscribe', topic, type }));
    },
    /** The next message of a topic that `accept` takes. */
    next: (topic, type, accept = (_message) => true) =>
      new Promise((resolve) => {
        topics.set(topic, (message) => accept(message) && resolve(message));
        socket.send(JSON.stringify({ op: 'subscribe', topic, type }));
      }),
    unsubscribe: (topic) => {
      topics.delete(topic);
      socket.send(JSON.stringify({ op: 'unsubscribe', topic }));
    },
    publish: (topic, type, msg) => socket.send(JSON.stringify({ op: 'publish', topic, type, msg })),
    unadvertise: (topic) => socket.send(JSON.stringify({ op: 'unadvertise', topic })),
    close: () => socket.close(),
  };
}
