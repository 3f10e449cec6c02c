//! The page of a run, and the browser that loads it.

use super::far_ends::FarEnds;
use super::{Args, Usage};
use record::Warning;
use rrul::near::{Loaders, Pages};
use schema::rrul::plan::Plan;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use web::PageModel;
use web::browser::{Browser, Chromium};

/// Octets of a page model as it is told to the server: with the streams it must fit one line of 64 KiB.
const MOST_MODEL: usize = 40 * 1_024;

/// The page that the plan loads, and what loads it. A browser that does not start is a warning, not the end.
pub(super) fn find<'a>(
    args: &Args,
    plan: &'a Plan,
    ends: &FarEnds,
) -> anyhow::Result<(Option<Pages<'a>>, Vec<Warning>)> {
    let needs_site = plan
        .probe
        .iter()
        .any(|probe| probe.kind == schema::rrul::plan::ProbeKind::Https);
    let Some(web) = &plan.web else {
        let smallest = needs_site.then(|| PageModel::find("rrul2013")).transpose();
        let pages = smallest.map_err(Usage::of)?.map(|model| Pages {
            model,
            protocols: &[],
            pause: Duration::ZERO,
            loaders: Loaders::default(),
        });
        return Ok((pages, Vec::new()));
    };
    let model = PageModel::find(&web.page).map_err(Usage::of)?;
    if serde_json::to_vec(&model)?.len() > MOST_MODEL {
        return Err(Usage::of(anyhow::anyhow!(
            "page {} has too many objects to tell the server - use fewer, or shorter names",
            web.page
        )));
    }
    let mut pages = Pages {
        model,
        protocols: &web.protocols,
        pause: web.pause.0,
        loaders: Loaders::default(),
    };
    let mut notes = Vec::new();
    if args.browser.is_some() {
        match browser(args, ends) {
            Ok(browser) => pages.loaders.browser = Some(Mutex::new(browser)),
            Err(error) => notes.push(Warning {
                code: "browser_missing".to_owned(),
                message: format!("no page was loaded in Chromium: {error}"),
                advice: "the native loader measured pages; run again when Chromium starts"
                    .to_owned(),
            }),
        }
        pages.loaders.url.clone_from(&args.url);
    }
    Ok((Some(pages), notes))
}

/// The plan with a phase of idle pages that is long enough to tell a mean, as far as the server lets a run last.
pub(super) fn lengthen(
    plan: &Plan,
    pages: Option<&Pages<'_>>,
    ends: &mut FarEnds,
    interrupt: &AtomicBool,
) -> anyhow::Result<Plan> {
    let ends = (ends.clients.first_mut(), ends.peers.first());
    let ((Some(client), Some(peer)), Some(pages)) = (ends, pages) else {
        return Ok(plan.clone());
    };
    let most = Duration::from_secs(client.welcome.limits.duration_s);
    rrul::near::lengthen(plan.clone(), pages, peer, client, most, interrupt)
}

fn browser(args: &Args, ends: &FarEnds) -> Result<Browser, web::browser::Error> {
    let chromium = Chromium::find()?;
    let (client, peer) = (ends.clients.first(), ends.peers.first());
    let site = client.zip(peer).filter(|_| args.url.is_none());
    let options = web::browser::Options {
        site: site.map(|(client, _)| web::browser::Proxied {
            peer: client.peer,
            resolver: client.peer,
            certificate: client.certificate.clone(),
            class: None,
        }),
        protocol: None,
    };
    Browser::start(&chromium, options)
}
