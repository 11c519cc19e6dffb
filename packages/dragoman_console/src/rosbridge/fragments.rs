//! Frames in several parts (rosbridge v2.1, 3.2.1).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::quoted;

/// Most unfinished frames of a client.
const MOST_OPEN: usize = 8;
/// Most parts of a frame.
const MOST_PARTS: usize = 10_000;
/// Most bytes of all unfinished frames.
const MOST_BYTES: usize = 8 << 20;
/// Time for the next part of a frame.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Frames of which parts are missing.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    open: BTreeMap<String, Open>,
    bytes: usize,
}

#[derive(Debug)]
struct Open {
    parts: Vec<Option<String>>,
    missing: usize,
    last: Duration,
}

impl Fragments {
    /// Takes a part; returns the frame that it completes.
    pub(super) fn take(
        &mut self,
        now: Duration,
        id: String,
        number: usize,
        total: usize,
        data: String,
    ) -> Result<Option<String>, String> {
        self.forget(now);
        if total == 0 || total > MOST_PARTS || number >= total {
            return Err(format!("part {number} of {total} is invalid"));
        }
        if !self.open.contains_key(&id) && self.open.len() >= MOST_OPEN {
            return Err(format!("more than {MOST_OPEN} frames are incomplete"));
        }
        if self.bytes + data.len() > MOST_BYTES {
            return Err(format!("incomplete frames of more than {MOST_BYTES} bytes"));
        }
        let open = self.open.entry(id.clone()).or_insert_with(|| Open {
            parts: vec![None; total],
            missing: total,
            last: now,
        });
        if open.parts.len() != total {
            return Err(format!("frame '{id}' has another number of parts"));
        }
        let Some(place) = open.parts.get_mut(number) else { return Ok(None) };
        open.last = now;
        if place.is_none() {
            open.missing -= 1;
        }
        self.bytes += data.len();
        self.bytes -= place.replace(data).map_or(0, |old| old.len());
        if open.missing > 0 {
            return Ok(None);
        }
        let whole: String = self.remove(&id).into_iter().flatten().collect();
        Ok(Some(whole))
    }

    /// Removes frames whose next part is late.
    fn forget(&mut self, now: Duration) {
        let is_late = |open: &Open| now.saturating_sub(open.last) > TIMEOUT;
        let late: Vec<String> =
            self.open.iter().filter(|(_, open)| is_late(open)).map(|(id, _)| id.clone()).collect();
        for id in late {
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) -> Vec<Option<String>> {
        let parts = self.open.remove(id).map(|open| open.parts).unwrap_or_default();
        self.bytes -= parts.iter().flatten().map(String::len).sum::<usize>();
        parts
    }
}

/// The parts of `text`, each with at most `size` bytes of it; the text itself if it is short.
pub(super) fn split(text: &Arc<str>, size: usize, id: &str) -> Vec<Arc<str>> {
    // A character has up to four bytes.
    let size = size.max(4);
    if text.len() <= size {
        return vec![Arc::clone(text)];
    }
    let mut parts = Vec::new();
    let mut rest: &str = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(boundary(rest, size));
        parts.push(part);
        rest = after;
    }
    let (total, id) = (parts.len(), quoted(id));
    let frame = |(number, part): (usize, &&str)| {
        let data = quoted(part);
        format!(r#"{{"op":"fragment","id":{id},"data":{data},"num":{number},"total":{total}}}"#).into()
    };
    parts.iter().enumerate().map(frame).collect()
}

/// The last boundary of characters at or before `index`.
fn boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_split_is_joined() {
        let text: Arc<str> = "{\"a\":\"äöü\",\"b\":[1,2,3]}".into();
        for size in 1..40 {
            let mut fragments = Fragments::default();
            let parts = split(&text, size, "7");
            if parts.len() == 1 {
                assert_eq!(parts[0], text);
                continue;
            }
            let mut whole = None;
            for part in parts.iter().rev() {
                let part: serde_json::Value = serde_json::from_str(part).unwrap();
                let number = |key: &str| usize::try_from(part[key].as_u64().unwrap()).unwrap();
                let data = part["data"].as_str().unwrap().to_owned();
                assert!(data.len() <= size.max(4));
                whole = fragments.take(NOW, "7".into(), number("num"), number("total"), data).unwrap();
            }
            assert_eq!(whole.as_deref(), Some(&*text));
            assert_eq!((fragments.open.len(), fragments.bytes), (0, 0));
        }
    }

    #[test]
    fn incomplete_frames_are_bounded() {
        let mut fragments = Fragments::default();
        assert!(fragments.take(NOW, "a".into(), 2, 2, String::new()).is_err());
        assert!(fragments.take(NOW, "a".into(), 0, MOST_PARTS + 1, String::new()).is_err());
        for id in 0..MOST_OPEN {
            fragments.take(NOW, id.to_string(), 0, 2, "xy".into()).unwrap();
        }
        assert!(fragments.take(NOW, "more".into(), 0, 2, "xy".into()).is_err());
        assert!(fragments.take(NOW, "0".into(), 1, 3, "xy".into()).is_err());
        assert!(fragments.take(NOW, "0".into(), 0, 2, "x".repeat(MOST_BYTES)).is_err());
        // The same part again replaces the first.
        fragments.take(NOW, "0".into(), 0, 2, "xyz".into()).unwrap();
        assert_eq!(fragments.bytes, 2 * MOST_OPEN + 1);
        let later = NOW + TIMEOUT + Duration::from_millis(1);
        fragments.take(later, "more".into(), 0, 2, "xy".into()).unwrap();
        assert_eq!((fragments.open.len(), fragments.bytes), (1, 2));
    }
}
