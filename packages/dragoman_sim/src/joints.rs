//! An arm whose joints follow position commands at limited rates (the thesis' `SimArm_nAxes`, seed 001, appendix C).

use dragoman_arm::drives::{DriveError, JointDrives, TEMPERATURE_ABSENT, check_joint_values};

/// The longest step that is simulated at once, in seconds; a suspended process must not make the arm leap.
const MAX_TIME_STEP: f64 = 0.1;

/// Joints that approach the commanded positions, each no faster than its rate. They start enabled.
#[derive(Clone, Debug)]
pub struct RateLimitedJoints {
    max_rate: Vec<f64>,
    position: Vec<f64>,
    velocity: Vec<f64>,
    command: Vec<f64>,
    temperature: Vec<f64>,
    enabled: bool,
    last_update: Option<f64>,
}

impl RateLimitedJoints {
    /// Joints at `home` (rad or m) that move at most at `max_rate` (rad/s or m/s, positive).
    ///
    /// # Errors
    /// The two have different lengths, or hold values that make no sense.
    pub fn new(home: &[f64], max_rate: &[f64]) -> Result<Self, DriveError> {
        check_joint_values(home, max_rate.len())?;
        check_joint_values(max_rate, home.len())?;
        if let Some(joint) = max_rate.iter().position(|rate| *rate <= 0.0) {
            return Err(DriveError::Fault(format!("the rate of joint {joint} must be positive")));
        }
        Ok(Self {
            max_rate: max_rate.to_vec(),
            position: home.to_vec(),
            velocity: vec![0.0; home.len()],
            command: home.to_vec(),
            temperature: vec![TEMPERATURE_ABSENT; home.len()],
            enabled: true,
            last_update: None,
        })
    }
}

impl JointDrives for RateLimitedJoints {
    fn update(&mut self, now: f64) -> Result<(), DriveError> {
        let elapsed = now - self.last_update.unwrap_or(now);
        self.last_update = Some(now);
        if elapsed <= 0.0 {
            return Ok(());
        }
        let step = elapsed.min(MAX_TIME_STEP);
        let joints = self.position.iter_mut().zip(&mut self.velocity).zip(&self.command).zip(&self.max_rate);
        for (((position, velocity), command), rate) in joints {
            let reach = if self.enabled { rate * step } else { 0.0 };
            let advance = (command - *position).clamp(-reach, reach);
            *position += advance;
            *velocity = advance / step;
        }
        Ok(())
    }

    fn command(&mut self, position: &[f64]) -> Result<(), DriveError> {
        if !self.enabled {
            return Err(DriveError::Disabled);
        }
        check_joint_values(position, self.position.len())?;
        self.command.copy_from_slice(position);
        Ok(())
    }

    fn enable(&mut self) -> Result<(), DriveError> {
        if !self.enabled {
            self.command.clone_from(&self.position);
            self.enabled = true;
        }
        Ok(())
    }

    fn disable(&mut self) -> Result<(), DriveError> {
        self.enabled = false;
        self.command.clone_from(&self.position);
        Ok(())
    }

    fn recalibrate(&mut self, position: &[f64]) -> Result<(), DriveError> {
        check_joint_values(position, self.position.len())?;
        self.position.copy_from_slice(position);
        self.command.copy_from_slice(position);
        Ok(())
    }

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn position(&self) -> &[f64] {
        &self.position
    }

    fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    fn commanded(&self) -> &[f64] {
        &self.command
    }

    fn temperature(&self) -> &[f64] {
        &self.temperature
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joints() -> RateLimitedJoints {
        RateLimitedJoints::new(&[0.0, 1.0], &[0.5, 0.1]).unwrap()
    }

    #[test]
    fn joints_approach_at_their_rates_and_arrive_exactly() {
        let mut joints = joints();
        joints.command(&[0.1, 0.9]).unwrap();
        joints.update(0.0).unwrap();
        joints.update(0.1).unwrap();
        assert!((joints.position()[0] - 0.05).abs() < 1e-12 && (joints.position()[1] - 0.99).abs() < 1e-12);
        assert!((joints.velocity()[0] - 0.5).abs() < 1e-12);
        for step in 2..30 {
            joints.update(0.1 * f64::from(step)).unwrap();
        }
        assert_eq!((joints.position(), joints.velocity()), ([0.1, 0.9].as_slice(), [0.0, 0.0].as_slice()));
    }

    #[test]
    fn a_disabled_arm_stays_and_forgets_where_it_was_going() {
        let mut joints = joints();
        joints.command(&[1.0, 1.0]).unwrap();
        joints.update(0.0).unwrap();
        joints.update(0.1).unwrap();
        joints.disable().unwrap();
        assert_eq!(joints.command(&[1.0, 1.0]), Err(DriveError::Disabled));
        joints.update(0.2).unwrap();
        joints.enable().unwrap();
        joints.update(0.3).unwrap();
        assert!((joints.position()[0] - 0.05).abs() < 1e-12);
    }

    #[test]
    fn recalibration_moves_nothing() {
        let mut joints = joints();
        joints.recalibrate(&[0.3, 0.4]).unwrap();
        joints.update(0.0).unwrap();
        joints.update(0.1).unwrap();
        assert_eq!((joints.position(), joints.velocity()), ([0.3, 0.4].as_slice(), [0.0, 0.0].as_slice()));
    }

    proptest! {
        #[test]
        fn nothing_makes_a_joint_faster_than_its_rate(
            commands in prop::collection::vec((any::<f64>(), any::<f64>(), -1.0..10.0_f64), 1..50)
        ) {
            let mut joints = joints();
            let mut now = 0.0;
            for (first, second, elapsed) in commands {
                let _ = joints.command(&[first, second]);
                let before = joints.position().to_vec();
                now += elapsed;
                joints.update(now).unwrap();
                for ((before, after), rate) in before.iter().zip(joints.position()).zip([0.5, 0.1]) {
                    prop_assert!((after - before).abs() <= rate * MAX_TIME_STEP * 1.000_001, "{before} {after}");
                }
            }
        }
    }
}
