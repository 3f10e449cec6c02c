//! Pages by HTTP/3, and loads, for whoever comes to the UDP socket.

use super::respond::respond;
use super::serve::MAX_HEADER;
use super::{Page, Pages, Place, WINDOWS};
use crate::bulk;
use crate::http3::server::{self, Arrived};
use crate::names::HostName;
use crate::quic;
use h3::error::StreamError;
use quinn::crypto::rustls::HandshakeData;
use quinn::{Endpoint, Incoming};
use std::sync::Arc;

/// Connections of all pages, with those that are not open yet.
const MOST: usize = 2_048;

/// Takes connections for as long as the thread runs.
pub(super) async fn serve(endpoint: Endpoint, pages: Pages) {
    while let Some(incoming) = endpoint.accept().await {
        if pages.is_empty() || endpoint.open_connections() >= MOST {
            incoming.ignore();
        } else if incoming.remote_address_validated()
            || pages.has_peer(incoming.remote_address().ip())
        {
            tokio::spawn(answer(incoming, pages.clone()));
        } else if incoming.may_retry() {
            let _ = incoming.retry();
        } else {
            incoming.ignore();
        }
    }
}

/// Serves a connection until the client has had enough, the page is withdrawn, or nothing happens any more.
async fn answer(incoming: Incoming, pages: Pages) -> Option<()> {
    let open = quic::accept(incoming, WINDOWS).await?;
    let data = open.0.handshake_data()?.downcast::<HandshakeData>().ok()?;
    // Whose page or load is meant.
    let token = HostName::parse(data.server_name.as_deref()?)?.token;
    if data.protocol.as_deref() == Some(bulk::ALPN) {
        return bulk::take(open, pages.load(token)?).await;
    }
    let place = Place::of(pages.find(token)?)?;
    let page = place.page();
    let mut ended = page.ended.subscribe();
    let converse = server::converse(open.0.clone(), MAX_HEADER, |request| {
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
