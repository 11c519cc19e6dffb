//! A servo's firmware.

use dragoman_arm::dynamixel::widowx::Joint as Design;
use dragoman_arm::dynamixel::wire::table::{self, REGISTERS, Register, TABLE_LENGTH, to_signed};
use dragoman_arm::dynamixel::wire::{DecodeError, ErrorFlags, Instruction, Model, Status, SyncWrite};

use super::joint::{Drive, Joint, position_ticks};

/// Speed of a servo without a commanded speed, of 1023.
const FREE_SPEED: u16 = 1023;
/// Fraction of the maximum torque from which a motor that does not move is overloaded; below it may push forever.
const OVERLOAD_SHARE: f64 = 0.6;
/// Duration until an overload shuts the motor down, ms.
const OVERLOAD_TICKS: u32 = 2000;
/// Torque limit of the gripper, of 1023: enough to hold, too little to overload the servo.
const GRIPPER_TORQUE: u16 = 400;
/// Supply voltage, 0.1 V.
const DECIVOLTS: u16 = 120;

#[derive(Debug, Clone)]
pub(super) struct Servo {
    model: Model,
    table: [u8; TABLE_LENGTH],
    /// Registered write, for the action instruction.
    registered: Option<(u8, Vec<u8>)>,
    /// Overload and overheating, while they last.
    conditions: ErrorFlags,
    /// Duration of the current overload, ms.
    overloaded: u32,
    /// It neither receives nor answers before this tick.
    pub(super) silent_until: u64,
}

impl Servo {
    /// A servo that was just powered up.
    pub(super) fn new(design: &Design, joint: &Joint) -> Self {
        let mut servo = Self {
            model: design.model,
            table: [0; TABLE_LENGTH],
            registered: None,
            conditions: ErrorFlags::empty(),
            overloaded: 0,
            silent_until: 0,
        };
        let is_gripper = design.limits[0] == 0.0;
        let max_torque = if is_gripper { GRIPPER_TORQUE } else { 1023 };
        let hottest = if design.model == Model::Ax12 { 70 } else { 80 };
        let shutdown = (ErrorFlags::OVERHEATING | ErrorFlags::OVERLOAD).bits();
        for (register, value) in [
            (table::MODEL_NUMBER, design.model.number()),
            (table::FIRMWARE_VERSION, 36),
            (table::ID, u16::from(design.id)),
            (table::BAUD_RATE, 1),
            (table::CCW_ANGLE_LIMIT, design.model.max_position_ticks()),
            (table::TEMPERATURE_LIMIT, hottest),
            (table::MIN_VOLTAGE, 60),
            (table::MAX_VOLTAGE, 160),
            (table::MAX_TORQUE, max_torque),
            (table::STATUS_RETURN_LEVEL, 2),
            (table::ALARM_LED, u16::from(shutdown)),
            (table::ALARM_SHUTDOWN, u16::from(shutdown)),
            (table::GOAL_POSITION, position_ticks(joint)),
            (table::TORQUE_LIMIT, max_torque),
            (table::PUNCH, 32),
        ] {
            servo.put(register, value);
        }
        servo.measure(joint);
        servo
    }

    /// Holds this position.
    pub(super) fn hold(&mut self, ticks: u16) {
        self.put(table::GOAL_POSITION, ticks);
        self.put(table::TORQUE_ENABLE, 1);
    }

    pub(super) fn id(&self) -> u8 {
        self.get(table::ID) as u8
    }

    pub(super) fn has_torque(&self) -> bool {
        self.get(table::TORQUE_ENABLE) != 0 && self.get(table::TORQUE_LIMIT) != 0
    }

    pub(super) fn goal_ticks(&self) -> u16 {
        self.get(table::GOAL_POSITION)
    }

    /// The command to the motor; `None`: no torque.
    pub(super) fn drive(&self, joint: &Joint) -> Option<Drive> {
        let speed = match self.get(table::MOVING_SPEED) {
            0 => FREE_SPEED,
            speed => speed,
        };
        self.has_torque().then(|| Drive {
            goal: joint.position_of(self.goal_ticks()),
            speed: f64::from(speed) * self.model.speed_unit(),
            torque: f64::from(self.get(table::TORQUE_LIMIT)) / 1023.0 * self.model.stall_torque(),
        })
    }

    /// Monitors the motor; returns the reason if it was shut down.
    pub(super) fn supervise(&mut self, joint: &Joint) -> Option<ErrorFlags> {
        let is_stuck = self.drive(joint).is_some_and(|drive| {
            let error = drive.goal - joint.position;
            joint.torque.abs() >= OVERLOAD_SHARE * joint.model.stall_torque()
                && error.abs() > 4.0 * self.model.radians_per_tick()
                && joint.velocity * error.signum() < 0.5 * drive.speed.min(0.1)
        });
        self.overloaded = if is_stuck { self.overloaded + 1 } else { 0 };
        if self.overloaded >= OVERLOAD_TICKS {
            self.overloaded = 0;
            self.conditions |= ErrorFlags::OVERLOAD;
        }
        let is_hot = joint.celsius >= f64::from(self.get(table::TEMPERATURE_LIMIT));
        self.conditions.set(ErrorFlags::OVERHEATING, is_hot);
        let shutdown = ErrorFlags::from_bits_truncate(self.get(table::ALARM_SHUTDOWN) as u8);
        let reasons = self.conditions & shutdown;
        if reasons.is_empty() || !self.has_torque() {
            return None;
        }
        self.put(table::TORQUE_LIMIT, 0);
        Some(reasons)
    }

    /// Updates the measurements in the table.
    pub(super) fn measure(&mut self, joint: &Joint) {
        let speed = joint.as_joint(joint.velocity) / self.model.speed_unit();
        let load = joint.as_joint(joint.torque) / self.model.stall_torque() * 1023.0;
        let goal = joint.position_of(self.goal_ticks());
        let is_moving =
            self.has_torque() && (goal - joint.position).abs() > 2.0 * self.model.radians_per_tick();
        for (register, value) in [
            (table::PRESENT_POSITION, position_ticks(joint)),
            (table::PRESENT_SPEED, to_signed(speed.round() as i16)),
            (table::PRESENT_LOAD, to_signed(load.round() as i16)),
            (table::PRESENT_VOLTAGE, DECIVOLTS),
            (table::PRESENT_TEMPERATURE, joint.celsius.round() as u16),
            (table::MOVING, u16::from(is_moving)),
            (table::REGISTERED, u16::from(self.registered.is_some())),
        ] {
            self.put(register, value);
        }
    }

    /// Executes an instruction; returns its answer, if any.
    pub(super) fn execute(&mut self, instruction: &Result<Instruction<'_>, DecodeError>) -> Option<Vec<u8>> {
        let level = self.get(table::STATUS_RETURN_LEVEL);
        let mut read = Vec::new();
        let (errors, answers_from) = match instruction {
            Ok(Instruction::Ping) => (ErrorFlags::empty(), 0),
            Ok(Instruction::Read { address, length }) => {
                let begin = usize::from(*address);
                let bytes = self.table.get(begin..begin + usize::from(*length));
                read.extend_from_slice(bytes.unwrap_or_default());
                (if bytes.is_some() { ErrorFlags::empty() } else { ErrorFlags::RANGE }, 1)
            }
            Ok(Instruction::Write { address, data }) => (self.write(*address, data), 2),
            Ok(Instruction::RegWrite { address, data }) => {
                let errors = self.check(*address, data).map_or_else(|errors| errors, |_| ErrorFlags::empty());
                if errors.is_empty() {
                    self.registered = Some((*address, data.to_vec()));
                }
                (errors, 2)
            }
            Ok(Instruction::Action) => match self.registered.take() {
                Some((address, data)) => (self.write(address, &data), 2),
                None => (ErrorFlags::INSTRUCTION, 2),
            },
            Ok(Instruction::SyncWrite(_)) | Err(_) => (ErrorFlags::INSTRUCTION, 2),
        };
        if level < answers_from {
            return None;
        }
        let status = Status { id: self.id(), errors: errors | self.conditions, parameters: &read };
        let mut answer = Vec::new();
        status.encode(&mut answer).ok().map(|()| answer)
    }

    /// Executes its part of a synchronous write.
    pub(super) fn sync_write(&mut self, write: &SyncWrite<'_>) {
        let own = write.entries().find(|(id, _)| *id == self.id());
        if let Some((_, data)) = own {
            self.write(write.address, data);
        }
    }

    fn write(&mut self, address: u8, data: &[u8]) -> ErrorFlags {
        let values = match self.check(address, data) {
            Ok(values) => values,
            Err(errors) => return errors,
        };
        for (register, value) in values {
            self.put(register, value);
            if register == table::GOAL_POSITION {
                // A goal switches the torque on.
                self.put(table::TORQUE_ENABLE, 1);
            }
            if register == table::TORQUE_LIMIT || register == table::TORQUE_ENABLE {
                self.conditions.remove(ErrorFlags::OVERLOAD);
            }
        }
        ErrorFlags::empty()
    }

    /// The written registers with their values. Error: the reason to refuse all of them.
    fn check(&self, address: u8, data: &[u8]) -> Result<Vec<(Register, u16)>, ErrorFlags> {
        let end = usize::from(address) + data.len();
        if end > TABLE_LENGTH {
            return Err(ErrorFlags::RANGE);
        }
        let mut values = Vec::new();
        for register in REGISTERS {
            let begin = usize::from(register.address);
            let range = begin..begin + usize::from(register.size);
            if range.end <= usize::from(address) || range.start >= end {
                continue;
            }
            // Half of a 16 bit value is refused.
            let bytes = begin.checked_sub(usize::from(address)).and_then(|at| data.get(at..at + range.len()));
            let value = match bytes {
                Some(&[low]) => u16::from(low),
                Some(&[low, high]) => u16::from_le_bytes([low, high]),
                _ => return Err(ErrorFlags::RANGE),
            };
            let is_locked = register.is_permanent() && (self.has_torque() || self.get(table::LOCK) != 0);
            if is_locked || register.max.is_none_or(|max| value > max) {
                return Err(ErrorFlags::RANGE);
            }
            let limits = self.get(table::CW_ANGLE_LIMIT)..=self.get(table::CCW_ANGLE_LIMIT);
            if register == table::GOAL_POSITION && !limits.contains(&value) {
                return Err(ErrorFlags::ANGLE_LIMIT);
            }
            values.push((register, value));
        }
        Ok(values)
    }

    fn get(&self, register: Register) -> u16 {
        let byte = |at: u8| self.table.get(usize::from(at)).copied().unwrap_or_default();
        match register.size {
            1 => byte(register.address).into(),
            _ => u16::from_le_bytes([byte(register.address), byte(register.address + 1)]),
        }
    }

    fn put(&mut self, register: Register, value: u16) {
        let bytes = self.table.iter_mut().skip(register.address.into()).take(register.size.into());
        bytes.zip(value.to_le_bytes()).for_each(|(byte, value)| *byte = value);
    }
}
