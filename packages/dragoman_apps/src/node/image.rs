//! Depth images of ROS (REP 118): 32 bit floats in m, or 16 bit integers in mm as from a Kinect's driver; and grey values
//! as in the TurtleBot thesis.

use dragoman_ros::sensor_msgs::msg::Image;

use crate::depth::{DepthImage, depth_of_grey, sampled_rows};

/// Maximum width and height of an image, pixels.
const MAX_SIZE: usize = 8192;

/// Error in a depth image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// Unsupported encoding.
    #[error("a depth image is 32FC1, 16UC1 or mono8, not '{0}'")]
    Encoding(String),
    /// Width, height or step are invalid, or do not match the data.
    #[error("{width} x {height} pixels in rows of {step} bytes do not fit {bytes} bytes")]
    Size {
        /// Pixels.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes per row.
        step: u32,
        /// Bytes of data.
        bytes: usize,
    },
}

/// Some rows of a depth image, including the middle one.
///
/// # Errors
/// Unsupported encoding, or inconsistent sizes.
pub(super) fn depth_image(image: &Image) -> Result<DepthImage, ImageError> {
    let size = match image.encoding.as_str() {
        "32FC1" => 4,
        "16UC1" | "mono16" => 2,
        "mono8" => 1,
        other => return Err(ImageError::Encoding(other.to_owned())),
    };
    let [width, height, step] = [image.width, image.height, image.step].map(|value| value as usize);
    let misfit = ImageError::Size {
        width: image.width,
        height: image.height,
        step: image.step,
        bytes: image.data.len(),
    };
    let is_sound =
        (1..=MAX_SIZE).contains(&width) && (1..=MAX_SIZE).contains(&height) && step >= width * size;
    if !is_sound {
        return Err(misfit);
    }
    let big = image.is_bigendian != 0;
    let mut rows = Vec::new();
    for row in sampled_rows(height) {
        let begin = row.checked_mul(step).ok_or_else(|| misfit.clone())?;
        let bytes = image.data.get(begin..begin + width * size).ok_or_else(|| misfit.clone())?;
        let depths = bytes.chunks_exact(size).map(|pixel| match *pixel {
            [a, b, c, d] if big => f32::from_be_bytes([a, b, c, d]),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
            [a, b] if big => f32::from(u16::from_be_bytes([a, b])) / 1000.0,
            [a, b] => f32::from(u16::from_le_bytes([a, b])) / 1000.0,
            [grey] => depth_of_grey(grey) as f32,
            _ => f32::NAN,
        });
        rows.push((row, depths.collect()));
    }
    Ok(DepthImage { width, height, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(encoding: &str, width: u32, height: u32, step: u32, data: Vec<u8>) -> Image {
        Image { encoding: encoding.to_owned(), width, height, step, data, ..Default::default() }
    }

    #[test]
    fn metres_and_millimetres_are_read_alike() {
        let metres =
            image("32FC1", 2, 1, 8, [1.5_f32, 0.25].iter().flat_map(|depth| depth.to_le_bytes()).collect());
        let millimetres = image("16UC1", 2, 1, 4, vec![0xdc, 0x05, 0xfa, 0x00]);
        let mut big = image("16UC1", 2, 1, 4, vec![0x05, 0xdc, 0x00, 0xfa]);
        big.is_bigendian = 1;
        for image in [metres, millimetres, big] {
            assert_eq!(depth_image(&image).unwrap().rows, [(0, vec![1.5, 0.25])]);
        }
    }

    #[test]
    fn grey_values_are_depths_again() {
        let read = depth_image(&image("mono8", 3, 1, 3, vec![255, 120, 0])).unwrap();
        let [(0, line)] = read.rows.as_slice() else { panic!("{read:?}") };
        assert!(
            (line[0] - 0.4).abs() < 1e-6 && (line[1] - 2.57).abs() < 0.01 && line[2].is_nan(),
            "{line:?}"
        );
    }

    #[test]
    fn the_middle_row_is_among_the_rows() {
        let image = image("16UC1", 1, 480, 2, vec![0; 960]);
        let rows: Vec<usize> = depth_image(&image).unwrap().rows.iter().map(|(row, _)| *row).collect();
        assert!(rows.contains(&240) && rows.len() == 30, "{rows:?}");
    }

    #[test]
    fn other_images_are_refused() {
        let error = depth_image(&image("rgb8", 1, 1, 3, vec![0; 3])).unwrap_err();
        assert_eq!(error.to_string(), "a depth image is 32FC1, 16UC1 or mono8, not 'rgb8'");
        for (width, height, step, bytes) in [
            (2, 2, 4, 7),
            (0, 1, 4, 4),
            (2, 1, 3, 4),
            (1, u32::MAX, 2, 9),
            (u32::MAX, 1, u32::MAX, 9),
            (1, 2, u32::MAX, 9),
        ] {
            let error = depth_image(&image("16UC1", width, height, step, vec![0; bytes])).unwrap_err();
            assert!(matches!(error, ImageError::Size { .. }), "{width} {height}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_image_is_converted_or_refused(
            sizes in proptest::array::uniform3(proptest::prop_oneof![0_u32..70, proptest::num::u32::ANY]),
            big in 0_u8..2,
            encoding in proptest::sample::select(vec!["32FC1", "16UC1", "mono16", "mono8", "rgb8", ""]),
            data in proptest::collection::vec(proptest::num::u8::ANY, 0..9000),
        ) {
            let [width, height, step] = sizes;
            let mut image = image(encoding, width, height, step, data);
            image.is_bigendian = big;
            if let Ok(read) = depth_image(&image) {
                proptest::prop_assert!(read.rows.iter().all(|(row, line)| *row < read.height && line.len() == read.width));
                proptest::prop_assert!(read.vision_line().is_some());
            }
        }
    }
}
