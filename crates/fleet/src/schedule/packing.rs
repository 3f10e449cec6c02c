//! Places jobs in time so that no two use the same resource at once.
//!
//! **Event-driven list scheduling** (Graham, SIAM J. Appl. Math. 17(2), 1969): whenever a resource becomes free, or a job comes, the
//! resource with the most work left takes a job whose other resources are free, preferably with those that have much left, too. Where all jobs take two resources and as long as each other this colours the edges of a graph; the longest
//! list of work is a bound below which no schedule can be.
//!
//! A job that waits is on the list of one resource, which is taken: nothing can come of it before that one is free, so until then nobody looks
//! at it (the watched literals of satisfiability solvers: Moskewicz et al., DAC 2001). When the resource becomes free, the job begins, or it goes on
//! the list of another that is taken.
//!
//! What comes out depends on the jobs alone, so all hosts that make the schedule make the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Jobs that could begin, among which one is chosen for its other resources.
const CHOICE: usize = 4;
/// Jobs that a resource with many looks at in one event. Where nearly everything is taken it would look at all of them for nothing; so it goes on
/// with the others in the next event.
const MOST_LOOKS: usize = 8;
/// More jobs than this are many: fewer are all looked at.
const MANY: usize = 64;

/// What is to be placed. Times are milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// It begins no earlier.
    pub release: u64,
    /// It begins no later, or not at all.
    pub latest: u64,
    /// How long its resources are taken.
    pub takes: u64,
    /// Whether it needs its resources for itself; otherwise it begins at its release.
    pub is_exclusive: bool,
    /// What it takes of the budgets of its resources.
    pub octets: u64,
    first: u32,
    count: u32,
}

/// Jobs in the order of their releases, and their resources.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    jobs: Vec<Job>,
    uses: Vec<u32>,
}

/// What becomes of a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// It begins then.
    At(u64),
    /// Its resources are taken for too long.
    NoRoom,
    /// One of its resources has spent its budget.
    NoBudget,
}

impl Jobs {
    /// Adds a job, which is released no earlier than those before it, with the resources that it needs, by number.
    pub fn push(
        &mut self,
        [release, latest, takes]: [u64; 3],
        is_exclusive: bool,
        octets: u64,
        uses: impl IntoIterator<Item = u32>,
    ) {
        let first = self.uses.len();
        self.uses.extend(uses);
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        self.jobs.push(Job {
            release,
            latest,
            takes,
            is_exclusive,
            octets,
            first: number(first),
            count: number(self.uses.len() - first),
        });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// All of them, as they were added.
    pub fn all(&self) -> &[Job] {
        &self.jobs
    }

    /// The resources of job `index`.
    pub fn uses(&self, index: usize) -> &[u32] {
        let job = &self.jobs[index];
        &self.uses[job.first as usize..(job.first + job.count) as usize]
    }

    /// Places every job. `budgets` has an entry for each resource: what its jobs may take together, if there is a limit.
    pub fn place(&self, budgets: &[Option<u64>]) -> Vec<Place> {
        Packer::new(self, budgets).run()
    }
}

/// A resource on its way through time.
#[derive(Clone, Debug, Default)]
struct Resource {
    free_at: u64,
    /// What its waiting jobs take together.
    work: u64,
    /// Jobs that wait for it to become free, the first released first.
    waiting: BinaryHeap<Reverse<u32>>,
    left: Option<u64>,
}

struct Packer<'a> {
    jobs: &'a Jobs,
    places: Vec<Option<Place>>,
    resources: Vec<Resource>,
    /// When which resource becomes free.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    released: usize,
    /// Free resources that have not looked at all of their jobs.
    hungry: Vec<u32>,
}

impl<'a> Packer<'a> {
    fn new(jobs: &'a Jobs, budgets: &[Option<u64>]) -> Self {
        let resource = |left: &Option<u64>| Resource {
            left: *left,
            ..Resource::default()
        };
        Self {
            jobs,
            places: vec![None; jobs.len()],
            resources: budgets.iter().map(resource).collect(),
            ends: BinaryHeap::new(),
            released: 0,
            hungry: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<Place> {
        let mut touched = Vec::new();
        while let Some(now) = self.next_event() {
            touched.clear();
            touched.append(&mut self.hungry);
            self.release(now, &mut touched);
            while let Some(Reverse((at, resource))) = self.ends.peek().copied()
                && at <= now
            {
                self.ends.pop();
                touched.push(resource);
            }
            touched.sort_unstable_by_key(|resource| self.turn(*resource));
            touched.dedup();
            for resource in &touched {
                self.serve(*resource, now);
            }
        }
        let places = self.places.into_iter();
        places.map(|place| place.unwrap_or(Place::NoRoom)).collect()
    }

    /// Whose turn it is first: most work, then who has waited longest.
    fn turn(&self, resource: u32) -> (Reverse<u64>, u32, u32) {
        let entry = &self.resources[resource as usize];
        let first = entry
            .waiting
            .peek()
            .map_or(u32::MAX, |Reverse(first)| *first);
        (Reverse(entry.work), first, resource)
    }

    fn next_event(&self) -> Option<u64> {
        let release = self.jobs.jobs.get(self.released).map(|job| job.release);
        let end = self.ends.peek().map(|Reverse((at, _))| *at);
        release.into_iter().chain(end).min()
    }

    fn release(&mut self, now: u64, touched: &mut Vec<u32>) {
        while let Some(job) = self.jobs.jobs.get(self.released)
            && job.release <= now
        {
            let index = self.released;
            self.released += 1;
            if !job.is_exclusive {
                self.places[index] = Some(self.spend(index, now));
                continue;
            }
            for resource in self.jobs.uses(index) {
                self.resources[*resource as usize].work += job.takes;
            }
            // If all are free, one of them is asked about it in this event.
            if !self.park(index, now)
                && let Some(resource) = self.heaviest(index, |_| true)
            {
                self.wait_for(resource, index);
                touched.push(resource);
            }
        }
    }

    /// Gives a resource that is free a job, if one can begin.
    fn serve(&mut self, resource: u32, now: u64) {
        while self.resources[resource as usize].free_at <= now
            && let Some(index) = self.choose(resource, now)
        {
            match self.spend(index, now) {
                Place::At(_) => self.begin(index, now),
                // There is one less to choose from.
                other => self.settle(index, other),
            }
        }
    }

    /// The job that `resource`, which is free, had best begin now. Whatever waits for others goes there.
    fn choose(&mut self, resource: u32, now: u64) -> Option<usize> {
        let mut found = Vec::with_capacity(CHOICE);
        let is_long = self.resources[resource as usize].waiting.len() > MANY;
        let most = if is_long { MOST_LOOKS } else { MANY };
        let mut looks = 0;
        while found.len() < CHOICE && looks < most {
            let Some(Reverse(index)) = self.resources[resource as usize].waiting.pop() else {
                break;
            };
            let index = index as usize;
            if self.jobs.jobs[index].latest < now {
                // Gone for good, so it is looked at once only.
                self.settle(index, Place::NoRoom);
                continue;
            }
            looks += 1;
            if !self.park(index, now) {
                found.push(index);
            }
        }
        if found.is_empty() && is_long {
            self.hungry.push(resource);
        }
        // The first of those with the most work.
        let best = found
            .iter()
            .rev()
            .copied()
            .max_by_key(|index| self.weight(*index))?;
        for index in found.into_iter().filter(|index| *index != best) {
            self.wait_for(resource, index);
        }
        Some(best)
    }

    /// Lets job `index` wait for a resource that is taken; false if all are free.
    fn park(&mut self, index: usize, now: u64) -> bool {
        let taken = self.heaviest(index, |resource| resource.free_at > now);
        if let Some(taken) = taken {
            self.wait_for(taken, index);
        }
        taken.is_some()
    }

    /// Of the resources of job `index` that are so, the one with the most work: jobs that want the same two wait for the same one, and the
    /// first come are served first.
    fn heaviest(&self, index: usize, is_so: impl Fn(&Resource) -> bool) -> Option<u32> {
        let entry = |resource: &u32| &self.resources[*resource as usize];
        let uses = self.jobs.uses(index).iter().copied();
        let so = uses.filter(|resource| is_so(entry(resource)));
        so.max_by_key(|resource| (entry(resource).work, Reverse(*resource)))
    }

    fn wait_for(&mut self, resource: u32, index: usize) {
        let waiting = &mut self.resources[resource as usize].waiting;
        waiting.push(Reverse(u32::try_from(index).unwrap_or(u32::MAX)));
    }

    /// How much work the resources of job `index` have before them.
    fn weight(&self, index: usize) -> u64 {
        let uses = self.jobs.uses(index).iter();
        uses.map(|resource| self.resources[*resource as usize].work)
            .sum()
    }

    /// Takes what job `index` needs out of the budgets, if all have it.
    fn spend(&mut self, index: usize, now: u64) -> Place {
        let octets = self.jobs.jobs[index].octets;
        let has = |resource: &u32| {
            let left = self.resources[*resource as usize].left;
            left.is_none_or(|left| left >= octets)
        };
        if !self.jobs.uses(index).iter().all(has) {
            return Place::NoBudget;
        }
        for resource in self.jobs.uses(index) {
            let left = &mut self.resources[*resource as usize].left;
            *left = left.map(|left| left - octets);
        }
        Place::At(now)
    }

    fn begin(&mut self, index: usize, now: u64) {
        self.settle(index, Place::At(now));
        let end = now + self.jobs.jobs[index].takes;
        for resource in self.jobs.uses(index) {
            self.resources[*resource as usize].free_at = end;
            self.ends.push(Reverse((end, *resource)));
        }
    }

    fn settle(&mut self, index: usize, place: Place) {
        self.places[index] = Some(place);
        for resource in self.jobs.uses(index) {
            self.resources[*resource as usize].work -= self.jobs.jobs[index].takes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every ordered pair of `hosts` hosts; the first `behind` of them share a link.
    fn mesh(hosts: u32, behind: u32, takes: &[u64]) -> (Jobs, usize) {
        let mut jobs = Jobs::default();
        for step in 1..hosts {
            for from in 0..hosts {
                let to = (from + step) % hosts;
                let link = (from < behind) != (to < behind);
                let uses = [from, to].into_iter().chain(link.then_some(hosts));
                let takes = takes[jobs.len() % takes.len()];
                jobs.push([0, u64::MAX, takes], true, 0, uses);
            }
        }
        (jobs, hosts as usize + 1)
    }

    /// Panics if two jobs overlap; the end of the last, and the bound below which no schedule can be.
    fn judge(jobs: &Jobs, resources: usize, places: &[Place]) -> (u64, u64) {
        let mut taken = vec![Vec::new(); resources];
        for (index, place) in places.iter().enumerate() {
            let (Place::At(at), job) = (*place, jobs.all()[index]) else {
                continue;
            };
            assert!((job.release..=job.latest).contains(&at), "{job:?} at {at}");
            for resource in jobs.uses(index).iter().filter(|_| job.is_exclusive) {
                taken[*resource as usize].push((at, at + job.takes));
            }
        }
        let (mut last, mut bound) = (0, 0);
        for spans in &mut taken {
            spans.sort_unstable();
            assert!(spans.windows(2).all(|two| two[0].1 <= two[1].0));
            last = last.max(spans.last().map_or(0, |span| span.1));
            bound = bound.max(spans.iter().map(|span| span.1 - span.0).sum());
        }
        (last, bound)
    }

    #[test]
    fn a_mesh_is_nearly_as_short_as_it_can_be() {
        for (hosts, behind, takes) in [
            (60, 0, &[10_000][..]),
            (61, 0, &[10_000]),
            (60, 10, &[10_000]),
            (60, 30, &[5_000, 10_000, 30_000]),
            (60, 0, &[1_000, 60_000]),
            (250, 25, &[5_000, 10_000, 30_000]),
        ] {
            assert_nearly_as_short_as_can_be(hosts, behind, takes);
        }
    }

    #[track_caller]
    fn assert_nearly_as_short_as_can_be(hosts: u32, behind: u32, takes: &[u64]) {
        let (jobs, resources) = mesh(hosts, behind, takes);
        let places = jobs.place(&vec![None; resources]);
        assert!(places.iter().all(|place| matches!(place, Place::At(_))));
        let (last, bound) = judge(&jobs, resources, &places);
        let ratio = last as f64 / bound as f64;
        assert!(ratio <= 1.2, "{hosts} {behind} {takes:?}: {ratio:.3}");
    }

    #[test]
    #[ignore = "a minute of a processor"]
    fn a_million_runs_of_a_thousand_hosts_are_packed_as_well() {
        assert_nearly_as_short_as_can_be(1_001, 100, &[5_000, 10_000, 30_000]);
    }

    #[test]
    fn who_waits_too_long_or_has_spent_its_budget_is_left_out() {
        let mut jobs = Jobs::default();
        for _ in 0..3 {
            jobs.push([0, 15, 10], true, 40, [0, 1]);
        }
        let places = jobs.place(&[None, None]);
        assert_eq!(places, [Place::At(0), Place::At(10), Place::NoRoom]);
        let places = jobs.place(&[None, Some(79)]);
        assert_eq!(places, [Place::At(0), Place::NoBudget, Place::NoBudget]);
        // What does not load waits for nobody, but counts.
        let mut jobs = Jobs::default();
        jobs.push([0, 0, 10], true, 40, [0, 1]);
        jobs.push([5, 5, 10], false, 40, [0, 1]);
        jobs.push([6, 6, 10], false, 40, [0, 1]);
        let places = jobs.place(&[Some(80), None]);
        assert_eq!(places, [Place::At(0), Place::At(5), Place::NoBudget]);
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_nobody_waits_for_nothing(
            specs in proptest::collection::vec((0_u64..50, 1_u64..20, 0_u32..6, 0_u32..6, 0_u64..40, any::<bool>()), 1..60),
        ) {
            let mut specs: Vec<_> = specs.into_iter().filter(|spec| spec.2 != spec.3).collect();
            specs.sort_by_key(|spec| spec.0);
            let mut jobs = Jobs::default();
            for (release, takes, a, b, patience, is_exclusive) in specs {
                jobs.push([release, release + patience, takes], is_exclusive, 1, [a, b]);
            }
            let places = jobs.place(&[None; 6]);
            judge(&jobs, 6, &places);
            prop_assert_eq!(&places, &jobs.place(&[None; 6]));
            // Whoever was left out found one of its resources taken when it came.
            for (index, place) in places.iter().enumerate().filter(|(_, place)| **place == Place::NoRoom) {
                let release = jobs.all()[index].release;
                let is_taken = places.iter().enumerate().any(|(other, place)| {
                    let Place::At(at) = *place else { return false };
                    let shares = jobs.uses(other).iter().any(|r| jobs.uses(index).contains(r));
                    shares && at <= release && release < at + jobs.all()[other].takes
                });
                let begins_then = places.iter().enumerate().any(|(other, place)| {
                    *place == Place::At(release) && jobs.uses(other).iter().any(|r| jobs.uses(index).contains(r))
                });
                prop_assert!(is_taken || begins_then, "{index}: {place:?}");
            }
        }
    }
}
