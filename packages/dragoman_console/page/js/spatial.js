/** Rigid motions in space: matrices of 3 rows and 4 columns, row by row, as arrays of 12 numbers. Lengths in m. */

/** @typedef {readonly number[]} Motion */
/** @typedef {readonly [number, number, number]} Vector */
/** @typedef {{ x: number, y: number, z: number, w: number }} Quaternion */

/** @type {Motion} */
export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];

/** @param {Motion} a @param {Motion} b @returns {Motion} First `b`, then `a`. */
export function multiply(a, b) {
  const product = [];
  for (const row of [0, 4, 8]) {
    for (const column of [0, 1, 2, 3]) {
      const sum = a[row] * b[column] + a[row + 1] * b[column + 4] + a[row + 2] * b[column + 8];
      product.push(column === 3 ? sum + a[row + 3] : sum);
    }
  }
  return product;
}

/** @param {Motion} m @param {Vector} v @returns {[number, number, number]} */
export const apply = (m, [x, y, z]) => [
  m[0] * x + m[1] * y + m[2] * z + m[3],
  m[4] * x + m[5] * y + m[6] * z + m[7],
  m[8] * x + m[9] * y + m[10] * z + m[11],
];

/** @param {{ x: number, y: number, z: number }} translation @param {Quaternion} q @returns {Motion} */
export function fromQuaternion(translation, q) {
  const size = Math.hypot(q.x, q.y, q.z, q.w) || 1;
  const [x, y, z, w] = [q.x / size, q.y / size, q.z / size, q.w / size];
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - z * w),
    2 * (x * z + y * w),
    translation.x,
    2 * (x * y + z * w),
    1 - 2 * (x * x + z * z),
    2 * (y * z - x * w),
    translation.y,
    2 * (x * z - y * w),
    2 * (y * z + x * w),
    1 - 2 * (x * x + y * y),
    translation.z,
  ];
}

/** Roll, pitch and yaw about the fixed axes x, y, z in this order, rad, as in URDF.
 * @param {Vector} xyz @param {Vector} rpy @returns {Motion} */
export function fromRpy(xyz, [roll, pitch, yaw]) {
  const [cr, sr, cp, sp] = [Math.cos(roll), Math.sin(roll), Math.cos(pitch), Math.sin(pitch)];
  const [cy, sy] = [Math.cos(yaw), Math.sin(yaw)];
  return [
    cy * cp,
    cy * sp * sr - sy * cr,
    cy * sp * cr + sy * sr,
    xyz[0],
    sy * cp,
    sy * sp * sr + cy * cr,
    sy * sp * cr - cy * sr,
    xyz[1],
    -sp,
    cp * sr,
    cp * cr,
    xyz[2],
  ];
}

/** @param {Vector} axis Of any length but 0. @param {number} angle rad @returns {Motion} */
export function rotation([ax, ay, az], angle) {
  const size = Math.hypot(ax, ay, az) || 1;
  const half = Math.sin(angle / 2) / size;
  return fromQuaternion({ x: 0, y: 0, z: 0 }, { x: ax * half, y: ay * half, z: az * half, w: Math.cos(angle / 2) });
}

/** Roll, pitch and yaw of a motion, rad. @param {Motion} m @returns {[number, number, number]} */
export const rpyOf = (m) => [
  Math.atan2(m[9], m[10]),
  Math.atan2(-m[8], Math.hypot(m[0], m[4])),
  Math.atan2(m[4], m[0]),
];

/** @param {any} pose geometry_msgs/Pose @returns {Motion} */
export const ofPose = (pose) => fromQuaternion(pose.position, pose.orientation);
