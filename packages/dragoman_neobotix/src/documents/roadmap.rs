//! Roadmaps (PlatformCtrl guide, 6.5, "Roadmap").

use super::element::element;
use super::map::check_point;
use super::{Document, DocumentError, PointElement, Problem, Version, check_names, check_range, report};

element! {
    /// Stations and the paths between them.
    #[derive(Default)]
    pub struct Roadmap = "roadmap" {
        attributes {
            /// Version of the DTD.
            version: Version = "Version",
        }
        children {
            stations: Stations = "stations",
            edges: Edges = "edges",
        }
    }

    /// The stations.
    #[derive(Default)]
    pub struct Stations = "stations" {
        children {
            /// In order.
            stations: Vec<Station> = "station",
        }
    }

    /// The paths.
    #[derive(Default)]
    pub struct Edges = "edges" {
        children {
            /// In order.
            edges: Vec<Edge> = "edge",
        }
    }

    /// A named pose on the roadmap.
    #[derive(Default)]
    pub struct Station = "station" {
        attributes {
            /// Identifier used by edges.
            id: String = "id",
            /// Name used by commands.
            name: String = "name",
            /// Direction of the platform, from the x axis.
            angle_deg: f64 = "angle",
        }
        children {
            point: PointElement = "point",
        }
    }

    /// A path from one station to another, in this direction only.
    #[derive(Default)]
    pub struct Edge = "edge" {
        attributes {
            /// Id of its first station.
            start_station: String = "startstation",
            /// Id of its last station.
            end_station: String = "endstation",
        }
        children {
            /// Intermediate points.
            points: Vec<PointElement> = "point",
            /// The same, in a separate element.
            point_list: Option<PointList> = "points",
        }
    }

    /// Intermediate points between two stations.
    #[derive(Default)]
    pub struct PointList = "points" {
        children {
            /// In order.
            points: Vec<PointElement> = "point",
        }
    }
}

impl Edge {
    /// The intermediate points, in either notation.
    pub fn way(&self) -> impl Iterator<Item = &PointElement> {
        self.points.iter().chain(self.point_list.iter().flat_map(|list| &list.points))
    }
}

impl Roadmap {
    /// The station with this name.
    pub fn station(&self, name: &str) -> Option<&Station> {
        self.stations.stations.iter().find(|station| station.name == name)
    }
}

impl Document for Roadmap {
    const ROOT: &'static str = "roadmap";

    fn check(&self) -> Vec<DocumentError> {
        let mut errors = Vec::new();
        let stations = &self.stations.stations;
        let ids = stations.iter().map(|station| (station.id.as_str(), station.position));
        let ids = check_names("station with the id", ids, &mut errors);
        check_names(
            "station",
            stations.iter().map(|station| (station.name.as_str(), station.position)),
            &mut errors,
        );
        for station in stations {
            check_range(
                "an angle in degrees",
                station.angle_deg,
                [-360.0, 360.0],
                station.position,
                &mut errors,
            );
            check_point(&station.point, &mut errors);
        }
        for edge in &self.edges.edges {
            for id in [&edge.start_station, &edge.end_station] {
                if !ids.contains(id.as_str()) {
                    let problem = Problem::Missing { what: "station with the id", name: id.clone() };
                    report(&mut errors, edge.position, problem);
                }
            }
            edge.way().for_each(|point| check_point(point, &mut errors));
        }
        errors
    }
}
