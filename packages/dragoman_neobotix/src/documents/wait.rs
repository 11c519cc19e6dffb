//! Events for which a task can wait (PlatformCtrl guide, 6.5, "Task", from `wait` on).

use super::element::{choice, element};

element! {
    /// Waits for an event.
    #[derive(Default)]
    pub struct Wait = "wait" {
        attributes {
            /// Label to jump to at the timeout; none: continue after the wait.
            timeout_label: Option<String> = "timeoutlabel",
            /// Time limit; 0 or less: none.
            timeout_ms: Option<i64> = "timeout",
            /// The guide does not explain it.
            wait_for: Option<String> = "for",
        }
        children {
            events: Vec<WaitEvent> = "",
        }
    }

    /// A collision.
    #[derive(Default)]
    pub struct Collision = "collision" {}

    /// A moving object was detected.
    #[derive(Default)]
    pub struct MovingObject = "movingobject" | "movingobjects" {}

    /// A person was detected.
    #[derive(Default)]
    pub struct Person = "person" {}

    /// A ball was detected.
    #[derive(Default)]
    pub struct Ball = "ball" {}

    /// Localization is lost.
    #[derive(Default)]
    pub struct LostLocalization = "lostlocalization" | "lostlocalisation" {}

    /// The target of the motion was reached.
    #[derive(Default)]
    pub struct TargetReached = "target" {}

    /// An infrared sensor detected something.
    #[derive(Default)]
    pub struct Infrared = "infrared" {
        attributes {
            /// The direction; the guide lists none.
            direction: Option<String> = "direction",
        }
    }

    /// A radar sensor detected something.
    #[derive(Default)]
    pub struct Radar = "radar" {
        attributes {
            /// The direction; the guide lists none.
            direction: Option<String> = "direction",
        }
    }

    /// A date and time. Missing fields match anything.
    #[derive(Default)]
    pub struct Date = "date" {
        attributes {
            /// 1 to 31.
            day: Option<u32> = "day",
            /// 1 to 12.
            month: Option<u32> = "month",
            /// Year with century.
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
            amount_ms: u64 = "amount",
        }
    }

    /// An event of a program.
    #[derive(Default)]
    pub struct UserEvent = "userevent" {
        attributes {
            id: String = "id",
        }
    }

    /// A random time has passed.
    #[derive(Default)]
    pub struct Random = "random" {
        attributes {
            min_ms: u64 = "min",
            max_ms: u64 = "max",
        }
    }

    /// The battery has reached this charge.
    #[derive(Default)]
    pub struct BatteryCharge = "batterycharge" {
        attributes {
            /// The charge; the guide has no unit.
            limit: f64 = "limit",
        }
    }
}

choice! {
    /// Events for which a task can wait.
    pub enum WaitEvent {
        Collision(Collision),
        /// A moving object was detected.
        MovingObject(MovingObject),
        /// A person was detected.
        Person(Person),
        /// A ball was detected.
        Ball(Ball),
        /// Localization is lost.
        LostLocalization(LostLocalization),
        /// The target was reached.
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
        /// A random time has passed.
        Random(Random),
        /// The battery has reached this charge.
        BatteryCharge(BatteryCharge),
        @
        /// An event that the guide does not define; a program with it does not run.
        Unknown
    }
}

impl Date {
    /// Whether the date exists, in some year if none is given.
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
