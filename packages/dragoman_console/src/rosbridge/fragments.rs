//! Frames in several parts (rosbridge v2.1, 3.2.1).
//!
//! What is incomplete is bounded, for each client and for all of them. Beyond a bound the frame is dropped whose last part
//! is the oldest: of the same client, or of the client that holds most, so that one client cannot drop another's.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::quoted;

/// Maximum number of incomplete frames of a client.
const MAX_OPEN: usize = 8;
/// Maximum number of parts of a frame.
const MAX_PARTS: usize = 10_000;
/// Maximum memory of the incomplete frames of a client, and of all clients, bytes.
const MAX_CLIENT_BYTES: usize = 16 << 20;
const MAX_BYTES: usize = 64 << 20;
/// Time for the next part of a frame.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Memory of a part besides its text, bytes.
const PART_BYTES: usize = size_of::<Option<String>>();

/// The incomplete frames of all clients.
#[derive(Debug, Default)]
pub struct Incomplete {
    clients: Mutex<Clients>,
}

#[derive(Debug, Default)]
struct Clients {
    by_number: BTreeMap<u64, Held>,
    last_number: u64,
}

/// The incomplete frames of a client.
#[derive(Debug, Default)]
struct Held {
    open: BTreeMap<String, Open>,
    /// Memory of `open`.
    bytes: usize,
    dropped: Vec<Dropped>,
}

#[derive(Debug)]
struct Open {
    parts: Vec<Option<String>>,
    missing: usize,
    /// Time of the last new part.
    last: Duration,
}

/// An incomplete frame that was dropped.
#[derive(Debug, PartialEq)]
pub(super) struct Dropped {
    /// The id of its parts.
    pub(super) id: String,
    pub(super) reason: &'static str,
}

/// The part of a client in [`Incomplete`]; its frames are dropped with it.
#[derive(Debug)]
pub(super) struct Fragments {
    all: Arc<Incomplete>,
    number: u64,
}

impl Fragments {
    pub(super) fn new(all: Arc<Incomplete>) -> Self {
        let mut clients = all.clients.lock();
        clients.last_number += 1;
        let number = clients.last_number;
        clients.by_number.insert(number, Held::default());
        drop(clients);
        Self { all, number }
    }

    /// Takes a part; returns the frame that it completes.
    pub(super) fn take(
        &mut self,
        now: Duration,
        id: String,
        number: usize,
        total: usize,
        data: String,
    ) -> Result<Option<String>, String> {
        if total == 0 || total > MAX_PARTS || number >= total {
            return Err(format!("part {number} of {total} is invalid"));
        }
        let mut clients = self.all.clients.lock();
        let held = clients.by_number.entry(self.number).or_default();
        held.drop_late(now);
        if !held.open.contains_key(&id) {
            if held.open.len() >= MAX_OPEN {
                held.drop_oldest("the client has too many incomplete frames");
            }
            let open = Open { parts: vec![None; total], missing: total, last: now };
            held.bytes += total * PART_BYTES + id.len();
            held.open.insert(id.clone(), open);
        }
        let Some(open) = held.open.get_mut(&id) else { return Ok(None) };
        if open.parts.len() != total {
            return Err(format!("frame '{id}' has another number of parts"));
        }
        let Some(place) = open.parts.get_mut(number) else { return Ok(None) };
        if place.is_none() {
            open.missing -= 1;
            open.last = now;
        }
        held.bytes += data.len();
        held.bytes -= place.replace(data).map_or(0, |old| old.len());
        if open.missing == 0 {
            return Ok(held.remove(&id).map(|open| open.parts.into_iter().flatten().collect()));
        }
        while held.bytes > MAX_CLIENT_BYTES {
            held.drop_oldest("the incomplete frames of the client are too long");
        }
        clients.limit();
        Ok(None)
    }

    /// Drops frames whose next part is late.
    pub(super) fn drop_late(&mut self, now: Duration) {
        if let Some(held) = self.all.clients.lock().by_number.get_mut(&self.number) {
            held.drop_late(now);
        }
    }

    /// When [`drop_late`](Self::drop_late) is due.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let clients = self.all.clients.lock();
        let open = clients.by_number.get(&self.number)?.open.values();
        open.map(|open| open.last + TIMEOUT).min()
    }

    /// The frames that were dropped since the last call.
    pub(super) fn dropped(&mut self) -> Vec<Dropped> {
        let mut clients = self.all.clients.lock();
        clients
            .by_number
            .get_mut(&self.number)
            .map(|held| std::mem::take(&mut held.dropped))
            .unwrap_or_default()
    }
}

impl Drop for Fragments {
    fn drop(&mut self) {
        self.all.clients.lock().by_number.remove(&self.number);
    }
}

impl Incomplete {}

impl Clients {
    fn bytes(&self) -> usize {
        self.by_number.values().map(|held| held.bytes).sum()
    }

    fn limit(&mut self) {
        while self.bytes() > MAX_BYTES {
            let Some(most) = self.by_number.values_mut().max_by_key(|held| held.bytes) else { return };
            most.drop_oldest("the incomplete frames of all clients are too long");
        }
    }
}

impl Held {
    fn drop_late(&mut self, now: Duration) {
        let is_late = |open: &Open| now.saturating_sub(open.last) >= TIMEOUT;
        let late: Vec<String> =
            self.open.iter().filter(|(_, open)| is_late(open)).map(|(id, _)| id.clone()).collect();
        for id in late {
            self.drop_frame(id, "the next part did not come within 10 s");
        }
    }

    fn drop_oldest(&mut self, reason: &'static str) {
        let oldest = self.open.iter().min_by_key(|(_, open)| open.last).map(|(id, _)| id.clone());
        match oldest {
            Some(id) => self.drop_frame(id, reason),
            None => self.bytes = 0,
        }
    }

    fn drop_frame(&mut self, id: String, reason: &'static str) {
        self.remove(&id);
        // Not more than a client that is not asked can hold.
        if self.dropped.len() < MAX_OPEN {
            self.dropped.push(Dropped { id, reason });
        }
    }

    fn remove(&mut self, id: &str) -> Option<Open> {
        let open = self.open.remove(id)?;
        let texts = open.parts.iter().flatten().map(String::len).sum::<usize>();
        self.bytes -= texts + open.parts.len() * PART_BYTES + id.len();
        Some(open)
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
            let mut fragments = client(&Arc::default());
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
            assert_eq!((open(&fragments).len(), fragments.all.clients.lock().bytes()), (0, 0));
        }
    }

    fn client(all: &Arc<Incomplete>) -> Fragments {
        Fragments::new(Arc::clone(all))
    }

    /// Begins a frame of `length` bytes that is never completed.
    fn begin(fragments: &mut Fragments, second: u64, id: &str, length: usize) {
        let now = Duration::from_secs(second);
        assert_eq!(fragments.take(now, id.into(), 0, 2, "x".repeat(length)), Ok(None));
    }

    fn open(fragments: &Fragments) -> Vec<String> {
        fragments.all.clients.lock().by_number[&fragments.number].open.keys().cloned().collect()
    }

    fn dropped(fragments: &mut Fragments) -> Vec<String> {
        fragments.dropped().into_iter().map(|dropped| dropped.id).collect()
    }

    #[test]
    fn parts_are_checked() {
        let mut fragments = client(&Arc::default());
        assert!(fragments.take(NOW, "a".into(), 2, 2, String::new()).is_err());
        assert!(fragments.take(NOW, "a".into(), 0, MAX_PARTS + 1, String::new()).is_err());
        begin(&mut fragments, 1, "a", 2);
        assert!(fragments.take(NOW, "a".into(), 1, 3, "xy".into()).is_err());
        let bytes = fragments.all.clients.lock().bytes();
        // The same part again replaces the first.
        begin(&mut fragments, 1, "a", 3);
        assert_eq!(fragments.all.clients.lock().bytes(), bytes + 1);
    }

    #[test]
    fn the_oldest_incomplete_frame_of_a_client_is_dropped() {
        let mut fragments = client(&Arc::default());
        for second in 0..=MAX_OPEN as u64 {
            begin(&mut fragments, second, &second.to_string(), 1);
        }
        assert_eq!((dropped(&mut fragments), open(&fragments).len()), (vec!["0".to_owned()], MAX_OPEN));
        let mut fragments = client(&Arc::default());
        for (second, id) in ["a", "b", "c"].into_iter().enumerate() {
            begin(&mut fragments, second as u64, id, 6 << 20);
        }
        assert_eq!(
            (dropped(&mut fragments), open(&fragments)),
            (vec!["a".into()], vec!["b".into(), "c".into()])
        );
        // A single frame that is too long.
        begin(&mut fragments, 3, "d", MAX_CLIENT_BYTES);
        assert_eq!((dropped(&mut fragments).len(), fragments.all.clients.lock().bytes()), (3, 0));
    }

    #[test]
    fn all_clients_together_are_bounded_and_a_modest_one_keeps_its_frame() {
        let all = Arc::default();
        let mut good = client(&all);
        begin(&mut good, 0, "good", 1 << 20);
        let mut greedy: Vec<Fragments> = (0..64).map(|_| client(&all)).collect();
        for (number, fragments) in greedy.iter_mut().enumerate() {
            for frame in 0..3 {
                begin(fragments, 1 + frame, &format!("{number}.{frame}"), 5 << 20);
                assert!(all.clients.lock().bytes() <= MAX_BYTES);
            }
        }
        assert!(greedy.iter_mut().any(|fragments| !fragments.dropped().is_empty()));
        assert_eq!(good.take(NOW, "good".into(), 1, 2, "y".into()).unwrap().unwrap().len(), (1 << 20) + 1);
        drop(greedy);
        assert_eq!(all.clients.lock().bytes(), 0, "what clients held is freed when they leave");
    }

    #[test]
    fn late_frames_are_dropped_without_another_part() {
        let mut fragments = client(&Arc::default());
        begin(&mut fragments, 1, "late", 5);
        // The same part again does not keep it.
        begin(&mut fragments, 5, "late", 5);
        let timeout = fragments.timeout().unwrap();
        assert_eq!(timeout, NOW + TIMEOUT);
        fragments.drop_late(timeout - Duration::from_millis(1));
        assert_eq!(open(&fragments).len(), 1);
        fragments.drop_late(timeout);
        assert_eq!((open(&fragments).len(), fragments.timeout()), (0, None));
        assert_eq!(fragments.all.clients.lock().bytes(), 0);
        assert_eq!(dropped(&mut fragments), ["late"]);
    }
}
