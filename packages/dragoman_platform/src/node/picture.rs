//! The camera's pictures as files. The node subscribes to the camera only while a picture is requested, because
//! pictures cost the camera resources.

use std::path::PathBuf;
use std::time::Duration;

use dragoman_neobotix::file_name::plain_file_name;
use dragoman_neobotix::wire::CommandKind;
use dragoman_ros::dragoman_msgs::srv::PlatformSetFile;
use dragoman_ros::sensor_msgs::msg::{CompressedImage, Image};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile, Response, WrappedTypesupport};
use futures::StreamExt;
use futures::channel::mpsc::Receiver;
use futures::channel::oneshot;

use super::files::{beside, save};
use super::state::{Refused, Shared};

/// Time limit of a picture.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Maximum width and height.
const MAX_SIDE: u32 = 16_384;

/// File format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Jpeg,
    Png,
}

impl Format {
    /// By the extension of a name; `None` for others.
    fn of(name: &str) -> Option<Self> {
        let end = name.rsplit_once('.')?.1.to_ascii_lowercase();
        match end.as_str() {
            "jpg" | "jpeg" => Some(Self::Jpeg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    /// By the first bytes.
    fn begins(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            _ => None,
        }
    }

    fn end(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }
}

/// Maximum number of pictures and scans of programs that wait for the current one; more are refused.
pub(super) const MAX_WANTED: usize = 8;

/// Serves `grab_image`, and saves the pictures and scans from `wanted`.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    shared: &Shared,
    topic: &str,
    context: &Context,
    mut wanted: Receiver<Grab>,
) -> dragoman_ros::Result<()> {
    let camera = Camera {
        context: context.clone(),
        namespace: tasks.node().namespace()?,
        topic: topic.to_owned(),
        shared: shared.clone(),
    };
    let own = camera.clone();
    tasks.spawn(async move {
        while let Some(grab) = wanted.next().await {
            if let Err(Refused(reason)) = own.grab(grab).await {
                own.shared.with(|state| state.report_refusal(reason));
            }
        }
    });
    tasks.serve_later::<PlatformSetFile::Service, _>(CommandKind::GrabImage.service(), move |request| {
        let camera = camera.clone();
        async move {
            let outcome = camera.save(&request.file_name).await;
            PlatformSetFile::Response::from_result(outcome)
        }
    })
}

/// The source of pictures, and their folder.
#[derive(Clone)]
struct Camera {
    context: Context,
    namespace: String,
    topic: String,
    shared: Shared,
}

/// A picture or scan that a program saves.
pub(super) enum Grab {
    /// A picture of the camera, under this name.
    Picture(String),
    /// A scan: its file, and the text for it.
    Scan(PathBuf, String),
}

impl Camera {
    async fn grab(&self, grab: Grab) -> Result<(), Refused> {
        match grab {
            Grab::Picture(name) => self.save(&name).await,
            Grab::Scan(file, text) => {
                let saved = beside(move || save(&file, text.as_bytes())).await;
                self.shared.ask(|_| saved)
            }
        }
    }

    async fn save(&self, name: &str) -> Result<(), Refused> {
        let grabbed = grab(&self.context, &self.namespace, &self.topic, name).await;
        let folder = self.shared.with(|state| state.data_folder.join("images"));
        let saved = beside(move || {
            let (name, bytes) = grabbed?;
            Ok::<_, Refused>(save(&folder.join(name), &bytes)?)
        });
        let saved = saved.await;
        self.shared.ask(|_| saved)
    }
}

/// Saves a picture under this name.
async fn grab(
    context: &Context,
    namespace: &str,
    topic: &str,
    name: &str,
) -> Result<(PathBuf, Vec<u8>), Refused> {
    let name = plain_file_name(name)?;
    if topic.is_empty() {
        return Err(Refused("there is no camera: parameter image_topic is empty".to_owned()));
    }
    let wanted = Format::of(name);
    let (format, bytes) = if topic.ends_with("compressed") {
        let image: CompressedImage = listen(context, namespace, topic).await?;
        let format = Format::begins(&image.data);
        let format = format.ok_or_else(|| {
            Refused(format!("the camera's format is '{}', neither JPEG nor PNG", image.format))
        })?;
        (format, image.data)
    } else {
        let image: Image = listen(context, namespace, topic).await?;
        (Format::Png, png(&image)?)
    };
    match wanted {
        Some(wanted) if wanted != format => Err(Refused(format!(
            "the camera's format is {format:?}: the name has to end in .{}",
            format.end()
        ))),
        Some(_) => Ok((PathBuf::from(name), bytes)),
        None => Ok((PathBuf::from(format!("{name}.{}", format.end())), bytes)),
    }
}

/// The next message on a topic.
async fn listen<T: WrappedTypesupport + Send + 'static>(
    context: &Context,
    namespace: &str,
    topic: &str,
) -> Result<T, Refused> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "platform_camera", namespace)?);
    let (sender, receiver) = oneshot::channel();
    let mut sender = Some(sender);
    tasks.subscribe(topic, QosProfile::sensor_data().keep_last(1), move |message: T| {
        if let Some(sender) = sender.take() {
            // The receiver may have given up waiting.
            let _ = sender.send(message);
        }
    })?;
    let node = tasks.start()?;
    let received = dragoman_time::timeout(TIME_LIMIT, async {
        tokio::select! {
            biased;
            message = receiver => message.ok(),
            () = node => None,
        }
    });
    let silent = || Refused(format!("no picture received on {topic} within {} s", TIME_LIMIT.as_secs()));
    received.await.ok().flatten().ok_or_else(silent)
}

/// A raw picture as PNG.
fn png(image: &Image) -> Result<Vec<u8>, Refused> {
    let (color, bytes_per_pixel, reversed) = match image.encoding.as_str() {
        "rgb8" => (png::ColorType::Rgb, 3, false),
        "bgr8" => (png::ColorType::Rgb, 3, true),
        "mono8" => (png::ColorType::Grayscale, 1, false),
        other => {
            return Err(Refused(format!("pictures in '{other}' cannot be saved; use rgb8, bgr8 or mono8")));
        }
    };
    let (width, height) = (image.width, image.height);
    if !((1..=MAX_SIDE).contains(&width) && (1..=MAX_SIDE).contains(&height)) {
        return Err(Refused(format!("unsupported picture size {width} by {height}")));
    }
    let (row, step) = (width as usize * bytes_per_pixel, image.step as usize);
    if step < row || image.data.len() < step * (height as usize - 1) + row {
        return Err(Refused("the picture has fewer bytes than pixels".to_owned()));
    }
    let rows = image.data.chunks(step).take(height as usize);
    let mut pixels: Vec<u8> = rows.flat_map(|bytes| bytes.iter().take(row)).copied().collect();
    if reversed {
        pixels.chunks_exact_mut(3).for_each(|pixel| pixel.swap(0, 2));
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_pictures_become_png() {
        let image = Image {
            width: 2,
            height: 2,
            step: 8,
            encoding: "bgr8".to_owned(),
            data: vec![1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12],
            ..Default::default()
        };
        let bytes = png(&image).unwrap();
        assert_eq!(Format::begins(&bytes), Some(Format::Png));
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10]);
        let short = Image { data: vec![0; 5], ..image.clone() };
        assert!(png(&short).is_err());
        assert!(png(&Image { step: 2, ..image.clone() }).is_err());
        assert!(png(&Image { width: u32::MAX, ..image.clone() }).is_err());
        assert!(png(&Image { height: 0, ..image }).is_err());
    }

    #[test]
    fn names_determine_the_format() {
        assert_eq!(
            [Format::of("a.JPG"), Format::of("a.b.png"), Format::of("a")],
            [Some(Format::Jpeg), Some(Format::Png), None]
        );
    }
}
