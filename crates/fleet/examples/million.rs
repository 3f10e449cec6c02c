//! Places a million runs of a mesh in time, and prints how long that took and how near the schedule is to the shortest possible one.
//!
//! `cargo run --release -p isobath-fleet --example million`

use isobath_fleet::schedule::packing::{Jobs, Place};
use std::time::Duration;

/// Every one measures every other.
const HOSTS: u32 = 1_000;
/// Hosts of a site, which share an uplink.
const BEHIND: u32 = 2;

fn main() {
    for takes in [&[10_000][..], &[5_000, 10_000, 30_000]] {
        let mut jobs = Jobs::default();
        let site = |host: u32| host / BEHIND;
        for step in 1..HOSTS {
            for from in 0..HOSTS {
                let to = (from + step) % HOSTS;
                let takes = takes[jobs.len() % takes.len()];
                // The uplink of a site is what all wait for.
                let links = [from, to].map(|host| HOSTS + site(host));
                let links = links.into_iter().filter(|_| site(from) != site(to));
                jobs.push(
                    [0, u64::MAX, takes],
                    true,
                    0,
                    [from, to].into_iter().chain(links),
                );
            }
        }
        let resources = (HOSTS + HOSTS / BEHIND) as usize;
        let begun = sys::clock::now();
        let places = jobs.place(&vec![None; resources]);
        let took = sys::clock::now().since(begun);
        report(&jobs, &places, resources, took);
    }
}

fn report(jobs: &Jobs, places: &[Place], resources: usize, took: Duration) {
    let (mut work, mut last) = (vec![0; resources], 0);
    for (index, place) in places.iter().enumerate() {
        let Place::At(at) = place else { continue };
        let takes = jobs.all()[index].takes;
        last = last.max(at + takes);
        jobs.uses(index)
            .iter()
            .for_each(|resource| work[*resource as usize] += takes);
    }
    let bound = work.into_iter().max().unwrap_or(1);
    println!(
        "{} runs in {:.1} s; they end after {} s, no schedule ends before {} s: {:.3}",
        places.len(),
        took.as_secs_f64(),
        last / 1_000,
        bound / 1_000,
        last as f64 / bound as f64
    );
}
