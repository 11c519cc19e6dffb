//! `dragoman bridge FILE` with the machines of `packages/dragoman_protocol/machines/`, each simulated by its own section `serve`.

mod create2;
mod modbus_gripper;
mod operator;
mod p2os;
