//! The terminal: raw mode and the alternate screen, left in every case.

use std::io::{self, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags};
use crossterm::{cursor, execute, terminal};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

/// The terminal while the station has it; restored when dropped, and before the message of a panic.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    reports_release: bool,
    /// Nothing may be drawn any more.
    left: Arc<AtomicBool>,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        // Dropping it restores the terminal, also after an error below.
        let mut screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(io::stdout()))?,
            reports_release: false,
            left: Arc::default(),
        };
        terminal::enable_raw_mode()?;
        execute!(io::stdout(), terminal::EnterAlternateScreen)?;
        // Few terminals report that a key is released; it ends a twist at once.
        screen.reports_release = terminal::supports_keyboard_enhancement().unwrap_or(false);
        if screen.reports_release {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES;
            execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
        }
        let (left, reports_release) = (Arc::clone(&screen.left), screen.reports_release);
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave(&left, reports_release);
            report(panic);
        }));
        Ok(screen)
    }

    /// Whether the terminal reports that a key is released.
    pub(super) fn reports_release(&self) -> bool {
        self.reports_release
    }

    /// Draws a page. Takes the terminal's present size.
    pub(super) fn draw(&mut self, page: impl FnOnce(&mut Frame)) -> io::Result<()> {
        if !self.left.load(Ordering::Relaxed) {
            self.terminal.draw(page)?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave(&self.left, self.reports_release);
    }
}

/// Restores the terminal, once. A closed terminal needs no handling.
fn leave(left: &AtomicBool, reports_release: bool) {
    if left.swap(true, Ordering::Relaxed) {
        return;
    }
    if reports_release {
        let _ = execute!(io::stdout(), PopKeyboardEnhancementFlags);
    }
    let _ = execute!(io::stdout(), terminal::LeaveAlternateScreen, cursor::Show);
    let _ = terminal::disable_raw_mode();
}
