//! Dragoman.
