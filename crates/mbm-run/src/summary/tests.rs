use super::*;
use crate::tables::Arrival;
use kit::published;

#[test]
fn what_is_published_about_the_record_is_true() {
    published::schema::<Summary>("mbm");
    published::columns::<Arrival>();
}
