//! A copy of a camera's view at one time, independent of the world, and its images.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::figures::CameraFigures;
use super::raster::{Canvas, Corner, Lens};
use super::surface::Surface;
use crate::noise::Noise;

/// Direction towards the light in the world, unit length: from above, slightly from one side.
const LIGHT: [f64; 3] = [0.36, 0.48, 0.8];
/// Brightness of a face that faces away from the light, and the additional brightness of one that faces it.
const BRIGHTNESS: [f64; 2] = [0.5, 0.5];
/// Colour of the background: red, green, blue.
const BACKGROUND: [f64; 3] = [0.72, 0.80, 0.90];
/// Number of different noise values in an image.
const NOISE_VALUES: usize = 1024;
/// Number of adjacent pixels that use consecutive noise values.
const NOISE_RUN: usize = 16;

/// A camera's view: copied poses, and surfaces shared with the world. Its images need no access to the world.
#[derive(Clone)]
pub struct View {
    figures: CameraFigures,
    seen: Vec<Seen>,
    /// Position of the colour camera, in the optical frame, m.
    color_offset: Vector3<f64>,
    /// Direction towards the light, in the optical frame.
    light: Vector3<f64>,
    noise: Option<(f64, Noise)>,
}

/// A shape in front of a camera.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) surface: Arc<Surface>,
    /// Its frame in the optical frame.
    pub(crate) to_camera: Isometry3<f64>,
    pub(crate) color: [f64; 4],
}

/// Depths along the optical axis, m, row by row from the top, each from the left; NaN if nothing was measured.
#[derive(Debug, Clone, Default)]
pub struct DepthImage {
    width: usize,
    height: usize,
    depths: Vec<f32>,
    corners: Vec<Corner>,
}

/// Colours, row by row from the top, each from the left.
#[derive(Debug, Clone, Default)]
pub struct ColorImage {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
    nearness: Vec<f32>,
    colors: Vec<u32>,
    corners: Vec<Corner>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            figures: CameraFigures::KINECT,
            seen: Vec::new(),
            color_offset: Vector3::zeros(),
            light: Vector3::z(),
            noise: None,
        }
    }
}

impl View {
    /// The camera's parameters.
    pub fn figures(&self) -> &CameraFigures {
        &self.figures
    }

    /// Whether images of both views are equal, because nothing has moved. Noise is not considered; see
    /// [`is_noisy`](Self::is_noisy).
    pub fn shows_the_same(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Seen, &Seen)| {
            Arc::ptr_eq(&one.surface, &other.surface)
                && one.to_camera == other.to_camera
                && one.color == other.color
        };
        self.figures == other.figures
            && self.color_offset == other.color_offset
            && self.light == other.light
            && self.seen.len() == other.seen.len()
            && self.seen.iter().zip(&other.seen).all(is_same)
    }

    /// Whether depths have noise, and so differ between images of a static scene.
    pub fn is_noisy(&self) -> bool {
        self.noise.is_some()
    }

    pub(crate) fn begin(
        &mut self,
        figures: CameraFigures,
        color_offset: Vector3<f64>,
        to_camera: UnitQuaternion<f64>,
    ) {
        self.figures = figures;
        self.color_offset = color_offset;
        self.light = to_camera * Vector3::from(LIGHT);
        self.noise = None;
        self.seen.clear();
    }

    pub(crate) fn extend(&mut self, seen: impl Iterator<Item = Seen>) {
        self.seen.extend(seen);
    }

    pub(crate) fn set_noise(&mut self, deviation: f64, noise: Noise) {
        self.noise = Some((deviation, noise));
    }

    /// Draws the depths, reusing the memory of `image`. Depths out of the camera's range are NaN (REP 118), but still
    /// hide what is behind them.
    pub fn depth(&self, image: &mut DepthImage) {
        let CameraFigures { width, height, min_range, max_range, .. } = self.figures;
        (image.width, image.height) = (width, height);
        image.depths.clear();
        image.depths.resize(width * height, 0.0);
        let lens = Lens::new(&self.figures, max_range);
        let mut canvas = Nearness(&mut image.depths);
        for seen in &self.seen {
            lens.draw(&seen.surface, &seen.to_camera, &mut image.corners, &mut canvas);
        }
        let (least, most) = (min_range as f32, max_range as f32);
        let measured = |depth: f32| if depth >= least && depth <= most { depth } else { f32::NAN };
        match &self.noise {
            None => image.depths.iter_mut().for_each(|value| *value = measured(1.0 / *value)),
            Some((deviation, noise)) => {
                let mut noise = noise.clone();
                let errors = [(); NOISE_VALUES].map(|()| (deviation * noise.normal()) as f32);
                // Xorshift: chooses the start in the noise values for a run of adjacent pixels, which are computed at
                // once.
                let mut state = noise.word() | 1;
                for values in image.depths.chunks_mut(NOISE_RUN) {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    let first = state as usize % (NOISE_VALUES - NOISE_RUN);
                    let errors = errors.get(first..first + NOISE_RUN).unwrap_or_default();
                    for (value, error) in values.iter_mut().zip(errors) {
                        let depth = 1.0 / *value;
                        *value = measured(depth + error * depth * depth);
                    }
                }
            }
        }
    }

    /// Draws the colours, reusing the memory of `image`.
    pub fn color(&self, image: &mut ColorImage) {
        let CameraFigures { width, height, .. } = self.figures;
        (image.width, image.height) = (width, height);
        image.nearness.clear();
        image.nearness.resize(width * height, 0.0);
        image.colors.clear();
        image.colors.resize(width * height, packed(&BACKGROUND, 1.0));
        let lens = Lens::new(&self.figures, f64::INFINITY);
        let mut canvas = Painting {
            nearness: &mut image.nearness,
            colors: &mut image.colors,
            light: self.light,
            paint: [0.0; 3],
            color: 0,
        };
        let shift = Translation3::from(-self.color_offset);
        for seen in &self.seen {
            let [red, green, blue, _] = seen.color;
            canvas.paint = [red, green, blue];
            lens.draw(&seen.surface, &(shift * seen.to_camera), &mut image.corners, &mut canvas);
        }
        image.rgb.resize(3 * width * height, 0);
        unpack(&image.colors, &mut image.rgb);
    }
}

impl DepthImage {
    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Depths along the optical axis, m, row by row from the top; NaN if nothing was measured.
    pub fn depths(&self) -> &[f32] {
        &self.depths
    }

    /// The depth of a pixel; `None` outside of the image.
    pub fn depth(&self, column: usize, row: usize) -> Option<f32> {
        self.depths.get(row * self.width + column).copied().filter(|_| column < self.width)
    }
}

impl ColorImage {
    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Red, green, blue of all pixels.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// Red, green, blue of a pixel; `None` outside of the image.
    pub fn pixel(&self, column: usize, row: usize) -> Option<[u8; 3]> {
        let at = 3 * (row * self.width + column);
        let pixel = self.rgb.get(at..at + 3).filter(|_| column < self.width)?;
        pixel.try_into().ok()
    }
}

/// Keeps the nearest surface only.
struct Nearness<'a>(&'a mut [f32]);

impl Canvas for Nearness<'_> {
    fn face(&mut self, _normal: &Vector3<f64>) {}

    fn span(&mut self, pixels: Range<usize>, first: f32, step: f32) {
        for (at, pixel) in (0_i32..).zip(self.0.get_mut(pixels).unwrap_or_default()) {
            let nearness = first + step * at as f32;
            *pixel = if nearness > *pixel { nearness } else { *pixel };
        }
    }
}

/// Keeps the nearest surface with its colour.
struct Painting<'a> {
    nearness: &'a mut [f32],
    colors: &'a mut [u32],
    light: Vector3<f64>,
    /// Colour of the shape.
    paint: [f64; 3],
    /// Colour of the face.
    color: u32,
}

impl Canvas for Painting<'_> {
    fn face(&mut self, normal: &Vector3<f64>) {
        let lit = normal.dot(&self.light) / normal.norm();
        self.color = packed(&self.paint, BRIGHTNESS[0] + BRIGHTNESS[1] * lit.max(0.0));
    }

    fn span(&mut self, pixels: Range<usize>, first: f32, step: f32) {
        let nearest = self.nearness.get_mut(pixels.clone()).unwrap_or_default();
        let colors = self.colors.get_mut(pixels).unwrap_or_default();
        for ((at, nearest), color) in (0_i32..).zip(nearest).zip(colors) {
            let nearness = first + step * at as f32;
            let is_nearer = nearness > *nearest;
            // Both are always written, so that several pixels are processed at once.
            *nearest = if is_nearer { nearness } else { *nearest };
            *color = if is_nearer { self.color } else { *color };
        }
    }
}

/// Writes red, green and blue of all pixels consecutively: four pixels are three words.
fn unpack(colors: &[u32], rgb: &mut [u8]) {
    let (fours, rest) = colors.as_chunks::<4>();
    let (words, bytes) = rgb.split_at_mut(12 * fours.len());
    for ([a, b, c, d], words) in fours.iter().zip(words.as_chunks_mut::<12>().0) {
        let all = [a | b << 24, b >> 8 | c << 16, c >> 16 | d << 8].map(u32::to_le_bytes);
        words.copy_from_slice(all.as_flattened());
    }
    for (bytes, color) in bytes.chunks_mut(3).zip(rest) {
        bytes.copy_from_slice(&color.to_le_bytes()[..3]);
    }
}

/// Red, green and blue as bytes, red in the lowest.
fn packed(paint: &[f64; 3], brightness: f64) -> u32 {
    let [red, green, blue] = paint.map(|part| (255.0 * (part * brightness).clamp(0.0, 1.0)).round() as u8);
    u32::from_le_bytes([red, green, blue, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pixels_are_unpacked() {
        for count in 0..14_u8 {
            let pixel = |at: u8| [3 * at, 3 * at + 1, 3 * at + 2];
            let colors: Vec<u32> =
                (0..count).map(pixel).map(|[r, g, b]| u32::from_le_bytes([r, g, b, 0])).collect();
            let mut rgb = vec![255; 3 * colors.len()];
            unpack(&colors, &mut rgb);
            assert_eq!(rgb, (0..count).flat_map(pixel).collect::<Vec<u8>>());
        }
    }
}
