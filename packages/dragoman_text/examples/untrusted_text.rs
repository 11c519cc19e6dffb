//! Names and messages from clients, as text that is safe to show.
//!
//!     cargo run -p dragoman_text --example untrusted_text

use dragoman_text::{excerpt, hint, line, number};

fn main() {
    // A line break would look like another entry of a log; an escape sequence would clear the terminal.
    println!("the client says: {}", line("hello\n2026-01-01 ERROR forged\u{1b}[2J"));
    println!(
        "{} does not exist{}",
        excerpt("Piooneer"),
        hint("Piooneer", ["Pioneer3AT", "Puma560", "pioneer"])
    );
    println!("its speed is {} m/s", number(1e300));
}
