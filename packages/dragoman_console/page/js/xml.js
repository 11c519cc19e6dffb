/** Reading and writing of XML documents, so that what an editor does not know stays as it was. */

/** An XML document that cannot be read. */
export class DocumentError extends Error {}

/**
 * @param {string} text @param {string} root Name of the root element.
 * @returns {XMLDocument}
 */
export function parseXml(text, root) {
  // Browsers show a fault by an element with a style, which the page's security policy would report.
  if (!text.trimStart().startsWith('<')) throw new DocumentError('not XML');
  let document;
  try {
    document = new DOMParser().parseFromString(text.replace(/^\uFEFF/, '').trimStart(), 'text/xml');
  } catch (error) {
    throw new DocumentError(error instanceof Error ? error.message : String(error));
  }
  const error = document.getElementsByTagName('parsererror')[0];
  if (error) throw new DocumentError((error.textContent ?? 'not XML').replace(/\s+/g, ' ').trim());
  if (document.documentElement?.nodeName !== root) {
    throw new DocumentError(`<${document.documentElement?.nodeName}> instead of <${root}>`);
  }
  return document;
}

/** @param {XMLDocument} document */
export function writeXml(document) {
  // Browsers drop the blank space between comments, the document type and the root: each is on lines of its own.
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  for (let node = document.firstChild; node; node = node.nextSibling) {
    if (node.nodeType !== 3 && node.nodeName !== 'xml') lines.push(new XMLSerializer().serializeToString(node).trim());
  }
  return `${lines.join('\n')}\n`;
}

/** Child elements, all or those with a name. @param {Node} parent @param {string} [name] @returns {Element[]} */
export function elements(parent, name) {
  /** @type {Element[]} */
  const found = [];
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === 1 && (!name || node.nodeName === name)) found.push(/** @type {Element} */ (node));
  }
  return found;
}

/** An attribute as a number; `otherwise` if it is missing or none. @param {Element | undefined} element
 * @param {string} name @param {number} [otherwise] */
export function numberOf(element, name, otherwise = 0) {
  const text = element?.getAttribute(name)?.trim();
  const value = text ? Number(text) : NaN;
  return Number.isFinite(value) ? value : otherwise;
}

/** Writes a number, but leaves the text as it is if it means the same. @param {Element} element @param {string} name
 * @param {number} value @param {number} [digits] */
export function setNumber(element, name, value, digits = 3) {
  const rounded = Number(value.toFixed(digits));
  const text = element.getAttribute(name);
  if (text !== null && text.trim() !== '' && Math.abs(Number(text) - value) < 0.5 * 10 ** -digits) return;
  element.setAttribute(name, String(rounded === 0 ? 0 : rounded));
}

/** Appends an element behind the last one of its kind, on a line of its own, indented as its neighbours.
 * @param {Element} parent @param {Element} child */
export function append(parent, child) {
  const document = /** @type {Document} */ (parent.ownerDocument);
  const present = elements(parent);
  const last = present[present.length - 1];
  if (!last) {
    const before = parent.previousSibling;
    const indent = before?.nodeType === 3 ? (before.nodeValue ?? '').replace(/^.*\n/s, '') : '';
    while (parent.firstChild && parent.firstChild.nodeType === 3) parent.removeChild(parent.firstChild);
    parent.appendChild(document.createTextNode(`\n${indent}  `));
    parent.appendChild(child);
    parent.appendChild(document.createTextNode(`\n${indent}`));
    return;
  }
  const before = last.previousSibling;
  const space = before?.nodeType === 3 ? (before.nodeValue ?? '\n') : '\n';
  const indent = /\n/.test(space) ? `\n${space.replace(/^.*\n/s, '')}` : '\n';
  parent.insertBefore(child, last.nextSibling);
  parent.insertBefore(document.createTextNode(indent), child);
}

/** Removes an element and the blank space before it. @param {Element} element */
export function remove(element) {
  const before = element.previousSibling;
  if (before?.nodeType === 3 && !(before.nodeValue ?? '').trim()) before.parentNode?.removeChild(before);
  element.parentNode?.removeChild(element);
}
