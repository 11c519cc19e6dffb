//! Triangle meshes from STL (binary and text) and OBJ files. All input is validated.

/// Maximum number of triangles.
const MAX_TRIANGLES: usize = 1_000_000;
/// Maximum coordinate, m, before scaling in m.
const MAX_SIZE: f64 = 1e6;

/// Corners, m, and triangles of them, counter-clockwise seen from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    pub(crate) vertices: Vec<[f64; 3]>,
    pub(crate) indices: Vec<[u32; 3]>,
}

impl Mesh {
    /// Parses a mesh; the extension of `name` determines the format, `.stl` or `.obj`. Coordinates are multiplied by
    /// `scale`.
    ///
    /// # Errors
    /// A description of the error.
    pub fn parse(name: &str, bytes: &[u8], scale: [f64; 3]) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        let mesh = if lower.ends_with(".stl") {
            stl(bytes)?
        } else if lower.ends_with(".obj") {
            obj(&String::from_utf8_lossy(bytes))?
        } else {
            return Err(format!("{name}: meshes are read from .stl and .obj"));
        };
        mesh.scaled(name, scale)
    }

    /// From corners, and triangles as their indices, counter-clockwise seen from outside.
    ///
    /// # Errors
    /// A description of the error.
    pub(crate) fn new(
        vertices: Vec<[f64; 3]>,
        indices: Vec<[u32; 3]>,
        scale: [f64; 3],
    ) -> Result<Self, String> {
        check_count(indices.len())?;
        let missing = indices.iter().flatten().find(|at| **at as usize >= vertices.len());
        if let Some(at) = missing {
            return Err(format!("there is no corner {at}; the first is 0"));
        }
        Self { vertices, indices }.scaled("the mesh", scale)
    }

    fn scaled(mut self, name: &str, scale: [f64; 3]) -> Result<Self, String> {
        if self.indices.is_empty() {
            return Err(format!("{name} holds no triangle"));
        }
        for vertex in &mut self.vertices {
            for (value, scale) in vertex.iter_mut().zip(scale) {
                *value *= scale;
                if !value.is_finite() || value.abs() > MAX_SIZE {
                    return Err(format!("{name}: coordinate {value} m"));
                }
            }
        }
        // A mirrored mesh is turned inside out.
        if scale.iter().product::<f64>() < 0.0 {
            self.indices.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        Ok(self)
    }

    /// Its triangles, m.
    pub fn triangles(&self) -> impl Iterator<Item = [[f64; 3]; 3]> {
        let corner = |at: u32| self.vertices.get(at as usize).copied().unwrap_or_default();
        self.indices.iter().map(move |triangle| triangle.map(corner))
    }

    fn push(&mut self, corners: [[f64; 3]; 3]) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners);
        self.indices.push([first, first + 1, first + 2]);
    }
}

fn stl(bytes: &[u8]) -> Result<Mesh, String> {
    let mut mesh = Mesh { vertices: Vec::new(), indices: Vec::new() };
    let count = bytes.get(80..84).and_then(|field| field.try_into().ok()).map_or(0, u32::from_le_bytes);
    let body = bytes.get(84..).unwrap_or_default();
    // The headers of binary files may begin with "solid" as well; only the length distinguishes them.
    if count > 0 && body.len() as u64 == u64::from(count) * 50 {
        check_count(count as usize)?;
        for triangle in body.chunks_exact(50) {
            let mut numbers = triangle.get(12..48).unwrap_or_default().chunks_exact(4);
            let mut number = || {
                let bytes = numbers.next().and_then(|bytes| bytes.try_into().ok());
                f64::from(bytes.map_or(f32::NAN, f32::from_le_bytes))
            };
            let mut corner = || [number(), number(), number()];
            mesh.push([corner(), corner(), corner()]);
        }
        return Ok(mesh);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| {
        format!(
            "neither a text STL nor a binary one: {} bytes follow a count of {count} triangles",
            body.len()
        )
    })?;
    let mut corners = Vec::new();
    for (line, words) in text.lines().map(str::split_whitespace).enumerate() {
        let mut words = words;
        if words.next() == Some("vertex") {
            corners.push(three(line, words)?);
            if let [a, b, c] = corners.as_slice() {
                check_count(mesh.indices.len() + 1)?;
                mesh.push([*a, *b, *c]);
                corners.clear();
            }
        }
    }
    if corners.is_empty() { Ok(mesh) } else { Err("the last triangle is not complete".to_owned()) }
}

fn obj(text: &str) -> Result<Mesh, String> {
    let mut mesh = Mesh { vertices: Vec::new(), indices: Vec::new() };
    for (line, words) in text.lines().map(str::split_whitespace).enumerate() {
        let mut words = words;
        match words.next() {
            Some("v") => mesh.vertices.push(three(line, words)?),
            Some("f") => {
                let corners: Vec<u32> =
                    words.map(|word| index(line, word, mesh.vertices.len())).collect::<Result<_, _>>()?;
                let Some((&first, others)) = corners.split_first() else { continue };
                for pair in others.windows(2) {
                    if let [second, third] = pair {
                        check_count(mesh.indices.len() + 1)?;
                        mesh.indices.push([first, *second, *third]);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(mesh)
}

fn three<'a>(line: usize, mut words: impl Iterator<Item = &'a str>) -> Result<[f64; 3], String> {
    let mut number = || {
        let word = words.next().unwrap_or_default();
        word.parse().map_err(|_| format!("line {}: {word:?} is not a number", line + 1))
    };
    Ok([number()?, number()?, number()?])
}

/// OBJ counts from 1, or backwards from the last corner so far; the text after a slash is texture and normal.
fn index(line: usize, word: &str, len: usize) -> Result<u32, String> {
    let number: Option<i64> = word.split('/').next().and_then(|number| number.parse().ok());
    let at = match number {
        Some(number) if number > 0 => usize::try_from(number - 1).ok(),
        Some(number) if number < 0 => {
            usize::try_from(number.unsigned_abs()).ok().and_then(|back| len.checked_sub(back))
        }
        _ => None,
    };
    at.filter(|at| *at < len)
        .and_then(|at| u32::try_from(at).ok())
        .ok_or_else(|| format!("line {}: there is no corner {word}", line + 1))
}

fn check_count(count: usize) -> Result<(), String> {
    if count > MAX_TRIANGLES { Err(format!("more than {MAX_TRIANGLES} triangles")) } else { Ok(()) }
}
