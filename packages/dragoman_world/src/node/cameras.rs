//! The pictures of cameras: drawn, encoded and published by one task per camera, in a thread of its own, only for topics
//! with subscribers.
//!
//! The worlds are locked while poses are copied; drawing and sending blocks nothing. Every picture is drawn once, for
//! all topics that show it, and only if something has moved or depths have noise.

use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::sensor_msgs::msg::{CameraInfo, CompressedImage, Image};
use dragoman_ros::tasks::{NodeError, NodeTasks};
use dragoman_ros::{Node, Publisher, QosProfile, Result};
use dragoman_time::{Thread, now, sleep_until, spawn_thread};
use futures::channel::oneshot;
use futures::future::{Either, select};

use super::pictures::{self, Encoding};
use super::sensors::{Sensor, SensorKind};
use super::{Live, Stamps, listened};
use crate::{CameraFigures, ColorImage, DepthImage, View};

/// Default rate of pictures, Hz: that of the Kinect.
const RATE: f64 = 30.0;
/// Period of checking for subscribers while there are none.
const IDLE_PERIOD: Duration = Duration::from_millis(100);

/// Creates the topics, `depth/image` with grey values if `is_grey`, and starts a task for each camera, in a thread of its
/// own, that ends with the node.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    live: &Live,
    stamps: &Stamps,
    sensors: &[Sensor],
    is_grey: bool,
) -> std::result::Result<(), NodeError> {
    for sensor in sensors {
        let SensorKind::Camera(figures, _) = sensor.kind else { continue };
        let mut feed = Feed::new(tasks.node(), live, stamps, sensor, figures, is_grey)?;
        let (end, ended) = oneshot::channel();
        let name = format!("camera {}", sensor.name.chars().take(8).collect::<String>());
        let thread = spawn_thread(&name, async move { feed.run(ended).await })?;
        let running = Running { end: Some(end), thread: Some(thread) };
        tasks.spawn(async move {
            let _running = running;
            std::future::pending::<()>().await;
        });
    }
    Ok(())
}

/// A task that ends when this is dropped.
struct Running {
    end: Option<oneshot::Sender<()>>,
    thread: Option<Thread>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

/// A camera and its topics.
struct Feed {
    live: Live,
    stamps: Stamps,
    world: String,
    name: String,
    period: Duration,
    figures: CameraFigures,
    view: View,
    depth: DepthImage,
    color: ColorImage,
    /// The view drawn in `depth`; `None` before the first.
    measured: Option<View>,
    /// The view drawn in `color`.
    painted: Option<View>,
    /// The brightness of `color`; empty until it is needed.
    gray: Vec<u8>,
    /// Buffer for converting a picture to another encoding.
    bytes: Vec<u8>,
    /// Whether the depth image has grey values instead of metres.
    is_grey: bool,
    image: Topic<Image>,
    image_compressed: Topic<CompressedImage>,
    millimetres: Topic<Image>,
    depth_info: Topic<CameraInfo>,
    rgb: Topic<Image>,
    rgb_compressed: Topic<CompressedImage>,
    mono: Topic<Image>,
    mono_compressed: Topic<CompressedImage>,
    rgb_info: Topic<CameraInfo>,
}

/// A topic, and its reused message.
struct Topic<T: dragoman_ros::WrappedTypesupport + 'static> {
    publisher: Publisher<T>,
    message: T,
    /// Whether the topic had subscribers when last checked.
    is_wanted: bool,
    /// Whether the message contains the current picture.
    is_filled: bool,
}

impl<T: dragoman_ros::WrappedTypesupport> Topic<T> {
    fn new(node: &mut Node, name: &str, message: T) -> Result<Self> {
        // Reliable, so that it matches any subscription.
        let publisher = node.create_publisher(name, QosProfile::default().keep_last(2))?;
        Ok(Self { publisher, message, is_wanted: false, is_filled: false })
    }

    fn look(&mut self) -> bool {
        self.is_wanted = listened(&self.publisher);
        self.is_wanted
    }

    /// Sends the message with a new stamp, and with new data if necessary, if the topic has subscribers.
    fn send(&mut self, stamp: impl FnOnce(&mut T), fill: impl FnOnce(&mut T)) {
        if self.is_wanted {
            stamp(&mut self.message);
            if !self.is_filled {
                fill(&mut self.message);
                self.is_filled = true;
            }
            if let Err(error) = self.publisher.publish(&self.message) {
                tracing::warn!(%error, "publishing a picture failed");
            }
        }
    }
}

impl Topic<Image> {
    /// As [`send`](Self::send), with data of the picture's size to fill.
    fn show(&mut self, stamp: &Time, fill: impl FnOnce(&mut [u8])) {
        self.send(
            |message| message.header.stamp = stamp.clone(),
            |message| {
                let size = pictures::size(message);
                message.data.resize(size, 0);
                fill(&mut message.data);
            },
        );
    }

    fn release_memory(&mut self) {
        (self.message.data, self.is_filled) = (Vec::new(), false);
    }
}

impl Topic<CompressedImage> {
    fn release_memory(&mut self) {
        (self.message.data, self.is_filled) = (Vec::new(), false);
    }
}

impl Feed {
    fn new(
        node: &mut Node,
        live: &Live,
        stamps: &Stamps,
        sensor: &Sensor,
        figures: CameraFigures,
        is_grey: bool,
    ) -> Result<Self> {
        let topic = |end: &str| format!("{}/{end}", sensor.topic);
        let [depth_frame, color_frame] = sensor.optical_frames();
        let (depth_frame, color_frame) = (depth_frame.as_str(), color_frame.as_str());
        let blank = |encoding, frame| pictures::blank(encoding, &figures, frame);
        let compressed = pictures::blank_compressed;
        use Encoding::{Metres, Millimetres, Mono, Rgb};
        let depth = if is_grey { Mono } else { Metres };
        Ok(Self {
            live: live.clone(),
            stamps: stamps.clone(),
            world: sensor.world.clone(),
            name: sensor.name.clone(),
            period: Duration::from_secs_f64(1.0 / sensor.rate.unwrap_or(RATE)),
            figures,
            view: View::default(),
            depth: DepthImage::default(),
            color: ColorImage::default(),
            measured: None,
            painted: None,
            gray: Vec::new(),
            bytes: Vec::new(),
            is_grey,
            image: Topic::new(node, &topic("depth/image"), blank(depth, depth_frame))?,
            image_compressed: Topic::new(
                node,
                &topic("depth/image/compressed"),
                compressed(depth, depth_frame),
            )?,
            millimetres: Topic::new(node, &topic("depth/image_raw"), blank(Millimetres, depth_frame))?,
            depth_info: Topic::new(
                node,
                &topic("depth/camera_info"),
                pictures::camera_info(&figures, depth_frame),
            )?,
            rgb: Topic::new(node, &topic("rgb/image_color"), blank(Rgb, color_frame))?,
            rgb_compressed: Topic::new(
                node,
                &topic("rgb/image_color/compressed"),
                compressed(Rgb, color_frame),
            )?,
            mono: Topic::new(node, &topic("rgb/image_mono"), blank(Mono, color_frame))?,
            mono_compressed: Topic::new(
                node,
                &topic("rgb/image_mono/compressed"),
                compressed(Mono, color_frame),
            )?,
            rgb_info: Topic::new(
                node,
                &topic("rgb/camera_info"),
                pictures::camera_info(&figures, color_frame),
            )?,
        })
    }

    /// Publishes until the sender of `ended` is dropped.
    async fn run(&mut self, mut ended: oneshot::Receiver<()>) {
        let mut due = now();
        loop {
            let begin = now();
            due = if self.publish() {
                (due + self.period).max(begin)
            } else {
                self.release_memory();
                begin + IDLE_PERIOD
            };
            if let Either::Left(_) = select(&mut ended, sleep_until(due)).await {
                return;
            }
        }
    }

    /// Gives the memory of the last pictures back.
    fn release_memory(&mut self) {
        if self.measured.take().is_some() {
            self.depth = DepthImage::default();
            self.image.release_memory();
            self.millimetres.release_memory();
            self.image_compressed.release_memory();
        }
        if self.painted.take().is_some() {
            (self.color, self.gray) = (ColorImage::default(), Vec::new());
            self.rgb.release_memory();
            self.rgb_compressed.release_memory();
            self.mono.release_memory();
            self.mono_compressed.release_memory();
        }
        self.bytes = Vec::new();
    }

    /// Returns whether there are subscribers.
    fn publish(&mut self) -> bool {
        let depth =
            [self.image.look(), self.image_compressed.look(), self.millimetres.look()].contains(&true);
        let color =
            [self.rgb.look(), self.rgb_compressed.look(), self.mono.look(), self.mono_compressed.look()]
                .contains(&true);
        let info = [self.depth_info.look(), self.rgb_info.look()].contains(&true);
        if !depth && !color && !info {
            return false;
        }
        let (stamps, live) = (&self.stamps, &self.live);
        let seen = live.with(|state| {
            let stamp = stamps.now(&state.pace);
            state.pace.worlds().look(Some(&self.world), &self.name, &mut self.view).map(|()| stamp)
        });
        match seen {
            Ok(stamp) => {
                if depth {
                    self.publish_depth(&stamp);
                }
                if color {
                    self.publish_color(&stamp);
                }
                self.depth_info.send(|info| info.header.stamp = stamp.clone(), |_| {});
                self.rgb_info.send(|info| info.header.stamp = stamp.clone(), |_| {});
            }
            Err(error) => tracing::warn!(%error, "reading a camera failed"),
        }
        true
    }

    fn publish_depth(&mut self, stamp: &Time) {
        if self.view.is_noisy() || !shows(self.measured.as_ref(), &self.view) {
            self.view.depth(&mut self.depth);
            self.measured.get_or_insert_default().clone_from(&self.view);
            self.image.is_filled = false;
            self.millimetres.is_filled = false;
            self.image_compressed.is_filled = false;
        }
        let (image, bytes, figures, is_grey) = (&self.depth, &mut self.bytes, &self.figures, self.is_grey);
        self.image.show(stamp, |bytes| match is_grey {
            true => pictures::grey(image, figures, bytes),
            false => pictures::metres(image, bytes),
        });
        self.millimetres.show(stamp, |bytes| pictures::millimetres(image, bytes));
        self.image_compressed.send(
            |message| message.header.stamp = stamp.clone(),
            |message| {
                if is_grey {
                    bytes.resize(figures.width * figures.height, 0);
                    pictures::grey(image, figures, bytes);
                    pictures::jpeg(Encoding::Mono, figures, bytes, &mut message.data);
                } else {
                    pictures::png(image, bytes, &mut message.data);
                }
            },
        );
    }

    fn publish_color(&mut self, stamp: &Time) {
        if !shows(self.painted.as_ref(), &self.view) {
            self.view.color(&mut self.color);
            self.painted.get_or_insert_default().clone_from(&self.view);
            self.gray.clear();
            self.rgb.is_filled = false;
            self.rgb_compressed.is_filled = false;
            self.mono.is_filled = false;
            self.mono_compressed.is_filled = false;
        }
        let (image, figures) = (&self.color, &self.figures);
        if self.gray.is_empty() && (self.mono.is_wanted || self.mono_compressed.is_wanted) {
            self.gray.resize(figures.width * figures.height, 0);
            pictures::mono(image, &mut self.gray);
        }
        let gray = &self.gray;
        self.rgb.show(stamp, |bytes| bytes.copy_from_slice(image.rgb()));
        self.rgb_compressed.send(
            |message| message.header.stamp = stamp.clone(),
            |message| pictures::jpeg(Encoding::Rgb, figures, image.rgb(), &mut message.data),
        );
        self.mono.show(stamp, |bytes| bytes.copy_from_slice(gray));
        self.mono_compressed.send(
            |message| message.header.stamp = stamp.clone(),
            |message| pictures::jpeg(Encoding::Mono, figures, gray, &mut message.data),
        );
    }
}

/// Whether an image drawn of `drawn` is also valid for `view`.
fn shows(drawn: Option<&View>, view: &View) -> bool {
    drawn.is_some_and(|drawn| drawn.shows_the_same(view))
}
