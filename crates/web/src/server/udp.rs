//! Pages by HTTP/3, and loads, for whoever comes to the UDP socket.

use super::respond::respond;
use super::serve::MAX_HEADER;
use super::{Page, Pages, Place};
use crate::bulk;
use crate::guests::{Guests, Limits};
use crate::http3::server::{self, Arrived};
use crate::names::HostName;
use crate::quic::Server;
use h3::error::StreamError;
use quinn::Incoming;
use quinn::crypto::rustls::HandshakeData;
use std::sync::Arc;
use std::time::Duration;

/// Connections of those for whom something is published, with those that are not open yet: twice what one page and its loads may have.
const CLIENTS: Limits = Limits {
    most: 4_096,
    most_from_one: 1_024,
    longest: Duration::MAX,
};
/// Of all others, who may come from another address than their session does.
const OTHERS: Limits = Limits {
    most: 256,
    most_from_one: 64,
    longest: Duration::MAX,
};
/// Where so many are open, everybody has to show first that it is where it says.
const CROWD: usize = 512;

/// Takes connections for as long as the thread runs.
pub(super) async fn serve(server: Arc<Server>, pages: Pages) {
    let (clients, others) = (Arc::new(Guests::default()), Arc::new(Guests::default()));
    while let Some(incoming) = server.endpoint.accept().await {
        let address = incoming.remote_address().ip();
        let is_known = pages.has_peer(address);
        let is_crowded = server.endpoint.open_connections() > CROWD;
        if pages.is_empty() {
            incoming.ignore();
            continue;
        }
        if !incoming.remote_address_validated() && (is_crowded || !is_known) {
            let _ = incoming.retry();
            continue;
        }
        let guest = if is_known {
            clients.enter(address, CLIENTS)
        } else {
            others.enter(address, OTHERS)
        };
        let Some(guest) = guest else {
            incoming.ignore();
            continue;
        };
        let (server, pages) = (Arc::clone(&server), pages.clone());
        tokio::spawn(async move {
            let _guest = guest;
            // Why a conversation came to nothing the client knows.
            let _ = answer(&server, incoming, pages).await;
        });
    }
}

/// Serves a connection until the client has had enough, the page is withdrawn, or nothing happens any more.
async fn answer(server: &Server, incoming: Incoming, pages: Pages) -> Option<()> {
    let open = server.accept(incoming).await?;
    let data = open.0.handshake_data()?.downcast::<HandshakeData>().ok()?;
    // Whose page or load is meant.
    let token = HostName::parse(data.server_name.as_deref()?)?.token;
    if data.protocol.as_deref() == Some(bulk::ALPN) {
        return bulk::take(open, pages.load(token)?).await;
    }
    let place = Place::of(pages.find(token)?)?;
    let page = place.page();
    let mut ended = page.ended.subscribe();
    let converse = server::converse(open.0.clone(), MAX_HEADER, |request, _| {
        exchange(request, Arc::clone(page))
    });
    tokio::select! {
        // An error is the end of the page, too.
        _ = ended.wait_for(|ended| *ended) => {}
        () = converse => {}
    }
    Some(())
}

async fn exchange(request: Arrived, page: Arc<Page>) -> Result<(), StreamError> {
    let (request, stream) = request.resolve_request().await?;
    let response = respond(&page, &request).await;
    server::send(stream, response).await
}
