//! HTTP: the page, the WebSockets and the state of the lab.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use dragoman_io::net::TcpListener;
use dragoman_time::Tasks;
use futures::future::BoxFuture;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::access::{self, COOKIE, Refusal, Token};
use super::client::Protocol;
use super::foxglove;
use super::hub::Hub;
use super::lab::Lab;
use super::listener::{Limited, Peer};
use super::page::{self, Contents};
use super::recordings::Recordings;
use super::topics;
use super::websocket::Upgrade;
use crate::foxglove::SUBPROTOCOLS;

/// State shared by the handlers.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) hub: Arc<Hub>,
    pub(crate) lab: Arc<Lab>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) token: Option<Token>,
    /// Origins that were refused.
    pub(crate) refused: Arc<Mutex<BTreeSet<String>>>,
    /// Distinguishes this server from one that is started later.
    pub(crate) started: Arc<str>,
    /// Pages that may use Foxglove's protocol as well as our own.
    pub(crate) origins: Arc<[String]>,
}

/// Maximum number of refused origins that are logged.
const MAX_REPORTED: usize = 20;
/// Maximum number of connections at a time, of WebSockets and others.
const MAX_CONNECTIONS: usize = 512;

/// Headers of every response.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
         font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

impl Server {
    /// Logs a refused origin once: browsers do not show the answer to the one who opened the page.
    fn report_origin(&self, origin: &str) {
        let mut known = self.refused.lock();
        if known.len() < MAX_REPORTED && known.insert(origin.to_owned()) {
            tracing::warn!(origin, "connection refused: origin not allowed; see --foxglove-origins");
        }
    }

    /// Starts it on a thread of its own; the future runs until it has ended. `foxglove`: the port of Foxglove's protocol, if
    /// it is served.
    pub(crate) fn start(
        self,
        listener: TcpListener,
        foxglove: Option<TcpListener>,
    ) -> std::io::Result<BoxFuture<'static, ()>> {
        let (stop, stopped) = oneshot::channel::<()>();
        let end = dragoman_time::spawn_server("console", async move {
            super::lower_priority();
            tokio::select! {
                biased;
                _ = stopped => {}
                () = serve(listener, foxglove, self) => {}
            }
        })?;
        Ok(Box::pin(async move {
            // Dropped with the future, which ends the server.
            let _stop = stop;
            end.await;
        }))
    }
}

/// Starts what does not wait for clients.
fn work_in_ros(hub: &Arc<Hub>, has_foxglove: bool) {
    dragoman_time::spawn(topics::review(Arc::downgrade(hub)));
    let serving = Arc::clone(hub);
    dragoman_time::spawn(async move { serving.serve_rosapi().await });
    if has_foxglove {
        dragoman_time::spawn(foxglove::follow(Arc::downgrade(hub)));
    }
}

async fn serve(listener: TcpListener, foxglove: Option<TcpListener>, server: Server) {
    let received = Arc::default();
    let limited = |listener| Limited::new(listener, MAX_CONNECTIONS, Arc::clone(&received));
    work_in_ros(&server.hub, foxglove.is_some());
    let foxglove = foxglove.map(|listener| {
        let router = Router::new()
            .fallback(foxglove_client)
            .layer(from_fn_with_state(server.clone(), guard))
            .with_state(server.clone());
        accept(limited(listener), router)
    });
    let own = Server { origins: [].into(), ..server };
    let router = Router::new()
        .route("/rosbridge", get(rosbridge))
        .route("/", get(root))
        .route("/api/lab", get(state))
        .route("/recordings", get(recordings))
        .route("/recordings/{name}", get(recording))
        .fallback(file)
        .layer(from_fn_with_state(own.clone(), guard))
        .with_state(own);
    futures::future::join(accept(limited(listener), router), futures::future::OptionFuture::from(foxglove))
        .await;
}

/// Serves the connections of a port, each in a task. They end when this is dropped.
async fn accept(mut listener: Limited, router: Router) {
    let mut connections = Tasks::new();
    loop {
        let connection = {
            // This future continues while others end: it may hold a connection that waits for a place.
            let mut accepting = std::pin::pin!(listener.accept());
            loop {
                tokio::select! {
                    biased;
                    Some(ended) = connections.join_next() => if let Err(error) = ended {
                        tracing::error!(%error, "connection task failed");
                    },
                    connection = &mut accepting => break connection,
                }
            }
        };
        let peer = connection.peer().clone();
        // The handlers find it as an extension.
        let service = TowerToHyperService::new(router.clone().layer(Extension(peer.clone())));
        connections.spawn(async move {
            let mut http = http1::Builder::new();
            // `guard` dates responses, by the lab's clock.
            http.auto_date_header(false);
            let served = http.serve_connection(TokioIo::new(connection), service);
            if let Err(error) = served.with_upgrades().await {
                tracing::debug!(%error, "connection lost");
            }
            if let Some(continuation) = peer.take_continuation() {
                continuation.await;
            }
        });
    }
}

/// Checks who asks, and sets the headers of every response.
async fn guard(State(server): State<Server>, request: Request, next: Next) -> Response {
    let query = request.uri().query().map(str::to_owned);
    let mut response =
        match access::check(server.token.as_ref(), &server.origins, request.headers(), query.as_deref()) {
            Ok(()) => next.run(request).await,
            Err(refusal) => {
                let origin = request.headers().get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
                if let (Refusal::Origin, Some(origin)) = (refusal, origin) {
                    server.report_origin(origin);
                }
                refused(refusal)
            }
        };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let date = httpdate::fmt_http_date(UNIX_EPOCH + dragoman_time::wall_time());
    if let Ok(date) = HeaderValue::from_str(&date) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

fn refused(refusal: Refusal) -> Response {
    let (status, text) = match refusal {
        Refusal::Token => (
            StatusCode::UNAUTHORIZED,
            "The token is missing or wrong: open the address that dragoman printed.\n",
        ),
        Refusal::Origin => (StatusCode::FORBIDDEN, "Pages of other origins may not connect.\n"),
        Refusal::Host => (StatusCode::FORBIDDEN, "Use the address of this machine, such as 127.0.0.1.\n"),
    };
    (status, text).into_response()
}

async fn rosbridge(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    upgrade: Upgrade,
) -> Response {
    let session = server.hub.rosbridge_session();
    serve_client(server.hub, peer, upgrade, session, "rosbridge")
}

/// Any path: clients know only host and port.
async fn foxglove_client(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    upgrade: Result<Upgrade, Response>,
) -> Response {
    let Some(upgrade) = upgrade.ok().and_then(|upgrade| upgrade.with_protocol(&SUBPROTOCOLS)) else {
        let text =
            format!("This is for Foxglove and Lichtblick: WebSocket with {}.\n", SUBPROTOCOLS.join(" or "));
        return (StatusCode::BAD_REQUEST, text).into_response();
    };
    match server.hub.greet_foxglove(&server.started).await {
        Ok(protocol) => serve_client(server.hub, peer, upgrade, protocol, "Foxglove"),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

fn serve_client(
    hub: Arc<Hub>,
    peer: Peer,
    upgrade: Upgrade,
    protocol: Protocol,
    name: &'static str,
) -> Response {
    let address = peer.address;
    let Some(client) = hub.enter(address, protocol) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "There are too many clients.\n").into_response();
    };
    let guard = Leaving { hub: Arc::clone(&hub), client };
    let (response, socket) = upgrade.accept(hub.most_received());
    let connection = peer.clone();
    peer.continue_with(async move {
        // It may be gone already.
        let Some(socket) = socket.await else { return };
        connection.upgrade();
        tracing::info!(client = %address, protocol = name, "client connected");
        guard.client.serve(socket, &connection.received, &guard.hub).await;
        tracing::info!(client = %address, protocol = name, "client disconnected");
    });
    response
}

/// The page, or rosbridge: programs that know only host and port connect to the root.
async fn root(
    server: State<Server>,
    peer: Extension<Peer>,
    upgrade: Result<Upgrade, Response>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    match upgrade {
        Ok(upgrade) => rosbridge(server, peer, upgrade).await,
        Err(_page) => file(server, headers, request).await,
    }
}

/// Removes a client however it ends.
struct Leaving {
    hub: Arc<Hub>,
    client: Arc<super::client::Client>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.hub.leave(&self.client);
    }
}

async fn state(State(server): State<Server>) -> Response {
    let Ok(graph) = server.hub.graph().await else {
        return (StatusCode::SERVICE_UNAVAILABLE, "ROS is busy.\n").into_response();
    };
    let state = server.lab.json(&server.hub, &graph).to_string();
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], state).into_response()
}

async fn recordings(State(server): State<Server>) -> Response {
    server.recordings.list().await
}

async fn recording(State(server): State<Server>, Path(name): Path<String>) -> Response {
    server.recordings.response(&name).await
}

async fn file(State(server): State<Server>, headers: HeaderMap, request: Request) -> Response {
    let method = request.method();
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = request.uri().path();
    // The token moves from the address line to a cookie.
    if let (Some(token), Some(query)) = (&server.token, request.uri().query())
        && access::token_of_query(query).is_some()
    {
        let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict", token.as_str());
        // A path that begins with two slashes would be the address of another machine.
        let path = format!("/{}", path.trim_start_matches(['/', '\\']));
        let headers = [(header::LOCATION, path), (header::SET_COOKIE, cookie)];
        return (StatusCode::SEE_OTHER, headers).into_response();
    }
    let Some(file) = page::file(path) else {
        return (StatusCode::NOT_FOUND, "There is no such page.\n").into_response();
    };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if let (Some(etag), Some(known)) = (file.etag, known)
        && known.split(',').any(|known| known.trim().trim_start_matches("W/") == etag)
    {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response();
    }
    let body = match file.contents {
        Contents::Builtin(contents) => Body::from(contents),
        Contents::Read(contents) => Body::from(contents),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Some(etag) = file.etag {
        headers.insert(header::ETAG, HeaderValue::from_static(etag));
    }
    response
}
