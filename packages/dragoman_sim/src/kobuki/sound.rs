//! The loudspeaker.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_base::kobuki::wire::SoundSequence;

/// A note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Note {
    /// Hz; 0 is silence.
    pub frequency: f64,
    /// How long it lasts.
    pub duration: Duration,
}

/// Notes that can wait to be played; what comes then is not played.
const MAX_WAITING: usize = 64;

/// The notes of a melody: frequency in Hz and duration in ms. The makers tell what the melodies are for, not how they sound.
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

/// Notes one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Player {
    waiting: VecDeque<Note>,
    /// The note that sounds, and when it ends.
    sounding: Option<(Note, Duration)>,
}

impl Player {
    /// Puts a note behind those that wait.
    pub(super) fn note(&mut self, note: Note) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(note);
        }
    }

    /// Plays a melody at once, instead of what was playing.
    pub(super) fn sequence(&mut self, sequence: SoundSequence) {
        *self = Self::default();
        for (frequency, milliseconds) in notes(sequence) {
            let duration = Duration::from_millis((*milliseconds).into());
            self.note(Note { frequency: f64::from(*frequency), duration });
        }
    }

    /// Brings it up to `now`.
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
