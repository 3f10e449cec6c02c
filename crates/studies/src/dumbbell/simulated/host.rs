//! A host: its connections, its manager if it has one, and an application.

use super::body::{Body, with};
use super::control::CONTROL;
use super::overlay::Overlay;
use mgrp::message::Message;
use sim::tcp::{Incoming, Key, Settings, Stack, Terms};
use sim::{Node, NodeId, Parcel};
use std::sync::mpsc::Receiver;
use transport::Options;
use units::{FlowId, Instant};

/// What opens connections of a host, or takes them, and what they are for.
pub trait Application {
    /// A connection has something new, or room for what had none.
    fn handle_change(&mut self, key: Key, stack: &mut Stack, now: Instant);

    /// A connection is asked for.
    fn handle_asked(&mut self, from: NodeId, flow: FlowId, stack: &mut Stack, now: Instant);

    /// The instant of [`Application::next_timeout`] has come.
    fn handle_timeout(&mut self, stack: &mut Stack, now: Instant);

    /// When to call [`Application::handle_timeout`].
    fn next_timeout(&self) -> Option<Instant>;
}

/// See the module.
pub struct Host<'a> {
    /// Connections beside the overlay, that of the managers among them.
    outside: Stack,
    overlay: Option<Overlay>,
    application: Option<Box<dyn Application + 'a>>,
    /// Whether the application's connections go by the overlay.
    by_overlay: bool,
    changed: Vec<Key>,
}

impl<'a> Host<'a> {
    /// A host at node `here` with connections of these `options` and an application.
    pub fn new(
        here: NodeId,
        options: &Options,
        application: Option<Box<dyn Application + 'a>>,
    ) -> Self {
        Self {
            outside: Stack::new(here, Settings::new(options.clone())),
            overlay: None,
            application,
            by_overlay: false,
            changed: Vec::new(),
        }
    }

    /// The same with a manager, by which the application's connections go or not. If it `dials`, it asks for the control connection.
    #[must_use]
    pub fn managed(mut self, mut overlay: Overlay, by_overlay: bool, dials: Option<u64>) -> Self {
        if let Some(seed) = dials {
            overlay.dial(&mut self.outside, seed, Instant::ZERO);
        }
        self.overlay = Some(overlay);
        self.by_overlay = by_overlay;
        self
    }

    /// A tool connects with the manager here; what it is told, if there is a manager.
    pub fn connect(&mut self) -> Option<Receiver<Message>> {
        self.overlay.as_mut().map(Overlay::connect)
    }

    /// The tool here says something to its manager.
    pub fn say(&mut self, message: Message, now: Instant) {
        if let Some(overlay) = &mut self.overlay {
            overlay.say(message, now);
        }
    }

    /// The application, and where its connections are.
    fn application(&mut self, act: impl FnOnce(&mut dyn Application, &mut Stack)) {
        let stack = match &mut self.overlay {
            Some(overlay) if self.by_overlay => &mut overlay.inside,
            _ => &mut self.outside,
        };
        if let Some(application) = &mut self.application {
            act(application.as_mut(), stack);
        }
    }

    /// A connection beside the overlay has something new.
    fn attend(&mut self, key: Key, now: Instant) {
        match &mut self.overlay {
            Some(overlay) if overlay.control.key == Some(key) => {
                overlay.hear(&mut self.outside, now);
            }
            _ => self.application(|of, stack| of.handle_change(key, stack, now)),
        }
    }

    /// A connection beside the overlay is asked for.
    fn answer(&mut self, from: NodeId, flow: FlowId, now: Instant) {
        match &mut self.overlay {
            Some(overlay) if flow == CONTROL => {
                let terms = Terms {
                    seed: flow.0,
                    window: None,
                    peer_window: None,
                };
                overlay.control.key = Some(self.outside.accept(from, flow, terms, now));
            }
            _ => self.application(|of, stack| of.handle_asked(from, flow, stack, now)),
        }
    }

    fn take_outside(&mut self, incoming: Incoming, now: Instant) {
        match incoming {
            Incoming::Changed(key) => self.attend(key, now),
            Incoming::Asked { from, flow } => self.answer(from, flow, now),
            Incoming::Nothing => {}
        }
    }

    fn take_inside(&mut self, incoming: Incoming, now: Instant) {
        match incoming {
            Incoming::Changed(key) => {
                self.application(|of, stack| of.handle_change(key, stack, now));
            }
            Incoming::Asked { from, flow } => {
                self.application(|of, stack| of.handle_asked(from, flow, stack, now));
            }
            Incoming::Nothing => {}
        }
    }

    /// A datagram of the overlay has come.
    fn receive(&mut self, datagram: &[u8], now: Instant) {
        let Some(overlay) = &mut self.overlay else {
            return;
        };
        if let Some(packet) = overlay.receive(datagram, now) {
            let incoming = overlay.inside.handle_packet(&packet, now);
            self.take_inside(incoming, now);
        }
    }

    /// Somebody who waited for room has it; whether anybody did.
    fn wake_writer(&mut self, now: Instant) -> bool {
        if let Some(key) = self.outside.poll_drained() {
            self.attend(key, now);
            return true;
        }
        let inside = self.overlay.as_mut();
        let drained = inside.and_then(|overlay| overlay.inside.poll_drained());
        if let Some(key) = drained {
            self.take_inside(Incoming::Changed(key), now);
        }
        drained.is_some()
    }
}

impl Node for Host<'_> {
    type Payload = Body;

    fn handle_packet(&mut self, packet: Parcel<Body>, now: Instant) {
        match packet.body.payload.clone() {
            Body::Tcp(tcp) => {
                let packet = with(packet, |_| tcp);
                let incoming = self.outside.handle_packet(&packet, now);
                self.take_outside(incoming, now);
            }
            Body::Overlay(datagram) => self.receive(&datagram, now),
            Body::Word(0) => {}
            Body::Word(octets) => {
                if let Some(overlay) = &mut self.overlay {
                    overlay.answer(octets, &mut self.outside);
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let mut changed = std::mem::take(&mut self.changed);
        self.outside.handle_timeout(now, &mut changed);
        for key in changed.drain(..) {
            self.attend(key, now);
        }
        if let Some(overlay) = &mut self.overlay {
            overlay.tell(&mut self.outside, now);
            overlay.inside.handle_timeout(now, &mut changed);
        }
        for key in changed.drain(..) {
            self.take_inside(Incoming::Changed(key), now);
        }
        self.changed = changed;
        let is_due = |of: &dyn Application| of.next_timeout().is_some_and(|at| at <= now);
        if self.application.as_deref().is_some_and(is_due) {
            self.application(|of, stack| of.handle_timeout(stack, now));
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Body>> {
        loop {
            if let Some(overlay) = &mut self.overlay {
                overlay.offer(now);
                if let Some(packet) = overlay.poll_transmit(now) {
                    return Some(packet);
                }
            }
            if let Some(packet) = self.outside.poll_transmit(now) {
                return Some(with(packet, Body::Tcp));
            }
            if !self.wake_writer(now) {
                return None;
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let overlay = self.overlay.as_ref();
        let application = self.application.as_deref();
        let all = [
            self.outside.next_timeout(),
            overlay.and_then(Overlay::next_timeout),
            application.and_then(Application::next_timeout),
        ];
        all.into_iter().flatten().min()
    }
}
