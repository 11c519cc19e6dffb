//! `vectormap`: a map of shapes in layers.

use super::common::Segment;
use super::table::interface;
use super::xdr::{Bytes, structures};

interface! {
    /// A map of shapes in layers.
    63 "vectormap"
    requests {
        GET_INFO 1: () => Info, "layers and bounds";
        GET_LAYER 3: Layer => Layer, "the shapes of a layer; the question has its name";
        WRITE_LAYER 4: Layer => (), "replace the shapes of a layer";
    }
}

structures! {
    /// A shape.
    pub struct Feature {
        pub name: String,
        /// The shape in the well-known binary form of the Open Geospatial Consortium.
        pub shape: Bytes,
        pub attributes: String,
    }

    /// A layer without its shapes.
    pub struct LayerInfo {
        pub name: String,
        /// Its bounds: two opposite corners.
        pub bounds: Segment,
    }

    /// The shapes of a layer.
    pub struct Layer {
        pub name: String,
        pub features: Vec<Feature>,
    }

    /// Layers and bounds.
    pub struct Info {
        /// Number of the spatial reference system; 0: none.
        pub reference: u32,
        pub layers: Vec<LayerInfo>,
        /// Bounds of the map: two opposite corners.
        pub bounds: Segment,
    }
}
