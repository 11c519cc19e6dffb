//! The `dragoman` command: see `lib.rs`.

fn main() -> std::process::ExitCode {
    dragoman_bringup::main()
}
