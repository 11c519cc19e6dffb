//! Services: a request goes to all robots at once; the program gets the first robot's response, or that of the next one
//! that responded; the response of each robot is reported.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::dragoman_msgs::msg::RelayReport;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Client, Node, QosProfile, Result, ServiceRequest, WrappedServiceTypeSupport, times};
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use parking_lot::Mutex;

use super::table::Service;

/// Maximum number of requests to one service in progress; further ones wait.
const MAX_UNDER_WAY: usize = 16;
/// Time after which a service counts as missing: existing ones are found at once.
const SEARCH_TIME: Duration = Duration::from_millis(50);

/// Topic of the reports about robots' responses.
#[derive(Clone)]
pub(crate) struct Reports {
    publisher: SharedPublisher<RelayReport>,
    clock: SharedClock,
    last: Arc<Mutex<Tally>>,
}

/// Counters of the requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    /// Requests that all robots answered alike.
    pub(crate) agreed: u64,
    /// The last request with differing responses, in words; cleared by the diagnostics.
    pub(crate) trouble: Option<String>,
}

impl Reports {
    pub(crate) fn new(node: &mut Node) -> Result<Self> {
        Ok(Self {
            publisher: node.create_publisher("~/reports", QosProfile::default().keep_last(100))?.into(),
            clock: node.get_ros_clock(),
            last: Arc::default(),
        })
    }

    /// The counters so far.
    pub(crate) fn take(&self) -> Tally {
        let mut tally = self.last.lock();
        let taken = tally.clone();
        tally.trouble = None;
        taken
    }

    fn publish(&self, mut report: RelayReport) {
        report.stamp = times::stamp(&self.clock);
        let mut tally = self.last.lock();
        tally.requests += 1;
        if report.agree {
            tally.agreed += 1;
        } else {
            let trouble = in_words(&report);
            if tally.trouble.is_none() {
                tracing::warn!(trouble, "responses of the robots differ");
            }
            tally.trouble = Some(trouble);
        }
        if let Err(error) = self.publisher.publish(&report) {
            tracing::warn!(%error, "publishing failed");
        }
    }
}

fn in_words(report: &RelayReport) -> String {
    let parts =
        report.robots.iter().zip(&report.outcomes).zip(&report.answers).map(|((robot, outcome), answer)| {
            match *outcome {
                outcome if outcome == RelayReport::MISSING as u8 => format!("{robot} is missing"),
                outcome if outcome == RelayReport::TIMED_OUT as u8 => format!("{robot} did not answer"),
                _ => format!("{robot} answered {answer}"),
            }
        });
    format!("{}: {}", report.service, parts.collect::<Vec<_>>().join(", "))
}

/// The result of a request at one robot.
enum RobotAnswer<R> {
    Given { response: R, after: Duration },
    TimedOut,
    Missing,
}

/// Offers `name`, relayed to the services `robots` in `namespaces`.
pub(crate) fn serve<S>(
    tasks: &mut NodeTasks,
    service: &Service,
    name: String,
    robots: Vec<(String, String)>,
    timeout: Duration,
    reports: &Reports,
) -> Result<()>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send + Sync,
    S::Response: Send + serde::Serialize,
{
    let mut clients = Vec::new();
    for (namespace, full) in robots {
        let client = tasks.node().create_client::<S>(&full, QosProfile::services_default())?;
        clients.push((namespace, Arc::new(client)));
    }
    let mut requests = tasks.node().create_service::<S>(&name, QosProfile::services_default())?;
    let (reports, type_name) = (reports.clone(), service.type_name.clone());
    tasks.spawn(async move {
        let mut under_way = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                Some((request, answers)) = under_way.next(), if !under_way.is_empty() => {
                    let request: ServiceRequest<S> = request;
                    let mut report = RelayReport {
                        service: name.clone(),
                        type_: type_name.clone(),
                        robots: clients.iter().map(|(namespace, _)| namespace.clone()).collect(),
                        returned: -1,
                        ..Default::default()
                    };
                    let response = collect(answers, &mut report);
                    // Without any response the program gets none: its request runs into its own timeout.
                    if let Some(response) = response
                        && let Err(error) = request.respond(response)
                    {
                        tracing::warn!(%error, service = name, "sending a response failed");
                    }
                    reports.publish(report);
                }
                request = requests.next(), if under_way.len() < MAX_UNDER_WAY => {
                    let Some(request) = request else { return };
                    let asked = clients.iter().map(|(_, client)| ask(Arc::clone(client), request.message.clone(), timeout));
                    let answers = join_all(asked.collect::<Vec<_>>());
                    under_way.push(async move { (request, answers.await) });
                }
            }
        }
    });
    Ok(())
}

async fn ask<S: WrappedServiceTypeSupport + 'static>(
    client: Arc<Client<S>>,
    request: S::Request,
    timeout: Duration,
) -> RobotAnswer<S::Response> {
    let Ok(available) = Node::is_available(&*client) else { return RobotAnswer::Missing };
    if !matches!(dragoman_time::timeout(SEARCH_TIME, available).await, Ok(Ok(()))) {
        return RobotAnswer::Missing;
    }
    let start = dragoman_time::now();
    let Ok(answer) = client.request(&request) else { return RobotAnswer::Missing };
    match dragoman_time::timeout(timeout, answer).await {
        Ok(Ok(response)) => RobotAnswer::Given { response, after: dragoman_time::since(start) },
        Ok(Err(_)) | Err(_) => RobotAnswer::TimedOut,
    }
}

/// Fills in the report; returns the response for the program.
fn collect<R: serde::Serialize>(answers: Vec<RobotAnswer<R>>, report: &mut RelayReport) -> Option<R> {
    let mut returned = None;
    for (index, answer) in answers.into_iter().enumerate() {
        let (outcome, seconds, text) = match answer {
            RobotAnswer::Given { response, after } => {
                let text = serde_json::to_string(&response).unwrap_or_default();
                if returned.is_none() {
                    report.returned = i8::try_from(index).unwrap_or(i8::MAX);
                    returned = Some(response);
                }
                (RelayReport::ANSWERED as u8, after.as_secs_f64(), text)
            }
            RobotAnswer::TimedOut => (RelayReport::TIMED_OUT as u8, f64::NAN, String::new()),
            RobotAnswer::Missing => (RelayReport::MISSING as u8, f64::NAN, String::new()),
        };
        report.outcomes.push(outcome);
        report.seconds.push(seconds);
        report.answers.push(text);
    }
    let all_answered = report.outcomes.iter().all(|outcome| *outcome == RelayReport::ANSWERED as u8);
    report.agree = all_answered && report.answers.windows(2).all(|pair| pair.first() == pair.last());
    returned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(state: bool) -> RobotAnswer<bool> {
        RobotAnswer::Given { response: state, after: Duration::from_millis(5) }
    }

    fn collected(answers: Vec<RobotAnswer<bool>>) -> (Option<bool>, RelayReport) {
        let mut report = RelayReport {
            service: "/arm/enable".to_owned(),
            robots: vec!["/real".to_owned(), "/sim".to_owned()],
            returned: -1,
            ..Default::default()
        };
        (collect(answers, &mut report), report)
    }

    #[test]
    fn the_first_robots_answer_counts_and_both_are_reported() {
        let (returned, report) = collected(vec![given(true), given(true)]);
        assert_eq!((returned, report.returned, report.agree), (Some(true), 0, true));
        assert_eq!(report.answers, ["true", "true"]);
        let (returned, report) = collected(vec![given(true), given(false)]);
        assert_eq!((returned, report.returned, report.agree), (Some(true), 0, false));
        assert_eq!(in_words(&report), "/arm/enable: /real answered true, /sim answered false");
    }

    #[test]
    fn the_other_robots_answer_counts_where_the_first_gives_none() {
        let (returned, report) = collected(vec![RobotAnswer::Missing, given(true)]);
        assert_eq!((returned, report.returned, report.agree), (Some(true), 1, false));
        assert!(report.seconds[0].is_nan() && report.seconds[1] == 0.005);
        assert_eq!(in_words(&report), "/arm/enable: /real is missing, /sim answered true");
        let (returned, report) = collected(vec![RobotAnswer::Missing, RobotAnswer::TimedOut]);
        assert_eq!((returned, report.returned), (None, -1));
        assert_eq!(report.outcomes, [2, 1]);
    }
}
