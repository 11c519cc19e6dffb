/** Names of joints in topics and services. */

const LOOKS_ESCAPED = /^x[0-9a-f]{2}/;

/**
 * A joint's name as a part of a topic or service, as `dragoman_ros::naming::joint_token` writes it: bytes that topics
 * do not allow become `_x` and two hexadecimal digits.
 *
 * @param {string} name
 */
export function jointToken(name) {
  const bytes = [...new TextEncoder().encode(name)];
  const text = String.fromCharCode(...bytes);
  let isEscaped = false;
  const escaped = new Set();
  // From the end: an underscore depends on what follows it.
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const letter = text.charAt(at);
    if (/[a-zA-Z]/.test(letter)) isEscaped = at === 0 && LOOKS_ESCAPED.test(text);
    else if (/[0-9]/.test(letter)) isEscaped = at === 0;
    else if (letter === '_')
      isEscaped = isEscaped || text.charAt(at + 1) === '_' || LOOKS_ESCAPED.test(text.slice(at + 1));
    else isEscaped = true;
    if (isEscaped) escaped.add(at);
  }
  return bytes
    .map((byte, at) =>
      escaped.has(at) ? `${at === 0 ? '' : '_'}x${byte.toString(16).padStart(2, '0')}` : text.charAt(at),
    )
    .join('');
}
