//! The loudspeaker.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_base::kobuki::wire::SoundSequence;

/// A tone or a pause that the loudspeaker plays.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Note {
    /// Frequency, Hz; 0 is silence.
    pub frequency: f64,
    pub duration: Duration,
}

/// Maximum number of waiting notes; more are not played.
const MAX_WAITING: usize = 64;

/// The notes of a melody: frequency in Hz and duration in ms. The manufacturer documents the purpose of the melodies,
/// not their notes.
fn notes(sequence: SoundSequence) -> &'static [(u16, u16)] {
    match sequence {
        SoundSequence::On => &[(523, 100), (659, 100), (784, 200)],
        SoundSequence::Off => &[(784, 100), (659, 100), (523, 200)],
        SoundSequence::Recharge => &[(659, 100), (784, 100)],
        SoundSequence::Button => &[(880, 60)],
        SoundSequence::Error => &[(220, 300), (0, 60), (220, 300)],
        SoundSequence::CleaningStart => &[(523, 100), (784, 100), (523, 100), (784, 200)],
        SoundSequence::CleaningEnd => &[(784, 100), (523, 300)],
    }
}

/// Plays notes one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Player {
    waiting: VecDeque<Note>,
    /// The current note, and when it ends.
    sounding: Option<(Note, Duration)>,
}

impl Player {
    /// Appends a note to the waiting ones.
    pub(super) fn note(&mut self, note: Note) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(note);
        }
    }

    /// Plays a melody at once, instead of the current notes.
    pub(super) fn sequence(&mut self, sequence: SoundSequence) {
        *self = Self::default();
        for (frequency, milliseconds) in notes(sequence) {
            let duration = Duration::from_millis((*milliseconds).into());
            self.note(Note { frequency: f64::from(*frequency), duration });
        }
    }

    /// Advances the player to `now`.
    pub(super) fn step(&mut self, now: Duration) {
        if self.sounding.is_none_or(|(_, end)| now >= end) {
            let note = self.waiting.pop_front();
            self.sounding = note.map(|note| (note, now + note.duration));
        }
    }

    pub(super) fn sounding(&self) -> Option<Note> {
        self.sounding.map(|(note, _)| note)
    }
}
