/**
 * A client of the rosbridge protocol, version 2, over one WebSocket.
 *
 * It reconnects by itself, and then subscribes and advertises again. Subscriptions to one topic are shared: the server
 * is asked once, for the shortest period that a subscriber requests. Calls have a time limit.
 */

import { decodeCbor } from './cbor.js';

/** A ROS message, in the fields of its type. @typedef {any} Message */
/** @typedef {(message: Message) => void} Receive */
/**
 * @typedef {object} SubscribeOptions
 * @property {number} [throttle] Shortest time between two messages, ms; 0: every message.
 * @property {'none' | 'cbor'} [compression] `cbor` for messages with large arrays of numbers.
 * @property {number} [queue] Messages that the server keeps for a slow page; 1 by default.
 */
/** @typedef {{ receive: Receive, throttle: number }} Subscriber */
/**
 * @typedef {object} Topic
 * @property {string} type
 * @property {Set<Subscriber>} subscribers
 * @property {number} throttle Period that the server was asked for, ms.
 * @property {'none' | 'cbor'} compression
 * @property {number} queue
 * @property {Message} last The last message, for those who subscribe later; undefined before the first of a connection.
 * @property {number} arrived When it arrived, ms; -Infinity before the first.
 */

const RECONNECT_MS = [250, 500, 1000, 2000, 4000];
const CALL_TIMEOUT_MS = 6000;
/** Time by which the page waits longer than the console, which reports why there is no answer, ms. */
const MARGIN_MS = 500;

/** A call that was not answered, or refused. */
export class CallError extends Error {
  /** @param {string} service @param {string} reason */
  constructor(service, reason) {
    super(reason);
    this.name = 'CallError';
    this.service = service;
  }
}

/** Events: `state` when {@link Rosbridge.isOpen} changes, `status` with a message of the server as its detail. */
export class Rosbridge extends EventTarget {
  /** @param {string} url Address of the WebSocket. */
  constructor(url) {
    super();
    this.url = url;
    this.isOpen = false;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Map<string, Topic>} */
    this.topics = new Map();
    /** Type of each advertised topic. @type {Map<string, string>} */
    this.advertised = new Map();
    /** @type {Map<string, { service: string, resolve: (values: Message) => void, reject: (error: Error) => void }>} */
    this.calls = new Map();
    this.nextId = 1;
    this.attempts = 0;
    /** Messages and bytes since the start. */
    this.received = { messages: 0, bytes: 0 };
  }

  connect() {
    const socket = new WebSocket(this.url);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.attempts = 0;
      this.isOpen = true;
      for (const [topic, type] of this.advertised) this.send({ op: 'advertise', topic, type });
      for (const [name, topic] of this.topics) this.sendSubscribe(name, topic);
      this.dispatchEvent(new Event('state'));
    };
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => this.lost(socket);
  }

  /** @param {WebSocket} socket */
  lost(socket) {
    if (socket !== this.socket) return;
    this.socket = null;
    this.isOpen = false;
    for (const topic of this.topics.values()) topic.last = undefined;
    for (const [id, call] of this.calls) {
      this.calls.delete(id);
      call.reject(new CallError(call.service, 'connection lost'));
    }
    this.dispatchEvent(new Event('state'));
    const wait = RECONNECT_MS[Math.min(this.attempts, RECONNECT_MS.length - 1)];
    this.attempts += 1;
    setTimeout(() => this.connect(), wait);
  }

  /** Gives up a connection whose server does not answer any more: the system may take minutes to notice. */
  drop() {
    const { socket } = this;
    if (!socket || !this.isOpen) return;
    socket.close();
    this.lost(socket);
  }

  /** Time since the last message of a topic, ms; Infinity without one. @param {string} topic */
  age(topic) {
    return performance.now() - (this.topics.get(topic)?.arrived ?? -Infinity);
  }

  /** Sends an operation; without a connection it is dropped. @param {object} operation @returns {boolean} */
  send(operation) {
    if (!this.isOpen || !this.socket || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(operation));
    return true;
  }

  /** @param {string | ArrayBuffer} data */
  receive(data) {
    this.received.messages += 1;
    this.received.bytes += typeof data === 'string' ? data.length : data.byteLength;
    /** @type {any} */
    let operation;
    try {
      operation = typeof data === 'string' ? JSON.parse(data) : decodeCbor(data);
    } catch (error) {
      console.warn('rosbridge: unreadable message', error);
      return;
    }
    if (operation.op === 'publish') this.deliver(operation.topic, operation.msg);
    else if (operation.op === 'service_response') this.answer(operation);
    else if (operation.op === 'status') this.dispatchEvent(new CustomEvent('status', { detail: operation }));
  }

  /** @param {string} name @param {Message} message */
  deliver(name, message) {
    const topic = this.topics.get(name);
    if (!topic) return;
    topic.last = message;
    topic.arrived = performance.now();
    for (const subscriber of [...topic.subscribers]) subscriber.receive(message);
  }

  /** @param {{ id: string, values: any, result: boolean }} response */
  answer(response) {
    const call = this.calls.get(response.id);
    if (!call) return;
    this.calls.delete(response.id);
    if (response.result === false) {
      const reason = typeof response.values === 'string' ? response.values : JSON.stringify(response.values);
      call.reject(new CallError(call.service, reason));
    } else {
      call.resolve(response.values ?? {});
    }
  }

  /** @param {string} name @param {Topic} topic */
  sendSubscribe(name, topic) {
    this.send({
      op: 'subscribe',
      id: `subscribe:${name}`,
      topic: name,
      type: topic.type,
      throttle_rate: topic.throttle,
      queue_length: topic.queue,
      compression: topic.compression,
    });
  }

  /**
   * Subscribes to a topic. A second subscriber gets the last message at once.
   *
   * @param {string} name Full name of the topic.
   * @param {string} type For example `std_msgs/msg/Bool`.
   * @param {Receive} receive
   * @param {SubscribeOptions} [options]
   * @returns {() => void} Ends the subscription.
   */
  subscribe(name, type, receive, options = {}) {
    const throttle = options.throttle ?? 0;
    /** @type {Subscriber} */
    const subscriber = { receive, throttle };
    let topic = this.topics.get(name);
    if (!topic) {
      const compression = options.compression ?? 'none';
      const queue = options.queue ?? 1;
      topic = { type, subscribers: new Set(), throttle, compression, queue, last: undefined, arrived: -Infinity };
      this.topics.set(name, topic);
      this.sendSubscribe(name, topic);
    } else if (throttle < topic.throttle) {
      topic.throttle = throttle;
      this.sendSubscribe(name, topic);
    }
    topic.subscribers.add(subscriber);
    if (topic.last !== undefined) {
      const last = topic.last;
      queueMicrotask(() => {
        if (topic.subscribers.has(subscriber)) receive(last);
      });
    }
    return () => {
      topic.subscribers.delete(subscriber);
      if (topic.subscribers.size === 0 && this.topics.get(name) === topic) {
        this.topics.delete(name);
        this.send({ op: 'unsubscribe', id: `subscribe:${name}`, topic: name });
      }
    };
  }

  /** Makes a publisher, so that others can discover it before the first message. @param {string} topic
   * @param {string} type */
  advertise(topic, type) {
    if (this.advertised.has(topic)) return;
    this.advertised.set(topic, type);
    this.send({ op: 'advertise', topic, type });
  }

  /**
   * Publishes a message; the topic is advertised with the first one.
   *
   * @param {string} topic @param {string} type @param {Message} msg
   * @returns {boolean} Whether there was a connection.
   */
  publish(topic, type, msg) {
    this.advertise(topic, type);
    return this.send({ op: 'publish', topic, type, msg });
  }

  /**
   * Calls a service.
   *
   * @param {string} service Full name. @param {object} [args] Fields of the request.
   * @param {{ timeout?: number, type?: string }} [options] Time limit, ms.
   * @returns {Promise<Message>} The fields of the response.
   */
  call(service, args = {}, options = {}) {
    const timeout = options.timeout ?? CALL_TIMEOUT_MS;
    const id = `call:${this.nextId++}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.calls.delete(id);
        reject(new CallError(service, 'no answer'));
      }, timeout + MARGIN_MS);
      this.calls.set(id, {
        service,
        resolve: (values) => {
          clearTimeout(timer);
          resolve(values);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      const operation = { op: 'call_service', id, service, type: options.type, args, timeout: timeout / 1000 };
      if (!this.send(operation)) {
        this.calls.get(id)?.reject(new CallError(service, 'not connected'));
        this.calls.delete(id);
      }
    });
  }

  /**
   * As {@link call}; an answer with `success` false is an error with the reason that the node gives.
   *
   * @param {string} service @param {object} [args] @param {{ timeout?: number, type?: string }} [options]
   * @returns {Promise<Message>}
   */
  async request(service, args = {}, options = {}) {
    const values = await this.call(service, args, options);
    if (values && values.success === false) throw new CallError(service, values.message || 'refused');
    return values;
  }
}
