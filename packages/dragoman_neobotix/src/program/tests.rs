use proptest::prelude::*;

use super::interpreter::{Action, Conditions, Interpreter};
use super::*;

fn seconds(count: f64) -> Duration {
    Duration::from_secs_f64(count)
}

fn log(message: &str) -> Instruction {
    Instruction::Do(Effect::Log { kind: "info".to_owned(), message: message.to_owned() })
}

fn label(name: &str) -> Instruction {
    Instruction::Label(name.to_owned())
}

fn goto(label: &str) -> Instruction {
    Instruction::Goto { label: label.to_owned(), condition: Condition::Constant(true) }
}

fn go(x: f64) -> Instruction {
    Instruction::Move(Movement::Pose(Pose::new(x, 0.0, 0.0)))
}

fn wait(event: Awaited) -> Instruction {
    Instruction::Wait { events: vec![event], timeout: None, timeout_label: None }
}

fn task(name: &str, priority: i64, instructions: Vec<Instruction>) -> Task {
    Task { name: name.to_owned(), priority, instructions, steps: Vec::new() }
}

/// An interpreter with its clock.
struct ProgramFixture {
    interpreter: Interpreter,
    now: Duration,
}

impl ProgramFixture {
    fn new(tasks: Vec<Task>) -> Self {
        Self { interpreter: Interpreter::new(Program { tasks }, 1).unwrap(), now: Duration::ZERO }
    }

    /// Runs a cycle after this time and under these conditions; returns the actions as text.
    fn after(&mut self, time: f64, conditions: Conditions<'_>) -> Vec<String> {
        self.now += seconds(time);
        let actions = self.interpreter.cycle(&Conditions { now: self.now, ..conditions });
        actions
            .iter()
            .map(|action| match action {
                Action::Do(Effect::Log { message, .. }) => message.clone(),
                Action::Move { movement: Movement::Pose(pose), .. } => format!("to {}", pose.x),
                other => format!("{other:?}"),
            })
            .collect()
    }
}

#[test]
fn a_task_waits_for_its_documents() {
    let load = Instruction::Do(Effect::Load { map: Some("hall".to_owned()), roadmap: None });
    let mut fixture = ProgramFixture::new(vec![
        task("a", 1, vec![load, go(1.0)]),
        task("b", 0, vec![log("b"), wait(Awaited::Delay(seconds(1.0))), log("c")]),
    ]);
    let begun = fixture.after(0.0, Conditions::default());
    assert!(begun.len() == 2 && begun[0].contains("hall") && begun[1] == "b", "{begun:?}");
    let loading = Conditions { is_loading: true, ..Conditions::default() };
    assert_eq!(fixture.after(0.5, loading), Vec::<String>::new());
    assert_eq!(fixture.after(0.5, loading), ["c"], "other tasks continue");
    assert_eq!(fixture.after(0.5, Conditions::default()), ["to 1"]);
}

#[test]
fn instructions_are_carried_out_in_order_and_in_circles() {
    let mut fixture = ProgramFixture::new(vec![task(
        "round",
        0,
        vec![
            label("again"),
            log("a"),
            wait(Awaited::Delay(seconds(2.0))),
            log("b"),
            goto("again"),
            log("never"),
        ],
    )]);
    assert_eq!(fixture.after(0.0, Conditions::default()), ["a"]);
    assert_eq!(fixture.after(1.9, Conditions::default()), [""; 0]);
    assert_eq!(fixture.after(0.2, Conditions::default()), ["b", "a"]);
    assert_eq!(fixture.interpreter.running().collect::<Vec<_>>(), [("round", 2)]);
    assert!(!fixture.interpreter.has_ended());
}

#[test]
fn a_wait_ends_with_its_event_or_goes_on_elsewhere_after_its_time() {
    let tasks = || {
        let events = vec![Awaited::Person, Awaited::UserEvent("go".to_owned())];
        let (timeout, timeout_label) = (Some(seconds(5.0)), Some("late".to_owned()));
        let instructions = vec![
            Instruction::Wait { events, timeout, timeout_label },
            log("seen"),
            wait(Awaited::Delay(seconds(1000.0))),
            label("late"),
            log("late"),
        ];
        vec![task("guard", 0, instructions)]
    };
    let mut fixture = ProgramFixture::new(tasks());
    assert_eq!(fixture.after(0.0, Conditions::default()), [""; 0]);
    assert_eq!(fixture.after(1.0, Conditions { person: true, ..Default::default() }), ["seen"]);
    let mut fixture = ProgramFixture::new(tasks());
    let events = ["other".to_owned()];
    assert_eq!(fixture.after(1.0, Conditions { user_events: &events, ..Default::default() }), [""; 0]);
    let events = ["go".to_owned()];
    assert_eq!(fixture.after(1.0, Conditions { user_events: &events, ..Default::default() }), ["seen"]);
    let mut fixture = ProgramFixture::new(tasks());
    assert_eq!(fixture.after(0.0, Conditions::default()), [""; 0]);
    assert_eq!(fixture.after(4.9, Conditions::default()), [""; 0]);
    assert_eq!(fixture.after(0.2, Conditions::default()), ["late"]);
    assert!(fixture.interpreter.has_ended());
}

#[test]
fn a_user_event_ends_one_wait_of_each_task() {
    let go = || wait(Awaited::UserEvent("go".to_owned()));
    let mut fixture = ProgramFixture::new(vec![
        task("loop", 0, vec![label("again"), go(), log("round"), goto("again")]),
        task("twice", 0, vec![go(), log("first"), go(), log("second")]),
    ]);
    assert_eq!(fixture.after(0.0, Conditions::default()), [""; 0]);
    let events = ["go".to_owned()];
    let raised = Conditions { user_events: &events, ..Conditions::default() };
    assert_eq!(fixture.after(0.1, raised), ["round", "first"]);
    assert_eq!(fixture.after(0.1, Conditions::default()), [""; 0]);
    assert_eq!(fixture.after(0.1, raised), ["round", "second"]);
}

#[test]
fn a_target_counts_from_its_own_motion_on() {
    let mut fixture = ProgramFixture::new(vec![task(
        "drive",
        0,
        vec![go(1.0), wait(Awaited::Target), go(2.0), wait(Awaited::Target), log("end")],
    )]);
    // A goal that was reached earlier does not count for this motion.
    let reached = Conditions { target_reached: true, ..Default::default() };
    assert_eq!(fixture.after(0.0, reached), ["to 1"]);
    let moving = Conditions { is_moving: true, ..Default::default() };
    assert_eq!(fixture.after(1.0, moving), [""; 0]);
    assert_eq!(fixture.after(1.0, reached), ["to 2"]);
    assert_eq!(fixture.after(1.0, moving), [""; 0]);
    assert_eq!(fixture.after(1.0, reached), ["end"]);
}

#[test]
fn the_more_urgent_task_moves_first() {
    let mut fixture = ProgramFixture::new(vec![
        task("low", 1, vec![log("low"), go(1.0), log("low moves")]),
        task("high", 9, vec![log("high"), go(9.0), wait(Awaited::Target), log("high is there")]),
    ]);
    assert_eq!(fixture.after(0.0, Conditions::default()), ["high", "to 9", "low"]);
    assert_eq!(fixture.interpreter.moving_task(), Some("high"));
    assert_eq!(fixture.after(1.0, Conditions { is_moving: true, ..Default::default() }), [""; 0]);
    let reached = Conditions { target_reached: true, ..Default::default() };
    assert_eq!(fixture.after(1.0, reached), ["high is there", "to 1", "low moves"]);
}

#[test]
fn a_motion_that_fails_starts_the_task_for_it() {
    let after = Movement::After { object: TrackedObject::Ball, on_error: Some("help".to_owned()) };
    let mut fixture = ProgramFixture::new(vec![
        task("play", 0, vec![Instruction::Move(after), wait(Awaited::Target)]),
        task("help", 0, vec![log("no ball")]),
    ]);
    assert_eq!(fixture.after(0.0, Conditions::default()).len(), 1);
    fixture.interpreter.handle_motion_failed();
    assert_eq!(fixture.after(0.1, Conditions::default()), ["no ball"]);
    fixture.interpreter.handle_motion_failed();
    assert_eq!(fixture.after(0.1, Conditions::default()), [""; 0]);
}

#[test]
fn a_refusal_concerns_the_motion_that_was_refused() {
    let after = |object, on_error: &str| {
        Instruction::Move(Movement::After { object, on_error: Some(on_error.to_owned()) })
    };
    let wait = || wait(Awaited::Target);
    let program = || {
        vec![
            task("ball", 1, vec![after(TrackedObject::Ball, "no ball"), wait()]),
            task("person", 1, vec![after(TrackedObject::Person, "no person"), wait()]),
            task("no ball", 0, vec![log("no ball")]),
            task("no person", 0, vec![log("no person")]),
        ]
    };
    let moving = Conditions { is_moving: true, ..Default::default() };
    for (refused, expected, mover) in [
        (&[0][..], &["no ball"][..], Some("person")),
        (&[1], &["no person"], None),
        (&[0, 1], &["no ball", "no person"], None),
    ] {
        let mut fixture = ProgramFixture::new(program());
        let actions = fixture.interpreter.cycle(&Conditions::default());
        let numbers: Vec<_> = actions
            .iter()
            .filter_map(|action| if let Action::Move { number, .. } = action { Some(*number) } else { None })
            .collect();
        assert_eq!(numbers.len(), 2, "{actions:?}");
        for &which in refused {
            fixture.interpreter.handle_motion_refused(numbers[which]);
        }
        assert_eq!(fixture.interpreter.moving_task(), mover);
        assert_eq!(fixture.after(0.1, moving), expected);
        // A motion of an earlier cycle can no longer be refused.
        fixture.interpreter.handle_motion_refused(numbers[0]);
        assert_eq!(fixture.after(0.1, moving), [""; 0]);
    }
}

#[test]
fn conditions_are_parameters_or_constants() {
    let when = |condition| Instruction::Goto { label: "end".to_owned(), condition };
    let instructions = vec![
        when(Condition::Constant(false)),
        log("first"),
        when(Condition::Parameter("SirenEnabled".to_owned())),
        log("second"),
        label("end"),
    ];
    let program = vec![task("t", 0, instructions)];
    assert_eq!(ProgramFixture::new(program.clone()).after(0.0, Conditions::default()), ["first", "second"]);
    let parameters = ["SirenEnabled".to_owned()];
    let conditions = Conditions { true_parameters: &parameters, ..Default::default() };
    assert_eq!(ProgramFixture::new(program).after(0.0, conditions), ["first"]);
}

#[test]
fn a_loop_without_waits_does_not_block_other_tasks() {
    let mut fixture = ProgramFixture::new(vec![
        task("mad", 9, vec![label("again"), goto("again")]),
        task("calm", 0, vec![log("here")]),
    ]);
    assert_eq!(fixture.after(0.0, Conditions::default()), ["here"]);
    assert_eq!(fixture.interpreter.running().count(), 1);
}

#[test]
fn invalid_programs_are_refused_with_the_reason() {
    let error = |tasks: Vec<Task>| Program { tasks }.check().unwrap_err().to_string();
    assert_eq!(error(vec![task("t", 0, vec![goto("x")])]), r#"task "t" jumps to the unknown label "x""#);
    assert_eq!(error(vec![task("t", 0, vec![label("x"), label("x")])]), r#"task "t" has two labels "x""#);
    assert_eq!(error(vec![task("t", 0, vec![]), task("t", 1, vec![])]), r#"there are two tasks called "t""#);
    let after = Movement::After { object: TrackedObject::Person, on_error: Some("u".to_owned()) };
    let wanted = r#"task "t" refers to the unknown task "u""#;
    assert_eq!(error(vec![task("t", 0, vec![Instruction::Move(after)])]), wanted);
    let wanted = r#"instruction 1 of task "t" has a number that is not finite"#;
    assert_eq!(error(vec![task("t", 0, vec![log("a"), go(f64::NAN)])]), wanted);
    assert_eq!(
        error(vec![task("t", 0, vec![log("a"); MAX_INSTRUCTIONS + 1])]),
        "the program has 1 tasks and 100001 instructions; the maximum is 256 and 100000"
    );
}

#[test]
fn dates_are_compared_by_their_most_significant_part() {
    let now = Date {
        year: Some(2026),
        month: Some(3),
        day: Some(1),
        hour: Some(12),
        minute: Some(30),
        second: Some(0),
    };
    let at = |hour, minute| Date { hour: Some(hour), minute: Some(minute), ..Date::default() };
    assert!(at(12, 30).is_reached(&now) && at(11, 59).is_reached(&now) && !at(12, 31).is_reached(&now));
    assert!(Date { year: Some(2025), month: Some(12), ..Date::default() }.is_reached(&now));
    assert!(!Date { year: Some(2026), month: Some(4), ..at(0, 0) }.is_reached(&now));
    // Without a calendar, a wait for a date does not end.
    let mut fixture =
        ProgramFixture::new(vec![task("t", 0, vec![wait(Awaited::Date(at(12, 0))), log("noon")])]);
    assert_eq!(fixture.after(0.0, Conditions::default()), [""; 0]);
    assert_eq!(fixture.after(0.0, Conditions { date: now, ..Default::default() }), ["noon"]);
}

proptest! {
    #[test]
    fn random_waits_are_within_their_bounds(least in 0..5000_u64, span in 0..5000_u64, seed in 0..100_u64) {
        let bounds = [least, least + span].map(Duration::from_millis);
        let tasks = vec![task("t", 0, vec![wait(Awaited::Random(bounds[0], bounds[1])), log("over")])];
        let mut interpreter = Interpreter::new(Program { tasks }, seed).unwrap();
        let mut ended = |now| {
            interpreter.cycle(&Conditions { now, ..Default::default() });
            interpreter.has_ended()
        };
        if least > 0 {
            prop_assert!(!ended(Duration::ZERO) && !ended(bounds[0] - Duration::from_millis(1)));
        }
        ended(Duration::ZERO);
        prop_assert!(ended(bounds[1]) || ended(bounds[1]));
    }
}

/// Each step needs a permission; the instructions of one step need one together, and waits end by themselves.
#[test]
fn steps_begin_one_at_a_time() {
    let wait =
        Instruction::Wait { events: vec![Awaited::Delay(seconds(1.0))], timeout: None, timeout_label: None };
    let stop_and_go =
        [Instruction::Move(Movement::Stop), Instruction::Move(Movement::Station("s".to_owned()))];
    let first = Task {
        name: "first".to_owned(),
        priority: 1,
        instructions: [wait].into_iter().chain(stop_and_go).chain([log("end")]).collect(),
        steps: vec![0, 1, 1, 2],
    };
    let second = Task { name: "second".to_owned(), instructions: vec![log("other")], ..Task::default() };
    let mut interpreter = Interpreter::new(Program { tasks: vec![first, second] }, 1).unwrap();
    let at = |time| Conditions { now: seconds(time), is_moving: true, ..Conditions::default() };
    let shown = |interpreter: &Interpreter| {
        let tasks: Vec<_> = interpreter.running().map(|(name, step)| (name.to_owned(), step)).collect();
        (tasks, interpreter.begun().collect::<Vec<_>>())
    };
    let tasks = |first, second| vec![("first".to_owned(), first), ("second".to_owned(), second)];
    assert_eq!(interpreter.step(&at(0.0), 0), []);
    assert_eq!(shown(&interpreter), (tasks(0, 0), vec![false, false]));
    // The wait begins; it has no action.
    assert_eq!(interpreter.step(&at(1.0), 1), []);
    assert_eq!(shown(&interpreter), (tasks(0, 0), vec![true, false]));
    // The first task waits, so the second one takes its step.
    assert_eq!(interpreter.step(&at(1.5), 1).len(), 1);
    assert_eq!(interpreter.step(&at(2.0), 0), []);
    assert_eq!(shown(&interpreter), (vec![("first".to_owned(), 1)], vec![false]));
    assert_eq!(interpreter.step(&at(2.5), 1).len(), 2);
    assert_eq!(interpreter.step(&at(9.0), 1).len(), 1);
    assert_eq!(interpreter.step(&at(9.0), 0), []);
    assert!(interpreter.has_ended());
}
