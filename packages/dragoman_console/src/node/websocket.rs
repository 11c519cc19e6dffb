//! The way from HTTP to WebSocket (RFC 6455, 4.2), which does not depend on a runtime.

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// A connected WebSocket.
pub(crate) type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// A request for a WebSocket that can be accepted.
pub(crate) struct Upgrade {
    accept_key: HeaderValue,
    /// The subprotocols that the client offers.
    offered: Vec<HeaderValue>,
    protocol: Option<HeaderValue>,
    connection: OnUpgrade,
}

impl<S: Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        if parts.method != Method::GET {
            return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "a WebSocket begins with GET"));
        }
        let headers = &parts.headers;
        let lists = |name, value| listed(headers.get_all(name)).any(|one| one.eq_ignore_ascii_case(value));
        if !lists(header::CONNECTION, "upgrade") || !lists(header::UPGRADE, "websocket") {
            return Err(refused(StatusCode::UPGRADE_REQUIRED, "this is for WebSockets"));
        }
        if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
            let mut response = refused(StatusCode::UPGRADE_REQUIRED, "only version 13 of WebSocket is known");
            response.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
            return Err(response);
        }
        let accept_key = headers
            .get(header::SEC_WEBSOCKET_KEY)
            .and_then(|key| HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok())
            .ok_or_else(|| refused(StatusCode::BAD_REQUEST, "the header Sec-WebSocket-Key is missing"))?;
        let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().cloned().collect();
        let connection = parts
            .extensions
            .remove::<OnUpgrade>()
            .ok_or_else(|| refused(StatusCode::UPGRADE_REQUIRED, "this connection cannot be a WebSocket"))?;
        Ok(Self { accept_key, offered, protocol: None, connection })
    }
}

fn refused(status: StatusCode, reason: &str) -> Response {
    (status, format!("{reason}\n")).into_response()
}

/// The parts of a header whose values are lists.
fn listed<'a>(values: impl IntoIterator<Item = &'a HeaderValue>) -> impl Iterator<Item = &'a str> {
    values.into_iter().filter_map(|text| text.to_str().ok()).flat_map(|text| text.split(',')).map(str::trim)
}

impl Upgrade {
    /// Chooses the first of these subprotocols that the client offers; `None` if it offers none of them.
    pub(crate) fn with_protocol(mut self, known: &[&'static str]) -> Option<Self> {
        let chosen = known.iter().copied().find(|known| listed(&self.offered).any(|one| one == *known))?;
        self.protocol = Some(HeaderValue::from_static(chosen));
        Some(self)
    }

    /// The response that accepts it, and the WebSocket, whose messages are `most` bytes long at most: `None` if the
    /// connection is gone.
    pub(crate) fn accept(self, most: usize) -> (Response, impl Future<Output = Option<WebSocket>> + Send) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, self.accept_key);
        if let Some(protocol) = self.protocol {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        let config = WebSocketConfig::default().max_message_size(Some(most)).max_frame_size(Some(most));
        let socket = async move {
            let connection = self.connection.await.ok()?;
            Some(WebSocketStream::from_raw_socket(TokioIo::new(connection), Role::Server, Some(config)).await)
        };
        (response, socket)
    }
}
