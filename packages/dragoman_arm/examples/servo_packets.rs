//! Reads the position of a Dynamixel servo: the bytes on the line in both directions.
//!
//!     cargo run -p dragoman_arm --example servo_packets

use std::error::Error;

use dragoman_arm::dynamixel::wire::table::{Block, Measurement, Model};
use dragoman_arm::dynamixel::wire::{Decoder, Instruction, Status};

fn main() -> Result<(), Box<dyn Error>> {
    let mut request = Vec::new();
    let (address, length) = (Measurement::ADDRESS, Measurement::LENGTH);
    Instruction::Read { address, length }.encode(&mut request, 2)?;
    println!("to servo 2: {request:02x?}");

    let mut answer = Vec::new();
    Status { id: 2, errors: Default::default(), parameters: &[0x00, 0x09, 0x10, 0x04, 0, 0, 120, 41] }
        .encode(&mut answer)?;
    println!("its answer: {answer:02x?}");

    let mut decoder = Decoder::default();
    let mut bytes = answer.as_slice();
    let status = Status::new(&decoder.next(&mut bytes).ok_or("no packet")?);
    let measured = Measurement::decode(status.parameters).ok_or("the wrong length")?;
    let model = Model::Mx28;
    let position = f64::from(measured.position_ticks) - f64::from(model.middle_ticks());
    println!(
        "{:.3} rad, {:.2} rad/s, {:.1} V, {} degrees Celsius",
        position * model.radians_per_tick(),
        f64::from(measured.speed) * model.speed_unit(),
        f64::from(measured.decivolts) / 10.0,
        measured.celsius
    );
    Ok(())
}
