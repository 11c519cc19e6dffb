//! A tile of a grid, whose cells are compressed in an answer.

use miniz_oxide::{deflate, inflate};

use super::xdr::{Reader, Xdr, XdrError, write_opaque};

/// A tile of a grid. A request for a tile has no cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapData {
    /// Its first cell along x.
    pub column: u32,
    /// Its first cell along y.
    pub row: u32,
    /// Number of its cells along x.
    pub width: u32,
    /// Number of its cells along y.
    pub height: u32,
    /// Maximum value of a cell. -range: free; 0: unknown; range: occupied.
    pub range: i8,
    /// Its cells, one byte each, in rows along x, from the smallest y. In an answer they are compressed in zlib's
    /// format.
    pub data: Vec<u8>,
}

/// Maximum number of cells of a tile that [`MapData::decompress`] accepts.
pub const MAX_CELLS: usize = 64 << 20;
/// Effort of the compression; zlib's default.
const LEVEL: u8 = 6;

/// Error reading the cells of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The tile is too large.
    #[error("a tile of {width} x {height} cells; the maximum is {MAX_CELLS} cells")]
    TooLarge {
        /// Cells along x.
        width: u32,
        /// Cells along y.
        height: u32,
    },
    /// The data is not in zlib's format, or has more cells than the tile.
    #[error("the cells of a tile of {width} x {height} cannot be decompressed")]
    Compression {
        /// Cells along x.
        width: u32,
        /// Cells along y.
        height: u32,
    },
    /// The data has fewer cells than the tile.
    #[error("{cells} cells in a tile of {width} x {height}")]
    TooFew {
        /// Cells in the data.
        cells: usize,
        /// Cells along x.
        width: u32,
        /// Cells along y.
        height: u32,
    },
}

impl MapData {
    /// This tile with its cells compressed.
    pub fn compress(&self) -> Self {
        Self { data: deflate::compress_to_vec_zlib(&self.data, LEVEL), ..*self }
    }

    /// This tile with its cells decompressed. Their number is checked.
    ///
    /// # Errors
    /// The data is not in zlib's format, or does not fit the tile.
    pub fn decompress(&self) -> Result<Self, MapError> {
        let Self { width, height, .. } = *self;
        let cells = usize::try_from(u64::from(width) * u64::from(height))
            .ok()
            .filter(|cells| *cells <= MAX_CELLS)
            .ok_or(MapError::TooLarge { width, height })?;
        let data = inflate::decompress_to_vec_zlib_with_limit(&self.data, cells)
            .map_err(|_| MapError::Compression { width, height })?;
        if data.len() < cells {
            return Err(MapError::TooFew { cells: data.len(), width, height });
        }
        Ok(Self { data, ..*self })
    }
}

/// The maximum value stands between the number of cells and the cells.
impl Xdr for MapData {
    #[allow(clippy::cast_possible_truncation, reason = "a message has at most 8 MiB")]
    fn write(&self, bytes: &mut Vec<u8>) {
        self.column.write(bytes);
        self.row.write(bytes);
        self.width.write(bytes);
        self.height.write(bytes);
        (self.data.len() as u32).write(bytes);
        self.range.write(bytes);
        write_opaque(&self.data, bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        let column = u32::read(reader)?;
        let row = u32::read(reader)?;
        let width = u32::read(reader)?;
        let height = u32::read(reader)?;
        u32::read(reader)?;
        let range = i8::read(reader)?;
        let data = reader.opaque()?;
        Ok(Self { column, row, width, height, range, data })
    }
}
