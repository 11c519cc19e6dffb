//! HTTP: the page, the WebSockets and the state of the lab.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::future::BoxFuture;
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
use crate::foxglove::SUBPROTOCOLS;

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) hub: Arc<Hub>,
    pub(crate) lab: Arc<Lab>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) token: Option<Token>,
    /// Origins that were refused.
    pub(crate) refused: Arc<Mutex<BTreeSet<String>>>,
    /// Tells this server from one that is started later.
    pub(crate) started: Arc<str>,
    /// Pages that may use Foxglove's protocol as well as our own.
    pub(crate) origins: Arc<[String]>,
}

/// Most refused origins that are logged.
const MOST_REPORTED: usize = 20;
/// Most connections at a time, of WebSockets and others.
const MOST_CONNECTIONS: usize = 512;

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
        let mut known = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_REPORTED && known.insert(origin.to_owned()) {
            tracing::warn!(
                origin,
                "a page of another origin is refused: --foxglove-origins lists those that may connect"
            );
        }
    }

    /// Starts it on a thread of its own; the future runs until it has ended. Without a listener, which is on virtual time,
    /// it serves nobody, but does its work in ROS. `foxglove`: that of Foxglove's protocol, if it is served.
    pub(crate) fn start(
        self,
        listener: Option<TcpListener>,
        foxglove: Option<Option<TcpListener>>,
    ) -> std::io::Result<BoxFuture<'static, ()>> {
        let Some(listener) = listener else {
            work_in_ros(&self.hub, foxglove.is_some());
            return Ok(Box::pin(async move {
                let _server = self;
                std::future::pending().await
            }));
        };
        let foxglove = foxglove.flatten();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let (ended, end) = oneshot::channel::<()>();
        std::thread::Builder::new().name("console".into()).spawn(move || {
            super::lower_priority();
            runtime.block_on(async move {
                tokio::select! {
                    biased;
                    _ = stopped => {}
                    result = serve(listener, foxglove, self) => if let Err(error) = result {
                        tracing::error!(%error, "the console's server has ended");
                    },
                }
            });
            drop(runtime);
            let _ = ended.send(());
        })?;
        Ok(Box::pin(async move {
            // Dropped with the future, which ends the thread.
            let _stop = stop;
            let _ = end.await;
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

async fn serve(listener: TcpListener, foxglove: Option<TcpListener>, server: Server) -> std::io::Result<()> {
    let received = Arc::default();
    let limited = |listener| {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        Ok::<_, std::io::Error>(Limited::new(listener, MOST_CONNECTIONS, Arc::clone(&received)))
    };
    let listener = limited(listener)?;
    work_in_ros(&server.hub, foxglove.is_some());
    if let Some(listener) = foxglove {
        let listener = limited(listener)?;
        let router = Router::new()
            .fallback(foxglove_client)
            .layer(from_fn_with_state(server.clone(), guard))
            .with_state(server.clone());
        dragoman_time::spawn(async move {
            let router = router.into_make_service_with_connect_info::<Peer>();
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the server of Foxglove's protocol has ended");
            }
        });
    }
    let own = Server { origins: [].into(), ..server };
    let router = Router::new()
        .route("/rosbridge", get(rosbridge))
        .route("/", get(root))
        .route("/api/lab", get(state))
        .route("/recordings/{name}", get(recording))
        .fallback(file)
        .layer(from_fn_with_state(own.clone(), guard))
        .with_state(own);
    axum::serve(listener, router.into_make_service_with_connect_info::<Peer>()).await
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
    ConnectInfo(peer): ConnectInfo<Peer>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let session = server.hub.rosbridge_session();
    serve_client(server.hub, peer, upgrade, session, "rosbridge")
}

/// Any path: clients know only host and port.
async fn foxglove_client(
    State(server): State<Server>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = upgrade.map(|upgrade| upgrade.protocols(SUBPROTOCOLS));
    let Some(upgrade) = upgrade.ok().filter(|upgrade| upgrade.selected_protocol().is_some()) else {
        let text =
            format!("This is for Foxglove and Lichtblick: WebSocket with {}.\n", SUBPROTOCOLS.join(" or "));
        return (StatusCode::BAD_REQUEST, text).into_response();
    };
    match server.hub.greet_foxglove(&server.started).await {
        Ok(protocol) => serve_client(server.hub, peer, upgrade, protocol, "Foxglove's protocol"),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

fn serve_client(
    hub: Arc<Hub>,
    peer: Peer,
    upgrade: WebSocketUpgrade,
    protocol: Protocol,
    name: &'static str,
) -> Response {
    let address = peer.address;
    let Some(client) = hub.enter(address, protocol) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "There are too many clients.\n").into_response();
    };
    let guard = Leaving { hub: Arc::clone(&hub), client };
    let most = hub.most_received();
    upgrade.max_message_size(most).max_frame_size(most).on_upgrade(move |socket| async move {
        peer.upgrade();
        tracing::info!(client = %address, "a client of {name} has connected");
        guard.client.serve(socket, &peer.received, &guard.hub).await;
        tracing::info!(client = %address, "a client of {name} has left");
    })
}

/// The page, or rosbridge: programs that know only host and port connect to the root.
async fn root(
    server: State<Server>,
    address: ConnectInfo<Peer>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    match upgrade {
        Ok(upgrade) => rosbridge(server, address, upgrade).await,
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
