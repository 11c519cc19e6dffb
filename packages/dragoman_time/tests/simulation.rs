//! What a simulation promises: time, order, chance, surroundings, and the same history for the same seed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman_time::{
    Elapsed, Fingerprint, MissedTicks, Program, Simulation, Surroundings, TaskError, Tasks, Work, interval,
    note, now, off_thread, own, random, random_bytes, random_unit, shared, since, sleep, sleep_until, spawn,
    spawn_thread, timeout, wall_time, yield_now,
};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn time_passes_only_while_all_wait_and_to_the_nanosecond() {
    let simulation = Simulation::new(1);
    let nanosecond = Duration::from_nanos(1);
    simulation.block_on(async {
        let begin = now();
        let wall = wall_time();
        (0..1000).for_each(|_| assert_eq!(now(), begin));
        sleep(nanosecond).await;
        assert_eq!((since(begin), wall_time() - wall), (nanosecond, nanosecond));
        // A time of the past is reached at once.
        sleep_until(begin).await;
        assert_eq!(since(begin), nanosecond);
    });
    assert_eq!(simulation.elapsed(), nanosecond);
    simulation.run_for(24 * 3600 * SECOND);
    assert_eq!(simulation.elapsed(), 24 * 3600 * SECOND + nanosecond);
}

#[test]
fn timers_expire_in_the_order_of_their_times_and_then_of_their_registration() {
    let simulation = Simulation::new(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    simulation.block_on(async {
        let mut tasks = Tasks::new();
        for (name, milliseconds) in [("a", 2), ("b", 1), ("c", 2), ("d", 0), ("e", 1)] {
            let order = Arc::clone(&order);
            tasks.spawn(async move {
                sleep(Duration::from_millis(milliseconds)).await;
                order.lock().unwrap().push(name);
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
    });
    assert_eq!(*order.lock().unwrap(), ["d", "b", "e", "a", "c"]);
}

#[test]
fn a_timer_can_be_reset_and_dropped() {
    let simulation = Simulation::new(1);
    simulation.block_on(async {
        let begin = now();
        let mut timer = sleep(10 * SECOND);
        assert_eq!(timeout(SECOND, &mut timer).await, Err(Elapsed));
        timer.reset(begin + 3 * SECOND);
        timer.await;
        assert_eq!(since(begin), 3 * SECOND);
        drop(sleep(SECOND));
        assert_eq!(timeout(SECOND, async { 7 }).await, Ok(7));
    });
    // No timer is left that would let time pass.
    assert_eq!(simulation.elapsed(), 3 * SECOND);
}

#[test]
fn missed_ticks_follow_in_a_burst_or_are_left_out() {
    Simulation::new(1).block_on(async {
        for (missed, expected) in
            [(MissedTicks::Burst, [0, 35, 35, 35, 40]), (MissedTicks::Delay, [0, 35, 45, 55, 65])]
        {
            let begin = now();
            let mut ticks = interval(Duration::from_millis(10)).with_missed(missed);
            let mut times = Vec::new();
            for tick in 0..5 {
                ticks.tick().await;
                times.push(since(begin).as_millis());
                if tick == 0 {
                    sleep(Duration::from_millis(35)).await;
                }
            }
            assert_eq!(times, expected, "{missed:?}");
        }
    });
}

#[test]
fn a_task_ends_with_its_output_a_panic_or_an_abort() {
    Simulation::new(1).block_on(async {
        assert_eq!(spawn(async { 5 }).await.unwrap(), 5);
        let error = spawn(async { panic!("no {}", "hands") }).await.unwrap_err();
        assert_eq!(error.to_string(), "the task has panicked: no hands");
        assert!(error.is_panic());
        let held = Arc::new(());
        let inside = Arc::clone(&held);
        let task = spawn(async move {
            let _inside = inside;
            sleep(SECOND).await;
        });
        sleep(SECOND / 2).await;
        let handle = task.abort_handle();
        handle.abort();
        assert!(matches!(task.await, Err(TaskError::Aborted)));
        assert!(handle.is_finished());
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

#[test]
fn tasks_end_with_their_owner_and_with_the_simulation() {
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            // Also here the time is that of the simulation.
            assert_eq!(wall_time(), Surroundings::default().wall_time + SECOND);
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ended = Arc::new(AtomicUsize::new(0));
    let simulation = Simulation::new(1);
    let forever = |ended: &Arc<AtomicUsize>| {
        let count = Count(Arc::clone(ended));
        async move {
            let _count = count;
            std::future::pending::<()>().await;
        }
    };
    simulation.block_on(async {
        let mut owned = Tasks::new();
        owned.spawn(forever(&ended));
        spawn(forever(&ended));
        sleep(SECOND).await;
        drop(owned);
        yield_now().await;
    });
    assert_eq!((ended.load(Ordering::Relaxed), simulation.tasks().values().sum::<usize>()), (1, 1));
    drop(simulation);
    assert_eq!(ended.load(Ordering::Relaxed), 2);
}

#[test]
#[should_panic(expected = "virtual time stands still")]
fn a_wait_for_nothing_is_an_error() {
    Simulation::new(1).block_on(std::future::pending::<()>());
}

#[test]
fn a_call_runs_until_its_future_is_ready_and_the_rest_waits_for_the_next() {
    let simulation = Simulation::new(1);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    simulation.enter(|| {
        spawn(async move {
            loop {
                sleep(SECOND).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    assert_eq!(count.load(Ordering::Relaxed), 0);
    simulation.run_for(SECOND * 5 / 2);
    assert_eq!(count.load(Ordering::Relaxed), 2);
    simulation.run_for(SECOND);
    assert_eq!(count.load(Ordering::Relaxed), 3);
}

#[test]
fn work_costs_what_the_table_says() {
    let simulation = Simulation::new(1);
    simulation.block_on(async {
        let begin = now();
        let iterations = off_thread(Work::PATH, |clock| {
            // As a planner with a time limit does.
            let mut iterations = 0;
            while clock.elapsed() < Duration::from_millis(3) {
                clock.step();
                iterations += 1;
            }
            iterations
        });
        assert_eq!(iterations.await.unwrap(), 2000);
        assert_eq!(since(begin), Duration::from_millis(3));
        assert!(off_thread(Work::FILE, |_| -> u8 { panic!("no file") }).await.unwrap_err().is_panic());
    });
}

#[test]
fn threads_are_tasks_and_real_ones_have_timers() {
    Simulation::new(1).block_on(async {
        let begin = now();
        let thread = spawn_thread("loop", async { sleep(SECOND).await }).unwrap();
        assert!(!thread.is_finished());
        sleep(2 * SECOND).await;
        assert!(thread.is_finished());
        assert_eq!(since(begin), 2 * SECOND);
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = spawn_thread("real", async move {
        let begin = std::time::Instant::now();
        let inner = spawn(async {
            sleep(Duration::from_millis(3)).await;
            std::thread::current().name().map(str::to_owned)
        });
        let name = inner.await.unwrap();
        let waited = begin.elapsed() >= Duration::from_millis(3);
        sender.send((name, waited)).unwrap();
    });
    thread.unwrap().join();
    assert_eq!(receiver.recv().unwrap(), (Some("real".to_owned()), true));
}

#[test]
fn random_numbers_depend_on_the_seed_and_the_name_only() {
    let draw = |seed, names: &[&str]| {
        Simulation::new(seed).block_on(async { names.iter().map(|name| random(name)).collect::<Vec<_>>() })
    };
    assert_eq!(draw(1, &["a", "b", "a"]), draw(1, &["a", "b", "a"]));
    assert_ne!(draw(1, &["a"]), draw(2, &["a"]));
    // Draws from other streams do not matter.
    assert_eq!(draw(1, &["a", "b", "b", "a"])[3], draw(1, &["a", "a"])[1]);
    let units: Vec<f64> =
        Simulation::new(1).block_on(async { (0..1000).map(|_| random_unit("u")).collect() });
    let mean = units.iter().sum::<f64>() / 1000.0;
    assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)) && (0.45..0.55).contains(&mean), "{mean}");
    // In real time the numbers come from the system.
    assert_ne!(random_bytes::<16>("a"), random_bytes::<16>("a"));
}

#[test]
fn a_lab_owns_its_surroundings() {
    let surroundings = Surroundings {
        arguments: vec!["lab".into(), "--fast".into()],
        variables: BTreeMap::from([("ROS_DISTRO".into(), "humble".into())]),
        process_id: 42,
        ..Surroundings::default()
    };
    let lab = Simulation::with_surroundings(1, surroundings);
    lab.enter(|| {
        assert_eq!(dragoman_time::arguments(), ["lab", "--fast"]);
        assert_eq!(dragoman_time::variable("ROS_DISTRO").as_deref(), Some("humble"));
        assert_eq!(dragoman_time::variable("PATH"), None);
        assert_eq!(dragoman_time::process_id(), 42);
        assert!(dragoman_time::print(format_args!("ready\n")));
        own::<AtomicUsize>().fetch_add(1, Ordering::Relaxed);
        assert_eq!(own::<AtomicUsize>().load(Ordering::Relaxed), 1);
    });
    assert_eq!(lab.take_output(), "ready\n");
    Simulation::new(1).enter(|| assert_eq!(own::<AtomicUsize>().load(Ordering::Relaxed), 0));
    assert!(dragoman_time::variable("PATH").is_some());
    assert!(!dragoman_time::print(format_args!("not a lab")));
}

/// Tasks that wait for each other and for chance.
fn history(seed: u64) -> Fingerprint {
    let simulation = Simulation::new(seed);
    simulation.block_on(async {
        let mut tasks = Tasks::new();
        for name in ["a", "b", "c"] {
            tasks.spawn(async move {
                for _ in 0..100 {
                    sleep(Duration::from_micros(random(name) % 1000)).await;
                    note("step", name, &random(name).to_le_bytes());
                }
            });
        }
        while tasks.join_next().await.is_some() {}
    });
    simulation.fingerprint()
}

#[test]
fn the_same_seed_gives_the_same_history_alone_and_in_four_threads() {
    let alone: Vec<_> = (0..4).map(history).collect();
    let beside: Vec<_> = (0..4).map(|seed| std::thread::spawn(move || history(seed))).collect();
    let beside: Vec<_> = beside.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(alone, beside);
    assert_eq!(alone[0].events, 300);
    assert_ne!(alone[0].hash, alone[1].hash);
}

#[test]
fn events_can_be_observed() {
    let simulation = Simulation::new(1);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    simulation.observe(move |event| sink.lock().unwrap().push(format!("{event:?}")));
    simulation.block_on(async {
        sleep(SECOND).await;
        note("frame", "can0", &[1, 2]);
    });
    assert_eq!(
        *seen.lock().unwrap(),
        [r#"Event { time: 1s, kind: "frame", name: "can0", content: [1, 2] }"#]
    );
}

#[test]
fn a_watched_value_wakes_its_receivers_in_order() {
    use dragoman_time::watch;
    Simulation::new(1).block_on(async {
        let (sender, receiver) = watch::channel(0);
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Tasks::new();
        for number in 0..20 {
            let (mut receiver, order) = (receiver.clone(), Arc::clone(&order));
            tasks.spawn(async move {
                assert_eq!(*receiver.wait_for(|value| *value == 2).await.unwrap(), 2);
                order.lock().unwrap().push(number);
                receiver.changed().await.unwrap();
                assert_eq!(receiver.changed().await, Err(watch::Closed));
            });
        }
        drop(receiver);
        yield_now().await;
        assert_eq!(sender.receiver_count(), 20);
        sender.send(1).unwrap();
        yield_now().await;
        assert_eq!(sender.send_replace(2), 1);
        yield_now().await;
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
        let mut late = sender.subscribe();
        assert_eq!((late.has_changed(), *late.borrow()), (Ok(false), 2));
        assert!(!sender.send_if_modified(|_| false));
        sender.send_modify(|value| *value += 1);
        assert_eq!((late.has_changed(), *late.borrow_and_update()), (Ok(true), 3));
        assert_eq!(late.has_changed(), Ok(false));
        drop(sender);
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        assert_eq!(late.changed().await, Err(watch::Closed));
    });
}

#[test]
fn programs_of_a_simulation_have_their_own_surroundings_and_share_the_rest() {
    let simulation = Simulation::new(1);
    let of = |name: &str| {
        Program::new(Surroundings { arguments: vec![name.to_owned()], ..Surroundings::default() })
    };
    let (first, second) = (of("first"), of("second"));
    let work = async || {
        // Tasks belong to the program that has spawned them.
        let counts = spawn(async {
            yield_now().await;
            let counted: [Arc<AtomicUsize>; 2] = [own(), shared()];
            counted.map(|count| count.fetch_add(1, Ordering::Relaxed))
        });
        dragoman_time::print(format_args!("{}", dragoman_time::arguments()[0]));
        counts.await.unwrap()
    };
    let counts = simulation
        .block_on(async { futures::join!(first.run(work()), second.run(work()), first.run(work()), work()) });
    assert_eq!(counts, ([0, 0], [0, 1], [1, 2], [0, 3]));
    assert_eq!([first.take_output(), second.take_output()], ["firstfirst", "second"]);
    assert_eq!(simulation.take_output(), "dragoman");
}
