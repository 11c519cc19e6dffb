//! The arm in the room, and what its gripper holds.
