//! A guidance program like those of Apolo's users.

use nalgebra::{Matrix2, Matrix2x3, Matrix3, Vector2, Vector3};

use crate::common::Lab;
use crate::common::apolo::{TRUE, request};

/// An extended Kalman filter for x, y and heading; it predicts with the odometry and corrects with landmarks.
struct Filter {
    state: Vector3<f64>,
    covariance: Matrix3<f64>,
}

fn wrap(angle: f64) -> f64 {
    angle.sin().atan2(angle.cos())
}

impl Filter {
    fn predict(&mut self, before: &[f64], now: &[f64]) {
        let turn = wrap(now[2] - before[2]);
        let ahead = (now[0] - before[0]) * now[2].cos() + (now[1] - before[1]) * now[2].sin();
        self.state[2] = wrap(self.state[2] + turn);
        let (sin, cos) = self.state[2].sin_cos();
        self.state[0] += ahead * cos;
        self.state[1] += ahead * sin;
        let jacobian = Matrix3::new(1.0, 0.0, -ahead * sin, 0.0, 1.0, ahead * cos, 0.0, 0.0, 1.0);
        let noise = Vector3::new(0.02 * ahead, 0.02 * ahead, 0.02 * turn);
        self.covariance = jacobian * self.covariance * jacobian.transpose()
            + Matrix3::from_diagonal(&noise.component_mul(&noise));
    }

    /// A landmark at a known position, measured by a laser `offset` metres ahead of the robot's centre.
    fn correct(&mut self, mark: [f64; 2], offset: f64, angle: f64, distance: f64) {
        let (sin, cos) = self.state[2].sin_cos();
        let (x, y) = (mark[0] - self.state[0] - offset * cos, mark[1] - self.state[1] - offset * sin);
        let square = x * x + y * y;
        let range = square.sqrt();
        // Derivative of x and y in the laser's frame by the heading.
        let (by_x, by_y) = (offset * sin, -offset * cos);
        let jacobian = Matrix2x3::new(
            -x / range,
            -y / range,
            (x * by_x + y * by_y) / range,
            y / square,
            -x / square,
            (x * by_y - y * by_x) / square - 1.0,
        );
        let off = Vector2::new(distance - range, wrap(angle - (y.atan2(x) - self.state[2])));
        // The noise of the lab's landmarks.
        let noise = Matrix2::new(2e-4, 0.0, 0.0, 3e-4);
        let Some(inverse) = (jacobian * self.covariance * jacobian.transpose() + noise).try_inverse() else {
            return;
        };
        let gain = self.covariance * jacobian.transpose() * inverse;
        self.state += gain * off;
        self.state[2] = wrap(self.state[2]);
        self.covariance = (Matrix3::identity() - gain * jacobian) * self.covariance;
    }
}

#[test]
fn a_thousand_steps_with_a_kalman_filter() {
    let lab = Lab::only("apolo");
    let mut client = lab.apolo();
    // A circle of 2 m radius; another robot is moved away from it.
    assert_eq!(client.ask(&request(b'p', "", &["Pioneer3AT"], &[4.0, 0.5, 0.0, 0.0])), TRUE);
    assert_eq!(client.ask(&request(b'p', "", &["Marvin"], &[0.0, -2.5, 0.0, 0.0])), TRUE);
    client.send(&request(b'R', "", &["Marvin"], &[0.0, -2.5, 0.0]));
    let marks: Vec<[f64; 2]> = (1..=7)
        .map(|id| {
            let place = client.values(b'G', &format!("LM{id}"));
            [place[0], place[1]]
        })
        .collect();
    let (laser, robot) = (client.values(b'G', "LMS100"), client.values(b'g', "Marvin"));
    let offset = (laser[0] - robot[0]).hypot(laser[1] - robot[1]);

    let mut filter = Filter { state: Vector3::new(0.0, -2.5, 0.0), covariance: Matrix3::zeros() };
    let (step, update) = (request(b'm', "", &["Marvin"], &[0.3, 0.15, 0.1]), request(b'U', "", &[], &[]));
    let mut before = client.values(b'o', "Marvin");
    let (mut nearest, mut seen) = (f64::INFINITY, 0);
    for _ in 0..1000 {
        assert_eq!(client.ask(&step), TRUE);
        client.send(&update);
        let odometry = client.values(b'o', "Marvin");
        filter.predict(&before, &odometry);
        nearest = client.values(b'l', "LMS100").into_iter().fold(nearest, f64::min);
        for (id, angle, distance) in client.landmarks("LMS100") {
            filter.correct(marks[usize::from(id) - 1], offset, angle, distance);
            seen += 1;
        }
        before = odometry;
    }
    let truth = client.values(b'g', "Marvin");
    let error = |x: f64, y: f64| (x - truth[0]).hypot(y - truth[1]);
    let (filtered, dead) = (error(filter.state[0], filter.state[1]), error(before[0], before[1]));
    assert!(seen > 1000, "{seen}");
    assert!(nearest > 0.2, "nothing is in the way: {nearest}");
    assert!(filtered < 0.05 && filtered < dead, "{filtered} and {dead}");
    assert!(wrap(filter.state[2] - truth[3]).abs() < 0.02);
}
