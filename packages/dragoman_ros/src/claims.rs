//! Ownership of namespaces: of two processes that serve the same namespace, the older continues and the other ends.
//!
//! Every process claims its namespaces, or single nodes, on a latched topic. When two claims conflict, both processes
//! repeat theirs and list the claims they have received. A process gives way only to an older one that has answered it
//! several times within a second: a single announcement, from any sender, ends nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::builtin_interfaces::msg::Time;
use crate::dragoman_msgs::msg::NamespaceClaim;
use crate::shared::SharedPublisher;
use crate::tasks::NodeTasks;
use crate::{Clock, Context, Node, QosProfile, Result};
use tokio::sync::Notify;

use crate::supervision::Supervisor;

/// Hidden from `ros2 topic list` by its leading underscore.
const TOPIC: &str = "/dragoman/_claims";
/// Period of repeating conflicting claims.
const REPEAT_PERIOD: Duration = Duration::from_millis(400);
/// Polling interval for claims to publish.
const POLL_PERIOD: Duration = Duration::from_millis(100);
/// Answers of an older holder before this process gives way, and the minimum time they must span.
const ANSWERS: u32 = 3;
const ANSWER_TIME: Duration = Duration::from_millis(700);
/// Time without claims after which a holder is forgotten.
const FORGET_TIME: Duration = Duration::from_secs(5);
/// Maximum number of other holders stored.
const MAX_RIVALS: usize = 32;
/// Time that a process looks for older holders before it starts.
const SEARCH_TIME: Duration = Duration::from_secs(1);

/// The claims of this process. Clones share them.
#[derive(Clone)]
pub struct Claims {
    core: Arc<Mutex<Core>>,
    /// A claim of another holder was received, or a holder was forgotten.
    changed: Arc<Notify>,
}

impl Claims {
    /// No namespaces yet. `program` is the name of this program.
    pub fn new(program: &str) -> Self {
        let description = format!("`{program}` with process id {}", dragoman_time::process_id());
        let holder = uuid::Builder::from_random_bytes(dragoman_time::random_bytes("claims")).into_uuid();
        let since = Clock::to_builtin_time(&dragoman_time::wall_time());
        let core = Core::new(since, holder.to_string(), description);
        Self { core: Arc::new(Mutex::new(core)), changed: Arc::default() }
    }

    /// Claims the namespace of node `name` in `namespace`, after remapping.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn claim_namespace(&self, context: &Context, name: &str, namespace: &str) -> Result<()> {
        let node = Node::create(context.clone(), name, namespace)?;
        self.core.lock().claim([node.namespace()?]);
        Ok(())
    }

    /// Claims the name of a node that shares its namespace with others.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn claim_name(&self, context: &Context, name: &str, namespace: &str) -> Result<()> {
        let node = Node::create(context.clone(), name, namespace)?;
        self.core.lock().claim([node.fully_qualified_name()?]);
        Ok(())
    }

    /// Resolves when no older holder of the same namespaces has been received for a while. If there is one, the process
    /// has been ended by then.
    pub async fn alone(&self) {
        loop {
            // Waits for received holders only.
            if dragoman_time::timeout(SEARCH_TIME, self.changed.notified()).await.is_err()
                && !self.core.lock().has_older_rival(dragoman_time::now())
            {
                return;
            }
        }
    }

    /// Exchanges claims with other processes through a node.
    pub fn serve(&self, tasks: &mut NodeTasks, supervisor: &Supervisor) -> Result<()> {
        let qos = QosProfile::default().transient_local();
        let publisher = tasks.node().create_publisher::<NamespaceClaim>(TOPIC, qos.clone().keep_last(1))?;
        let publisher = SharedPublisher::from(publisher);
        let (claims, supervisor, answers) = (self.clone(), supervisor.clone(), publisher.clone());
        tasks.subscribe(TOPIC, qos.keep_last(MAX_RIVALS), move |claim: NamespaceClaim| {
            let now = dragoman_time::now();
            let outcome = claims.core.lock().handle_claim(now, &claim);
            match outcome {
                Outcome::Nothing => {}
                Outcome::Conflict => {
                    claims.changed.notify_one();
                    publish(&answers, claims.core.lock().poll_claim(now));
                }
                Outcome::Lost(reason) => supervisor.fail(reason),
            }
        })?;
        let claims = self.clone();
        tasks.every(POLL_PERIOD, move || {
            publish(&publisher, claims.core.lock().poll_claim(dragoman_time::now()))
        })
    }
}

fn publish(publisher: &SharedPublisher<NamespaceClaim>, claim: Option<NamespaceClaim>) {
    if let Some(claim) = claim
        && let Err(error) = publisher.publish(&claim)
    {
        tracing::warn!(%error, topic = TOPIC, "publishing failed");
    }
}

/// The claims, without I/O.
struct Core {
    own: NamespaceClaim,
    rivals: BTreeMap<String, Rival>,
    /// Time of the last published claim.
    published: Option<Instant>,
    /// A change must be published.
    is_due: bool,
}

/// A holder of one of our namespaces.
struct Rival {
    is_older: bool,
    count: u32,
    received: Instant,
    /// Number of its answers, and the time of the first.
    answers: u32,
    answered: Option<Instant>,
}

enum Outcome {
    Nothing,
    /// A claim of a rival was received.
    Conflict,
    /// There is an older holder; this is the error text.
    Lost(String),
}

impl Core {
    fn new(since: Time, holder: String, description: String) -> Self {
        let own = NamespaceClaim { since, holder, description, ..Default::default() };
        Self { own, rivals: BTreeMap::new(), published: None, is_due: false }
    }

    fn claim(&mut self, names: impl IntoIterator<Item = String>) {
        self.own.namespaces.extend(names);
        self.is_due = true;
    }

    /// Takes the claim of any process, including this one.
    fn handle_claim(&mut self, now: Instant, claim: &NamespaceClaim) -> Outcome {
        let shared = self.own.namespaces.iter().find(|name| claim.namespaces.contains(name));
        let (Some(shared), true) = (shared, claim.holder != self.own.holder) else {
            return Outcome::Nothing;
        };
        self.rivals.retain(|_, rival| now.duration_since(rival.received) < FORGET_TIME);
        if self.rivals.len() >= MAX_RIVALS && !self.rivals.contains_key(&claim.holder) {
            return Outcome::Nothing;
        }
        let is_older = age(claim) < age(&self.own);
        let rival = self.rivals.entry(claim.holder.clone()).or_insert_with(|| {
            self.is_due = true;
            Rival { is_older, count: 0, received: now, answers: 0, answered: None }
        });
        let is_new = claim.count > rival.count;
        rival.count = rival.count.max(claim.count);
        rival.received = now;
        if !(is_older && is_new && claim.rivals.contains(&self.own.holder)) {
            return Outcome::Conflict;
        }
        rival.answers += 1;
        let since = *rival.answered.get_or_insert(now);
        if rival.answers < ANSWERS || now.duration_since(since) < ANSWER_TIME {
            return Outcome::Conflict;
        }
        let other: String = claim.description.chars().filter(|c| !c.is_control()).take(80).collect();
        Outcome::Lost(format!(
            "{shared} is served by {other} already: both would answer, and a client side would be asked in a circle; choose another \
             --namespace or --domain"
        ))
    }

    /// The claim to publish, if it is due.
    fn poll_claim(&mut self, now: Instant) -> Option<NamespaceClaim> {
        self.rivals.retain(|_, rival| now.duration_since(rival.received) < FORGET_TIME);
        let is_old = self.published.is_none_or(|time| now.duration_since(time) >= REPEAT_PERIOD);
        if self.own.namespaces.is_empty() || !(self.is_due || (is_old && !self.rivals.is_empty())) {
            return None;
        }
        // The rate does not depend on the number of rivals.
        if self.is_due && self.published.is_some_and(|time| now.duration_since(time) < POLL_PERIOD) {
            return None;
        }
        self.is_due = false;
        self.published = Some(now);
        self.own.count += 1;
        self.own.rivals = self.rivals.keys().cloned().collect();
        Some(self.own.clone())
    }

    fn has_older_rival(&self, now: Instant) -> bool {
        let is_there = |rival: &Rival| rival.is_older && now.duration_since(rival.received) < FORGET_TIME;
        self.rivals.values().any(is_there)
    }
}

/// Less for the older of two; equal only for the same process.
fn age(claim: &NamespaceClaim) -> (i32, u32, &str) {
    (claim.since.sec, claim.since.nanosec, &claim.holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(sec: i32, holder: &str, namespaces: &[&str]) -> Core {
        let mut core = Core::new(Time { sec, nanosec: 0 }, holder.to_owned(), format!("lab {holder}"));
        core.claim(namespaces.iter().map(|name| (*name).to_owned()));
        core
    }

    /// Two processes that receive each other's claims from `meet` on, in milliseconds; returns which gave way, and
    /// when.
    fn run(first: &mut Core, second: &mut Core, starts: [u64; 2], meet: u64) -> Vec<(usize, u64)> {
        let begin = Instant::now();
        let mut latched: [Option<NamespaceClaim>; 2] = [None, None];
        let mut lost = Vec::new();
        for ms in (0..20_000).step_by(100) {
            let now = begin + Duration::from_millis(ms);
            let mut said = [None, None];
            for (index, core) in [&mut *first, &mut *second].into_iter().enumerate() {
                if ms >= starts[index] && !lost.iter().any(|(loser, _)| *loser == index) {
                    said[index] = core.poll_claim(now);
                    if said[index].is_some() {
                        latched[index].clone_from(&said[index]);
                    }
                }
            }
            let met = meet.max(starts[0]).max(starts[1]);
            for (index, core) in [&mut *second, &mut *first].into_iter().enumerate() {
                let claim = if ms == met { latched[index].clone() } else { said[index].clone() };
                if ms < met || lost.iter().any(|(loser, _)| *loser == 1 - index) {
                    continue;
                }
                if let Some(claim) = claim
                    && let Outcome::Lost(reason) = core.handle_claim(now, &claim)
                {
                    assert!(reason.contains("/apolo") && reason.contains("lab "), "{reason}");
                    lost.push((1 - index, ms));
                }
            }
        }
        lost
    }

    #[test]
    fn the_older_of_two_goes_on_whatever_the_order_and_the_distance_in_time() {
        for apart in [0, 100, 700, 3000, 10_000] {
            for meet in [0, 500, 15_000] {
                let mut old = core(1000, "b", &["/ranger", "/apolo"]);
                let mut young = core(1001, "a", &["/apolo", "/neobotix"]);
                let lost = run(&mut old, &mut young, [0, apart], meet);
                assert_eq!(lost.iter().map(|(loser, _)| *loser).collect::<Vec<_>>(), [1], "{apart} {meet}");
                assert!(lost[0].1 <= apart.max(meet) + 1500, "{lost:?}");
                let mut old = core(1000, "b", &["/apolo"]);
                let mut young = core(1001, "a", &["/apolo"]);
                let lost = run(&mut young, &mut old, [0, apart], meet);
                assert_eq!(lost.iter().map(|(loser, _)| *loser).collect::<Vec<_>>(), [0], "{apart} {meet}");
            }
        }
    }

    #[test]
    fn of_two_that_started_at_the_same_time_one_goes_on() {
        let lost = run(&mut core(1000, "a", &["/apolo"]), &mut core(1000, "b", &["/apolo"]), [0, 0], 0);
        assert_eq!(lost.len(), 1);
        assert_eq!(lost[0].0, 1);
    }

    #[test]
    fn different_namespaces_do_not_meet() {
        let mut first = core(1000, "a", &["/ranger"]);
        let mut second = core(1000, "b", &["/apolo"]);
        assert_eq!(run(&mut first, &mut second, [0, 0], 0), []);
        assert!(first.poll_claim(Instant::now() + Duration::from_secs(60)).is_none(), "nothing is repeated");
    }

    fn claim(holder: &str, count: u32, received: &[&str]) -> NamespaceClaim {
        NamespaceClaim {
            since: Time { sec: 1, nanosec: 0 },
            holder: holder.to_owned(),
            count,
            namespaces: vec!["/apolo".to_owned()],
            rivals: received.iter().map(|name| (*name).to_owned()).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn announcements_that_do_not_answer_end_nothing() {
        let mut lab = core(1000, "lab", &["/apolo"]);
        let begin = Instant::now();
        for ms in 0..5000 {
            let now = begin + Duration::from_millis(ms);
            for claim in [
                claim("replayed", 7, &["lab"]),
                claim("deaf", ms as u32 + 1, &[]),
                claim(&format!("many {ms}"), 1, &["lab"]),
            ] {
                assert!(!matches!(lab.handle_claim(now, &claim), Outcome::Lost(_)));
            }
            assert!(lab.rivals.len() <= MAX_RIVALS);
            lab.poll_claim(now);
        }
        assert!(lab.own.count <= 52, "it answers at its own pace: {}", lab.own.count);
    }

    #[test]
    fn a_burst_of_answers_is_not_enough() {
        let mut lab = core(1000, "lab", &["/apolo"]);
        let now = Instant::now();
        for count in 1..100 {
            let outcome = lab.handle_claim(now, &claim("hasty", count, &["lab"]));
            assert!(!matches!(outcome, Outcome::Lost(_)));
        }
    }
}
