//! What a task can wait for (seed 002, section 6.5, "Task", from `wait` on).

use super::element::{choice, element};

element! {
    /// Waits until something happens.
    #[derive(Default)]
    pub struct Wait = "wait" {
        attributes {
            /// Where to go on when the time is over; none: after the wait.
            timeout_label: Option<String> = "timeoutlabel",
            /// How long to wait at most; 0 or less: without a limit.
            timeout_ms: Option<i64> = "timeout",
            /// The guide does not explain it.
            wait_for: Option<String> = "for",
        }
        children {
            /// What it waits for.
            events: Vec<WaitEvent> = "",
        }
    }

    /// A collision.
    #[derive(Default)]
    pub struct Collision = "collision" {}

    /// Something that moves was detected.
    #[derive(Default)]
    pub struct MovingObject = "movingobject" | "movingobjects" {}

    /// A person was detected.
    #[derive(Default)]
    pub struct Person = "person" {}

    /// A ball was detected.
    #[derive(Default)]
    pub struct Ball = "ball" {}

    /// The platform no longer knows where it is.
    #[derive(Default)]
    pub struct LostLocalization = "lostlocalization" | "lostlocalisation" {}

    /// The target of the motion.
    #[derive(Default)]
    pub struct TargetReached = "target" {}

    /// An infrared sensor detected something.
    #[derive(Default)]
    pub struct Infrared = "infrared" {
        attributes {
            /// In which direction; the guide lists none.
            direction: Option<String> = "direction",
        }
    }

    /// A radar sensor detected something.
    #[derive(Default)]
    pub struct Radar = "radar" {
        attributes {
            /// In which direction; the guide lists none.
            direction: Option<String> = "direction",
        }
    }

    /// A date and time. What is missing may be anything.
    #[derive(Default)]
    pub struct Date = "date" {
        attributes {
            /// 1 to 31.
            day: Option<u32> = "day",
            /// 1 to 12.
            month: Option<u32> = "month",
            /// With all its digits.
            year: Option<u32> = "year",
            /// 0 to 23.
            hour: Option<u32> = "hour",
            /// 0 to 59.
            minute: Option<u32> = "minute",
            /// 0 to 59.
            second: Option<u32> = "second",
        }
    }

    /// Some time has passed.
    #[derive(Default)]
    pub struct Delay = "delay" {
        attributes {
            /// How much.
            amount_ms: u64 = "amount",
        }
    }

    /// An event of a program.
    #[derive(Default)]
    pub struct UserEvent = "userevent" {
        attributes {
            /// Which one.
            id: String = "id",
        }
    }

    /// Some time has passed; how much is left to chance.
    #[derive(Default)]
    pub struct Random = "random" {
        attributes {
            /// At least.
            min_ms: u64 = "min",
            /// At most.
            max_ms: u64 = "max",
        }
    }

    /// The battery has reached a charge.
    #[derive(Default)]
    pub struct BatteryCharge = "batterycharge" {
        attributes {
            /// Which one; the guide has no unit.
            limit: f64 = "limit",
        }
    }
}

choice! {
    /// What a task can wait for.
    pub enum WaitEvent {
        /// A collision.
        Collision(Collision),
        /// Something that moves was detected.
        MovingObject(MovingObject),
        /// A person was detected.
        Person(Person),
        /// A ball was detected.
        Ball(Ball),
        /// The platform no longer knows where it is.
        LostLocalization(LostLocalization),
        /// The target is reached.
        Target(TargetReached),
        /// An infrared sensor detected something.
        Infrared(Infrared),
        /// A radar sensor detected something.
        Radar(Radar),
        /// A date and time.
        Date(Date),
        /// Some time has passed.
        Delay(Delay),
        /// An event of a program.
        UserEvent(UserEvent),
        /// A time left to chance has passed.
        Random(Random),
        /// The battery has reached a charge.
        BatteryCharge(BatteryCharge),
        @
        /// Something that the guide does not know; no program with it is run.
        Unknown
    }
}

impl Date {
    /// Whether there is such a date, in some year if none is given.
    pub fn is_possible(&self) -> bool {
        let is_leap = self.year.is_none_or(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
        let days = match self.month {
            Some(4 | 6 | 9 | 11) => 30,
            Some(2) if is_leap => 29,
            Some(2) => 28,
            _ => 31,
        };
        self.month.is_none_or(|month| (1..=12).contains(&month))
            && self.day.is_none_or(|day| (1..=days).contains(&day))
            && self.hour.is_none_or(|hour| hour < 24)
            && self.minute.is_none_or(|minute| minute < 60)
            && self.second.is_none_or(|second| second < 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let date = |day, month, year| Date { day: Some(day), month: Some(month), year, ..Date::default() };
        for possible in
            [date(29, 2, None), date(29, 2, Some(2000)), date(31, 12, Some(2026)), Date::default()]
        {
            assert!(possible.is_possible(), "{possible:?}");
        }
        for impossible in [
            date(29, 2, Some(1900)),
            date(29, 2, Some(2026)),
            date(31, 4, None),
            date(1, 13, None),
            date(0, 1, None),
        ] {
            assert!(!impossible.is_possible(), "{impossible:?}");
        }
        assert!(!Date { hour: Some(24), ..Date::default() }.is_possible());
    }
}
