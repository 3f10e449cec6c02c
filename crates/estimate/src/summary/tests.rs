use super::*;
use crate::tables::{ProbeRow, TrainRow};
use kit::published;

#[test]
fn what_is_published_about_the_record_is_true() {
    published::schema::<Summary>("estimate");
    published::columns::<TrainRow>();
    published::columns::<ProbeRow>();
}
