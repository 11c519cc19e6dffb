//! Histories by chance: cables that are pulled, halves of frames, floods, a machine that answers late, twice or never.

use proptest::prelude::*;

use super::*;

/// A battery that is asked now and then would answer in between.
fn quiet(text: &str) -> String {
    text.replace("    - { send: battery, period: 1 }\n", "")
}

#[test]
fn a_late_answer_is_not_that_of_the_next_question() {
    let mut pair = Pair::new(quiet);
    pair.run(milliseconds(1000));
    pair.machine.faults().late = milliseconds(400);
    let first = pair.ask("clear").unwrap();
    pair.settle();
    // Only this answer is late.
    pair.machine.faults().late = Duration::ZERO;
    pair.run(milliseconds(310));
    assert!(
        matches!(pair.events.last(), Some(Event::Failed(ticket, _)) if *ticket == first),
        "{:?}",
        pair.events
    );
    let asked = pair.sent.len();
    let second = pair.ask("clear").unwrap();
    pair.settle();
    assert_eq!(pair.sent.len(), asked, "it waits for the late answer");
    pair.run(milliseconds(300));
    assert_eq!(pair.answered, [second]);
    let sent: Vec<Duration> =
        pair.sent.iter().filter(|(_, code)| *code == 4).map(|(time, _)| *time).collect();
    assert_eq!(sent, [milliseconds(1000), milliseconds(1400)], "when the late answer was there");
    assert_eq!(pair.conversation.statistics().unexpected, 1);
}

#[test]
fn a_question_does_not_wait_for_ever_for_an_answer_that_is_lost() {
    let mut pair = Pair::new(quiet);
    pair.run(milliseconds(1000));
    pair.machine.faults().silent_until = milliseconds(1300);
    pair.ask("clear").unwrap();
    pair.run(milliseconds(310));
    let second = pair.ask("clear").unwrap();
    // Neither commands nor stops wait for it.
    pair.drive(0.4).unwrap();
    pair.settle();
    assert_eq!(pair.machine.value("wanted_left"), Some(0.4));
    pair.conversation.stop().unwrap();
    pair.settle();
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
    pair.run(milliseconds(1000));
    assert_eq!(pair.answered, [second]);
    let sent: Vec<Duration> =
        pair.sent.iter().filter(|(_, code)| *code == 4).map(|(time, _)| *time).collect();
    assert_eq!(sent, [milliseconds(1000), milliseconds(1600)]);
}

/// A step of a history, and how long nothing else happens then.
#[derive(Debug, Clone)]
enum Step {
    Drive,
    Ask,
    Stop,
    Pull,
    Plug,
    Late(u64),
    Twice,
    Silent(u64),
    Fault(u8),
    Corrupt,
    /// The beginning of a frame, and nothing behind it.
    Half(usize),
    Flood(u8, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Drive),
        3 => Just(Step::Ask),
        2 => Just(Step::Stop),
        1 => Just(Step::Pull),
        2 => Just(Step::Plug),
        2 => prop_oneof![Just(0), 1_u64..700].prop_map(Step::Late),
        1 => Just(Step::Twice),
        1 => (1_u64..3000).prop_map(Step::Silent),
        1 => (0_u8..3).prop_map(Step::Fault),
        1 => Just(Step::Corrupt),
        1 => (1_usize..12).prop_map(Step::Half),
        1 => (any::<u8>(), 1_usize..3000).prop_map(|(byte, count)| Step::Flood(byte, count)),
    ]
}

const HALF: &[u8] = b"RV\x0e\x02\xe8\x03\0\0\x0c\xfe\xff\xff\0\0";

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    /// Nothing is lost, nothing moves without a new command after a loss, a stop or a time-out, and each question has one
    /// outcome. A failure prints the history, which is a test then.
    #[test]
    fn any_history_loses_nothing_and_moves_nothing(
        steps in proptest::collection::vec((step(), 1_u64..500), 1..60),
        pace in 0_u64..3,
        retries in 0_u32..3,
    ) {
        let timing = format!("silence: 1, pace: 0.0{pace}, retries: {retries} }}");
        let mut pair = Pair::new(|text| text.replace("silence: 1 }", &timing));
        let mut asked = Vec::new();
        for (step, time) in steps {
            match step {
                Step::Drive => drop(pair.drive(0.4)),
                Step::Ask => asked.extend(pair.ask("clear")),
                Step::Stop if pair.is_linked => {
                    pair.conversation.stop().unwrap();
                    pair.may_move = false;
                    pair.settle();
                    prop_assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
                }
                Step::Stop => {}
                Step::Pull => pair.link(false),
                Step::Plug => pair.link(true),
                Step::Late(time) => pair.machine.faults().late = milliseconds(time),
                Step::Twice => pair.machine.faults().twice ^= true,
                Step::Silent(time) => pair.machine.faults().silent_until = pair.now + milliseconds(time),
                Step::Fault(fault) => drop(pair.machine.set("fault", fault.into())),
                Step::Corrupt => pair.machine.faults().corrupt += 1,
                Step::Half(len) if pair.is_linked => pair.conversation.handle_bytes(pair.now, &HALF[..len.min(HALF.len())]),
                Step::Flood(byte, count) if pair.is_linked => {
                    pair.conversation.handle_bytes(pair.now, &vec![byte; count]);
                }
                Step::Half(_) | Step::Flood(..) => {}
            }
            pair.run(milliseconds(time));
            prop_assert_eq!(pair.moved_alone, 0, "a command was sent that nobody gave");
        }
        pair.link(true);
        *pair.machine.faults() = Default::default();
        pair.machine.set("fault", 0.0);
        pair.run(milliseconds(4000));
        prop_assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
        for ticket in asked {
            let answers = pair.answered.iter().filter(|one| **one == ticket).count();
            let outcome = |event: &&Event| matches!(event, Event::Failed(one, _) | Event::Sent(one) if *one == ticket);
            prop_assert_eq!(answers + pair.events.iter().filter(outcome).count(), 1);
        }
        // It is as at the beginning: heard, ready, and a command drives it.
        prop_assert!(pair.conversation.is_ready() && !pair.conversation.is_silent());
        prop_assert_eq!(pair.conversation.state(), Some(("ready", false)));
        let odometry = pair.count("odometry");
        pair.drive(0.4).unwrap();
        pair.run(milliseconds(500));
        prop_assert_eq!(pair.machine.value("wanted_left"), Some(0.4));
        prop_assert!(pair.count("odometry") >= odometry + 4);
    }
}
