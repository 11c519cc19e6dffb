//! Histograms of the times, one per topic, stacked in one SVG; as lines they are in the TurtleBot thesis, figures 5.1
//! and 5.2.

use std::error::Error;
use std::time::Duration;

use plotters::prelude::*;

use super::statistics::{Summary, milliseconds};

const SIZE: (u32, u32) = (800, 200);
const BAR: RGBColor = RGBColor(21, 96, 189);
/// Bars of a histogram.
const BARS: usize = 50;

/// The samples of one topic.
pub(super) struct Samples<'a> {
    pub(super) title: &'a str,
    pub(super) times: &'a [Duration],
}

/// The SVG text; `None` if there are no samples at all.
///
/// # Errors
/// Errors of the drawing.
pub(super) fn svg(topics: &[Samples<'_>]) -> Result<Option<String>, Box<dyn Error>> {
    let drawn: Vec<(&Samples<'_>, Summary)> =
        topics.iter().filter_map(|topic| Some((topic, Summary::of(topic.times)?))).collect();
    if drawn.is_empty() {
        return Ok(None);
    }
    let mut svg = String::new();
    {
        let size = (SIZE.0, SIZE.1 * u32::try_from(drawn.len())?);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        for (area, (topic, summary)) in area.split_evenly((drawn.len(), 1)).iter().zip(&drawn) {
            let (width, counts) = counts(topic.times, summary.longest);
            let most = counts.iter().copied().max().unwrap_or_default();
            let title = format!("{}: median {} ms", topic.title, milliseconds(summary.median));
            let mut chart = ChartBuilder::on(area)
                .margin(10)
                .caption(title, ("sans-serif", 15))
                .x_label_area_size(32)
                .y_label_area_size(48)
                .build_cartesian_2d(0.0..width * BARS as f64, 0.0..most as f64 * 1.1)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(WHITE)
                .y_labels(4)
                .y_label_formatter(&|count| format!("{count:.0}"))
                .x_desc("ms")
                .y_desc("samples")
                .draw()?;
            let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| {
                let left = at as f64 * width;
                Rectangle::new([(left, 0.0), (left + width, *count as f64)], BAR.filled())
            });
            chart.draw_series(bars)?;
        }
        area.present()?;
    }
    Ok(Some(svg))
}

/// Width of a bar, ms, and the number of times in each, from 0 to the longest.
fn counts(times: &[Duration], longest: Duration) -> (f64, [usize; BARS]) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    // Bars as narrow as the resolution of the clock are meaningless.
    let width = ms(longest).max(1e-3) / BARS as f64;
    let mut counts = [0; BARS];
    for time in times {
        // The longest is at the end of the last bar.
        let bar = ((ms(*time) / width) as usize).min(BARS - 1);
        if let Some(count) = counts.get_mut(bar) {
            *count += 1;
        }
    }
    (width, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_bar() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        let (width, counts) = counts(&times, Duration::from_millis(200));
        assert!((width - 4.0).abs() < 1e-9);
        assert_eq!(counts.iter().sum::<usize>(), 200);
        assert!(counts.iter().all(|count| (3..=5).contains(count)), "{counts:?}");
    }

    #[test]
    fn every_topic_with_samples_has_a_histogram() {
        let times: Vec<Duration> = [1, 1, 1, 2, 2, 9].map(Duration::from_millis).to_vec();
        let topics = [Samples { title: "a<b", times: &times }, Samples { title: "/odom", times: &[] }];
        let drawing = svg(&topics).unwrap().unwrap();
        assert!(drawing.starts_with("<svg ") && drawing.contains("a&lt;b: median 1.00 ms"), "{drawing}");
        assert!(!drawing.contains("/odom"));
        assert_eq!(drawing.matches("fill=\"#1560BD\"").count(), 3, "three bars: {drawing}");
        // All times zero: still a drawing.
        let zeros = [Duration::ZERO; 3];
        assert!(svg(&[Samples { title: "/zero", times: &zeros }]).unwrap().is_some());
        assert!(svg(&[]).unwrap().is_none());
    }
}
