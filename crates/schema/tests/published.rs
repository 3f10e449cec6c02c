//! What is published about records is what the program writes.
#![allow(missing_docs, reason = "tests")]

use isobath_schema::published::{columns, documented, schema};
use isobath_schema::tables::{
    Counters, Cpu, Hop, HttpsProbe, Packet, PageLoad, PageObject, Queue, Sample, Series, Stream,
};
use isobath_schema::{LabSummary, btc, estimate, mbm, replay, rpm, rrul, udpst};

#[test]
fn schemas_of_summaries_are_fresh() {
    schema::<rrul::Summary>("rrul");
    schema::<btc::Summary>("btc");
    schema::<mbm::Summary>("mbm");
    schema::<estimate::Summary>("estimate");
    schema::<replay::Summary>("replay");
    schema::<rpm::Summary>("rpm");
    schema::<udpst::Summary>("udpst");
    schema::<LabSummary>("lab-run");
}

macro_rules! all {
    ($check:ident: $($table:ty),+ $(,)?) => { $($check::<$table>();)+ };
}

macro_rules! tables {
    ($check:ident) => {
        all!($check: Sample, Series, Stream, Queue, Counters, Packet, Cpu, PageLoad, PageObject, Hop, HttpsProbe);
        all!($check: btc::tables::Transfer, btc::tables::WindowRow, btc::tables::RoundTrip);
        all!($check: btc::tables::EventRow, btc::tables::SegmentRow);
        all!($check: mbm::tables::Arrival, estimate::tables::TrainRow, estimate::tables::ProbeRow);
        all!($check: rpm::tables::RpmProbe, rpm::tables::RpmInterval);
        all!($check: udpst::tables::UdpstTrial, udpst::tables::UdpstInterval);
        all!($check: replay::tables::Connection, replay::tables::Flow, replay::tables::Epoch);
        all!($check: replay::tables::Offered, replay::tables::Active, replay::tables::Goodput);
    };
}

#[test]
fn every_column_is_in_docs_output_in_its_place() {
    tables!(columns);
}

#[test]
fn every_column_is_documented_and_named_after_its_unit() {
    tables!(documented);
}
